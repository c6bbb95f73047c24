//! Leaf's table in MySQL and PostgreSQL. Leaf's own servers may use it at the same time.

use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::cell::{self, Value};
use super::tag;

pub(super) const TABLE: &str = "leaf_alloc";

/// As in Leaf's documentation, in SQL that both databases understand.
pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id \
                                 bigint NOT NULL DEFAULT 1, step int NOT NULL, description varchar(256) DEFAULT NULL, \
                                 update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))";

pub(super) fn insert(tag: &str, step: u64) -> String {
    format!("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('{tag}', {}, {step})", tag::FIRST)
}

/// Fails if a row is of another tag: two that differ only in case are one where the column ignores it, as it does by
/// default in MySQL.
pub(super) fn same(address: &Address, tag: &str, found: Option<&Value>) -> Result<(), StoreError> {
    match found.and_then(cell::shown) {
        Some(found) if found != tag => Err(address.misconfigured(format_args!(
            "{TABLE} has biz_tag = '{found}' in place of '{tag}', and does not tell them apart; use one of them only, as it is \
             written there"
        ))),
        _ => Ok(()),
    }
}

/// The columns `max_id` and `step` of a row. People write them, so they may hold anything.
pub(super) fn numbers(address: &Address, tag: &str, row: &[Value]) -> Result<(u64, u64), StoreError> {
    Ok((number(address, tag, "max_id", row.first())?, number(address, tag, "step", row.get(1))?))
}

pub(super) fn number(address: &Address, tag: &str, column: &str, value: Option<&Value>) -> Result<u64, StoreError> {
    let text = value.and_then(cell::shown);
    let number = text.as_ref().and_then(|text| text.parse().ok()).filter(|number| *number <= i64::MAX as u64);
    number.ok_or_else(|| {
        address.misconfigured(format_args!(
            "{TABLE} has {column} = {} for biz_tag = '{tag}': it must be a whole number from 1 to {}",
            text.as_deref().unwrap_or("NULL"),
            i64::MAX
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_that_the_column_can_hold() {
        let of = |text: &str| number(&Address::new("here".to_owned()), "a", "max_id", Some(&Some(text.into()))).ok();
        assert_eq!(of("9223372036854775807"), Some(i64::MAX as u64));
        assert_eq!(["9223372036854775808", "-1", ""].map(of), [None; 3]);
    }

    #[test]
    fn what_people_have_written_is_named() {
        let here = Address::new("here".to_owned());
        let value = |text: &str| Some(text.as_bytes().to_vec());
        let why = |row: [Value; 2]| numbers(&here, "a", &row).unwrap_err().to_string();
        let must = "for biz_tag = 'a': it must be a whole number from 1 to 9223372036854775807";
        assert_eq!(numbers(&here, "a", &[value("7"), value("20")]), Ok((7, 20)));
        assert_eq!(
            why([value("many"), value("20")]),
            format!("here cannot be used: leaf_alloc has max_id = many {must}")
        );
        assert_eq!(why([value("7"), None]), format!("here cannot be used: leaf_alloc has step = NULL {must}"));
        assert!([Some(&value("a")), Some(&None), None].into_iter().all(|found| same(&here, "a", found).is_ok()));
        let other = "here cannot be used: leaf_alloc has biz_tag = 'A' in place of 'a', and does not tell them apart; use one of \
                     them only, as it is written there";
        assert_eq!(same(&here, "a", Some(&value("A"))).unwrap_err().to_string(), other);
        let create = "CREATE TABLE IF NOT EXISTS leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint NOT NULL \
                      DEFAULT 1, step int NOT NULL, description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT \
                      CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))";
        let made = "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('a', 1, 20)";
        assert_eq!((insert("a", 20), CREATE), (made.to_owned(), create));
    }
}
