//! Trace ids that sort by time, with a host or without one, and the random ids of traces and spans.

use crate::maker::{Made, Make, Maker, Text};
use crate::source::clock::{self, Stamp};
use crate::source::entropy::{self, StreamId};
use crate::trace::ids::{SpanId, TraceId};
use std::cell::Cell;
use std::net::IpAddr;

/// An id with a host draws a new random word after this many ids.
const IDS_A_WORD: u32 = 5000;

pub(crate) const ID: Make = Make {
    options: &["epoch"],
    takes_a_time: true,
    beside_copies: Some(&["epoch"]),
    maker: |options| {
        let epoch_ms = options.epoch_ms()?;
        Ok(Maker::writing(move |clock_ms, text| Ok(put(text, id_by(clock_ms, epoch_ms))))
            .writing_at(move |ms, text| put(text, wrapping_id_at(ms, epoch_ms))))
    },
};

pub(crate) const HOST_ID: Make = Make {
    options: &["address", "epoch"],
    takes_a_time: true,
    beside_copies: Some(&["address", "epoch"]),
    maker: |options| {
        let (host, epoch_ms) = (host_word(options.host()?), options.epoch_ms()?);
        Ok(Maker::writing(move |clock_ms, text| Ok(put(text, host_id_by(clock_ms, epoch_ms, host))))
            .writing_at(move |ms, text| put(text, wrapping_host_id_at(ms, epoch_ms, host))))
    },
};

pub(crate) const OTEL_ID: Make =
    Make { takes_a_time: false, ..Make::of(|_| Ok(Maker::writing(|_, text| Ok(put(text, otel_trace_id()))))) };

pub(crate) const SPAN_ID: Make = Make {
    takes_a_time: false,
    beside_copies: None,
    ..Make::of(|_| Ok(Maker::writing(|_, text| Ok(Made::in_place(text, |place| *place = span_id().to_text())))))
};

fn put(text: &mut Text, id: TraceId) -> Made {
    Made::in_place(text, |place| id.write(place))
}

const SEQUENCE_BITS: u32 = 23;

const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;

/// 41 bits of milliseconds since `epoch_ms`, and a number that counts up from 0 within each millisecond of a thread.
#[inline]
fn time_and_sequence(ms: i64, epoch_ms: i64, stamp: Stamp) -> u64 {
    thread_local! {
        /// The last time of each kind of stamp, and the next number within it.
        static NEXT: Cell<[(i64, u64); 2]> = const { Cell::new([(i64::MIN, 0); 2]) };
    }
    let mut next = NEXT.get();
    let of_this_ms = |(last_ms, number): (i64, u64)| if last_ms == ms { number } else { 0 };
    let sequence = of_this_ms(next[Stamp::Clock as usize]).max(of_this_ms(next[Stamp::Given as usize]));
    next[stamp as usize] = (ms, sequence + 1);
    NEXT.set(next);
    (ms.wrapping_sub(epoch_ms) as u64) << SEQUENCE_BITS | sequence & SEQUENCE_MASK
}

/// A new trace id of this moment, which sorts by time: `| ms : 41 | sequence : 23 | random : 64 |`.
///
/// ```
/// assert!(txid::trace::id() < txid::trace::id());
/// ```
pub fn id() -> TraceId {
    id_by(clock::system_ms(), 0)
}

/// As [`id`], stamped with the `ms` since `epoch_ms`, of which the low 41 bits count.
///
/// ```
/// let id = txid::trace::wrapping_id_at(1_522_545_688_552, 0);
/// assert_eq!(txid::trace::read_id(&id.to_string())?.ms, 1_522_545_688_552);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn wrapping_id_at(ms: i64, epoch_ms: i64) -> TraceId {
    next_id(ms, epoch_ms, Stamp::Given)
}

/// As [`id`], when the clock reads `clock_ms`.
///
/// ```
/// let id = txid::trace::id_by(1_522_545_688_552, 0).to_string();
/// assert_eq!(txid::trace::read_id(&id)?.ms, 1_522_545_688_552);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn id_by(clock_ms: i64, epoch_ms: i64) -> TraceId {
    next_id(clock::never_backwards(clock_ms), epoch_ms, Stamp::Clock)
}

#[inline]
fn next_id(ms: i64, epoch_ms: i64, stamp: Stamp) -> TraceId {
    let random = entropy::next_u64(ms);
    TraceId(u128::from(time_and_sequence(ms, epoch_ms, stamp)) << 64 | u128::from(random))
}

