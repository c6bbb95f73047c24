//! Memory that the caller owns: what is read from it, and what is written to it.

use crate::error::txid_error;
use std::ffi::c_char;
use std::fmt::Display;
use std::io::Write;

/// How many bytes a function that takes a `message` may write there: text that says what is wrong, cut off if need be, and
/// a NUL at its end. Where nothing is wrong, nothing is written.
pub const TXID_MESSAGE_LEN: usize = 1024;

/// The `len` bytes at `text`.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes for as long as the result is used. Where `len` is 0, it may be anything.
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

/// The place at `buf` for a text.
///
/// # Safety
///
/// `buf` must be valid for writes of `LEN` bytes for as long as the result is used, and nobody else may use it.
#[inline(always)]
pub(crate) unsafe fn place<'a, const LEN: usize>(buf: *mut c_char) -> &'a mut [u8; LEN] {
    // SAFETY: the caller's promise; a byte array takes any address and any content.
    unsafe { &mut *buf.cast() }
}

/// Passes on what was read to `write`, which gives it to the caller.
pub(crate) fn written_if_read<T, E: Into<txid_error>>(read: Result<T, E>, write: impl FnOnce(T)) -> i32 {
    match read {
        Ok(parts) => {
            write(parts);
            0
        }
        Err(error) => error.into() as i32,
    }
}

/// Writes to `message` why there was an `error`, whose code is returned.
///
/// # Safety
///
/// `message` must be valid for writes of TXID_MESSAGE_LEN bytes.
#[cold]
pub(crate) unsafe fn fail(error: txid_error, why: &dyn Display, message: *mut c_char) -> i32 {
    let mut text = [0; TXID_MESSAGE_LEN];
    // What does not fit is cut off.
    let _ = write!(&mut text[..TXID_MESSAGE_LEN - 1], "{why}");
    let len = text.iter().position(|&byte| byte == 0).unwrap_or(TXID_MESSAGE_LEN - 1);
    // SAFETY: the caller vouches for more than the text and its NUL.
    unsafe { message.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len + 1) };
    error as i32
}
