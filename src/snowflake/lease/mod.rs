//! A node that `txid-agent` leases: the page says until when, and the agent renews it.
//!
//! Code that makes ids only reads the page, and never waits. The agent writes to it through a [`LeasePage`].

mod page;
mod words;

pub(super) use page::Lease;
pub use page::{LeasePage, LeaseView};

#[cfg(test)]
mod tests {
    mod every_order;
}
