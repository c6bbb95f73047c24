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

#[cfg(test)]
mod tests {
    use super::super::contract::Show;
    use super::super::durability::Durability;
    use super::*;
    use txid_agent_machines::store::{Record, StoreTime};

    /// A store with this record, in which each write comes to the same.
    struct Holds(&'static str, Put);

    impl Store for Holds {
        fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
            assert_eq!(key, "a/key");
            Ok(Some(Record::compared_by_bytes(self.0.into())).filter(|record| !record.bytes.is_empty()))
        }

        fn put(&mut self, _: &str, expected: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            assert_eq!(matches!(expected, Expected::Absent), self.0.is_empty());
            Ok(self.1.clone())
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("there is one record")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            unreachable!("keys have no time")
        }

        fn durability(&self) -> &Durability {
            unreachable!("it is not asked")
        }
    }

    #[test]
    fn hosts_with_other_keys_are_told_so() {
        const BOTH: &str = "66e94b-00000001 1:000000-00000003";
        const RETIRED: &str = "66e94b-00000001:retired";
        let bind = |found, put, ours: &str| {
            let ours: Vec<KeyCheck> = ours.split(' ').map(|check| check.parse().unwrap()).collect();
            match bind(&mut Holds(found, put), "a", &ours) {
                Ok(all) => all.iter().map(KeyCheck::to_string).collect::<Vec<_>>().join(" "),
                Err(error) => error.to_string(),
            }
        };
        let written = || Put::Written(txid_agent_machines::store::Version(Vec::new()));
        let lost = || Put::Unknown(StoreError::TimedOut { store: "here".to_owned(), ms: 1 });
        let other = |there: &str, here: &str, what: &str| {
            format!(
                "the tag a cannot be used: its numbers are hidden by the key {there} on other hosts, and the key here is {here}; give \
                 each host the same {what}"
            )
        };
        let name = "name, length and check digit, and the same keys";
        let key = "keys, and a new one the digit of a new period";
        for (found, put, ours, wanted) in [
            ("", written(), "66e94b-00000001", "66e94b-00000001".to_owned()),
            ("", lost(), "66e94b-00000001", "here did not answer within 1 ms".to_owned()),
            (
                "",
                Put::Conflict,
                "66e94b-00000001",
                "the tag a: another client changed a/key at the same moment".to_owned(),
            ),
            ("v2 66e94b-00000001", lost(), "66e94b-00000001", "66e94b-00000001".to_owned()),
            // A new period, one that this host does not know, one whose key nobody replaces, and one that is retired.
            ("v2 66e94b-00000001", written(), BOTH, BOTH.to_owned()),
            ("v2 66e94b-00000001 1:000000-00000003", written(), "66e94b-00000001", BOTH.to_owned()),
            ("v2 66e94b-00000001 1:000000-00000003", written(), "1:000001-00000003", other("1:000000-00000003", "1:000001-00000003", key)),
            ("v2 66e94b-00000001 1:000000-00000003", written(), RETIRED, format!("{RETIRED} 1:000000-00000003")),
            ("v2 66e94b-00000001:retired", written(), "66e94b-00000001", RETIRED.to_owned()),
            ("v2 66e94b-00000001", written(), "66e94b-00000002", other("66e94b-00000001", "66e94b-00000002", name)),
            ("v2 66e94b-00000001", written(), "66e94c-00000001", other("66e94b-00000001", "66e94c-00000001", key)),
            (
                "v3 x",
                written(),
                "66e94b-00000001",
                "a/key gave an invalid answer: \"v3 x\" is of another version than v2, which this agent reads: update it".to_owned(),
            ),
        ] {
            assert_eq!(bind(found, put, ours), wanted, "{found} {ours}");
        }
    }
}
