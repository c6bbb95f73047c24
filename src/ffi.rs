//! Every `extern "C"` function, and the only file that touches a caller's raw pointer.
//!
//! The comments here become those of `include/txid.h`.

use crate::{Txid, clock, entropy};
use std::ffi::c_char;

/// The version of this interface. It grows when a caller built for the version before could no longer work.
pub const TXID_ABI_VERSION: u32 = 1;

/// How many characters an id has. They are not NUL-terminated.
pub const TXID_LEN: usize = 20;

const _: () = assert!(TXID_LEN == Txid::LEN);

/// The TXID_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn txid_abi_version() -> u32 {
    TXID_ABI_VERSION
}

/// Milliseconds since 1970-01-01 UTC by the system's clock.
#[unsafe(no_mangle)]
pub extern "C" fn txid_clock_ms() -> i64 {
    clock::system_ms()
}

/// Writes a new id stamped with exactly `ms` to `buf`: TXID_LEN characters, no NUL. The low 42 bits of `ms` count, so that
/// -1 gives the last millisecond of the range and 2^42 the first.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller vouches for TXID_LEN bytes.
    unsafe { write_text(buf, Txid::at(ms)) }
}

/// Writes a new id of this moment to `buf`, as txid_fill does. `clock_ms` is the caller's reading of the wall clock, or
/// txid_clock_ms(). Within a thread time never runs backwards: a clock that is behind the last time used here by at most
/// ten seconds is waited for, one further behind is followed.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller vouches for TXID_LEN bytes.
    unsafe { write_text(buf, Txid::at(clock::never_backwards(clock_ms))) }
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[inline(always)]
unsafe fn write_text(buf: *mut c_char, id: Txid) {
    // SAFETY: the caller's promise; a byte array needs no alignment.
    unsafe { buf.cast::<[u8; TXID_LEN]>().write(id.to_text()) }
}

/// Whether this thread's ids are made without the operating system's randomness, because it had none to give when it was
/// last asked. Such ids are still made from the clock, the process and its address space; the next second asks again.
#[unsafe(no_mangle)]
pub extern "C" fn txid_entropy_degraded() -> bool {
    entropy::entropy_degraded()
}
