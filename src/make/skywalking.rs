//! SkyWalking's trace ids: `<instance>.<thread>.<ms * 10000 + sequence>`.

use crate::maker::{Made, Make, Maker};
use crate::source::entropy::{self, StreamId};
use crate::source::laps::{Position, Reading};
use crate::source::{clock, thread_number};
use crate::text::{decimal, hex, show_as_text};
use std::cell::Cell;

pub(crate) const MAKE: Make = Make {
    takes_a_time: false,
    ..Make::of(|_| {
        Ok(Maker::writing(|clock_ms, text| {
            let id = SkyWalking::new_by(clock_ms);
            let place = Made::zeros(text, SkyWalking::MAX_LEN).first_chunk_mut();
            Ok(Made::of(place.map_or(0, |place| id.write(place))))
        }))
    })
};

const SEQUENCE: u32 = 10_000;

/// A SkyWalking id.
///
/// ```
/// use txid::trace::SkyWalking;
///
/// let id: SkyWalking = "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042".parse()?;
/// assert_eq!((id.thread, id.ms, id.sequence), (57, 1_522_545_688_552, 42));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkyWalking {
    /// The process that made it: a random number.
    pub instance: u128,
    /// The thread.
    pub thread: u32,
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// 0 to 9999.
    pub sequence: u16,
}

/// A thread's instance, and how far its sequence is.
#[derive(Clone, Copy)]
struct Mark {
    position: Position,
    stream_id: StreamId,
    instance: u128,
}

impl Mark {
    const NONE: Self = Self { position: Position::before(SEQUENCE), stream_id: StreamId::NONE, instance: 0 };
}

impl SkyWalking {
    /// The length of the longest text.
    pub const MAX_LEN: usize = 32 + 1 + 10 + 1 + 20;

    /// A new id of this moment. If a thread's sequence wraps within a millisecond, it continues in the next. Each
    /// thread has an instance of its own, and draws a new one when fresh randomness is mixed in: after a second of use.
    ///
    /// ```
    /// use txid::trace::SkyWalking;
    ///
    /// assert_ne!(SkyWalking::new(), SkyWalking::new());
    /// ```
    #[allow(clippy::new_without_default, reason = "no two are the same")]
    pub fn new() -> Self {
        Self::new_by(clock::system_ms())
    }

    /// As [`SkyWalking::new`], when the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::trace::SkyWalking::new_by(1_700_000_000_000).ms, 1_700_000_000_000);
    /// ```
    pub fn new_by(clock_ms: i64) -> Self {
        thread_local! {
            static READING: Reading = const { Reading::none() };
            static MARK: Cell<Mark> = const { Cell::new(Mark::NONE) };
        }
        let now_ms = clock::never_backwards(clock_ms);
        let had_been_wrong = READING.with(|reading| reading.had_been_wrong(now_ms));
        let stream_id = entropy::stream_id(now_ms);
        let mut mark = MARK.get();
        mark.position = mark.position.next(SEQUENCE, now_ms, had_been_wrong);
        // After a step back, a new instance tells apart times that the clock repeats.
        if mark.stream_id != stream_id || had_been_wrong {
            mark.stream_id = stream_id;
            mark.instance = entropy::next_u128_rarely(now_ms);
        }
        MARK.set(mark);
        let (ms, sequence) = (mark.position.ms() as i64, mark.position.number());
        Self { instance: mark.instance, thread: thread_number::get(), ms, sequence }
    }

    /// The milliseconds and the sequence of a time.
    pub(crate) fn split(time: u64) -> (u64, u16) {
        (time / u64::from(SEQUENCE), (time % u64::from(SEQUENCE)) as u16)
    }

    /// Writes the text, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::trace::SkyWalking;
    ///
    /// let mut text = [0; SkyWalking::MAX_LEN];
    /// let length = SkyWalking { instance: 1, thread: 2, ms: 3, sequence: 4 }.write(&mut text);
    /// assert_eq!(&text[..length], b"00000000000000000000000000000001.2.30004");
    /// ```
    pub fn write(&self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        let time = (self.ms as u64).saturating_mul(u64::from(SEQUENCE)).saturating_add(u64::from(self.sequence));
        text[..32].copy_from_slice(&hex::encode_128_bits(self.instance));
        let mut length = 32;
        for number in [u64::from(self.thread), time] {
            text[length] = b'.';
            length += 1;
            // At most 44 characters are written so far, so there is always room for 20 more.
            length += text[length..].first_chunk_mut().map_or(0, |place| decimal::encode(number, place));
        }
        length
    }
}

show_as_text!(SkyWalking, SkyWalking::MAX_LEN);
