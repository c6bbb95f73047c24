//! Sees clocks that were set back, from the ids of a host in the order of their lines.

/// Requests that take longer than others end later, too: an id may be so much older than others.
const LATE_MS: i64 = 1_000;

/// One more than the number of the last ids that may be ahead of the clock.
const HIGHEST: usize = 4;

/// How many ids one half of the last ids has.
const HALF: u32 = 16;

/// An older id counts one, another takes four away, and so many are a step: a fifth of all may be slow, by any time.
const ENOUGH: u32 = 16;
const TAKEN_AWAY: u32 = 4;

const MINUTE_MS: i64 = 60_000;

/// How many of the first older ids say how far the clock went back.
const FIRST: usize = 5;

/// A clock that went back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepBack {
    /// An id before it, and the first one after.
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    /// How long it was at least.
    pub(super) by_ms: i64,
    /// The line of the first id after it.
    pub(super) line: u64,
    /// Ids that are older than those before, for a minute or until the clock had caught up.
    pub(super) ids: u64,
}

/// No time, which is lower than any.
const NONE: i64 = i64::MIN;

/// The ids of one host in one file.
pub(super) struct Clock {
    /// The highest of the last 16 to 31 ids: of those before, and of `count` later ones, in falling order.
    before: [i64; HIGHEST],
    now: [i64; HIGHEST],
    count: u32,
    older: Option<Box<Older>>,
    step: Option<Box<(StepBack, u32)>>,
}

/// Ids that are older than those before.
struct Older {
    than_ms: i64,
    score: u32,
    ids: u64,
    /// With their lines.
    first: Vec<(i64, u64)>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { before: [NONE; HIGHEST], now: [NONE; HIGHEST], count: 0, older: None, step: None }
    }
}

impl Clock {
    /// A step that is over.
    pub(super) fn see(&mut self, ms: i64, line: u64) -> Option<StepBack> {
        if self.step.is_some() {
            return self.catch_up(ms);
        }
        let than_ms = self.older.as_ref().map(|older| older.than_ms).or_else(|| self.reference());
        self.remember(ms);
        let than_ms = than_ms?;
        if ms >= than_ms.saturating_sub(LATE_MS) {
            self.older = self.older.take().filter(|older| older.score > TAKEN_AWAY);
            self.older.iter_mut().for_each(|older| older.score -= TAKEN_AWAY);
            return None;
        }
        let older = self.older.get_or_insert_with(|| Box::new(Older { than_ms, score: 0, ids: 0, first: Vec::new() }));
        older.score += 1;
        older.ids += 1;
        if older.first.len() < FIRST {
            older.first.push((ms, line));
        }
        if older.score >= ENOUGH {
            let step = older.step();
            *self = Self { step: Some(Box::new((step, 0))), ..Self::default() };
        }
        None
    }

    /// Begins anew when the clock has the time again that it had before it went back, or after a minute. Until then, requests
    /// that began before that still end.
    fn catch_up(&mut self, ms: i64) -> Option<StepBack> {
        let (step, later) = self.step.as_deref_mut()?;
        let again_ms = (step.from_ms - LATE_MS).min(step.to_ms.saturating_add(MINUTE_MS));
        match ms < again_ms {
            true => {
                step.ids += 1;
                *later = later.saturating_sub(TAKEN_AWAY);
            }
            false => *later += 1,
        }
        if *later >= ENOUGH { self.end() } else { None }
    }

    pub(super) fn end(&mut self) -> Option<StepBack> {
        self.step.take().map(|step| step.0)
    }

    /// The time that the clock had lately, whatever few ids are ahead of it.
    fn reference(&self) -> Option<i64> {
        let mut all = [NONE; 2 * HIGHEST];
        all[..HIGHEST].copy_from_slice(&self.before);
        all[HIGHEST..].copy_from_slice(&self.now);
        all.sort_unstable();
        Some(all[HIGHEST]).filter(|ms| *ms != NONE)
    }

    fn remember(&mut self, ms: i64) {
        if self.count == HALF {
            self.before = std::mem::replace(&mut self.now, [NONE; HIGHEST]);
            self.count = 0;
        }
        self.count += 1;
        let place = self.now.partition_point(|it| *it != NONE && *it >= ms);
        if place < HIGHEST {
            self.now[place..].rotate_right(1);
            self.now[place] = ms;
        }
    }
}

