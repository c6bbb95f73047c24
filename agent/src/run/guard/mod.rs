//! The guard of a child that has nodes in its environment: a second process of the agent, and the child's parent.
//!
//! Such a child must be gone before its leases end, whatever happens to the agent: it may be stopped, or killed. So
//! the guard reads the leases from their files, as any process does, and ends the child by itself; and it ends the
//! child if the agent dies. If the guard is killed, the kernel kills the child, and the agent all that is left.

mod lock;
mod processes;
mod work;

pub use processes::reap;

use super::journal::{self, say};
use crate::config::Config;
use anyhow::Context;
use rustix::process::{Pid, getpid, set_child_subreaper};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, exit};
use work::{START, Work};

/// The guard, as the agent sees it.
pub struct Guard {
    pid: Pid,
    /// Each byte from the guard says that it works.
    socket: UnixStream,
    is_started: bool,
    _locks: Vec<File>,
}

impl Guard {
    /// Starts the guard of the child. To be called before there are threads.
    pub fn start(config: &Config) -> anyhow::Result<Self> {
        let locks = lock::nodes(config)?;
        let (socket, its_socket) = UnixStream::pair().context("cannot make a socket")?;
        for end in [&socket, &its_socket] {
            end.set_nonblocking(true).context("cannot make a socket")?;
        }
        // What the guard leaves behind if it is killed becomes the agent's.
        set_child_subreaper(Some(getpid())).context("cannot become a subreaper")?;
        // SAFETY: there is one thread, so the child may do anything.
        let pid = match unsafe { libc::fork() } {
            0 => {
                drop(socket);
                let code = Work::new(config, its_socket).and_then(Work::run).unwrap_or_else(|error| {
                    say(&format!("the guard of {}: {error:#}", config.child[0]));
                    1
                });
                journal::finish();
                exit(code)
            }
            pid => Pid::from_raw(pid.max(0)).ok_or_else(std::io::Error::last_os_error).context("cannot fork")?,
        };
        Ok(Self { pid, socket, is_started: false, _locks: locks })
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

    /// Whether the guard has worked since this was last called.
    pub fn is_alive(&mut self) -> bool {
        let mut beats = [0; 4096];
        self.socket.read(&mut beats).is_ok_and(|read| read > 0)
    }

    /// Reaps all processes that have ended. Returns the exit code of the child if the guard has: then no process of
    /// the child is left.
    pub fn reap(&mut self) -> Option<ExitCode> {
        let reaped = reap(Some(self.pid));
        let code = reaped.ended?;
        if reaped.is_there {
            say("the guard of the child was killed; ending what it has left");
            processes::end_all();
        }
        Some(ExitCode::from(code))
    }

    /// The guard may be gone already.
    fn write(&self, byte: u8) {
        let _ = (&self.socket).write(&[byte]);
    }
}
