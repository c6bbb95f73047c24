//! Takes ranges of numbers from a store ahead of time. A pure state machine decides; it does not read clocks or connect
//! to a store.
//!
//! It looks at the page, and asks for a range when there is room for one and a tenth of the current range is used.
//!
//! | phase | numbers | what leads on |
//! |---|---|---|
//! | new | none yet | a range: serving. Numbers left in the file: serving, at once |
//! | serving, one range | from the current range | a tenth of it is used: asks for the next one |
//! | serving, two ranges | from the current range, then from the next one | the current one is used up: one range |
//! | the store fails | from what is left, then refused | tries again, later each time; the first failure in a row is not logged while numbers are left |
//! | no tag | from what is left, then refused | asks every 5 s, until somebody makes the tag; with `--create`, the agent makes it |
//! | went down | from what is left, then refused | asks every 5 s, until the store's number is at least the highest one seen |
//! | ended | from what is left, then refused | 2^63 - 1 is reached: asks every 5 s |

mod machine;
mod protocol;
mod rules;

pub use machine::Segment;
pub use protocol::{Answer, Event, Failure, Input, Output, Request, View, Write};
pub use rules::Rules;

/// The default step of a new tag.
pub const STEP: u64 = 1000;
