//! How a store is called in messages, and how long to wait for it.

use std::fmt;
use std::time::Duration;

use txid_agent_machines::store::StoreError;

/// A store's URL without the password, and its time-out.
#[derive(Clone)]
pub(super) struct Address {
    label: String,
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

    pub(super) fn contended(&self, key: &str) -> StoreError {
        StoreError::Contended { store: self.label.clone(), key: key.to_owned() }
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
    let mut line = String::new();
    for word in text.to_string().split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars().filter(|letter| !letter.is_control()) {
            if line.len() > LONGEST {
                return line + "...";
            }
            line.push(letter);
        }
    }
    line
}
