//! The span of a request.

use crate::caller::txid_header;
use ::txid::request::{Kind, Span, TraceHeaders};
use ::txid::trace::{B3, Sampling, SpanId, TraceId, Traceparent};
use std::io::Write;

/// The headers that a trace comes in.
#[allow(dead_code, reason = "C makes them")]
#[repr(C)]
pub enum txid_trace_kind {
    /// W3C's traceparent.
    Traceparent,
    /// The X-B3- headers.
    B3,
    /// The single b3 header.
    B3Single,
}

/// The headers that carry a trace, in the order of txid_span_continue.
pub const TXID_TRACE_HEADERS: usize = 7;

/// The span of a request, in the form of headers. A header of length 0 must not be sent.
#[repr(C)]
pub struct txid_span {
    /// X-B3-TraceId: the trace.
    pub trace_id: [u8; 32],
    /// X-B3-SpanId: this hop.
    pub span_id: [u8; 16],
    /// X-B3-ParentSpanId: the span that called this one.
    pub parent_span_id: [u8; 16],
    /// traceparent
    pub traceparent: [u8; 55],
    /// b3
    pub b3: [u8; 68],
    /// X-B3-Sampled: 0 or 1.
    pub sampled: u8,
    /// X-B3-Flags: 1.
    pub flags: u8,
    /// The length of parent_span_id: 16 or 0.
    pub parent_span_id_len: u8,
    /// The length of b3.
    pub b3_len: u8,
    /// The length of sampled: 1 or 0.
    pub sampled_len: u8,
    /// The length of flags: 1 or 0.
    pub flags_len: u8,
    /// Whether it continues the trace of the traceparent that came in, so that its tracestate is passed on as well.
    pub is_continued: bool,
}

const _: () = assert!(TraceId::LEN == 32 && SpanId::LEN == 16 && Traceparent::LEN == 55 && B3::MAX_LEN == 68);

/// Writes the first span of a new trace to `span`.
///
/// # Safety
///
/// `span` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_start(span: *mut txid_span) {
    // SAFETY: the caller vouches for `span`.
    unsafe { span.write(txid_span::from(&Span::new())) }
}

/// Writes a span to `span` that continues the trace that came in as `kind`; if there is no valid one, the first span of
/// a new trace. `headers` are the request's traceparent, b3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled
/// and X-B3-Flags.
///
/// # Safety
///
/// `headers` must be valid for reads of TXID_TRACE_HEADERS of them, as must their texts; `kind` must be one of the
/// enum's values, and `span` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_continue(kind: txid_trace_kind, headers: *const txid_header, span: *mut txid_span) {
    // SAFETY: the caller vouches for the headers.
    let [traceparent, b3, x_b3_trace_id, x_b3_span_id, x_b3_parent_span_id, x_b3_sampled, x_b3_flags] = unsafe {
        let headers = &*headers.cast::<[txid_header; TXID_TRACE_HEADERS]>();
        headers.each_ref().map(|header| header.read())
    };
    let kind = match kind {
        txid_trace_kind::Traceparent => Kind::Traceparent,
        txid_trace_kind::B3 => Kind::B3,
        txid_trace_kind::B3Single => Kind::B3Single,
    };
    let headers =
        TraceHeaders { traceparent, b3, x_b3_trace_id, x_b3_span_id, x_b3_parent_span_id, x_b3_sampled, x_b3_flags };
    // SAFETY: the caller vouches for `span`.
    unsafe { span.write(txid_span::from(&Span::of(kind, &headers))) }
}

impl From<&Span> for txid_span {
    fn from(span: &Span) -> Self {
        let mut b3 = [0; B3::MAX_LEN];
        let mut rest = &mut b3[..];
        // It has room for the longest one.
        let _ = write!(rest, "{}", span.b3());
        let b3_len = B3::MAX_LEN - rest.len();
        let debug = span.sampled == Some(Sampling::Debug);
        let sampled = span.sampled.filter(|_| !debug).map(|sampling| sampling.letter() as u8);
        Self {
            trace_id: span.trace_id.to_text(),
            span_id: span.span_id.to_text(),
            parent_span_id: span.parent_span_id.unwrap_or(SpanId(0)).to_text(),
            traceparent: span.traceparent().to_text(),
            b3,
            sampled: sampled.unwrap_or_default(),
            flags: b'1',
            parent_span_id_len: if span.parent_span_id.is_some() { SpanId::LEN as u8 } else { 0 },
            b3_len: b3_len as u8,
            sampled_len: u8::from(sampled.is_some()),
            flags_len: u8::from(debug),
            is_continued: span.is_continued,
        }
    }
}
