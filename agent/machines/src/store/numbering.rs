//! The source of the numbers of new nodes.
//!
//! UidGenerator and Leaf each count their nodes up, and never give out a number twice. If an agent takes its numbers
//! from the same counter, both can run at the same time and never share a node.

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
    /// use txid_agent_machines::store::Numbering;
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

    /// The name in messages.
    pub fn place(self) -> &'static str {
        match self {
            Self::Own => "txid-agent",
            Self::WorkerNode => "the table WORKER_NODE",
            Self::LeafForever => "Leaf's path",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_has_no_colon_before_it() {
        assert!(Numbering::parse("sonyflake").is_ok());
        assert!(Numbering::parse(":sonyflake").is_err());
    }

    #[test]
    fn each_numbering_has_a_name_a_place_and_a_layout() {
        use Numbering::{LeafForever, Own, WorkerNode};
        let of = |text| Numbering::parse(text).unwrap();
        assert_eq!([of("worker_node"), of("leaf_forever")], [(WorkerNode, Layout::UID), (LeafForever, Layout::LEAF)]);
        assert_eq!(of("leaf_forever:sonyflake"), (LeafForever, Layout::SONYFLAKE));
        assert_eq!([Own, WorkerNode, LeafForever].map(Numbering::name), ["", "worker_node", "leaf_forever"]);
        let places = ["txid-agent", "the table WORKER_NODE", "Leaf's path"];
        assert_eq!([Own, WorkerNode, LeafForever].map(Numbering::place), places);
        assert_eq!(of("time_bits=41,node_bits=10,sequence_bits=12,epoch=2020-01-01T00:00:00Z").0, Own);
    }
}
