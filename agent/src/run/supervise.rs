//! Supervises the command, and reaps orphans if it is process 1 of a container.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use txid_agent::store::PASSWORD_VARIABLE;

/// Asks for SIGTERM when the agent dies.
fn die_with(agent: u32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    // It may have died before that.
    if std::os::unix::process::parent_id() == agent { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

pub struct Supervised {
    pid: libc::pid_t,
}

impl Supervised {
    /// Starts the command. It gets SIGTERM if the agent dies, because whoever starts the agent again starts the command
    /// again, and only one of two can have its ports. To be called by the main thread: Linux sends the signal when the
    /// thread that made the child ends.
    pub fn start(command: &[String]) -> io::Result<Self> {
        let agent = std::process::id();
        let mut command_line = Command::new(&command[0]);
        // The command gets neither systemd's socket nor the store's password.
        command_line.args(&command[1..]).env_remove("NOTIFY_SOCKET").env_remove(PASSWORD_VARIABLE);
        // SAFETY: only system calls are made between fork and exec.
        unsafe { command_line.pre_exec(move || die_with(agent)) };
        Ok(Self { pid: command_line.spawn()?.id() as libc::pid_t })
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
