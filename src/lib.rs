//! Ids of 20 characters that sort by time: 42 bits of milliseconds and 54 of entropy, in base32hex.
//!
//! ```
//! let id = txid::Txid::now();
//! assert_eq!(id.to_string().len(), 20);
//! ```
//!
//! Any thread and any child process may make ids at any time: `docs/design.md` says what is promised, and why. Functions
//! that end in `_by` take the caller's reading of the clock. With the feature `serde`, an id is serialized as its text.

#![warn(missing_docs)]

mod cuid;
mod flake;
mod format;
pub mod formats;
pub mod hidden;
mod ksuid;
mod maker;
mod nanoid;
mod objectid;
pub mod request;
pub mod segment;
#[cfg(feature = "serde")]
mod serde;
mod series;
mod shared;
pub mod snowflake;
mod source;
mod text;
pub mod time_in;
pub mod trace;
mod txid;
mod typeid;
mod ulid;
mod unique_id;
pub mod uuid;
mod xid;

pub use flake::Flake;
pub use hidden::Hidden;
pub use ksuid::Ksuid;
pub use maker::{Made, Maker, MakerError, NoId};
pub use series::Series;
pub use shared::{FileError, PageError};
pub use source::clock::{coarse_ms, system_ms};
pub use source::entropy::entropy_degraded;
pub use source::host::{host_ipv4, host_ipv6};
pub use source::mac::read_mac;
pub use text::{FormatError, ParseError};
pub use txid::{Guessable, Txid};
pub use ulid::Ulid;
pub use unique_id::{UniqueId, UniqueIdMaker};
pub use xid::Xid;

// Runs the examples of the guide as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
mod guide {}
