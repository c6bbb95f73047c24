//! The two words of a lease, and the only ways to change them.
//!
//! | word | upper bits | lower bits |
//! |---|---|---|
//! | word | node | 1 if closed, then the first position that is free |
//! | limit | node | the first unit of time that may not be used; 0 while there is none |
//!
//! Node and position share one atomic word. In two words, a worker that is preempted while the node changes would
//! combine the new node's position with the old node's number, and repeat ids.

use crate::shared::word::Word;
use crate::snowflake::layout::Layout;

/// How often a worker looks again while the word is open and the limit is not set yet. Where a test tries all orders of
/// events, once is enough.
const LOOKS: u32 = if cfg!(test) { 1 } else { 100 };

/// The widths of the parts of the words, for a layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    time_bits: u32,
    sequence_bits: u32,
}

/// From which position until which limit a node may be used.
#[derive(Debug)]
pub(super) struct Term<'a, W> {
    pub(super) word: &'a W,
    pub(super) limit: &'a W,
    pub(super) shape: Shape,
}

// Deriving these would require `W: Clone`, although only a reference is copied.
impl<W> Clone for Term<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Term<'_, W> {}

/// What the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) node: u64,
    pub(super) free: u64,
    pub(super) is_closed: bool,
}

/// Why no position was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoClaim<R> {
    /// `next` gave no position.
    Refused(R),
    /// There is no lease, or it does not cover that time.
    Unleased,
}

impl Shape {
    pub(super) fn new(layout: &Layout) -> Self {
        Self { time_bits: layout.time_bits, sequence_bits: layout.sequence_bits }
    }

    fn closed(self) -> u64 {
        1 << (self.time_bits + self.sequence_bits)
    }

    fn node_shift(self) -> u32 {
        self.time_bits + self.sequence_bits + 1
    }

    fn contents(self, word: u64) -> Contents {
        Contents {
            // Without node bits, the shift may be the width of the word.
            node: word.checked_shr(self.node_shift()).unwrap_or(0),
            free: word & (self.closed() - 1),
            is_closed: word & self.closed() != 0,
        }
    }

    fn word(self, node: u64, free: u64) -> u64 {
        node.checked_shl(self.node_shift()).unwrap_or(0) | free
    }

    /// The word of a page that has never had a lease.
    pub(super) fn nothing(self) -> u64 {
        self.closed()
    }

    fn limit(self, node: u64, unit: u64) -> u64 {
        node << (self.time_bits + 1) | unit
    }
}

