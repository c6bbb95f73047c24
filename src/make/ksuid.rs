//! KSUID of segmentio: `| s since 2014-05-13T16:53:20Z : 32 | random : 128 |` in base62.

use crate::make::stamp::stamped;
use crate::maker::{Made, Make, Maker};
use crate::source::{clock, entropy};
use crate::text::{base62, show_as_text};

pub(crate) const MAKE: Make =
    Make::of(|_| Ok(Maker::stamping(|ms, text| Made::in_place(text, |place| Ksuid::wrapping_at(ms).write(place)))));

const EPOCH_MS: i64 = 1_400_000_000_000;

/// A KSUID. Its text sorts as the KSUIDs do.
///
/// ```
/// let id: txid::Ksuid = "0ujtsYcgvSTl8PAuAdqWYSMnLOv".parse()?;
/// assert_eq!(id.timestamp_ms(), 1_507_608_047_000);
/// assert_eq!(id.payload, 0xb5a1_cd34_b5f9_9d11_54fb_6853_345c_9735);
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ksuid {
    /// Seconds since 2014-05-13T16:53:20Z.
    pub seconds: u32,
    /// The random bits.
    pub payload: u128,
}

impl Ksuid {
    /// The length of the text.
    pub const LEN: usize = base62::LEN_OF_160_BITS;

    /// A new KSUID of this moment.
    ///
    /// ```
    /// assert_ne!(txid::Ksuid::now(), txid::Ksuid::now());
    /// ```
    pub fn now() -> Self {
        Self::now_by(clock::system_ms())
    }

    /// As [`Ksuid::now`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::Ksuid::now_by(1_700_000_000_999).timestamp_ms(), 1_700_000_000_000);
    /// ```
    pub fn now_by(clock_ms: i64) -> Self {
        Self::wrapping_at(clock::never_backwards(clock_ms))
    }

    /// A new KSUID stamped with the second that `ms` is in, of which the low 32 bits count.
    ///
    /// ```
    /// assert_eq!(txid::Ksuid::wrapping_at(1_522_545_688_552).timestamp_ms(), 1_522_545_688_000);
    /// ```
    pub fn wrapping_at(ms: i64) -> Self {
        Self { seconds: (ms.div_euclid(1000) - EPOCH_MS / 1000) as u32, payload: entropy::next_u128(ms) }
    }

    /// The second that it was made in, in milliseconds since 1970-01-01 UTC.
    pub fn timestamp_ms(self) -> i64 {
        EPOCH_MS + i64::from(self.seconds) * 1000
    }

    /// The text, without allocating.
    ///
    /// ```
    /// let id: txid::Ksuid = "0ujzPyRiIAffKhBux4PvQdDqMHY".parse()?;
    /// assert_eq!(&id.to_text(), b"0ujzPyRiIAffKhBux4PvQdDqMHY");
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    #[inline]
    pub fn to_text(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        self.write(&mut text);
        text
    }

    /// Writes the text, without allocating.
    ///
    /// ```
    /// let mut text = [0; txid::Ksuid::LEN];
    /// txid::Ksuid { seconds: 0, payload: 62 }.write(&mut text);
    /// assert_eq!(&text, b"000000000000000000000000010");
    /// ```
    pub fn write(self, text: &mut [u8; Self::LEN]) {
        base62::encode_160_bits(self.seconds, self.payload, text);
    }
}

show_as_text!(Ksuid);
stamped!(Ksuid, EPOCH_MS..=EPOCH_MS + u32::MAX as i64 * 1000 + 999);
