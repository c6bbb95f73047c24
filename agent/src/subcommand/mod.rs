//! The subcommands other than `run`.

pub mod metrics;
pub mod nodes;
mod numbers;
pub mod raise_number;
pub mod records;
pub mod release;
pub mod set_floor;
pub mod status;
