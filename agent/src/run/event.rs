//! What happens to an agent.

use txid_agent::keeper::Report;

/// What the main thread waits for.
pub enum Event {
    /// A lease or segment, by its position, reports something.
    Keeper(usize, News),
    Signal(i32),
    /// It is time to tell systemd that the agent works.
    Beat,
}

/// What the thread of a lease or a segment reports.
pub enum News {
    /// A change of state.
    Report(Report),
    /// The thread has ended.
    Ended(Result<(), String>),
}
