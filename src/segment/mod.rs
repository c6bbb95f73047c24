//! Small, dense numbers from ranges that `txid-agent` takes from a database ahead of time.
//!
//! All processes of a host share a page with the current range and the next one, and take numbers from both without
//! asking the database. When both are used up, the call returns at once with a [`UsedUp`] that says why.
//!
//! ```
//! use txid::segment::{Segment, SegmentPage};
//!
//! # let directory = std::env::temp_dir().canonicalize()?.join(format!("txid-segment-doc-{}", std::process::id()));
//! # let path = directory.join("invoices.segment");
//! // What txid-agent does with a range that its store has granted:
//! let page = SegmentPage::open_or_make(&path)?;
//! page.publish(1000..1002);
//!
//! let invoices = Segment::attach(&path)?;
//! assert_eq!(invoices.next()?, 1000);
//! assert_eq!(invoices.next()?, 1001);
//! assert!(invoices.next().is_err());
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod page;
mod words;

#[cfg(test)]
mod every_order;

pub use page::{Segment, SegmentError, SegmentNews, SegmentPage, SegmentStats};

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
                "the number in the store went down, as after a restored backup; raise it with txid-agent raise",
            ),
            (SegmentNews::Ended, _) => f.write_str("the store has no more numbers"),
        }
    }
}

impl std::error::Error for UsedUp {}
