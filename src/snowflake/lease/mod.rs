//! A node that `txid-agent` leases: the page says until when, and the agent renews it.
//!
//! Code that makes ids only reads the page, and never waits. The agent writes to it through a [`LeasePage`].

mod lease_page;
mod term;

pub(super) use lease_page::Lease;
pub use lease_page::{LeasePage, LeaseView};

#[cfg(all(test, loom))]
mod tests {
    mod every_order;
}
