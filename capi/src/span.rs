//! The span of a request.

use crate::b3::TXID_B3_MAX_LEN;
use crate::policy::{txid_headers, txid_peer, txid_policy};
use crate::trace::{TXID_SPAN_ID_LEN, TXID_TRACE_ID_LEN};
use crate::traceparent::TXID_TRACEPARENT_LEN;
use ::txid::request::{Span, TraceIds};
use ::txid::trace::{Sampling, SpanId};
use std::array;

/// The span of a request, in the form of headers. A header of length 0 must not be sent.
#[repr(C)]
pub struct txid_span {
    /// X-B3-TraceId: the trace.
    pub trace_id: [u8; TXID_TRACE_ID_LEN],
    /// X-B3-SpanId: this hop.
    pub span_id: [u8; TXID_SPAN_ID_LEN],
    /// X-B3-ParentSpanId: the span that called this one.
    pub parent_span_id: [u8; TXID_SPAN_ID_LEN],
    /// traceparent
    pub traceparent: [u8; TXID_TRACEPARENT_LEN],
    /// b3
    pub b3: [u8; TXID_B3_MAX_LEN],
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

/// Writes the first span of a new trace to `span`; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, or NULL for one without options; `span` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_start(policy: *const txid_policy, clock_ms: i64, span: *mut txid_span) {
    // SAFETY: the caller vouches for the policy.
    let new = match unsafe { policy.as_ref() } {
        Some(policy) => policy.0.new_span(clock_ms),
        None => Span::new(TraceIds::Random, clock_ms),
    };
    // SAFETY: the caller vouches for `span`.
    unsafe { span.write(txid_span::from(&new)) }
}

/// Writes a span to `span` that continues the trace in `headers`, which `peer` sent; if there is no valid one, or the
/// policy does not accept the peer, the first span of a new trace. See txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open; `peer` and `headers` must be valid for a read, as must what they point to;
/// and `span` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_continue(
    policy: *const txid_policy,
    clock_ms: i64,
    peer: *const txid_peer,
    headers: *const txid_headers,
    span: *mut txid_span,
) {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        let policy = &(*policy).0;
        let is_trusted = (*peer).is_trusted_by(policy);
        span.write(txid_span::from(&policy.span_of(is_trusted, &(*headers).read(), clock_ms)));
    }
}

impl From<&Span> for txid_span {
    #[inline(always)]
    fn from(span: &Span) -> Self {
        let texts = span.texts();
        let traceparent = texts.traceparent;
        let debug = span.sampled == Some(Sampling::Debug);
        let sampled = span.sampled.filter(|_| !debug).map(|sampling| sampling.letter() as u8);
        Self {
            trace_id: array::from_fn(|index| traceparent[3 + index]),
            span_id: array::from_fn(|index| traceparent[36 + index]),
            parent_span_id: texts.parent_span_id.unwrap_or_default(),
            traceparent,
            b3: texts.b3,
            sampled: sampled.unwrap_or_default(),
            flags: b'1',
            parent_span_id_len: if span.parent_span_id.is_some() { SpanId::LEN as u8 } else { 0 },
            b3_len: texts.b3_len as u8,
            sampled_len: u8::from(sampled.is_some()),
            flags_len: u8::from(debug),
            is_continued: span.is_continued,
        }
    }
}
