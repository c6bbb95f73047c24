//! The events of a lease, for the log.

use super::choose::NoneFree;
use super::record::BadRecord;
use crate::store::{Numbering, StoreError};
use crate::utc;
use std::fmt;

/// A change of state: one line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// This host has taken a node.
    Taken {
        /// The node.
        node: u64,
        /// How often it has been taken.
        generation: u64,
        /// How many nodes were tried.
        tries: u32,
    },
    /// This host continues with the node that it had.
    Resumed(u64),
    /// The node was given back.
    Released(u64),
    /// The node could not be given back.
    NotReleased {
        /// The node.
        node: u64,
        /// When others may take it.
        free_ms: i64,
    },
    /// Another holder has the node.
    Lost {
        /// The node.
        node: u64,
        /// What its record says now.
        now: String,
    },
    /// Another process renewed the lease with this host's token.
    Cloned(u64),
    /// The store has an older record than the one it confirmed, or none.
    Forgotten {
        /// The node.
        node: u64,
        /// Whether no other host can have taken it in the meantime.
        is_ours: bool,
    },
    /// The store does not answer, or not as it should.
    StoreAway(StoreError),
    /// The store refuses one write after the other because of the record that is there, or does not keep them.
    Conflicts {
        /// Where.
        key: String,
        /// How many in a row.
        count: u32,
    },
    /// The store answers again.
    StoreBack,
    /// This host's clock differs from the store's by this much.
    ClockOff(i64),
    /// The clock agrees with the store's again.
    ClockRight,
    /// The clock was stepped, or this process or its machine was stopped, or copied.
    Jumped(i64),
    /// The table or path has no more numbers for this layout.
    UsedUp(Numbering),
    /// No node is free.
    NoneFree(NoneFree),
    /// The store has no record of the group.
    NewGroup(i64),
    /// The group has a floor that is not reached yet.
    Floor(i64),
    /// This host has made ids with times that its clock has not reached yet.
    Ahead(i64),
}

/// Why there can be no lease until somebody intervenes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The group has another layout.
    OtherLayout {
        /// The group.
        group: String,
        /// Its layout.
        found: String,
        /// The layout asked for.
        wanted: String,
    },
    /// The record of the group cannot be read.
    Group(BadRecord),
    /// The store failed at the start.
    Store(StoreError),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { node, generation, tries } => {
                let s = if *tries == 1 { "" } else { "s" };
                write!(f, "took node {node}, generation {generation}, after {tries} attempt{s}")
            }
            Self::Resumed(node) => write!(f, "continues with node {node}"),
            Self::Released(node) => write!(f, "gave node {node} back"),
            Self::NotReleased { node, free_ms } => write!(
                f,
                "could not give node {node} back; others take it from {} on, or after 'txid-agent release'",
                utc(*free_ms)
            ),
            Self::Lost { node, now } => write!(f, "lost node {node}: its record is now '{now}'; taking another node"),
            Self::Cloned(node) => write!(
                f,
                "this machine was copied while it ran: the other copy renewed the lease of node {node}; taking another \
                 node. Ids made since the copy may exist twice"
            ),
            Self::Forgotten { node, is_ours } => {
                let then = if *is_ours {
                    "writing it again"
                } else {
                    "another host may have had it since, so taking another node"
                };
                write!(
                    f,
                    "the store has lost a confirmed write for node {node}, as after a failover or a restored backup; \
                     {then}. Run 'txid-agent set-floor' before new hosts start"
                )
            }
            Self::StoreAway(error) => error.fmt(f),
            Self::Conflicts { key, count } => write!(
                f,
                "{count} writes in a row had no effect, the last one to {key}: the store refuses them, or does not keep them; \
                 check this user's permissions, and the table's character set"
            ),
            Self::StoreBack => f.write_str("the store answers again"),
            Self::ClockOff(by_ms) => {
                let (side, ms) = (if *by_ms > 0 { "ahead of" } else { "behind" }, by_ms.unsigned_abs());
                write!(f, "the clock is {ms} ms {side} the store's; no lease is taken or renewed until it is set")
            }
            Self::ClockRight => f.write_str("the clock agrees with the store's again"),
            Self::Jumped(by_ms) => {
                write!(f, "the clock or this process jumped by {by_ms} ms; asking the store before ids continue")
            }
            Self::UsedUp(numbering) => write!(
                f,
                "{} has used up the numbers of the layout; from now on, only nodes that other agents no longer use are taken",
                numbering.place()
            ),
            Self::NoneFree(NoneFree { nodes, live, unreadable, next }) => {
                write!(f, "all {nodes} nodes are taken, {live} by hosts that renew their leases")?;
                if *unreadable > 0 {
                    write!(f, "; this version cannot read the records of {unreadable}")?;
                }
                for (place, (node, ms)) in next.iter().enumerate() {
                    let lead = if place == 0 { "; free next: node" } else { "," };
                    write!(f, "{lead} {node} at {}", utc(*ms))?;
                }
                Ok(())
            }
            Self::NewGroup(from_ms) => write!(
                f,
                "the store had no such group, so it was made. Leases can be taken from {} on, because the store may have lost \
                 leases that other hosts have (--assume-unused-store skips this wait)",
                utc(*from_ms)
            ),
            Self::Floor(from_ms) => write!(
                f,
                "no lease can be taken before {}: the store was new or empty, or a floor was set",
                utc(*from_ms)
            ),
            Self::Ahead(from_ms) => write!(
                f,
                "no lease can be taken before {}: this host has made ids with times up to then, when its clock was ahead",
                utc(*from_ms)
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherLayout { group, found, wanted } => {
                write!(
                    f,
                    "the store has {group} with the layout {found}, not {wanted}; use another name or that layout"
                )
            }
            Self::Group(bad) => write!(f, "the record of the group is damaged: {bad}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scenarios show the other events.
    #[test]
    fn what_no_scenario_says() {
        let conflicts = Event::Conflicts { key: "orders/node/7".to_owned(), count: 6 };
        let wanted = "6 writes in a row had no effect, the last one to orders/node/7: the store refuses them, or does not keep them; \
                      check this user's permissions, and the table's character set";
        assert_eq!(conflicts.to_string(), wanted);
        let failure = Failure::Group(BadRecord("x".to_owned())).to_string();
        assert_eq!(failure, "the record of the group is damaged: 'x' is not a record of this version of txid-agent");
        assert_eq!(utc(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(utc(i64::MAX), "9223372036854775807 ms", "a time that is none");
    }
}