impl<W: Word> Term<'_, W> {
    pub(super) fn contents(&self) -> Contents {
        self.shape.contents(self.word.get())
    }

    /// The limit, if there is one for the node in the word.
    pub(super) fn limit(&self) -> Option<u64> {
        let place = self.shape.contents(self.word.get_acquire());
        let unit = self.limit.get_acquire().wrapping_sub(self.shape.limit(place.node, 0));
        (!place.is_closed && (1..=1 << self.shape.time_bits).contains(&unit)).then_some(unit)
    }

    /// Takes the position that `next` chooses, given the first free one; returns it with its node.
    ///
    /// The limit is read after the word. If the lease changed in between, the word changed as well, and the swap fails:
    /// the agent closes the word first and sets the limit last, and no word occurs twice.
    #[inline(always)]
    pub(super) fn claim<R>(&self, next: impl FnMut(u64) -> Result<u64, R>) -> Result<(u64, u64), NoClaim<R>> {
        self.claim_by(next, |seen, new| self.word.put(seen, new))
    }

    /// Whether a position could be taken now, by the rules of [`Term::claim`]. Takes none.
    pub(super) fn probe<R>(&self, next: impl FnMut(u64) -> Result<u64, R>) -> Result<(), NoClaim<R>> {
        self.claim_by(next, |_, _| Ok(())).map(drop)
    }

    #[inline(always)]
    fn claim_by<R>(
        &self,
        mut next: impl FnMut(u64) -> Result<u64, R>,
        put: impl Fn(u64, u64) -> Result<(), u64>,
    ) -> Result<(u64, u64), NoClaim<R>> {
        let mut looks = 0;
        loop {
            let seen = self.word.get_acquire();
            let limit = self.limit.get_acquire();
            let Contents { node, free, is_closed } = self.shape.contents(seen);
            if is_closed {
                return Err(NoClaim::Unleased);
            }
            let position = next(free).map_err(NoClaim::Refused)?;
            let unit = limit.wrapping_sub(self.shape.limit(node, 0));
            if position >> self.shape.sequence_bits >= unit || unit > 1 << self.shape.time_bits {
                // The agent has opened the word, and is about to set the limit.
                if limit == 0 && looks < LOOKS {
                    looks += 1;
                    std::hint::spin_loop();
                    continue;
                }
                return Err(NoClaim::Unleased);
            }
            if put(seen, self.shape.word(node, position + 1)).is_ok() {
                return Ok((node, position));
            }
        }
    }

    /// Closes the word: from now on, no position can be taken. Returns the first unit of time after all that were taken.
    pub(super) fn close(&self) -> u64 {
        let before = self.word.raise(self.shape.closed());
        self.limit.set_release(0);
        (self.shape.contents(before).free >> self.shape.sequence_bits) + 1
    }

    /// Allows positions of `node` from the beginning of `unit`. The word must be closed.
    pub(super) fn open(&self, node: u64, unit: u64) {
        let free = unit.min(1 << self.shape.time_bits) << self.shape.sequence_bits;
        self.word.set_release(self.shape.word(node, free));
    }

    /// Allows positions of `node` before the beginning of `unit`.
    pub(super) fn set_limit(&self, node: u64, unit: u64) {
        self.limit.set_release(self.shape.limit(node, unit.min(1 << self.shape.time_bits)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snowflake::Order;
    use std::cell::Cell;

    /// A word that another process changes before a certain look at it.
    struct Late {
        now: u64,
        then: u64,
        looks: Cell<u32>,
        changes_after: u32,
    }

    impl Late {
        fn new(now: u64, then: u64, changes_after: u32) -> Self {
            Self { now, then, looks: Cell::new(0), changes_after }
        }
    }

    impl Word for Late {
        fn get(&self) -> u64 {
            self.looks.set(self.looks.get() + 1);
            if self.looks.get() > self.changes_after { self.then } else { self.now }
        }

        fn put(&self, _: u64, _: u64) -> Result<(), u64> {
            Ok(())
        }

        fn get_acquire(&self) -> u64 {
            self.get()
        }

        fn set_release(&self, _: u64) {}

        fn raise(&self, _: u64) -> u64 {
            self.get()
        }

        fn replace(&self, _: u64, _: u64) -> bool {
            true
        }
    }

    /// Claims position 5 of node 2, and returns how often it looked at the limit.
    fn claim(limit_before: u64, limit_after: u64, changes_after: u32) -> (Result<(u64, u64), NoClaim<()>>, u32) {
        let shape = Shape::new(&Layout::new([10, 2, 0], 1, 0, Order::NodeThenSequence).unwrap());
        let word = Late::new(shape.word(2, 5), shape.word(2, 5), 0);
        let limit = Late::new(limit_before, limit_after, changes_after);
        let claimed = Term { word: &word, limit: &limit, shape }.claim(Ok);
        (claimed, limit.looks.get())
    }

    #[test]
    fn a_limit_that_is_about_to_be_set_is_waited_for_and_no_other() {
        let shape = Shape::new(&Layout::new([10, 2, 0], 1, 0, Order::NodeThenSequence).unwrap());
        let (covers, ended, of_another) = (shape.limit(2, 6), shape.limit(2, 5), shape.limit(3, 6));
        assert_eq!(claim(covers, covers, 0), (Ok((2, 5)), 1));
        assert_eq!(claim(0, covers, LOOKS), (Ok((2, 5)), LOOKS + 1));
        assert_eq!(claim(0, covers, LOOKS + 1), (Err(NoClaim::Unleased), LOOKS + 1));
        assert_eq!(claim(ended, covers, 1), (Err(NoClaim::Unleased), 1));
        assert_eq!(claim(of_another, covers, 1), (Err(NoClaim::Unleased), 1));
    }

    #[test]
    fn a_word_that_was_just_closed_has_no_limit() {
        let shape = Shape::new(&Layout::SNOWFLAKE);
        let limit_in = |word| {
            let (word, limit) = (shape.word(2, 5) | word, shape.limit(2, 6));
            Term { word: &Late::new(word, word, 0), limit: &Late::new(limit, limit, 0), shape }.limit()
        };
        assert_eq!([0, shape.closed()].map(limit_in), [Some(6), None]);
    }
}
