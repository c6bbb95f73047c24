//! The time in an id.

use crate::caller::{bytes, place};
use ::txid::time_in;
use std::ffi::c_char;

/// The length of the longest time that txid_time_in writes.
pub const TXID_TIME_LEN: usize = 24;

const _: () = assert!(TXID_TIME_LEN == time_in::RFC3339_LEN);

/// Writes the time in the id of `len` characters at `text` to `buf`, and returns its length; 0 if the text can be of another
/// time, too, as most txids that are older than an hour: txid_ms reads those. The time is in milliseconds since 1970-01-01
/// UTC, or with `iso8601` as in "2014-09-01T00:00:00.000Z".
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `buf` for writes of TXID_TIME_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_time_in(text: *const c_char, len: usize, iso8601: bool, buf: *mut c_char) -> usize {
    // SAFETY: the caller vouches for the text and the place.
    let (text, buf) = unsafe { (bytes(text, len), place::<TXID_TIME_LEN>(buf)) };
    let Some(ms) = time_in::ms(text) else { return 0 };
    if iso8601 {
        return time_in::rfc3339(ms).map_or(0, |text| {
            *buf = text;
            text.len()
        });
    }
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(ms).as_bytes();
    buf[..digits.len()].copy_from_slice(digits);
    digits.len()
}