/// The 32 bits of a host: its IPv4 address, or the four words of its IPv6 address, folded by XOR.
///
/// ```
/// assert_eq!(txid::trace::host_word([10, 209, 52, 143].into()), 0x0ad1348f);
/// assert_eq!(txid::trace::host_word("2001:db8::ff".parse()?), 0x2001_0db8 ^ 0xff);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn host_word(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            (bits >> 96) as u32 ^ (bits >> 64) as u32 ^ (bits >> 32) as u32 ^ bits as u32
        }
    }
}

/// A new trace id of this moment with the host: `| ms : 41 | sequence : 23 | host : 32 | random : 32 |`.
///
/// A random word is used for at most 5000 ids of a thread or one second, and is drawn anew if an id is stamped with an
/// earlier time than the one before it.
///
/// ```
/// use txid::trace;
///
/// let host = trace::host_word([10, 0, 0, 7].into());
/// assert_eq!(trace::read_host_id(&trace::host_id(host).to_string())?.host, host);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn host_id(host: u32) -> TraceId {
    host_id_by(clock::system_ms(), 0, host)
}

/// As [`host_id`], stamped as [`wrapping_id_at`].
///
/// ```
/// let id = txid::trace::wrapping_host_id_at(1_522_545_688_552, 0, 0x0a000007);
/// assert_eq!(txid::trace::read_host_id(&id.to_string())?.ms, 1_522_545_688_552);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn wrapping_host_id_at(ms: i64, epoch_ms: i64, host: u32) -> TraceId {
    next_host_id(ms, epoch_ms, host, Stamp::Given)
}

/// As [`host_id`], when the clock reads `clock_ms`.
///
/// ```
/// let id = txid::trace::host_id_by(1_522_545_688_552, 0, 0x0a000007).to_string();
/// assert_eq!(txid::trace::read_host_id(&id)?.host, 0x0a000007);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn host_id_by(clock_ms: i64, epoch_ms: i64, host: u32) -> TraceId {
    next_host_id(clock::never_backwards(clock_ms), epoch_ms, host, Stamp::Clock)
}

#[inline]
fn next_host_id(ms: i64, epoch_ms: i64, host: u32, stamp: Stamp) -> TraceId {
    #[derive(Clone, Copy)]
    struct Word {
        stream_id: StreamId,
        random: u32,
        left: u32,
        last: u64,
    }
    const NONE: Word = Word { stream_id: StreamId::NONE, random: 0, left: 0, last: 0 };
    thread_local! {
        static WORD: Cell<Word> = const { Cell::new(NONE) };
    }
    let high = time_and_sequence(ms, epoch_ms, stamp);
    let stream_id = entropy::stream_id(ms);
    let mut word = WORD.get();
    // A repeated time starts again at 0, which the same word may have been used with.
    if word.left == 0 || word.stream_id != stream_id || high <= word.last {
        word = Word { stream_id, random: entropy::next_u128_rarely(ms) as u32, left: IDS_A_WORD, last: 0 };
    }
    WORD.set(Word { left: word.left - 1, last: high, ..word });
    let low = u64::from(host) << 32 | u64::from(word.random);
    TraceId(u128::from(high) << 64 | u128::from(low))
}

/// A new random trace id, as OpenTelemetry expects: never all zeros.
///
/// ```
/// assert_ne!(txid::trace::otel_trace_id(), txid::trace::TraceId(0));
/// ```
pub fn otel_trace_id() -> TraceId {
    loop {
        let bits = entropy::next_u128_without_stamp();
        if bits as u64 != 0 {
            return TraceId(bits);
        }
    }
}

/// The ids of a new trace and of its first span, when the clock reads `clock_ms`: `| unix seconds : 32 | random : 96 |`, as
/// X-Ray makes them.
pub(crate) fn seconds_ids_by(clock_ms: i64) -> (TraceId, SpanId) {
    let seconds = clock::never_backwards(clock_ms).div_euclid(1000) as u32;
    let (TraceId(random), span_id) = otel_ids();
    (TraceId(u128::from(seconds) << 96 | random & (u128::MAX >> 32)), span_id)
}

/// The random ids of a new trace and of its first span, as [`otel_trace_id`] and [`span_id`] make them.
#[inline(always)]
pub(crate) fn otel_ids() -> (TraceId, SpanId) {
    loop {
        let [high, low, span_id] = entropy::next_words_without_stamp();
        if ![low, span_id].contains(&0) {
            return (TraceId(u128::from(high) << 64 | u128::from(low)), SpanId(span_id));
        }
    }
}

/// A new random span id: never all zeros.
///
/// ```
/// assert_ne!(txid::trace::span_id(), txid::trace::SpanId(0));
/// ```
pub fn span_id() -> SpanId {
    // Zero is as likely as any other word, so this loop ends.
    loop {
        let bits = entropy::next_u64_without_stamp();
        if bits != 0 {
            return SpanId(bits);
        }
    }
}
