//! Limits on the answers of a server.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use txid_agent_machines::store::{Record, StoreError};

use super::address::Address;

/// The longest answer that is read.
pub(super) const LARGEST_ANSWER: usize = 4 << 20;

/// The most memory that an answer takes once it is read: short values take more there than on the wire.
const LARGEST_IN_MEMORY: usize = 14 << 20;

/// What a value takes besides its bytes: its place in a list that grows, and what the allocator adds.
const VALUE: usize = 48;

/// The memory that is left for an answer.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(LARGEST_IN_MEMORY)
    }
}

impl Room {
    /// Whether there is room for this many values.
    pub(super) fn fits(&self, values: usize) -> io::Result<()> {
        if values > self.0 / VALUE { Err(too_large()) } else { Ok(()) }
    }

    /// Takes the room of a value of this many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.0 = self.0.checked_sub(VALUE + bytes).ok_or_else(too_large)?;
        Ok(())
    }
}

/// The error for an answer that is not read to its end.
pub(super) fn too_large() -> io::Error {
    let why = format!("an answer is larger than {} MB, or has too many parts", LARGEST_ANSWER >> 20);
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A list in JSON, with no more parts than there can be records.
pub(super) struct AtMost<T>(pub(super) Vec<T>);

impl<T> Default for AtMost<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AtMost<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = AtMost<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST_RECORDS}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(part) = parts.next_element()? {
                    if list.len() == MOST_RECORDS {
                        return Err(A::Error::custom(too_large()));
                    }
                    list.push(part);
                }
                Ok(AtMost(list))
            }
        }

        deserializer.deserialize_seq(List(PhantomData))
    }
}

/// The longest record. Ours have at most 500 bytes.
pub(super) const LARGEST_RECORD: usize = 1000;

/// The most records of a group: a fleet of 65,536, and as many that come twice or are none of ours.
pub(super) const MOST_RECORDS: usize = 1 << 17;

/// The records of a part of a list. The longest ones, in etcd's JSON, are shorter than [`LARGEST_ANSWER`].
pub(super) const PART: usize = 2048;

/// How many time-outs a list may take in all, and how many parts it may have: some are short.
const LIST_TIMEOUTS: u32 = 10;
const MOST_PARTS: usize = 4096;

/// The part of a list that was read so far.
pub(super) struct Listing {
    begin: Instant,
    parts: usize,
    records: usize,
}

impl Listing {
    pub(super) fn begin() -> Self {
        Self { begin: Instant::now(), parts: 0, records: 0 }
    }

    /// Counts the records of a part. Fails if the list has no end.
    pub(super) fn add(&mut self, address: &Address, records: usize) -> Result<(), StoreError> {
        self.add_after(self.begin.elapsed(), address, records)
    }

    fn add_after(&mut self, passed: Duration, address: &Address, records: usize) -> Result<(), StoreError> {
        self.parts += 1;
        self.records += records;
        if self.records > MOST_RECORDS || self.parts > MOST_PARTS {
            return Err(
                address.damaged(format_args!("a list of more than {MOST_RECORDS} records or {MOST_PARTS} parts"))
            );
        }
        if passed > address.timeout * LIST_TIMEOUTS {
            return Err(address.unreachable(format_args!(
                "it sent {} records within {LIST_TIMEOUTS} time-outs, and there are more",
                self.records
            )));
        }
        Ok(())
    }
}

/// The record at `key`, unless it is too long to be one.
pub(super) fn record(address: &Address, key: &str, bytes: Vec<u8>) -> Result<Record, StoreError> {
    if bytes.len() > LARGEST_RECORD {
        let start = bytes[..100].escape_ascii();
        return Err(address.damaged(format_args!(
            "{key} is longer than any record, which has at most {LARGEST_RECORD} bytes; it begins with {start}"
        )));
    }
    Ok(Record::compared_by_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        Address::new("here".to_owned())
    }

    #[test]
    fn an_answer_has_the_memory_that_its_values_take() {
        assert!(Room(10 * VALUE).fits(10).is_ok());
        assert!(Room(10 * VALUE).fits(11).is_err());
        let mut room = Room(2 * VALUE + 100);
        assert!(room.take(60).is_ok() && room.take(40).is_ok() && room.take(0).is_err());
        let (mut exact, mut short) = (Room(VALUE), Room(VALUE - 1));
        assert!(exact.take(0).is_ok() && short.take(0).is_err());
    }

    #[test]
    fn a_list_in_json_has_at_most_as_many_parts_as_there_can_be_records() {
        let read = |text: &str| serde_json::from_str::<AtMost<u8>>(text).map(|list| list.0.len());
        let why = read("{}").unwrap_err().to_string();
        assert_eq!(why, "invalid type: map, expected a list of at most 131072 at line 1 column 0");
        let most = |count: usize| read(&format!("[{}1]", "1,".repeat(count - 1)));
        assert_eq!(most(131_072).unwrap(), 131_072);
        let why = most(131_073).unwrap_err().to_string();
        assert!(why.starts_with("an answer is larger than 4 MB, or has too many parts at line 1"), "{why}");
    }

    #[test]
    fn a_list_has_an_end() {
        const MORE: &str = "here gave an invalid answer: a list of more than 131072 records or 4096 parts";
        let now = Duration::ZERO;
        let mut records = Listing::begin();
        assert!(records.add_after(now, &address(), 131_072).is_ok());
        assert_eq!(records.add_after(now, &address(), 1).unwrap_err().to_string(), MORE);
        let mut parts = Listing::begin();
        assert!((0..4096).all(|_| parts.add_after(now, &address(), 1).is_ok()));
        assert_eq!(parts.add_after(now, &address(), 0).unwrap_err().to_string(), MORE);
        // Ten time-outs of three seconds.
        let after = |ms| Listing::begin().add_after(Duration::from_millis(ms), &address(), 7);
        assert!(after(30_000).is_ok());
        let late = after(30_001).unwrap_err().to_string();
        assert_eq!(late, "cannot reach here: it sent 7 records within 10 time-outs, and there are more");
        assert_eq!((LARGEST_ANSWER, LARGEST_IN_MEMORY, PART), (4 << 20, 14 << 20, 2048));
    }

    #[test]
    fn a_record_has_at_most_a_thousand_bytes() {
        assert_eq!(record(&address(), "a", vec![b'x'; 1000]).unwrap().bytes.len(), 1000);
        let long = record(&address(), "a", vec![b'x'; 1001]).unwrap_err().to_string();
        let why = "a is longer than any record, which has at most 1000 bytes; it begins with";
        assert_eq!(long, format!("here gave an invalid answer: {why} {}", "x".repeat(100)));
    }
}
