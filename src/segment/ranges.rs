//! The four words that numbers are taken from, and the only operations on them.
//!
//! | word | what | who writes it |
//! |---|---|---|
//! | `cur` | the first number that is free | each process that takes a number |
//! | `end` | the end of the range in use | each process that takes a number |
//! | `next_start`, `next_end` | the next range; there is one while `next_end > end` | the agent |
//!
//! Only `next_start` ever goes down: a range begins at or after the end of the previous one.
//!
//! There is no fetch-and-add: a worker that overshoots the end could keep a number of another host, if the end is raised
//! before it checks.

use crate::shared::word::Word;
use std::ops::Range;

/// The range in use, and the next one.
#[derive(Debug)]
pub(super) struct Ranges<'a, W> {
    pub(super) cur: &'a W,
    pub(super) end: &'a W,
    pub(super) next_start: &'a W,
    pub(super) next_end: &'a W,
}

// Deriving these would require `W: Clone`, although only a reference is copied.
impl<W> Clone for Ranges<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Ranges<'_, W> {}

impl<W: Word> Ranges<'_, W> {
    /// Takes a number, or None if both ranges are used up.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<u64> {
        loop {
            let cur = self.cur.get_acquire();
            let end = self.end.get_acquire();
            if cur < end {
                if self.cur.replace(cur, cur + 1) {
                    return Some(cur);
                }
            } else if !self.go_on(cur, end) {
                return None;
            }
        }
    }

    /// Switches to the next range, if there is one. If a process is killed in here, others complete the switch.
    ///
    /// `cur` is raised before `end`: otherwise the numbers between the ranges, which belong to other hosts, would be free.
    #[cold]
    pub(super) fn go_on(&self, cur: u64, end: u64) -> bool {
        let next_end = self.next_end.get_acquire();
        if next_end <= end {
            return false;
        }
        let next_start = self.next_start.get_acquire();
        // If another worker was here first, `cur` is there already.
        if self.cur.replace(cur, next_start.max(cur)) {
            self.end.replace(end, next_end);
        }
        true
    }

    /// Whether the next range may be written.
    pub(super) fn wants(&self) -> bool {
        self.next_end.get_acquire() <= self.end.get_acquire()
    }

    /// Grants a range. The previous one must be in use already, and only one agent may do this.
    pub(super) fn publish(&self, range: Range<u64>) {
        self.next_start.set_release(range.start);
        self.next_end.set_release(range.end);
    }

    /// How many numbers are left in the current range, and in the next.
    pub(super) fn left(&self) -> (u64, u64) {
        let cur = self.cur.get_acquire();
        let end = self.end.get_acquire();
        let next_end = self.next_end.get_acquire();
        let next = if next_end > end { next_end.saturating_sub(self.next_start.get_acquire().max(cur)) } else { 0 };
        (end.saturating_sub(cur), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn numbers_never_go_down_whatever_the_page_says() {
        let [cur, end, next_start, next_end] = [10, 10, 5, 20].map(AtomicU64::new);
        let ranges = Ranges { cur: &cur, end: &end, next_start: &next_start, next_end: &next_end };
        assert_eq!([ranges.take(), ranges.take()], [Some(10), Some(11)]);
    }
}
