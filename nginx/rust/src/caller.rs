//! The values that nginx passes in, and the messages that it gets back.

use ::txid::request::Header;
use std::borrow::Cow;
use std::ffi::c_char;
use std::fmt::Display;
use std::io::Write;

/// The size of the buffer for a `message`. On error, functions write a text to it that says what is wrong, truncated if
/// necessary, and a final NUL.
pub const TXID_MESSAGE_LEN: usize = 1024;

/// An ngx_str_t.
#[repr(C)]
pub struct txid_text {
    /// Its length in bytes.
    pub len: usize,
    /// Its bytes.
    pub data: *const c_char,
}

/// The values of one header in a request.
#[repr(C)]
pub struct txid_header {
    /// How often the request has it.
    pub count: usize,
    /// The last value.
    pub value: txid_text,
}

impl txid_text {
    /// # Safety
    ///
    /// The text must be valid for reads of its length for as long as the result is used. If its length is 0, it may be
    /// any pointer.
    pub(crate) unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's promise is the same.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) }
    }
}

impl txid_header {
    /// # Safety
    ///
    /// As for [`txid_text::bytes`].
    pub(crate) unsafe fn read<'a>(&self) -> Header<'a> {
        match self.count {
            0 => Header::Absent,
            // SAFETY: the caller's promise is the same.
            1 => Header::One(unsafe { self.value.bytes() }),
            _ => Header::Several,
        }
    }
}

/// The words of a directive. Invalid UTF-8 is replaced, as in a message.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, and they for reads of their lengths, for as long as the result is
/// used.
pub(crate) unsafe fn words<'a>(list: *const txid_text, count: usize) -> Vec<Cow<'a, str>> {
    // SAFETY: the caller vouches for the list and its texts.
    unsafe { (0..count).map(|index| String::from_utf8_lossy((*list.add(index)).bytes())).collect() }
}

/// Moves an opened value to the heap for C; on error, writes the reason to `message` and returns NULL.
///
/// # Safety
///
/// `message` must be valid for writes of TXID_MESSAGE_LEN bytes.
pub(crate) unsafe fn open<T, E: Display>(opened: Result<T, E>, message: *mut c_char) -> *mut T {
    match opened {
        Ok(opened) => Box::into_raw(Box::new(opened)),
        Err(error) => {
            // SAFETY: the caller's promise is the same.
            unsafe { write_message(&error, message) };
            std::ptr::null_mut()
        }
    }
}

/// # Safety
///
/// `message` must be valid for writes of TXID_MESSAGE_LEN bytes.
#[cold]
pub(crate) unsafe fn write_message(why: &dyn Display, message: *mut c_char) {
    let mut text = [0; TXID_MESSAGE_LEN];
    // A longer text is truncated.
    let _ = write!(&mut text[..TXID_MESSAGE_LEN - 1], "{why}");
    // SAFETY: the caller vouches for the length, and a byte array needs no alignment.
    unsafe { message.cast::<[u8; TXID_MESSAGE_LEN]>().write(text) };
}
