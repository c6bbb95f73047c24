//! How a node is leased: which host may use it, until when, and what happens when that is not known.
//!
//! Everything here is a function of what goes in. [`Lease::step`] is given the time, some randomness and what the store
//! answered, and gives back what to do next: ask the store, write to the page that workers have mapped, log, or wait. So the
//! same code runs in the agent, in a model checker that tries every order of events, and in a simulation of 1,000 hosts.
//!
//! The one rule that keeps ids unique: the store holds a limit for each node, and whoever has the node stamps ids with times
//! before that limit only. A new holder starts at the old limit. The limit is in the store before it is in the page.

mod choose;
mod event;
mod group;
mod machine;
mod record;
mod rules;

pub use choose::{Choice, NoneFree, choose};
pub use event::{Event, Failure};
pub use group::Group;
pub use machine::{Answer, Input, Lease, Now, Output, PageView, Reply, Request, Write};
pub use record::{BadRecord, NodeRecord};
pub use rules::Rules;
