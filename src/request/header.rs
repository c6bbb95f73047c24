//! The headers of a request, and which values are valid as an id.

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
    /// The peer may send an id, but it sent an invalid one, or several. The request gets a new id, or is rejected.
    Invalid,
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
}
