//! Why a text could not be read.

use super::error_texts;

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

error_texts! { FormatError {
    Self::Length { found, expected } => "{expected} characters, not {found}";
    Self::Character { position, byte, expected } =>
        "character {position} is '{}', not {expected}", byte.escape_ascii();
    Self::Value(what) => "{what}";
    Self::LastCharacter { position, byte } =>
        "character {position} is '{}', but the last one must be '0' or 'g'", byte.escape_ascii();
} }
