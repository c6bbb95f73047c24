//! The requests of the state machines to a store, and its answers.

mod error;
mod numbering;

use std::ops::Range;

pub use error::StoreError;
pub use numbering::{Numbered, Numbering};

/// A record in a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The content.
    pub bytes: Vec<u8>,
    /// A write compares it.
    pub version: Version,
}

impl Record {
    /// A record of a store that compares the bytes that are there with the expected ones. Because a record holds a
    /// random token, a store that was emptied and refilled cannot match by chance, as counted versions can.
    pub fn compared_by_bytes(bytes: Vec<u8>) -> Self {
        Self { version: Version(bytes.clone()), bytes }
    }
}

/// Tells one state of a record from all its other states. Only the store that made it can interpret it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub Vec<u8>);

/// The record that must be at a key for a write to happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// No record.
    Absent,
    /// The record in exactly this version.
    Version(Version),
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Put {
    /// It was written, and has this version now.
    Written(Version),
    /// Another record is there. Nothing was written.
    Conflict,
    /// It may have been written, or may still be. Reading shows which.
    Unknown(StoreError),
}

/// The time by a store's clock, as far as an answer shows it: it was read after the request was sent, and before the answer
/// came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreTime {
    /// In milliseconds since 1970-01-01 UTC.
    pub earliest_ms: i64,
    /// Later by the time that the answer took.
    pub latest_ms: i64,
}

/// The result of taking numbers of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// These numbers belong to the caller.
    Range {
        /// The numbers.
        range: Range<u64>,
        /// The tag's own step.
        step: u64,
    },
    /// The store has no such tag.
    NoTag,
    /// The tag's number is below one that it had before. It was not changed.
    WentDown {
        /// The number now.
        number: u64,
    },
    /// The tag's number cannot go up by that much.
    Ended,
}
