//! All processes of a child: the one that was started, and all that it has started.
//!
//! The guard is their subreaper: a process whose parent ends becomes the guard's child. So each stays its descendant,
//! even in a session of its own, and one is left as long as the guard has a child.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, test_kill_process, wait,
};
use std::collections::BTreeMap;
use std::{fs, io, thread, time::Duration};

/// What was found out by reaping.
#[derive(Default)]
pub struct Reaped {
    /// The exit status of `main`, if it has ended.
    pub ended: Option<u8>,
    /// Whether there is still a child.
    pub is_there: bool,
}

/// Reaps all children that have ended; `main` is the one whose status matters.
pub fn reap(main: Option<Pid>) -> Reaped {
    let mut reaped = Reaped::default();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if Some(pid) == main => reaped.ended = Some(code(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Reaped { is_there: true, ..reaped },
            Err(_) => return reaped,
        }
    }
}

/// As in a shell, a signal is 128 plus its number.
fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.unwrap_or(1) as u8
}

/// Sends a signal to the process group that `main` leads, if it is given, which takes no time, and then to all descendants of
/// this process; with both, some get it twice. A process that is stopped gets it when it continues, so SIGTERM lets it
/// continue. Returns a process that cannot be sent one, because it runs as another user.
pub fn signal_all(main: Option<Pid>, signal: Signal) -> Option<Pid> {
    if let Some(main) = main {
        let _ = kill_process_group(main, signal);
    }
    let mut out_of_reach = None;
    for pid in descendants(getpid()) {
        // It may have ended.
        if kill_process(pid, signal) == Err(Errno::PERM) {
            out_of_reach = Some(pid);
        }
        if signal == Signal::TERM {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
    out_of_reach
}

/// Kills all descendants, and waits until they are gone.
pub fn end_all() {
    while reap(None).is_there {
        signal_all(None, Signal::KILL);
        thread::sleep(Duration::from_millis(10));
    }
}

/// The descendants of a process. Where the kernel lists the children of a process, only those are looked at: on a busy
/// host, a look at all processes takes long.
pub fn descendants(of: Pid) -> Vec<Pid> {
    let of = of.as_raw_nonzero().get();
    let mut all = if children_of(of).is_none() { children_by_parent() } else { BTreeMap::new() };
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let children = children_of(found[at]).or_else(|| all.remove(&found[at]));
        found.extend(children.unwrap_or_default());
        at += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// What the kernel lists as the children of all threads of a process. None if it does not, or the process has ended.
fn children_of(pid: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let listed = fs::read_to_string(thread.path().join("children")).ok()?;
        children.extend(listed.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Some(children)
}

/// The children of each process, by what `/proc` shows of their parents.
fn children_by_parent() -> BTreeMap<i32, Vec<i32>> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // It may have ended since.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some(parent) = field(&stat, PARENT).and_then(|parent| parent.parse().ok()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    children
}

/// Whether a process is stopped, by a signal or by a debugger.
pub fn is_stopped(pid: Pid) -> bool {
    stat(pid).is_ok_and(|stat| matches!(field(&stat, STATE), Some("T" | "t")))
}

/// A process, and when it was started, in ticks since the boot: its number may be given to another one.
#[derive(Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: Pid,
    pub start: u64,
}

impl Process {
    /// The process that has this number now.
    pub fn now(pid: Pid) -> io::Result<Self> {
        let start = field(&stat(pid)?, START).and_then(|start| start.parse().ok());
        Ok(Self { pid, start: start.ok_or(io::ErrorKind::InvalidData)? })
    }

    /// Whether it runs. `/proc` may show only those of this user; then, another one counts as this.
    pub fn is_there(&self) -> bool {
        match stat(self.pid) {
            Ok(stat) => {
                let is_dead = matches!(field(&stat, STATE), Some("Z" | "X"));
                !is_dead && field(&stat, START).and_then(|start| start.parse().ok()) == Some(self.start)
            }
            Err(_) => test_kill_process(self.pid) == Err(Errno::PERM),
        }
    }
}

/// Positions in `/proc/PID/stat` after the name.
const STATE: usize = 0;
const PARENT: usize = 1;
const START: usize = 19;

fn stat(pid: Pid) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{pid}/stat"))
}

/// A field of `/proc/PID/stat`. The name before them is in parentheses, and may contain some.
fn field(stat: &str, at: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_stopped_until_it_is_continued() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        for (signal, wanted) in [(Signal::CONT, false), (Signal::STOP, true), (Signal::CONT, false)] {
            kill_process(pid, signal).unwrap();
            let is_so = (0..36_000).any(|_| {
                thread::sleep(Duration::from_millis(5));
                is_stopped(pid) == wanted
            });
            assert!(is_so, "after {signal:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Old kernels do not list them.
    #[test]
    fn the_children_are_the_same_whether_the_kernel_lists_them_or_not() {
        let mut shell = Command::new("sh").args(["-c", "sleep 60 & sleep 60 & wait"]).spawn().unwrap();
        let pid = Pid::from_child(&shell).as_raw_nonzero().get();
        let mut listed = Vec::new();
        while listed.len() < 2 {
            thread::sleep(Duration::from_millis(5));
            listed = children_of(pid).unwrap();
        }
        listed.sort_unstable();
        let mut all = children_by_parent();
        let mut found = all.remove(&pid).unwrap();
        found.sort_unstable();
        assert_eq!(found, listed);
        assert!(all[&getpid().as_raw_nonzero().get()].contains(&pid));
        descendants(Pid::from_child(&shell)).into_iter().for_each(|pid| kill_process(pid, Signal::KILL).unwrap());
        shell.wait().unwrap();
    }
}
