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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::config;
    use rustix::io::fcntl_getfd;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Its child inherits the lock.
    #[test]
    fn one_agent_has_a_child_with_a_node() {
        let directory = tempfile::tempdir().unwrap();
        let options =
            ["--node", "users=sonyflake", "--node", "eu=snowflake", "--env", "A={orders}{users}", "--", "app"];
        let mut config = config(&options).unwrap();
        config.dir = directory.path().join("run/txid");
        let locks = lock(&config).unwrap();
        assert_eq!(locks.len(), 2, "of the nodes of the child");
        for (lock, name) in locks.iter().zip([".orders.command", ".users.command"]) {
            let found = std::fs::metadata(config.dir.join(name)).unwrap();
            assert_eq!((found.ino(), found.mode() & 0o777), (lock.metadata().unwrap().ino(), 0o600), "{name}");
            assert!(fcntl_getfd(lock).unwrap().is_empty(), "the child would not have it");
            assert_eq!(super::name(lock).unwrap(), format!("txid-{}-{}", found.dev(), found.ino()));
        }
        let mode = std::fs::metadata(&config.dir).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & !0o750, 0, "{mode:o}");
        for node in ["orders", "users"] {
            let why = format!(
                "a child with the node {node}, which another txid-agent started, still runs; wait for its end, or end what \
                 'fuser {}' shows",
                config.dir.join(format!(".{node}.command")).display()
            );
            assert_eq!(lock_node(&config, node).unwrap_err().to_string(), why);
        }
        // A child that another test starts meanwhile inherits them, and would keep what is only closed.
        locks.iter().for_each(|lock| flock(lock, FlockOperation::Unlock).unwrap());
        assert!(lock(&config).is_ok());
        let path = config.dir.join(".orders.command");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        let why = format!("{:#}", lock(&config).unwrap_err());
        assert!(why.starts_with(&format!("{}: ", path.display())), "nobody's link is followed: {why}");
    }
}
