//! Trace ids and the headers that carry them.
//!
//! ```
//! use txid::trace;
//!
//! let (earlier, later) = (trace::id(), trace::id());
//! assert_eq!(earlier.to_string().len(), 32);
//! assert!(earlier < later);
//! ```

use crate::formats::fields;
use crate::formats::table::{TRACE_HOST_ID, TRACE_ID};
use crate::text::{FormatError, hex, show_as_text};

mod amzn;
pub(crate) mod b3;
mod cloud;
pub(crate) mod datadog_headers;
mod jaeger;
pub(crate) mod traceparent;

pub use crate::make::skywalking::SkyWalking;
pub use crate::make::sofa::Sofa;
pub use crate::make::trace_id::{host_id, host_id_at, host_id_by, host_word, id, id_at, id_by, otel_trace_id, span_id};
pub(crate) use crate::make::trace_id::{otel_ids, seconds_ids_by};
pub use amzn::AmznTraceId;
pub use b3::{B3, B3Ids, Sampling};
pub use cloud::CloudTraceContext;
pub use datadog_headers::DatadogHeaders;
pub use jaeger::UberTraceId;
pub use traceparent::Traceparent;

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
    pub(crate) fn write(self, text: &mut [u8; Self::LEN]) {
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
    let [ms, sequence, random] = fields(&TRACE_ID, text)?;
    Ok(IdParts { ms: ms as u64, sequence: sequence as u32, random: random as u64 })
}

/// Reads 32 characters as an id made by [`host_id`].
///
/// ```
/// let parts = txid::trace::read_host_id("b13f65bff40000010a00000789abcdef")?;
/// assert_eq!((parts.host, parts.random), (0x0a000007, 0x89abcdef));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_host_id(text: &str) -> Result<HostIdParts, FormatError> {
    let [ms, sequence, host, random] = fields(&TRACE_HOST_ID, text.as_bytes())?;
    Ok(HostIdParts { ms: ms as u64, sequence: sequence as u32, host: host as u32, random: random as u32 })
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
