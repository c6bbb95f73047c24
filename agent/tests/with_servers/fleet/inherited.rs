//! What an agent inherits from whoever starts it: blocked and ignored signals, and where the log goes.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Child;

use super::directory::Directory;
use super::host::signal;
use super::hosted::{child_of, send};
use crate::servers::until;
use crate::wait::ended;

const ENV: &[&str] = &["--env", "WORKER_ID={orders}"];

struct Started {
    directory: Directory,
    agent: Child,
}

impl Started {
    /// Starts an agent after `prepare`, which may only do what is async-signal-safe.
    fn new(prepare: fn(), env: &[&str], child: &[&str]) -> Self {
        let directory = Directory::new();
        let mut command = directory.run(&[env, &["--"], child].concat());
        // SAFETY: see above.
        unsafe {
            command.pre_exec(move || {
                prepare();
                Ok(())
            })
        };
        command.stderr(fs::File::create(directory.path("log")).unwrap());
        let agent = command.spawn().unwrap();
        Self { directory, agent }
    }

    fn ends(&mut self) -> Option<i32> {
        let code = ended("it does not end", &mut self.agent).code();
        assert!(self.directory.log().contains("gave node"), "{}", self.directory.log());
        code
    }

    /// The child's process, once it is what it is to be.
    fn child(&self, has_guard: bool) -> i32 {
        let mut child = None;
        until("there is no child", || {
            let parent =
                if has_guard { child_of(self.agent.id()).map(|guard| guard as u32) } else { Some(self.agent.id()) };
            child = parent.and_then(child_of);
            child.is_some_and(|child| {
                fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name == "sleep\n")
            })
        });
        child.unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Whether a process ignores or blocks a signal.
fn has(process: i32, set: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(":\t")).unwrap();
    u64::from_str_radix(line, 16).unwrap() >> (signal - 1) & 1 == 1
}

fn block_all() {
    // SAFETY: a set of signals may be zeros, and is filled before it is used.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

fn ignore(signals: &[i32]) {
    for &signal in signals {
        // SAFETY: there is no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[test]
fn signals_that_were_blocked_or_ignored() {
    let prepare: [fn(); 2] = [block_all, || ignore(&[libc::SIGTERM, libc::SIGCHLD, libc::SIGINT])];
    for prepare in prepare {
        for env in [&[], ENV] {
            // The end of the child is seen.
            let mut started = Started::new(prepare, env, &["sh", "-c", "exit 7"]);
            assert_eq!(started.ends(), Some(7));
            // It is passed on, and ends the child.
            let mut started = Started::new(prepare, env, &["sleep", "1000"]);
            let child = started.child(!env.is_empty());
            for set in ["SigBlk", "SigIgn"] {
                for signal in [libc::SIGTERM, libc::SIGCHLD, libc::SIGTTOU] {
                    assert!(!has(child, set, signal), "{set} of the child has {signal}");
                }
            }
            signal(&started.agent, libc::SIGTERM);
            assert_eq!(started.ends(), Some(128 + libc::SIGTERM));
        }
    }
}

/// As with `nohup`.
#[test]
fn a_hangup_that_is_ignored_stays_so() {
    for env in [&[], ENV] {
        for is_ignored in [true, false] {
            let prepare = if is_ignored { || ignore(&[libc::SIGHUP]) } else { || {} };
            let mut started = Started::new(prepare, env, &["sleep", "1000"]);
            let child = started.child(!env.is_empty());
            assert_eq!(has(child, "SigIgn", libc::SIGHUP), is_ignored);
            if !env.is_empty() {
                // It ends by an order of the agent only.
                let guard = child_of(started.agent.id()).unwrap();
                assert!(has(guard, if is_ignored { "SigIgn" } else { "SigCgt" }, libc::SIGHUP));
            }
            signal(&started.agent, libc::SIGHUP);
            if is_ignored {
                // To the guard, or to the child.
                send(child_of(started.agent.id()).unwrap(), libc::SIGHUP);
                // Of two signals, the kernel delivers SIGHUP first.
                signal(&started.agent, libc::SIGTERM);
            }
            let code = started.ends();
            assert_eq!(code, Some(128 + if is_ignored { libc::SIGTERM } else { libc::SIGHUP }));
        }
    }
}

/// Each write to this socket is a message of its own, so lines of several processes do not mix.
#[test]
fn a_line_of_the_log_is_one_write() {
    let directory = Directory::new();
    for (env, child) in [(ENV, "true"), (&[], "true"), (&[], "/nowhere/app"), (&["--ahead", "1s"], "true")] {
        let (log, end) = UnixDatagram::pair().unwrap();
        let status = directory.run(&[env, &["--", child]].concat()).stderr(OwnedFd::from(end)).status().unwrap();
        log.set_nonblocking(true).unwrap();
        let (mut lines, mut line) = (0, [0; 4096]);
        while let Ok(length @ 1..) = log.recv(&mut line) {
            let line = std::str::from_utf8(&line[..length]).unwrap();
            assert!(line.ends_with('\n') && line.lines().count() == 1, "{line:?}");
            lines += 1;
        }
        assert!(lines > 0, "{status:?}");
    }
}
