//! What nginx hands over, and where it wants to read what is wrong.

use ::txid::request::Header;
use std::borrow::Cow;
use std::ffi::c_char;
use std::fmt::Display;
use std::io::Write;

/// How many bytes a function that takes a `message` may write there: text that says what is wrong, cut off if need be, and
/// a NUL at its end.
pub const TXID_MESSAGE_LEN: usize = 1024;

/// An ngx_str_t.
#[repr(C)]
pub struct txid_text {
    /// How many bytes it has.
    pub len: usize,
    /// Where they are.
    pub data: *const c_char,
}

/// What a request has of one header.
#[repr(C)]
pub struct txid_header {
    /// How often it is there.
    pub count: usize,
    /// The value of the last one.
    pub value: txid_text,
}

impl txid_text {
    /// # Safety
    ///
    /// The text must be valid for reads of its length for as long as the result is used. Where it has none, it may be
    /// anywhere.
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

/// The words of a directive. What is not UTF-8 is shown as it would be in a message.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, and they for reads of their lengths, for as long as the result is used.
pub(crate) unsafe fn words<'a>(list: *const txid_text, count: usize) -> Vec<Cow<'a, str>> {
    // SAFETY: the caller vouches for the list and its texts.
    unsafe { (0..count).map(|index| String::from_utf8_lossy((*list.add(index)).bytes())).collect() }
}

/// Puts what was opened on the heap, for C to hold; or writes to `message` why it was not, and returns NULL.
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
    // What does not fit is cut off.
    let _ = write!(&mut text[..TXID_MESSAGE_LEN - 1], "{why}");
    // SAFETY: the caller vouches for the length, and a byte array needs no alignment.
    unsafe { message.cast::<[u8; TXID_MESSAGE_LEN]>().write(text) };
}
