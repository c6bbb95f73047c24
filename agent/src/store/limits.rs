//! How much of what a server sends is believed.

use txid_agent_machines::store::{Record, StoreError};

use super::address::Address;

/// The longest answer that is read: a list of 10,000 nodes is about as long in etcd's JSON, and 30,000 in SQL.
pub(super) const LARGEST_ANSWER: usize = 4 << 20;

/// The longest record. Ours have at most 500 bytes.
pub(super) const LARGEST_RECORD: usize = 1000;

/// The records of the largest fleet.
pub(super) const MOST_RECORDS: usize = 1 << 16;

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
