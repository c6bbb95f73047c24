//! The span of a request: it continues the trace that came in, or starts a new one.

use super::field::Field;
use super::header::Header;
use super::ratio::{Ratio, random_value_of, value_in};
use super::trace_ids::TraceIds;
use crate::trace::datadog_headers::sampling_of;
use crate::trace::{
    self, AmznTraceId, B3, B3Ids, CloudTraceContext, DatadogHeaders, Sampling, SpanId, TraceId, Traceparent,
    UberTraceId,
};

/// A kind of headers that a trace comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// W3C's `traceparent`.
    Traceparent,
    /// Zipkin's `X-B3-` headers.
    B3,
    /// Zipkin's single `b3` header.
    B3Single,
    /// `X-Amzn-Trace-Id` of AWS.
    Aws,
    /// `X-Cloud-Trace-Context` of Google Cloud.
    Gcp,
    /// `X-Datadog-Trace-Id` and the other headers of Datadog.
    Datadog,
    /// `uber-trace-id` of Jaeger's own clients.
    Jaeger,
}

impl Kind {
    /// All kinds, by name.
    pub const ALL: [(&str, Self); 7] = [
        ("traceparent", Self::Traceparent),
        ("b3", Self::B3),
        ("b3_single", Self::B3Single),
        ("aws", Self::Aws),
        ("gcp", Self::Gcp),
        ("datadog", Self::Datadog),
        ("jaeger", Self::Jaeger),
    ];

    /// The kind of this name, with `-` or `_`.
    ///
    /// ```
    /// use txid::request::Kind;
    ///
    /// assert_eq!(Kind::named("b3-single"), Some(Kind::B3Single));
    /// assert_eq!(Kind::named("instana"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(super) fn names() -> String {
        let [first @ .., (last, _)] = Self::ALL;
        format!("{} and {last}", first.map(|(name, _)| name).join(", "))
    }
}

/// Whether it is left to this hop to decide if a trace is recorded, and what decides then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// It is decided.
    No,
    /// The right-most seven bytes of the trace's id, which are random.
    ById,
    /// A random value beside the trace's id, which need not be random.
    ByValue,
}

/// One hop of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The trace.
    pub trace_id: TraceId,
    /// The id of this hop.
    pub span_id: SpanId,
    /// The span that called this one, if the trace came in.
    pub parent_span_id: Option<SpanId>,
    /// Whether the trace is recorded. None leaves the decision to the next hop.
    pub sampled: Option<Sampling>,
    /// Whether the trace begins here.
    pub begins_here: bool,
    /// Whether the right-most seven bytes of the trace's id are known to be random.
    pub random: bool,
    /// Whether it continues the trace of the `traceparent` that came in, so that its `tracestate` is passed on as well.
    pub is_continued: bool,
    /// Whether it continues the trace of Datadog's headers that came in, so that their tags and origin are passed on as well.
    pub is_datadog: bool,
    /// The `X-Datadog-Sampling-Priority` that came in, if it says more than `sampled`; otherwise 0.
    pub priority: i8,
    /// Whether it is left to this hop to [decide](Span::decide).
    pub open: Open,
    /// The share of traces that are recorded, if this hop decided by it.
    pub ratio: Option<Ratio>,
}

impl Span {
    /// The first span of a new trace that is recorded, when the clock reads `clock_ms`.
    ///
    /// ```
    /// use txid::request::{Span, TraceIds};
    ///
    /// assert!(Span::new(TraceIds::Random, txid::system_ms()).traceparent().to_string().ends_with("-03"));
    /// ```
    #[inline]
    pub fn new(ids: TraceIds, clock_ms: i64) -> Self {
        let (trace_id, span_id) = ids.generate_by(clock_ms);
        Self {
            trace_id,
            span_id,
            parent_span_id: None,
            sampled: Some(Sampling::Accept),
            begins_here: true,
            random: true,
            is_continued: false,
            is_datadog: false,
            priority: 0,
            open: Open::ById,
            ratio: None,
        }
    }

    /// Decides whether the trace is recorded, if that is open. A span is decided once, before its headers are written.
    ///
    /// ```
    /// use txid::request::{Ratio, Span};
    ///
    /// let mut span = Span::new(Default::default(), 0);
    /// span.decide(Ratio::parse(b"0").unwrap());
    /// assert!(span.traceparent().to_string().ends_with("-02"));
    /// ```
    #[inline]
    pub fn decide(&mut self, ratio: Ratio) {
        if let Some(value) = self.random_value() {
            self.sampled = Some(Sampling::from(ratio.keeps(value)));
            self.ratio = Some(ratio);
        }
    }

    /// The value that decides, if that is open.
    #[inline]
    pub fn random_value(&self) -> Option<u64> {
        match self.open {
            Open::No => None,
            Open::ById => Some(value_in(self.trace_id)),
            Open::ByValue => Some(random_value_of(self.trace_id)),
        }
    }

