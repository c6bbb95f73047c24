//! A node that `txid-agent` leases: the page says until when, and the agent extends it.
//!
//! Code that makes ids only reads the page, and never waits. The agent writes to it through a [`LeasePage`].

mod page;
mod words;

#[cfg(test)]
mod every_order;

pub(super) use page::Lease;
pub use page::{LeaseNews, LeasePage, LeaseView};

use crate::text::civil::Moment;
use std::fmt;
use std::path::Path;

/// Why there is no lease now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unleased {
    /// The file of the lease.
    pub path: Option<&'static Path>,
    /// When the lease ended, in milliseconds since 1970-01-01 UTC; None if there was none.
    pub ended_ms: Option<i64>,
    /// When the agent last had an answer from its store, in milliseconds since 1970-01-01 UTC.
    pub contact_ms: Option<i64>,
    /// What the agent last reported.
    pub news: LeaseNews,
}

impl fmt::Display for Unleased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.and_then(Path::file_name).map_or("this process".into(), |name| name.to_string_lossy());
        match self.ended_ms {
            Some(ms) => write!(f, "the lease of {name} ended at {}; ", Moment(ms))?,
            None => write!(f, "{name} has no lease; ")?,
        }
        match (self.news, self.contact_ms) {
            (LeaseNews::Starting | LeaseNews::Held, Some(ms)) => {
                write!(f, "txid-agent last reached its store at {}", Moment(ms))
            }
            (LeaseNews::Starting | LeaseNews::Held, None) => f.write_str("txid-agent has not reached its store yet"),
            (LeaseNews::Lost, _) => f.write_str("another host took the node, and txid-agent is taking a new one"),
            (LeaseNews::Copied, _) => {
                f.write_str("this machine was copied while it ran, and txid-agent is taking a new node")
            }
            (LeaseNews::Asking, _) => {
                f.write_str("the clock was stepped or the machine was stopped, and txid-agent is asking its store")
            }
            (LeaseNews::Waiting, _) => f.write_str(
                "the store was new or empty, and txid-agent waits until leases that it may have lost have expired",
            ),
            (LeaseNews::NoneFree, _) => f.write_str("all nodes are taken"),
            (LeaseNews::ClockOff, _) => f.write_str("the clock of this host is too far off the store's"),
            (LeaseNews::Released, _) => f.write_str("txid-agent gave the node back when it was stopped"),
        }
    }
}
