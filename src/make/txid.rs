//! The 96-bit id: `| ms since 1970-01-01 UTC : 42 | random : 54 |`.

use crate::maker::{Made, Make, Maker};
use crate::source::{clock, entropy};
use crate::text::{base32hex, error_texts, show_as_text};

pub(crate) const STRONG: Make = Make::of(|_| {
    Ok(Maker::stamping(|ms, text| {
        let id = Txid::strong_at(ms);
        text[..Txid::LEN].copy_from_slice(&id.unwrap_or_else(|Guessable(id)| id).to_text());
        Made { len: Txid::LEN, guessable: id.is_err() }
    }))
});

pub(crate) const MAKE: Make =
    Make::of(|_| Ok(Maker::stamping(|ms, text| Made::in_place(text, |place| *place = Txid::at(ms).to_text()))));

const RANDOM_BITS: u32 = 54;
const RANDOM_MASK: u64 = (1 << RANDOM_BITS) - 1;
const TIME_MASK: u64 = (1 << 42) - 1;

/// A 96-bit id that sorts by the millisecond it was made in. Nobody can guess one, or compute one from others.
///
/// Its text is 20 characters of lower-case base32hex, which sort as the ids do:
///
/// ```
/// use txid::Txid;
///
/// let first = Txid::at(1_522_545_688_552);
/// let second = Txid::at(1_522_545_688_553);
/// assert!(first < second);
/// assert!(first.to_string() < second.to_string());
/// assert!(first.to_string().starts_with("b2fr5nvq"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Txid {
    ms: u64,
    random: u64,
}

impl Txid {
    /// The number of characters of an id's text.
    pub const LEN: usize = base32hex::LEN_OF_96_BITS;

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
        Self::at(clock::never_backwards(clock_ms))
    }

    /// A new id stamped with exactly `ms`, of which the low 42 bits count (two's complement): -1 is the last
    /// millisecond of the range, and 2^42 is its first.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// assert_eq!(Txid::at(655_829_050_000).timestamp_ms(), 655_829_050_000);
    /// assert_eq!(Txid::at(-1).timestamp_ms(), 4_398_046_511_103);
    /// assert_eq!(Txid::at(4_398_046_511_104).timestamp_ms(), 0);
    /// ```
    #[inline(always)]
    pub fn at(ms: i64) -> Self {
        Self::of(ms, entropy::next_u64(ms))
    }

    /// The id stamped with `ms` that has the upper 54 of these random bits.
    #[inline(always)]
    pub(crate) fn of(ms: i64, bits: u64) -> Self {
        Self { ms: ms as u64 & TIME_MASK, random: bits >> (64 - RANDOM_BITS) }
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
        Self::strong_at(clock::never_backwards(clock_ms))
    }

    /// As [`Txid::strong`], stamped with exactly `ms`, as in [`Txid::at`].
    ///
    /// ```
    /// assert_eq!(txid::Txid::strong_at(655_829_050_000)?.timestamp_ms(), 655_829_050_000);
    /// # Ok::<(), txid::Guessable>(())
    /// ```
    pub fn strong_at(ms: i64) -> Result<Self, Guessable> {
        entropy::strong_u64(ms).map(|bits| Self::of(ms, bits)).map_err(|bits| Guessable(Self::of(ms, bits)))
    }

    /// The lowest id of the millisecond `ms`, read as in [`Txid::at`]: the lower bound of a query.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// assert_eq!(Txid::first_of(655_829_050_002).to_string(), "4om9qi54g00000000000");
    /// assert!(Txid::first_of(655_829_050_002) <= Txid::at(655_829_050_002));
    /// ```
    pub fn first_of(ms: i64) -> Self {
        Self { ms: ms as u64 & TIME_MASK, random: 0 }
    }

    /// The highest id of the millisecond `ms`, read as in [`Txid::at`]: the upper bound of a query.
    ///
    /// ```
    /// use txid::Txid;
    ///
    /// assert_eq!(Txid::last_of(655_829_050_002).to_string(), "4om9qi54nvvvvvvvvvvg");
    /// assert!(Txid::last_of(655_829_050_002) < Txid::first_of(655_829_050_003));
    /// ```
    pub fn last_of(ms: i64) -> Self {
        Self { ms: ms as u64 & TIME_MASK, random: RANDOM_MASK }
    }

    /// The millisecond since 1970-01-01 UTC that the id was stamped with.
    ///
    /// ```
    /// let id: txid::Txid = "4om9qi54la8ffr4bd9sg".parse()?;
    /// assert_eq!(id.timestamp_ms(), 655_829_050_002);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn timestamp_ms(self) -> u64 {
        self.ms
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
        let middle = (self.ms & 3) << 38 | self.random >> 16;
        base32hex::encode_96_bits(self.ms >> 2, middle, self.random as u32 & 0xffff)
    }

    /// The id of the low 96 bits.
    #[inline]
    pub(crate) fn of_bits(bits: u128) -> Self {
        Self { ms: (bits >> RANDOM_BITS) as u64, random: bits as u64 & RANDOM_MASK }
    }
}

/// Any 12 bytes are an id: 96 bits, most significant first.
///
/// ```
/// use txid::Txid;
///
/// let id: Txid = "4om9qi54la8ffr4bd9sg".parse()?;
/// let bytes: [u8; 12] = id.into();
/// assert_eq!(Txid::from(bytes), id);
/// # Ok::<(), txid::FormatError>(())
/// ```
impl From<[u8; 12]> for Txid {
    fn from(bytes: [u8; 12]) -> Self {
        Self::of_bits(bytes.iter().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
    }
}

/// The 96 bits, most significant first: bytes that sort as the ids do.
///
/// ```
/// use txid::Txid;
///
/// let (first, last): ([u8; 12], [u8; 12]) = (Txid::first_of(7).into(), Txid::last_of(7).into());
/// assert!(first < last);
/// ```
impl From<Txid> for [u8; 12] {
    fn from(id: Txid) -> Self {
        let bits = u128::from(id.ms) << RANDOM_BITS | u128::from(id.random);
        let [_, _, _, _, bytes @ ..] = bits.to_be_bytes();
        bytes
    }
}

show_as_text!(Txid);

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
