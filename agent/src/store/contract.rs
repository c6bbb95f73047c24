//! The demands of leases and segments on any store.

use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, StoreTime, Taken};

use super::durability::Durability;
use super::tag::{self, FIRST, Tag};

/// Takes a record and its key.
pub type Show<'a> = &'a mut dyn FnMut(&str, Record);

/// The room of a store, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How much is used.
    pub used: u64,
    /// How much may be used.
    pub quota: u64,
}

/// A place for small records, with compare-and-set, and for tags with a number each, which ranges are taken from.
///
/// Keys are short paths such as `orders/node/17`, below the prefix in the store's URL. Calls return within the store's
/// time-out.
pub trait Store: Send {
    /// The record at `key`, if there is one. It is as new as the last [`Put::Written`] of any client: replicas that may
    /// lag behind are not read.
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Writes `bytes` at `key` if the record there is the `expected` one, in one atomic step.
    ///
    /// An error means that nothing was written, and that nothing will be. If the request may have reached the store
    /// without an answer, the result is [`Put::Unknown`].
    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError>;

    /// Shows all records whose key begins with `prefix`, in any order. `prefix` ends with a slash.
    ///
    /// They are read in parts, each of them within the store's time-out, and all within ten of it. So a record that is
    /// changed meanwhile may be shown as it was or as it is, one that is made may be missing, and one may come twice.
    /// After an error, some were shown.
    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError>;

    /// The store's own clock; None if it shows none.
    ///
    /// If answers carry the time, this needs no request: it is the time of the last answer, plus what has passed since
    /// then on this host's monotonic clock.
    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError>;

    /// How much room the store has for records, if it has a limit and says so. Writes fail without room.
    fn room(&mut self) -> Result<Option<Room>, StoreError> {
        Ok(None)
    }

    /// Whether the store can lose a write that it has confirmed, for example when an asynchronous replica takes over.
    /// Each new connection asks the server again, if it can be asked.
    fn durability(&self) -> &Durability;

    /// Takes `count` numbers of the tag, or as many as its own step, unless its number is below `seen`. This is one
    /// atomic step, so nobody else ever gets them. A count of 0 only reads.
    ///
    /// After an error, the numbers may have been taken. Then nobody uses them.
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        let key = tag::key(tag);
        let Some(Record { bytes, version }) = self.read(&key)? else { return Ok(Taken::NoTag) };
        let Some(Tag { max_id, step }) = Tag::parse(&bytes) else {
            let why = format!("{key} is not a number and a step: {}", bytes.escape_ascii());
            return Err(StoreError::Damaged { store: "the store".to_owned(), why });
        };
        let count = match tag::count(max_id, step, count, seen) {
            Ok(count) => count,
            Err(taken) => return Ok(taken),
        };
        let end = max_id + count;
        match self.put(&key, &Expected::Version(version), Tag { max_id: end, step }.to_string().as_bytes())? {
            Put::Written(_) => Ok(Taken::Range { range: max_id..end, step }),
            // Another client has taken a range. To ask again is up to the caller, who knows how to wait.
            Put::Conflict => Err(StoreError::Contended { store: "the store".to_owned(), key }),
            // If it was written after all, nobody uses its numbers.
            Put::Unknown(error) => Err(error),
        }
    }

    /// Raises the tag's number to `least`, and returns its previous value; None if there is no such tag. It never goes
    /// down.
    fn raise(&mut self, tag: &str, least: u64) -> Result<Option<u64>, StoreError> {
        match self.take(tag, Some(0), least)? {
            Taken::NoTag => Ok(None),
            Taken::Range { range, .. } => Ok(Some(range.end)),
            Taken::WentDown { number } => {
                // A range that nobody uses. If another client takes one in the meantime, the number is just a little
                // higher.
                match self.take(tag, Some(least - number), 0)? {
                    Taken::NoTag => Ok(None),
                    _ => Ok(Some(number)),
                }
            }
            Taken::Ended => Ok(Some(i64::MAX as u64)),
        }
    }

    /// Makes a tag, unless it exists.
    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        match self.put(&tag::key(tag), &Expected::Absent, Tag { max_id: FIRST, step }.to_string().as_bytes())? {
            Put::Written(_) | Put::Conflict => Ok(()),
            Put::Unknown(error) => Err(error),
        }
    }

    /// The command that makes a tag, for an error message.
    fn how_to_create(&self, tag: &str, step: u64) -> String {
        format!("txid-agent run --segment {tag}={step} --create")
    }

    /// As [`Store::durability`], for numbers of tags, and asked with each range.
    fn durability_of_numbers(&self) -> &Durability {
        self.durability()
    }

    /// The only numbering of nodes here, besides the agents' own.
    fn numbering(&self) -> Numbering {
        Numbering::Own
    }

    /// The number of a new node for a host with this name, from [`Store::numbering`]. Takes no number above `last`, if
    /// that can be checked before.
    ///
    /// After an error, a number may have been taken. Then nobody uses it.
    fn number(&mut self, _group: &str, _owner: &str, _last: u64) -> Result<Numbered, StoreError> {
        Ok(Numbered::UsedUp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let _ = std::fs::remove_file(self.1.join(tag::key(tag)));
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
        assert_eq!(tags.raise("invoices", 1000).unwrap(), None);
        tags.create_tag("invoices", 10).unwrap();
        assert_eq!(tags.raise("invoices", FIRST).unwrap(), Some(FIRST), "it needs no second look");
    }
}
