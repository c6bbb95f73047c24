//! Random bits that grow within a millisecond, so that the ids of a thread sort in the order in which they were made.
//!
//! RFC 9562, 6.2, method 2: they grow by a random amount.

use super::clock::{self, Stamp};
use super::entropy;
use std::cell::Cell;

/// A time, and the random bits after it.
#[derive(Clone, Copy)]
pub(crate) struct Grown {
    pub(crate) ms: i64,
    pub(crate) random: u128,
}

/// What a thread keeps of one format with `BITS` random bits: the last of each kind of stamp, so that a given stamp far
/// ahead does not hold up the clock's.
#[derive(Clone, Copy)]
pub(crate) struct Growing<const BITS: u32> {
    stream: u64,
    last: [Grown; 2],
}

impl<const BITS: u32> Growing<BITS> {
    pub(crate) const MAX: u128 = (1 << BITS) - 1;

    pub(crate) const NONE: Self = Self::begin(0);

    /// No time is -1.
    const fn begin(stream: u64) -> Self {
        Self { stream, last: [Grown { ms: -1, random: 0 }; 2] }
    }

    /// Stamped with `ms`, which is not negative; or with a later time, if the clock's `ms` is behind or full.
    pub(crate) fn next(kept: &Cell<Self>, ms: i64, stamp: Stamp) -> Grown {
        let (stream_id, bits) = entropy::next_u128_of_stream(ms);
        let mut growing = kept.get();
        if growing.stream != stream_id.stream {
            // In a child of a fork: the siblings know what the parent's bits were as well.
            growing = Self::begin(stream_id.stream);
        }
        // When a millisecond is full, the time has moved into the next one.
        let ms = match stamp {
            Stamp::Clock => clock::hold(growing.last[stamp as usize].ms, ms),
            Stamp::Given => ms,
        };
        let greatest = growing.last.iter().filter(|last| last.ms == ms).map(|last| last.random).max();
        let next = Self::after(greatest, ms, bits);
        growing.last[stamp as usize] = next;
        kept.set(growing);
        next
    }

    /// The upper ones of the random `bits` say by how much to grow, and the lower ones are where a millisecond begins.
    fn after(greatest: Option<u128>, ms: i64, bits: u128) -> Grown {
        let Some(greatest) = greatest else {
            return Self::first(ms, bits);
        };
        let random = grown(greatest, (bits >> 96) as u32);
        if random <= Self::MAX { Grown { ms, random } } else { Self::first(ms + 1, bits) }
    }

    /// The first of a millisecond, with the top bit clear to leave room for growth.
    fn first(ms: i64, bits: u128) -> Grown {
        Grown { ms, random: bits & Self::MAX >> 1 }
    }
}

/// Greater than `random`, even where `by` is 0.
fn grown(random: u128, by: u32) -> u128 {
    random + 1 + u128::from(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u128 = Growing::<74>::MAX;

    #[test]
    fn a_millisecond_that_is_full_is_followed_by_the_next() {
        assert_eq!(Growing::<74>::after(Some(MAX), 5, 0).ms, 6);
        let last = Growing::<74>::after(Some(MAX - 8), 5, 7 << 96);
        assert_eq!((last.ms, last.random), (5, MAX));
    }

    #[test]
    fn what_grows_by_nothing_is_greater() {
        assert_eq!((grown(7, 0), grown(7, 5)), (8, 13));
    }
}
