//! Hides sequential numbers behind a keyed permutation of the numbers of one length.
//!
//! A database keeps the number, and the world sees its image. Each number has one image, all of the same length, and nothing
//! is stored. The permutation is FF1 of NIST SP 800-38G with AES; `docs/hidden.md` says what it promises.
//!
//! ```
//! use txid::hidden::{Hidden, Shape};
//!
//! # let directory = std::env::temp_dir().join(format!("txid-hidden-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let key_file = directory.join("orders.key");
//! # std::fs::write(&key_file, "2B7E151628AED2A6ABF7158809CF4F3C\n")?;
//! # std::fs::set_permissions(&key_file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
//! let orders = Hidden::open(&key_file, "orders", Shape::Digits(10))?;
//! let shown = orders.hide(42)?;
//! assert_eq!(shown.len(), 10);
//! assert_eq!(orders.reveal(shown.as_bytes())?, 42);
//! # assert_eq!(&*shown, "5761677444");
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alphabet;
mod hidden_error;
mod options;

pub use crate::shared::key_check::{KeyCheck, NoKeyCheck};
pub use hidden_error::{HiddenError, NotHidden, NotRevealed};
pub use txid_keyed::{KeyFileError, KeyFlaw};

use crate::segment::Segment;
use crate::source::{cancellation, entropy};
use crate::text::decimal;
use alphabet::Alphabet;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use txid_keyed::{Key, Keys};

/// The length of the longest hidden number: the digit of a period, 19 digits, and a check digit.
const MAX_LEN: usize = 21;

/// The longest name of a series: that of a tag.
const MAX_NAME_LEN: usize = 128;

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The number of digits, 6 to 19.
    Digits(u32),
    /// The number of letters, 4 to 13: `0-9a-z` without `i l o u`. In upper case they are read as well, `o` as 0, and `i`
    /// and `l` as 1.
    Letters(u32),
}

impl Shape {
    fn parts(self) -> Result<(Alphabet, u32), HiddenError> {
        match self {
            Self::Digits(digits @ 6..=19) => Ok((Alphabet::Digits, digits)),
            Self::Letters(letters @ 4..=13) => Ok((Alphabet::Letters, letters)),
            Self::Digits(digits) => Err(HiddenError::Digits(digits)),
            Self::Letters(letters) => Err(HiddenError::Letters(letters)),
        }
    }
}

/// Hides the numbers of one series, and reveals them. Any thread may use it, and any child.
pub struct Hidden {
    /// The last one hides.
    keys: Keys,
    alphabet: Alphabet,
    /// The lengths of an image's halves.
    halves: [usize; 2],
    has_check_digit: bool,
    last: u64,
    /// The segment of the numbers, and the key that hides here.
    segment: Option<(Segment, KeyCheck)>,
}

/// A hidden number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shown {
    text: [u8; MAX_LEN],
    len: u8,
}

