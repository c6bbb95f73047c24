//! Apache's UNIQUE_ID in both layouts: the short one with the alphabet `A-Za-z0-9@-`, and the long one with that of
//! current httpd, `A-Za-z0-9-_`. httpd 2.4.29 to 2.4.46 wrote the long layout with the other alphabet.

use crate::maker::{Made, Make, Maker, Text};
use crate::source::entropy::{self, StreamId};
use crate::source::{clock, process, thread_number};
use crate::text::base64::{self, Alphabet};
use crate::text::show_as_text;
use std::cell::Cell;
use std::net::Ipv4Addr;

pub(crate) const SHORT: Make = Make {
    options: &["address"],
    takes_a_time: true,
    beside_copies: Some(&["address"]),
    maker: |options| {
        let address = options.ipv4_address()?;
        Ok(Maker::stamping(move |ms, text| put(text, UniqueId::wrapping_short_at(ms, address))))
    },
};

pub(crate) const LONG: Make = Make::of(|_| Ok(Maker::stamping(|ms, text| put(text, UniqueId::wrapping_long_at(ms)))));

/// The alphabets of httpd before 2.4.47, and since.
const OLDER: &Alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-";
const NEWER: &Alphabet = base64::OF_URLS;

/// The number of values of the counter.
const COUNTER_VALUES: u32 = 1 << 16;

/// How far ahead the next run of a thread may begin. 24 bits tell laps apart, and no two runs make 1024 laps in
/// one second.
const FARTHEST: u32 = (1 << 24) - 1024;

fn put(text: &mut Text, id: UniqueId) -> Made {
    let mut written = [0; UniqueId::LONG_LEN];
    let len = id.write(&mut written);
    Made::copied(text, &written[..len])
}

/// An id in the format of `mod_unique_id`.
///
/// ```
/// use txid::UniqueId;
///
/// let id = UniqueId::wrapping_long_at(1_522_545_688_552);
/// assert_eq!(id.to_string().len(), 27);
/// assert_eq!(id.seconds, 1_522_545_688);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniqueId {
    /// Seconds since 1970-01-01 UTC.
    pub seconds: u32,
    /// The process that made it: the fields in which the two layouts differ.
    pub process: UniqueIdProcess,
    /// Starts at a random value, counts up, and wraps.
    pub counter: u16,
    /// The thread. In the short ids made here: 8 bits of its number, and 24 bits that tell apart ids with the same
    /// counter.
    pub thread: u32,
}

/// The process that made a [`UniqueId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniqueIdProcess {
    /// 24 characters: a host and a process.
    Short {
        /// The host's IPv4 address.
        address: Ipv4Addr,
        /// The process.
        pid: u32,
    },
    /// 27 characters, as in httpd 2.4: a random number for the process. Here, a new one is drawn after 65,536 ids or a
    /// second of use.
    Long {
        /// The random number.
        random: [u8; 10],
    },
}

/// The state of a thread between two ids.
#[derive(Clone, Copy)]
struct Run {
    stream_id: StreamId,
    thread: u32,
    left: u32,
    counter: u16,
    number: u32,
    random: [u8; 10],
}

impl UniqueId {
    /// The length of the layout with an address.
    pub const SHORT_LEN: usize = 24;
    /// The length of the layout without one.
    pub const LONG_LEN: usize = 27;

    /// A new id of this moment in the layout with the host's `address`.
    ///
    /// ```
    /// assert_eq!(txid::UniqueId::short([10, 0, 0, 7].into()).to_string().len(), 24);
    /// ```
    pub fn short(address: Ipv4Addr) -> Self {
        Self::short_by(clock::system_ms(), address)
    }

    /// As [`UniqueId::short`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::UniqueId::short_by(1_522_545_688_552, [10, 0, 0, 7].into()).seconds, 1_522_545_688);
    /// ```
    pub fn short_by(clock_ms: i64, address: Ipv4Addr) -> Self {
        Self::wrapping_short_at(clock::never_backwards(clock_ms), address)
    }

    /// As [`UniqueId::short`], stamped with the second that `ms` is in, of which the low 32 bits count.
    ///
    /// ```
    /// assert_eq!(txid::UniqueId::wrapping_short_at(1_522_545_688_552, [10, 0, 0, 7].into()).seconds, 1_522_545_688);
    /// ```
    pub fn wrapping_short_at(ms: i64, address: Ipv4Addr) -> Self {
        let run = Run::next(ms);
        Self {
            seconds: ms.div_euclid(1000) as u32,
            process: UniqueIdProcess::Short { address, pid: process::id(run.stream_id) },
            counter: run.counter,
            thread: run.thread_and_number(),
        }
    }

    /// A new id of this moment in the layout of httpd 2.4.
    ///
    /// ```
    /// assert_ne!(txid::UniqueId::long(), txid::UniqueId::long());
    /// ```
    pub fn long() -> Self {
        Self::long_by(clock::system_ms())
    }

    /// As [`UniqueId::long`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::UniqueId::long_by(1_522_545_688_552).seconds, 1_522_545_688);
    /// ```
    pub fn long_by(clock_ms: i64) -> Self {
        Self::wrapping_long_at(clock::never_backwards(clock_ms))
    }

