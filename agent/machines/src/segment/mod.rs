//! Takes ranges of numbers from a store ahead of time. A pure state machine decides; it does not read clocks or connect
//! to a store.

mod machine;
mod protocol;
mod rules;

pub use machine::Segment;
pub use protocol::{Answer, Event, Failure, Input, Output, Request, View, Write};
pub use rules::Rules;

/// The default step of a new tag.
pub const STEP: u64 = 1000;
