//! What an id of a named format holds.

use crate::caller::{bytes, fail, txid_text};
use crate::error::txid_error;
use ::txid::formats::{self, Anatomy, Numbers, Value};
use ::txid::snowflake::Layout;
use std::ffi::c_char;
use std::fmt::{self, Display};
use std::mem::offset_of;

/// No id has more parts.
pub const TXID_PARTS_MAX: usize = 8;

/// The length of the longest text of a part.
pub const TXID_PART_LEN: usize = 63;

/// What a part of an id is.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum txid_value {
    /// A text.
    Text = 0,
    /// A number.
    Number = 1,
    /// True or false.
    Flag = 2,
}

/// A part of an id.
#[repr(C)]
pub struct txid_part {
    /// Its name, such as sequence. The text belongs to the library.
    pub name: txid_text,
    /// A txid_value.
    pub value: u8,
    /// The length of its text.
    pub text_len: u8,
    /// Any part as text, without a NUL: 17, true, or 02:42:ac:11:00:02.
    pub text: [c_char; TXID_PART_LEN],
    /// A number; 1 or 0 for true or false; otherwise 0.
    pub number: u64,
}

/// What an id holds.
#[repr(C)]
pub struct txid_parts {
    /// Milliseconds since 1970-01-01 UTC; INT64_MIN if the id has no time, INT64_MAX for all later times. Those of a trace
    /// id count from its epoch.
    pub ms: i64,
    /// The number of its other parts.
    pub count: usize,
    /// These parts.
    pub list: [txid_part; TXID_PARTS_MAX],
}

/// Reads the `len` characters at `text` as an id of the format with the name of `format_len` characters at `format`, as in
/// txid_maker_open, and writes what it holds to `parts`, of which `size` is the size: a later version may have more.
/// tests/vectors/README.md has the parts of each format. "uuid" reads a UUID of any version, "snowflake" a 64-bit id in the
/// layout of that name: txid_snowflake_decode reads others.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and where, and `parts` is unchanged.
///
/// # Safety
///
/// `format` must be valid for reads of `format_len` bytes, `text` of `len` bytes, `parts` for writes of `size` bytes,
/// `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_read(
    format: *const c_char,
    format_len: usize,
    text: *const c_char,
    len: usize,
    parts: *mut txid_parts,
    size: usize,
    message: *mut c_char,
) -> i32 {
    const NUMBERS: Numbers = Numbers { layout: Layout::SNOWFLAKE, is_chosen: true };

    // SAFETY: the caller vouches for both texts.
    let (name, text) = unsafe { (bytes(format, format_len), bytes(text, len)) };
    match std::str::from_utf8(name).ok().and_then(|name| formats::read(name, text, &NUMBERS)) {
        // SAFETY: the caller vouches for `parts`.
        Some(Ok(read)) => unsafe { write(&read, parts, size) },
        // SAFETY: the caller's promise is the same.
        Some(Err(error)) => return unsafe { fail(txid_error::from(error), &error, message) },
        // SAFETY: the caller's promise is the same.
        None => return unsafe { fail(txid_error::Option, &NotRead(name), message) },
    }
    0
}

/// Writes the parts that there are and have room, and leaves the rest of the list as it is.
///
/// # Safety
///
/// `parts` must be valid for writes of `size` bytes.
unsafe fn write(read: &Anatomy, parts: *mut txid_parts, size: usize) {
    let Some(room) = size.checked_sub(offset_of!(txid_parts, list)) else { return };
    let found = &read.parts[..read.parts.len().min(room / size_of::<txid_part>())];
    // SAFETY: the caller vouches for all of it, and each part is within the list.
    unsafe {
        (&raw mut (*parts).ms).write(read.ms.unwrap_or(i64::MIN));
        (&raw mut (*parts).count).write(found.len());
        for (at, (name, value)) in found.iter().enumerate() {
            let place = (&raw mut (*parts).list).cast::<txid_part>().add(at);
            let mut digits = itoa::Buffer::new();
            let (kind, number, text) = match value {
                Value::Text(text) => (txid_value::Text, 0, &**text),
                Value::Number(number) => (txid_value::Number, *number, digits.format(*number)),
                Value::Flag(flag) => (txid_value::Flag, u64::from(*flag), if *flag { "true" } else { "false" }),
            };
            // No text is longer.
            let len = text.len().min(TXID_PART_LEN);
            (&raw mut (*place).name).write(txid_text::of(name));
            (&raw mut (*place).value).write(kind as u8);
            (&raw mut (*place).text_len).write(len as u8);
            (&raw mut (*place).text).cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len);
            (&raw mut (*place).number).write(number);
        }
    }
}

/// The name of no format that is read.
struct NotRead<'a>(&'a [u8]);

impl Display for NotRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not a format that is read; these are ", self.0.escape_ascii())?;
        f.write_str(&formats::names_read().collect::<Vec<_>>().join(", "))
    }
}
