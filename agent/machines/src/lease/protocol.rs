//! The requests, answers and writes of a lease's machine.

use super::choose::Survey;
use super::event::{Event, Failure};
use crate::protocol;
use crate::store::{Expected, Numbered, Put, Record, StoreError, StoreTime};

/// The input of a step.
pub type Input = protocol::Input<Answer>;

/// What to do next.
pub type Output = protocol::Output<Request, Write, Event, Failure>;

/// A request to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Read the record at this key.
    Read(String),
    /// Write a record, if the one that is there is the expected one.
    Put {
        /// The key.
        key: String,
        /// The record that must be there.
        expected: Expected,
        /// The new record.
        bytes: Vec<u8>,
    },
    /// Show all records of the group's nodes to the survey.
    List(Box<Survey>),
    /// Get the number of a new node, from what [`super::Rules::numbering`] says.
    Number,
}

/// The store's answer, and its clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The answer.
    pub reply: Reply,
    /// The store's clock now, if it shows one.
    pub time: Option<StoreTime>,
}

/// The store's answer to a request of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// To [`Request::Read`].
    Read(Found),
    /// To [`Request::Put`].
    Put(Written),
    /// To [`Request::List`], with the survey that has seen them.
    List(Result<Box<Survey>, StoreError>),
    /// To [`Request::Number`].
    Number(Result<Numbered, StoreError>),
}

/// Whether there is a record, and what it is.
pub(super) type Found = Result<Option<Record>, StoreError>;
/// A write whose effect is not known is [`Put::Unknown`], never an error.
pub(super) type Written = Result<Put, StoreError>;

/// A write to the page: one atomic store, done before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// Stops ids.
    Close,
    /// Allows ids of this node from a time on. Only while the page is closed.
    Open {
        /// The node.
        node: u64,
        /// The first time.
        start_ms: i64,
    },
    /// Identifies the lease, for an agent that restarts. Zeros if there is none to continue.
    Generation {
        /// The record's.
        generation: u64,
        /// The record's.
        token: u128,
    },
    /// A limit that is about to be written to the store.
    Note {
        /// The limit.
        limit_ms: i64,
    },
    /// Allows ids of this node before this time.
    Limit {
        /// The node.
        node: u64,
        /// The limit.
        limit_ms: i64,
    },
}

/// The contents of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageView {
    /// The node of the word.
    pub node: u64,
    /// 0 if there is no lease to continue.
    pub generation: u64,
    /// The token of the lease.
    pub token: u128,
    /// The last limit that the store confirmed; `i64::MIN` if it belongs to another node.
    pub limit_ms: i64,
    /// The last limit that was about to be written to the store.
    pub noted_ms: i64,
    /// The beginning of the first unit of time in which no id was made. Exact while the page is closed.
    pub free_ms: i64,
    /// Whether the page is closed.
    pub is_closed: bool,
}
