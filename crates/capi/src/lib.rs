//! The C interface of txid: `libtxid.so` and `libtxid.a`.
//!
//! Only this crate touches a caller's raw pointers. It makes no decisions: it converts, and calls the library. Its comments
//! become those of `include/txid.h`, and of `include/txid-internal.h` for nginx's modules and the Lua modules alone.

#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

mod caller;
pub mod clock;
#[cfg(target_os = "linux")]
mod copies;
#[cfg(not(target_os = "linux"))]
mod copies {
    pub(crate) fn other() -> Option<String> {
        None
    }
}
pub mod decide;
pub mod error;
#[cfg(feature = "nginx")]
pub mod generator;
pub mod hidden;
pub mod kept;
pub mod maker;
pub mod policy;
pub mod read;
pub mod readings;
pub mod segment;
#[cfg(feature = "nginx")]
pub mod server;
pub mod snowflake;
pub mod span;
pub mod span_line;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_buffers;
#[cfg(feature = "nginx")]
pub mod time_in;
pub mod txid;
pub mod uuid;

/// The version of this interface. It grows when callers built for the previous version would no longer work.
pub const TXID_ABI_VERSION: u32 = 2;

/// The TXID_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn txid_abi_version() -> u32 {
    TXID_ABI_VERSION
}

/// The version of the interface that nginx's modules and the Lua modules use besides txid.h. Both are of the same release.
pub const TXID_INTERNAL_VERSION: u32 = 3;

/// The TXID_INTERNAL_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn txid_internal_version() -> u32 {
    TXID_INTERNAL_VERSION
}
