//! How a node is leased: which host may use it, until when, and what happens when that is not known.
//!
//! All but [`page`] is a pure function of its inputs. A [`Lease`] gets the time, some randomness and the store's
//! answer, and says what to do next: ask the store, write to the page that workers have mapped, log, or wait. So the
//! same code runs in the agent, in a model checker that tries every order of events, and in a simulation of 1,000
//! hosts.
//!
//! One rule keeps ids unique: the store holds a limit for each node, and the holder of a node stamps ids only with
//! times before that limit. A new holder starts at the old limit. A limit is in the store before it is in the page.

mod choose;
mod clocks;
mod event;
mod group;
mod holding;
mod machine;
pub mod page;
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
