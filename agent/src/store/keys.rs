//! The keys that hide the numbers of a tag: their check values, beside the tag. Two hosts with different keys, names or lengths
//! would show one text for two numbers.
//!
//! The record is `v2` and the check values, one for each period. Before version 2, check values were of the key alone. They are
//! read, and renewed by the first host that has the key.

use txid::hidden::{KeyCheck, NoKeyCheck};
use txid_agent_machines::store::{Expected, Put, StoreError};

use super::contract::Store;

const VERSION: &str = "v2";

/// What a check value of the key alone is read with.
const NO_SERIES: &str = "-00000000";

/// A check value in a record.
#[derive(Clone, Copy)]
struct Known {
    check: KeyCheck,
    is_of_key_alone: bool,
}

impl Known {
    fn parse(text: &str) -> Result<Self, NoKeyCheck> {
        let of_key_alone = |wrong| format!("{text}{NO_SERIES}").parse().map_err(|_| wrong);
        match text.parse() {
            Ok(check) => Ok(Self { check, is_of_key_alone: false }),
            Err(wrong) => Ok(Self { check: of_key_alone(wrong)?, is_of_key_alone: true }),
        }
    }

    /// Whether this host's check value is the one in the record, whichever of both is retired.
    fn is(&self, ours: KeyCheck) -> bool {
        match self.is_of_key_alone {
            true => self.check.has_key_of(ours),
            false => self.check.retired() == ours.retired(),
        }
    }

    fn text(&self) -> String {
        let text = self.check.to_string();
        match self.is_of_key_alone {
            true => text.trim_end_matches(NO_SERIES).to_owned(),
            false => text,
        }
    }
}

fn record(tag: &str) -> String {
    format!("{tag}/key")
}

fn parse(text: &str) -> Result<Vec<Known>, String> {
    let mut words = text.split_whitespace().peekable();
    if let Some(other) = words.next_if(|word| word.starts_with('v')).filter(|version| *version != VERSION) {
        return Err(format!("it is of the version {other}, and this agent reads {VERSION}: update it"));
    }
    words.map(|word| Known::parse(word).map_err(|error| error.to_string())).collect()
}

/// Writes the check values of this host's keys beside the tag, unless the store has another one for the same period: then
/// this is an error, and nothing is written. Those of other periods stay, and what is retired stays so. Returns all that the
/// store has then.
pub fn bind(store: &mut dyn Store, tag: &str, ours: &[KeyCheck]) -> Result<Vec<KeyCheck>, StoreError> {
    let key = record(tag);
    let found = store.read(&key)?;
    let mut all: Vec<Known> = Vec::new();
    let (mut text, mut expected) = (String::new(), Expected::Absent);
    if let Some(found) = found {
        text = String::from_utf8_lossy(&found.bytes).into_owned();
        all = parse(&text).map_err(|why| StoreError::Damaged { store: key.clone(), why })?;
        expected = Expected::Version(found.version);
    }
    for &check in ours {
        let known = Known { check, is_of_key_alone: false };
        match all.iter_mut().find(|other| other.check.period() == check.period()) {
            None => all.push(known),
            Some(other) if !other.is(check) => {
                let what = match other.check.has_key_of(check) {
                    true => "name, length and check digit, and the same keys",
                    false => "keys, and a new one the digit of a new period",
                };
                let why = format!(
                    "its numbers are hidden by the key {} on other hosts, and the key here is {check}; give each host the same {what}",
                    other.text()
                );
                return Err(StoreError::Misconfigured { store: format!("the tag {tag}"), why });
            }
            Some(other) if other.check.is_retired() => *other = Known { check: check.retired(), ..known },
            Some(other) => *other = known,
        }
    }
    all.sort_unstable_by_key(|known| known.check);
    let new = [VERSION.to_owned()].into_iter().chain(all.iter().map(Known::text)).collect::<Vec<_>>().join(" ");
    if new != text {
        match store.put(&key, &expected, new.as_bytes())? {
            Put::Written(_) => {}
            // Whoever asks next reads what the other host has written.
            Put::Conflict => return Err(StoreError::Contended { store: format!("the tag {tag}"), key }),
            Put::Unknown(error) => return Err(error),
        }
    }
    Ok(all.iter().filter(|known| !known.is_of_key_alone).map(|known| known.check).collect())
}
