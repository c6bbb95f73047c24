//! Tells from the guard's signs of life whether it works. It sends one ten times a second.

use std::time::{Duration, Instant};

/// Shortest pause between two looks; a slower guard is starved of CPU.
const SHORTEST: Duration = Duration::from_millis(150);
/// Looks without a sign of life, half a margin, until a stopped guard is given up.
const MOST_STOPPED: u32 = 3;
/// Looks until a guard is given up that may only be slow: more than a margin.
const MOST_SLOW: u32 = 8;

/// Counts looks and not time, because the whole machine may have been stopped.
pub struct Beat {
    every: Duration,
    next: Instant,
    missed: u32,
}

/// The result of a look.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Works,
    /// SIGCONT may wake it.
    Stopped {
        /// Whether it was not stopped at the last look.
        is_news: bool,
    },
    Fails,
}

impl Beat {
    pub fn new(margin: Duration, now: Instant) -> Self {
        let every = SHORTEST.max(margin / 6);
        Self { every, next: now + every, missed: 0 }
    }

    /// The time of the next look.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// A look at `now`. `works`: the guard has sent a sign of life since the last one.
    pub fn look(&mut self, now: Instant, works: bool, is_stopped: impl FnOnce() -> bool) -> Verdict {
        self.next = now + self.every;
        self.missed = if works { 0 } else { self.missed + 1 };
        if works {
            return Verdict::Works;
        }
        match is_stopped() {
            true if self.missed >= MOST_STOPPED => Verdict::Fails,
            true => Verdict::Stopped { is_news: self.missed == 1 },
            false if self.missed >= MOST_SLOW => Verdict::Fails,
            false => Verdict::Works,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts after looks with (.) and without (-) a sign of life.
    fn verdicts(words: &str, is_stopped: bool) -> String {
        let now = Instant::now();
        let mut beat = Beat::new(Duration::from_secs(5), now);
        let verdict = |word| match beat.look(now, word == '.', || is_stopped) {
            Verdict::Works => '.',
            Verdict::Stopped { is_news: true } => 'W',
            Verdict::Stopped { is_news: false } => 'w',
            Verdict::Fails => '!',
        };
        words.chars().map(verdict).collect()
    }

    #[test]
    fn a_guard_that_is_stopped_is_woken_and_then_given_up() {
        assert_eq!(verdicts("..---", true), "..Ww!");
        assert_eq!(verdicts("-.--.--.", true), "W.Ww.Ww.");
    }

    #[test]
    fn a_guard_that_is_slow_has_more_than_a_margin() {
        assert_eq!(verdicts("-------.", false), "........");
        assert_eq!(verdicts("--------", false), ".......!");
        let now = Instant::now();
        for (margin_ms, every_ms) in [(5_000, 833), (1_900, 316), (700, 150)] {
            let next = Beat::new(Duration::from_millis(margin_ms), now).next();
            assert_eq!((next - now).as_millis(), every_ms);
        }
        // It has as long after a stop of the whole machine.
        let (mut beat, late) = (Beat::new(Duration::from_secs(5), now), now + Duration::from_secs(3600));
        assert_eq!(beat.look(late, true, || false), Verdict::Works);
        assert_eq!((beat.next() - late).as_millis(), 833);
    }
}
