//! The guard of a child that has nodes in its environment: a second process of the agent, and the child's parent.
//!
//! It reads the leases from their files, and ends the child before they end, even if the agent is stopped or killed. If
//! the guard is killed, the kernel kills the child, and the agent what the child has started.

mod beat;
pub mod group;
mod lock;
mod noting;
mod processes;
mod work;

pub use processes::reap;

use super::journal::{self, say};
use crate::config::Config;
use crate::node::Node;
use anyhow::Context;
use beat::{Beat, Verdict};
use group::Group;
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, exit};
use std::time::Instant;
use txid::snowflake::State;
use work::{START, Work};

/// The exit code if the guard was killed.
const KILLED: u8 = 128 + 9;

/// The guard, as the agent sees it.
pub struct Guard {
    pid: Pid,
    /// Each byte from the guard is a sign of life.
    socket: UnixStream,
    beat: Beat,
    is_started: bool,
    group: Option<Group>,
    _locks: Vec<File>,
}

impl Guard {
    /// Starts the guard of the child. To be called before there are threads.
    pub fn start(config: &Config) -> anyhow::Result<Self> {
        let locks = lock::lock(config)?;
        let group = match locks.first() {
            Some(first) => Group::new(&lock::name(first)?),
            None => None,
        };
        let is_held = |node: &&Node| {
            let page = State::leased(&config.dir.join(&node.name), &node.layout);
            page.is_ok_and(|state| state.node().is_some())
        };
        // The agent before was killed. A child that it has left may have run until now, and stamped as far ahead as it may be.
        let left_ms = config
            .nodes_of_child()
            .iter()
            .any(is_held)
            .then(|| txid::system_ms() + config.most_ahead().as_millis() as i64);
        let (socket, its_socket) = UnixStream::pair().context("cannot make a socket")?;
        for end in [&socket, &its_socket] {
            end.set_nonblocking(true).context("cannot make a socket")?;
        }
        // The agent gets all processes that a killed guard leaves behind.
        set_child_subreaper(Some(getpid())).context("cannot become a subreaper")?;
        // SAFETY: there is one thread, so the child may do anything.
        let pid = match unsafe { libc::fork() } {
            0 => {
                drop(socket);
                let code = Work::new(config, left_ms, group, its_socket).and_then(Work::run).unwrap_or_else(|error| {
                    say(&format!("the guard of {}: {error:#}", config.child[0]));
                    1
                });
                journal::finish();
                exit(code)
            }
            pid => Pid::from_raw(pid.max(0)).ok_or_else(std::io::Error::last_os_error).context("cannot fork")?,
        };
        let beat = Beat::new(config.margin, Instant::now());
        Ok(Self { pid, socket, beat, is_started: false, group, _locks: locks })
    }

    /// Lets the guard start the child as soon as there are leases, and again after each loss of one.
    pub fn let_start(&mut self) {
        if !std::mem::replace(&mut self.is_started, true) {
            self.write(START);
        }
    }

    /// Passes a signal on to the child. Without one, the guard ends by a signal that ends an agent.
    pub fn pass_on(&self, signal: i32) {
        self.write(signal as u8);
    }

    /// The time of the next [`Guard::watch`].
    pub fn next_look(&self) -> Instant {
        self.beat.next()
    }

    /// Wakes the guard if it is stopped. If it does not go on, or does not work, ends it and the child. Then there is an
    /// exit code.
    pub fn watch(&mut self) -> Option<ExitCode> {
        let now = Instant::now();
        if now < self.beat.next() {
            return None;
        }
        let mut beats = [0; 4096];
        let works = self.socket.read(&mut beats).is_ok_and(|read| read > 0);
        match self.beat.look(now, works, || processes::is_stopped(self.pid)) {
            Verdict::Works => {}
            Verdict::Stopped { is_news } => {
                if is_news {
                    say("the guard of the child is stopped; waking it");
                }
                let _ = kill_process(self.pid, Signal::CONT);
            }
            Verdict::Fails => {
                say("the guard of the child does not work; ending both");
                self.end_all();
                return Some(ExitCode::from(KILLED));
            }
        }
        None
    }

    /// Reaps all processes that have ended. Returns the exit code of the child if the guard has: then no process of
    /// the child is left.
    pub fn reap(&mut self) -> Option<ExitCode> {
        let reaped = reap(Some(self.pid));
        let code = reaped.ended?;
        if reaped.is_there {
            say("the guard of the child was killed; ending what it has left");
            self.end_all();
        }
        Some(ExitCode::from(code))
    }

    fn end_all(&self) {
        self.group.iter().for_each(Group::kill);
        processes::end_all();
    }

    /// The guard may be gone already.
    fn write(&self, byte: u8) {
        let _ = (&self.socket).write(&[byte]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::time::Duration;

    /// Beside it, its end of the socket, and a process in its place.
    fn guard() -> (Guard, UnixStream, Child) {
        let (socket, its_socket) = UnixStream::pair().unwrap();
        [&socket, &its_socket].into_iter().for_each(|end| end.set_nonblocking(true).unwrap());
        let child = Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let beat = Beat::new(Duration::ZERO, Instant::now());
        (Guard { pid, socket, beat, is_started: false, group: None, _locks: Vec::new() }, its_socket, child)
    }

    #[test]
    fn a_guard_that_shows_signs_of_life_is_left_alone() {
        let (mut guard, mut its_socket, mut child) = guard();
        let second = Duration::from_secs(1);
        guard.beat = Beat::new(Duration::ZERO, Instant::now() + 3600 * second);
        its_socket.write_all(&[0; 3]).unwrap();
        assert!(guard.watch().is_none());
        assert_eq!(guard.socket.read(&mut [9]).unwrap(), 1, "nobody has looked yet");
        let now = Instant::now();
        guard.beat = Beat::new(Duration::ZERO, now - second);
        assert!(guard.watch().is_none() && guard.next_look() > now);
        assert!(guard.socket.read(&mut [9]).is_err(), "they would count again");
        child.wait().unwrap();
    }

    #[test]
    fn the_child_is_let_start_once() {
        let (mut guard, mut its_socket, mut child) = guard();
        let mut orders = [9; 4];
        guard.let_start();
        assert_eq!((its_socket.read(&mut orders).unwrap(), orders), (1, [START, 9, 9, 9]));
        guard.let_start();
        guard.pass_on(15);
        assert_eq!((its_socket.read(&mut orders).unwrap(), orders), (1, [15, 9, 9, 9]));
        child.wait().unwrap();
    }
}
