//! The four words that numbers are taken from, and the only ways to change them.
//!
//! | word | what | who writes it |
//! |---|---|---|
//! | `cur` | the first number that is free | who takes numbers |
//! | `end` | the end of the range in use | who takes numbers |
//! | `next_start`, `next_end` | the next range; there is one while `next_end > end` | the agent |
//!
//! None of them but `next_start` ever goes down: a range begins at or after the end of the one before it.
//!
//! There is no fetch-and-add. One that overshoots the end has a number that is not of its range, and where the end is
//! raised before it looks, it takes that number for its own: another host's.

use crate::shared::word::Word;
use std::ops::Range;

/// The words of one page.
#[derive(Debug)]
pub(super) struct Words<'a, W> {
    pub(super) cur: &'a W,
    pub(super) end: &'a W,
    pub(super) next_start: &'a W,
    pub(super) next_end: &'a W,
}

// Derived, these would ask for a word that can be copied, where a reference to it is enough.
impl<W> Clone for Words<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Words<'_, W> {}

impl<W: Word> Words<'_, W> {
    /// Takes a number, or nothing if both ranges are used up.
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

    /// Goes on to the next range, unless there is none. Whoever is killed in here, or held up, is overtaken by the others.
    ///
    /// `cur` goes first. Were `end` raised first, the numbers between the two ranges would be free, which are other hosts'.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on(&self, cur: u64, end: u64) -> bool {
        let next_end = self.next_end.get_acquire();
        if next_end <= end {
            return false;
        }
        let next_start = self.next_start.get_acquire();
        // Where somebody else has been here, `cur` is there already.
        if self.cur.replace(cur, next_start.max(cur)) {
            self.end.replace(end, next_end);
        }
        true
    }

    /// Whether the next range is free to be written.
    pub(super) fn wants(&self) -> bool {
        self.next_end.get_acquire() <= self.end.get_acquire()
    }

    /// Grants a range. The one before it must be in use already; and only one agent may do this.
    pub(super) fn publish(&self, range: Range<u64>) {
        self.next_start.set_release(range.start);
        self.next_end.set_release(range.end);
    }

    /// What is left of the range in use, and of the next.
    pub(super) fn left(&self) -> (u64, u64) {
        let cur = self.cur.get_acquire();
        let end = self.end.get_acquire();
        let next_end = self.next_end.get_acquire();
        let next = if next_end > end { next_end.saturating_sub(self.next_start.get_acquire().max(cur)) } else { 0 };
        (end.saturating_sub(cur), next)
    }
}
