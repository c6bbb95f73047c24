//! Limits how often a machine asks its store, whatever that answers.

use std::collections::VecDeque;

/// The interval that requests are counted over.
pub const WINDOW_MS: u64 = 10_000;
/// How many requests may be sent in it.
pub const MOST: usize = 10;

/// When the last requests were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pace {
    sent_ms: VecDeque<u64>,
}

impl Pace {
    /// When the next request may be sent, if at most `most` may be sent in any ten seconds.
    pub(crate) fn next_ms(&self, most: usize) -> u64 {
        match self.sent_ms.len().checked_sub(most) {
            None => 0,
            Some(older) => self.sent_ms.get(older).map_or(u64::MAX, |sent_ms| sent_ms.saturating_add(WINDOW_MS)),
        }
    }

    /// Notes that a request is sent now.
    pub(crate) fn send(&mut self, most: usize, now_ms: u64) {
        // A model checker has no limit, and states that differ only in this are one.
        if most == usize::MAX {
            return;
        }
        self.sent_ms.push_back(now_ms);
        while self.sent_ms.len() > most {
            self.sent_ms.pop_front();
        }
    }

    /// The last request does not count, because its answer was used.
    pub(crate) fn forgive(&mut self) {
        self.sent_ms.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ten_seconds_have_more_than_so_many_requests() {
        let (mut pace, mut now_ms, mut sent) = (Pace::default(), 5, Vec::new());
        for _ in 0..100 {
            now_ms = now_ms.max(pace.next_ms(3)) + 7;
            pace.send(3, now_ms);
            sent.push(now_ms);
        }
        assert!(sent.windows(4).all(|four| four[3] - four[0] >= 10_000), "{sent:?}");
        assert!(sent[99] < 34 * 10_100, "{sent:?}");
    }

    #[test]
    fn a_request_whose_answer_was_used_does_not_count() {
        let mut pace = Pace::default();
        pace.send(2, 5);
        pace.send(2, 6);
        pace.forgive();
        assert_eq!(pace.next_ms(2), 0);
    }
}
