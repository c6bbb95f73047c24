//! Why a text could not be read.

use super::error_texts;

/// Why a text could not be read as an id of its format.
///
/// ```
/// use txid::FormatErrorKind;
///
/// let error = txid::uuid::read("not-a-uuid").unwrap_err();
/// assert_eq!(error.to_string(), "a UUID has 36 characters, not 10");
/// assert_eq!(error.kind(), FormatErrorKind::Length);
///
/// let error = "4om9qi54la8ffr4bd9s!".parse::<txid::Txid>().unwrap_err();
/// assert_eq!((error.kind(), error.position()), (FormatErrorKind::Character, Some(20)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatError(Why);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Length { found: usize, expected: &'static str },
    Character { position: usize, byte: u8, expected: &'static str },
    Value(&'static str),
    LastCharacter { position: usize, byte: u8, expected: &'static str },
    NoFormat { found: usize },
}

/// What kind of error a [`FormatError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The text has the wrong length.
    Length,
    /// A byte is not allowed at its position.
    Character,
    /// The characters are valid, but their value is not.
    Value,
    /// The last character has bits after the last one of the id that are not zero.
    LastCharacter,
    /// No format has ids of such a length.
    NoFormat,
}

impl FormatError {
    /// `expected` are the lengths of the format, as the beginning of a sentence.
    pub(crate) const fn length(found: usize, expected: &'static str) -> Self {
        Self(Why::Length { found, expected })
    }

    /// `expected` are the characters that are allowed at the position, which is counted from 1.
    pub(crate) const fn character(position: usize, byte: u8, expected: &'static str) -> Self {
        Self(Why::Character { position, byte, expected })
    }

    pub(crate) const fn value(what: &'static str) -> Self {
        Self(Why::Value(what))
    }

    pub(crate) const fn last_character(position: usize, byte: u8, expected: &'static str) -> Self {
        Self(Why::LastCharacter { position, byte, expected })
    }

    pub(crate) const fn no_format(found: usize) -> Self {
        Self(Why::NoFormat { found })
    }

    /// The kind of error, for programs.
    pub fn kind(&self) -> FormatErrorKind {
        match self.0 {
            Why::Length { .. } => FormatErrorKind::Length,
            Why::Character { .. } => FormatErrorKind::Character,
            Why::Value(_) => FormatErrorKind::Value,
            Why::LastCharacter { .. } => FormatErrorKind::LastCharacter,
            Why::NoFormat { .. } => FormatErrorKind::NoFormat,
        }
    }

    /// The position of the byte that is wrong, counted from 1; None if no single byte is.
    pub fn position(&self) -> Option<usize> {
        match self.0 {
            Why::Character { position, .. } | Why::LastCharacter { position, .. } => Some(position),
            Why::Length { .. } | Why::Value(_) | Why::NoFormat { .. } => None,
        }
    }
}

error_texts! { FormatError {
    Self(Why::Length { found, expected }) => "{expected} characters, not {found}";
    Self(Why::Character { position, byte, expected }) =>
        "character {position} is '{}', not {expected}", byte.escape_ascii();
    Self(Why::Value(what)) => "{what}";
    Self(Why::LastCharacter { position, byte, expected }) =>
        "character {position} is '{}', but the last one must be {expected}", byte.escape_ascii();
    Self(Why::NoFormat { found }) => "no format has ids of {found} characters";
} }
