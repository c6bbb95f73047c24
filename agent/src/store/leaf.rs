//! Leaf's table in MySQL and PostgreSQL. Leaf's own servers may use it at the same time.

use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::{Failure, tag};

pub(super) const TABLE: &str = "leaf_alloc";

/// As in Leaf's documentation, in SQL that both databases understand.
pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id \
                                 bigint NOT NULL DEFAULT 1, step int NOT NULL, description varchar(256) DEFAULT NULL, \
                                 update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))";

pub(super) fn insert(tag: &str, step: u64) -> String {
    format!("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('{tag}', {}, {step})", tag::FIRST)
}

/// The statements that make a tag, for an error message.
pub(super) fn how_to_create(tag: &str, step: u64) -> String {
    format!("{}; in a new database, first: {CREATE}", insert(tag, step))
}

/// A column that must not be negative.
pub(super) fn number(address: &Address, column: &str, value: i64) -> Result<u64, Failure> {
    u64::try_from(value).map_err(|_| Failure::NotDone(negative(address, column, value)))
}

fn negative(address: &Address, column: &str, value: i64) -> StoreError {
    address.misconfigured(format_args!("{TABLE} has {column} = {value}: it must be 1 or more"))
}
