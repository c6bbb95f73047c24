//! The span of a request.

use crate::caller::place;
use crate::policy::txid_policy;
use ::txid::request::{Open, Outgoing, Ratio, Span, TraceIds};
use ::txid::trace::{AmznTraceId, B3, CloudTraceContext, Sampling, SpanId, TraceId, Traceparent, UberTraceId};
use std::array;
use std::ffi::c_char;

/// The length of a trace id.
pub const TXID_TRACE_ID_LEN: usize = 32;

/// The length of a span id.
pub const TXID_SPAN_ID_LEN: usize = 16;

/// The length of a traceparent of version 00.
pub const TXID_TRACEPARENT_LEN: usize = 55;

/// The length of the longest b3 header.
pub const TXID_B3_MAX_LEN: usize = 68;

/// The length of the longest header of txid_span_header.
pub const TXID_SPAN_HEADER_MAX_LEN: usize = 74;

const _: () = assert!(TXID_TRACE_ID_LEN == TraceId::LEN && TXID_SPAN_ID_LEN == SpanId::LEN);
const _: () = assert!(TXID_TRACEPARENT_LEN == Traceparent::LEN && TXID_B3_MAX_LEN == B3::MAX_LEN);
const _: () = assert!(TXID_SPAN_HEADER_MAX_LEN == AmznTraceId::MAX_LEN);
const _: () = assert!(TXID_SPAN_HEADER_MAX_LEN >= CloudTraceContext::MAX_LEN);
const _: () =
    assert!(TXID_SPAN_HEADER_MAX_LEN >= UberTraceId::LEN && TXID_SPAN_HEADER_MAX_LEN >= Outgoing::DATADOG_LEN);
const _: () = assert!(TXID_SPAN_HEADER_MAX_LEN >= Outgoing::TRACESTATE_LEN);

/// A header that is not in a txid_span, but is made of it.
#[repr(C)]
pub enum txid_span_kind {
    /// X-Amzn-Trace-Id
    Aws = 0,
    /// X-Cloud-Trace-Context
    Gcp = 1,
    /// uber-trace-id
    Jaeger = 2,
    /// X-Datadog-Trace-Id
    DatadogTraceId = 3,
    /// X-Datadog-Parent-Id
    DatadogParentId = 4,
    /// X-Datadog-Sampling-Priority; its length is 0 if the decision is left to the next hop.
    DatadogPriority = 5,
    /// X-Datadog-Tags, unless is_datadog says that they are passed on; its length is 0 if there is nothing to say.
    DatadogTags = 6,
    /// tracestate, unless is_continued says that it is passed on; its length is 0 if there is nothing to say.
    Tracestate = 7,
    /// 1 if the traceparent says that the trace is recorded, else 0.
    TraceSampled = 8,
}

/// Whose span a txid_span is.
#[repr(C)]
pub enum txid_span_of {
    /// This hop's.
    ThisHop = 0,
    /// The caller's: this hop has none of its own.
    Caller = 1,
    /// A trace came in, of which only the id is known.
    Trace = 2,
    /// No trace came in, and none begins here.
    None = 3,
}

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
    /// Whether it continues the trace of Datadog's headers that came in, so that X-Datadog-Tags and X-Datadog-Origin are passed
    /// on as well.
    pub is_datadog: bool,
    /// The X-Datadog-Sampling-Priority that came in, if it says more than sampled and flags; otherwise 0.
    pub priority: i8,
    /// Whether it was left to this hop to decide if the trace is recorded: 1 by the end of its id, and 2 by random_value, which is sent.
    pub open: u8,
    /// Whose it is, a txid_span_of.
    pub of: u8,
    /// How many of 2^56 traces are not recorded, if this hop decided by it; otherwise -1.
    pub threshold: i64,
    /// The value that decides; of 2, once it has.
    pub random_value: u64,
}

/// Writes the first span of a new trace to `span`; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, or NULL for one without options; `span` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_start(policy: *const txid_policy, clock_ms: i64, span: *mut txid_span) {
    // SAFETY: the caller vouches for both.
    unsafe {
        match policy.as_ref() {
            Some(txid_policy(policy)) => {
                span.write(txid_span::of(policy.new_span(clock_ms), policy.sample()));
                if policy.passes_spans() {
                    (*span).pass(true);
                }
            }
            None => span.write(txid_span::of(Span::new(TraceIds::Random, clock_ms), None)),
        }
    }
}

