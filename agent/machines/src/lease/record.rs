//! The record of a node: one line of text that people can read.

use std::fmt;

const FORMAT: &str = "txid-lease 1";

/// The holder of a node, and its limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeRecord {
    /// How often the node has been taken.
    pub generation: u64,
    /// No id has been stamped with this time or a later one, in milliseconds since 1970-01-01 UTC.
    pub limit_ms: i64,
    /// Random, and new whenever the node is taken: tells apart holders with the same name.
    pub token: u128,
    /// Whether a host holds the node. Otherwise the last holder gave it back, and the next one starts at the limit.
    pub held: bool,
    /// The name of the holder, or of the last one.
    pub owner: String,
}

impl NodeRecord {
    /// Reads a record.
    ///
    /// ```
    /// use txid_agent_machines::lease::NodeRecord;
    ///
    /// let text = "txid-lease 1 generation=7 limit=1763719200000 token=000000000000000000000000000000ff held owner=web 1";
    /// let record = NodeRecord::parse(text.as_bytes())?;
    /// assert_eq!((record.generation, record.token, record.held, record.owner.as_str()), (7, 255, true, "web 1"));
    /// assert_eq!(record.to_string(), text);
    /// # Ok::<(), txid_agent_machines::lease::BadRecord>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, BadRecord> {
        let bad = || BadRecord(bytes.escape_ascii().to_string().chars().take(200).collect());
        let fields = fields(bytes, FORMAT, 5).ok_or_else(bad)?;
        let [generation, limit, token, held, owner] = fields[..] else { return Err(bad()) };
        let record = Self {
            generation: number(generation, "generation=").ok_or_else(bad)?,
            limit_ms: number(limit, "limit=").ok_or_else(bad)?,
            token: token.strip_prefix("token=").and_then(|hex| u128::from_str_radix(hex, 16).ok()).ok_or_else(bad)?,
            held: held == "held",
            owner: owner.strip_prefix("owner=").ok_or_else(bad)?.to_string(),
        };
        // Each record has exactly one text, because stores compare the text.
        if record.to_string().as_bytes() == bytes { Ok(record) } else { Err(bad()) }
    }
}

impl fmt::Display for NodeRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, limit_ms, token, held, owner } = self;
        let held = if *held { "held" } else { "released" };
        write!(f, "{FORMAT} generation={generation} limit={limit_ms} token={token:032x} {held} owner={owner}")
    }
}

/// The `count` fields after the name of the format. The last one may contain spaces.
pub(super) fn fields<'a>(bytes: &'a [u8], format: &str, count: usize) -> Option<Vec<&'a str>> {
    let text = std::str::from_utf8(bytes).ok()?.strip_prefix(format)?.strip_prefix(' ')?;
    // No agent writes such a record, and a terminal may show it.
    if text.chars().any(char::is_control) {
        return None;
    }
    Some(text.splitn(count, ' ').collect())
}

pub(super) fn number<T: std::str::FromStr>(field: &str, name: &str) -> Option<T> {
    field.strip_prefix(name)?.parse().ok()
}

/// The store's record is not one that this version can read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BadRecord(pub String);

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a record of this version of txid-agent", self.0)
    }
}

impl std::error::Error for BadRecord {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_records_are_refused() {
        let text = "txid-lease 1 generation=7 limit=1763719200000 token=000000000000000000000000000000ff held owner=a";
        assert!(NodeRecord::parse(text.as_bytes()).is_ok());
        for wrong in [
            "",
            "txid-lease 2 generation=7 limit=1763719200000 token=000000000000000000000000000000ff held owner=a",
            &text.replace("held", "hold"),
            &text.replace("=7", "=+7"),
            &text.replace("=7", "=07"),
            &text.replace("=7", "=-7"),
            &text.replace("00ff", "ff"),
            &text.replace("ff", "FF"),
            &text.replace("owner", "name"),
            &text.replace("limit=1763719200000", "limit=99999999999999999999"),
            &text[..text.len() - 9],
            &format!("{text}\n"),
            &format!("{text}\u{1b}[2J"),
        ] {
            let error = NodeRecord::parse(wrong.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(&wrong.as_bytes().escape_ascii().to_string()), "{wrong}");
        }
        assert!(NodeRecord::parse(b"\xff").is_err());
        assert_eq!(NodeRecord::parse(&[b'x'; 201]), Err(BadRecord("x".repeat(200))));
    }
}
