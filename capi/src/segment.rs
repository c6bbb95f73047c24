//! Numbers from ranges that an agent takes from a database.

use crate::caller::fail;
use crate::error::txid_error;
use ::txid::segment::{Segment, SegmentNews};
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The length of the longest number of a segment.
pub const TXID_SEGMENT_LEN: usize = 19;

/// Takes the numbers of one segment.
pub struct txid_segment(Segment);

/// What an agent reports about a segment.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum txid_segment_news {
    /// It takes ranges when they are needed.
    Serving = 0,
    /// The store has no such tag.
    NoTag = 1,
    /// The number in the store is lower than one it had before. Nothing is taken until it is raised.
    WentDown = 2,
    /// The 63-bit numbers are used up.
    Ended = 3,
}

/// The state of a segment.
#[repr(C)]
pub struct txid_segment_counters {
    /// How many numbers are left in the current range.
    pub left: u64,
    /// How many numbers the next range has; 0 if it is not there yet.
    pub next: u64,
    /// How many numbers the agent takes at a time.
    pub step: u64,
    /// How long the numbers last at the present rate, in milliseconds; -1 if none are taken.
    pub lasts_ms: i64,
    /// When the store last answered, in milliseconds since 1970-01-01 UTC; 0 if it never did.
    pub contact_ms: i64,
    /// How many ranges were taken from the store.
    pub fetches: u64,
    /// How often the store did not do what it was asked for.
    pub failures: u64,
    /// A txid_segment_news.
    pub news: i32,
}

/// Opens the segment in the file at `path`, which txid-agent has made, and writes it to `segment`. Release it with
/// txid_segment_close.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `segment` is unchanged.
///
/// # Safety
///
/// `path` must be NUL-terminated, `segment` valid for a write, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_open(
    path: *const c_char,
    segment: *mut *mut txid_segment,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the NUL.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    match Segment::attach(path) {
        Ok(opened) => {
            // SAFETY: the caller vouches for `segment`.
            unsafe { segment.write(Box::into_raw(Box::new(txid_segment(opened)))) };
            0
        }
        // SAFETY: the caller's promise is the same.
        Err(error) => unsafe { fail(txid_error::from(&error), &error, message) },
    }
}

/// Releases a segment. Other users of the same file are not affected.
///
/// # Safety
///
/// `segment` must be from txid_segment_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_close(segment: *mut txid_segment) {
    if !segment.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(segment) });
    }
}

/// The next number, which is not negative; or a txid_error, and then `message` says what is wrong.
///
/// # Safety
///
/// `segment` must be from txid_segment_open, `message` valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_next(segment: *const txid_segment, message: *mut c_char) -> i64 {
    // SAFETY: the caller vouches for both.
    unsafe {
        match (*segment).0.next() {
            Ok(number) => number as i64,
            Err(used_up) => i64::from(fail(txid_error::SegmentUsedUp, &used_up, message)),
        }
    }
}

/// Writes the next number to `buf` as decimal digits, at most TXID_SEGMENT_LEN and without a NUL, and returns their
/// number; or a txid_error, as txid_segment_next does.
///
/// # Safety
///
/// As for txid_segment_next; also, `buf` must be valid for writes of TXID_SEGMENT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_fill(
    segment: *const txid_segment,
    buf: *mut c_char,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller's promise is the same.
    let number = unsafe { txid_segment_next(segment, message) };
    if number < 0 {
        return number as i32;
    }
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number);
    // SAFETY: a number of 63 bits has at most as many digits as the caller vouches for.
    unsafe { buf.copy_from_nonoverlapping(digits.as_ptr().cast(), digits.len()) };
    digits.len() as i32
}

/// Writes the state of the segment to `counters`.
///
/// # Safety
///
/// `segment` must be from txid_segment_open, `counters` valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_stats(segment: *const txid_segment, counters: *mut txid_segment_counters) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let now = (*segment).0.stats();
        let news = match now.news {
            SegmentNews::Serving => txid_segment_news::Serving,
            SegmentNews::NoTag => txid_segment_news::NoTag,
            SegmentNews::WentDown => txid_segment_news::WentDown,
            SegmentNews::Ended => txid_segment_news::Ended,
        };
        counters.write(txid_segment_counters {
            left: now.left,
            next: now.next,
            step: now.step,
            lasts_ms: now.lasts_ms().map_or(-1, |ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            contact_ms: now.contact_ms.unwrap_or(0),
            fetches: now.fetches,
            failures: now.failures,
            news: news as i32,
        });
    }
}
