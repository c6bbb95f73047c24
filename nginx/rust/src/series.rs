//! Txids, without the thread-local generator: in a module that nginx loads, a thread-local costs a function call.

use ::txid::{Series, Txid};
use std::ffi::c_char;

/// How many characters txid_series_fill writes.
pub const TXID_LEN: usize = 20;

const _: () = assert!(TXID_LEN == Txid::LEN);

/// Makes txids, in one thread.
pub struct txid_series(Series);

/// Opens a series of txids.
#[unsafe(no_mangle)]
pub extern "C" fn txid_series_open() -> *mut txid_series {
    Box::into_raw(Box::new(txid_series(Series::new())))
}

/// Releases a series.
///
/// # Safety
///
/// `series` must be from txid_series_open and must not be used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_series_close(series: *mut txid_series) {
    // SAFETY: it was made by `txid_series_open`, and the caller gives it up.
    drop(unsafe { Box::from_raw(series) });
}

/// Writes a new txid of this moment, where the clock reads `clock_ms`, to `buf`.
///
/// # Safety
///
/// `series` must be from txid_series_open and not in use by another thread, `buf` valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_series_fill(series: *const txid_series, clock_ms: i64, buf: *mut c_char) {
    // SAFETY: the caller vouches for both; a byte array takes any address and any content.
    unsafe { (*series).0.write_by(clock_ms, &mut *buf.cast::<[u8; TXID_LEN]>()) }
}
