//! The record of a group: the layout and the floor of its nodes.

use super::record::{BadRecord, fields, number};
use std::fmt;

const FORMAT: &str = "txid-group 1";

/// The layout of a group's ids, and the earliest time of its leases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// No lease starts before this, in milliseconds since 1970-01-01 UTC.
    pub floor_ms: i64,
    /// When the record was made.
    pub made_ms: i64,
    /// Random, and new whenever the record is made or changed: reveals that a store was emptied in the meantime.
    pub id: u128,
    /// The layout, as [`txid::snowflake::Layout`] writes it.
    pub layout: String,
}

impl Group {
    /// The floor while the group is being made: there are no leases yet.
    pub const UNSET: i64 = i64::MAX;

    /// Reads a record.
    ///
    /// ```
    /// use txid_agent_machines::lease::Group;
    ///
    /// let text = "txid-group 1 floor=0 made=1763719200000 id=000000000000000000000000000000ff layout=time_bits=41";
    /// assert_eq!(Group::parse(text.as_bytes())?.to_string(), text);
    /// # Ok::<(), txid_agent_machines::lease::BadRecord>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, BadRecord> {
        let bad = || BadRecord(bytes.escape_ascii().to_string().chars().take(200).collect());
        let fields = fields(bytes, FORMAT, 4).ok_or_else(bad)?;
        let [floor, made, id, layout] = fields[..] else { return Err(bad()) };
        let group = Self {
            floor_ms: number(floor, "floor=").ok_or_else(bad)?,
            made_ms: number(made, "made=").ok_or_else(bad)?,
            id: id.strip_prefix("id=").and_then(|hex| u128::from_str_radix(hex, 16).ok()).ok_or_else(bad)?,
            layout: layout.strip_prefix("layout=").ok_or_else(bad)?.to_string(),
        };
        if group.to_string().as_bytes() == bytes { Ok(group) } else { Err(bad()) }
    }

    /// The key of the group's record.
    pub fn key(group: &str) -> String {
        format!("{group}/meta")
    }

    /// The key of a record that changes when a node is given back: whoever waits for one reads it, and not all nodes.
    pub fn freed_key(group: &str) -> String {
        format!("{group}/freed")
    }

    /// A content of that record that it did not have before.
    pub fn freed(token: u128) -> String {
        format!("txid-freed 1 token={token:032x}")
    }

    /// The prefix of the keys of the group's nodes.
    pub fn nodes(group: &str) -> String {
        format!("{group}/node/")
    }

    /// The key of a node's record.
    pub fn node_key(group: &str, node: u64) -> String {
        format!("{group}/node/{node}")
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { floor_ms, made_ms, id, layout } = self;
        write!(f, "{FORMAT} floor={floor_ms} made={made_ms} id={id:032x} layout={layout}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_records_are_refused() {
        let text = "txid-group 1 floor=5 made=1763719200000 id=000000000000000000000000000000ff layout=a b";
        assert_eq!(Group::parse(text.as_bytes()).map(|group| group.layout), Ok("a b".to_owned()));
        for (old, new) in [
            ("group 1", "group 2"),
            ("floor=5", "floor=05"),
            ("floor", "ground"),
            ("made=1", "made=x"),
            ("00ff", "ff"),
            ("id=", "ad="),
            ("layout=", "form="),
            (" layout=a b", ""),
            ("a b", "a\tb"),
        ] {
            let wrong = text.replace(old, new);
            let error = Group::parse(wrong.as_bytes()).unwrap_err().to_string();
            let shown = wrong.as_bytes().escape_ascii();
            assert_eq!(error, format!("'{shown}' is not a record of this version of txid-agent"));
        }
        let long = Group::parse(&[b'x'; 201]).unwrap_err();
        assert_eq!(long, BadRecord("x".repeat(200)));
    }

    /// Agents of other versions look for them.
    #[test]
    fn keys_and_contents() {
        let keys = [Group::key("a"), Group::freed_key("a"), Group::nodes("a"), Group::node_key("a", 7)];
        assert_eq!(keys, ["a/meta", "a/freed", "a/node/", "a/node/7"]);
        assert_eq!(Group::freed(255), "txid-freed 1 token=000000000000000000000000000000ff");
        assert_eq!(Group::UNSET, i64::MAX);
    }
}
