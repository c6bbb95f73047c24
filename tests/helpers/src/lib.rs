//! Helpers of the tests of several packages.

#[cfg(target_os = "linux")]
pub mod attack;
mod directory;
pub mod library;
pub mod one_by_one;
pub mod vectors;

pub use directory::{Directory, has_header_of, word};
