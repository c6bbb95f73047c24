//! The keys that hide the numbers of a tag: their check values, beside the tag. Two hosts with different keys, names or lengths
//! would show one text for two numbers.

use txid::hidden::KeyCheck;
use txid_agent_machines::store::{Expected, Put, StoreError};

use super::contract::Store;

/// What the record begins with. The check values follow, one for each period.
const VERSION: &str = "v2";

fn parse(text: &str) -> Result<Vec<KeyCheck>, String> {
    let mut words = text.split_whitespace();
    if words.next() != Some(VERSION) {
        return Err(format!("{text:?} is of another version than {VERSION}, which this agent reads: update it"));
    }
    words.map(|word| word.parse().map_err(|error: txid::hidden::NoKeyCheck| error.to_string())).collect()
}

/// Writes the check values of this host's keys beside the tag, unless the store has another one for the same period: then
/// this is an error, and nothing is written. Check values of other periods stay, and a retired one stays so. Returns all that the
/// store has then.
pub fn bind(store: &mut dyn Store, tag: &str, ours: &[KeyCheck]) -> Result<Vec<KeyCheck>, StoreError> {
    let key = format!("{tag}/key");
    let (mut all, mut text, mut expected) = (Vec::new(), String::new(), Expected::Absent);
    if let Some(found) = store.read(&key)? {
        text = String::from_utf8_lossy(&found.bytes).into_owned();
        all = parse(&text).map_err(|why| StoreError::Damaged { store: key.clone(), why })?;
        expected = Expected::Version(found.version);
    }
    for &check in ours {
        match all.iter_mut().find(|other| other.period() == check.period()) {
            None => all.push(check),
            Some(other) if other.retired() != check.retired() => {
                let what = match other.has_key_of(check) {
                    true => "name, length and check digit, and the same keys",
                    false => "keys, and a new one the digit of a new period",
                };
                let why = format!(
                    "its numbers are hidden by the key {other} on other hosts, and the key here is {check}; give each host the same {what}"
                );
                return Err(StoreError::Misconfigured { store: format!("the tag {tag}"), why });
            }
            Some(other) if other.is_retired() => {}
            Some(other) => *other = check,
        }
    }
    all.sort_unstable();
    let new = [VERSION.to_owned()].into_iter().chain(all.iter().map(KeyCheck::to_string)).collect::<Vec<_>>().join(" ");
    if new != text {
        match store.put(&key, &expected, new.as_bytes())? {
            Put::Written(_) => {}
            // Whoever asks next reads what the other host has written.
            Put::Conflict => return Err(StoreError::Contended { store: format!("the tag {tag}"), key }),
            Put::Unknown(error) => return Err(error),
        }
    }
    Ok(all)
}
