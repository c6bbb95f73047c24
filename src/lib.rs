//! Ids of 20 characters that sort by time and are never repeated: 42 bits of milliseconds, 54 bits of entropy, in
//! base32hex.
//!
//! ```
//! let id = txid::Txid::now();
//! assert_eq!(id.to_string().len(), 20);
//! ```
//!
//! Any thread may make ids at any time, and so may any child process: see the README for what is promised and why. The C
//! interface is in `include/txid.h`. With the feature `serde` an id is its text in what serde writes and reads.

#![warn(missing_docs)]

mod base32hex;
mod base62;
mod base64;
mod civil;
mod clock;
mod decimal;
mod entropy;
pub mod ffi;
mod flake;
mod format_error;
mod hex;
mod host;
mod laps;
mod node;
mod process;
#[cfg(feature = "serde")]
mod serde;
pub mod snowflake;
mod thread_number;
pub mod trace;
mod txid;
mod unique_id;
pub mod uuid;

pub use clock::system_ms;
pub use entropy::entropy_degraded;
pub use flake::Flake;
pub use format_error::FormatError;
pub use host::host_ipv4;
pub use txid::{Guessable, ParseError, Txid};
pub use unique_id::{UniqueId, UniqueIdMaker};
