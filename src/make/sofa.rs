//! SOFATracer's trace ids: IPv4 address, time, sequence and process, without random bits.

use crate::maker::{Made, Make, Maker};
use crate::source::laps::{Reading, SharedLaps};
use crate::source::{clock, entropy, process};
use crate::text::{hex, show_as_text};
use std::net::Ipv4Addr;

pub(crate) const MAKE: Make = Make {
    options: &["address"],
    // Two copies of this library in one process would count from the same number.
    takes_a_time: false,
    beside_copies: None,
    maker: |options| {
        let address = options.ipv4_address()?;
        Ok(Maker::writing(move |clock_ms, text| {
            let mut written = [0; Sofa::MAX_LEN];
            let len = Sofa::new_by(clock_ms, address).write(&mut written);
            Ok(Made::copied(text, &written[..len]))
        }))
    },
};

const FIRST: u16 = 1000;
const LAST: u16 = 9000;

/// Times of more than 13 digits wrap around.
const MS_RANGE: u64 = 10_u64.pow(13);
const MS_DIGITS: usize = 13;

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
    pub ms: i64,
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
        let pid = process::id(entropy::stream_id(ms));
        Self { address, ms: position.ms() as i64, sequence: FIRST + position.number(), pid }
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
        let time = digits.format(MS_RANGE + self.ms as u64 % MS_RANGE);
        text[8..21].copy_from_slice(&time.as_bytes()[1..]);
        text[21..25].copy_from_slice(&digits.format(self.sequence.clamp(FIRST, LAST)).as_bytes()[..4]);
        let pid = digits.format(self.pid).as_bytes();
        text[25..25 + pid.len()].copy_from_slice(pid);
        25 + pid.len()
    }
}

show_as_text!(Sofa, Sofa::MAX_LEN);
