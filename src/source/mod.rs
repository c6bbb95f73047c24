//! Where the contents of an id come from: randomness, time, process, thread and host.

mod batch;
pub(crate) mod boot;
pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod generation;
pub(crate) mod growing;
pub(crate) mod host;
pub(crate) mod laps;
pub(crate) mod mac;
mod memory;
mod pid;
pub(crate) mod process;
pub(crate) mod signal_safe;
mod system;
pub(crate) mod thread_number;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod timer;
pub(crate) mod v7;
pub(crate) mod vdso;
