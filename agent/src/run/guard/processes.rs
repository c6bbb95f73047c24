//! All processes of a child: the one that was started, and all that it has started.
//!
//! The guard is their subreaper: a process whose parent ends becomes the guard's child. So each stays its descendant,
//! even in a session of its own, and one is left as long as the guard has a child.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait};
use std::collections::BTreeMap;
use std::{fs, io, thread, time::Duration};

/// The result of reaping.
#[derive(Default)]
pub struct Reaped {
    /// The exit status of `main`, if it has ended.
    pub ended: Option<u8>,
    /// Whether there is still a child.
    pub is_there: bool,
}

/// The most processes that are reaped, or looked at, in a row: a program may start them faster.
const MOST: usize = 1000;

/// Reaps children that have ended; `main` is the one whose status matters.
pub fn reap(main: Option<Pid>) -> Reaped {
    reap_from(main, || wait(WaitOptions::NOHANG))
}

fn reap_from(main: Option<Pid>, mut next: impl FnMut() -> rustix::io::Result<Option<(Pid, WaitStatus)>>) -> Reaped {
    let mut reaped = Reaped::default();
    for _ in 0..MOST {
        match next() {
            Ok(Some((pid, status))) if Some(pid) == main => reaped.ended = Some(code(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Reaped { is_there: true, ..reaped },
            Err(_) => return reaped,
        }
    }
    // There may be more.
    Reaped { is_there: true, ..reaped }
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
    signal_descendants(getpid(), MOST, signal, kill_process)
}

/// Asks at most `most` processes for their children.
fn signal_descendants(
    of: Pid,
    most: usize,
    signal: Signal,
    mut send: impl FnMut(Pid, Signal) -> rustix::io::Result<()>,
) -> Option<Pid> {
    let mut out_of_reach = None;
    // Each as soon as it is found: the children come first, and whose parent is killed becomes one.
    each_descendant(of, most, |pid| {
        // It may have ended.
        if send(pid, signal) == Err(Errno::PERM) {
            out_of_reach = Some(pid);
        }
        if signal == Signal::TERM {
            let _ = send(pid, Signal::CONT);
        }
    });
    out_of_reach
}

/// Kills all descendants, and waits until they are gone.
pub fn end_all() {
    while reap(None).is_there {
        signal_all(None, Signal::KILL);
        thread::sleep(Duration::from_millis(10));
    }
}

/// The descendants of a process.
#[cfg(test)]
pub fn descendants(of: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    each_descendant(of, usize::MAX, |pid| found.push(pid));
    found
}

/// Shows the descendants of a process, generation by generation, and asks at most `most` of them for their children. Where the
/// kernel lists the children of a process, only those are looked at: on a busy host, a look at all processes takes long.
fn each_descendant(of: Pid, most: usize, mut show: impl FnMut(Pid)) {
    let of = of.as_raw_nonzero().get();
    let mut all = if children_of(of).is_none() { children_by_parent() } else { BTreeMap::new() };
    let mut parents = vec![of];
    let mut asked = 0;
    while !parents.is_empty() && asked < most {
        let mut next = Vec::new();
        // The youngest first: those that have ended and were not reaped yet are old, and have no children.
        for parent in parents.into_iter().rev().take(most - asked) {
            asked += 1;
            let children = children_of(parent).or_else(|| all.remove(&parent)).unwrap_or_default();
            children.iter().filter_map(|&pid| Pid::from_raw(pid)).for_each(&mut show);
            next.extend(children);
        }
        parents = next;
    }
}

/// The children of all threads of a process. None if this kernel does not list them, or the process has ended.
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

/// Positions in `/proc/PID/stat` after the name.
const STATE: usize = 0;
const PARENT: usize = 1;

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
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::Instant;

    #[test]
    fn a_process_is_stopped_until_it_is_continued() {
        // The kernel sends SIGHUP to all of a group with a stopped process that loses its last parent.
        let mut child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let pid = Pid::from_child(&child);
        for (signal, wanted) in [(Signal::CONT, false), (Signal::STOP, true), (Signal::CONT, false)] {
            kill_process(pid, signal).unwrap();
            let begin = Instant::now();
            while is_stopped(pid) != wanted {
                assert!(begin.elapsed() < Duration::from_secs(60), "nothing comes of {signal:?}: {:?}", stat(pid));
                thread::yield_now();
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn children_that_end_faster_than_they_are_reaped_do_not_keep_the_guard_from_its_work() {
        let (main, other, status) = (Pid::from_raw(7), Pid::from_raw(8).unwrap(), ended("true"));
        let mut reaped = 0;
        let found = reap_from(main, || {
            reaped += 1;
            assert!(reaped < 1_000_000, "it does nothing else");
            Ok(Some((other, status)))
        });
        assert!(found.is_there && found.ended.is_none() && reaped == 1_000);
        let mut none = [Ok(Some((main.unwrap(), status))), Err(Errno::CHILD)].into_iter();
        let found = reap_from(main, || none.next().unwrap());
        assert_eq!((found.is_there, found.ended), (false, Some(0)));
        let mut some = [Err(Errno::INTR), Ok(Some((main.unwrap(), ended("exit 3")))), Ok(None)].into_iter();
        let found = reap_from(main, || some.next().unwrap());
        assert_eq!((found.is_there, found.ended), (true, Some(3)));
        assert_eq!(["exit 255", "kill -9 $$", "kill -15 $$"].map(|line| code(ended(line))), [255, 137, 143]);
    }

    /// The status of a shell that has run this line.
    fn ended(line: &str) -> WaitStatus {
        let mut child = Command::new("sh").args(["-c", line]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        // Not reaped, so that its number stays its own.
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(pid), options).unwrap();
        let status = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG).unwrap().unwrap().1;
        let _ = child.try_wait();
        status
    }

    /// Each gets its signal when it is found, before anybody else is asked for children; and there is an end.
    #[test]
    fn the_children_of_a_process_come_before_theirs() {
        let line = "for n in 1 2 3; do (sleep 600 & sleep 600 & wait) & done; wait";
        let mut shell = Command::new("sh").args(["-c", line]).spawn().unwrap();
        let pid = Pid::from_child(&shell);
        while descendants(pid).len() < 9 {
            thread::yield_now();
        }
        let mut children = children_of(pid.as_raw_nonzero().get()).unwrap();
        let sent = |most| {
            let mut found = Vec::new();
            signal_descendants(pid, most, Signal::KILL, |pid, _| {
                found.push(pid.as_raw_nonzero().get());
                Ok(())
            });
            found
        };
        let refused = |wanted| {
            signal_descendants(pid, usize::MAX, Signal::KILL, |pid, _| {
                if pid.as_raw_nonzero().get() == wanted { Err(Errno::PERM) } else { Err(Errno::SRCH) }
            })
        };
        assert_eq!(
            [children[1], -1].map(refused),
            [Pid::from_raw(children[1]), None],
            "only who may not be sent it is named"
        );
        let mut first = sent(usize::MAX);
        first.truncate(3);
        first.sort_unstable();
        children.sort_unstable();
        assert_eq!(first, children);
        assert_eq!([0, 1, 2, 4].map(|most| sent(most).len()), [0, 3, 5, 9]);
        // A process that is stopped would end when somebody continues it.
        let signals = |signal| {
            let mut sent = Vec::new();
            signal_descendants(pid, 1, signal, |_, signal| {
                sent.push(signal);
                Ok(())
            });
            sent
        };
        assert_eq!(signals(Signal::TERM), [Signal::TERM, Signal::CONT].repeat(3));
        assert_eq!(signals(Signal::KILL), [Signal::KILL; 3]);

        let all = descendants(pid);
        let mut ended = Vec::new();
        signal_descendants(pid, usize::MAX, Signal::KILL, |pid, signal| {
            kill_process(pid, signal)?;
            while stat(pid).is_ok_and(|stat| !matches!(field(&stat, STATE), Some("Z" | "X"))) {
                thread::yield_now();
            }
            ended.push(pid.as_raw_nonzero().get());
            Ok(())
        });
        ended.sort_unstable();
        assert_eq!(ended, children, "theirs are others' children since");
        for pid in all {
            let _ = kill_process(pid, Signal::KILL);
        }
        shell.wait().unwrap();
    }

    /// Old kernels do not list them.
    #[test]
    fn the_children_are_the_same_whether_the_kernel_lists_them_or_not() {
        let mut shell = Command::new("sh").args(["-c", "sleep 600 & sleep 600 & wait"]).spawn().unwrap();
        let pid = Pid::from_child(&shell).as_raw_nonzero().get();
        let mut listed = Vec::new();
        while listed.len() < 2 {
            thread::yield_now();
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
