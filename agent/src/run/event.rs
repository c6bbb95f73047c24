//! The events of an agent.

use txid_agent::keeper::Report;

/// An event that the main thread waits for.
pub enum Event {
    /// A lease or segment, by its position, reports something.
    Keeper(usize, News),
    Signal(i32),
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
