//! The headers of a span in a request that goes on.

use super::field::Field;
use super::policy::Policy;
use super::ratio::Ratio;
use super::span::Kind;
use crate::text::hex;
use crate::trace::datadog_headers::priority_of;
use crate::trace::{self, AmznTraceId, CloudTraceContext, Sampling, SpanId, Traceparent, UberTraceId};

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
    /// Whether `X-Datadog-Tags` and `X-Datadog-Origin` go on as well.
    pub is_datadog: bool,
    /// As [`Span::priority`](super::Span::priority).
    pub priority: i8,
    /// The share of traces that are recorded, if this hop decided by it.
    pub ratio: Option<Ratio>,
    /// The value that decides, if it is not in the trace's id.
    pub random_value: Option<u64>,
}

const DATADOG_LEN: usize = 57;
const TRACESTATE_LEN: usize = 38;

impl Outgoing<'_> {
    /// No span.
    pub(super) const NONE: Outgoing<'static> = Outgoing {
        traceparent: &[b'0'; Traceparent::LEN],
        parent_span_id: None,
        b3: b"",
        sampled: None,
        is_continued: false,
        is_datadog: false,
        priority: 0,
        ratio: None,
        random_value: None,
    };

    /// Calls `put` with each header of the policy's kinds and its value. Without a value, the request must not have it.
    pub fn each(&self, policy: &Policy, mut put: impl FnMut(Field, Option<&[u8]>)) {
        let trace_id = &self.traceparent[3..35];
        let kinds = policy.kinds();
        for kind in kinds {
            match kind {
                Kind::Traceparent => {
                    put(Field::Traceparent, Some(self.traceparent));
                    // The one that came in belongs to the trace that was not continued.
                    if !self.is_continued {
                        let mut text = [0; TRACESTATE_LEN];
                        let len = self.tracestate(&mut text);
                        put(Field::Tracestate, Some(&text[..len]).filter(|text| !text.is_empty()));
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
                Kind::Datadog => self.each_of_datadog(&mut put),
                Kind::Jaeger => put(Field::UberTraceId, Some(&self.uber_trace_id())),
            }
        }
        if policy.trace_id_header().is_some() {
            put(Field::TraceId, Some(trace_id));
        }
    }

    /// Not inlined, because few want them.
    #[inline(never)]
    fn each_of_datadog(&self, put: &mut impl FnMut(Field, Option<&[u8]>)) {
        let mut text = [0; DATADOG_LEN];
        let len = self.datadog_trace_id(&mut text);
        put(Field::XDatadogTraceId, Some(&text[..len]));
        let len = self.datadog_parent_id(&mut text);
        put(Field::XDatadogParentId, Some(&text[..len]));
        let len = self.datadog_priority(&mut text);
        put(Field::XDatadogSamplingPriority, Some(&text[..len]).filter(|text| !text.is_empty()));
        // Both belong to the trace that was not continued.
        if !self.is_datadog {
            let len = self.datadog_tags(&mut text);
            put(Field::XDatadogTags, Some(&text[..len]).filter(|text| !text.is_empty()));
            put(Field::XDatadogOrigin, None);
        }
    }

    /// The length of the longest `tracestate` that is made.
    pub const TRACESTATE_LEN: usize = TRACESTATE_LEN;

    /// Writes the `tracestate` header of a trace that begins here to the beginning of `text`, and returns its length: the
    /// threshold of OpenTelemetry if the trace is recorded, and the random value if it is not in the trace's id. The length
    /// is 0 without both.
    #[inline(never)]
    pub fn tracestate(&self, text: &mut [u8; TRACESTATE_LEN]) -> usize {
        let Some(ratio) = self.ratio else { return 0 };
        let mut len = 0;
        let mut add = |part: &[u8]| {
            text[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        };
        let is_sampled = self.is_sampled() == Some(true);
        if is_sampled {
            let mut digits = [0; Ratio::MAX_LEN];
            let count = ratio.write_threshold(&mut digits);
            add(b"ot=th:");
            add(&digits[..count]);
        }
        if let Some(value) = self.random_value {
            add(if is_sampled { b";rv:" } else { b"ot=rv:" });
            add(&hex::encode_64_bits(value)[2..]);
        }
        len
    }

    /// The length of the longest header of Datadog that is made.
    pub const DATADOG_LEN: usize = DATADOG_LEN;

    /// Writes the `X-Datadog-Trace-Id` header, the lower half of the trace's id, to the beginning of `text`, and returns its
    /// length.
    pub fn datadog_trace_id(&self, text: &mut [u8; DATADOG_LEN]) -> usize {
        write_decimal(&self.traceparent[19..35], text)
    }

    /// Writes `X-Datadog-Parent-Id`, this hop, and returns its length.
    pub fn datadog_parent_id(&self, text: &mut [u8; DATADOG_LEN]) -> usize {
        write_decimal(&self.traceparent[36..52], text)
    }

    /// Writes `X-Datadog-Sampling-Priority`, and returns its length. It is 0 if the decision is left to the next hop.
    pub fn datadog_priority(&self, text: &mut [u8; DATADOG_LEN]) -> usize {
        let Some(sampled) = self.sampled else { return 0 };
        let priority = if self.priority == 0 { priority_of(sampled) } else { self.priority };
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(priority).as_bytes();
        text[..digits.len()].copy_from_slice(digits);
        digits.len()
    }

    /// Writes `X-Datadog-Tags` of a trace that did not come in with them: the upper half of its id, unless that is zero, and
    /// who decided whether the trace is recorded, and the rate, as if Datadog's agent had set it. Its length may be 0.
    pub fn datadog_tags(&self, text: &mut [u8; DATADOG_LEN]) -> usize {
        let mut len = 0;
        let mut add = |name: &[u8], value: &[u8]| {
            let comma: &[u8] = if len == 0 { b"" } else { b"," };
            for part in [comma, name, value] {
                text[len..len + part.len()].copy_from_slice(part);
                len += part.len();
            }
        };
        let upper = &self.traceparent[3..19];
        if upper != b"0000000000000000" {
            add(b"_dd.p.tid=", upper);
        }
        if let Some(ratio) = self.ratio {
            if self.is_sampled() == Some(true) {
                add(b"_dd.p.dm=", b"-1");
            }
            let mut rate = *b"0.000000";
            let len = write_rate(ratio, &mut rate);
            add(b"_dd.p.ksr=", &rate[..len]);
        }
        len
    }

    /// The `uber-trace-id` header, which cannot leave the decision about recording open: it says yes.
    pub fn uber_trace_id(&self) -> [u8; UberTraceId::LEN] {
        let sampled = self.sampled.unwrap_or(Sampling::Accept);
        UberTraceId::text_of(&self.traceparent[3..35], &self.traceparent[36..52], sampled)
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

/// Writes a rate with at most six decimals, as Datadog's tracers do, over `0.000000`, and returns its length.
fn write_rate(ratio: Ratio, text: &mut [u8; 8]) -> usize {
    let mut rest = ratio.millionths();
    let mut len = 1;
    for at in (2..8).rev() {
        let digit = (rest % 10) as u8;
        text[at] += digit;
        if digit != 0 && len == 1 {
            len = at + 1;
        }
        rest /= 10;
    }
    text[0] += rest as u8;
    len
}

/// Writes the number in 16 hexadecimal digits as a decimal one, and returns its length.
#[inline(never)]
fn write_decimal(hexadecimal: &[u8], text: &mut [u8; DATADOG_LEN]) -> usize {
    let number = hex::decode(hexadecimal).map_or(0, |bits| bits as u64);
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number).as_bytes();
    text[..digits.len()].copy_from_slice(digits);
    digits.len()
}
