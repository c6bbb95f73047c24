//! What a text can be.

use crate::caller::{bytes, txid_text, write_beginning};
use ::txid::formats::{Numbers, Readings};
use std::ffi::c_char;

/// No text fits more formats than this.
pub const TXID_READINGS_MAX: usize = 16;

const _: () = assert!(TXID_READINGS_MAX == Readings::MOST);

/// A text as an id of one format. The texts belong to the library.
#[repr(C)]
pub struct txid_reading {
    /// The format, as in txid_maker_open.
    pub format: txid_text,
    /// The name of a 64-bit id's layout; otherwise its length is 0.
    pub layout: txid_text,
    /// Milliseconds since 1970-01-01 UTC; INT64_MIN if the id has no time.
    pub ms: i64,
    /// Whether it is unlikely to be an id of the format: its time is before such ids existed, or more than a day ahead.
    pub is_unlikely: bool,
}

/// Writes what the `len` characters at `text` can be to `readings`, the likeliest first and at most `room`, and returns how
/// many it wrote. `size` is the size of one: a later version may have more fields. See txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `readings` for writes of `room` times `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_readings(
    text: *const c_char,
    len: usize,
    clock_ms: i64,
    readings: *mut txid_reading,
    size: usize,
    room: usize,
) -> usize {
    // SAFETY: the caller vouches for the text.
    let found = Readings::of(unsafe { bytes(text, len) }, &Numbers::UNKNOWN, clock_ms);
    let mut count = 0;
    for reading in found.iter().take(room) {
        let reading = txid_reading {
            format: txid_text::of(reading.name()),
            layout: txid_text::of(reading.layout.unwrap_or_default()),
            ms: reading.ms.unwrap_or(i64::MIN),
            is_unlikely: reading.unlikely.is_some(),
        };
        // SAFETY: the caller vouches for `room` of that size, and this is one of them.
        unsafe { write_beginning(&reading, readings.byte_add(count * size), size) };
        count += 1;
    }
    count
}
