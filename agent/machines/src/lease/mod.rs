//! How a node is leased: which host may use it, until when, and what happens when that is not known.
//!
//! All of it is a pure function of its inputs, so that the same code runs in the agent, a model checker and a
//! simulation. One rule keeps ids unique: the holder of a node stamps ids only with times before a limit, which is in the
//! store before it is in the page, and a new holder starts at the old limit.

mod choose;
mod clocks;
mod event;
mod group;
mod holding;
mod machine;
mod phase;
mod protocol;
mod record;
mod releasing;
mod rules;
mod taking;

pub use choose::{Choice, NoneFree, Survey};
pub use event::{Event, Failure};
pub use group::Group;
pub use machine::Lease;
pub use protocol::{Answer, Input, Output, PageView, Reply, Request, Write};
pub use record::{BadRecord, NodeRecord};
pub use rules::Rules;
