//! Looks at the room that a store has, long before it is used up: without room, no lease is renewed.

use crate::store::Room;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait before the store is asked again. A thousand hosts use a tenth of etcd's default quota in 3 hours.
const AGAIN: Duration = Duration::from_secs(20 * 60);
/// The log says each further tenth from here on.
const FIRST_TENTH: u64 = 5;

/// The looks at the store of one lease.
pub struct Looks {
    /// For `txid-agent status`.
    file: PathBuf,
    last: Option<Instant>,
    /// The last tenth that was said.
    said: u64,
}

impl Looks {
    /// Of the lease with the page at `path`.
    pub fn new(path: &Path) -> Self {
        Self { file: file(path), last: None, said: FIRST_TENTH - 1 }
    }

    /// Whether it is time to ask.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= AGAIN);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }

    /// Notes the answer. Returns a line of the log when another tenth of the room is used.
    pub fn saw(&mut self, Room { used, quota }: Room) -> Option<String> {
        // Only the metric is missing then.
        let _ = self.write(used as f64 / quota.max(1) as f64);
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

    /// Nobody's link is followed.
    fn write(&self, ratio: f64) -> io::Result<()> {
        let aside = self.file.with_extension("new");
        let _ = fs::remove_file(&aside);
        File::create_new(&aside)?.write_all(format!("{ratio:.4}\n").as_bytes())?;
        fs::rename(aside, &self.file)
    }
}

/// The part of its quota that the store of the lease at `path` has used, if it says so.
pub fn used(path: &Path) -> Option<f64> {
    fs::read_to_string(file(path)).ok()?.trim_end().parse().ok()
}

/// `status` takes no file with a leading dot for a page.
fn file(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.room", path.file_name().unwrap_or_default().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_store_is_asked_now_and_then() {
        let (mut looks, now) = (Looks::new(Path::new("/nowhere/orders")), Instant::now());
        let seconds = [0, 0, 1_199, 1_200, 2_399, 2_400].map(|seconds| now + Duration::from_secs(seconds));
        assert_eq!(seconds.map(|now| looks.is_due(now)), [true, false, false, true, false, true]);
    }
}
