//! The one atomic word, and the only way to change it.
//!
//! It holds the first position that is free. A layout that needs no more than 55 bits for its positions, as all presets
//! do, leaves the top byte to a check: the exclusive or of all eight bytes is then always the same. A file whose word was
//! damaged, or whose page was lost and reads as zeros, is told by it.

use std::sync::atomic::{AtomicU64, Ordering};

const CHECK: u8 = 0xa5;
const CHECK_SHIFT: u32 = 56;

/// An atomic word: the standard library's, or that of a test which tries all orders of events.
pub(super) trait Word {
    fn get(&self) -> u64;

    /// Puts `new` in place of `old`, or tells what is there instead.
    fn put(&self, old: u64, new: u64) -> Result<(), u64>;
}

// Relaxed, because nothing but the word itself is shared: a swap always sees the newest value of its own word.
impl Word for AtomicU64 {
    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn put(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
    }
}

/// How positions are kept in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seal {
    /// The bits of the check: the top byte's, or none.
    check_bits: u64,
}

impl Seal {
    pub(super) fn new(position_bits: u32) -> Self {
        // One bit more than that is needed for the end: "no position is free".
        Self { check_bits: if position_bits < CHECK_SHIFT { u64::MAX << CHECK_SHIFT } else { 0 } }
    }

    // Without a branch, of which the compiler would make two loops in `claim`.
    #[inline]
    pub(super) fn close(self, position: u64) -> u64 {
        position | (u64::from(fold(position) ^ CHECK) << CHECK_SHIFT) & self.check_bits
    }

    #[inline]
    pub(super) fn open(self, word: u64) -> u64 {
        word & !self.check_bits
    }

    pub(super) fn is_whole(self, word: u64) -> bool {
        self.check_bits == 0 || fold(word) == CHECK
    }
}

/// The exclusive or of all bytes.
#[inline]
fn fold(word: u64) -> u8 {
    let word = word ^ word >> 32;
    let word = word ^ word >> 16;
    (word ^ word >> 8) as u8
}

/// Takes the position that `next` chooses, given the first that is free, and everything below it out of `word`.
///
/// A position is this caller's alone because the swap succeeds for one caller only. Somebody who loses has lost to one who
/// won, so that there is always one who gets on; a process that is killed in here has taken nothing or leaves a gap.
#[inline(always)]
pub(super) fn claim<R>(word: &impl Word, seal: Seal, mut next: impl FnMut(u64) -> Result<u64, R>) -> Result<u64, R> {
    let mut seen = word.get();
    loop {
        let position = next(seal.open(seen))?;
        match word.put(seen, seal.close(position + 1)) {
            Ok(()) => return Ok(position),
            Err(other) => seen = other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snowflake::step::next_position;
    use crate::snowflake::{Layout, Order};
    use proptest::prelude::*;
    use std::sync::Arc;

    type LoomWord = loom::sync::atomic::AtomicU64;

    impl Word for LoomWord {
        fn get(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn put(&self, old: u64, new: u64) -> Result<(), u64> {
            // Loom does not make a weak swap fail without a reason, so the strong one says as much.
            self.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
        }
    }

    const START: u64 = 101 << 1;

    /// Every order in which threads can read and swap the word, each thread with the clock readings of one of `clocks`.
    fn try_all_orders_of_events(clocks: Vec<Vec<i64>>) {
        const DRIFT: u64 = 4;
        loom::model(move || {
            // A unit of two positions, so that sequences fill up and borrow.
            let layout = Layout::new([10, 0, 1], 1, 0, Order::NodeThenSequence).unwrap();
            let seal = Seal::new(11);
            let word = Arc::new(LoomWord::new(seal.close(START)));
            let run = |clock: Vec<i64>| {
                let word = word.clone();
                loom::thread::spawn(move || {
                    let claim_at = |clock_ms| {
                        let rule = |free| next_position(&layout, DRIFT, free, clock_ms, || 0);
                        claim(&*word, seal, rule).ok().map(|position| (position, clock_ms))
                    };
                    clock.into_iter().filter_map(claim_at).collect::<Vec<_>>()
                })
            };
            let threads: Vec<_> = clocks.iter().cloned().map(run).collect();
            let claimed: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();

            for in_one_thread in &claimed {
                assert!(in_one_thread.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
            }
            let mut all = claimed.concat();
            all.sort_unstable();
            assert!(all.is_sorted_by(|(earlier, _), (later, _)| earlier < later), "twice: {all:?}");
            for (position, clock_ms) in &all {
                assert!(*position >= START, "used before");
                assert!((position >> 1) as i64 <= clock_ms + DRIFT as i64, "too far ahead of the clock");
            }
            assert!(seal.is_whole(word.get()));
            assert_eq!(seal.open(word.get()), all.last().map_or(START, |(last, _)| last + 1));
        });
    }

    /// What the clock can say: something before the last time used, something after it, or too far back for an id.
    const READINGS: [i64; 3] = [100, 103, 96];

    #[test]
    fn no_order_of_events_gives_three_threads_one_position() {
        // Threads are alike, so that who gets which reading makes no difference.
        for a in 0..3 {
            for b in a..3 {
                for c in b..3 {
                    try_all_orders_of_events([a, b, c].map(|reading| vec![READINGS[reading]]).to_vec());
                }
            }
        }
    }

    #[test]
    fn no_order_of_events_gives_two_threads_a_position_twice_or_out_of_order() {
        let clocks: Vec<_> = READINGS.iter().flat_map(|&first| READINGS.map(|second| vec![first, second])).collect();
        for (place, clock) in clocks.iter().enumerate() {
            for other in &clocks[place..] {
                try_all_orders_of_events(vec![clock.clone(), other.clone()]);
            }
        }
    }

    #[test]
    fn a_lost_page_is_told() {
        assert!(!Seal::new(55).is_whole(0));
        assert!(!Seal::new(55).is_whole(u64::MAX));
    }

    proptest! {
        #[test]
        fn any_damaged_byte_is_told(position in 0..=1_u64 << 55, byte in 0..8, damage in 1..=255_u64) {
            let seal = Seal::new(55);
            let word = seal.close(position);
            prop_assert!(seal.is_whole(word));
            prop_assert_eq!(seal.open(word), position);
            prop_assert!(!seal.is_whole(word ^ damage << (8 * byte)));
        }

        #[test]
        fn a_wide_layout_uses_the_whole_word(position in 0..=1_u64 << 63) {
            let seal = Seal::new(56);
            prop_assert_eq!(seal.open(seal.close(position)), position);
        }
    }
}
