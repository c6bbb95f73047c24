//! What several targets do with bytes and texts.

/// The bytes as text, for functions that only take text, and for messages. Invalid UTF-8 is replaced by characters that
/// no format has.
pub(crate) fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Takes the first bytes.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (head, rest) = bytes.split_at(N.min(bytes.len()));
    taken[..head.len()].copy_from_slice(head);
    *bytes = rest;
    taken
}

/// Whether these are `count` hexadecimal digits, in lower case.
pub(crate) fn is_hex(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether these are this many hexadecimal digits, not all zero.
pub(crate) fn is_hex_id(text: &str, count: usize) -> bool {
    is_hex(text, count) && text.bytes().any(|byte| byte != b'0')
}

pub(crate) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the bytes with `read`; if they are not valid, there must be a reason. A value must be read back from its own
/// text.
pub(crate) fn reads_back<T, E>(bytes: &[u8], is_valid: bool, read: fn(&[u8]) -> Result<T, E>) -> Option<T>
where
    T: ToString + PartialEq + std::fmt::Debug,
    E: std::fmt::Display,
{
    match read(bytes) {
        Ok(value) => {
            assert!(is_valid, "'{}' is taken for {value:?}", bytes.escape_ascii());
            let again = value.to_string();
            assert_eq!(read(again.as_bytes()).map_err(|error| error.to_string()).as_ref(), Ok(&value), "{again}");
            Some(value)
        }
        Err(error) => {
            assert!(!is_valid, "'{}' is refused: {error}", bytes.escape_ascii());
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
