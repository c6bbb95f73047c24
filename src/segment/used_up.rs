//! Why there is no number now.

use crate::text::civil::Moment;
use std::fmt;
use std::path::Path;

/// Both ranges are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// The page's file.
    pub path: Option<&'static Path>,
    /// When the agent last had an answer from its store, in milliseconds since 1970-01-01 UTC.
    pub contact_ms: Option<i64>,
    /// What the agent last reported.
    pub news: SegmentNews,
}

impl fmt::Display for UsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.and_then(Path::file_stem).map_or("this page".into(), |name| name.to_string_lossy());
        write!(f, "the numbers of {name} are used up; ")?;
        match (self.news, self.contact_ms) {
            (SegmentNews::Serving, Some(ms)) => write!(f, "txid-agent last reached its store at {}", Moment(ms)),
            (SegmentNews::Serving, None) => f.write_str("txid-agent has not reached its store yet"),
            (SegmentNews::NoTag, _) => f.write_str("the store has no such tag"),
            (SegmentNews::WentDown, _) => f.write_str(
                "the number in the store went down, as after a restored backup; raise it with txid-agent raise-number",
            ),
            (SegmentNews::Ended, _) => f.write_str("the store has no more numbers"),
        }
    }
}

impl std::error::Error for UsedUp {}

/// What an agent reports about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentNews {
    /// It takes ranges when they are needed.
    Serving,
    /// The store has no such tag.
    NoTag,
    /// The number in the store is lower than one it had before. Nothing is taken until it is raised.
    WentDown,
    /// The 63-bit numbers are used up.
    Ended,
}

impl SegmentNews {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Serving, Self::NoTag, Self::WentDown, Self::Ended];

    /// The state as one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::NoTag => "no-tag",
            Self::WentDown => "went-down",
            Self::Ended => "ended",
        }
    }
}
