//! The 96-bit id: `| ms since 1970-01-01 UTC : 42 | random : 54 |`.

use crate::make::stamp::{TimeError, stamped};
use crate::maker::{Made, Make, Maker};
use crate::source::{clock, entropy};
use crate::text::{base32hex, error_texts, show_as_text};

pub(crate) const STRONG: Make = Make::of(|_| {
    Ok(Maker::stamping(|ms, text| {
        let id = Txid::strong_wrapping_at(ms);
        let made = Made::in_place(text, |place| *place = id.unwrap_or_else(|Guessable(id)| id).to_text());
        Made { guessable: id.is_err(), ..made }
    }))
});

pub(crate) const MAKE: Make = Make::of(|_| {
    Ok(Maker::stamping(|ms, text| Made::in_place(text, |place| *place = Txid::wrapping_at(ms).to_text())))
});

const RANDOM_BITS: u32 = 54;
const TIME_MASK: u64 = (1 << 42) - 1;

/// A 96-bit id that sorts by the millisecond it was made in. Nobody can guess one, or compute one from others.
///
/// Its text is 20 characters of lower-case base32hex, which sort as the ids do:
///
/// ```
/// use txid::Txid;
///
/// let first = Txid::wrapping_at(1_522_545_688_552);
/// let second = Txid::wrapping_at(1_522_545_688_553);
/// assert!(first < second);
/// assert!(first.to_string() < second.to_string());
/// assert!(first.to_string().starts_with("b2fr5nvq"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Txid([u8; Txid::BYTES]);

impl Txid {
    /// The number of characters of an id's text.
    pub const LEN: usize = base32hex::LEN_OF_96_BITS;

    /// The number of bytes of an id.
    pub const BYTES: usize = 12;

    /// A new id with the time of the system's clock. Within a thread, time never goes backwards: after the clock is
    /// stepped back by up to ten seconds, ids keep the last time until the clock has caught up.
    ///
    /// ```
    /// let (earlier, later) = (txid::Txid::now(), txid::Txid::now());
    /// assert!(earlier.timestamp_ms() <= later.timestamp_ms());
    /// assert_ne!(earlier, later);
    /// ```
    pub fn now() -> Self {
        Self::now_by(clock::system_ms())
    }

    /// As [`Txid::now`], with the caller's reading of the clock: a server often reads it once for many requests.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// let clock_ms = 1_700_000_000_000;
    /// assert_eq!(Txid::now_by(clock_ms).timestamp_ms(), 1_700_000_000_000);
    /// // A clock that was stepped back by up to ten seconds is waited for.
    /// assert_eq!(Txid::now_by(clock_ms - 10_000).timestamp_ms(), 1_700_000_000_000);
    /// assert_eq!(Txid::now_by(clock_ms - 10_001).timestamp_ms(), 1_699_999_989_999);
    /// ```
    #[inline(always)]
    pub fn now_by(clock_ms: i64) -> Self {
        Self::wrapping_at(clock::never_backwards(clock_ms))
    }

    /// As [`Txid::try_at`], but of any `ms` the low 42 bits count (two's complement): -1 is the last millisecond of the
    /// range, and 2^42 is its first.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// assert_eq!(Txid::wrapping_at(655_829_050_000).timestamp_ms(), 655_829_050_000);
    /// assert_eq!(Txid::wrapping_at(-1).timestamp_ms(), 4_398_046_511_103);
    /// assert_eq!(Txid::wrapping_at(4_398_046_511_104).timestamp_ms(), 0);
    /// ```
    #[inline(always)]
    pub fn wrapping_at(ms: i64) -> Self {
        Self::of(ms, entropy::next_u64(ms))
    }

    /// The id stamped with `ms` that has the upper 54 of these random bits.
    #[inline(always)]
    pub(crate) fn of(ms: i64, bits: u64) -> Self {
        // As 40, 40 and 16 bits, of which a text is made: so the compiler need not take words apart for it.
        let (ms, random) = (ms as u64 & TIME_MASK, bits >> (64 - RANDOM_BITS));
        let (first, middle) = (ms >> 2, (ms & 3) << 38 | random >> 16);
        Self::of_words(first << 24 | middle >> 16, (middle << 16 | random & 0xffff) as u32)
    }

    /// A new id of which nothing was in memory before: every random bit comes from the operating system when it is
    /// needed, and a system that gives none is reported. The time is that of [`Txid::now`].
    ///
    /// ```
    /// let id = txid::Txid::strong()?;
    /// assert_eq!(id.to_string().len(), 20);
    /// # Ok::<(), txid::Guessable>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Guessable`], which contains an id, if the operating system has no randomness.
    pub fn strong() -> Result<Self, Guessable> {
        Self::strong_by(clock::system_ms())
    }

