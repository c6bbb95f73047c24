//! Leases snowflake nodes from a store that keeps small records, for all processes of a host.

pub mod file;
pub mod keeper;
pub mod store;