/// Writes a header of a span, a txid_span_kind, to `buf`, and returns its length; 0 if there is none of this kind.
///
/// # Safety
///
/// `span` must be from txid_span_start or txid_decide, and `buf` valid for writes of TXID_SPAN_HEADER_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_header(span: *const txid_span, kind: i32, buf: *mut c_char) -> usize {
    const AWS: i32 = txid_span_kind::Aws as i32;
    const GCP: i32 = txid_span_kind::Gcp as i32;
    const JAEGER: i32 = txid_span_kind::Jaeger as i32;
    const DATADOG_TRACE_ID: i32 = txid_span_kind::DatadogTraceId as i32;
    const DATADOG_PARENT_ID: i32 = txid_span_kind::DatadogParentId as i32;
    const DATADOG_PRIORITY: i32 = txid_span_kind::DatadogPriority as i32;
    const DATADOG_TAGS: i32 = txid_span_kind::DatadogTags as i32;
    const TRACESTATE: i32 = txid_span_kind::Tracestate as i32;
    const TRACE_SAMPLED: i32 = txid_span_kind::TraceSampled as i32;

    // SAFETY: the caller vouches for both, and each header has its room.
    unsafe {
        let span = (*span).outgoing();
        match kind {
            AWS => span.amzn_trace_id(place(buf)),
            GCP => span.cloud_trace_context(place(buf)),
            JAEGER => {
                *place(buf) = span.uber_trace_id();
                UberTraceId::LEN
            }
            DATADOG_TRACE_ID => span.datadog_trace_id(place(buf)),
            DATADOG_PARENT_ID => span.datadog_parent_id(place(buf)),
            DATADOG_PRIORITY => span.datadog_priority(place(buf)),
            DATADOG_TAGS => span.datadog_tags(place(buf)),
            TRACESTATE => span.tracestate(place(buf)),
            TRACE_SAMPLED => {
                *place(buf) = [b'0' + (span.traceparent[Traceparent::LEN - 1] & 1)];
                1
            }
            _ => 0,
        }
    }
}

impl txid_span {
    pub(crate) fn outgoing(&self) -> Outgoing<'_> {
        let sampled = match (self.flags_len, self.sampled_len) {
            (0, 0) => None,
            (0, _) => Some(Sampling::from(self.sampled == b'1')),
            _ => Some(Sampling::Debug),
        };
        Outgoing {
            traceparent: &self.traceparent,
            parent_span_id: (self.parent_span_id_len != 0).then_some(&self.parent_span_id),
            b3: &self.b3[..self.b3_len as usize],
            sampled,
            is_continued: self.is_continued,
            is_datadog: self.is_datadog,
            priority: self.priority,
            ratio: u64::try_from(self.threshold).ok().and_then(Ratio::of_threshold),
            random_value: (self.open == Open::ByValue as u8).then_some(self.random_value),
        }
    }

    /// The flags of its traceparent, of which there are two.
    pub(crate) fn flags(&self) -> u8 {
        self.traceparent[Traceparent::LEN - 1] & 3
    }

    /// Whether there is a span of this hop, of a trace that is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.of == txid_span_of::ThisHop as u8 && self.flags() & 1 == 1
    }

    /// Makes it the caller's, for a hop without a span of its own.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass(&mut self, begins_here: bool) {
        const SPAN_AT: usize = Traceparent::LEN - 3 - SpanId::LEN;
        self.open = Open::No as u8;
        let of = match (begins_here, self.parent_span_id_len) {
            (true, _) => txid_span_of::None,
            (_, 0) => txid_span_of::Trace,
            _ => txid_span_of::Caller,
        };
        self.of = of as u8;
        self.span_id = self.parent_span_id;
        self.traceparent[SPAN_AT..][..SpanId::LEN].copy_from_slice(&self.parent_span_id);
        self.b3[SPAN_AT - 3..][..SpanId::LEN].copy_from_slice(&self.parent_span_id);
        // Without the parent.
        self.b3_len = self.b3_len.min((B3::MAX_LEN - 1 - SpanId::LEN) as u8);
        self.parent_span_id_len = 0;
    }

    /// Decides before the texts are written.
    #[inline(always)]
    pub(crate) fn of(mut span: Span, ratio: Option<Ratio>) -> Self {
        if let Some(ratio) = ratio {
            span.decide(ratio);
        }
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
            is_datadog: span.is_datadog,
            priority: span.priority,
            open: span.open as u8,
            of: txid_span_of::ThisHop as u8,
            threshold: span.ratio.map_or(-1, |ratio| ratio.threshold() as i64),
            random_value: span.random_value().unwrap_or_default(),
        }
    }
}