    /// As [`Txid::strong`], with the caller's reading of the clock, as in [`Txid::now_by`].
    ///
    /// ```
    /// assert_eq!(txid::Txid::strong_by(1_700_000_000_000)?.timestamp_ms(), 1_700_000_000_000);
    /// # Ok::<(), txid::Guessable>(())
    /// ```
    pub fn strong_by(clock_ms: i64) -> Result<Self, Guessable> {
        Self::strong_wrapping_at(clock::never_backwards(clock_ms))
    }

    /// As [`Txid::strong`], stamped with `ms` as in [`Txid::wrapping_at`].
    ///
    /// ```
    /// assert_eq!(txid::Txid::strong_wrapping_at(655_829_050_000)?.timestamp_ms(), 655_829_050_000);
    /// # Ok::<(), txid::Guessable>(())
    /// ```
    pub fn strong_wrapping_at(ms: i64) -> Result<Self, Guessable> {
        entropy::strong_u64(ms).map(|bits| Self::of(ms, bits)).map_err(|bits| Guessable(Self::of(ms, bits)))
    }

    /// The lowest and the highest id of the millisecond `ms`: the bounds of a query.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// let [first, last] = Txid::bounds_of(655_829_050_002)?;
    /// assert_eq!([first, last].map(|id| id.to_string()), ["4om9qi54g00000000000", "4om9qi54nvvvvvvvvvvg"]);
    /// assert!(Txid::bounds_of(-1).is_err());
    /// # Ok::<(), txid::TimeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TimeError`], if ids cannot hold that time.
    pub fn bounds_of(ms: i64) -> Result<[Self; 2], TimeError> {
        TimeError::unless_in(Self::TIMES, ms).map(Self::wrapping_bounds_of)
    }

    /// As [`Txid::bounds_of`], of the low 42 bits of `ms`.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// assert_eq!(Txid::wrapping_bounds_of(-1), Txid::wrapping_bounds_of((1 << 42) - 1));
    /// ```
    pub fn wrapping_bounds_of(ms: i64) -> [Self; 2] {
        [0, u64::MAX].map(|bits| Self::of(ms, bits))
    }

    /// The millisecond since 1970-01-01 UTC that the id was stamped with.
    ///
    /// ```
    /// let id: txid::Txid = "4om9qi54la8ffr4bd9sg".parse()?;
    /// assert_eq!(id.timestamp_ms(), 655_829_050_002);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn timestamp_ms(self) -> i64 {
        (self.words().0 >> 22) as i64
    }

    /// The id's text, without allocating.
    ///
    /// ```
    /// let id: txid::Txid = "4om9qi54la8ffr4bd9sg".parse()?;
    /// assert_eq!(&id.to_text(), b"4om9qi54la8ffr4bd9sg");
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    #[inline(always)]
    pub fn to_text(self) -> [u8; Self::LEN] {
        let (high, low) = self.words();
        base32hex::encode_96_bits(high >> 24, high << 16 | u64::from(low >> 16), low & 0xffff)
    }

    /// The id of these bytes: 96 bits, most significant first. Any bytes are one.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// let id: Txid = "4om9qi54la8ffr4bd9sg".parse()?;
    /// assert_eq!(Txid::from_bytes(id.to_bytes()), id);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id, which sort as ids do.
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    /// As [`Txid::to_bytes`], without a copy.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The id of the low 96 bits.
    #[inline]
    pub(crate) fn of_bits(bits: u128) -> Self {
        Self::of_words((bits >> 32) as u64, bits as u32)
    }

    /// The id of the first 64 bits and the last 32. In words, the compiler keeps an id in registers until its text is written.
    #[inline(always)]
    fn of_words(high: u64, low: u32) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&high.to_be_bytes());
        bytes[8..].copy_from_slice(&low.to_be_bytes());
        Self(bytes)
    }

    #[inline(always)]
    fn words(&self) -> (u64, u32) {
        let (mut high, mut low) = ([0; 8], [0; 4]);
        high.copy_from_slice(&self.0[..8]);
        low.copy_from_slice(&self.0[8..]);
        (u64::from_be_bytes(high), u32::from_be_bytes(low))
    }
}

impl AsRef<[u8]> for Txid {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; Txid::BYTES]> for Txid {
    fn from(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

impl From<Txid> for [u8; Txid::BYTES] {
    fn from(id: Txid) -> Self {
        id.0
    }
}

show_as_text!(Txid);
stamped!(Txid, 0..=TIME_MASK as i64);

/// An id that was meant to be impossible to guess, but was made without the operating system's randomness. It comes
/// from the thread's own generator, and is as unique as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guessable(
    /// The id.
    pub Txid,
);

error_texts! { Guessable {
    Self(id) => "{id} could be guessed: the operating system gave no randomness";
} }
