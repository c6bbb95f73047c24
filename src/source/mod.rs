//! Where the contents of an id come from: randomness, time, process, thread and host.

mod batch;
pub(crate) mod boot;
pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod growing;
#[cfg(feature = "host")]
pub(crate) mod host;
pub(crate) mod laps;
pub(crate) mod mac;
mod memory;
mod pid;
pub(crate) mod process;
mod system;
pub(crate) mod thread_number;
pub(crate) mod v7;
pub(crate) mod vdso;
