//! Trace ids and the headers that carry them.
//!
//! ```
//! use txid::trace;
//!
//! let (earlier, later) = (trace::id(), trace::id());
//! assert_eq!(earlier.to_string().len(), 32);
//! assert!(earlier < later);
//! ```

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Sorted, Texts, Time, Value};
use crate::maker::{Made, Maker, Text};
use crate::source::clock::{self, Stamp};
use crate::source::entropy::{self, StreamId};
use crate::source::signal_safe::SignalSafe;
use crate::text::{FormatError, hex, show_as_text};
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};

mod amzn;
pub(crate) mod b3;
mod cloud;
pub(crate) mod datadog;
pub(crate) mod datadog_headers;
pub(crate) mod eagleid;
mod jaeger;
pub(crate) mod skywalking;
pub(crate) mod sofa;
pub(crate) mod traceparent;
pub(crate) mod xray;

pub use amzn::AmznTraceId;
pub use b3::{B3, B3Ids, Sampling};
pub use cloud::CloudTraceContext;
pub use datadog_headers::DatadogHeaders;
pub use jaeger::UberTraceId;
pub use skywalking::SkyWalking;
pub use sofa::Sofa;
pub use traceparent::Traceparent;

const SEQUENCE_BITS: u32 = 23;
const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;

/// A thread rarely makes more ids in a millisecond.
const MOST_IN_A_MS: u32 = 0xfff;

/// An id with a host draws a new random word after this many ids.
const IDS_A_WORD: u32 = 5000;

pub(crate) const ID: Format = Format {
    name: "trace_id",
    title: "time-ordered trace id",
    about: "a trace id that sorts by time, 32 hexadecimal digits",
    make: Some(Make {
        options: &["epoch"],
        takes_a_time: true,
        in_nginx: Some(&["epoch"]),
        maker: |options| {
            let epoch_ms = options.epoch_ms()?;
            Ok(Maker::writing(move |clock_ms, text| Ok(put(text, id_by(clock_ms, epoch_ms))))
                .writing_at(move |ms, text| put(text, id_at(ms, epoch_ms))))
        },
    }),
    read: Some(Read {
        lengths: TraceId::LEN..=TraceId::LEN,
        all_lengths: None,
        holds: |text, _| {
            let id = read_id_ascii(text).ok()?;
            // A random id rarely has such a small sequence, and a thread rarely makes more ids in a millisecond.
            Holds::time(id.ms as i64, if id.sequence <= MOST_IN_A_MS { 117 } else { 130 })
        },
        time: Some(TIME),
    }),
};

pub(crate) const ID_ANATOMY: ReadAnatomy = |text, _| {
    let id = read_id_ascii(text)?;
    let parts = vec![("sequence", id.sequence.into()), ("random", format!("{:016x}", id.random).into())];
    of_trace(text, parts, &[("time", 41), ("sequence", 23), ("random", 64)])
};

pub(crate) const HOST_ID: Format = Format {
    name: "trace_host_id",
    title: "time-ordered trace id with a host",
    about: "the same, with the host's address",
    make: Some(Make {
        options: &["address", "epoch"],
        takes_a_time: true,
        in_nginx: Some(&["address", "epoch"]),
        maker: |options| {
            let (host, epoch_ms) = (host_word(options.host()?), options.epoch_ms()?);
            Ok(Maker::of(move |clock_ms| host_id_by(clock_ms, epoch_ms, host).to_text())
                .at(move |ms| host_id_at(ms, epoch_ms, host).to_text()))
        },
    }),
    read: Some(Read {
        lengths: TraceId::LEN..=TraceId::LEN,
        all_lengths: None,
        // Nothing tells a host from random bits.
        holds: |text, _| Holds::time(read_id_ascii(text).ok()?.ms as i64, 131),
        time: Some(TIME),
    }),
};

pub(crate) const HOST_ID_ANATOMY: ReadAnatomy = |text, _| {
    let id = host_id_in(read_id_ascii(text)?);
    let parts = vec![
        ("sequence", id.sequence.into()),
        ("host", Ipv4Addr::from_bits(id.host).to_string().into()),
        ("random", format!("{:08x}", id.random).into()),
    ];
    of_trace(text, parts, &[("time", 41), ("sequence", 23), ("host", 32), ("random", 32)])
};

pub(crate) const OTEL_ID: Format = Format {
    name: "otel_trace_id",
    title: "OpenTelemetry trace id",
    about: "a random trace id of OpenTelemetry, 32 hexadecimal digits",
    make: Some(Make {
        options: &[],
        takes_a_time: false,
        in_nginx: Some(&[]),
        maker: |_| Ok(Maker::writing(|_, text| Ok(put(text, otel_trace_id())))),
    }),
    read: Some(Read {
        lengths: TraceId::LEN..=TraceId::LEN,
        all_lengths: None,
        holds: |text, _| read_trace_id(text).ok().and_then(|_| Holds::no_time(128)),
        time: None,
    }),
};

