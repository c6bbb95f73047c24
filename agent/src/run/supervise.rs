//! Supervises the child, and reaps orphans if it is process 1 of a container.

use super::guard::reap;
use super::start::start;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::ExitCode;

pub struct Supervised {
    pid: Pid,
}

impl Supervised {
    /// Starts the child. It gets SIGTERM if the agent dies, because the next agent starts another one, and only one can
    /// have the ports. To be called by the main thread: Linux sends the signal when the thread that forked ends.
    pub fn start(child: &[String]) -> io::Result<Self> {
        Ok(Self { pid: start(child, Signal::TERM, false, None, |_| {})? })
    }

    /// Only `reap` reaps, in the same thread, so the pid is still the child's.
    pub fn pass_on(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Reaps all processes that have ended. Returns the exit code of the child if it was one of them.
    pub fn reap(&mut self) -> Option<ExitCode> {
        reap(Some(self.pid)).ended.map(ExitCode::from)
    }
}
