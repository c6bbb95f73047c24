//! SOFATracer's trace ids: IPv4 address, time, sequence and process, without random bits.

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Time};
use crate::maker::{Made, Maker};
use crate::source::laps::{Reading, SharedLaps};
use crate::source::{clock, process};
use crate::text::{FormatError, decimal, hex, read_from_text, show_as_text};
use std::net::Ipv4Addr;

const FIRST: u16 = 1000;
const LAST: u16 = 9000;

/// Times of more than 13 digits wrap around.
const MS_RANGE: u64 = 10_u64.pow(13);
const MS_DIGITS: usize = 13;

pub(crate) const FORMAT: Format = Format {
    name: "sofa",
    title: "SOFATracer id",
    about: "a trace id of SOFATracer, with the host's address",
    make: Some(Make {
        options: &["address"],
        // Two copies of this library in one process would count from the same number.
        takes_a_time: false,
        in_nginx: None,
        maker: |options| {
            let address = options.ipv4_address()?;
            Ok(Maker::writing(move |clock_ms, text| {
                let mut written = [0; Sofa::MAX_LEN];
                let len = Sofa::new_by(clock_ms, address).write(&mut written);
                text[..len].copy_from_slice(&written[..len]);
                Ok(Made::of(len))
            }))
        },
    }),
    read: Some(Read {
        // A process id has at most seven digits on Linux.
        lengths: 26..=32,
        all_lengths: Some(26..=Sofa::MAX_LEN),
        holds: |text, _| Holds::time(Sofa::from_text(text).ok()?.ms as i64, 105),
        time: Some(Time { shape: Shape::Word(26..=Sofa::MAX_LEN), since_ms: 1_325_376_000_000, sorted: None }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = Sofa::from_text(text)?;
    let parts =
        vec![("address", id.address.to_string().into()), ("sequence", id.sequence.into()), ("pid", id.pid.into())];
    Ok(Anatomy::new(id.to_string(), parts))
};

/// A SOFATracer id: `0ad1348f`, `1403169275002`, `1003` and `56696` in a row.
///
/// ```
/// use txid::trace::Sofa;
///
/// let id: Sofa = "0ad1348f1403169275002100356696".parse()?;
/// assert_eq!(id.address.to_string(), "10.209.52.143");
/// assert_eq!((id.ms, id.sequence, id.pid), (1_403_169_275_002, 1003, 56696));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sofa {
    /// The host.
    pub address: Ipv4Addr,
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: u64,
    /// 1000 to 9000.
    pub sequence: u16,
    /// The process.
    pub pid: u32,
}

impl Sofa {
    /// The length of the longest text.
    pub const MAX_LEN: usize = 8 + MS_DIGITS + 4 + 10;

    /// A new id of this moment. All threads of a process share one sequence; if it wraps within a millisecond, it
    /// continues in the next.
    ///
    /// ```
    /// use txid::trace::Sofa;
    ///
    /// assert_ne!(Sofa::new([10, 0, 0, 7].into()), Sofa::new([10, 0, 0, 7].into()));
    /// ```
    pub fn new(address: Ipv4Addr) -> Self {
        Self::new_by(clock::system_ms(), address)
    }

    /// As [`Sofa::new`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// let id = txid::trace::Sofa::new_by(1_403_169_275_002, [10, 209, 52, 143].into());
    /// assert_eq!(id.ms, 1_403_169_275_002);
    /// ```
    pub fn new_by(clock_ms: i64, address: Ipv4Addr) -> Self {
        static LAPS: SharedLaps<{ (LAST - FIRST + 1) as u32 }> = SharedLaps::new();
        thread_local!(static READING: Reading = const { Reading::none() });
        let ms = clock::never_backwards(clock_ms);
        let position = LAPS.next(ms, READING.with(|reading| reading.had_been_wrong(ms)));
        Self { address, ms: position.ms(), sequence: FIRST + position.number(), pid: process::id() }
    }

    /// Writes the text, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::trace::Sofa;
    ///
    /// let id: Sofa = "0ad1348f1403169275002100356696".parse()?;
    /// let mut text = [0; Sofa::MAX_LEN];
    /// assert_eq!(id.write(&mut text), 30);
    /// assert_eq!(&text[..30], b"0ad1348f1403169275002100356696");
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn write(&self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        let mut digits = itoa::Buffer::new();
        text[..8].copy_from_slice(&hex::encode_32_bits(self.address.to_bits()));
        // A leading 1 keeps the zeros that the digits may begin with.
        let time = digits.format(MS_RANGE + self.ms % MS_RANGE);
        text[8..21].copy_from_slice(&time.as_bytes()[1..]);
        text[21..25].copy_from_slice(&digits.format(self.sequence.clamp(FIRST, LAST)).as_bytes()[..4]);
        let pid = digits.format(self.pid).as_bytes();
        text[25..25 + pid.len()].copy_from_slice(pid);
        25 + pid.len()
    }

    /// Reads text from bytes.
    ///
    /// ```
    /// assert_eq!(txid::trace::Sofa::from_text(b"0ad1348f1403169275002100356696")?.pid, 56696);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        if !(26..=Self::MAX_LEN).contains(&text.len()) {
            return Err(FormatError::Length { found: text.len(), expected: "a SOFATracer id has 26 to 35" });
        }
        let address = Ipv4Addr::from_bits(hex::decode::<8>(text, 0)? as u32);
        let ms = decimal::decode(text, 8, 21)?;
        let sequence = decimal::decode(text, 21, 25)? as u16;
        if !(FIRST..=LAST).contains(&sequence) {
            return Err(FormatError::Value("the sequence is not from 1000 to 9000"));
        }
        let pid = decimal::decode(text, 25, text.len())?;
        let pid = pid.try_into().map_err(|_| FormatError::Value("the process id has more than 32 bits"))?;
        Ok(Self { address, ms, sequence, pid })
    }
}

read_from_text!(Sofa, FormatError);
show_as_text!(Sofa, Sofa::MAX_LEN);
