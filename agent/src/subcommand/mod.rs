//! The subcommands other than `run`.

pub mod floor;
mod metrics;
pub mod nodes;
mod numbers;
pub mod raise;
mod records;
pub mod release;
pub mod status;
