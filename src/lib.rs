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
mod clock;
mod entropy;
pub mod ffi;
#[cfg(feature = "serde")]
mod serde;
mod txid;

pub use clock::system_ms;
pub use entropy::entropy_degraded;
pub use txid::{ParseError, Txid};
