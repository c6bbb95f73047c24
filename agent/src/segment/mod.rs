//! How ranges of numbers are taken from a store ahead of time: decided in one pure state machine, which reads no clock and
//! asks no store by itself.

#[cfg(test)]
mod every_second;
mod machine;
mod rules;

pub use machine::{Answer, Event, Machine, Now, Output, Request, View, Write};
pub use rules::Rules;

/// The step of a tag that is made, unless it is said otherwise.
pub const STEP: u64 = 1000;
