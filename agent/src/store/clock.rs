//! A store's clock, as its answers show it.

use rustix::time::{ClockId, clock_gettime};
use txid_agent_machines::store::StoreTime;

/// How long the time of an answer is used. After that, the store is asked again.
const FRESH_MS: i64 = 60_000;

/// The time of the last answer.
#[derive(Clone, Default)]
pub(super) struct StoreClock {
    last: Option<Seen>,
}

/// A time that an answer has shown, and when the answer came.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    time: StoreTime,
    at_ms: i64,
}

/// When a request was sent.
#[derive(Clone, Copy)]
pub(super) struct Asked(i64);

impl Asked {
    pub(super) fn now() -> Self {
        Self(since_boot_ms())
    }

    /// The answer has come now, and shows this time, in whole units of `unit_ms`. The store read its clock at any moment since
    /// it was asked.
    pub(super) fn shows(self, store_ms: i64, unit_ms: i64) -> Seen {
        self.showed(store_ms, unit_ms, since_boot_ms())
    }

    fn showed(self, store_ms: i64, unit_ms: i64, at_ms: i64) -> Seen {
        // Both clocks are rounded down.
        let took_ms = unit_ms + at_ms - self.0;
        Seen { time: StoreTime { earliest_ms: store_ms, latest_ms: store_ms.saturating_add(took_ms) }, at_ms }
    }
}

impl StoreClock {
    /// Notes the time that an answer shows.
    pub(super) fn saw(&mut self, seen: Seen) {
        self.last = Some(seen);
    }

    /// The store's clock now, if a recent answer showed it.
    pub(super) fn now(&self) -> Option<StoreTime> {
        self.at_ms(since_boot_ms())
    }

    fn at_ms(&self, now_ms: i64) -> Option<StoreTime> {
        let Seen { time, at_ms } = self.last.as_ref()?;
        let passed_ms = now_ms - at_ms;
        // Both times are rounded down, so up to a millisecond less may have passed. `latest_ms` has room for that.
        let earliest_ms = time.earliest_ms.saturating_add((passed_ms - 1).max(0));
        let latest_ms = time.latest_ms.saturating_add(passed_ms);
        (passed_ms < FRESH_MS).then_some(StoreTime { earliest_ms, latest_ms })
    }
}

/// Unlike `Instant`, this continues while the machine sleeps.
fn since_boot_ms() -> i64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_since_the_boot_is_the_kernels_and_never_goes_back() {
        let before_ms = since_boot_ms();
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let mut last_ms = since_boot_ms();
        let uptime_s: f64 = uptime.split_once(' ').unwrap().0.parse().unwrap();
        // It has hundredths of a second.
        assert!((before_ms - 10..=last_ms).contains(&((uptime_s * 1000.0) as i64)), "{before_ms} {uptime} {last_ms}");
        let mut steps = 0;
        while steps < 20 {
            let now_ms = since_boot_ms();
            assert!(last_ms <= now_ms, "{now_ms} after {last_ms}");
            steps += u32::from(last_ms < now_ms);
            last_ms = now_ms;
        }
    }

    #[test]
    fn a_time_is_as_uncertain_as_the_answer_took_and_its_unit_is_long() {
        let time = |earliest_ms, latest_ms| Some(StoreTime { earliest_ms, latest_ms });
        for (unit_ms, wanted) in [(1, time(7_000_000, 7_002_301)), (1_000, time(7_000_000, 7_003_300))] {
            let clock = StoreClock { last: Some(Asked(500).showed(7_000_000, unit_ms, 2_800)) };
            assert_eq!(clock.at_ms(2_800), wanted);
        }
    }

    #[test]
    fn an_answer_of_a_minute_ago_shows_no_time() {
        let clock = StoreClock { last: Some(Asked(400).showed(7_000_000, 1, 500)) };
        assert_eq!(StoreClock::default().now(), None);
        let at = |ms| clock.at_ms(ms).map(|time| (time.earliest_ms, time.latest_ms));
        assert_eq!(at(500), Some((7_000_000, 7_000_101)));
        assert_eq!(at(501), Some((7_000_000, 7_000_102)));
        assert_eq!(at(1_500), Some((7_000_999, 7_001_101)));
        assert_eq!(at(60_499), Some((7_059_998, 7_060_100)));
        assert_eq!(at(60_500), None);
    }
}
