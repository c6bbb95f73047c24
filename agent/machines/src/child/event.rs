//! Why a child is ended.

/// A reason, or a change of state. `which` is the position of a lease in [`super::Look::leases`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A lease is not renewed, and its limit is near.
    LimitNear {
        /// The lease.
        which: usize,
        /// Its limit.
        limit_ms: i64,
    },
    /// It was asked to end two margins ago.
    Slow,
    /// The limit is nearer than it should be.
    Late {
        /// The lease.
        which: usize,
        /// Its limit.
        limit_ms: i64,
    },
    /// The node is another host's now, or this host has another node.
    Lost(usize),
    /// The clock was stepped back by more than the clock guard allows.
    WentBack(i64),
    /// The child has ended, and other processes that it started are still there.
    Leftovers,
    /// The agent is gone.
    Orphaned,
    /// All processes are gone. The child starts again when there is a lease.
    Gone,
}
