//! Numbers from ranges that an agent takes from a database.

use crate::caller::{bytes, fail, give, write_beginning};
use crate::error::txid_error;
use ::txid::segment::{Segment, SegmentNews};
use std::ffi::{OsStr, c_char};
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
    /// How many requests to the store failed.
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
/// `path` must be valid for reads of `path_len` bytes, `segment` for a write, `message` NULL or valid for writes of
/// TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_open(
    path: *const c_char,
    path_len: usize,
    segment: *mut *mut txid_segment,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the path.
    let path = Path::new(OsStr::from_bytes(unsafe { bytes(path, path_len) }));
    let opened = Segment::attach(path).map(txid_segment).map_err(|error| (txid_error::from(&error), error));
    // SAFETY: the caller's promise is the same.
    unsafe { give(opened, segment, message) }
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
/// `segment` must be from txid_segment_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_next(segment: *const txid_segment, message: *mut c_char) -> i64 {
    // SAFETY: the caller vouches for both.
    unsafe {
        match (*segment).0.take() {
            Ok(number) => number.try_into().unwrap_or_else(|_| {
                let why = "the segment's file is damaged: it grants numbers of more than 63 bits";
                i64::from(fail(txid_error::SegmentUsedUp, &why, message))
            }),
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

/// Writes the state of the segment to `counters`, of which `size` is the size: a later version may have more.
///
/// # Safety
///
/// `segment` must be from txid_segment_open, `counters` valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_segment_stats(
    segment: *const txid_segment,
    counters: *mut txid_segment_counters,
    size: usize,
) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let now = (*segment).0.stats();
        let news = match now.news {
            SegmentNews::Serving => txid_segment_news::Serving,
            SegmentNews::NoTag => txid_segment_news::NoTag,
            SegmentNews::WentDown => txid_segment_news::WentDown,
            SegmentNews::Ended => txid_segment_news::Ended,
        };
        let now = txid_segment_counters {
            left: now.left,
            next: now.next,
            step: now.step,
            lasts_ms: now.lasts_ms().map_or(-1, |ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            contact_ms: now.contact_ms.unwrap_or(0),
            fetches: now.fetches,
            failures: now.failures,
            news: news as i32,
        };
        write_beginning(&now, counters, size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::TXID_MESSAGE_LEN;
    use ::txid::segment::SegmentPage;
    use std::ffi::CStr;
    use std::path::PathBuf;
    use std::ptr;

    /// A directory of this test's own.
    fn place(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().canonicalize().unwrap();
        directory.join(format!("txid-capi-segment-{name}-{}", std::process::id()))
    }

    fn text(message: &[u8]) -> &str {
        CStr::from_bytes_until_nul(message).unwrap().to_str().unwrap()
    }

    fn open(path: &Path) -> Result<*mut txid_segment, (i32, String)> {
        let path = path.as_os_str().as_bytes();
        let (mut segment, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
        // SAFETY: all three are ours, and have their room.
        match unsafe { txid_segment_open(path.as_ptr().cast(), path.len(), &mut segment, message.as_mut_ptr().cast()) }
        {
            0 => Ok(segment),
            code => Err((code, text(&message).to_owned())),
        }
    }

    fn fill(segment: *const txid_segment) -> Result<String, (i32, String)> {
        let (mut buf, mut message) = ([0_u8; TXID_SEGMENT_LEN], [0_u8; TXID_MESSAGE_LEN]);
        // SAFETY: the segment is open, and both have their room.
        match unsafe { txid_segment_fill(segment, buf.as_mut_ptr().cast(), message.as_mut_ptr().cast()) } {
            len @ 1.. => Ok(String::from_utf8(buf[..len as usize].to_vec()).unwrap()),
            code => Err((code, text(&message).to_owned())),
        }
    }

    fn stats(segment: *const txid_segment) -> txid_segment_counters {
        let mut counters = std::mem::MaybeUninit::uninit();
        // SAFETY: the segment is open, and all of the counters are written.
        unsafe {
            txid_segment_stats(segment, counters.as_mut_ptr(), size_of::<txid_segment_counters>());
            counters.assume_init()
        }
    }

    #[test]
    fn numbers_go_on_over_two_ranges_and_then_it_is_said_why_there_are_none() {
        let path = place("numbers").join("invoices.segment");
        let page = SegmentPage::open_or_make(&path).unwrap();
        page.publish(9..11);
        let segment = open(&path).unwrap();
        assert_eq!(fill(segment).unwrap(), "9");
        page.publish(9_223_372_036_854_775_806..9_223_372_036_854_775_807);
        let numbers: Vec<_> = std::iter::from_fn(|| fill(segment).ok()).collect();
        assert_eq!(numbers, ["10", "9223372036854775806"]);
        let used_up = "the numbers of invoices are used up; txid-agent has not reached its store yet";
        assert_eq!(fill(segment), Err((txid_error::SegmentUsedUp as i32, used_up.to_owned())));
        let mut message = [0_u8; TXID_MESSAGE_LEN];
        // SAFETY: the segment is open, and the message has its room.
        let number = unsafe { txid_segment_next(segment, message.as_mut_ptr().cast()) };
        assert_eq!((number, text(&message)), (i64::from(txid_error::SegmentUsedUp as i32), used_up));
        // SAFETY: nobody uses it any more.
        unsafe { txid_segment_close(segment) };
        std::fs::remove_dir_all(place("numbers")).unwrap();
    }

    /// As a damaged page has it. If it passed for a length, the caller would read beyond `buf`.
    #[test]
    fn a_number_of_more_than_63_bits_is_an_error() {
        let path = place("damaged").join("invoices.segment");
        SegmentPage::open_or_make(&path).unwrap().publish(i64::MAX as u64..(1 << 63) + 20);
        let segment = open(&path).unwrap();
        assert_eq!(fill(segment).unwrap(), i64::MAX.to_string());
        for _ in 0..20 {
            let (code, why) = fill(segment).unwrap_err();
            assert_eq!(code, txid_error::SegmentUsedUp as i32);
            assert!(why.contains("more than 63 bits"), "{why}");
        }
        // SAFETY: nobody uses it any more.
        unsafe { txid_segment_close(segment) };
        std::fs::remove_dir_all(place("damaged")).unwrap();
    }

    #[test]
    fn counters_are_those_of_the_page() {
        let path = place("counters").join("invoices.segment");
        let page = SegmentPage::open_or_make(&path).unwrap();
        page.publish(1..101);
        let segment = open(&path).unwrap();
        assert_eq!((stats(segment).lasts_ms, stats(segment).contact_ms), (-1, 0), "none are taken, and no contact");
        page.set_step(300, 5);
        page.set_contact(1_795_255_200_000);
        page.count_failure();
        page.set_news(SegmentNews::WentDown);
        page.set_rate(4000);
        assert_eq!(fill(segment).unwrap(), "1");
        page.publish(101..401);
        let now = stats(segment);
        assert_eq!((now.left, now.next, now.step, now.fetches, now.failures), (99, 300, 300, 2, 1));
        assert_eq!((now.lasts_ms, now.contact_ms), (399 * 1000 / 4, 1_795_255_200_000));
        assert_eq!(now.news, txid_segment_news::WentDown as i32);
        for (entry, news) in [
            (SegmentNews::NoTag, txid_segment_news::NoTag),
            (SegmentNews::Ended, txid_segment_news::Ended),
            (SegmentNews::Serving, txid_segment_news::Serving),
        ] {
            page.set_news(entry);
            assert_eq!(stats(segment).news, news as i32);
        }
        // SAFETY: nobody uses it any more.
        unsafe { txid_segment_close(segment) };
        std::fs::remove_dir_all(place("counters")).unwrap();
    }

    #[test]
    fn a_file_that_is_no_segment_of_this_host_is_refused() {
        let directory = place("refused");
        let path = directory.join("invoices.segment");
        let (code, why) = open(&path).unwrap_err();
        assert_eq!(code, txid_error::SegmentFile as i32);
        assert!(why.contains("txid-agent makes it, so start that first"), "{why}");
        SegmentPage::open_or_make(&path).unwrap();
        let copy = directory.join("copy.segment");
        std::fs::copy(&path, &copy).unwrap();
        let (code, why) = open(&copy).unwrap_err();
        assert_eq!(code, txid_error::SegmentState as i32);
        assert!(why.contains("copy.segment is a copy of another file"), "{why}");
        std::fs::write(&copy, "numbers").unwrap();
        assert_eq!(open(&copy).unwrap_err().0, txid_error::SegmentState as i32);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
