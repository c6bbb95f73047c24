//! xid, the request id of zerolog: `| s : 32 | machine : 24 | process : 16 | counter : 24 |` in base32hex. Its text has the
//! very shape of a txid's.

use crate::make::stamp::stamped;
use crate::maker::{Made, Make, Maker};
use crate::source::clock;
use crate::source::entropy::{self, StreamId};
use crate::text::{base32hex, show_as_text};
use std::cell::Cell;

pub(crate) const MAKE: Make =
    Make::of(|_| Ok(Maker::stamping(|ms, text| Made::in_place(text, |place| *place = Xid::wrapping_at(ms).to_text()))));

const COUNTER_BITS: u32 = 24;

/// The bits after the time.
const OTHER_BITS: u32 = 64;

/// An xid.
///
/// ```
/// let id: txid::Xid = "9m4e2mr0ui3e8a215n4g".parse()?;
/// assert_eq!(id.timestamp_ms(), 1_300_816_219_000);
/// assert_eq!((id.machine(), id.process(), id.counter()), ([0x60, 0xf4, 0x86], 58408, 4271561));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(pub(crate) u128);

impl Xid {
    /// The length of the text.
    pub const LEN: usize = base32hex::LEN_OF_96_BITS;

    /// A new xid of this moment. rs/xid takes the machine from the host's name, and the process from its id. Containers
    /// often share both, as the workers of one process do, and they would tell strangers about the host. So here they are
    /// 40 random bits, which each thread draws for all values of the counter, or for a second of use.
    ///
    /// ```
    /// assert_ne!(txid::Xid::now(), txid::Xid::now());
    /// ```
    pub fn now() -> Self {
        Self::now_by(clock::system_ms())
    }

    /// As [`Xid::now`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::Xid::now_by(1_700_000_000_999).timestamp_ms(), 1_700_000_000_000);
    /// ```
    pub fn now_by(clock_ms: i64) -> Self {
        Self::wrapping_at(clock::never_backwards(clock_ms))
    }

    /// A new xid stamped with the second that `ms` is in, of which the low 32 bits count.
    ///
    /// ```
    /// assert_eq!(txid::Xid::wrapping_at(1_522_545_688_552).timestamp_ms(), 1_522_545_688_000);
    /// ```
    pub fn wrapping_at(ms: i64) -> Self {
        let Run { host, counter, .. } = Run::next(ms);
        let seconds = ms.div_euclid(1000) as u32;
        Self(u128::from(seconds) << OTHER_BITS | u128::from(host << COUNTER_BITS | u64::from(counter)))
    }

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
        base32hex::encode_96_bits((self.0 >> 56) as u64, (self.0 >> 16) as u64, self.0 as u32 & 0xffff)
    }
}

/// The state of a thread between two ids.
#[derive(Clone, Copy)]
struct Run {
    stream_id: StreamId,
    left: u32,
    /// The 40 bits of machine and process.
    host: u64,
    counter: u32,
}

impl Run {
    const NONE: Self = Self { stream_id: StreamId::NONE, left: 0, host: 0, counter: 0 };

    /// The next count. A host uses each count once; then, or with fresh randomness, another follows.
    fn next(stamp_ms: i64) -> Self {
        thread_local! {
            static RUN: Cell<Run> = const { Cell::new(Run::NONE) };
        }
        let mut run = RUN.get();
        run.advance(entropy::stream_id(stamp_ms), stamp_ms);
        RUN.set(run);
        run
    }

    fn advance(&mut self, stream_id: StreamId, stamp_ms: i64) {
        if self.stream_id != stream_id || self.left == 0 {
            let bits = entropy::next_u128_rarely(stamp_ms) as u64;
            *self = Self { stream_id, left: 1 << COUNTER_BITS, host: bits >> COUNTER_BITS, counter: bits as u32 };
        }
        self.left -= 1;
        self.counter = self.counter.wrapping_add(1) & ((1 << COUNTER_BITS) - 1);
    }
}

show_as_text!(Xid);
stamped!(Xid, 0..=u32::MAX as i64 * 1000 + 999);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_each_count_once() {
        let stream_id = StreamId { stream: 1, reseeds: 0 };
        let mut run = Run::NONE;
        run.advance(stream_id, 7);
        let first = run;
        for number in 1..(1 << COUNTER_BITS) {
            run.advance(stream_id, 7);
            assert!(run.host == first.host && run.counter == (first.counter + number) % (1 << COUNTER_BITS));
        }
        run.advance(stream_id, 7);
        assert_ne!(run.host, first.host);
    }

    #[test]
    fn fresh_randomness_makes_another_host() {
        let mut run = Run::NONE;
        let mut host = |reseeds| {
            run.advance(StreamId { stream: 1, reseeds }, 7);
            run.host
        };
        let first = host(0);
        assert!(host(0) == first && host(1) != first && first >> 40 == 0);
    }

    /// Bits that both shared would tell hosts apart only once.
    #[test]
    fn where_a_host_begins_to_count_has_bits_of_its_own() {
        let is_part_of_it = |reseeds: &u64| {
            let mut run = Run::NONE;
            run.advance(StreamId { stream: 1, reseeds: *reseeds }, 7);
            run.host as u32 & 0x00ff_ffff == run.counter.wrapping_sub(1) & 0x00ff_ffff
        };
        assert!((0..100).filter(is_part_of_it).count() < 2);
    }
}
