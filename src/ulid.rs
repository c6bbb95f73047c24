//! ULID: `| ms : 48 | random : 80 |` in Crockford's base32.

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::maker::Maker;
use crate::source::clock::{self, Stamp};
use crate::source::growing::{Growing, Grown};
use crate::source::signal_safe::SignalSafe;
use crate::text::{FormatError, crockford, read_from_text, show_as_text};

const TIME_MASK: i64 = (1 << 48) - 1;
const RANDOM_BITS: u32 = 80;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;

pub(crate) const FORMAT: Format = Format {
    name: "ulid",
    title: "ULID",
    about: "ULID, 26 characters that sort by time",
    make: Some(Make {
        options: &[],
        takes_a_time: true,
        in_nginx: Some(&[]),
        maker: |_| Ok(Maker::of(|clock_ms| Ulid::now_by(clock_ms).to_text()).at(|ms| Ulid::at(ms).to_text())),
    }),
    read: Some(Read {
        lengths: Ulid::LEN..=Ulid::LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(Ulid::from_text(text).ok()?.timestamp_ms(), 118),
        time: Some(Time {
            shape: Shape::Word(Ulid::LEN..=Ulid::LEN),
            since_ms: 1_451_606_400_000,
            sorted: Some(Sorted {
                times: |_| 0..=(1 << 48) - 1,
                bounds: |ms, _| {
                    let first = u128::from(ms as u64) << RANDOM_BITS;
                    [first, first | RANDOM_MASK].map(|bits| Ulid(bits).to_string())
                },
                order: |text, _| Some(Ulid::from_text(text).ok()?.0),
                texts: Texts::InOneCase,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = Ulid::from_text(text)?;
    let parts = vec![("random", format!("{:020x}", id.0 & RANDOM_MASK).into())];
    let fields = [("time", 48), ("random", RANDOM_BITS as usize)];
    Ok(Anatomy::new(id.to_string(), parts).with_bits(&id.0.to_be_bytes(), &fields))
};

/// A ULID. Its text sorts as the ULIDs do.
///
/// ```
/// let id: txid::Ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?;
/// assert_eq!(id.timestamp_ms(), 1_469_922_850_259);
/// assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(
    /// The 128 bits.
    pub u128,
);

impl Ulid {
    /// The length of the text.
    pub const LEN: usize = crockford::LEN_OF_128_BITS;

    /// A new ULID of this moment: greater than the previous one of this thread, also within a millisecond.
    ///
    /// ```
    /// use txid::Ulid;
    ///
    /// let (earlier, later) = (Ulid::now(), Ulid::now());
    /// assert!(earlier < later);
    /// assert!(earlier.to_string() < later.to_string());
    /// ```
    pub fn now() -> Self {
        Self::now_by(clock::system_ms())
    }

    /// As [`Ulid::now`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// let clock_ms = 1_700_000_000_000;
    /// assert!(txid::Ulid::now_by(clock_ms) < txid::Ulid::now_by(clock_ms));
    /// ```
    pub fn now_by(clock_ms: i64) -> Self {
        Self::next(clock::never_backwards(clock_ms), Stamp::Clock)
    }

    /// A new ULID stamped with exactly `ms`, of which the low 48 bits count (two's complement). If the thread's previous
    /// one has the same stamp, this one is greater.
    ///
    /// ```
    /// assert_eq!(txid::Ulid::at(1_522_545_688_552).timestamp_ms(), 1_522_545_688_552);
    /// ```
    pub fn at(ms: i64) -> Self {
        Self::next(ms, Stamp::Given)
    }

    #[inline(always)]
    fn next(ms: i64, stamp: Stamp) -> Self {
        thread_local! {
            static GROWING: SignalSafe<Growing<RANDOM_BITS>> = const { SignalSafe::new(Growing::NONE) };
        }
        let Grown { ms, random } = GROWING.with(|kept| Growing::next(kept, ms & TIME_MASK, stamp));
        Self((ms as u128) << RANDOM_BITS | random)
    }

    /// Milliseconds since 1970-01-01 UTC.
    pub fn timestamp_ms(self) -> i64 {
        (self.0 >> RANDOM_BITS) as i64
    }

    /// The text, in upper case, without allocating.
    ///
    /// ```
    /// assert_eq!(&txid::Ulid(32).to_text(), b"00000000000000000000000010");
    /// ```
    pub fn to_text(self) -> [u8; Self::LEN] {
        crockford::encode_128_bits(self.0)
    }

    /// Reads text from bytes, in upper or lower case.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        if text.len() != Self::LEN {
            return Err(FormatError::Length { found: text.len(), expected: "a ULID has 26" });
        }
        crockford::decode_128_bits(text, 0, true).map(Self)
    }
}

read_from_text!(Ulid, FormatError);
show_as_text!(Ulid);
