//! How ids and times are written and read.

pub(crate) mod base32hex;
pub(crate) mod base62;
pub(crate) mod base64;
pub(crate) mod civil;
pub(crate) mod crockford;
pub(crate) mod decimal;
mod error;
pub(crate) mod hex;
pub(crate) mod uuid_time;

pub use error::{FormatError, ParseError};