impl Older {
    /// A request that took long may be among the first.
    fn step(&self) -> StepBack {
        let by = |ms: i64| self.than_ms.saturating_sub(ms);
        let mut all: Vec<_> = self.first.iter().map(|(ms, _)| by(*ms)).collect();
        all.sort_unstable();
        let by_ms = all[all.len() / 2];
        let first = self.first.iter().find(|(ms, _)| by(*ms) >= by_ms);
        let (to_ms, line) = *first.unwrap_or(&self.first[0]);
        StepBack { from_ms: self.than_ms, to_ms, by_ms, line, ids: self.ids }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(times: impl IntoIterator<Item = i64>) -> Vec<StepBack> {
        let mut clock = Clock::default();
        let mut steps: Vec<_> = (1..).zip(times).filter_map(|(line, ms)| clock.see(ms, line)).collect();
        steps.extend(clock.end());
        steps
    }

    #[test]
    fn a_clock_that_goes_back_is_seen_once() {
        let back: Vec<i64> = (0..100).chain(50..150).chain(100..200).map(|n| n * 1000).collect();
        let found = steps(back.iter().copied());
        let shown: Vec<_> = found.iter().map(|step| (step.line, step.to_ms, step.ids)).collect();
        assert_eq!(shown, [(101, 50_000, 45), (201, 100_000, 45)], "{found:?}");
        assert!(found.iter().all(|step| (40_000..=50_000).contains(&step.by_ms)), "{found:?}");
        // At its end, and one id that is ahead changes nothing.
        let mut ahead = back[..160].to_vec();
        [20, 90, 150].into_iter().for_each(|at| ahead[at] += 3_600_000);
        let found = steps(ahead);
        assert_eq!((found.len(), found[0].line), (1, 101), "{found:?}");
    }

    #[test]
    fn few_ids_are_no_step() {
        assert_eq!(steps((0..100).map(|n| n * 1000).chain((0..15).map(|n| n * 1000))), []);
        assert_eq!(steps((0..100).map(|n| n * 1000).chain((0..16).map(|n| n * 1000))).len(), 1);
        // A line may be late by a second while the clock stands.
        let after = |back: i64| steps(vec![100_000; 40].into_iter().chain(vec![100_000 - back; 40])).len();
        assert_eq!([after(1000), after(1001)], [0, 1]);
        assert_eq!(steps((0..100).map(|n| if n == 50 { 3_600_000 } else { n * 1000 })), []);
        // Three of the last ids may be ahead.
        let ahead =
            |few: i64| steps((0..100).map(|n| if (50..50 + few).contains(&n) { 3_600_000 } else { n * 1000 })).len();
        assert_eq!([ahead(3), ahead(4)], [0, 1]);
        let twice = [20, 21, 52, 53];
        assert_eq!(steps((0..100).map(|n| if twice.contains(&n) { 3_600_000 } else { n * 1000 })), []);
        // Four of five ids may be late by any time.
        let late = |many: i64| {
            steps((0..40).chain((40..120).map(|n| if n % (many + 1) == 0 { n } else { n - 600 })).map(|n| n * 1000))
                .len()
        };
        assert_eq!([late(4), late(5)], [0, 1]);
    }

    /// The numbers of a million lines in the order of their ends: of which `slow` in a hundred took up to 30 s.
    fn log(slow: u64) -> Vec<i64> {
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        let mut took = || if next() % 100 < slow { 1000 + next() % 29_000 } else { next() % 200 };
        let mut lines: Vec<_> = (0..1_000_000_i64).map(|n| (n * 10 + took() as i64, n)).collect();
        lines.sort_unstable();
        // No server waits until the slowest are done.
        lines.truncate(lines.partition_point(|(end_ms, _)| *end_ms < 10_000_000));
        lines.into_iter().map(|(_, n)| n).collect()
    }

    #[test]
    fn slow_requests_are_no_steps() {
        for slow in [0, 10, 30] {
            let log = log(slow);
            assert_eq!(steps(log.iter().map(|n| n * 10)), [], "{slow} %");
            // The clock is set back by a minute.
            let found = steps(log.iter().map(|n| if *n > 500_000 { n * 10 - 60_000 } else { n * 10 }));
            assert_eq!(found.len(), 1, "{slow} %: {found:?}");
            assert!((55_000..90_000).contains(&found[0].by_ms), "{slow} %: {found:?}");
        }
    }
}
