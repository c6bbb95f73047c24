//! Txids, without the thread-local generator: in a module that nginx loads, a thread-local costs a function call.

use crate::caller::place;
use ::txid::LocalGenerator;
use std::ffi::c_char;

/// Makes txids, in one thread.
pub struct txid_generator(LocalGenerator);

/// Opens a generator of txids. Release it with txid_generator_close.
#[unsafe(no_mangle)]
pub extern "C" fn txid_generator_open() -> *mut txid_generator {
    Box::into_raw(Box::new(txid_generator(LocalGenerator::new())))
}

/// Releases a generator.
///
/// # Safety
///
/// `generator` must be from txid_generator_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_generator_close(generator: *mut txid_generator) {
    if !generator.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(generator) });
    }
}

/// Writes a new txid of this moment to `buf`; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `generator` must be from txid_generator_open and not in use by another thread, `buf` valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_generator_fill(generator: *const txid_generator, clock_ms: i64, buf: *mut c_char) {
    // SAFETY: the caller vouches for both.
    unsafe { (*generator).0.write_by(clock_ms, place(buf)) }
}
