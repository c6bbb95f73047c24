//! Wall-clock milliseconds, and the rule that time never runs backwards.

use std::cell::Cell;

/// If the clock is behind by more than this, it was wrong before, and is followed at once.
pub(crate) const LONGEST_HOLD_MS: u64 = 10_000;

/// Where an id's time comes from. Formats that count up within a millisecond keep one count for each source, so that an
/// id with a given time does not disturb the order of the clock's ids.
#[derive(Clone, Copy)]
pub(crate) enum Stamp {
    /// The clock, never backwards.
    Clock,
    /// The caller.
    Given,
}

thread_local! {
    static LAST_MS: Cell<i64> = const { Cell::new(i64::MIN) };
}

/// Milliseconds since 1970-01-01 UTC by the system's clock. Where the system refuses the time, as a sandbox may, it is the
/// last time that this thread stamped an id with, and 0 before the first.
///
/// ```
/// assert!(txid::system_ms() > 1_700_000_000_000);
/// ```
pub fn system_ms() -> i64 {
    ms_by(libc::CLOCK_REALTIME)
}

/// As [`system_ms`], but with the clock's tick of a few milliseconds, and never later. It costs a quarter as much.
///
/// ```
/// assert!(txid::system::coarse_ms() <= txid::system_ms());
/// ```
pub fn coarse_ms() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CHEAPEST: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CHEAPEST: libc::clockid_t = libc::CLOCK_REALTIME;

    ms_by(CHEAPEST)
}

/// Rounds down, also before 1970: the nanoseconds are never negative.
fn ms_by(clock: libc::clockid_t) -> i64 {
    read(clock).map_or_else(last_ms, |time| ms_of(time.tv_sec, time.tv_nsec))
}

/// For numbers that have 32 bits on some systems.
fn ms_of(seconds: impl Into<i64>, nanoseconds: impl Into<i64>) -> i64 {
    seconds.into() * 1000 + nanoseconds.into() / 1_000_000
}

#[cold]
fn last_ms() -> i64 {
    LAST_MS.get().max(0)
}

/// The time to stamp when the clock reads `now_ms`: the last time this thread used, while the clock is behind that by
/// at most ten seconds; otherwise `now_ms`.
pub(crate) fn never_backwards(now_ms: i64) -> i64 {
    let ms = hold(LAST_MS.get(), now_ms);
    LAST_MS.set(ms);
    ms
}

/// `last_ms` while `now_ms` is behind it by at most ten seconds, otherwise `now_ms`.
pub(crate) fn hold(last_ms: i64, now_ms: i64) -> i64 {
    if last_ms > now_ms && last_ms.abs_diff(now_ms) <= LONGEST_HOLD_MS { last_ms } else { now_ms }
}

/// Nanoseconds of a clock that never goes backwards; 0 where the system refuses it, which is more than a second ago.
pub(crate) fn uptime_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC).map_or(0, |time| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn read(clock: libc::clockid_t) -> Option<libc::timespec> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is our own timespec.
    (unsafe { libc::clock_gettime(clock, &mut time) } == 0).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_of_32_bits_are_no_fewer_milliseconds() {
        assert_eq!(ms_of(1_700_000_000_i32, 999_999_999_i32), 1_700_000_000_999);
        assert_eq!(ms_of(-2_i64, 999_999_999_i64), -1001);
    }

    #[test]
    fn a_clock_stepped_back_a_little_is_held() {
        assert_eq!(hold(100_000, 99_999), 100_000);
        assert_eq!(hold(100_000, 90_000), 100_000);
    }

    #[test]
    fn a_clock_further_behind_is_followed() {
        assert_eq!(hold(100_000, 89_999), 89_999);
        assert_eq!(hold(i64::MAX, i64::MIN), i64::MIN);
    }

    #[test]
    fn a_clock_that_moves_on_is_followed() {
        assert_eq!(hold(100_000, 100_000), 100_000);
        assert_eq!(hold(100_000, 100_001), 100_001);
        assert_eq!(hold(i64::MIN, -1), -1);
        assert_eq!(hold(i64::MIN, i64::MIN), i64::MIN);
    }

    #[test]
    fn each_thread_holds_its_own_time() {
        assert_eq!(never_backwards(5_000), 5_000);
        assert_eq!(never_backwards(4_000), 5_000);
        std::thread::spawn(|| assert_eq!(never_backwards(4_000), 4_000)).join().unwrap();
    }

    #[test]
    fn the_coarse_clock_is_behind_by_a_tick_at_most() {
        let before = system_ms();
        let coarse = coarse_ms();
        assert!((before - 100..=system_ms()).contains(&coarse), "{coarse} at {before}");
    }
}
