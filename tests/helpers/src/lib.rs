//! Helpers of the tests of several packages.

#[cfg(target_os = "linux")]
pub mod attack;
mod directory;
pub mod library;
pub mod one_by_one;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod remains;
pub mod vectors;

pub use directory::{Directory, has_header_of, word};
