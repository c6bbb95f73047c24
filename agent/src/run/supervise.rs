//! Supervises the command, and reaps orphans if it is process 1 of a container.

use super::guard::{die_with, reap};
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use txid_agent::store::PASSWORD_VARIABLE;

pub struct Supervised {
    pid: Pid,
}

impl Supervised {
    /// Starts the command. It gets SIGTERM if the agent dies, because whoever starts the agent again starts the command
    /// again, and only one of two can have its ports. To be called by the main thread: Linux sends the signal when the
    /// thread that made the child ends.
    pub fn start(command: &[String]) -> io::Result<Self> {
        let agent = getpid();
        let mut command_line = Command::new(&command[0]);
        command_line.args(&command[1..]);
        // The command gets neither what systemd tells the agent nor the store's password.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", PASSWORD_VARIABLE] {
            command_line.env_remove(name);
        }
        // SAFETY: only system calls are made between fork and exec.
        unsafe { command_line.pre_exec(move || die_with(agent, Signal::TERM)) };
        let pid = Pid::from_raw(command_line.spawn()?.id() as i32);
        Ok(Self { pid: pid.ok_or(io::ErrorKind::InvalidData)? })
    }

    /// Children are reaped only by `reap`, in the same thread, so the pid is still this child's.
    pub fn pass_on(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Reaps all children that have ended. Returns the exit code of the command if it was one of them.
    pub fn reap(&mut self) -> Option<ExitCode> {
        reap(Some(self.pid)).ended.map(ExitCode::from)
    }
}
