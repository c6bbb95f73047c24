//! A sequence number that wraps around, for ids without random bits.
//!
//! One pass through all numbers is a lap. If a lap ends within a millisecond, the next lap begins in the next
//! millisecond, so that no number occurs twice in one.

use super::clock;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bits of a time.
const MS_MASK: i64 = (1 << 48) - 1;

/// A time of 48 bits and a number of 16, in one word.
#[derive(Clone, Copy)]
pub(crate) struct Position(u64);

impl Position {
    /// The position before the first lap of numbers below `length`, which begins with 0.
    pub(crate) const fn before(length: u32) -> Self {
        Self(length as u64 - 1)
    }

    pub(crate) fn ms(self) -> u64 {
        self.0 >> 16
    }

    pub(crate) fn number(self) -> u16 {
        self.0 as u16
    }

    /// The position after this one, in laps of numbers below `length` (at most 65,536), when the clock reads `now_ms`.
    ///
    /// Laps that are shorter than a millisecond run ahead of the clock, however far. Time goes back only if the clock
    /// itself `had_been_wrong`.
    pub(crate) fn next(self, length: u32, now_ms: i64, had_been_wrong: bool) -> Self {
        let now_ms = now_ms & MS_MASK;
        let ahead_of_it = self.ms().max(now_ms as u64);
        let ms = if had_been_wrong { clock::hold(self.ms() as i64, now_ms) as u64 } else { ahead_of_it };
        let number = u64::from(self.number()) + 1;
        if number < u64::from(length) { Self(ms << 16 | number) } else { Self((ms + u64::from(ms == self.ms())) << 16) }
    }
}

/// A thread's last reading of the clock. It reveals a step back even if laps are ahead of the clock.
pub(crate) struct Reading(Cell<i64>);

impl Reading {
    pub(crate) const fn none() -> Self {
        Self(Cell::new(i64::MIN))
    }

    /// Whether the clock, which now reads `now_ms`, went back by more than the longest hold. Only 48 bits count, so that a
    /// time before 1970 is far in the future, and does not hold up all that follow.
    pub(crate) fn had_been_wrong(&self, now_ms: i64) -> bool {
        let now_ms = now_ms & MS_MASK;
        let last_ms = self.0.replace(now_ms);
        last_ms > now_ms && last_ms.abs_diff(now_ms) > clock::LONGEST_HOLD_MS
    }
}

/// One sequence for all threads of a process.
pub(crate) struct SharedLaps<const LENGTH: u32>(AtomicU64);

impl<const LENGTH: u32> SharedLaps<LENGTH> {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(Position::before(LENGTH).0))
    }

    pub(crate) fn next(&self, now_ms: i64, had_been_wrong: bool) -> Position {
        let after = |last| Position(last).next(LENGTH, now_ms, had_been_wrong);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last).0));
        after(taken.unwrap_or_else(|last| last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_number_comes_twice_in_a_millisecond() {
        let laps = SharedLaps::<10>::new();
        let positions: Vec<_> = (0..1000).map(|turn| laps.next(1_000_000 + turn / 300, false)).collect();
        assert_eq!((positions[0].ms(), positions[0].number()), (1_000_000, 0));
        assert_eq!(positions.iter().map(|position| position.0).collect::<HashSet<_>>().len(), 1000);
        assert!(positions.is_sorted_by_key(|position| position.ms()));
    }

    #[test]
    fn the_longest_lap_begins_with_0_as_well() {
        let first = Position::before(1 << 16).next(1 << 16, 1_000_000, false);
        assert_eq!((first.ms(), first.number()), (1_000_000, 0));
    }

    #[test]
    fn no_number_comes_twice_however_long_the_clock_stands_still() {
        let (laps, reading) = (SharedLaps::<2>::new(), Reading::none());
        let next = |now_ms| laps.next(now_ms, reading.had_been_wrong(now_ms)).0;
        let positions: Vec<_> = (0..100_000).map(|_| next(1_000_000)).collect();
        assert_eq!(Position(positions[99_999]).ms(), 1_000_000 + 49_999);
        assert!(positions.is_sorted_by(|earlier, later| earlier < later));
        // A clock that goes back by no more than the longest hold is not followed.
        assert!(next(1_000_000 - 10_000) > positions[99_999]);
    }

    #[test]
    fn a_clock_that_had_been_wrong_is_followed() {
        let position = Position::before(10).next(10, 1_000_000, false);
        assert_eq!(position.next(10, 999_999, true).ms(), 1_000_000);
        assert_eq!(position.next(10, 5, true).ms(), 5);
        assert_eq!(position.next(10, 5, false).ms(), 1_000_000);
    }

    #[test]
    fn only_a_clock_that_goes_far_back_had_been_wrong() {
        let reading = Reading::none();
        let readings = [1_000_005, 1_020_005, 1_010_005, 1_000_005, 990_004, 990_005];
        assert_eq!(readings.map(|ms| reading.had_been_wrong(ms)), [false, false, false, false, true, false]);
    }

    #[test]
    fn a_reading_from_before_1970_does_not_hold_up_what_follows() {
        let (laps, reading) = (SharedLaps::<10>::new(), Reading::none());
        let next = |now_ms| laps.next(now_ms, reading.had_been_wrong(now_ms)).ms();
        assert_eq!([5_000_000, -1, 5_000_001, 5_000_002].map(next), [5_000_000, (1 << 48) - 1, 5_000_001, 5_000_002]);
    }

    #[test]
    fn no_number_comes_twice_before_1970() {
        let laps = SharedLaps::<2>::new();
        let positions: Vec<_> = (0..1000).map(|_| laps.next(-1_000_000, false)).collect();
        assert_eq!(positions[0].ms(), (1 << 48) - 1_000_000);
        assert!(positions.is_sorted_by(|earlier, later| earlier.0 < later.0));
    }

    #[test]
    fn a_time_has_48_bits() {
        let position = Position::before(10).next(10, -1, false);
        assert_eq!((position.ms(), position.number()), ((1 << 48) - 1, 0));
    }
}
