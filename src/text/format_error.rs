//! Why a text could not be read.

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
    /// Of the last character, some bits are after the last one of the id, and are not zero.
    LastCharacter {
        /// The position, counted from 1.
        position: usize,
        /// The byte at that position.
        byte: u8,
    },
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
            Self::LastCharacter { position, byte } => {
                write!(f, "character {position} is '{}', but the last one must be '0' or 'g'", byte.escape_ascii())
            }
        }
    }
}

impl std::error::Error for FormatError {}
