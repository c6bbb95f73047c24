//! The decisions of txid-agent. The agent carries them out: it reads the clocks and asks the store.
//!
//! This is a crate of its own so that no client of a store can be used here, and because the tests try millions of
//! steps, so that it is optimized for them and the clients are not.

pub mod child;
pub mod lease;
pub mod pace;
pub mod protocol;
pub mod segment;
pub mod store;

/// A time for people, in RFC 3339.
pub fn utc(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| format!("{ms} ms"), |time| format!("{time:.3}"))
}
