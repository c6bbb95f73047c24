//! What MySQL and PostgreSQL have in common: one table that people can read.

use txid_agent_machines::store::{Record, StoreError};

use super::address::Address;
use super::contract::Show;
use super::failure::Failure;
use super::limits::PART;
use super::url::StoreUrl;

/// The table's name, from the URL.
pub(super) fn table(url: &StoreUrl) -> Result<String, StoreError> {
    let table = url.option("table").unwrap_or("txid_lease");
    if table.is_empty() || !table.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.') {
        return Err(url
            .address
            .misconfigured(format_args!("table={table} is not the name of a table: use letters, digits, _ and .")));
    }
    Ok(table.to_owned())
}

/// The database and its user, from the URL.
pub(super) fn database(url: &StoreUrl) -> Result<(&str, &str), StoreError> {
    let user = url.user.as_deref().ok_or_else(|| {
        url.address.misconfigured(format_args!("it names no user: write {}://USER@HOST/DATABASE", url.scheme.name))
    })?;
    if url.path.is_empty() || url.path.contains('/') {
        return Err(url.address.misconfigured(format_args!(
            "it names no database: write {}://USER@HOST/DATABASE, and ?table=NAME for another table than txid_lease",
            url.scheme.name
        )));
    }
    Ok((user, &url.path))
}

/// The columns hold text, so that people can read them.
pub(super) fn text<'a>(address: &Address, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Failure::NotDone(address.misconfigured("a record in a SQL store is text, and these bytes are not"))),
    }
}

/// A value as text; None is NULL.
pub(super) type Value = Option<Vec<u8>>;

/// A value for a message.
pub(super) fn shown(value: &Value) -> Option<String> {
    value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A value that must be something else than text.
pub(super) fn parse<T: std::str::FromStr>(value: Option<&Value>) -> Option<T> {
    std::str::from_utf8(value?.as_ref()?).ok()?.parse().ok()
}

/// The record of a row with a time, a name and a record. Without a name, there is no record.
pub(super) fn found(address: &Address, table: &str, key: &str, row: Vec<Value>) -> Result<Value, StoreError> {
    match <[Value; 3]>::try_from(row) {
        Ok([_, None, _]) => Ok(None),
        Ok([_, Some(_), Some(bytes)]) => Ok(Some(bytes)),
        Ok([_, Some(_), None]) => Err(null(address, table, key)),
        Err(row) => Err(address.damaged(format_args!("it returned {} columns for {key}", row.len()))),
    }
}

/// Shows the records of rows with a name and a record. Returns the last name if there may be more than this part of the
/// table.
pub(super) fn listed(
    address: &Address,
    table: &str,
    rows: Vec<Vec<Value>>,
    show: Show,
) -> Result<Option<String>, StoreError> {
    let is_full = rows.len() >= PART;
    let mut last = None;
    for row in rows {
        let Ok([Some(name), record]) = <[Value; 2]>::try_from(row) else {
            return Err(address.damaged(format_args!("{table} has a row without a name")));
        };
        let name = String::from_utf8_lossy(&name).into_owned();
        let record = record.ok_or_else(|| null(address, table, &name))?;
        show(&name, Record::compared_by_bytes(record));
        last = Some(name);
    }
    Ok(last.filter(|_| is_full))
}

/// The error for a record that somebody has made NULL.
fn null(address: &Address, table: &str, key: &str) -> StoreError {
    address.damaged(format_args!("{table} has record = NULL for name = '{key}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_without_zeros_is_a_record() {
        let address = Address::new("here".to_owned());
        assert!(text(&address, "owner=caf\u{e9}".as_bytes()).is_ok_and(|text| text == "owner=caf\u{e9}"));
        for bytes in [&b"with\0a zero"[..], b"\0", b"caf\xe9"] {
            let Err(Failure::NotDone(error)) = text(&address, bytes) else { panic!("{}", bytes.escape_ascii()) };
            assert!(error.to_string().contains("a record in a SQL store is text"), "{error}");
        }
    }
}
