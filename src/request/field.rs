//! The headers that a request's id and its span are in.

/// A header that a [`Policy`](super::Policy) reads or sends.
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

impl Field {
    /// The header of traces of this name, in any case.
    #[inline]
    pub(super) fn of_traces(name: &[u8]) -> Option<Self> {
        if name.len() >= 64 || LENGTHS >> name.len() & 1 == 0 {
            return None;
        }
        OF_TRACES.iter().find(|(_, known)| is_same(name, known)).map(|(field, _)| *field)
    }

    /// The name of a header of traces; None for the two whose names the policy chooses.
    pub(super) fn name(self) -> Option<&'static str> {
        OF_TRACES.iter().find(|(known, _)| *known == self).map(|(_, name)| *name)
    }
}

/// Whether two names of headers are the same.
#[inline]
pub(super) fn is_same(name: &[u8], wanted: &str) -> bool {
    name.len() == wanted.len() && is_same_of_one_length(name, wanted.as_bytes())
}

/// Not inlined: the lengths of most names differ.
#[inline(never)]
fn is_same_of_one_length(name: &[u8], wanted: &[u8]) -> bool {
    name.eq_ignore_ascii_case(wanted)
}
