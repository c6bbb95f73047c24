//! What every parser and decoder must do with any bytes: give an answer, and the right one. Each target is a function
//! that panics otherwise.
//!
//! `cargo test` runs them over `corpus/` and everything that is one change away from it; `fuzz/run.sh` lets libFuzzer
//! search for more.

mod command;
mod ids;
mod networks;
mod snowflakes;
mod traces;

/// Panics when something is wrong.
pub type Target = fn(&[u8]);

/// All targets. The directory of a target's corpus has its name.
pub const TARGETS: &[(&str, Target)] = &[
    ("txid", ids::txid),
    ("uuid", ids::uuid),
    ("flake", ids::flake),
    ("mac", ids::mac),
    ("unique_id", ids::unique_id),
    ("trace_id", traces::trace_id),
    ("traceparent", traces::traceparent),
    ("b3", traces::b3),
    ("sofa", traces::sofa),
    ("skywalking", traces::skywalking),
    ("networks", networks::networks),
    ("layout", snowflakes::layout),
    ("node", snowflakes::node),
    ("snowflake", snowflakes::id),
    ("state_file", snowflakes::state_file),
    ("gzip", command::gzip),
    ("padded_gzip", command::padded_gzip),
    ("log", command::log),
    ("inspect", command::inspect),
    ("time", command::time),
    ("terminal", command::terminal),
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}

/// The bytes as text, for functions that only take text, and for messages. Invalid UTF-8 is replaced by characters that
/// no format has.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Takes the first bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (head, rest) = bytes.split_at(N.min(bytes.len()));
    taken[..head.len()].copy_from_slice(head);
    *bytes = rest;
    taken
}

/// Whether these are `count` hexadecimal digits, in lower case.
fn is_hex(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether these are this many hexadecimal digits, not all zero.
fn is_hex_id(text: &str, count: usize) -> bool {
    is_hex(text, count) && text.bytes().any(|byte| byte != b'0')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the bytes with `read`; if they are not valid, there must be a reason. A value must be read back from its own
/// text.
fn reads_back<T, E>(bytes: &[u8], is_one: bool, read: fn(&[u8]) -> Result<T, E>) -> Option<T>
where
    T: ToString + PartialEq + std::fmt::Debug,
    E: std::fmt::Display,
{
    match read(bytes) {
        Ok(value) => {
            assert!(is_one, "'{}' is taken for {value:?}", bytes.escape_ascii());
            let again = value.to_string();
            assert_eq!(read(again.as_bytes()).map_err(|error| error.to_string()).as_ref(), Ok(&value), "{again}");
            Some(value)
        }
        Err(error) => {
            assert!(!is_one, "'{}' is refused: {error}", bytes.escape_ascii());
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
