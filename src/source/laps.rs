//! A sequence that runs round and round, for ids that have nothing random in them.
//!
//! Where a lap ends within a millisecond the next lap begins in the next one, so no number comes twice in a millisecond.

use super::clock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A time of 48 bits and a number of 16, in one word.
#[derive(Clone, Copy)]
pub(crate) struct Place(u64);

impl Place {
    /// Before the first lap of numbers below `length`, which begins with 0.
    pub(crate) const fn before(length: u32) -> Self {
        Self(length as u64 - 1)
    }

    pub(crate) fn ms(self) -> u64 {
        self.0 >> 16
    }

    pub(crate) fn number(self) -> u16 {
        self.0 as u16
    }

    /// The place after this one in laps of numbers below `length`, at most 65,536, when the clock reads `now_ms`.
    pub(crate) fn next(self, length: u32, now_ms: i64) -> Self {
        let ms = clock::hold(self.ms() as i64, now_ms & ((1 << 48) - 1)) as u64;
        let number = u64::from(self.number()) + 1;
        if number < u64::from(length) { Self(ms << 16 | number) } else { Self((ms + u64::from(ms == self.ms())) << 16) }
    }
}

/// Laps that all threads of a process run together.
pub(crate) struct SharedLaps<const LENGTH: u32>(AtomicU64);

impl<const LENGTH: u32> SharedLaps<LENGTH> {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(Place::before(LENGTH).0))
    }

    pub(crate) fn next(&self, now_ms: i64) -> Place {
        let mut place = Place(self.0.load(Ordering::Relaxed));
        loop {
            let next = place.next(LENGTH, now_ms);
            match self.0.compare_exchange_weak(place.0, next.0, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return next,
                Err(now) => place = Place(now),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_number_comes_twice_in_a_millisecond() {
        let laps = SharedLaps::<10>::new();
        let places: Vec<_> = (0..1000).map(|turn| laps.next(1_000_000 + turn / 300)).collect();
        assert_eq!((places[0].ms(), places[0].number()), (1_000_000, 0));
        assert_eq!(places.iter().map(|place| place.0).collect::<HashSet<_>>().len(), 1000);
        assert!(places.is_sorted_by_key(|place| place.ms()));
    }

    #[test]
    fn a_clock_that_had_been_wrong_is_followed() {
        let place = Place::before(10).next(10, 1_000_000);
        assert_eq!(place.next(10, 999_999).ms(), 1_000_000);
        assert_eq!(place.next(10, 5).ms(), 5);
    }
}
