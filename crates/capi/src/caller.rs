//! Memory that the caller owns: reading from it, and writing to it.

use crate::error::txid_error;
use std::borrow::Cow;
use std::ffi::c_char;
use std::fmt::Display;
use std::io::Write;
use std::mem::MaybeUninit;

/// The size of the buffer for a `message`, which may be NULL. On error, functions write a text to it that says what is wrong,
/// truncated if necessary, and a final NUL. On success they write nothing, unless a function says so.
pub const TXID_MESSAGE_LEN: usize = 1024;

/// A text, laid out as nginx's ngx_str_t.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct txid_text {
    /// Its length in bytes.
    pub len: usize,
    /// Its bytes.
    pub data: *const c_char,
}

impl txid_text {
    pub(crate) fn of(text: &str) -> Self {
        Self { len: text.len(), data: text.as_ptr().cast() }
    }

    /// # Safety
    ///
    /// As for [`bytes`].
    pub(crate) unsafe fn bytes<'a>(&self) -> &'a [u8] {
        // SAFETY: the caller's promise is the same.
        unsafe { bytes(self.data, self.len) }
    }
}

/// A list of texts. Invalid UTF-8 is replaced, as in a message.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, and they for reads of their lengths, for as long as the result is
/// used.
pub(crate) unsafe fn words<'a>(list: *const txid_text, count: usize) -> Vec<Cow<'a, str>> {
    // SAFETY: the caller vouches for the list and its texts.
    unsafe { (0..count).map(|index| String::from_utf8_lossy((*list.add(index)).bytes())).collect() }
}

/// The `len` bytes at `text`.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes for as long as the result is used. If `len` is 0, it may be any
/// pointer.
pub(crate) unsafe fn bytes<'a>(text: *const c_char, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise is the same.
    unsafe { std::slice::from_raw_parts(text.cast(), len) }
}

/// Writes an id's text to `buf`.
///
/// # Safety
///
/// `buf` must be valid for writes of `LEN` bytes.
#[inline(always)]
pub(crate) unsafe fn write<const LEN: usize>(buf: *mut c_char, text: [u8; LEN]) {
    // SAFETY: the caller's promise; a byte array needs no alignment.
    unsafe { buf.cast::<[u8; LEN]>().write(text) }
}

/// The buffer at `buf` as an array of zeros, for a call that cannot fail: the caller need not have written to it.
///
/// # Safety
///
/// `buf` must be valid for writes of `LEN` bytes for as long as the result is used, and nothing else may use it.
#[inline(always)]
pub(crate) unsafe fn place<'a, const LEN: usize>(buf: *mut c_char) -> &'a mut [u8; LEN] {
    // SAFETY: the caller's promise; a byte array takes any address, and has a value from here on.
    unsafe {
        write(buf, [0; LEN]);
        &mut *buf.cast()
    }
}

/// Writes a text to `buf`, and returns its length. Its source may be there, too.
///
/// # Safety
///
/// `buf` must be valid for writes of the text's length.
pub(crate) unsafe fn write_text(text: &str, buf: *mut c_char) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { buf.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    text.len() as i32
}

/// Writes a pointer to what was opened to `handle`, and returns 0; or writes the reason of an error to `message`, and returns its
/// code.
///
/// # Safety
///
/// `handle` must be valid for a write, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
pub(crate) unsafe fn give<T, E: Display>(
    opened: Result<T, (txid_error, E)>,
    handle: *mut *mut T,
    message: *mut c_char,
) -> i32 {
    match opened {
        Ok(opened) => {
            // SAFETY: the caller vouches for `handle`.
            unsafe { handle.write(Box::into_raw(Box::new(opened))) };
            0
        }
        // SAFETY: the caller's promise is the same.
        Err((code, why)) => unsafe { fail(code, &why, message) },
    }
}

/// An error in an option, for [`give`].
pub(crate) fn option<E>(error: E) -> (txid_error, E) {
    (txid_error::Option, error)
}

/// Writes `value` to the caller's struct, or its beginning to that of a program that was built with fewer fields.
///
/// # Safety
///
/// `place` must be valid for writes of `size` bytes.
pub(crate) unsafe fn write_beginning<T>(value: &T, place: *mut T, size: usize) {
    // SAFETY: the caller's promise, and no more than there is; the bytes of padding are copied as they are.
    unsafe {
        place.cast::<MaybeUninit<u8>>().copy_from_nonoverlapping((&raw const *value).cast(), size.min(size_of::<T>()))
    };
}

/// Passes the value of a successful read to `write`, which stores it in the caller's memory.
pub(crate) fn written_if_read<T, E: Into<txid_error>>(read: Result<T, E>, write: impl FnOnce(T)) -> i32 {
    match read {
        Ok(parts) => {
            write(parts);
            0
        }
        Err(error) => error.into() as i32,
    }
}

/// Writes the reason of an `error` to `message`, and returns its code.
///
/// # Safety
///
/// `message` must be valid for writes of TXID_MESSAGE_LEN bytes.
#[cold]
pub(crate) unsafe fn fail(error: txid_error, why: &dyn Display, message: *mut c_char) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe { tell(why, message) };
    error as i32
}

/// Writes a text to `message`, unless that is NULL.
///
/// # Safety
///
/// As for [`fail`].
#[cold]
pub(crate) unsafe fn tell(what: &dyn Display, message: *mut c_char) {
    if message.is_null() {
        return;
    }
    let mut text = [0; TXID_MESSAGE_LEN];
    // A longer text is truncated.
    let _ = write!(&mut text[..TXID_MESSAGE_LEN - 1], "{what}");
    let len = text.iter().position(|&byte| byte == 0).unwrap_or(TXID_MESSAGE_LEN - 1);
    // SAFETY: the caller vouches for a buffer larger than the text and its NUL.
    unsafe { message.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len + 1) };
}
