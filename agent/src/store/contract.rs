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
    /// If answers carry the time, this needs no request: it is the time of the last answer, if there was one, plus what has
    /// passed since then on this host's monotonic clock.
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

    /// A record that people may have changed, and a file that cannot be written.
    #[test]
    fn a_tag_is_one_record() {
        let directory = tempfile::tempdir().unwrap();
        let mut tags = crate::store::open(&format!("file://{}", directory.path().display())).unwrap();
        assert_eq!((tags.take("a", None, 0), tags.raise("a", 1)), (Ok(Taken::NoTag), Ok(None)));
        tags.create_tag("a", 20).unwrap();
        tags.create_tag("a", 30).unwrap();
        let path = directory.path().join("a/segment");
        let text = || std::fs::read_to_string(&path).unwrap();
        assert_eq!(text(), "max_id=1 step=20", "it was there");
        assert_eq!(tags.take("a", None, 1), Ok(Taken::Range { range: 1..21, step: 20 }));
        assert_eq!(tags.take("a", Some(5), 0), Ok(Taken::Range { range: 21..26, step: 20 }));
        assert_eq!(
            (text(), tags.take("a", None, 27)),
            ("max_id=26 step=20".to_owned(), Ok(Taken::WentDown { number: 26 }))
        );
        assert_eq!((tags.raise("a", 100), tags.raise("a", 99)), (Ok(Some(26)), Ok(Some(100))));
        assert_eq!(text(), "max_id=100 step=20");
        std::fs::write(&path, "max_id=9223372036854775807 step=20").unwrap();
        assert_eq!((tags.take("a", None, 0), tags.raise("a", 1)), (Ok(Taken::Ended), Ok(Some(i64::MAX as u64))));
        std::fs::write(&path, "max_id=many").unwrap();
        let why = "the store gave an invalid answer: a/segment is not a number and a step: max_id=many";
        assert_eq!(tags.take("a", None, 0).unwrap_err().to_string(), why);
        assert_eq!(tags.numbering(), Numbering::Own);
        assert_eq!((tags.number("orders", "here", 9), tags.room()), (Ok(Numbered::UsedUp), Ok(None)));
    }

    /// A store in which each write comes to the same.
    struct Writes(Put);

    impl Store for Writes {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            Ok(Some(Record::compared_by_bytes(b"max_id=7 step=20".to_vec())))
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            Ok(self.0.clone())
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("there is one tag")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            unreachable!("numbers have no time")
        }

        fn durability(&self) -> &Durability {
            &Durability::Durable
        }
    }

    #[test]
    fn numbers_that_may_have_been_taken_are_an_error() {
        let error = StoreError::TimedOut { store: "here".to_owned(), ms: 1 };
        let mut lost = Writes(Put::Unknown(error.clone()));
        assert_eq!((lost.take("a", None, 0), lost.create_tag("a", 20)), (Err(error.clone()), Err(error)));
        let mut other = Writes(Put::Conflict);
        let why = "the store: another client changed a/segment at the same moment";
        assert_eq!(other.take("a", None, 0).unwrap_err().to_string(), why);
        assert_eq!(other.create_tag("a", 20), Ok(()), "it is there");
        assert_eq!(other.durability_of_numbers(), &Durability::Durable);
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
