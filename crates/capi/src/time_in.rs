//! The time in an id.

use crate::caller::{bytes, give, option, txid_text, words};
use crate::txid::TXID_LEN;
use ::txid::time_in::{self, Times};
use std::ffi::c_char;
use std::slice;

/// The length of the longest time that txid_time_in writes.
pub const TXID_TIME_LEN: usize = 24;

const _: () = assert!(TXID_TIME_LEN == time_in::RFC3339_LEN);

/// Which formats ids are looked for in, where the time of one is wanted.
pub struct txid_times(Times);

/// Opens a list of the `count` formats whose names are at `list`, perhaps with options as in snowflake(layout=discord) or
/// trace_id(epoch=2020-01-01), and writes it to `times`. With `is_only`, the time of a text is that of the first one that it
/// fits. Otherwise they are the formats that a server makes: such a text is rather its own id than another's, if its time can
/// be; and if it fits none, it is read as txid_time_in does without a list. Release it with txid_times_close.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `times` is unchanged.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `times` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_times_open(
    list: *const txid_text,
    count: usize,
    is_only: bool,
    times: *mut *mut txid_times,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the texts.
    let list = unsafe { words(list, count) };
    let list = list.iter().map(|format| &**format);
    let opened = if is_only { Times::only(list) } else { Times::first(list) };
    // SAFETY: the caller's promise is the same.
    unsafe { give(opened.map(txid_times).map_err(option), times, message) }
}

/// Releases a list of formats.
///
/// # Safety
///
/// `times` must be from txid_times_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_times_close(times: *mut txid_times) {
    if !times.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(times) });
    }
}

/// Writes the time in the id of `len` characters at `text` to `buf`, and returns its length; 0 if there is none, or if the text
/// can be of another time, too. Without `times`, most txids that are older than an hour can: they may as well be xids. The time
/// is in milliseconds since 1970-01-01 UTC, or with `iso8601` as in "2014-09-01T00:00:00.000Z".
///
/// # Safety
///
/// `times` must be from txid_times_open, or NULL; `text` must be valid for reads of `len` bytes, `buf` for writes of
/// TXID_TIME_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_time_in(
    times: *const txid_times,
    text: *const c_char,
    len: usize,
    iso8601: bool,
    buf: *mut c_char,
) -> usize {
    // SAFETY: the caller vouches for the list and the text. Most texts are txids, which are not empty.
    let (times, text) = unsafe {
        let text = if len == TXID_LEN { slice::from_raw_parts(text.cast(), TXID_LEN) } else { bytes(text, len) };
        (times.as_ref(), text)
    };
    let Some(ms) = time_in::ms_of(times.map(|times| &times.0), text) else { return 0 };
    if iso8601 {
        return time_in::rfc3339(ms).map_or(0, |text| {
            // SAFETY: the caller vouches for the place.
            unsafe { buf.cast::<[u8; TXID_TIME_LEN]>().write(text) };
            text.len()
        });
    }
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(ms).as_bytes();
    // SAFETY: the caller vouches for the place, and the digits of no i64 are more.
    unsafe { buf.cast::<u8>().copy_from_nonoverlapping(digits.as_ptr(), digits.len()) };
    digits.len()
}