    /// As [`UniqueId::long`], stamped with the second that `ms` is in, of which the low 32 bits count.
    ///
    /// ```
    /// assert_eq!(txid::UniqueId::wrapping_long_at(-1).seconds, u32::MAX);
    /// ```
    pub fn wrapping_long_at(ms: i64) -> Self {
        let run = Run::next(ms);
        Self {
            seconds: ms.div_euclid(1000) as u32,
            process: UniqueIdProcess::Long { random: run.random },
            counter: run.counter,
            thread: run.thread,
        }
    }

    /// Writes the text, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::UniqueId;
    ///
    /// let mut text = [0; UniqueId::LONG_LEN];
    /// assert_eq!(UniqueId::short([10, 0, 0, 7].into()).write(&mut text), UniqueId::SHORT_LEN);
    /// ```
    pub fn write(&self, text: &mut [u8; Self::LONG_LEN]) -> usize {
        let (seconds, counter, thread) = (u64::from(self.seconds), u64::from(self.counter), u64::from(self.thread));
        let (fields, alphabet, length) = match self.process {
            UniqueIdProcess::Short { address, pid } => {
                let address = u64::from(address.to_bits());
                let fields = [seconds << 16 | address >> 16, address << 32 | u64::from(pid), counter << 32 | thread, 0];
                (fields, OLDER, Self::SHORT_LEN)
            }
            UniqueIdProcess::Long { random: [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9] } => {
                let random = u64::from_be_bytes([r0, r1, r2, r3, r4, r5, r6, r7]);
                let rest = u64::from(u16::from_be_bytes([r8, r9]));
                let fields =
                    [seconds << 16 | random >> 48, random, rest << 32 | counter << 16 | thread >> 16, thread << 32];
                (fields, NEWER, Self::LONG_LEN)
            }
        };
        for (place, field) in text.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&base64::encode_six(field, alphabet));
        }
        if length == Self::LONG_LEN {
            text[24..].copy_from_slice(&base64::encode_six(fields[3], alphabet)[..3]);
        }
        length
    }
}

impl Run {
    const NONE: Self = Self { stream_id: StreamId::NONE, thread: 0, left: 0, counter: 0, number: 0, random: [0; 10] };

    /// A run that begins where this one cannot have been in the same second.
    fn renewed(self, stream_id: StreamId, bits: u128) -> Self {
        Self {
            stream_id,
            thread: thread_number::get(),
            counter: bits as u16,
            number: self.number.wrapping_add((bits >> 32) as u32 % FARTHEST),
            ..Self::NONE
        }
    }

    /// The 32 bits beside the count in a short id.
    fn thread_and_number(&self) -> u32 {
        self.thread << 24 | self.number & 0x00ff_ffff
    }

    /// The next count. After 65,536 counts, the number changes, so that no two ids are the same.
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
        if self.stream_id != stream_id {
            *self = self.renewed(stream_id, entropy::next_u128_rarely(stamp_ms));
        }
        if self.left == 0 {
            let [random @ .., _, _, _, _, _, _] = entropy::next_u128_rarely(stamp_ms).to_be_bytes();
            self.random = random;
            self.number = self.number.wrapping_add(1);
            self.left = COUNTER_VALUES;
        }
        self.left -= 1;
        self.counter = self.counter.wrapping_add(1);
    }
}

show_as_text!(UniqueId, UniqueId::LONG_LEN);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_series_does_not_meet_the_one_before_it(bits: u128, number: u32, back in 0_u32..500) {
            let before = Run { number, ..Run::NONE };
            for bits in [bits, u128::from(number.wrapping_sub(back)) << 32] {
                // Its first lap has the next number.
                let first = before.renewed(StreamId::NONE, bits).number.wrapping_add(1);
                let distance = first.wrapping_sub(number) & 0x00ff_ffff;
                prop_assert!(distance > 0 && distance < (1 << 24) - 1000, "{distance}");
            }
        }
    }

    #[test]
    fn a_series_goes_on_from_the_one_before_it() {
        let before = Run { number: 5, ..Run::NONE };
        assert_eq!(before.renewed(StreamId::NONE, 0).number, 5);
        assert_eq!(before.renewed(StreamId::NONE, 7 << 32).number, 12);
        // The farthest leaves room for 1,024 laps, in 24 bits.
        assert_eq!(before.renewed(StreamId::NONE, 0xff_fbff << 32).number, 0xff_fbff + 5);
        assert_eq!(before.renewed(StreamId::NONE, 0xff_fc00 << 32).number, 5);
    }

    #[test]
    fn fresh_randomness_begins_a_series_with_another_random_number() {
        let mut run = Run::NONE;
        let mut next = |reseeds| {
            run.advance(StreamId { stream: 1, reseeds }, 0);
            (run.random, run.number, run.left)
        };
        let (first, second, renewed) = (next(0), next(0), next(1));
        assert_eq!(second, (first.0, first.1, first.2 - 1));
        assert_eq!(renewed.2, first.2);
        assert_ne!(renewed.0, first.0);
        assert_ne!(renewed.1, first.1);
    }

    #[test]
    fn the_number_of_a_series_stays_out_of_the_threads_bits() {
        let run = Run { thread: 0x1234, number: 0xff00_0001, ..Run::NONE };
        assert_eq!(run.thread_and_number(), 0x3400_0001);
    }
}
