//! The header that carries an id, and whether its value is accepted.

use super::{Networks, Peer};

/// The longest id that is accepted from a client.
const LONGEST: usize = 128;

/// The bytes that an id from a client may have: `A-Za-z0-9._~:/+=@-`. None of them ends a line, a field or a quoted
/// string in a log, a header or a shell.
const ALLOWED: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < allowed.len() {
        allowed[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"._~:/+=@-";
    let mut index = 0;
    while index < marks.len() {
        allowed[marks[index] as usize] = true;
        index += 1;
    }
    allowed
};

/// The values of one header in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header<'a> {
    /// The request has no such header.
    Absent,
    /// The request has it once, with this value.
    One(&'a [u8]),
    /// The request has it more than once, so none of them is used.
    Several,
}

impl<'a> Header<'a> {
    /// The value, if there is exactly one.
    ///
    /// ```
    /// use txid::request::Header;
    ///
    /// assert_eq!(Header::One(b"7f3a").single(), Some(&b"7f3a"[..]));
    /// assert_eq!(Header::Several.single(), None);
    /// ```
    pub fn single(self) -> Option<&'a [u8]> {
        match self {
            Self::One(value) => Some(value),
            Self::Absent | Self::Several => None,
        }
    }
}

/// What to do with an id that may have come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request gets a new id.
    New,
    /// The request keeps the id that came in.
    Accepted,
    /// The peer may send an id, but this is not a valid one. The request gets a new id, or is rejected.
    Invalid,
}

impl Verdict {
    /// Decides about the `header` that came from `peer`. If it is there more than once, none counts.
    ///
    /// ```
    /// use txid::request::{Header, Networks, Peer, Verdict};
    ///
    /// let accept = Networks::parse(["10.0.0.0/8"])?;
    /// let (inside, outside) = (Peer::parse(b"10.1.2.3"), Peer::parse(b"192.0.2.1"));
    /// assert_eq!(Verdict::of(&accept, inside, Header::One(b"7f3a")), Verdict::Accepted);
    /// assert_eq!(Verdict::of(&accept, inside, Header::One(b"7f 3a")), Verdict::Invalid);
    /// assert_eq!(Verdict::of(&accept, outside, Header::One(b"7f3a")), Verdict::New);
    /// # Ok::<(), txid::request::NetworkError>(())
    /// ```
    pub fn of(accept: &Networks, peer: Peer, header: Header<'_>) -> Self {
        match header.single() {
            Some(value) if accept.contain(peer) => match is_valid_id(value) {
                true => Self::Accepted,
                false => Self::Invalid,
            },
            _ => Self::New,
        }
    }
}

/// Whether a value is accepted as an id: 1 to 128 characters of `A-Za-z0-9._~:/+=@-`.
///
/// ```
/// use txid::request::is_valid_id;
///
/// assert!(is_valid_id(b"7f3a~a/b:c+d=e@f.g_h-i"));
/// assert!(!is_valid_id(b"${jndi:ldap://example.com/a}"));
/// ```
pub fn is_valid_id(value: &[u8]) -> bool {
    // Always looks at every byte, which takes half as many instructions as stopping early, and the text is short.
    (1..=LONGEST).contains(&value.len()) && value.iter().fold(true, |so_far, &byte| so_far & ALLOWED[usize::from(byte)])
}

/// Whether a text is valid as the name of a header: a token of RFC 9110.
///
/// ```
/// use txid::request::is_header_name;
///
/// assert!(is_header_name(b"X-Request-Id"));
/// assert!(!is_header_name(b"X-Request-Id:"));
/// ```
pub fn is_header_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"._~:/+=@-".contains(&byte);
            assert_eq!(is_valid_id(&[byte]), expected, "{}", byte.escape_ascii());
            assert_eq!(is_valid_id(&[b'a', byte, b'a']), expected, "{}", byte.escape_ascii());
        }
    }

    #[test]
    fn lengths() {
        assert!(!is_valid_id(b""));
        assert!(is_valid_id(&[b'a'; 128]));
        assert!(!is_valid_id(&[b'a'; 129]));
        assert!(!is_valid_id(&[b'a'; 100_000]));
    }

    #[test]
    fn of_several_none_counts_and_none_is_invalid() {
        let all = Networks::parse(["all"]).unwrap();
        assert_eq!(Verdict::of(&all, Peer::parse(b"10.0.0.1"), Header::Several), Verdict::New);
        assert_eq!(Verdict::of(&all, Peer::parse(b"10.0.0.1"), Header::Absent), Verdict::New);
        assert_eq!(Verdict::of(&all, Peer::parse(b"10.0.0.1"), Header::One(b"")), Verdict::Invalid);
    }

    #[test]
    fn nobody_is_accepted_by_default() {
        assert_eq!(Verdict::of(&Networks::default(), Peer::parse(b"127.0.0.1"), Header::One(b"7f3a")), Verdict::New);
        assert_eq!(Verdict::of(&Networks::default(), Peer::parse(b"127.0.0.1"), Header::One(b"\n")), Verdict::New);
    }
}
