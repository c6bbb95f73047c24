//! Hosts whose memory is short.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{AGENT, by};
use crate::fleet::hosted::processes_with;
use crate::wait::ended;

/// A control group, of either version, whose processes may have this much memory.
struct Group(PathBuf);

impl Group {
    /// None where this user may not make one.
    fn new(bytes: u64) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let found = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (kind, path) = rest.split_once(':')?;
            let (root, limit) = match kind {
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ => return None,
            };
            let path =
                Path::new(root).join(path.trim_start_matches('/')).join(format!("txid-test-{}", std::process::id()));
            fs::create_dir(&path).ok()?;
            let group = Self(path);
            fs::write(group.0.join(limit), bytes.to_string()).is_ok().then_some(group)
        });
        if found.is_none() {
            println!("not tested: no control group can be made here");
        }
        found
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        _ = fs::remove_dir(&self.0);
    }
}

/// The kernel kills what takes the memory. The agent ends as its child does, and gives the node back.
#[test]
fn a_child_that_takes_all_memory_is_killed_alone() {
    let Some(group) = Group::new(64 << 20) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let mark = format!("TXID_TEST_MARK=memory-{}", std::process::id());
    let join = format!("echo $$ >{}/cgroup.procs; exec \"$@\"", group.0.display());
    let mut command = by("sh");
    command.args(["-c", &join, "sh", AGENT, "run", "--new", "--node", "orders=snowflake", "--env", "N={orders}"]);
    command.args(["--store", &format!("file://{}", path("leases").display()), "--dir"]).arg(path("run"));
    // Two more, which the guard ends.
    let line = "sleep 1000 & setsid sleep 1000 & exec tail /dev/zero";
    command
        .args(["--", "env", &mark, "sh", "-c", line])
        .stdin(Stdio::null())
        .stderr(File::create(path("log")).unwrap());
    let ended = ended("the agent does not end", &mut command.spawn().unwrap());
    let said = fs::read_to_string(path("log")).unwrap();
    assert_eq!(ended.code(), Some(128 + libc::SIGKILL), "{said}");
    assert!(said.contains("gave node"), "{said}");
    assert_eq!(processes_with(&mark), [""; 0], "{said}");
}

/// `ulimit -v`: with too little memory, the agent ends at once; with a little more, it works.
#[test]
fn with_little_memory_it_works_or_ends() {
    let mut works = Vec::new();
    for mib in (10..=30).chain([256]) {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let mut command = by("prlimit");
        command.args([&format!("--as={}", mib << 20), AGENT, "run", "--new", "--node", "orders=snowflake"]);
        command.args(["--env", "N={orders}", "--store", &format!("file://{}", path("leases").display())]);
        command.arg("--dir").arg(path("run")).args(["--", "true"]).stdin(Stdio::null());
        let mut agent = command.stderr(File::create(path("log")).unwrap()).spawn().unwrap();
        let ended = ended("the agent does not end", &mut agent);
        let said = fs::read_to_string(path("log")).unwrap();
        assert_eq!(ended.success(), said.contains("gave node"), "{mib} MiB: {ended}: {said}");
        if ended.success() {
            works.push(mib);
        }
    }
    println!("it works with {works:?} MiB");
    assert!(works.contains(&256), "{works:?}");
}
