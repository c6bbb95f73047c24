//! Hosts whose memory is short.

use std::fs::{self, File};
use std::process::Stdio;

use super::{AGENT, by};
use crate::control_group::ControlGroup;
use crate::fleet::directory::Directory;
use crate::fleet::hosted::{mark, processes_with};
use crate::wait::ended;

/// The kernel kills what takes the memory. The agent ends as its child does, and gives the node back.
#[test]
fn a_child_that_takes_all_memory_is_killed_alone() {
    const FILES: [&str; 2] = ["memory.limit_in_bytes", "memory.max"];
    let Some((file, group)) = FILES.into_iter().find_map(|file| Some((file, ControlGroup::with(file)?))) else {
        return;
    };
    fs::write(group.0.join(file), (64 << 20).to_string()).unwrap();
    let directory = Directory::new();
    let mark = mark("memory");
    let mut command = by("sh");
    command.args(["-c", &group.join(), "sh", AGENT]).args(directory.line(&["--env", "N={orders}"]));
    // Two more, which the guard ends.
    let line = "sleep 1000 & setsid sleep 1000 & exec tail /dev/zero";
    command
        .args(["--", "env", &mark, "sh", "-c", line])
        .stdin(Stdio::null())
        .stderr(File::create(directory.path("log")).unwrap());
    let ended = ended("the agent does not end", &mut command.spawn().unwrap());
    let said = directory.log();
    assert_eq!(ended.code(), Some(128 + libc::SIGKILL), "{said}");
    assert!(said.contains("gave node"), "{said}");
    assert_eq!(processes_with(&mark), [""; 0], "{said}");
}

/// `ulimit -v`: with too little memory, the agent ends at once; with a little more, it works.
#[test]
fn with_little_memory_it_works_or_ends() {
    let mut works = Vec::new();
    for mib in (10..=30).chain([256]) {
        let directory = Directory::new();
        let mut command = by("prlimit");
        command.args([&format!("--as={}", mib << 20), AGENT]);
        command.args(directory.line(&["--env", "N={orders}", "--", "true"])).stdin(Stdio::null());
        let mut agent = command.stderr(File::create(directory.path("log")).unwrap()).spawn().unwrap();
        let ended = ended("the agent does not end", &mut agent);
        let said = directory.log();
        assert_eq!(ended.success(), said.contains("gave node"), "{mib} MiB: {ended}: {said}");
        if ended.success() {
            works.push(mib);
        }
    }
    println!("it works with {works:?} MiB");
    assert!(works.contains(&256), "{works:?}");
}
