//! The parameters of a child.

/// The settings that stay the same for a child while its agent runs.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Processes are killed this long before a limit, and asked to end three times as long before.
    pub margin_ms: u64,
    /// Both happen earlier by this, so that a fleet whose store is down does not end in one second.
    pub jitter_ms: u64,
    /// By how much the clock may be stepped back: from one end of what the clock guard allows to the other.
    pub max_step_ms: u64,
    /// How far ahead of the clock it may stamp: some generators take ids of later times when there are many to make.
    pub runs_ahead_ms: u64,
}

impl Rules {
    /// When the processes are asked to end.
    pub fn warn_ms(&self, limit_ms: i64) -> i64 {
        self.kill_ms(limit_ms).saturating_sub_unsigned(2 * self.margin_ms)
    }

    /// The latest time that is stamped while the clock shows this.
    pub fn stamped_ms(&self, wall_ms: i64) -> i64 {
        wall_ms.saturating_add_unsigned(self.runs_ahead_ms)
    }

    /// When those that are still there are killed.
    pub fn kill_ms(&self, limit_ms: i64) -> i64 {
        limit_ms.saturating_sub_unsigned(self.runs_ahead_ms + self.margin_ms + self.jitter_ms)
    }
}
