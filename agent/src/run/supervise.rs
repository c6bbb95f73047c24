//! The command that has the leases, and as process 1 of a container all whose parents have ended.

use std::io;
use std::process::{Command, ExitCode};

pub struct Supervised {
    pid: libc::pid_t,
}

impl Supervised {
    pub fn start(command: &[String]) -> io::Result<Self> {
        // Neither systemd's socket nor the store's password is the command's.
        let child = Command::new(&command[0])
            .args(&command[1..])
            .env_remove("NOTIFY_SOCKET")
            .env_remove("TXID_STORE_PASSWORD")
            .spawn()?;
        Ok(Self { pid: child.id() as libc::pid_t })
    }

    /// The child is not reaped but in `reap`, in the same thread: its number is not another's.
    pub fn pass_on(&self, signal: i32) {
        // SAFETY: there is no memory in this.
        unsafe { libc::kill(self.pid, signal) };
    }

    /// Takes in all children that have ended. If the command was one of them, how it ended.
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
                // As a shell does it, a signal is 128 and its number.
                let code =
                    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
                ended = Some(ExitCode::from(code as u8));
            }
        }
    }
}
