//! Counts what is sent to a store, where it leaves, and stops asking one that refuses.
//!
//! To connect takes several requests with some stores, so an agent that seldom asks may still send many of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use txid_agent_machines::pace;
use txid_agent_machines::store::StoreError;

/// How many requests left for a store: connections that it accepted, and whatever was sent after an answer of it.
#[derive(Clone, Default)]
pub(super) struct Sent(Arc<AtomicU64>);

impl Sent {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The calls that failed within the last ten seconds.
#[derive(Default)]
pub(super) struct Failures {
    /// When they ended, and how many requests each of them sent.
    calls: Vec<(Instant, u64)>,
    /// What the next call is likely to send, and why the last one failed.
    last: Option<(u64, StoreError)>,
}

impl Failures {
    /// Waits until another call like the last one does not send too much. If that takes longer than the time-out, the
    /// answer is the last error again.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<(), StoreError> {
        let window = Duration::from_millis(pace::WINDOW_MS);
        self.calls.retain(|(end, _)| end.elapsed() < window);
        let Some((next, why)) = &self.last else { return Ok(()) };
        // A call that sends more than may be sent is made when nothing else was.
        let mut sent: u64 = self.calls.iter().map(|(_, sent)| sent).sum();
        let mut pause = Duration::ZERO;
        for (end, of_call) in &self.calls {
            if sent + next <= pace::MOST as u64 {
                break;
            }
            sent -= of_call;
            pause = window.saturating_sub(end.elapsed());
        }
        if pause > timeout {
            return Err(why.clone());
        }
        std::thread::sleep(pause);
        Ok(())
    }

    /// Notes how a call ended, and what it sent.
    pub(super) fn note(&mut self, sent: u64, error: Option<&StoreError>) {
        if let Some(why) = error {
            self.calls.push((Instant::now(), sent));
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

    /// The result of a wait after calls that ended so many milliseconds ago, if the next one sends so much.
    fn wait(calls: &[(u64, u64)], next: u64, timeout_ms: u64) -> Result<(), StoreError> {
        let calls = calls.iter().map(|&(ms, sent)| (Instant::now() - Duration::from_millis(ms), sent)).collect();
        Failures { calls, last: Some((next, error())) }.wait(Duration::from_millis(timeout_ms))
    }

    #[test]
    fn after_failures_no_more_is_sent_in_ten_seconds_than_may_be() {
        assert_eq!(wait(&[], 1, 0), Ok(()));
        assert_eq!(wait(&[(1_000, MOST - 1)], 1, 0), Ok(()));
        assert_eq!(wait(&[(1_000, MOST)], 1, 8_000), Err(error()));
        assert_eq!(wait(&[(1_000, MOST - 1)], 2, 8_000), Err(error()));
        // What was sent before that no longer counts.
        assert_eq!(wait(&[(10_000, MOST)], 1, 0), Ok(()));
        // It waits for the first call to be forgotten, which is enough, or is not.
        assert_eq!(wait(&[(9_900, MOST), (1_000, 5)], MOST - 5, 2_000), Ok(()));
        assert_eq!(wait(&[(9_900, MOST), (1_000, 5)], MOST - 4, 2_000), Err(error()));
        // A call that sends more than may be sent at all waits until nothing else counts.
        assert_eq!(wait(&[(9_900, 1)], MOST + 1, 2_000), Ok(()));
    }

    #[test]
    fn the_next_call_may_get_one_step_further() {
        let mut failures = Failures::default();
        let mut next = |sent, error: Option<&StoreError>| {
            failures.note(sent, error);
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
