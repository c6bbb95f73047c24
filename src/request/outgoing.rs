//! The headers of a span in a request that goes on.

use super::field::Field;
use super::policy::Policy;
use super::span::Kind;
use crate::trace::{self, AmznTraceId, CloudTraceContext, Sampling, SpanId, Traceparent};

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
