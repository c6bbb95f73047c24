//! Numbers and UUIDs that tell nothing: their images under a keyed permutation.

use crate::caller::{bytes, fail, give, tell, txid_text, write, write_text};
use crate::error::txid_error;
use ::txid::Hidden;
use ::txid::hidden::{HiddenError, KeyFlaw, NotHidden, NotRevealed};
use std::ffi::c_char;
use std::str;

/// The length of the longest image, and of the longest text that has one.
pub const TXID_HIDDEN_LEN: usize = 36;

const _: () = assert!(TXID_HIDDEN_LEN == Hidden::MAX_LEN);

/// Hides the numbers or the UUIDs of one series, and reveals them.
pub struct txid_hidden(Hidden);

/// Opens a series of hidden numbers or UUIDs, and writes it to `hidden`. Any thread may use it, and any child. Release it
/// with txid_hidden_close.
///
/// The words are key=FILE, which only its owner may read; name=NAME, and with another name, the images are others; digits=N
/// for images of 6 to 19 digits, letters=N for 4 to 13 letters, or uuid for UUIDs; and for numbers perhaps check, for a check
/// digit after that, and state=FILE, the file of the numbers' segment. All are UTF-8.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `hidden` is unchanged.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `hidden` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_open(
    list: *const txid_text,
    count: usize,
    hidden: *mut *mut txid_hidden,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the texts.
    let words: Vec<_> = unsafe { (0..count).map(|index| (*list.add(index)).bytes()).collect() };
    // Two names must never become one.
    let opened =
        words.iter().map(|word| str::from_utf8(word).map_err(|_| not_utf8(word))).collect::<Result<Vec<_>, _>>();
    let opened = opened.and_then(Hidden::parse).map(txid_hidden).map_err(|error| (txid_error::from(&error), error));
    // SAFETY: the caller vouches for `hidden` and `message`.
    unsafe { give(opened, hidden, message) }
}

/// Whether the system keeps the key out of swap space. If not, `message` says why.
///
/// # Safety
///
/// `hidden` must be from txid_hidden_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_is_locked(hidden: *const txid_hidden, message: *mut c_char) -> bool {
    // SAFETY: the caller vouches for both.
    unsafe {
        let Some(error) = (*hidden).0.not_locked() else { return true };
        let why =
            format!("the system may write the key to swap space: mlock: {error}; raise the limit of locked memory");
        tell(&why, message);
        false
    }
}

fn not_utf8(word: &[u8]) -> HiddenError {
    HiddenError::Option(format!("\"{}\" is not UTF-8", word.escape_ascii()))
}

/// Releases a series, and wipes its key from memory.
///
/// # Safety
///
/// `hidden` must be from txid_hidden_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_close(hidden: *mut txid_hidden) {
    if !hidden.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(hidden) });
    }
}

/// Writes the image of `number` to `buf`, at most TXID_HIDDEN_LEN bytes and without a NUL, and returns its length; or a
/// txid_error, and then `message` says what is wrong.
///
/// # Safety
///
/// `hidden` must be from txid_hidden_open, `buf` valid for writes of TXID_HIDDEN_LEN bytes, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_hide(
    hidden: *const txid_hidden,
    number: u64,
    buf: *mut c_char,
    message: *mut c_char,
) -> i32 {
    let mut text = [0; TXID_HIDDEN_LEN];
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*hidden).0.hide_to(number, &mut text) {
            Ok(len) => {
                write(buf, text);
                len as i32
            }
            Err(error) => fail(txid_error::from(&error), &error, message),
        }
    }
}

/// Writes the number with the image `text` to `number`.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `number` is unchanged.
///
/// # Safety
///
/// `hidden` must be from txid_hidden_open, `text` valid for reads of `len` bytes, `number` for a write, `message` NULL or valid
/// for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_reveal(
    hidden: *const txid_hidden,
    text: *const c_char,
    len: usize,
    number: *mut u64,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*hidden).0.reveal(bytes(text, len)) {
            Ok(revealed) => {
                number.write(revealed);
                0
            }
            Err(error) => fail(txid_error::from(&error), &error, message),
        }
    }
}

/// Writes the image of `text`, a number in decimal digits or a UUID of version 7, to `buf`, or returns a txid_error, as
/// txid_hidden_hide does. The image of a UUID is one of version 4, of 36 bytes. `buf` may be where `text` is.
///
/// # Safety
///
/// As for txid_hidden_hide; also, `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_hide_text(
    hidden: *const txid_hidden,
    text: *const c_char,
    len: usize,
    buf: *mut c_char,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*hidden).0.hide_text(bytes(text, len)) {
            Ok(image) => write_text(&image, buf),
            Err(error) => fail(txid_error::from(&error), &error, message),
        }
    }
}

/// Writes the number with the image `text` in decimal digits, or the UUID with it, to `buf`, at most TXID_HIDDEN_LEN bytes
/// and without a NUL, and returns its length; or a txid_error, and then `message` says what is wrong. `buf` may be where
/// `text` is.
///
/// # Safety
///
/// As for txid_hidden_hide_text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_hidden_reveal_text(
    hidden: *const txid_hidden,
    text: *const c_char,
    len: usize,
    buf: *mut c_char,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*hidden).0.reveal_text(bytes(text, len)) {
            Ok(text) => write_text(&text, buf),
            Err(error) => fail(txid_error::from(&error), &error, message),
        }
    }
}

impl From<&HiddenError> for txid_error {
    fn from(error: &HiddenError) -> Self {
        match error {
            HiddenError::KeyFile(error) => match error.flaw {
                KeyFlaw::File { .. } | KeyFlaw::NotAFile | KeyFlaw::OpenToOthers { .. } | KeyFlaw::NoMemory(_) => {
                    Self::KeyFile
                }
                _ => Self::Key,
            },
            HiddenError::Period(_) => Self::Key,
            HiddenError::Segment(error) => error.into(),
            _ => Self::Option,
        }
    }
}

impl From<&NotHidden> for txid_error {
    fn from(error: &NotHidden) -> Self {
        match error {
            NotHidden::NoUuid(error) => (*error).into(),
            NotHidden::OtherKey { .. } => Self::OtherKey,
            _ => Self::HiddenNumber,
        }
    }
}

impl From<&NotRevealed> for txid_error {
    fn from(error: &NotRevealed) -> Self {
        match error {
            NotRevealed::Length { .. } => Self::Length,
            NotRevealed::Character { .. } => Self::Character,
            NotRevealed::Check => Self::HiddenCheck,
            NotRevealed::Period(_) => Self::HiddenPeriod,
            NotRevealed::NoUuid(error) => (*error).into(),
            NotRevealed::OtherKey { .. } => Self::OtherKey,
            _ => Self::HiddenNumber,
        }
    }
}