    /// The span that continues the trace that came in: as the first of these kinds that is valid, otherwise in the
    /// header that holds only its id. If there is none, or only a decision about recording, `new` starts a trace.
    #[inline]
    pub(super) fn of<'a>(kinds: &[Kind], header: impl Fn(Field) -> Header<'a>, new: impl FnOnce() -> Self) -> Self {
        let is_read = kinds.contains(&Kind::Traceparent);
        let traceparent = if is_read { header(Field::Traceparent).single() } else { None };
        let traceparent = traceparent.and_then(|text| Traceparent::from_text(text).ok());
        let read = |kind: &Kind| match kind {
            Kind::Traceparent => {
                traceparent.map(|it| Parent::of(it.trace_id, Some(it.span_id), Some(it.sampled.into())))
            }
            other => read_other(*other, &header),
        };
        let Some(parent) = kinds.iter().find_map(read).or_else(|| read_bare(header(Field::TraceId))) else {
            return new();
        };
        let Some(trace_id) = parent.trace_id else {
            // The header only said whether to sample.
            return Self { sampled: parent.sampled, open: Open::No, ..new() };
        };
        let same = traceparent.filter(|other| other.trace_id == trace_id);
        // A traceparent decides, even if another kind counts before it.
        let sampled = parent.sampled.or(same.map(|other| other.sampled.into()));
        let datadog = match header(Field::XDatadogTraceId) {
            Header::Absent => None,
            _ => datadog_of(kinds, &header, trace_id, sampled),
        };
        Self {
            trace_id,
            span_id: trace::span_id(),
            parent_span_id: parent.span_id,
            sampled,
            begins_here: false,
            random: same.is_some_and(|other| other.random),
            is_continued: same.is_some(),
            is_datadog: datadog.is_some(),
            priority: datadog.unwrap_or_default(),
            open: if sampled.is_none() { Open::ByValue } else { Open::No },
            ratio: None,
        }
    }

    /// The span as a `traceparent` header, which cannot leave the decision about recording open: it says yes.
    #[inline]
    pub fn traceparent(&self) -> Traceparent {
        let sampled = self.sampled != Some(Sampling::Deny);
        Traceparent { trace_id: self.trace_id, span_id: self.span_id, sampled, random: self.random }
    }

    /// The span as a single `b3` header.
    ///
    /// ```
    /// assert!(txid::request::Span::new(Default::default(), 0).b3().to_string().ends_with("-1"));
    /// ```
    #[inline]
    pub fn b3(&self) -> B3 {
        let (trace_id, span_id, parent_span_id) = (self.trace_id, self.span_id, self.parent_span_id);
        B3 { ids: Some(B3Ids { trace_id, short: false, span_id, parent_span_id }), sampled: self.sampled }
    }

    /// The span as an `X-Amzn-Trace-Id` header.
    ///
    /// ```
    /// let header = txid::request::Span::new(Default::default(), 0).amzn_trace_id().to_string();
    /// assert!(header.starts_with("Root=1-") && header.ends_with(";Sampled=1"), "{header}");
    /// ```
    pub fn amzn_trace_id(&self) -> AmznTraceId {
        let sampled = self.sampled.map(|sampling| sampling != Sampling::Deny);
        AmznTraceId { trace_id: self.trace_id, parent_id: Some(self.span_id), sampled }
    }

    /// The span as an `X-Cloud-Trace-Context` header.
    ///
    /// ```
    /// assert!(txid::request::Span::new(Default::default(), 0).cloud_trace_context().to_string().ends_with(";o=1"));
    /// ```
    pub fn cloud_trace_context(&self) -> CloudTraceContext {
        let AmznTraceId { trace_id, parent_id, sampled } = self.amzn_trace_id();
        CloudTraceContext { trace_id, parent_id, sampled }
    }

    /// Both headers, with each id written in hexadecimal once.
    ///
    /// ```
    /// let span = txid::request::Span::new(Default::default(), 0);
    /// let texts = span.texts();
    /// assert_eq!(texts.traceparent, span.traceparent().to_text());
    /// assert_eq!(&texts.b3[..texts.b3_len], span.b3().to_string().as_bytes());
    /// ```
    #[inline]
    pub fn texts(&self) -> SpanTexts {
        let traceparent = self.traceparent().to_text();
        let parent_span_id = self.parent_span_id.map(SpanId::to_text);
        let mut b3 = [0; B3::MAX_LEN];
        // The text after the version is how b3 begins.
        let ids = traceparent[3..].first_chunk().expect("52 characters are left");
        let b3_len = B3::write_texts(ids, self.sampled, parent_span_id, &mut b3);
        SpanTexts { traceparent, parent_span_id, b3, b3_len }
    }
}

/// The texts of a span's headers.
pub struct SpanTexts {
    /// The `traceparent` header.
    pub traceparent: [u8; Traceparent::LEN],
    /// The id of the span that called this one.
    pub parent_span_id: Option<[u8; SpanId::LEN]>,
    /// The `b3` header.
    pub b3: [u8; B3::MAX_LEN],
    /// The length of the `b3` header.
    pub b3_len: usize,
}

