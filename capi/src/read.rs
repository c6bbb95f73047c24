//! What an id of a named format holds.

use crate::caller::{bytes, fail, txid_text};
use crate::error::txid_error;
use ::txid::formats::{self, Anatomy, Numbers, Value};
use ::txid::snowflake::Layout;
use std::ffi::c_char;
use std::fmt::{self, Display};
use std::io::Write;

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
#[derive(Clone, Copy)]
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
/// txid_maker_open, and writes what it holds to `parts`; tests/vectors/README.md has the parts of each format. "uuid" reads a UUID of
/// any version, "snowflake" a 64-bit id in the layout of that name: txid_snowflake_decode reads others.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and where, and `parts` is unchanged.
///
/// # Safety
///
/// `format` must be valid for reads of `format_len` bytes, `text` of `len` bytes, `parts` for a write, `message` for writes
/// of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_read(
    format: *const c_char,
    format_len: usize,
    text: *const c_char,
    len: usize,
    parts: *mut txid_parts,
    message: *mut c_char,
) -> i32 {
    const NUMBERS: Numbers = Numbers { layout: Layout::SNOWFLAKE, is_chosen: true };

    // SAFETY: the caller vouches for both texts.
    let (name, text) = unsafe { (bytes(format, format_len), bytes(text, len)) };
    match std::str::from_utf8(name).ok().and_then(|name| formats::read(name, text, &NUMBERS)) {
        // SAFETY: the caller vouches for `parts`.
        Some(Ok(read)) => unsafe { parts.write(parts_of(&read)) },
        // SAFETY: the caller's promise is the same.
        Some(Err(error)) => return unsafe { fail(txid_error::from(error), &error, message) },
        // SAFETY: the caller's promise is the same.
        None => return unsafe { fail(txid_error::Option, &NotRead(name), message) },
    }
    0
}

fn parts_of(read: &Anatomy) -> txid_parts {
    let none = txid_part { name: txid_text::of(""), value: 0, text_len: 0, text: [0; TXID_PART_LEN], number: 0 };
    let mut parts = txid_parts { ms: read.ms.unwrap_or(i64::MIN), count: read.parts.len(), list: [none; TXID_PARTS_MAX] };
    for (part, (name, value)) in parts.list.iter_mut().zip(&read.parts) {
        let (kind, number) = match value {
            Value::Text(_) => (txid_value::Text, 0),
            Value::Number(number) => (txid_value::Number, *number),
            Value::Flag(flag) => (txid_value::Flag, u64::from(*flag)),
        };
        *part = txid_part { name: txid_text::of(name), value: kind as u8, number, ..none };
        let mut left = &mut part.text[..];
        // No text is longer.
        let _ = write!(Chars(&mut left), "{value}");
        part.text_len = (TXID_PART_LEN - left.len()) as u8;
    }
    parts
}

/// Room for characters of C, from its beginning on.
struct Chars<'a, 'b>(&'a mut &'b mut [c_char]);

impl Write for Chars<'_, '_> {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let count = text.len().min(self.0.len());
        let (written, left) = std::mem::take(self.0).split_at_mut(count);
        for (place, byte) in written.iter_mut().zip(text) {
            *place = *byte as c_char;
        }
        *self.0 = left;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
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
