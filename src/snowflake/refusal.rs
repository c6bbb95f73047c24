//! Why there is no id now.

use crate::text::civil::Moment;
use crate::text::error_texts;
use std::fmt;
use std::path::Path;

/// Why there is no id now. Nothing waits: the caller decides, and the next call may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The clock was stepped back from the last time used by more than the drift allows.
    ClockBehind {
        /// The last time used, in milliseconds since 1970-01-01 UTC.
        last_ms: i64,
        /// The clock's reading.
        clock_ms: i64,
    },
    /// All ids are used up, as far ahead of the clock as the drift allows.
    Exhausted {
        /// The last time used, in milliseconds since 1970-01-01 UTC.
        last_ms: i64,
        /// The clock's reading.
        clock_ms: i64,
    },
    /// The clock reads a time before the layout's epoch.
    BeforeEpoch {
        /// The epoch, in milliseconds since 1970-01-01 UTC.
        epoch_ms: i64,
        /// The clock's reading.
        clock_ms: i64,
    },
    /// The layout's time bits are used up.
    Ended {
        /// The layout's last millisecond.
        end_ms: i64,
        /// The clock's reading.
        clock_ms: i64,
    },
    /// The node is leased, and the lease has ended.
    Unleased(Unleased),
}

impl Refusal {
    /// The reason as one word, for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ClockBehind { .. } => "clock-behind",
            Self::Exhausted { .. } => "exhausted",
            Self::BeforeEpoch { .. } => "before-epoch",
            Self::Ended { .. } => "layout-ended",
            Self::Unleased(Unleased { news: LeaseNews::Held, ended_ms: Some(_), .. }) => "lease-ended",
            Self::Unleased(Unleased { news: LeaseNews::Held, .. }) => "no-lease",
            Self::Unleased(Unleased { news, .. }) => news.name(),
        }
    }
}

error_texts! { Refusal {
    Self::ClockBehind { last_ms, clock_ms } =>
        "the clock reads {}, {} ms behind the last time used, {}; ids continue when it has caught up",
        Moment(*clock_ms), last_ms.saturating_sub(*clock_ms), Moment(*last_ms);
    Self::Exhausted { last_ms, clock_ms } =>
        "all ids of the layout up to {} are used up, and the clock reads {}", Moment(*last_ms), Moment(*clock_ms);
    Self::BeforeEpoch { epoch_ms, clock_ms } =>
        "the clock reads {}, and the layout begins at {}", Moment(*clock_ms), Moment(*epoch_ms);
    Self::Ended { end_ms, clock_ms } =>
        "the clock reads {}, and the layout ended at {}", Moment(*clock_ms), Moment(*end_ms);
    Self::Unleased(unleased) => "{unleased}";
} }

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

/// What an agent reports about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseNews {
    /// It has not done anything yet.
    Starting,
    /// There is a lease, which is renewed in time.
    Held,
    /// Another host has the node.
    Lost,
    /// The machine was copied while it ran.
    Copied,
    /// The clock was stepped, or the agent or its machine was stopped: the agent asks the store before it continues.
    Asking,
    /// The store has no record of the group, so it may have lost leases.
    Waiting,
    /// All nodes are taken.
    NoneFree,
    /// The clock is too far off the store's.
    ClockOff,
    /// The agent was stopped, and gave the node back.
    Released,
}

impl LeaseNews {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Starting,
        Self::Held,
        Self::Lost,
        Self::Copied,
        Self::Asking,
        Self::Waiting,
        Self::NoneFree,
        Self::ClockOff,
        Self::Released,
    ];

    /// The report as one word, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Held => "held",
            Self::Lost => "lost",
            Self::Copied => "copied",
            Self::Asking => "asking",
            Self::Waiting => "waiting",
            Self::NoneFree => "none-free",
            Self::ClockOff => "clock-off",
            Self::Released => "released",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_why() {
        let ms = 1_700_000_000_000;
        for (refusal, name, expected) in [
            (
                Refusal::ClockBehind { last_ms: ms + 20_000, clock_ms: ms },
                "clock-behind",
                "the clock reads 2023-11-14T22:13:20.000Z, 20000 ms behind the last time used, 2023-11-14T22:13:40.000Z; \
                 ids continue when it has caught up",
            ),
            (
                Refusal::Exhausted { last_ms: ms + 10_000, clock_ms: ms },
                "exhausted",
                "all ids of the layout up to 2023-11-14T22:13:30.000Z are used up, and the clock reads \
                 2023-11-14T22:13:20.000Z",
            ),
            (
                Refusal::BeforeEpoch { epoch_ms: ms + 1, clock_ms: ms },
                "before-epoch",
                "the clock reads 2023-11-14T22:13:20.000Z, and the layout begins at 2023-11-14T22:13:20.001Z",
            ),
            (
                Refusal::Ended { end_ms: ms - 1, clock_ms: ms },
                "layout-ended",
                "the clock reads 2023-11-14T22:13:20.000Z, and the layout ended at 2023-11-14T22:13:19.999Z",
            ),
        ] {
            assert_eq!((refusal.name(), refusal.to_string().as_str()), (name, expected));
        }
    }
}
