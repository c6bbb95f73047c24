//! KSUID of segmentio: `| s since 2014-05-13T16:53:20Z : 32 | random : 128 |` in base62.

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::maker::{Made, Maker};
use crate::source::{clock, entropy};
use crate::text::{FormatError, base62, read_from_text, show_as_text};

const EPOCH_MS: i64 = 1_400_000_000_000;

pub(crate) const FORMAT: Format = Format {
    name: "ksuid",
    title: "KSUID",
    about: "KSUID, 27 characters that sort by their second",
    make: Some(Make {
        options: &[],
        takes_a_time: true,
        in_nginx: Some(&[]),
        maker: |_| Ok(Maker::stamping(|ms, text| Made::in_place(text, |place| Ksuid::at(ms).write(place)))),
    }),
    read: Some(Read {
        lengths: Ksuid::LEN..=Ksuid::LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(Ksuid::from_text(text).ok()?.timestamp_ms(), 156),
        time: Some(Time {
            shape: Shape::Word(Ksuid::LEN..=Ksuid::LEN),
            since_ms: EPOCH_MS,
            sorted: Some(Sorted {
                times: |_| EPOCH_MS..=EPOCH_MS + i64::from(u32::MAX) * 1000 + 999,
                bounds: |ms, _| {
                    let seconds = ((ms - EPOCH_MS) / 1000) as u32;
                    [0, u128::MAX].map(|payload| Ksuid { seconds, payload }.to_string())
                },
                order: |text, _| {
                    let id = Ksuid::from_text(text).ok()?;
                    // 160 bits do not fit; the lowest ones, which are random, are left out.
                    Some(u128::from(id.seconds) << 96 | id.payload >> 32)
                },
                texts: Texts::AsTheyAre,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = Ksuid::from_text(text)?;
    let parts = vec![("payload", format!("{:032x}", id.payload).into())];
    let bits = [&id.seconds.to_be_bytes()[..], &id.payload.to_be_bytes()].concat();
    Ok(Anatomy::new(id.to_string(), parts).with_bits(&bits, &[("time", 32), ("payload", 128)]))
};

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
        Self::at(clock::never_backwards(clock_ms))
    }

    /// A new KSUID stamped with the second that `ms` is in, of which the low 32 bits count.
    ///
    /// ```
    /// assert_eq!(txid::Ksuid::at(1_522_545_688_552).timestamp_ms(), 1_522_545_688_000);
    /// ```
    #[inline(always)]
    pub fn at(ms: i64) -> Self {
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
    #[inline(always)]
    pub fn write(self, text: &mut [u8; Self::LEN]) {
        base62::encode_160_bits(self.seconds, self.payload, text);
    }

    /// Reads text from bytes.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let exact =
            text.try_into().map_err(|_| FormatError::Length { found: text.len(), expected: "a KSUID has 27" })?;
        base62::decode_160_bits(exact).map(|(seconds, payload)| Self { seconds, payload })
    }
}

read_from_text!(Ksuid, FormatError);
show_as_text!(Ksuid);
