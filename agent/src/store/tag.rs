//! A number that a store keeps for a tag, and that ranges are taken from.

use super::address::Address;
use super::contract::Store;
use std::fmt;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Taken};

/// The number of a new tag, as in Leaf's own INSERT.
pub(super) const FIRST: u64 = 1;

/// A tag in stores without a type for it: one record that people can read.
struct Tag {
    max_id: u64,
    step: u64,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "max_id={} step={}", self.max_id, self.step)
    }
}

impl Tag {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end();
        let (max_id, step) = text.strip_prefix("max_id=")?.split_once(" step=")?;
        Some(Self { max_id: max_id.parse().ok()?, step: step.parse().ok()? })
    }
}

fn key(tag: &str) -> String {
    format!("{tag}/segment")
}

/// What is taken when `count` is asked for of a tag with this number and step; or why nothing is.
pub(super) fn count(number: u64, step: u64, count: Option<u64>, seen: u64) -> Result<u64, Taken> {
    let count = count.unwrap_or(step);
    if number < seen {
        Err(Taken::WentDown { number })
    } else if number.checked_add(count).is_none_or(|end| end > i64::MAX as u64) {
        Err(Taken::Ended)
    } else {
        Ok(count)
    }
}

/// The `count` numbers below `end`, if the store's numbers can be true.
pub(super) fn taken(address: &Address, tag: &str, end: u64, count: u64, step: u64) -> Result<Taken, StoreError> {
    match end.checked_sub(count).filter(|_| end <= i64::MAX as u64) {
        Some(start) => Ok(Taken::Range { range: start..end, step }),
        None => Err(address.damaged(format_args!("it took {count} numbers of {tag}, and they end at {end}"))),
    }
}

/// As [`Store::take`], in a store without tags of its own: there is one record for each.
pub(super) fn take<S: Store + ?Sized>(
    store: &mut S,
    tag: &str,
    wanted: Option<u64>,
    seen: u64,
) -> Result<Taken, StoreError> {
    let key = key(tag);
    let Some(Record { bytes, version }) = store.read(&key)? else { return Ok(Taken::NoTag) };
    let Some(Tag { max_id, step }) = Tag::parse(&bytes) else {
        let why = format!("{key} is not a number and a step: {}", bytes.escape_ascii());
        return Err(StoreError::Damaged { store: "the store".to_owned(), why });
    };
    let count = match count(max_id, step, wanted, seen) {
        Ok(count) => count,
        Err(taken) => return Ok(taken),
    };
    let end = max_id + count;
    match store.put(&key, &Expected::Version(version), Tag { max_id: end, step }.to_string().as_bytes())? {
        Put::Written(_) => Ok(Taken::Range { range: max_id..end, step }),
        // Another client has taken a range. To ask again is up to the caller, who knows how to wait.
        Put::Conflict => Err(StoreError::Contended { store: "the store".to_owned(), key }),
        // If it was written after all, nobody uses its numbers.
        Put::Unknown(error) => Err(error),
    }
}

/// As [`Store::create_tag`], there.
pub(super) fn create<S: Store + ?Sized>(store: &mut S, tag: &str, step: u64) -> Result<(), StoreError> {
    match store.put(&key(tag), &Expected::Absent, Tag { max_id: FIRST, step }.to_string().as_bytes())? {
        Put::Written(_) | Put::Conflict => Ok(()),
        Put::Unknown(error) => Err(error),
    }
}

/// Raises the tag's number to `least`, and returns its previous value; None if there is no such tag. It never goes
/// down.
pub fn raise(store: &mut dyn Store, tag: &str, least: u64) -> Result<Option<u64>, StoreError> {
    match store.take(tag, Some(0), least)? {
        Taken::NoTag => Ok(None),
        Taken::Range { range, .. } => Ok(Some(range.end)),
        Taken::WentDown { number } => {
            // A range that nobody uses. If another client takes one in the meantime, the number is just a little
            // higher.
            match store.take(tag, Some(least - number), 0)? {
                Taken::NoTag => Ok(None),
                _ => Ok(Some(number)),
            }
        }
        Taken::Ended => Ok(Some(i64::MAX as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::Show;
    use super::super::durability::Durability;
    use super::*;
    use proptest::prelude::*;
    use txid_agent_machines::store::StoreTime;

    proptest! {
        #[test]
        fn a_range_is_what_was_asked_for_or_an_error(end: u64, count: u64, step: u64) {
            match taken(&Address::new("here".to_owned()), "a", end, count, step) {
                Ok(Taken::Range { range, .. }) => {
                    prop_assert!(range.start <= range.end && range.end - range.start == count && end <= i64::MAX as u64);
                }
                Ok(other) => prop_assert!(false, "{other:?}"),
                Err(_) => prop_assert!(count > end || end > i64::MAX as u64),
            }
        }

        #[test]
        fn a_record_is_read_back_and_any_bytes_are_one_or_none(max_id: u64, step: u64, bytes: Vec<u8>) {
            let tag = Tag::parse(Tag { max_id, step }.to_string().as_bytes()).unwrap();
            prop_assert_eq!((tag.max_id, tag.step), (max_id, step));
            let _ = Tag::parse(&bytes);
        }
    }

    #[test]
    fn the_last_range_ends_at_the_largest_number() {
        let end = i64::MAX as u64;
        let taken = |end| taken(&Address::new("here".to_owned()), "a", end, 7, 1);
        assert!(matches!(taken(end), Ok(Taken::Range { range, step: 1 }) if range == (end - 7..end)));
        assert!(taken(end + 1).is_err());
    }

    /// Deletes the record after each look.
    struct Deletes(Box<dyn Store>, std::path::PathBuf);

    impl Store for Deletes {
        fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
            self.0.read(key)
        }

        fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
            self.0.put(key, expected, bytes)
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("there is one tag")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            self.0.clock()
        }

        fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
            let taken = self.0.take(tag, count, seen);
            let _ = std::fs::remove_file(self.1.join(key(tag)));
            taken
        }

        fn durability(&self) -> &Durability {
            self.0.durability()
        }
    }

    /// The operator must not believe that it was raised.
    #[test]
    fn a_tag_that_is_deleted_while_it_is_raised_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let tags = crate::store::open(&format!("file://{}", directory.path().display())).unwrap();
        let mut tags = Deletes(tags, directory.path().to_owned());
        tags.create_tag("invoices", 10).unwrap();
        assert_eq!(raise(&mut tags, "invoices", 1000).unwrap(), None);
        tags.create_tag("invoices", 10).unwrap();
        assert_eq!(raise(&mut tags, "invoices", FIRST).unwrap(), Some(FIRST), "it needs no second look");
    }

    /// As a Redis did that was none.
    #[test]
    fn more_numbers_than_there_are_below_the_end() {
        let error = taken(&Address::new("here".to_owned()), "a", 1, 100, 100).unwrap_err();
        assert!(error.to_string().contains("it took 100 numbers of a, and they end at 1"), "{error}");
    }
}
