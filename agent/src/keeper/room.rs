//! Looks at the room that a store has, long before it is used up: without room, no lease is renewed.

use super::notes;
use crate::store::Room;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The shortest and the longest time before the store is asked again. A thousand hosts use a tenth of etcd's default quota in 3 hours.
const AGAIN: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(20 * 60));
/// The log says each further tenth from here on.
const FIRST_TENTH: u64 = 5;

/// The looks at the store of one lease.
pub struct Looks {
    page: PathBuf,
    next: Option<Instant>,
    /// How long the last pause was, and how much was used before it.
    pause: Duration,
    used: u64,
    /// The last tenth that was said.
    said: u64,
}

impl Looks {
    /// Looks at the lease with the page at `path`.
    pub fn new(path: &Path) -> Self {
        Self { page: path.to_owned(), next: None, pause: AGAIN.0, used: 0, said: FIRST_TENTH - 1 }
    }

    /// Whether it is time to ask.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.next.is_none_or(|next| next <= now);
        if is_due {
            self.next = Some(now + self.pause);
        }
        is_due
    }

    /// Notes the answer. Returns a line of the log when another tenth of the room is used.
    pub fn saw(&mut self, Room { used, quota }: Room) -> Option<String> {
        // Only the metric is missing then.
        let _ = notes::write(&self.page, notes::ROOM, &format!("{:.4}", used as f64 / quota.max(1) as f64));
        // Twice before another tenth is used at this pace, and between half and nine tenths if a fleet starts, which writes 100 KB a second.
        let more = used.saturating_sub(std::mem::replace(&mut self.used, used));
        let pause = self.pause.mul_f64((quota as f64 / 20.0 / more.max(1) as f64).min(2.0));
        self.pause = pause.min(Duration::from_secs(quota / 250_000)).clamp(AGAIN.0, AGAIN.1);
        let tenth = used.saturating_mul(10) / quota.max(1);
        let is_more = tenth > self.said;
        self.said = tenth.max(FIRST_TENTH - 1);
        is_more.then(|| {
            format!(
                "the store has used {used} of the {quota} bytes of its quota; when all are used, no lease is renewed, and there are \
                 no ids. Let it compact old revisions (etcd: --auto-compaction-retention=1h)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(path: &Path) -> Option<f64> {
        notes::read(path, notes::ROOM)?.parse().ok()
    }

    #[test]
    fn each_tenth_from_half_on_is_said_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        let mut looks = Looks::new(&path);
        assert_eq!(used(&path), None);
        for (percent, is_said) in
            [(10, false), (49, false), (50, true), (59, false), (83, true), (89, false), (20, false), (50, true)]
        {
            let said = looks.saw(Room { used: percent * 1_000_000, quota: 100_000_000 });
            let text = format!(
                "the store has used {percent}000000 of the 100000000 bytes of its quota; when all are used, no lease is renewed, and \
                 there are no ids. Let it compact old revisions (etcd: --auto-compaction-retention=1h)"
            );
            assert_eq!(said, is_said.then_some(text));
            assert_eq!(used(&path), Some(percent as f64 / 100.0));
        }
    }

    /// As a fleet that starts together on a small quota fills it, and as one host does on the default.
    #[test]
    fn the_faster_it_fills_the_sooner_it_is_asked_again() {
        let directory = tempfile::tempdir().unwrap();
        let begin = Instant::now();
        for (quota, a_second, calm_s) in [(1_300_000, 32_500, 0), (1_300_000, 32_500, 60), (2 << 30, 21, 0)] {
            let mut looks = Looks::new(&directory.path().join("orders"));
            let (mut asked, mut warned) = (0, None);
            for second in 0..86_400 {
                let used = a_second * u64::saturating_sub(second, calm_s);
                if used > quota || warned.is_some() {
                    break;
                }
                if looks.is_due(begin + Duration::from_secs(second)) {
                    asked += 1;
                    warned = looks.saw(Room { used, quota }).map(|_| used as f64 / quota as f64);
                }
            }
            if a_second > 21 {
                assert!(warned.is_some_and(|ratio| ratio < 0.9), "{calm_s}: {warned:?}");
            } else {
                assert!((72..85).contains(&asked) && warned.is_none(), "{asked} {warned:?}");
            }
        }
    }
}
