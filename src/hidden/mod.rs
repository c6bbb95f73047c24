//! Hides sequential numbers and the times of UUIDs behind keyed permutations.
//!
//! A database keeps the number, or the UUID of version 7, and the world sees its image. Each has one image, all of the same
//! length, and nothing is stored. The permutation is FF1 of NIST SP 800-38G with AES; `docs/hidden.md` says what it
//! promises, and `docs/formats.md` has its bits.
//!
//! ```
//! use txid::hidden::{Hidden, Form};
//!
//! # let directory = std::env::temp_dir().join(format!("txid-hidden-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let key_file = directory.join("orders.key");
//! # std::fs::write(&key_file, "85962d72415d32da4f2c574c02c44ed9\n")?;
//! # std::fs::set_permissions(&key_file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
//! let orders = Hidden::open(&key_file, "orders", Form::Digits(10))?;
//! let shown = orders.hide(42)?;
//! assert_eq!(shown.len(), 10);
//! assert_eq!(orders.reveal(shown.as_bytes())?, 42);
//!
//! let payments = Hidden::open(&key_file, "payments", Form::Uuid)?;
//! let id = txid::uuid::v7();
//! let shown = payments.hide_uuid(id)?;
//! assert_eq!(shown.get_version_num(), 4);
//! assert_eq!(payments.reveal_uuid(shown)?, id);
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alphabet;
mod hidden_error;
mod numbers;
mod options;
mod uuids;

pub use crate::shared::key_check::{KeyCheck, NoKeyCheck};
pub use hidden_error::{HiddenError, NotHidden, NotRevealed};
pub use txid_keyed::{KeyFileError, KeyFlaw};

use crate::segment::Segment;
use crate::source::entropy;
use crate::text::FormatError;
use crate::text::decimal;
use crate::uuid::{self, Uuid};
use alphabet::Alphabet;
use numbers::{MAX_LEN, Numbers};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;
use txid_keyed::{Key, Keys};
use uuids::Side;

/// The longest name of a series: that of a tag.
const MAX_NAME_LEN: usize = 128;

/// What is hidden, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Numbers, by this many digits, 6 to 19.
    Digits(u32),
    /// Numbers, by this many letters, 4 to 13: `0-9a-z` without `i l o u`. In upper case they are read as well, `o` as 0, and
    /// `i` and `l` as 1.
    Letters(u32),
    /// UUIDs of version 7, as UUIDs of version 4.
    Uuid,
}

impl Form {
    /// The alphabet of numbers; None of UUIDs, which are texts of bits. How many characters are permuted.
    fn parts(self) -> Result<(Option<Alphabet>, u32), HiddenError> {
        match self {
            Self::Digits(digits @ 6..=19) => Ok((Some(Alphabet::Digits), digits)),
            Self::Letters(letters @ 4..=13) => Ok((Some(Alphabet::Letters), letters)),
            Self::Uuid => Ok((None, uuids::BITS)),
            Self::Digits(digits) => Err(HiddenError::Digits(digits)),
            Self::Letters(letters) => Err(HiddenError::Letters(letters)),
        }
    }
}

/// Hides the numbers or the UUIDs of one series, and reveals them. Any thread may use it, and any child.
pub struct Hidden {
    /// The last one hides.
    keys: Keys,
    /// How numbers are written; None of a series of UUIDs.
    numbers: Option<Numbers>,
    /// The segment of the numbers, and the check value of the key that hides here.
    segment: Option<(Segment, KeyCheck)>,
}

/// An image, or the text of what has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shown {
    text: [u8; MAX_LEN],
    len: u8,
}

impl Shown {
    fn uuid(id: Uuid) -> Self {
        let mut text = [0; MAX_LEN];
        uuid::write(id, &mut text);
        Self { text, len: MAX_LEN as u8 }
    }
}

impl Deref for Shown {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        // SAFETY: it is digits, letters and dashes of ASCII.
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
    /// The length of the longest image, in bytes.
    pub const MAX_LEN: usize = MAX_LEN;

    /// Reads the key from a file that only its owner may read. With another name, the images are others.
    ///
    /// A line of the file is a key in hexadecimal digits, as `txid key new` makes it, after a digit and a space if images are to
    /// begin with that digit. The last line hides, and all lines reveal. UUIDs have no place for the digit, so their file
    /// has one key without it.
    pub fn open(key_file: &Path, name: &str, form: Form) -> Result<Self, HiddenError> {
        let (alphabet, length) = form.parts()?;
        if !(1..=MAX_NAME_LEN).contains(&name.len()) {
            return Err(HiddenError::Name(name.len()));
        }
        let radix = alphabet.map_or(2, Alphabet::radix);
        let keys = Keys::read(key_file, radix, length, name.as_bytes());
        let keys = keys.map_err(HiddenError::KeyFile)?;
        if alphabet.is_none() && keys.iter().any(|key| key.period.is_some()) {
            return Err(HiddenError::Period(key_file.to_path_buf()));
        }
        Ok(Self { keys, numbers: alphabet.map(|alphabet| Numbers::new(alphabet, length)), segment: None })
    }

    /// Adds a check digit at the end of each number: one wrong character, or two neighbours that are swapped, do
    /// not make another number. UUIDs have no place for one, and stay as they are.
    pub fn with_check_digit(self) -> Self {
        let numbers = self.numbers.map(|numbers| Numbers { has_check_digit: true, ..numbers });
        let segment = self.segment.map(|(segment, _)| segment);
        let checked = Self { numbers, segment: None, ..self };
        match segment {
            Some(segment) => checked.of_segment(segment),
            None => checked,
        }
    }

