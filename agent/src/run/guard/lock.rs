//! Locks by which an agent finds out that a child still runs which an earlier agent has started.
//!
//! The child and what it starts inherit the files, unless they close them. So the lock lasts until the last of them is
//! gone, even if the agent and its guard were killed.

use crate::config::Config;
use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

/// Locks each node of the child.
pub fn nodes(config: &Config) -> anyhow::Result<Vec<File>> {
    config.nodes_of_child().into_iter().map(|node| lock(config, &node.name)).collect()
}

fn lock(config: &Config, node: &str) -> anyhow::Result<File> {
    // `status` shows no file with a leading dot.
    let path = config.dir.join(format!(".{node}.child"));
    let shown = || path.display().to_string();
    DirBuilder::new().recursive(true).mode(0o750).create(&config.dir).with_context(shown)?;
    let file = File::options().write(true).create(true).truncate(false).mode(0o640).open(&path).with_context(shown)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => bail!(
            "a child with the node {node}, which another txid-agent started, still runs; wait for its end, or end what \
             'fuser {}' shows",
            path.display()
        ),
        locked => locked.with_context(shown)?,
    }
    fcntl_setfd(&file, FdFlags::empty()).with_context(shown)?;
    Ok(file)
}
