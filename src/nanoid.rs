//! Nano ID: 21 characters of `A-Za-z0-9_-`, 126 random bits.

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy};
use crate::text::FormatError;

/// The number of characters of an id's text.
const LEN: usize = 21;

pub(crate) const FORMAT: Format = Format {
    name: "nanoid",
    title: "Nano ID",
    about: "Nano ID, 21 random characters",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        holds: |text, _| read(text).ok().and_then(|()| Holds::no_time(126)),
        time: None,
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    read(text)?;
    Ok(Anatomy::new(String::from_utf8_lossy(text), Vec::new()))
};

fn read(text: &[u8]) -> Result<(), FormatError> {
    if text.len() != LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a Nano ID has 21" });
    }
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match text.iter().position(|&byte| !is_one(byte)) {
        Some(at) => Err(FormatError::Character { position: at + 1, byte: text[at], expected: "one of A-Za-z0-9_-" }),
        None => Ok(()),
    }
}
