//! The requests, answers, writes and reports of a segment's machine.

use crate::protocol;
use crate::store::{StoreError, Taken};
use std::fmt;
use std::ops::Range;
use txid::segment::SegmentNews;

/// The input of a step.
pub type Input = protocol::Input<Answer>;

/// What to do next.
pub type Output = protocol::Output<Request, Write, Event, Failure>;

/// The contents of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// How many numbers are left in the current range.
    pub left: u64,
    /// How many numbers the next range has.
    pub next: u64,
    /// Whether there is room for a range.
    pub wants: bool,
    /// The end of all granted ranges.
    pub granted: u64,
    /// The highest number that the store is known to have reached.
    pub seen: u64,
    /// How many ranges were granted.
    pub fetches: u64,
    /// How many numbers were taken last.
    pub step: u64,
    /// When the last range was taken.
    pub fetched_ms: i64,
}

/// A request to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Take a range of this size, or of the tag's own step.
    Take {
        /// How many.
        count: Option<u64>,
        /// The tag's number must not be below this.
        seen: u64,
    },
    /// Make the tag.
    Create(u64),
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The store answered.
    Taken(Taken),
    /// The store can lose a write that it has confirmed, and nobody said that this is known. If a range was taken
    /// nevertheless, it is not used.
    MayLose(String),
    /// The tag exists.
    Created,
    /// The store may or may not have done it.
    Failed(StoreError),
}

/// A write to the page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// The store has reached this number.
    See(u64),
    /// How many numbers were taken from the store, and when.
    Step(u64, i64),
    /// Grants these numbers to all users of the page.
    Publish(Range<u64>),
    /// How many numbers are taken in a thousand seconds.
    Rate(u64),
    /// The store answered, at this time.
    Contact(i64),
    /// A request failed.
    Failure,
    /// The reason that callers get if there is no number.
    News(SegmentNews),
}

/// Events for the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The first range has arrived, or the first one after trouble.
    Serving(Range<u64>),
    /// The page has numbers left from before this agent started.
    Resumed(u64),
    /// The tag was made.
    Created,
    /// The step has changed.
    Step {
        /// The old step.
        from: u64,
        /// The new step.
        to: u64,
    },
    /// The store did not answer, or not as it should.
    Failed(StoreError),
    /// The store has no such tag.
    NoTag,
    /// The store's number is lower than it was.
    WentDown {
        /// The number now.
        number: u64,
        /// The highest number before.
        seen: u64,
    },
    /// The store can lose a write that it has confirmed.
    MayLose(String),
    /// The store's number cannot go higher.
    Ended,
}

/// Why no numbers will be taken until somebody intervenes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The store has no such tag, and nothing is left of it here.
    NoTag,
    /// The store can lose a write that it has confirmed, and nothing was taken from it yet.
    MayLose(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving(range) => write!(f, "numbers from {} on", range.start),
            Self::Resumed(left) => write!(f, "{left} numbers left from before"),
            Self::Created => f.write_str("made the tag"),
            Self::Step { from, to } => write!(f, "now takes {to} numbers at a time, instead of {from}"),
            Self::Failed(error) => write!(f, "cannot take numbers: {error}"),
            Self::NoTag => f.write_str("the store has no such tag"),
            Self::WentDown { number, seen } => write!(
                f,
                "ALARM: the store's number is {number} and was {seen}, as after a restored backup. No numbers are taken, because \
                 they would repeat; raise it with txid-agent raise-number"
            ),
            Self::MayLose(why) => write!(f, "ALARM: {}", may_lose(why)),
            Self::Ended => f.write_str("ALARM: the store's number cannot go higher"),
        }
    }
}

/// The operator's part when a store forgets.
fn may_lose(why: &str) -> String {
    format!(
        "the store can lose a write that it has confirmed ({why}). No numbers are taken, because they could repeat; change \
         that and restart the agent, or add ?may-lose-writes=1 to the URL to accept the risk, or =0 if it loses none"
    )
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTag => f.write_str("the store has no such tag; make it with --create, or as docs/segments.md says"),
            Self::MayLose(why) => f.write_str(&may_lose(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_log_says() {
        const LOSES: &str = "the store can lose a write that it has confirmed (appendonly no). No numbers are taken, because they \
                             could repeat; change that and restart the agent, or add ?may-lose-writes=1 to the URL to accept the \
                             risk, or =0 if it loses none";
        let why = || "appendonly no".to_owned();
        let away = StoreError::TimedOut { store: "here".to_owned(), ms: 3000 };
        for (event, wanted) in [
            (Event::Serving(7..27), "numbers from 7 on"),
            (Event::Resumed(7), "7 numbers left from before"),
            (Event::Created, "made the tag"),
            (Event::Step { from: 100, to: 200 }, "now takes 200 numbers at a time, instead of 100"),
            (Event::Failed(away), "cannot take numbers: here did not answer within 3000 ms"),
            (Event::NoTag, "the store has no such tag"),
            (
                Event::WentDown { number: 100, seen: 101 },
                "ALARM: the store's number is 100 and was 101, as after a restored backup. No numbers are taken, because they \
                 would repeat; raise it with txid-agent raise-number",
            ),
            (Event::MayLose(why()), &*format!("ALARM: {LOSES}")),
            (Event::Ended, "ALARM: the store's number cannot go higher"),
        ] {
            assert_eq!(event.to_string(), wanted);
        }
        let failures = [Failure::NoTag, Failure::MayLose(why())].map(|failure| failure.to_string());
        assert_eq!(failures, ["the store has no such tag; make it with --create, or as docs/segments.md says", LOSES]);
    }
}
