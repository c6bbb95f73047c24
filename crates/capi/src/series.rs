//! Txids, without the thread-local generator: in a module that nginx loads, a thread-local costs a function call.

use crate::caller::place;
use ::txid::Series;
use std::ffi::c_char;

/// Makes txids, in one thread.
pub struct txid_series(Series);

/// Opens a series of txids. Release it with txid_series_close.
#[unsafe(no_mangle)]
pub extern "C" fn txid_series_open() -> *mut txid_series {
    Box::into_raw(Box::new(txid_series(Series::new())))
}

/// Releases a series.
///
/// # Safety
///
/// `series` must be from txid_series_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_series_close(series: *mut txid_series) {
    if !series.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(series) });
    }
}

/// Writes a new txid of this moment to `buf`; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `series` must be from txid_series_open and not in use by another thread, `buf` valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_series_fill(series: *const txid_series, clock_ms: i64, buf: *mut c_char) {
    // SAFETY: the caller vouches for both.
    unsafe { (*series).0.write_by(clock_ms, place(buf)) }
}
