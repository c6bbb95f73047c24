//! What the command says when something goes wrong.

use crate::terminal;
use std::io::{IsTerminal, Write, stderr};

/// The exit status after an error, as in grep.
pub(crate) const TROUBLE: u8 = 2;

/// Reports an error and its causes on one line of standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    say(&format!("{error:#}"));
}

/// Writes to standard error. If that fails, for example on a full disk, only the exit status remains: `eprintln` would
/// panic.
pub(crate) fn say(message: &str) {
    // It may contain names of files and invalid ids, which anybody may have chosen.
    let message = match stderr().is_terminal() {
        true => &*terminal::harmless(message.as_bytes()),
        false => message,
    };
    let _ = writeln!(stderr(), "txid: {message}");
}
