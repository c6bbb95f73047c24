//! ULID: `| ms : 48 | random : 80 |` in Crockford's base32.

use crate::make::stamp::stamped;
use crate::maker::{Made, Make, Maker, Text};
use crate::source::clock::{self, Stamp};
use crate::source::growing::{Growing, Grown};
use crate::text::{crockford, show_as_text};
use std::cell::Cell;

pub(crate) const MAKE: Make = Make::of(|_| {
    Ok(Maker::writing(|clock_ms, text| Ok(put(Ulid::now_by(clock_ms), text)))
        .writing_at(|ms, text| put(Ulid::wrapping_at(ms), text)))
});

fn put(Ulid(bits): Ulid, text: &mut Text) -> Made {
    Made::in_place(text, |place| *place = crockford::encode_128_bits(bits))
}

const TIME_MASK: i64 = (1 << 48) - 1;
const RANDOM_BITS: u32 = 80;
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
    /// assert_eq!(txid::Ulid::wrapping_at(1_522_545_688_552).timestamp_ms(), 1_522_545_688_552);
    /// ```
    pub fn wrapping_at(ms: i64) -> Self {
        Self::next(ms, Stamp::Given)
    }

    fn next(ms: i64, stamp: Stamp) -> Self {
        thread_local! {
            static GROWING: Cell<Growing<RANDOM_BITS>> = const { Cell::new(Growing::NONE) };
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
}

show_as_text!(Ulid);
stamped!(Ulid, 0..=TIME_MASK);
