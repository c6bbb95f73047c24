//! What MySQL and PostgreSQL have in common: one table that people can read.

use txid_agent_machines::store::StoreError;

use super::Failure;
use super::address::Address;
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
