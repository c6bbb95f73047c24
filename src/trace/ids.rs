//! The ids of traces and spans, and their hexadecimal digits in headers.

use crate::text::{hex, show_as_text};

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
pub(super) fn put_ids(text: &mut [u8], trace_id: TraceId, span_id: SpanId) {
    let (first, rest) = text.split_at_mut(TraceId::LEN);
    if let Some(place) = first.first_chunk_mut() {
        trace_id.write(place);
    }
    rest[1..][..SpanId::LEN].copy_from_slice(&span_id.to_text());
}

show_as_text!(TraceId);
show_as_text!(SpanId);

/// Reads 32 characters, or 16 as in older versions of B3, which are the right half.
pub(crate) fn trace_id_of_hex(text: &[u8]) -> Option<TraceId> {
    let (left, right) = text.split_last_chunk()?;
    let left = if left.is_empty() { 0 } else { hex::decode_16(left.try_into().ok()?)? };
    let bits = u128::from(left) << 64 | u128::from(hex::decode_16(right)?);
    (bits != 0).then_some(TraceId(bits))
}

/// As [`trace_id_of_hex`], in upper case as well.
pub(crate) fn trace_id_of_any_hex(text: &[u8]) -> Option<TraceId> {
    let mut lower = [0; TraceId::LEN];
    let lower = lower.get_mut(..text.len())?;
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    trace_id_of_hex(lower)
}

/// Reads 16 characters.
pub(crate) fn span_id_of_hex(text: &[u8]) -> Option<SpanId> {
    let bits = hex::decode_16(text.try_into().ok()?)?;
    (bits != 0).then_some(SpanId(bits))
}
