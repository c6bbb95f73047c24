//! The C interface of txid: `libtxid.so` and `libtxid.a`.
//!
//! Every `extern "C"` function is here, one file a subject, and nothing else touches a caller's raw pointer. Nothing in here
//! decides anything: it converts, and calls the library. The comments become those of `include/txid.h`.

#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

mod b3;
mod caller;
mod clock;
mod error;
mod explain;
mod flake;
mod host;
mod skywalking;
mod snowflake;
mod sofa;
#[cfg(test)]
mod tests;
mod trace;
mod traceparent;
mod txid;
mod unique_id;
mod uuid;

/// The version of this interface. It grows when a caller built for the version before could no longer work.
pub const TXID_ABI_VERSION: u32 = 2;

/// The TXID_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn txid_abi_version() -> u32 {
    TXID_ABI_VERSION
}
