//! Why a text is not what it was read as: one error for all formats but the id's own.

use std::fmt;

/// Why a text is not of the format it was read as.
///
/// ```
/// let error = txid::uuid::read("not-a-uuid").unwrap_err();
/// assert_eq!(error.to_string(), "10 characters, a UUID has 36");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The text has not as many bytes as the format.
    Length {
        /// How many it has.
        found: usize,
        /// How many there should be, in words.
        expected: &'static str,
    },
    /// A byte is not one that may stand there.
    Character {
        /// The place, counted from 1.
        position: usize,
        /// What stands there.
        byte: u8,
        /// What may stand there, in words.
        expected: &'static str,
    },
    /// The characters are right, but what they say is not allowed; in words.
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
