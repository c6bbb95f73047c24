//! The source of the numbers of new nodes.
//!
//! UidGenerator and Leaf each count their nodes up, and never give out a number twice. An agent that takes its numbers
//! from the same counter shares none of theirs, while both run.

use super::StoreError;
use super::url::Place;
use txid::snowflake::Layout;

/// What numbers the nodes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbering {
    /// The agents themselves: any number of the layout may be taken.
    Own,
    /// UidGenerator's table, in MySQL or PostgreSQL.
    WorkerNode,
    /// Leaf's path in ZooKeeper.
    LeafForever,
}

/// The number of a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbered {
    /// Nobody has had it, and nobody else will get it.
    Node(u64),
    /// The numbers are above the layout's last node.
    UsedUp,
}

impl Numbering {
    const ALL: [Self; 3] = [Self::Own, Self::WorkerNode, Self::LeafForever];

    /// The word for it on the command line: `worker_node`, `leaf_forever`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::WorkerNode => "worker_node",
            Self::LeafForever => "leaf_forever",
        }
    }

    /// Reads `worker_node`, with UidGenerator's default layout; `worker_node:LAYOUT`; or a layout alone.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    /// use txid_agent::store::Numbering;
    ///
    /// assert_eq!(Numbering::parse("leaf_forever")?, (Numbering::LeafForever, Layout::LEAF));
    /// assert_eq!(Numbering::parse("worker_node:snowflake")?, (Numbering::WorkerNode, Layout::SNOWFLAKE));
    /// assert_eq!(Numbering::parse("sonyflake")?, (Numbering::Own, Layout::SONYFLAKE));
    /// # Ok::<(), txid::snowflake::LayoutError>(())
    /// ```
    pub fn parse(text: &str) -> Result<(Self, Layout), txid::snowflake::LayoutError> {
        // An epoch may contain colons as well.
        let (name, layout) = text.split_once(':').map_or((text, None), |(name, layout)| (name, Some(layout)));
        let numbering = Self::ALL.into_iter().find(|known| *known != Self::Own && known.name() == name);
        Ok(match (numbering, layout) {
            (None, _) => (Self::Own, text.parse()?),
            (Some(numbering), Some(layout)) => (numbering, layout.parse()?),
            (Some(Self::WorkerNode), None) => (Self::WorkerNode, Layout::UID),
            (Some(numbering), None) => (numbering, Layout::LEAF),
        })
    }

    /// Whether a store with this URL can have such numbers.
    pub fn is_in(self, url: &str) -> bool {
        let scheme = url.split("://").next().unwrap_or("");
        match self {
            Self::Own => true,
            Self::WorkerNode => ["mysql", "mariadb", "postgres", "postgresql"].contains(&scheme),
            Self::LeafForever => scheme == "zookeeper",
        }
    }

    /// The name in messages.
    pub fn place(self) -> &'static str {
        match self {
            Self::Own => "txid-agent",
            Self::WorkerNode => "the table WORKER_NODE",
            Self::LeafForever => "Leaf's path",
        }
    }
}

pub(super) const WORKER_NODE: &str = "WORKER_NODE";

/// As in UidGenerator's mapper. Type 2 is a host, as opposed to a container.
pub(super) fn insert(name: &str, port: &str) -> String {
    format!(
        "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ({name}, {port}, 2, \
         CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
    )
}

/// The contents of the columns `HOST_NAME` and `PORT`. UidGenerator does not search them.
pub(super) fn host_and_port(owner: &str, group: &str) -> (String, String) {
    let cut = |text: &str| text.chars().take(64).collect();
    (cut(owner), cut(&format!("txid-{group}")))
}

pub(super) fn no_table(place: &Place) -> StoreError {
    place.misconfigured(
        "it has no table WORKER_NODE: name the database that UidGenerator uses, or make the table as its WORKER_NODE.sql does",
    )
}

/// The name in Leaf's path: `NAME:txid-0000000012`. Leaf splits it at hyphens and reads the part after the first as the
/// number, so the name must not have any; and no Leaf server has the port `txid`, so none takes the number for its own.
pub(super) fn leaf_child(owner: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' };
    format!("{}:txid-", owner.chars().map(plain).collect::<String>())
}

/// The content, as Leaf writes and reads it.
pub(super) fn leaf_content(owner: &str, now_ms: i64) -> String {
    serde_json::json!({ "ip": owner, "port": "txid", "timestamp": now_ms }).to_string()
}

/// The number at the end of a child's name.
pub(super) fn leaf_number(child: &str) -> Option<u64> {
    child.rsplit_once('-')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Leaf's SnowflakeZookeeperHolder reads all names below its path.
    fn as_leaf_reads(child: &str) -> (&str, i32) {
        let mut parts = child.split('-');
        (parts.next().unwrap(), parts.next().unwrap().parse().unwrap())
    }

    #[test]
    fn leaf_can_read_the_name_of_any_host() {
        for (owner, name) in [
            ("web-3", "web_3:txid"),
            ("10.0.0.7", "10.0.0.7:txid"),
            ("10.0.0.7:8080", "10.0.0.7_8080:txid"),
            ("a/b \u{e9}-", "a_b___:txid"),
        ] {
            let child = leaf_child(owner) + "0000000012";
            assert_eq!(as_leaf_reads(&child), (name, 12));
            assert_eq!(leaf_number(&child), Some(12));
        }
        assert_eq!(leaf_number("10.0.0.7:8080-0000001023"), Some(1023));
        assert_eq!(leaf_number("born"), None);
    }

    #[test]
    fn the_columns_have_room() {
        let (host, port) = host_and_port(&"\u{e9}".repeat(200), &"g".repeat(64));
        assert_eq!((host.chars().count(), port.chars().count()), (64, 64));
    }
}
