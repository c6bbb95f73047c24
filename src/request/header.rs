//! The headers of a request, and which values are valid as an id.

use crate::text::{base32hex, error_texts, trimmed};

/// The longest id that is accepted from a client.
const LONGEST: usize = 128;

/// 0 for the bytes that an id from a client may have: `A-Za-z0-9._~:/+=@-`. None of them ends a line, a field or a
/// quoted string in a log, a header or a shell.
const WRONG: [u8; 256] = {
    let mut wrong = [1; 256];
    let mut byte = 0;
    while byte < wrong.len() {
        wrong[byte] = !(byte as u8).is_ascii_alphanumeric() as u8;
        byte += 1;
    }
    let marks = b"._~:/+=@-";
    let mut index = 0;
    while index < marks.len() {
        wrong[marks[index] as usize] = 0;
        index += 1;
    }
    wrong
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
    /// The value, if there is exactly one, without the spaces and tabs around it (RFC 9110, 5.5): nginx removes only the
    /// spaces.
    ///
    /// ```
    /// use txid::request::Header;
    ///
    /// assert_eq!(Header::One(b"\t7f3a \t").single(), Some(&b"7f3a"[..]));
    /// assert_eq!(Header::Several.single(), None);
    /// ```
    #[inline]
    pub fn single(self) -> Option<&'a [u8]> {
        match self {
            Self::One(value) => Some(trimmed(value)),
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

impl Verdict {
    /// The verdict on a header from a peer that is trusted, or not.
    #[inline]
    pub fn on(is_trusted: bool, header: Header<'_>) -> Self {
        match header {
            Header::Absent => Self::New,
            _ if !is_trusted => Self::New,
            Header::One(value) if is_valid_id(trimmed(value)) => Self::Accepted,
            Header::One(_) | Header::Several => Self::Invalid,
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
    // Most are txids, which takes half as many instructions to tell.
    if value.try_into().is_ok_and(base32hex::is_all_in_the_alphabet) {
        return true;
    }
    // Always looks at every byte, which takes half as many instructions as stopping early, and the text is short.
    (1..=LONGEST).contains(&value.len()) && value.iter().fold(0, |so_far, &byte| so_far | WRONG[usize::from(byte)]) == 0
}

/// Headers with a meaning to nginx, HTTP or an upstream, which an id would break; and those of traces, which have their own
/// format. One text takes less room than a list.
pub const RESERVED_HEADERS: &str = "accept age allow alt-svc authorization b3 cache-control connection cookie date depth destination \
    etag expect expires forwarded from host http2-settings keep-alive last-event-id last-modified link \
    location max-forwards origin overwrite pragma range referer refresh retry-after server set-cookie \
    status strict-transport-security sw8 te traceparent tracestate trailer transfer-encoding uber-trace-id upgrade \
    user-agent vary via www-authenticate x-amzn-trace-id x-cloud-trace-context x-real-ip";

/// How the names of other such headers begin.
pub const RESERVED_BEGINNINGS: &str =
    "accept- access-control- content- if- proxy- sec- sw8- x-accel- x-b3- x-datadog- x-forwarded- x-sendfile";

/// Checks the name of a header that is to carry an id: a token of RFC 9110 without `$`, which is no variable there, and
/// without `_`, and not the name of a header with another meaning.
///
/// ```
/// use txid::request::check_header_name;
///
/// assert!(check_header_name("X-Request-Id").is_ok());
/// assert!(check_header_name("X-Request-Id:").is_err());
/// let error = check_header_name("Date").unwrap_err();
/// assert_eq!(error.to_string(), "\"Date\" has a meaning of its own; name another header, such as X-Request-Id");
/// ```
pub fn check_header_name(name: &str) -> Result<(), HeaderNameError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(HeaderNameError::NoName(name.to_string()));
    }
    if name.contains('_') {
        return Err(HeaderNameError::Underscore(name.to_string()));
    }
    let begins = |with: &str| name.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    let is_reserved = RESERVED_HEADERS.split(' ').any(|reserved| name.eq_ignore_ascii_case(reserved));
    match is_reserved || RESERVED_BEGINNINGS.split(' ').any(begins) {
        true => Err(HeaderNameError::Reserved(name.to_string())),
        false => Ok(()),
    }
}

/// Why a header cannot carry an id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderNameError {
    /// This is not the name of a header.
    NoName(String),
    /// By default, nginx drops such a header of a request, and its Lua module writes hyphens in that of a response.
    Underscore(String),
    /// The header has another meaning.
    Reserved(String),
}

error_texts! { HeaderNameError {
    Self::NoName(name) => "{name:?} is not the name of a header";
    Self::Underscore(name) =>
        "{name:?} has an underscore, and nginx drops or renames such headers; write {:?}", name.replace('_', "-");
    Self::Reserved(name) => "{name:?} has a meaning of its own; name another header, such as X-Request-Id";
} }
