//! Leases snowflake nodes from a store that keeps small records, for all processes of a host.

pub mod keep;
pub mod lease;
pub mod own;
pub mod segment;
pub mod store;
