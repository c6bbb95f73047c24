//! Why a key cannot be used, a number not be hidden, or a text not be read. No message has a part of a key.

use crate::segment::SegmentError;
use crate::shared::key_check::KeyCheck;
use std::fmt;
use std::path::Path;
use txid_keyed::KeyFileError;

/// Why a [`Hidden`](super::Hidden) could not be made.
#[derive(Debug)]
pub enum HiddenError {
    /// The file of the key is refused.
    KeyFile(KeyFileError),
    /// The length of a name that does not have 1 to 128 bytes.
    Name(usize),
    /// Numbers have 6 to 19 digits.
    Digits(u32),
    /// Numbers have 4 to 13 letters.
    Letters(u32),
    /// The page of the segment could not be opened.
    Segment(SegmentError),
    /// An option of a configuration is wrong; this says how.
    Option(String),
}

impl fmt::Display for HiddenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyFile(error) => error.fmt(f),
            Self::Name(0) => f.write_str("a series of hidden numbers needs a name, such as orders"),
            Self::Name(bytes) => write!(f, "the name of a series has at most 128 bytes, not {bytes}"),
            Self::Digits(digits) => write!(f, "hidden numbers have 6 to 19 digits, not {digits}"),
            Self::Letters(letters) => write!(f, "hidden numbers have 4 to 13 letters, not {letters}"),
            Self::Segment(error) => error.fmt(f),
            Self::Option(what) => f.write_str(what),
        }
    }
}

// No source: the message includes it already.
impl std::error::Error for HiddenError {}

/// Why a number was not hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotHidden {
    /// The text is not a number of at most 64 bits in decimal digits.
    NoNumber,
    /// The number is above the last one that has an image of this length.
    TooLarge {
        /// The number.
        number: u64,
        /// The last one.
        last: u64,
    },
    /// The numbers of this segment are hidden by another key.
    OtherKey {
        /// The page of the segment.
        page: Option<&'static Path>,
        /// The key that numbers would have been hidden by.
        ours: KeyCheck,
        /// The one that the store has for the same period.
        theirs: Option<KeyCheck>,
    },
}

impl fmt::Display for NotHidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoNumber => f.write_str("it is not a number of at most 64 bits in decimal digits"),
            Self::TooLarge { number, last } => {
                write!(f, "{number} is above {last}, the last number that is hidden here; take more digits or letters")
            }
            Self::OtherKey { page, ours, theirs } => {
                let name = page.and_then(Path::file_stem).map_or("this segment".into(), |name| name.to_string_lossy());
                match theirs {
                    Some(theirs) => write!(
                        f,
                        "numbers of {name} are hidden by the key {theirs} in its store, and the key here is {ours}: give each host the same key file"
                    ),
                    None => write!(
                        f,
                        "the store of {name} does not know the key {ours} yet: give it to txid-agent, as key = \"{ours}\""
                    ),
                }
            }
        }
    }
}

impl std::error::Error for NotHidden {}

/// Why a text has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRevealed {
    /// The text has the wrong length.
    Length {
        /// Its length in bytes.
        found: usize,
        /// The length of a number, without the digit of a period.
        least: usize,
        /// The length with it; the same if no key has a period.
        most: usize,
    },
    /// A character is not one of those that numbers are written in.
    Character {
        /// Its position, counted from 1.
        position: usize,
        /// The byte at that position.
        byte: u8,
    },
    /// The last character does not fit the others.
    Check,
    /// There is no key for this period.
    Period(u8),
    /// No number has this image.
    NoNumber,
}

impl fmt::Display for NotRevealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { found, least, most } if least == most => write!(f, "{least} characters, not {found}"),
            Self::Length { found, least, most } => write!(f, "{least} or {most} characters, not {found}"),
            Self::Character { position, byte } => {
                write!(f, "character {position} is '{}', which hidden numbers do not have", byte.escape_ascii())
            }
            Self::Check => f.write_str("its check digit is wrong: a character is wrong, or two are swapped"),
            Self::Period(period) => write!(f, "it is of period {period}, which has no key here"),
            Self::NoNumber => f.write_str("no number has this image"),
        }
    }
}

impl std::error::Error for NotRevealed {}