/// What came in, of any kind.
struct Parent {
    trace_id: Option<TraceId>,
    span_id: Option<SpanId>,
    sampled: Option<Sampling>,
}

impl Parent {
    fn of(trace_id: TraceId, span_id: Option<SpanId>, sampled: Option<Sampling>) -> Self {
        Self { trace_id: Some(trace_id), span_id, sampled }
    }
}

/// Reads a kind other than `traceparent`. Not inlined, because one request rarely has several.
#[inline(never)]
fn read_other<'a>(kind: Kind, header: &impl Fn(Field) -> Header<'a>) -> Option<Parent> {
    let text = |field| header(field).single();
    match kind {
        Kind::Traceparent => None,
        Kind::B3 => read_many(header),
        Kind::B3Single => {
            let B3 { ids, sampled } = B3::from_text(text(Field::B3)?).ok()?;
            let (trace_id, span_id) = ids.map(|ids| (ids.trace_id, ids.span_id)).unzip();
            Some(Parent { trace_id, span_id, sampled })
        }
        Kind::Aws => {
            let it = AmznTraceId::from_text(text(Field::XAmznTraceId)?).ok()?;
            Some(Parent::of(it.trace_id, it.parent_id, it.sampled.map(Sampling::from)))
        }
        Kind::Gcp => {
            let it = CloudTraceContext::from_text(text(Field::XCloudTraceContext)?).ok()?;
            Some(Parent::of(it.trace_id, it.parent_id, it.sampled.map(Sampling::from)))
        }
        Kind::Datadog => {
            let it = read_datadog(header)?;
            Some(Parent::of(it.trace_id, it.parent_id, it.priority.map(sampling_of)))
        }
        Kind::Jaeger => {
            let it = UberTraceId::from_text(text(Field::UberTraceId)?).ok()?;
            Some(Parent::of(it.trace_id, Some(it.span_id), Some(it.sampled)))
        }
    }
}

/// Reads the `X-B3-` headers. All of them must be valid, or none counts.
fn read_many<'a>(header: &impl Fn(Field) -> Header<'a>) -> Option<Parent> {
    let decision = match header(Field::XB3Sampled) {
        Header::Absent => None,
        sampled => match sampled.single()? {
            b"0" | b"false" => Some(Sampling::Deny),
            b"1" | b"true" => Some(Sampling::Accept),
            _ => return None,
        },
    };
    let is_debug = header(Field::XB3Flags).single() == Some(b"1");
    let sampled = if is_debug { Some(Sampling::Debug) } else { decision };
    let ids = (header(Field::XB3TraceId), header(Field::XB3SpanId), header(Field::XB3ParentSpanId));
    let (trace_id, span_id) = match ids {
        (Header::Absent, Header::Absent, Header::Absent) => (None, None),
        (trace_id, span_id, parent) => {
            if parent != Header::Absent {
                trace::span_id_of_hex(parent.single()?)?;
            }
            (Some(trace::trace_id_of_hex(trace_id.single()?)?), Some(trace::span_id_of_hex(span_id.single()?)?))
        }
    };
    (trace_id.is_some() || sampled.is_some()).then_some(Parent { trace_id, span_id, sampled })
}

/// Reads Datadog's headers. Tags that are repeated do not count, and the trace's id is then of 64 bits.
#[inline(never)]
fn read_datadog<'a>(header: &impl Fn(Field) -> Header<'a>) -> Option<DatadogHeaders> {
    let optional = |field| match header(field) {
        Header::Absent => Some(None),
        header => header.single().map(Some),
    };
    let trace_id = header(Field::XDatadogTraceId).single()?;
    let (parent_id, priority) = (optional(Field::XDatadogParentId)?, optional(Field::XDatadogSamplingPriority)?);
    DatadogHeaders::from_texts(trace_id, parent_id, priority, header(Field::XDatadogTags).single()).ok()
}

/// Whether Datadog's headers are of the trace that continues; then the priority in them, if it says more than `sampled` does.
#[inline(never)]
fn datadog_of<'a>(
    kinds: &[Kind],
    header: &impl Fn(Field) -> Header<'a>,
    trace_id: TraceId,
    sampled: Option<Sampling>,
) -> Option<i8> {
    let found = kinds.contains(&Kind::Datadog).then(|| read_datadog(header))??;
    let priority = found.priority.filter(|&priority| Some(sampling_of(priority)) == sampled).unwrap_or_default();
    (found.trace_id == trace_id).then_some(priority)
}

/// Reads the header that holds only the trace's id, which may be in upper case.
fn read_bare(header: Header<'_>) -> Option<Parent> {
    let trace_id = trace::trace_id_of_any_hex(header.single()?)?;
    Some(Parent::of(trace_id, None, None))
}
