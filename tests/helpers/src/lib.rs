//! Helpers of the tests of several packages.

#[cfg(target_os = "linux")]
pub mod attack;
mod directory;
pub mod library;
pub mod one_by_one;
pub mod vectors;

pub use directory::{Directory, has_header_of, word};

/// Says which test is skipped, and why; the end of `make test` counts them. Rust shows what a test prints only
/// if it fails, and always what it writes.
pub fn skipped(why: impl std::fmt::Display) {
    use std::io::Write;
    let thread = std::thread::current();
    let name = one_by_one::current().or(thread.name()).unwrap_or("a test");
    _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}
