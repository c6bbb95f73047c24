//! The phases of a lease. Each has the data that it needs, and nothing else has it.
//!
//! | phase | what it asks the store for | leads to |
//! |---|---|---|
//! | Meeting | the record of the group | Founding, if it is missing or has no floor yet; Judging, if the page has a lease; else Choosing |
//! | Founding | to write that record | Meeting |
//! | Choosing | the list of nodes | Taking; Numbering, if no node is free; Waiting, if there never is one |
//! | Numbering | the number of a new node | Taking; Waiting, if there are no more |
//! | Waiting | the record that changes when a node is given back | Meeting, if it has changed, or a lease may have ended; else Waiting after a pause |
//! | Taking | to write the node's record | Confirming; Choosing, if another host was faster; Settling, if nobody knows |
//! | Settling | that record | Confirming, if it was written; else Choosing |
//! | Confirming | the record of the group again | Holding; Meeting, if the store was emptied in the meantime |
//! | Holding | to write a later limit | Holding; Judging, if the record is not the expected one, or nobody knows; Meeting, if another host may have the node |
//! | Judging | the node's record | Holding; Meeting, if the node is another host's now |
//! | Releasing | to write that the node is free | Telling; Ended after some failures |
//! | Telling | the record that others wait for, and then to change it | Ended, whatever the answer |
//! | Ended | nothing | |
//!
//! From all of these, a stop leads to Releasing if there is a lease, else to Ended. A clock that jumped leads from
//! Holding to Judging. A request that failed is made again after a backoff.

use super::choose::NoneFree;
use super::group::Group;
use super::protocol::PageView;
use super::record::NodeRecord;
use super::rules::Rules;
use crate::store::{Expected, Version};

/// What to do next; if that is a request, also what the next answer belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Meeting {
        /// The lease of the agent before this one.
        found: Option<Held>,
    },
    Founding {
        group: Group,
        expected: Expected,
        found: Option<Held>,
    },
    Choosing,
    Numbering {
        none: NoneFree,
    },
    Waiting {
        /// When a lease may have ended, by the monotonic clock.
        until_ms: u64,
    },
    Taking(Candidate),
    Settling(Candidate),
    Confirming(Candidate),
    Holding(Held),
    Judging(Held),
    Releasing {
        held: Held,
        failures: u32,
    },
    Telling {
        /// What the record is, once it was read.
        found: Option<Expected>,
    },
    #[default]
    Ended,
}

/// A node that this host takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    /// The lease, once it is written.
    pub(super) held: Held,
    /// What the node's record must be before.
    pub(super) expected: Expected,
    /// The time of the first id.
    pub(super) start_ms: i64,
}

/// A node that this host has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) node: u64,
    pub(super) generation: u64,
    pub(super) token: u128,
    /// The last one that the store confirmed.
    pub(super) limit_ms: i64,
    /// One that may be in the store, or may still arrive there.
    pub(super) pending_ms: Option<i64>,
    pub(super) stored: Stored,
}

/// What is known of the record of a node that this host has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stored {
    /// It has to be read first.
    Unknown,
    /// It has the confirmed limit, and this version.
    Confirmed(Version),
    /// The store has lost that limit. What it has instead.
    Lost(Expected),
}

impl Phase {
    pub(super) fn held(&self) -> Option<&Held> {
        match self {
            Self::Meeting { found } | Self::Founding { found, .. } => found.as_ref(),
            Self::Holding(held) | Self::Judging(held) | Self::Releasing { held, .. } => Some(held),
            Self::Choosing
            | Self::Numbering { .. }
            | Self::Waiting { .. }
            | Self::Taking(_)
            | Self::Settling(_)
            | Self::Confirming(_)
            | Self::Telling { .. }
            | Self::Ended => None,
        }
    }
}

impl Held {
    /// The lease that is in the page, if there is one.
    pub(super) fn found(page: &PageView) -> Option<Self> {
        (page.generation > 0).then_some(Self {
            node: page.node,
            generation: page.generation,
            token: page.token,
            limit_ms: page.limit_ms,
            pending_ms: (page.noted_ms > page.limit_ms).then_some(page.noted_ms),
            stored: Stored::Unknown,
        })
    }

    pub(super) fn record(&self, rules: &Rules, limit_ms: i64, held: bool) -> NodeRecord {
        let Self { generation, token, .. } = *self;
        NodeRecord { generation, limit_ms, token, held, owner: rules.owner.clone() }
    }

    /// Whether the record is of the same lease. The owner's name does not matter: two hosts may have the same.
    pub(super) fn is(&self, found: &NodeRecord) -> bool {
        found.held && (self.generation, self.token) == (found.generation, found.token)
    }
}
