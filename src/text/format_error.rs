//! Why a text could not be read: one error for the 20-character id, and one for all other formats.

use super::base32hex::LEN_OF_96_BITS;
use std::fmt;

/// Why a text could not be read as an id of its format.
///
/// ```
/// let error = txid::uuid::read("not-a-uuid").unwrap_err();
/// assert_eq!(error.to_string(), "a UUID has 36 characters, not 10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The text has the wrong length.
    Length {
        /// Its length in bytes.
        found: usize,
        /// The lengths of the format, as the beginning of a sentence.
        expected: &'static str,
    },
    /// A byte is not allowed at its position.
    Character {
        /// The position, counted from 1.
        position: usize,
        /// The byte at that position.
        byte: u8,
        /// The characters that are allowed there.
        expected: &'static str,
    },
    /// The characters are valid, but their value is not; this says why.
    Value(&'static str),
    /// The text is not an id of 20 characters.
    Txid(ParseError),
}

impl From<ParseError> for FormatError {
    fn from(error: ParseError) -> Self {
        Self::Txid(error)
    }
}

impl FormatError {
    /// Fails unless the byte at `index` is `wanted`.
    pub(crate) fn unless_byte_is(text: &[u8], index: usize, wanted: u8, expected: &'static str) -> Result<(), Self> {
        match text[index] == wanted {
            true => Ok(()),
            false => Err(Self::Character { position: index + 1, byte: text[index], expected }),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { found, expected } => write!(f, "{expected} characters, not {found}"),
            Self::Character { position, byte, expected } => {
                write!(f, "character {position} is '{}', not {expected}", byte.escape_ascii())
            }
            Self::Value(what) => f.write_str(what),
            Self::Txid(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FormatError {}

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The text has this many bytes instead of 20.
    Length(usize),
    /// The byte at this position, counted from 1, is not one of `0-9a-vA-V`.
    Character {
        /// The position, counted from 1.
        position: usize,
        /// The byte at that position.
        byte: u8,
    },
    /// The last character holds one bit, so it must be `0` or `g`; this is the character found.
    LastCharacter(u8),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length(length) => write!(f, "an id has {LEN_OF_96_BITS} characters, not {length}"),
            Self::Character { position, byte } => {
                write!(f, "character {position} is '{}', not base32hex", byte.escape_ascii())
            }
            Self::LastCharacter(byte) => {
                let byte = byte.escape_ascii();
                write!(f, "character {LEN_OF_96_BITS} is '{byte}', but the last one must be '0' or 'g'")
            }
        }
    }
}

impl std::error::Error for ParseError {}