pub(crate) const OTEL_ID_ANATOMY: ReadAnatomy = |text, _| {
    read_trace_id(text)?;
    of_trace(text, Vec::new(), &[("random", 128)])
};

fn put(text: &mut Text, id: TraceId) -> Made {
    Made::in_place(text, |place| id.write(place))
}

const ZEROS: &str = "a trace id must not be all zeros";

fn read_trace_id(text: &[u8]) -> Result<u128, FormatError> {
    read_id_ascii(text)?;
    read_nonzero::<{ TraceId::LEN }>(text, 0, ZEROS)
}

pub(crate) const SPAN_ID: Format = Format {
    name: "span_id",
    title: "span id",
    about: "a random span id of OpenTelemetry, 16 hexadecimal digits",
    make: Some(Make {
        options: &[],
        takes_a_time: false,
        in_nginx: None,
        maker: |_| Ok(Maker::of(|_| span_id().to_text())),
    }),
    read: Some(Read {
        lengths: SpanId::LEN..=SpanId::LEN,
        all_lengths: None,
        holds: |text, _| read_span(text).ok().and_then(|_| Holds::no_time(64)),
        time: None,
    }),
};

pub(crate) const SPAN_ID_ANATOMY: ReadAnatomy = |text, _| {
    let bits = read_span(text)?;
    Ok(Anatomy::new(String::from_utf8_lossy(text), Vec::new()).with_bits(&bits.to_be_bytes(), &[("random", 64)]))
};

fn read_span(text: &[u8]) -> Result<u64, FormatError> {
    if text.len() != SpanId::LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a span id has 16" });
    }
    Ok(read_nonzero::<{ SpanId::LEN }>(text, 0, "a span id must not be all zeros")? as u64)
}

/// A host takes bits of those that are random otherwise.
const TIME: Time = Time {
    shape: Shape::Word(TraceId::LEN..=TraceId::LEN),
    since_ms: 1_420_070_400_000,
    sorted: Some(Sorted {
        times: |_| 0..=(1 << 41) - 1,
        bounds: |ms, _| {
            let first = u128::from(ms as u64) << (SEQUENCE_BITS + 64);
            [first, first | ((1 << (SEQUENCE_BITS + 64)) - 1)].map(|bits| TraceId(bits).to_string())
        },
        order: |text, _| {
            read_id_ascii(text).ok()?;
            hex::decode::<{ TraceId::LEN }>(text, 0).ok()
        },
        texts: Texts::AsTheyAre,
    }),
};

fn of_trace(
    text: &[u8],
    parts: Vec<(&'static str, Value)>,
    fields: &[(&'static str, usize)],
) -> Result<Anatomy, FormatError> {
    let bits = hex::decode::<{ TraceId::LEN }>(text, 0)?;
    Ok(Anatomy::new(String::from_utf8_lossy(text), parts).with_bits(&bits.to_be_bytes(), fields))
}

/// A trace's id: 32 hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(
    /// The 128 bits.
    pub u128,
);

/// A span's id: 16 hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(
    /// The 64 bits.
    pub u64,
);

impl TraceId {
    /// The length of the text.
    pub const LEN: usize = 32;

    /// The text, without allocating.
    ///
    /// ```
    /// assert_eq!(&txid::trace::TraceId(255).to_text(), b"000000000000000000000000000000ff");
    /// ```
    #[inline]
    pub fn to_text(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        self.write(&mut text);
        text
    }

    /// Once, for all who call it.
    #[inline(never)]
    fn write(self, text: &mut [u8; Self::LEN]) {
        *text = hex::encode_128_bits(self.0);
    }
}

impl SpanId {
    /// The length of the text.
    pub const LEN: usize = 16;

    /// The text, without allocating.
    ///
    /// ```
    /// assert_eq!(&txid::trace::SpanId(255).to_text(), b"00000000000000ff");
    /// ```
    #[inline]
    pub fn to_text(self) -> [u8; Self::LEN] {
        hex::encode_64_bits(self.0)
    }
}

/// Writes both to where they are to be, with a character between them that is there already.
#[inline(always)]
fn put_ids(text: &mut [u8], trace_id: TraceId, span_id: SpanId) {
    let (first, rest) = text.split_at_mut(TraceId::LEN);
    if let Some(place) = first.first_chunk_mut() {
        trace_id.write(place);
    }
    rest[1..][..SpanId::LEN].copy_from_slice(&span_id.to_text());
}

show_as_text!(TraceId);
show_as_text!(SpanId);

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
/// let id = txid::trace::id_at(1_522_545_688_552, 0);
/// assert_eq!(txid::trace::read_id(&id.to_string())?.ms, 1_522_545_688_552);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn id_at(ms: i64, epoch_ms: i64) -> TraceId {
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

/// As [`host_id`], stamped as [`id_at`].
///
/// ```
/// let id = txid::trace::host_id_at(1_522_545_688_552, 0, 0x0a000007);
/// assert_eq!(txid::trace::read_host_id(&id.to_string())?.ms, 1_522_545_688_552);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn host_id_at(ms: i64, epoch_ms: i64, host: u32) -> TraceId {
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
        static WORD: SignalSafe<Word> = const { SignalSafe::new(NONE) };
    }
    let high = time_and_sequence(ms, epoch_ms, stamp);
    let stream_id = entropy::stream_id(ms);
    let random = WORD.with(|kept| {
        kept.step(NONE, |word| {
            // A repeated time starts again at 0, which the same word may have been used with.
            if word.left == 0 || word.stream_id != stream_id || high <= word.last {
                *word = Word { stream_id, random: entropy::next_u128_rarely(ms) as u32, left: IDS_A_WORD, last: 0 };
            }
            word.left -= 1;
            word.last = high;
            word.random
        })
    });
    let low = u64::from(host) << 32 | u64::from(random);
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
#[inline(never)]
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

