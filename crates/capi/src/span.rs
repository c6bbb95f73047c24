//! The span of a request.

use crate::caller::{bytes, place, txid_text};
use crate::decide::TXID_PLACES;
use crate::policy::{txid_header, txid_headers, txid_peer, txid_policy};
use ::txid::request::{Field, Open, Outgoing, Policy, Ratio, Span, TraceIds, random_value_of};
use ::txid::trace::{AmznTraceId, B3, CloudTraceContext, Sampling, SpanId, TraceId, Traceparent, UberTraceId};
use std::array;
use std::ffi::c_char;
use std::ptr::null;

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

/// The length of all values that change, but the id.
pub const TXID_CHANGED_TEXT_LEN: usize = 704;
const _: () = assert!(
    TXID_CHANGED_TEXT_LEN
        >= Traceparent::LEN
            + B3::MAX_LEN
            + 2 * TraceId::LEN
            + 2 * SpanId::LEN
            + 2
            + AmznTraceId::MAX_LEN
            + CloudTraceContext::MAX_LEN
            + UberTraceId::LEN
            + 4 * Outgoing::DATADOG_LEN
            + Outgoing::TRACESTATE_LEN
);

/// A header of a request that must change.
#[repr(C)]
pub struct txid_changed_header {
    /// Its name.
    pub name: txid_text,
    /// Its new value; `data` is NULL if the request must not have it.
    pub value: txid_text,
}

/// The headers of a request that must change.
#[repr(C)]
pub struct txid_changed_headers {
    /// How many there are.
    pub count: usize,
    /// Of these, so many.
    pub list: [txid_changed_header; TXID_PLACES],
    /// Their values, one after the other.
    pub text: [u8; TXID_CHANGED_TEXT_LEN],
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
    /// Whether txid_span_decide decides if the trace is recorded: 1 by the end of its id, and 2 by random_value, which is sent.
    pub open: u8,
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
            }
            None => span.write(txid_span::of(Span::new(TraceIds::Random, clock_ms), None)),
        }
    }
}

/// Decides whether the trace of a span is recorded, if that is open, by this share: the words of the option `sample`. Returns false, and
/// leaves the span as it is, if they are none.
///
/// # Safety
///
/// `span` must be from txid_span_start or txid_span_continue, and `sample` valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_decide(span: *mut txid_span, sample: *const c_char, len: usize) -> bool {
    // SAFETY: the caller vouches for both.
    let (span, sample) = unsafe { (&mut *span, bytes(sample, len)) };
    let ratio = Ratio::parse(sample);
    span.decide(ratio);
    ratio.is_some() || sample == b"off"
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
        let header = |field| txid_header::read(txid_headers::get(headers, field));
        span.write(txid_span::of(policy.span_of(is_trusted, header, clock_ms), policy.sample()));
    }
}

/// Writes a header of a span, a txid_span_kind, to `buf`, and returns its length; 0 if there is none of this kind.
///
/// # Safety
///
/// `span` must be from txid_span_start or txid_span_continue, and `buf` valid for writes of TXID_SPAN_HEADER_MAX_LEN bytes.
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

/// Writes the headers that must change in a request, so that it has this id and this span in all kinds of the policy, to `changed`,
/// and returns their number. `headers` are those of the request.
///
/// # Safety
///
/// `policy` must be from txid_policy_open; `id` valid for reads of `id_len` bytes; `span` for a read, or NULL; `headers` as
/// txid_headers_find wrote them; `changed` for a write. It then points into itself, to the policy and to the id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_headers_change(
    policy: *const txid_policy,
    id: *const c_char,
    id_len: usize,
    span: *const txid_span,
    headers: *const txid_headers,
    changed: *mut txid_changed_headers,
) -> usize {
    // SAFETY: the caller vouches for the policy, the id and the span.
    let (policy, id, span) = unsafe { (&(*policy).0, bytes(id, id_len), span.as_ref()) };
    let mut change = Change { policy, headers, changed, count: 0, used: 0 };
    // SAFETY: the caller vouches for the headers and for `changed`. A policy has each kind once, so each field is put once.
    unsafe { change.put(Field::Id, Some(id)) };
    if let Some(span) = span {
        // SAFETY: as above.
        span.outgoing().each(policy, |field, value| unsafe { change.put(field, value) });
    }
    change.count
}

