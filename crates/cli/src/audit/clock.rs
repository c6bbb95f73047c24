//! Sees clocks that were set back, from the ids of a host in the order of their lines.

/// Requests that take longer than others end later, too: an id may be so much older than one before it.
const LATE_MS: i64 = 1000;

/// How many in a row must be older.
const IN_A_ROW: u64 = 3;

/// A clock that went back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepBack {
    /// The newest id before it, and the first one after.
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    /// How long it was at least.
    pub(super) by_ms: i64,
    /// The line of the first id after it.
    pub(super) line: u64,
    /// Ids in a row that are older than the newest one before.
    pub(super) ids: u64,
}

/// The ids of one host in one file.
pub(super) struct Clock {
    newest_ms: i64,
    /// Since the last id that was new.
    older: Option<StepBack>,
}

impl Clock {
    pub(super) fn new(ms: i64) -> Self {
        Self { newest_ms: ms, older: None }
    }

    /// Whether the clock went back some ids before this one, and goes on now.
    pub(super) fn see(&mut self, ms: i64, line: u64) -> Option<StepBack> {
        if ms < self.newest_ms.saturating_sub(LATE_MS) {
            let by_ms = self.newest_ms.saturating_sub(ms);
            let (from_ms, to_ms) = (self.newest_ms, ms);
            let older = self.older.get_or_insert(StepBack { from_ms, to_ms, by_ms, line, ids: 0 });
            older.ids += 1;
            // A request that took long says nothing of the clock, and the one that took least says most.
            if older.ids <= IN_A_ROW {
                older.by_ms = older.by_ms.min(by_ms);
            }
            return None;
        }
        self.newest_ms = self.newest_ms.max(ms);
        self.end()
    }

    pub(super) fn end(&mut self) -> Option<StepBack> {
        self.older.take().filter(|older| older.ids >= IN_A_ROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(times: &[i64]) -> Vec<(u64, i64, u64)> {
        let mut clock = Clock::new(times[0]);
        let mut steps: Vec<_> = (1..).zip(times).filter_map(|(line, ms)| clock.see(*ms, line)).collect();
        steps.extend(clock.end());
        steps.iter().map(|step| (step.line, step.by_ms, step.ids)).collect()
    }

    #[test]
    fn a_clock_that_goes_back_is_seen() {
        assert_eq!(steps(&[10_000, 20_000, 30_000, 5_000, 6_000, 7_000, 8_000]), [(4, 23_000, 4)]);
        assert_eq!(
            steps(&[10_000, 20_000, 5_000, 6_000, 7_000, 21_000, 22_000, 3_000, 4_000, 5_000]),
            [(3, 13_000, 3), (8, 17_000, 3)]
        );
    }

    #[test]
    fn requests_that_take_long_are_no_step() {
        assert_eq!(steps(&[10_000, 20_000, 5_000, 21_000, 6_000, 7_000, 22_000, 21_100, 21_000, 21_050]), []);
        assert_eq!(steps(&[10_000, 9_000, 9_100, 9_200, 9_300]), []);
    }
}
