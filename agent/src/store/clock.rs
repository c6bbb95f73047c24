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
        let seen = self.last.as_ref()?;
        let passed = since_boot_ms() - seen.at_ms;
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
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime_s: f64 = uptime.split_once(' ').unwrap().0.parse().unwrap();
        let mut last_ms = since_boot_ms();
        assert!((last_ms - (uptime_s * 1000.0) as i64).abs() < 5_000, "{last_ms} {uptime}");
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(2));
            let now_ms = since_boot_ms();
            assert!(last_ms < now_ms, "{now_ms} after {last_ms}");
            last_ms = now_ms;
        }
    }

    #[test]
    fn an_answer_of_a_minute_ago_shows_no_time() {
        let after =
            |passed_ms| StoreClock { last: Some(Seen { store_ms: 7_000_000, at_ms: since_boot_ms() - passed_ms }) };
        assert_eq!(StoreClock::default().now_ms(), None);
        assert!(after(1_000).now_ms().is_some_and(|ms| (7_001_000..7_060_000).contains(&ms)));
        // A test may be held up.
        assert!(after(30_000).now_ms().is_some_and(|ms| ms >= 7_030_000));
        assert_eq!(after(60_000).now_ms(), None);
    }
}
