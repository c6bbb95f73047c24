//! The time in an id.

use crate::caller::bytes;
use ::txid::time_in;
use std::ffi::c_char;

/// The length of the text of txid_rfc3339.
pub const TXID_RFC3339_LEN: usize = 24;

const _: () = assert!(TXID_RFC3339_LEN == time_in::RFC3339_LEN);

/// Writes the time in the id of `len` characters at `text` to `ms`, in milliseconds since 1970-01-01 UTC: of a txid, a UUID of version 1, 6
/// or 7, a flake, a UNIQUE_ID, or an id of SOFATracer or SkyWalking. Returns whether it is one of these.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `ms` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_time_in(text: *const c_char, len: usize, ms: *mut i64) -> bool {
    // SAFETY: the caller vouches for the text and the place.
    unsafe { time_in::ms(bytes(text, len)).map(|found| ms.write(found)).is_some() }
}

/// Writes the milliseconds since 1970 that txid_time_in found in RFC 3339, "2014-09-01T00:00:00.000Z", to `buf`.
/// Returns false, and writes nothing, if they are outside the years 0 to 9999.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_RFC3339_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_rfc3339(ms: i64, buf: *mut u8) -> bool {
    // SAFETY: the caller vouches for the length; a byte array needs no alignment.
    unsafe { time_in::rfc3339(ms).map(|text| buf.cast::<[u8; TXID_RFC3339_LEN]>().write(text)).is_some() }
}
