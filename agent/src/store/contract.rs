//! The demands of leases and segments on any store.

use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, StoreTime, Taken};

use super::durability::Durability;
use super::tag;

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
        tag::take(self, tag, count, seen)
    }

    /// Makes a tag, unless it exists.
    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        tag::create(self, tag, step)
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