    /// Hides numbers of this segment. They are only hidden and revealed by the key that the segment's store has:
    /// hosts with different keys, names or lengths would show one text for two numbers.
    pub fn of_segment(self, segment: Segment) -> Self {
        let check = self.check_of(self.current());
        Self { segment: Some((segment, check)), ..self }
    }

    /// The check values of the keys in this series, in the order of their lines. Hosts with equal ones show the same
    /// images.
    pub fn key_checks(&self) -> Vec<KeyCheck> {
        self.keys.iter().map(|key| self.check_of(key)).collect()
    }

    /// Why the system may write the keys to its swap space; None if it may not.
    pub fn not_locked(&self) -> Option<io::Error> {
        self.keys.not_locked()
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
    #[inline]
    pub fn hide_to(&self, number: u64, text: &mut [u8; MAX_LEN]) -> Result<usize, NotHidden> {
        let Some(numbers) = &self.numbers else {
            return Err(NotHidden::NoUuid(FormatError::value(OF_UUIDS)));
        };
        if let Some((segment, ours)) = &self.segment {
            let theirs = segment.key_check(ours.period());
            if theirs != Some(*ours) {
                return Err(NotHidden::OtherKey { page: segment.path(), ours: *ours, theirs });
            }
        }
        if number > numbers.last {
            return Err(NotHidden::TooLarge { number, last: numbers.last });
        }
        let key = self.current();
        Ok(numbers.write(key.period, key.permutation.hide(number), text))
    }

    /// The image of a UUID of version 7: a UUID of version 4.
    ///
    /// # Errors
    ///
    /// [`NotHidden`], if it has another version, or this series hides numbers.
    #[inline]
    pub fn hide_uuid(&self, id: Uuid) -> Result<Uuid, NotHidden> {
        if self.numbers.is_some() {
            return Err(NotHidden::NoNumber);
        }
        uuids::check(id, Side::Inside).map_err(NotHidden::NoUuid)?;
        Ok(uuids::with(self.current().permutation.hide_bits(uuids::halves(id)), Side::Outside))
    }

    /// The image of a number in decimal digits, or of a UUID.
    ///
    /// # Errors
    ///
    /// As for [`Hidden::hide`] or [`Hidden::hide_uuid`], and if the text is not a number, or no UUID.
    pub fn hide_text(&self, text: &[u8]) -> Result<Shown, NotHidden> {
        if self.numbers.is_some() {
            return self.hide(decimal::decode(text).map_err(|_| NotHidden::NoNumber)?);
        }
        let id = uuids::read(text).map_err(NotHidden::NoUuid)?;
        Ok(Shown::uuid(self.hide_uuid(id)?))
    }

    /// The number with this image. The number may never have been given out, and the sender may have no right to the thing
    /// with that number.
    ///
    /// # Errors
    ///
    /// [`NotRevealed`] says why the text is no hidden number, or that the store of its segment has another key.
    #[inline]
    pub fn reveal(&self, text: &[u8]) -> Result<u64, NotRevealed> {
        let Some(numbers) = &self.numbers else {
            return Err(NotRevealed::NoUuid(FormatError::value(OF_UUIDS)));
        };
        let has_keys = |with_period| self.keys.iter().any(|key| key.period.is_some() == with_period);
        let (period, halves) = numbers.read(text, has_keys)?;
        let Some(key) = self.keys.iter().find(|key| key.period == period) else {
            return Err(NotRevealed::Period(period.unwrap_or_default()));
        };
        // A store that has not been asked yet knows no key. Links must work all the same.
        if let Some((page, theirs)) =
            self.segment.and_then(|(segment, _)| Some((segment.path(), segment.key_check(period)?)))
        {
            let ours = self.check_of(key);
            if ours != theirs {
                return Err(NotRevealed::OtherKey { page, ours, theirs });
            }
        }
        u64::try_from(key.permutation.reveal(halves)).map_err(|_| NotRevealed::NoNumber)
    }

    /// The UUID of version 7 with this image. If the image was never shown, it is one that was never made.
    ///
    /// # Errors
    ///
    /// [`NotRevealed`], if it is not of version 4, or this series hides numbers.
    #[inline]
    pub fn reveal_uuid(&self, image: Uuid) -> Result<Uuid, NotRevealed> {
        if self.numbers.is_some() {
            return Err(NotRevealed::NoNumber);
        }
        uuids::check(image, Side::Outside).map_err(NotRevealed::NoUuid)?;
        Ok(uuids::with(self.current().permutation.reveal_bits(uuids::halves(image)), Side::Inside))
    }

    /// The number with this image in decimal digits, or the UUID.
    pub fn reveal_text(&self, image: &[u8]) -> Result<Shown, NotRevealed> {
        if self.numbers.is_some() {
            let mut shown = Shown { text: [0; MAX_LEN], len: 0 };
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(self.reveal(image)?).as_bytes();
            shown.text[..digits.len()].copy_from_slice(digits);
            shown.len = digits.len() as u8;
            return Ok(shown);
        }
        let image = uuids::read(image).map_err(NotRevealed::NoUuid)?;
        Ok(Shown::uuid(self.reveal_uuid(image)?))
    }

    #[inline(always)]
    fn current(&self) -> &Key {
        &self.keys[self.keys.len() - 1]
    }

    fn check_of(&self, key: &Key) -> KeyCheck {
        let has_check_digit = self.numbers.as_ref().is_some_and(|numbers| numbers.has_check_digit);
        KeyCheck::new(key.period, key.check_value, key.permutation.check_value(has_check_digit))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

/// Why a series of UUIDs takes no numbers.
const OF_UUIDS: &str = "this series hides UUIDs, and no numbers";

/// A new key; None if the operating system has no randomness.
pub fn new_key() -> Option<[u8; 16]> {
    entropy::system_bytes()
}