impl Deref for Shown {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        // SAFETY: it is digits and letters of ASCII.
        unsafe { std::str::from_utf8_unchecked(&self.text[..usize::from(self.len)]) }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Hidden {
    /// The length of the longest hidden number, in bytes.
    pub const MAX_LEN: usize = MAX_LEN;

    /// Reads the key from a file that only its owner may read. With another name, the images are others.
    ///
    /// A line of the file is a key in hexadecimal digits, as `txid key` makes it, after a digit and a space if images are to
    /// begin with that digit. The last line hides, and all lines reveal.
    pub fn open(key_file: &Path, name: &str, shape: Shape) -> Result<Self, HiddenError> {
        let (alphabet, length) = shape.parts()?;
        if !(1..=MAX_NAME_LEN).contains(&name.len()) {
            return Err(HiddenError::Name(name.len()));
        }
        let keys = keys(key_file, alphabet.radix(), length, name.as_bytes())?;
        let last = u128::from(alphabet.radix()).pow(length) - 1;
        Ok(Self {
            keys,
            alphabet,
            halves: [length / 2, length - length / 2].map(|length| length as usize),
            has_check_digit: false,
            last: u64::try_from(last).unwrap_or(u64::MAX),
            segment: None,
        })
    }

    /// The same with a check digit at the end of each number: one wrong character, or two neighbours that are swapped, do
    /// not make another number.
    pub fn with_check_digit(self) -> Self {
        Self { has_check_digit: true, ..self }
    }

    /// The same for numbers of this segment. They are only hidden by the key that the segment's store has: hosts with
    /// different keys would show one text for two numbers.
    pub fn of_segment(self, segment: Segment) -> Self {
        let check = check_of(self.current());
        Self { segment: Some((segment, check)), ..self }
    }

    /// The image of a number.
    ///
    /// # Errors
    ///
    /// [`NotHidden`], if the number is too large, or the store of its segment has another key.
    #[inline]
    pub fn hide(&self, number: u64) -> Result<Shown, NotHidden> {
        let mut shown = Shown { text: [0; MAX_LEN], len: 0 };
        shown.len = self.hide_to(number, &mut shown.text)? as u8;
        Ok(shown)
    }

    /// Writes the image of a number to `text`, and returns its length.
    ///
    /// # Errors
    ///
    /// As for [`Hidden::hide`].
    #[inline]
    pub fn hide_to(&self, number: u64, text: &mut [u8; MAX_LEN]) -> Result<usize, NotHidden> {
        if let Some((segment, ours)) = &self.segment {
            if segment.key_check(ours.period()) != Some(*ours) {
                return Err(other_key(segment, *ours));
            }
        }
        if number > self.last {
            return Err(NotHidden::TooLarge { number, last: self.last });
        }
        let key = self.current();
        let [left, right] = key.permutation.hide(number);

        let mut begin = 0;
        if let Some(period) = key.period {
            text[0] = b'0' + period;
            begin = 1;
        }
        let middle = begin + self.halves[0];
        let mut end = middle + self.halves[1];
        self.alphabet.write(&mut text[begin..middle], left);
        self.alphabet.write(&mut text[middle..end], right);
        if self.has_check_digit {
            let values = text[..end].iter().filter_map(|character| self.alphabet.value(*character));
            text[end] = self.alphabet.character(self.alphabet.check(values));
            end += 1;
        }
        Ok(end)
    }

    /// The image of a number in decimal digits.
    ///
    /// # Errors
    ///
    /// As for [`Hidden::hide`], and if the text is not a number.
    pub fn hide_text(&self, digits: &[u8]) -> Result<Shown, NotHidden> {
        let number = decimal::decode(digits, 0, digits.len()).map_err(|_| NotHidden::NoNumber)?;
        self.hide(number)
    }

    /// The number with this image. The number may never have been given out, and the sender may have no right to the thing
    /// with that number.
    ///
    /// # Errors
    ///
    /// [`NotRevealed`] says why the text is no hidden number.
    #[inline]
    pub fn reveal(&self, text: &[u8]) -> Result<u64, NotRevealed> {
        let check = usize::from(self.has_check_digit);
        let length = self.halves[0] + self.halves[1] + check;
        let has_period = text.len() > length;
        let begin = usize::from(has_period);
        if text.len() != length + begin || !self.keys.iter().any(|key| key.period.is_some() == has_period) {
            return Err(self.wrong_length(text.len(), length));
        }
        let values = text.iter().map(|byte| self.alphabet.value(*byte));
        if let Some(place) = values.clone().position(|value| value.is_none()) {
            return Err(NotRevealed::Character { position: place + 1, byte: text[place] });
        }
        let values = values.flatten();
        if self.has_check_digit && self.alphabet.check(values.clone()) != 0 {
            return Err(NotRevealed::Check);
        }
        let period = values.clone().next().filter(|_| has_period);
        let Some(key) = self.keys.iter().find(|key| key.period == period) else {
            return Err(NotRevealed::Period(period.unwrap_or_default()));
        };

        let number = |values: &mut dyn Iterator<Item = u8>| {
            values.fold(0, |number, value| number * u64::from(self.alphabet.radix()) + u64::from(value))
        };
        let mut values = values.skip(begin);
        let left = number(&mut values.by_ref().take(self.halves[0]));
        let right = number(&mut values.take(self.halves[1]));
        u64::try_from(key.permutation.reveal([left, right])).map_err(|_| NotRevealed::NoNumber)
    }

    #[inline(always)]
    fn current(&self) -> &Key {
        &self.keys[self.keys.len() - 1]
    }

    #[cold]
    fn wrong_length(&self, found: usize, length: usize) -> NotRevealed {
        let has = |with: bool| self.keys.iter().any(|key| key.period.is_some() == with);
        NotRevealed::Length { found, least: length + usize::from(!has(false)), most: length + usize::from(has(true)) }
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

#[cold]
fn other_key(segment: &Segment, ours: KeyCheck) -> NotHidden {
    NotHidden::OtherKey { page: segment.path(), ours, theirs: segment.key_check(ours.period()) }
}

fn keys(path: &Path, radix: u32, length: u32, tweak: &[u8]) -> Result<Keys, HiddenError> {
    cancellation::held_up(|| Keys::read(path, radix, length, tweak)).map_err(HiddenError::KeyFile)
}

fn check_of(key: &Key) -> KeyCheck {
    KeyCheck::new(key.period, key.permutation.check_value())
}

/// The check values of the keys in a file, which an agent may know.
pub fn key_checks(key_file: &Path) -> Result<Vec<KeyCheck>, HiddenError> {
    let keys = keys(key_file, 10, 6, b"")?;
    Ok(keys.iter().map(check_of).collect())
}

/// A new key; None if the operating system has no randomness.
pub fn new_key() -> Option<[u8; 16]> {
    entropy::system_bytes()
}
