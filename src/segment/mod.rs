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
//! assert_eq!(invoices.take()?, 1000);
//! assert_eq!(invoices.take()?, 1001);
//! assert!(invoices.take().is_err());
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "segment")]
mod ranges;
#[cfg(feature = "segment")]
mod segment_page;
mod used_up;

#[cfg(feature = "segment")]
pub use segment_page::{Segment, SegmentError, SegmentPage, SegmentStats};
pub use used_up::{SegmentNews, UsedUp};

#[cfg(all(test, loom))]
mod tests {
    mod every_order;
}
