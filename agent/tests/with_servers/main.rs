//! Real agents with real servers. One program, because each program that links the agent takes long to build.

#![allow(missing_docs)]

mod attacks;
mod beside;
mod control_group;
mod failover;
mod failure;
mod fleet;
mod listen;
mod metrics;
mod power_cuts;
mod proxy;
mod segments;
mod servers;
mod stores;
mod wait;

use std::fmt::Display;
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A name that no other test has, of this run or of another.
fn unique(name: &str) -> String {
    static NAMES: AtomicUsize = AtomicUsize::new(0);
    format!("{name}-{}-{}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed))
}

/// Says which test is skipped, and why; the end of `make test-agent` counts them. What a test prints is seen only if it fails, but not
/// what it writes.
fn skipped(why: impl Display) {
    let thread = thread::current();
    _ = writeln!(stderr(), "skipped: {}: {why}", thread.name().unwrap_or("a test"));
}