/// The fields of a time-ordered trace id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdParts {
    /// Milliseconds since the epoch that it was made with.
    pub ms: u64,
    /// Its number within its millisecond, from 0.
    pub sequence: u32,
    /// The random bits.
    pub random: u64,
}

/// The fields of a time-ordered trace id with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostIdParts {
    /// Milliseconds since the epoch it was made with.
    pub ms: u64,
    /// Its number within its millisecond, from 0.
    pub sequence: u32,
    /// The host, as [`host_word`] has it.
    pub host: u32,
    /// The random word.
    pub random: u32,
}

/// Reads 32 characters as an id made by [`id`].
///
/// ```
/// let parts = txid::trace::read_id("b13f65bff40000010123456789abcdef")?;
/// assert_eq!((parts.ms, parts.sequence, parts.random), (1_522_545_688_552, 1, 0x0123456789abcdef));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_id(text: &str) -> Result<IdParts, FormatError> {
    read_id_ascii(text.as_bytes())
}

/// As [`read_id`], from bytes.
///
/// ```
/// assert_eq!(txid::trace::read_id_ascii(b"00000000000000000000000000000007")?.random, 7);
/// # Ok::<(), txid::FormatError>(())
/// ```
///
/// # Errors
///
/// As [`read_id`].
pub fn read_id_ascii(text: &[u8]) -> Result<IdParts, FormatError> {
    if text.len() != TraceId::LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a trace id has 32" });
    }
    let bits = hex::decode::<32>(text, 0)?;
    let (high, random) = ((bits >> 64) as u64, bits as u64);
    Ok(IdParts { ms: high >> SEQUENCE_BITS, sequence: (high & SEQUENCE_MASK) as u32, random })
}

/// Reads 32 characters as an id made by [`host_id`].
///
/// ```
/// let parts = txid::trace::read_host_id("b13f65bff40000010a00000789abcdef")?;
/// assert_eq!((parts.host, parts.random), (0x0a000007, 0x89abcdef));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_host_id(text: &str) -> Result<HostIdParts, FormatError> {
    read_id(text).map(host_id_in)
}

fn host_id_in(IdParts { ms, sequence, random }: IdParts) -> HostIdParts {
    HostIdParts { ms, sequence, host: (random >> 32) as u32, random: random as u32 }
}

/// Reads 32 characters, or 16 as in older versions of B3, which are the right half.
#[inline(never)]
pub(crate) fn trace_id_of_hex(text: &[u8]) -> Option<TraceId> {
    let bits = match text.len() {
        TraceId::LEN => hex::decode::<{ TraceId::LEN }>(text, 0),
        SpanId::LEN => hex::decode::<{ SpanId::LEN }>(text, 0),
        _ => return None,
    };
    bits.ok().filter(|&bits| bits != 0).map(TraceId)
}

/// As [`trace_id_of_hex`], in upper case as well.
#[inline(never)]
pub(crate) fn trace_id_of_any_hex(text: &[u8]) -> Option<TraceId> {
    let mut lower = [0; TraceId::LEN];
    let lower = lower.get_mut(..text.len())?;
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    trace_id_of_hex(lower)
}

/// Reads 16 characters.
#[inline(never)]
pub(crate) fn span_id_of_hex(text: &[u8]) -> Option<SpanId> {
    let bits = (text.len() == SpanId::LEN).then(|| hex::decode::<{ SpanId::LEN }>(text, 0))?;
    bits.ok().filter(|&bits| bits != 0).map(|bits| SpanId(bits as u64))
}

/// Reads the `LENGTH` characters from `start` as the id of a trace or a span, which must not be all zeros.
fn read_nonzero<const LENGTH: usize>(text: &[u8], start: usize, zeros: &'static str) -> Result<u128, FormatError> {
    match hex::decode::<LENGTH>(text, start)? {
        0 => Err(FormatError::Value(zeros)),
        bits => Ok(bits),
    }
}
