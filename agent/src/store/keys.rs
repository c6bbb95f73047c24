//! The keys that hide the numbers of a tag: their check values, beside the tag. Two hosts with different keys would show one text
//! for two numbers.

use txid::hidden::KeyCheck;
use txid_agent_machines::store::{Expected, Put, StoreError};

use super::contract::Store;

fn record(tag: &str) -> String {
    format!("{tag}/key")
}

/// Writes the check values of this host's keys beside the tag, unless the store has another one for the same period: then
/// this is an error, and nothing is written. Those of other periods stay.
pub fn bind(store: &mut dyn Store, tag: &str, ours: &[KeyCheck]) -> Result<(), StoreError> {
    let key = record(tag);
    let found = store.read(&key)?;
    let mut all = Vec::new();
    let mut expected = Expected::Absent;
    if let Some(found) = found {
        let text = String::from_utf8_lossy(&found.bytes).into_owned();
        let read: Result<Vec<KeyCheck>, _> = text.split_whitespace().map(str::parse).collect();
        let damaged = |why| StoreError::Damaged { store: key.clone(), why };
        all = read.map_err(|error| damaged(error.to_string()))?;
        expected = Expected::Version(found.version);
    }
    let known = all.len();
    for check in ours {
        match all.iter().find(|other| other.period() == check.period()) {
            None => all.push(*check),
            Some(other) if other == check => {}
            Some(other) => {
                let why = format!(
                    "its numbers are hidden by the key {other} on other hosts, and the key here is {check}; give each host the same \
                     keys, and a new one the digit of a new period"
                );
                return Err(StoreError::Misconfigured { store: format!("the tag {tag}"), why });
            }
        }
    }
    if all.len() == known {
        return Ok(());
    }
    all.sort_unstable();
    let text = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match store.put(&key, &expected, text.as_bytes())? {
        Put::Written(_) => Ok(()),
        // Whoever asks next reads what the other host has written.
        Put::Conflict => Err(StoreError::Contended { store: format!("the tag {tag}"), key }),
        Put::Unknown(error) => Err(error),
    }
}
