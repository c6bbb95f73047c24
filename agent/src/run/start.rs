//! Starts the child, without waiting for its file.
//!
//! A file system that does not answer holds up a process that starts a program from it. So this program is forked, and
//! the copy becomes the child. Until then, a signal ends it.

use super::guard::group;
use super::journal::say;
use super::signals::{block_only, restore, to_restore};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use txid_agent::store::{PASSWORD_VARIABLE, STORE_VARIABLE};

/// The name that this program has until it is the child.
pub const NAME: &str = "txid-start";

/// An argument: it makes a session.
const SESSION: &str = "session";

/// Starts the child in this group, and perhaps in a session of its own. It gets `signal` when the thread that calls this ends.
pub fn start(
    line: &[String],
    signal: Signal,
    has_session: bool,
    group: Option<&Path>,
    change: impl FnOnce(&mut Command),
) -> io::Result<Pid> {
    let mut command = Command::new("/proc/self/exe");
    let restored = to_restore().map_or(String::new(), |signal| signal.to_string());
    command.arg0(NAME).args([getpid().to_string(), signal.as_raw().to_string(), restored]);
    command.arg(if has_session { SESSION } else { "" }).arg(group.unwrap_or(Path::new(""))).args(line);
    // The child gets neither what systemd tells the agent nor the store's password.
    for name in ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", STORE_VARIABLE, PASSWORD_VARIABLE] {
        command.env_remove(name);
    }
    change(&mut command);
    Pid::from_raw(command.spawn()?.id() as i32).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Becomes the child, by the arguments that `start` has written.
pub fn become_child(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    let [parent, signal, restored, session, group, program, rest @ ..] = args.as_slice() else {
        return ExitCode::FAILURE;
    };
    let number = |text: &OsString| text.to_str()?.parse::<i32>().ok();
    let (parent, signal) = (number(parent).and_then(Pid::from_raw), number(signal).and_then(Signal::from_named_raw));
    // The parent may have ended before this.
    if parent.is_none() || set_parent_process_death_signal(signal).is_err() || getppid() != parent {
        return ExitCode::FAILURE;
    }
    if session == SESSION && setsid().is_err() {
        return ExitCode::FAILURE;
    }
    if !group.is_empty() {
        // It gets signals at least.
        let _ = group::enter(Path::new(group));
    }
    if let Some(signal) = number(restored) {
        restore(signal);
    }
    block_only(&[]);
    let error = Command::new(program).args(rest).exec();
    say(&format!("{}: {error}", program.to_string_lossy()));
    ExitCode::from(code_of(&error))
}

/// The exit status of a shell for a program that it cannot start.
pub fn code_of(error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_a_shells() {
        let of = |kind: io::ErrorKind| code_of(&kind.into());
        assert_eq!([io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied].map(of), [127, 126]);
    }

    /// It is no child of whoever calls it with a name.
    #[test]
    fn only_the_process_that_starts_it_makes_a_child() {
        let become_child = |args: &[&str]| format!("{:?}", become_child(args.iter().map(OsString::from)));
        let failed = format!("{:?}", ExitCode::FAILURE);
        assert_eq!(become_child(&["1", "15", "", "", ""]), failed, "no program");
        assert_eq!(become_child(&["", "", "", "", "", "true"]), failed, "no parent");
    }
}
