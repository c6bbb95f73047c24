//! Supervises the command, and reaps orphans if it is process 1 of a container.

use std::io;
use std::process::{Command, ExitCode};

pub struct Supervised {
    pid: libc::pid_t,
}

impl Supervised {
    pub fn start(command: &[String]) -> io::Result<Self> {
        // The command gets neither systemd's socket nor the store's password.
        let child = Command::new(&command[0])
            .args(&command[1..])
            .env_remove("NOTIFY_SOCKET")
            .env_remove("TXID_STORE_PASSWORD")
            .spawn()?;
        Ok(Self { pid: child.id() as libc::pid_t })
    }

    /// Children are reaped only by `reap`, in the same thread, so the pid is still this child's.
    pub fn pass_on(&self, signal: i32) {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(self.pid, signal) };
    }

    /// Reaps all children that have ended. Returns the exit code of the command if it was one of them.
    pub fn reap(&mut self) -> Option<ExitCode> {
        let mut ended = None;
        loop {
            let mut status = 0;
            // SAFETY: `status` is ours.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
            if pid <= 0 {
                return ended;
            }
            if pid == self.pid {
                // As in a shell, a signal is 128 plus its number.
                let code =
                    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
                ended = Some(ExitCode::from(code as u8));
            }
        }
    }
}
