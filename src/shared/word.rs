//! An atomic word that processes share, and the operations on it.
//!
//! A word without companions holds the first free position. If that has at most 55 bits, the top byte is a check: the
//! exclusive or of all bytes has a fixed value, unless the word is damaged or its page was lost.

use std::sync::atomic::{AtomicU64, Ordering};

const CHECK: u8 = 0xa5;
const CHECK_SHIFT: u32 = 56;

/// An atomic word: the standard library's, or that of a test which tries all orders of events.
pub(crate) trait Word {
    fn get(&self) -> u64;

    /// Puts `new` in place of `old`; fails with the current value if that is not `old`.
    fn put(&self, old: u64, new: u64) -> Result<(), u64>;

    /// Reads the word; later reads are not older.
    fn get_acquire(&self) -> u64;

    /// Writes `new`; a reader that sees it also sees everything written before it.
    fn set_release(&self, new: u64);

    /// Sets these bits, and returns the previous value.
    fn raise(&self, bits: u64) -> u64;

    /// Puts `new` in place of `old`; returns false if the value is not `old`. Later reads are not older, and a reader
    /// that sees `new` also sees everything written before it.
    fn replace(&self, old: u64, new: u64) -> bool;
}

// Relaxed where only the word itself is shared: a swap always sees the newest value of its own word.
impl Word for AtomicU64 {
    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn put(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
    }

    #[inline]
    fn get_acquire(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn set_release(&self, new: u64) {
        self.store(new, Ordering::Release);
    }

    #[inline]
    fn raise(&self, bits: u64) -> u64 {
        self.fetch_or(bits, Ordering::AcqRel)
    }

    #[inline]
    fn replace(&self, old: u64, new: u64) -> bool {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// How positions are stored in a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seal {
    /// The bits of the check: those of the top byte, or none.
    check_bits: u64,
}

impl Seal {
    pub(crate) fn new(position_bits: u32) -> Self {
        // One more bit is needed for the end, "no position is free".
        Self { check_bits: if position_bits < CHECK_SHIFT { u64::MAX << CHECK_SHIFT } else { 0 } }
    }

    // Without a branch, which the compiler would turn into two loops in `claim`.
    #[inline]
    pub(crate) fn close(self, position: u64) -> u64 {
        position | (u64::from(fold(position) ^ CHECK) << CHECK_SHIFT) & self.check_bits
    }

    #[inline]
    pub(crate) fn open(self, word: u64) -> u64 {
        word & !self.check_bits
    }

    pub(crate) fn is_whole(self, word: u64) -> bool {
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

/// Takes the position that `next` chooses, given the first free one, and everything below it from `word`.
///
/// A position belongs to this caller alone, because the swap succeeds for only one. A caller that loses has lost to one
/// that succeeded, so there is always progress. A process that is killed in here has taken nothing, or leaves a gap.
#[inline(always)]
pub(crate) fn claim<R>(word: &impl Word, seal: Seal, mut next: impl FnMut(u64) -> Result<u64, R>) -> Result<u64, R> {
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
    use proptest::prelude::*;

    #[test]
    fn a_lost_page_is_detected() {
        assert!(!Seal::new(55).is_whole(0));
        assert!(!Seal::new(55).is_whole(u64::MAX));
    }

    proptest! {
        #[test]
        fn any_damaged_byte_is_noticed(position in 0..=1_u64 << 55, byte in 0..8, damage in 1..=255_u64) {
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
            prop_assert!(seal.is_whole(seal.close(position)));
        }
    }
}
