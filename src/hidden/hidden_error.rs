//! Why a key cannot be used, a number or a UUID not be hidden, or a text not be read. No message has a part of a key.

use crate::segment::SegmentError;
use crate::shared::key_check::KeyCheck;
use crate::text::{FormatError, error_texts};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use txid_keyed::KeyFileError;

/// Why a [`Hidden`](super::Hidden) could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum HiddenError {
    /// The file of the key is refused.
    KeyFile(KeyFileError),
    /// The length of a name that does not have 1 to 128 bytes.
    Name(usize),
    /// Numbers have 6 to 19 digits.
    Digits(u32),
    /// Numbers have 4 to 13 letters.
    Letters(u32),
    /// A key of UUIDs has the digit of a period, for which their images have no place.
    Period(PathBuf),
    /// The page of the segment could not be opened.
    Segment(SegmentError),
    /// An option of a configuration is wrong; this says how.
    Option(String),
}

error_texts! { HiddenError {
    Self::KeyFile(error) => "{error}";
    Self::Name(0) => "a series of hidden numbers needs a name, such as orders";
    Self::Name(bytes) => "the name of a series has at most 128 bytes, not {bytes}";
    Self::Digits(digits) => "hidden numbers have 6 to 19 digits, not {digits}";
    Self::Letters(letters) => "hidden numbers have 4 to 13 letters, not {letters}";
    Self::Period(path) =>
        "the images of UUIDs have no place for the digit of a period, and a key in {} has one: give UUIDs a file with one key, and no digit before it",
        path.display();
    Self::Segment(error) => "{error}";
    Self::Option(what) => "{what}";
} }

/// Why a number or a UUID was not hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotHidden {
    /// It is not a number of at most 64 bits, in decimal digits.
    NoNumber,
    /// It is not a UUID of version 7.
    NoUuid(FormatError),
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

error_texts! { NotHidden {
    Self::NoNumber => "it is not a number of at most 64 bits in decimal digits";
    Self::NoUuid(error) => "{error}";
    Self::TooLarge { number, last } =>
        "{number} is above {last}, the last number that is hidden here; take more digits or letters";
    Self::OtherKey { page, ours, theirs: Some(theirs) } => "{}", of_another_key(*page, *ours, *theirs);
    Self::OtherKey { page, ours, theirs: None } =>
        "the store of {} does not know the key {ours} yet: give it to txid-agent, as key-checks = [\"{ours}\"]", name_of(*page);
} }

fn name_of(page: Option<&'static Path>) -> Cow<'static, str> {
    page.and_then(Path::file_stem).map_or("this segment".into(), |name| name.to_string_lossy())
}

fn of_another_key(page: Option<&'static Path>, ours: KeyCheck, theirs: KeyCheck) -> String {
    let name = name_of(page);
    if theirs.is_retired() {
        let period = ours.period().map_or("without a period".to_string(), |period| format!("of period {period}"));
        return format!("the key {period} is retired in the store of {name}: take its line out of the key file");
    }
    let what = if ours.has_key_of(theirs) { "name, length and check digit" } else { "key file" };
    format!(
        "numbers of {name} are hidden by the key {theirs} in its store, and the key here is {ours}: give each host the same {what}"
    )
}

/// Why a text has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// It is not a UUID of version 4.
    NoUuid(FormatError),
    /// The store of the segment has another key for this period, by which this is the image of another number.
    OtherKey {
        /// The page of the segment.
        page: Option<&'static Path>,
        /// The key that the image would have been read by.
        ours: KeyCheck,
        /// The one that the store has for the same period.
        theirs: KeyCheck,
    },
}

error_texts! { NotRevealed {
    Self::Length { found, least, most } if least == most => "{least} characters, not {found}";
    Self::Length { found, least, most } => "{least} or {most} characters, not {found}";
    Self::Character { position, byte } =>
        "character {position} is '{}', which hidden numbers do not have", byte.escape_ascii();
    Self::Check => "its check digit is wrong: a character is wrong, or two are swapped";
    Self::Period(period) => "it is of period {period}, which has no key here";
    Self::NoNumber => "no number has this image";
    Self::NoUuid(error) => "{error}";
    Self::OtherKey { page, ours, theirs } => "{}", of_another_key(*page, *ours, *theirs);
} }
