//! Ids of 20 characters that sort by time: 42 bits of milliseconds and 54 of entropy, in base32hex.
//!
//! ```
//! let id = txid::Txid::now();
//! assert_eq!(id.to_string().len(), 20);
//! ```
//!
//! Any thread and any child process may make ids at any time: `docs/dev/design.md` says what is promised, and why. Functions
//! that end in `_by` take the caller's reading of the clock. With the feature `serde`, an id is serialized as its text.

#![warn(missing_docs)]
// What a feature uses stays where it is without it.
#![cfg_attr(not(feature = "full"), allow(dead_code))]

pub mod formats;
#[cfg(feature = "hidden")]
pub mod hidden;
mod make;
mod maker;
#[cfg(feature = "request")]
pub mod request;
pub mod segment;
#[cfg(feature = "serde")]
mod serde;
#[cfg(any(feature = "segment", feature = "snowflake"))]
mod shared;
pub mod snowflake;
mod source;
mod text;
pub mod time_in;
pub mod trace;
pub mod uuid;

#[cfg(feature = "hidden")]
pub use hidden::Hidden;
pub use make::flake::Flake;
pub use make::generator::LocalGenerator;
pub use make::ksuid::Ksuid;
pub use make::stamp::TimeError;
pub use make::txid::{Guessable, Txid};
pub use make::ulid::Ulid;
pub use make::unique_id::{UniqueId, UniqueIdProcess};
pub use make::xid::Xid;
pub use maker::{Made, Maker, MakerError, NotMade};
#[cfg(any(feature = "segment", feature = "snowflake"))]
pub use shared::{FileError, PageError};
pub use source::clock::system_ms;
pub use source::entropy::entropy_degraded;
pub use text::{FormatError, FormatErrorKind};

/// What options of formats are made from, for programs that read such options themselves.
pub mod system {
    pub use crate::source::clock::coarse_ms;
    #[cfg(feature = "host")]
    pub use crate::source::host::{host_ipv4, host_ipv6};
    pub use crate::source::mac::read_mac;
}

// Runs the examples of the guide as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
mod guide {}
