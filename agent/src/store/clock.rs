//! A store's clock, as its answers show it.

use rustix::time::{ClockId, clock_gettime};

/// How long the time of an answer is used. After that, the store is asked again.
const FRESH_MS: i64 = 60_000;

/// The time of the last answer.
#[derive(Clone, Default)]
pub(super) struct StoreClock {
    last: Option<Seen>,
}

#[derive(Clone)]
struct Seen {
    store_ms: i64,
    at_ms: i64,
}

impl StoreClock {
    /// Notes that the store's clock reads `store_ms` now.
    pub(super) fn saw(&mut self, store_ms: i64) {
        self.last = Some(Seen { store_ms, at_ms: since_boot_ms() });
    }

    /// The store's clock now, if a recent answer showed it.
    pub(super) fn now_ms(&self) -> Option<i64> {
        self.at_ms(since_boot_ms())
    }

    fn at_ms(&self, now_ms: i64) -> Option<i64> {
        let seen = self.last.as_ref()?;
        let passed = now_ms - seen.at_ms;
        (passed < FRESH_MS).then_some(seen.store_ms + passed)
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
    fn an_answer_of_a_minute_ago_shows_no_time() {
        let clock = StoreClock { last: Some(Seen { store_ms: 7_000_000, at_ms: 500 }) };
        assert_eq!(StoreClock::default().now_ms(), None);
        assert_eq!(clock.at_ms(1_500), Some(7_001_000));
        assert_eq!(clock.at_ms(60_499), Some(7_059_999));
        assert_eq!(clock.at_ms(60_500), None);
    }
}