/// Which headers of a request have to change.
struct Change<'a> {
    policy: &'a Policy,
    headers: *const txid_headers,
    changed: *mut txid_changed_headers,
    count: usize,
    used: usize,
}

impl Change<'_> {
    /// Not inlined: it is called for each header of each kind.
    ///
    /// # Safety
    ///
    /// The headers must be as txid_headers_find wrote them, and `changed` valid for a write. A field may be put only once.
    #[inline(never)]
    unsafe fn put(&mut self, field: Field, value: Option<&[u8]>) {
        // SAFETY: the caller vouches for all, and there is room for a change and a text of each field.
        unsafe {
            if txid_headers::have(self.headers, field, value) {
                return;
            }
            let value = match value {
                None => txid_text { len: 0, data: null() },
                // It is the caller's, and as long as it likes.
                Some(value) if field == Field::Id => txid_text { len: value.len(), data: value.as_ptr().cast() },
                Some(value) => {
                    let place = (&raw mut (*self.changed).text).cast::<u8>().add(self.used);
                    place.copy_from_nonoverlapping(value.as_ptr(), value.len());
                    self.used += value.len();
                    txid_text { len: value.len(), data: place.cast() }
                }
            };
            let name = self.policy.field_name(field);
            let name = txid_text { len: name.len(), data: name.as_ptr().cast() };
            let list = (&raw mut (*self.changed).list).cast::<txid_changed_header>();
            list.add(self.count).write(txid_changed_header { name, value });
        }
        self.count += 1;
    }
}

impl txid_headers {
    /// Whether the request has the header with this value, or has none if it is to have none.
    ///
    /// # Safety
    ///
    /// As for [`txid_headers_change`].
    unsafe fn have(headers: *const Self, field: Field, value: Option<&[u8]>) -> bool {
        // SAFETY: the caller vouches for the headers; what is read of one that is there was written, and its value is valid.
        unsafe {
            let header = Self::get(headers, field);
            match ((*header).count, value) {
                (0, None) => true,
                // A value that came in with spaces around it goes on without them.
                (1, Some(value)) => !(*header).is_trimmed && (*header).value.bytes() == value,
                _ => false,
            }
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

    /// Not by a span that is written again: this takes a third of the instructions.
    #[inline]
    fn decide(&mut self, ratio: Option<Ratio>) {
        let Some(ratio) = ratio.filter(|_| self.open != Open::No as u8) else { return };
        if self.open == Open::ByValue as u8 {
            self.random_value = Traceparent::from_text(&self.traceparent).map_or(0, |it| random_value_of(it.trace_id));
        }
        let is_sampled = u8::from(ratio.keeps(self.random_value));
        self.threshold = ratio.threshold() as i64;
        self.traceparent[Traceparent::LEN - 1] = self.traceparent[Traceparent::LEN - 1] & !1 | is_sampled;
        self.sampled = b'0' + is_sampled;
        self.sampled_len = 1;
        // Whatever follows is there already.
        self.b3[B3_DECISION] = self.sampled;
        self.b3_len = if self.parent_span_id_len == 0 { B3_DECISION as u8 + 1 } else { B3::MAX_LEN as u8 };
    }
}

/// Where the decision is in a b3 header.
const B3_DECISION: usize = TXID_TRACE_ID_LEN + 1 + TXID_SPAN_ID_LEN + 1;

impl txid_span {
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
            threshold: span.ratio.map_or(-1, |ratio| ratio.threshold() as i64),
            random_value: span.random_value().unwrap_or_default(),
        }
    }
}
