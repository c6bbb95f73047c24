//! What every parser and decoder must do with any bytes: give an answer, and the right one. Each target is a function
//! that panics otherwise.
//!
//! `cargo test` runs them over `corpus/` and everything that is one change away from it; `crates/fuzz/run.sh` lets libFuzzer
//! search for more.

mod bytes;
mod command;
mod hidden;
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
    ("amzn_trace_id", traces::amzn_trace_id),
    ("cloud_trace_context", traces::cloud_trace_context),
    ("uber_trace_id", traces::uber_trace_id),
    ("datadog_headers", traces::datadog_headers),
    ("sofa", traces::sofa),
    ("skywalking", traces::skywalking),
    ("networks", networks::networks),
    ("layout", snowflakes::layout),
    ("node", snowflakes::node),
    ("snowflake", snowflakes::id),
    ("state_file", snowflakes::state_file),
    ("key_file", hidden::key_file),
    ("image", hidden::image),
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
