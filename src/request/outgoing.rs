//! The headers that a request's id and its span are in, and what they say when the request goes on.

use super::policy::Policy;
use super::span::Kind;
use crate::trace::{self, AmznTraceId, CloudTraceContext, Sampling, SpanId, Traceparent};

/// A header that a [`Policy`] reads or sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the header of its name")]
pub enum Field {
    /// The header with the request's id.
    Id,
    /// The header that holds only the trace's id.
    TraceId,
    Traceparent,
    Tracestate,
    B3,
    XB3TraceId,
    XB3SpanId,
    XB3ParentSpanId,
    XB3Sampled,
    XB3Flags,
    XAmznTraceId,
    XCloudTraceContext,
}

/// The headers of traces whose names are the same in each policy.
const OF_TRACES: [(Field, &str); 10] = [
    (Field::Traceparent, "traceparent"),
    (Field::Tracestate, "tracestate"),
    (Field::B3, "b3"),
    (Field::XB3TraceId, "X-B3-TraceId"),
    (Field::XB3SpanId, "X-B3-SpanId"),
    (Field::XB3ParentSpanId, "X-B3-ParentSpanId"),
    (Field::XB3Sampled, "X-B3-Sampled"),
    (Field::XB3Flags, "X-B3-Flags"),
    (Field::XAmznTraceId, "X-Amzn-Trace-Id"),
    (Field::XCloudTraceContext, "X-Cloud-Trace-Context"),
];

/// A bit for each length that one of these names has: most other headers have another one.
const LENGTHS: u64 = {
    let (mut lengths, mut index) = (0, 0);
    while index < OF_TRACES.len() {
        lengths |= 1 << OF_TRACES[index].1.len();
        index += 1;
    }
    lengths
};

/// Not inlined: the lengths of most names differ.
#[inline(never)]
fn is_same(name: &[u8], wanted: &[u8]) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

impl Policy {
    /// The header of this name, in any case, if the policy reads or sends it.
    ///
    /// ```
    /// use txid::request::{Field, Policy};
    ///
    /// assert_eq!(Policy::default().field(b"x-request-id"), Some(Field::Id));
    /// assert_eq!(Policy::default().field(b"TraceParent"), Some(Field::Traceparent));
    /// assert_eq!(Policy::default().field(b"Host"), None);
    /// ```
    #[inline]
    pub fn field(&self, name: &[u8]) -> Option<Field> {
        let is = |wanted: &str| name.len() == wanted.len() && is_same(name, wanted.as_bytes());
        if is(self.header()) {
            return Some(Field::Id);
        }
        if self.trace_id_header().is_some_and(is) {
            return Some(Field::TraceId);
        }
        if name.len() >= 64 || LENGTHS >> name.len() & 1 == 0 {
            return None;
        }
        OF_TRACES.iter().find(|(_, wanted)| is(wanted)).map(|(field, _)| *field)
    }

    /// The name of a header; empty if the policy has none for it.
    ///
    /// ```
    /// use txid::request::{Field, Policy};
    ///
    /// assert_eq!(Policy::default().field_name(Field::XB3Sampled), "X-B3-Sampled");
    /// ```
    pub fn field_name(&self, field: Field) -> &str {
        match field {
            Field::Id => self.header(),
            Field::TraceId => self.trace_id_header().unwrap_or_default(),
            _ => OF_TRACES.iter().find(|(known, _)| *known == field).map_or("", |(_, name)| name),
        }
    }
}

/// A span as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The `traceparent` header, which has the ids of the trace and of this hop.
    pub traceparent: &'a [u8; Traceparent::LEN],
    /// The span that called this one.
    pub parent_span_id: Option<&'a [u8; SpanId::LEN]>,
    /// The `b3` header.
    pub b3: &'a [u8],
    /// Whether the trace is recorded. None leaves the decision to the next hop.
    pub sampled: Option<Sampling>,
    /// Whether `tracestate` goes on as well.
    pub is_continued: bool,
}

impl Outgoing<'_> {
    /// Calls `put` with each header of the policy's kinds and its value. Without a value, the request must not have it.
    pub fn each(&self, policy: &Policy, mut put: impl FnMut(Field, Option<&[u8]>)) {
        let trace_id = &self.traceparent[3..35];
        let kinds = policy.kinds();
        for kind in kinds {
            match kind {
                Kind::Traceparent => {
                    put(Field::Traceparent, Some(self.traceparent));
                    // tracestate belongs to the trace that was not continued.
                    if !self.is_continued {
                        put(Field::Tracestate, None);
                    }
                }
                Kind::B3 => {
                    put(Field::XB3TraceId, Some(trace_id));
                    put(Field::XB3SpanId, Some(&self.traceparent[36..52]));
                    put(Field::XB3ParentSpanId, self.parent_span_id.map(|id| &id[..]));
                    let (sampled, flags) = match self.sampled {
                        None => (None, None),
                        Some(Sampling::Deny) => (Some(&b"0"[..]), None),
                        Some(Sampling::Accept) => (Some(&b"1"[..]), None),
                        Some(Sampling::Debug) => (None, Some(&b"1"[..])),
                    };
                    put(Field::XB3Sampled, sampled);
                    put(Field::XB3Flags, flags);
                    // A receiver that finds the single header looks at no other.
                    if !kinds.contains(&Kind::B3Single) {
                        put(Field::B3, None);
                    }
                }
                Kind::B3Single => put(Field::B3, Some(self.b3)),
                Kind::Aws => {
                    let mut text = [0; AmznTraceId::MAX_LEN];
                    let len = self.amzn_trace_id(&mut text);
                    put(Field::XAmznTraceId, Some(&text[..len]));
                }
                Kind::Gcp => {
                    let mut text = [0; CloudTraceContext::MAX_LEN];
                    let len = self.cloud_trace_context(&mut text);
                    put(Field::XCloudTraceContext, Some(&text[..len]));
                }
            }
        }
        if policy.trace_id_header().is_some() {
            put(Field::TraceId, Some(trace_id));
        }
    }

    /// Writes the `X-Amzn-Trace-Id` header to the beginning of `text`, and returns its length.
    pub fn amzn_trace_id(&self, text: &mut [u8; AmznTraceId::MAX_LEN]) -> usize {
        AmznTraceId::write_texts(&self.traceparent[3..35], Some(&self.traceparent[36..52]), self.is_sampled(), text)
    }

    /// Writes the `X-Cloud-Trace-Context` header to the beginning of `text`, and returns its length.
    pub fn cloud_trace_context(&self, text: &mut [u8; CloudTraceContext::MAX_LEN]) -> usize {
        let span_id = trace::span_id_of_hex(&self.traceparent[36..52]);
        CloudTraceContext::write_text(&self.traceparent[3..35], span_id, self.is_sampled(), text)
    }

    fn is_sampled(&self) -> Option<bool> {
        self.sampled.map(|sampling| sampling != Sampling::Deny)
    }
}
