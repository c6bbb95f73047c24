//! The events of an agent.

use crate::config::Config;
use txid_agent::keeper::Report;
use txid_agent::store::Open;

/// An event that the main thread waits for.
pub enum Event {
    /// A lease or segment, by its position, reports something.
    Keeper(usize, News),
    Signal(i32),
    /// Somebody asks over HTTP what is not live.
    Asked(tokio::sync::oneshot::Sender<Vec<String>>),
    /// The configuration that was read again, with its store, which has what it needs.
    ReadAgain(anyhow::Result<Box<(Config, Open)>>),
    /// It is time to tell systemd that the agent works.
    Beat,
}

/// A report of the thread of a lease or a segment.
pub enum News {
    /// A change of state.
    Report(Report),
    /// The thread has ended.
    Ended(Result<(), String>),
}
