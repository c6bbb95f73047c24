//! A condition on a column of ids, in SQL. Texts are compared by their bytes, because ids do not sort by time in every
//! collation.

use txid_args::Dialect;

/// What a column of ids holds.
#[derive(Clone, Copy)]
pub(crate) enum Holds {
    Number,
    Uuid,
    Text,
}

pub(crate) fn between(column: &str, holds: Holds, first: &str, last: &str, dialect: Option<Dialect>) -> String {
    use Dialect::{Clickhouse, Mysql, Postgresql, Sqlite};
    match (dialect, holds) {
        (_, Holds::Number) => format!("{column} BETWEEN {first} AND {last}"),
        // Its type for UUIDs sorts by their second half.
        (Some(Clickhouse), Holds::Uuid) => {
            format!("toUInt128({column}) BETWEEN toUInt128(toUUID('{first}')) AND toUInt128(toUUID('{last}'))")
        }
        (Some(Postgresql), Holds::Text) => format!("{column} COLLATE \"C\" BETWEEN '{first}' AND '{last}'"),
        // On the column, a collation would keep MySQL from the index. In a column of other characters than ASCII, this is
        // an error instead of other rows.
        (Some(Mysql), _) => {
            format!("{column} BETWEEN _ascii'{first}' COLLATE ascii_bin AND _ascii'{last}' COLLATE ascii_bin")
        }
        (Some(Sqlite), _) => format!("{column} COLLATE BINARY BETWEEN '{first}' AND '{last}'"),
        _ => format!("{column} BETWEEN '{first}' AND '{last}'"),
    }
}
