//! Locks that show that a child of an earlier agent still runs.
//!
//! All processes of the child inherit the locks, unless they close them. So a lock lasts as long as any of them. They may
//! only read the locks, and inherit no notes: a child that has given up root must not tell root's next agent anything.

use super::super::journal::say;
use super::left;
use crate::config::Config;
use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;

/// The locks of a child's nodes.
#[derive(Default)]
pub struct Locks {
    files: Vec<File>,
    /// The child is noted in these.
    pub notes: Vec<File>,
    /// If there was a child of an earlier agent: a time after all that it may have stamped.
    pub left_ms: Option<i64>,
}

impl Locks {
    /// Locks each node of the child.
    pub fn new(config: &Config) -> anyhow::Result<Self> {
        let mut locks = Self::default();
        for node in config.nodes_of_child() {
            locks.add(config, &node.name, say)?;
        }
        Ok(locks)
    }

    fn add(&mut self, config: &Config, node: &str, say: impl FnOnce(&str)) -> anyhow::Result<()> {
        // `status` shows no file with a leading dot. The agent 2.0.0 locks it, too.
        let path = config.dir.join(format!(".{node}.command"));
        let shown = || path.display().to_string();
        DirBuilder::new().recursive(true).mode(0o750).create(&config.dir).with_context(shown)?;
        let note = left::open(&config.dir.join(format!(".{node}.child")))?;
        if let Some(pid) = left::end(&note)? {
            say(&format!("{node}: ended process {pid}, which an earlier txid-agent had started and could not end"));
            self.left_ms = Some(txid::system_ms() + config.most_ahead().as_millis() as i64);
        }
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lock = File::from(open(&path, flags, Mode::RUSR | Mode::WUSR).with_context(shown)?);
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => bail!(
                "a child with the node {node}, which another txid-agent started, still runs; wait for its end, or end \
                 what 'fuser {}' shows",
                path.display()
            ),
            locked => locked.with_context(shown)?,
        }
        // What becomes the child writes the note, and closes it.
        for file in [&lock, &note] {
            fcntl_setfd(file, FdFlags::empty()).with_context(shown)?;
        }
        self.files.push(lock);
        self.notes.push(note);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::left::tests::left_as_text;
    use super::*;
    use crate::config::tests::config;

    /// Its child could run on, and stamp ids, until that time.
    #[test]
    fn what_a_child_that_was_left_may_have_stamped_is_in_the_past() {
        let directory = tempfile::tempdir().unwrap();
        let (dir, file) = (directory.path().to_str().unwrap(), directory.path().join(".orders.child"));
        let line = ["--dir", dir, "--max-skew", "500ms", "--runs-ahead", "3s", "--env", "N={orders}", "--", "app"];
        let config = config(&line).unwrap();
        assert_eq!(Locks::new(&config).unwrap().left_ms, None);
        let (mut child, text) = left_as_text();
        std::fs::write(file, text).unwrap();
        let (before_ms, mut said) = (txid::system_ms(), String::new());
        let mut locks = Locks::default();
        locks.add(&config, "orders", |line| said += line).unwrap();
        // It may be ahead by 3 s, and by twice what a clock may be off.
        assert!((before_ms + 4_000..=txid::system_ms() + 4_000).contains(&locks.left_ms.unwrap()));
        assert!(said.starts_with(&format!("orders: ended process {}, which ", child.id())), "{said}");
        child.wait().unwrap();
    }
}
