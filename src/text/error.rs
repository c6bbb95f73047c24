//! Why a text could not be read: one error for the 20-character id, one for all other formats.

use super::base32hex::LEN_OF_96_BITS;
use std::fmt;

/// Why a text is not of the format it was read as.
///
/// ```
/// let error = txid::uuid::read("not-a-uuid").unwrap_err();
/// assert_eq!(error.to_string(), "10 characters, a UUID has 36");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The text does not have as many bytes as the format.
    Length {
        /// How many it has.
        found: usize,
        /// How many there should be, in words.
        expected: &'static str,
    },
    /// A byte is not allowed at its position.
    Character {
        /// The position, counted from 1.
        position: usize,
        /// The byte at that position.
        byte: u8,
        /// What is allowed there, in words.
        expected: &'static str,
    },
    /// The characters are valid, but their value is not; the reason in words.
    Value(&'static str),
}

impl FormatError {
    /// Fails unless `byte`, the one at `index`, is the `wanted` one.
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
            Self::Length { found, expected } => write!(f, "{found} characters, {expected}"),
            Self::Character { position, byte, expected } => {
                write!(f, "character {position} is '{}', not {expected}", byte.escape_ascii())
            }
            Self::Value(what) => f.write_str(what),
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
    /// The last character holds one bit, so it is `0` or `g`; it is this one.
    LastCharacter(u8),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length(length) => write!(f, "{length} characters, an id has {}", LEN_OF_96_BITS),
            Self::Character { position, byte } => {
                write!(f, "character {position} is '{}', not base32hex", byte.escape_ascii())
            }
            Self::LastCharacter(byte) => {
                write!(f, "character {} is '{}', the last one is '0' or 'g'", LEN_OF_96_BITS, byte.escape_ascii())
            }
        }
    }
}

impl std::error::Error for ParseError {}
