//! Locks that show that a child of an earlier agent still runs.
//!
//! All processes of the child inherit the locks, unless they close them. So a lock lasts as long as any of them. They may
//! only read it: a child that has given up root must not tell root's next agent anything.

use crate::config::Config;
use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;

/// Locks each node of the child, so that this agent is the only one with a child for any of them.
pub fn lock(config: &Config) -> anyhow::Result<Vec<File>> {
    config.nodes_of_child().iter().map(|node| lock_node(config, &node.name)).collect()
}

fn lock_node(config: &Config, node: &str) -> anyhow::Result<File> {
    // `status` shows no file with a leading dot. The agent 2.0.0 locks it, too.
    let path = config.dir.join(format!(".{node}.command"));
    let shown = || path.display().to_string();
    DirBuilder::new().recursive(true).mode(0o750).create(&config.dir).with_context(shown)?;
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
    fcntl_setfd(&lock, FdFlags::empty()).with_context(shown)?;
    Ok(lock)
}

/// A name that only agents have that have had this lock, one after the other.
pub fn name(lock: &File) -> anyhow::Result<String> {
    let stat = fstat(lock).context("the lock cannot be looked at")?;
    Ok(format!("txid-{}-{}", stat.st_dev, stat.st_ino))
}
