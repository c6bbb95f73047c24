//! How a store is called in messages, and how long to wait for it.

use std::fmt::{self, Write};
use std::io;
use std::time::Duration;

use txid_agent_machines::store::StoreError;

/// A store's URL without the password, and its time-out.
#[derive(Clone)]
pub(super) struct Address {
    pub label: String,
    pub timeout: Duration,
}

impl Address {
    pub(super) fn new(label: String) -> Self {
        Self { label, timeout: Duration::from_secs(3) }
    }

    pub(super) fn unreachable(&self, why: impl fmt::Display) -> StoreError {
        StoreError::Unreachable { store: self.label.clone(), why: one_line(why) }
    }

    pub(super) fn timed_out(&self) -> StoreError {
        StoreError::TimedOut { store: self.label.clone(), ms: self.timeout.as_millis() as u64 }
    }

    /// The error for a connection that fails.
    pub(super) fn broken(&self, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::InvalidData => self.damaged(error),
            io::ErrorKind::UnexpectedEof => self.unreachable("it closed the connection"),
            _ => self.unreachable(error),
        }
    }

    pub(super) fn refused(&self, why: impl fmt::Display) -> StoreError {
        StoreError::Refused { store: self.label.clone(), why: one_line(why) }
    }

    pub(super) fn misconfigured(&self, why: impl fmt::Display) -> StoreError {
        StoreError::Misconfigured { store: self.label.clone(), why: one_line(why) }
    }

    pub(super) fn damaged(&self, why: impl fmt::Display) -> StoreError {
        StoreError::Damaged { store: self.label.clone(), why: one_line(why) }
    }
}

/// The longest message. A line of the log has the name of the store and what happened besides.
const LONGEST: usize = 500;

/// A server's message may have several lines, and any length.
fn one_line(text: impl fmt::Display) -> String {
    let mut line = Line { text: String::new(), is_between: false };
    match write!(line, "{text}") {
        Ok(()) => line.text,
        Err(_) => line.text + "...",
    }
}

/// A text that ends when it is long enough. Nothing of it is stored anywhere else.
struct Line {
    text: String,
    /// Whether there were spaces after the last word.
    is_between: bool,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if letter.is_whitespace() {
                self.is_between = !self.text.is_empty();
            } else if !letter.is_control() {
                if self.text.len() > LONGEST {
                    return Err(fmt::Error);
                }
                if std::mem::take(&mut self.is_between) {
                    self.text.push(' ');
                }
                self.text.push(letter);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_of_its_kind() {
        let here = Address::new("here".to_owned());
        let io = |kind| here.broken(&io::Error::new(kind, "why"));
        for (error, wanted) in [
            (here.unreachable("no\nroute"), "cannot reach here: no route"),
            (here.timed_out(), "here did not answer within 3000 ms"),
            (here.refused("no"), "here refused: no"),
            (here.misconfigured("bad"), "here cannot be used: bad"),
            (here.damaged("what"), "here gave an invalid answer: what"),
            (io(io::ErrorKind::InvalidData), "here gave an invalid answer: why"),
            (io(io::ErrorKind::UnexpectedEof), "cannot reach here: it closed the connection"),
            (io(io::ErrorKind::ConnectionReset), "cannot reach here: why"),
        ] {
            assert_eq!(error.to_string(), wanted);
        }
    }

    #[test]
    fn what_a_store_says_is_one_line_that_ends() {
        assert_eq!(one_line(" no\r\n\tsuch \x07table\n"), "no such table");
        for letter in ["x", "\u{e4}", "\u{20ac}"] {
            let most = letter.repeat(500 / letter.len() + 1);
            assert_eq!(one_line(&most), most);
            assert_eq!(one_line(most.clone() + letter), most + "...");
        }
        let long = one_line("table ".repeat(1000));
        assert!(long.len() < 510 && long.ends_with("..."), "{long}");
    }
}
