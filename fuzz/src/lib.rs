//! What every parser and decoder must do with any bytes: answer, and answer rightly. Each target is a function that panics
//! when it does not.
//!
//! `cargo test` runs them over `corpus/` and all that is one change away from it; `fuzz/run.sh` lets libFuzzer look for
//! more.

mod command;
mod ids;
mod snowflakes;
mod traces;

/// Panics when something is wrong.
pub type Target = fn(&[u8]);

/// All targets. The directory of a target's corpus has its name.
pub const TARGETS: &[(&str, Target)] = &[
    ("txid", ids::txid),
    ("uuid", ids::uuid),
    ("flake", ids::flake),
    ("unique_id", ids::unique_id),
    ("trace_id", traces::trace_id),
    ("traceparent", traces::traceparent),
    ("b3", traces::b3),
    ("sofa", traces::sofa),
    ("skywalking", traces::skywalking),
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

/// The bytes as text, as far as they are, for what only takes text.
fn text(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Takes what the bytes begin with.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (head, rest) = bytes.split_at(N.min(bytes.len()));
    taken[..head.len()].copy_from_slice(head);
    *bytes = rest;
    taken
}

/// What is read as a value must be read so again from the value's own text; and what is refused, with a reason.
fn reads_back<T>(text: &str) -> Option<T>
where
    T: std::str::FromStr<Err: std::fmt::Display> + ToString + PartialEq + std::fmt::Debug,
{
    match text.parse::<T>() {
        Ok(value) => {
            let again = value.to_string();
            assert_eq!(again.parse::<T>().map_err(|error| error.to_string()).as_ref(), Ok(&value), "{again}");
            Some(value)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
