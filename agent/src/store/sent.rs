//! Counts requests as they leave; throttles a store that keeps failing.
//!
//! With some stores, a connection takes several requests, so an agent that seldom calls may still send many.

use std::cell::Cell;
use std::time::{Duration, Instant};

use txid_agent_machines::pace;
use txid_agent_machines::store::StoreError;

thread_local! {
    static SENT: Cell<u64> = const { Cell::new(0) };
}

/// Counts a request of this thread: a connection that a store accepted, or a message after one of its answers.
pub(super) fn add() {
    SENT.set(SENT.get() + 1);
}

/// The requests of this thread. A call sends all its requests in the thread that calls.
pub(super) fn total() -> u64 {
    SENT.get()
}

/// The calls that failed within the last ten seconds.
#[derive(Default)]
pub(super) struct Failures {
    /// The end of each, and its requests.
    calls: Vec<(Instant, u64)>,
    /// The likely requests of the next call, and why the last one failed.
    last: Option<(u64, StoreError)>,
}

impl Failures {
    /// The pause after which another call like the last one does not send too much. If the pause is longer than the
    /// time-out, returns the last error again.
    pub(super) fn pause(&mut self, now: Instant, timeout: Duration) -> Result<Duration, StoreError> {
        let window = Duration::from_millis(pace::WINDOW_MS);
        self.calls.retain(|(end, _)| now.duration_since(*end) < window);
        let Some((next, why)) = &self.last else { return Ok(Duration::ZERO) };
        // A call that sends more than may be sent is made when nothing else was.
        let mut sent: u64 = self.calls.iter().map(|(_, sent)| sent).sum();
        let mut pause = Duration::ZERO;
        for (end, of_call) in &self.calls {
            if sent + next <= pace::MOST as u64 {
                break;
            }
            sent -= of_call;
            pause = window.saturating_sub(now.duration_since(*end));
        }
        if pause > timeout { Err(why.clone()) } else { Ok(pause) }
    }

    /// Notes the error and the requests of a call that has ended.
    pub(super) fn note(&mut self, now: Instant, sent: u64, error: Option<&StoreError>) {
        if let Some(why) = error {
            self.calls.push((now, sent));
            let most = self.calls.iter().map(|(_, sent)| *sent).max().unwrap_or(0);
            // It may get one step further than those.
            let next = if most > 1 { most + 1 } else { 1 };
            self.last = Some((next, why.clone()));
        } else if let Some((next, _)) = &mut self.last {
            *next = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = pace::MOST as u64;

    fn error() -> StoreError {
        StoreError::TimedOut { store: "here".to_owned(), ms: 1 }
    }

    /// The pause, in milliseconds, before a call with `next` requests. `calls`: how long ago each ended, and its requests.
    fn pause(calls: &[(u64, u64)], next: u64, timeout_ms: u64) -> Result<u128, StoreError> {
        let now = Instant::now() + Duration::from_secs(60);
        let calls = calls.iter().map(|&(ms, sent)| (now - Duration::from_millis(ms), sent)).collect();
        let mut failures = Failures { calls, last: Some((next, error())) };
        failures.pause(now, Duration::from_millis(timeout_ms)).map(|pause| pause.as_millis())
    }

    #[test]
    fn after_failures_no_more_is_sent_in_ten_seconds_than_may_be() {
        assert_eq!(pause(&[], 1, 0), Ok(0));
        assert_eq!(pause(&[(1_000, MOST - 1)], 1, 0), Ok(0));
        assert_eq!(pause(&[(1_000, MOST)], 1, 8_999), Err(error()));
        assert_eq!(pause(&[(1_000, MOST)], 1, 9_000), Ok(9_000));
        assert_eq!(pause(&[(1_000, MOST - 1)], 2, 8_999), Err(error()));
        // What was sent before that no longer counts.
        assert_eq!(pause(&[(9_999, MOST)], 1, 0), Err(error()));
        assert_eq!(pause(&[(10_000, MOST)], 1, 0), Ok(0));
        // It waits for the first call to be forgotten, which is enough, or is not.
        assert_eq!(pause(&[(9_900, MOST), (1_000, 5)], MOST - 5, 2_000), Ok(100));
        assert_eq!(pause(&[(9_900, MOST), (1_000, 5)], MOST - 4, 2_000), Err(error()));
        // A call that sends more than may be sent at all waits until nothing else counts.
        assert_eq!(pause(&[(9_900, 1)], MOST + 1, 2_000), Ok(100));
    }

    /// Whatever each call sends, a time-out allows and a store answers: with a clock that the test moves.
    #[test]
    fn in_any_ten_seconds_at_most_ten_requests_leave_for_a_store_that_fails() {
        for sends in 1..=MOST {
            let (mut failures, mut now, mut left) = (Failures::default(), Instant::now(), Vec::new());
            for _ in 0..100 {
                match failures.pause(now, Duration::from_secs(3)) {
                    Ok(pause) => {
                        now += pause;
                        left.extend((0..sends).map(|_| now));
                        failures.note(now, sends, Some(&error()));
                    }
                    Err(_) => now += Duration::from_secs(1),
                }
            }
            assert!(failures.calls.len() <= pace::MOST, "those that no longer count are forgotten");
            let within = |first: &Instant| {
                left.iter().filter(|time| **time >= *first && **time - *first < Duration::from_secs(10)).count()
            };
            let most = left.iter().map(within).max().unwrap();
            assert!(left.len() > 20 && most <= MOST as usize, "{sends} a call: {most} in ten seconds");
        }
    }

    #[test]
    fn the_next_call_may_get_one_step_further() {
        let mut failures = Failures::default();
        let mut next = |sent, error: Option<&StoreError>| {
            failures.note(Instant::now(), sent, error);
            failures.last.as_ref().map(|(next, _)| *next)
        };
        assert_eq!(next(5, None), None);
        assert_eq!(next(0, Some(&error())), Some(1));
        assert_eq!(next(1, Some(&error())), Some(1));
        assert_eq!(next(2, Some(&error())), Some(3));
        assert_eq!(next(1, Some(&error())), Some(3));
        assert_eq!(next(1, None), Some(1));
    }
}
