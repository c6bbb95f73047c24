//! xid, the request id of zerolog: `| s : 32 | machine : 24 | process : 16 | counter : 24 |` in base32hex. Its text has the
//! very shape of a txid's.

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::{FormatError, base32hex};
use std::fmt;
use std::str::FromStr;

/// The bits after the time.
const OTHER_BITS: u32 = 64;

pub(crate) const FORMAT: Format = Format {
    name: "xid",
    title: "xid",
    about: "xid of zerolog and rs/xid, 20 characters that sort by their second",
    make: None,
    read: Some(Read {
        lengths: Xid::LEN..=Xid::LEN,
        holds: |text, _| Holds::time(Xid::from_text(text).ok()?.timestamp_ms(), 92),
        time: Some(Time {
            shape: Shape::Word(Xid::LEN..=Xid::LEN),
            since_ms: 1_325_376_000_000,
            sorted: Some(Sorted {
                times: |_| 0..=i64::from(u32::MAX) * 1000 + 999,
                bounds: |ms, _| {
                    let first = u128::from((ms / 1000) as u64) << OTHER_BITS;
                    [first, first | u128::from(u64::MAX)].map(|bits| Xid(bits).to_string())
                },
                order: |text, _| Some(Xid::from_text(text).ok()?.0),
                texts: Texts::AsTheyAre,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = Xid::from_text(text)?;
    let machine = id.machine().map(|byte| format!("{byte:02x}")).concat();
    let parts =
        vec![("machine", machine), ("process", id.process().to_string()), ("counter", id.counter().to_string())];
    let fields = [("time", 32), ("machine", 24), ("process", 16), ("counter", 24)];
    Ok(Anatomy::new(id.to_string(), parts).with_bits(&id.0.to_be_bytes()[4..], &fields))
};

/// An xid.
///
/// ```
/// let id: txid::Xid = "9m4e2mr0ui3e8a215n4g".parse()?;
/// assert_eq!(id.timestamp_ms(), 1_300_816_219_000);
/// assert_eq!((id.machine(), id.process(), id.counter()), ([0x60, 0xf4, 0x86], 58408, 4271561));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(u128);

impl Xid {
    /// The length of the text.
    pub const LEN: usize = base32hex::LEN_OF_96_BITS;

    /// The second that it was made in, in milliseconds since 1970-01-01 UTC.
    pub fn timestamp_ms(self) -> i64 {
        (self.0 >> OTHER_BITS) as i64 * 1000
    }

    /// The machine that made it.
    pub fn machine(self) -> [u8; 3] {
        let [.., a, b, c, _, _, _, _, _] = self.0.to_be_bytes();
        [a, b, c]
    }

    /// The process that made it.
    pub fn process(self) -> u16 {
        (self.0 >> 24) as u16
    }

    /// Its number among those of the process; it wraps.
    pub fn counter(self) -> u32 {
        self.0 as u32 & 0x00ff_ffff
    }

    /// The text, without allocating.
    ///
    /// ```
    /// let id: txid::Xid = "9m4e2mr0ui3e8a215n4g".parse()?;
    /// assert_eq!(&id.to_text(), b"9m4e2mr0ui3e8a215n4g");
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn to_text(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        text[..8].copy_from_slice(&base32hex::encode_40_bits((self.0 >> 56) as u64));
        text[8..16].copy_from_slice(&base32hex::encode_40_bits((self.0 >> 16) as u64));
        text[16..].copy_from_slice(&base32hex::encode_20_bits((self.0 as u32 & 0xffff) << 4));
        text
    }

    /// Reads text from bytes, in lower case only.
    ///
    /// # Errors
    ///
    /// [`FormatError`] says what is wrong, and where.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let exact: &[u8; Self::LEN] =
            text.try_into().map_err(|_| FormatError::Length { found: text.len(), expected: "an xid has 20" })?;
        let is_wrong = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'a'..=b'v');
        match exact.iter().position(is_wrong) {
            Some(at) => {
                Err(FormatError::Character { position: at + 1, byte: exact[at], expected: "lower-case base32hex" })
            }
            None => base32hex::decode(exact)
                .map(Self)
                .map_err(|_| FormatError::Value("the last character is neither '0' nor 'g'")),
        }
    }
}

impl FromStr for Xid {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        Self::from_text(text.as_bytes())
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.to_text()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Xid({self})")
    }
}
