//! The span of a request: it continues the trace that came in, or starts a new one.

use super::field::Field;
use super::header::Header;
use super::trace_ids::TraceIds;
use crate::trace::{self, AmznTraceId, B3, B3Ids, CloudTraceContext, Sampling, SpanId, TraceId, Traceparent};

/// A kind of headers that a trace comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Kind {
    /// The kind of this name: `traceparent`, `b3`, `b3_single`, also written `b3-single`, `aws` or `gcp`.
    ///
    /// ```
    /// use txid::request::Kind;
    ///
    /// assert_eq!(Kind::named("b3"), Some(Kind::B3));
    /// assert_eq!(Kind::named("jaeger"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "traceparent" => Some(Self::Traceparent),
            "b3" => Some(Self::B3),
            "b3_single" | "b3-single" => Some(Self::B3Single),
            "aws" => Some(Self::Aws),
            "gcp" => Some(Self::Gcp),
            _ => None,
        }
    }
}

/// The headers of a request that a [`Policy`](super::Policy) looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the header of its name")]
pub struct RequestHeaders<'a> {
    /// The header with the request's id.
    pub id: Header<'a>,
    /// The header that holds only the trace's id.
    pub trace_id: Header<'a>,
    pub traceparent: Header<'a>,
    pub b3: Header<'a>,
    pub x_b3_trace_id: Header<'a>,
    pub x_b3_span_id: Header<'a>,
    pub x_b3_parent_span_id: Header<'a>,
    pub x_b3_sampled: Header<'a>,
    pub x_b3_flags: Header<'a>,
    pub x_amzn_trace_id: Header<'a>,
    pub x_cloud_trace_context: Header<'a>,
}

impl<'a> RequestHeaders<'a> {
    /// No header at all.
    pub const NONE: Self = Self {
        id: Header::Absent,
        trace_id: Header::Absent,
        traceparent: Header::Absent,
        b3: Header::Absent,
        x_b3_trace_id: Header::Absent,
        x_b3_span_id: Header::Absent,
        x_b3_parent_span_id: Header::Absent,
        x_b3_sampled: Header::Absent,
        x_b3_flags: Header::Absent,
        x_amzn_trace_id: Header::Absent,
        x_cloud_trace_context: Header::Absent,
    };

    fn get(&self, field: Field) -> Header<'a> {
        match field {
            Field::Id => self.id,
            Field::TraceId => self.trace_id,
            Field::Traceparent => self.traceparent,
            Field::Tracestate => Header::Absent,
            Field::B3 => self.b3,
            Field::XB3TraceId => self.x_b3_trace_id,
            Field::XB3SpanId => self.x_b3_span_id,
            Field::XB3ParentSpanId => self.x_b3_parent_span_id,
            Field::XB3Sampled => self.x_b3_sampled,
            Field::XB3Flags => self.x_b3_flags,
            Field::XAmznTraceId => self.x_amzn_trace_id,
            Field::XCloudTraceContext => self.x_cloud_trace_context,
        }
    }
}

/// One hop of a trace.
///
/// ```
/// use txid::request::{Header, Kind, RequestHeaders, Span, TraceIds};
///
/// let traceparent = Header::One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
/// let headers = RequestHeaders { traceparent, ..RequestHeaders::NONE };
/// let span = Span::of(&[Kind::Traceparent], &headers, || Span::new(TraceIds::Random, txid::system_ms()));
/// assert!(span.is_continued);
/// assert!(span.traceparent().to_string().starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
/// ```
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
    /// Whether the right-most seven bytes of the trace's id are known to be random.
    pub random: bool,
    /// Whether it continues the trace of the `traceparent` that came in, so that its `tracestate` is passed on as well.
    pub is_continued: bool,
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
        let (trace_id, span_id) = ids.next_by(clock_ms);
        Self {
            trace_id,
            span_id,
            parent_span_id: None,
            sampled: Some(Sampling::Accept),
            random: ids.end_in_random_bits(),
            is_continued: false,
        }
    }

    /// The span that continues the trace that came in: as the first of these kinds that is valid, otherwise in the
    /// header that holds only its id. If there is none, or only a decision about recording, `new` starts a trace.
    pub fn of(kinds: &[Kind], headers: &RequestHeaders<'_>, new: impl FnOnce() -> Self) -> Self {
        Self::of_fields(kinds, |field| headers.get(field), new)
    }

    /// As [`Span::of`], of a request that looks for each of these headers by itself.
    #[inline]
    pub(super) fn of_fields<'a>(
        kinds: &[Kind],
        header: impl Fn(Field) -> Header<'a>,
        new: impl FnOnce() -> Self,
    ) -> Self {
        let traceparent = header(Field::Traceparent).single().and_then(|text| Traceparent::from_text(text).ok());
        let read = |kind: &Kind| match kind {
            Kind::Traceparent => traceparent.map(Parent::from),
            other => read_other(*other, &header),
        };
        let Some(parent) = kinds.iter().find_map(read).or_else(|| read_bare(header(Field::TraceId))) else {
            return new();
        };
        let Some(trace_id) = parent.trace_id else {
            // The header only said whether to sample.
            return Self { sampled: parent.sampled, random: false, ..new() };
        };
        let same = traceparent.filter(|other| other.trace_id == trace_id);
        Self {
            trace_id,
            span_id: trace::span_id(),
            parent_span_id: parent.span_id,
            sampled: parent.sampled,
            random: same.is_some_and(|other| other.random),
            is_continued: same.is_some(),
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
        // What follows the version is how b3 begins.
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

impl From<Traceparent> for Parent {
    fn from(header: Traceparent) -> Self {
        let sampled = Some(Sampling::from(header.sampled));
        Self { trace_id: Some(header.trace_id), span_id: Some(header.span_id), sampled }
    }
}

impl From<B3> for Parent {
    fn from(header: B3) -> Self {
        let (trace_id, span_id) = header.ids.map(|ids| (ids.trace_id, ids.span_id)).unzip();
        Self { trace_id, span_id, sampled: header.sampled }
    }
}

impl From<AmznTraceId> for Parent {
    fn from(header: AmznTraceId) -> Self {
        let AmznTraceId { trace_id, parent_id, sampled } = header;
        Self { trace_id: Some(trace_id), span_id: parent_id, sampled: sampled.map(Sampling::from) }
    }
}

impl From<CloudTraceContext> for Parent {
    fn from(header: CloudTraceContext) -> Self {
        let CloudTraceContext { trace_id, parent_id, sampled } = header;
        Self { trace_id: Some(trace_id), span_id: parent_id, sampled: sampled.map(Sampling::from) }
    }
}

/// Reads a kind other than `traceparent`. Not inlined, because one request rarely has several.
#[inline(never)]
fn read_other<'a>(kind: Kind, header: &impl Fn(Field) -> Header<'a>) -> Option<Parent> {
    match kind {
        Kind::Traceparent => None,
        Kind::B3 => read_many(header),
        Kind::B3Single => B3::from_text(header(Field::B3).single()?).ok().map(Parent::from),
        Kind::Aws => AmznTraceId::from_text(header(Field::XAmznTraceId).single()?).ok().map(Parent::from),
        Kind::Gcp => CloudTraceContext::from_text(header(Field::XCloudTraceContext).single()?).ok().map(Parent::from),
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

/// Reads the header that holds only the trace's id, which may be in upper case.
fn read_bare(header: Header<'_>) -> Option<Parent> {
    let trace_id = trace::trace_id_of_any_hex(header.single()?)?;
    Some(Parent { trace_id: Some(trace_id), span_id: None, sampled: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Header::{Absent, One, Several};

    const TRACE: &[u8] = b"4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &[u8] = b"00f067aa0ba902b7";
    const NONE: RequestHeaders<'_> = RequestHeaders::NONE;

    fn of(kinds: &[Kind], headers: &RequestHeaders<'_>) -> Span {
        Span::of(kinds, headers, || Span::new(TraceIds::Random, 0))
    }

    /// Describes the span, with new ids as TRACE and SPAN: traceparent, b3, and what is continued.
    fn shown(span: &Span) -> String {
        let traceparent = span.traceparent().to_string().replace(&span.span_id.to_string(), "SPAN");
        let b3 = span.b3().to_string().replace(&span.span_id.to_string(), "SPAN");
        let state = if span.is_continued { " tracestate" } else { "" };
        let shown = format!("{traceparent} {b3}{state}");
        match span.parent_span_id {
            None => shown.replace(&span.trace_id.to_string(), "TRACE"),
            Some(_) => shown,
        }
    }

    fn many<'a>(trace_id: &'a [u8], span_id: &'a [u8]) -> RequestHeaders<'a> {
        RequestHeaders { x_b3_trace_id: One(trace_id), x_b3_span_id: One(span_id), ..NONE }
    }

    #[test]
    fn traceparent() {
        let shown = |traceparent| shown(&of(&[Kind::Traceparent], &RequestHeaders { traceparent, ..NONE }));
        assert_eq!(shown(Absent), "00-TRACE-SPAN-03 TRACE-SPAN-1");
        assert_eq!(
            shown(One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-00 4bf92f3577b34da6a3ce929d0e0e4736-SPAN-0-00f067aa0ba902b7 tracestate"
        );
        assert_eq!(
            shown(One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03")),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-03 4bf92f3577b34da6a3ce929d0e0e4736-SPAN-1-00f067aa0ba902b7 tracestate"
        );
        for wrong in [
            Several,
            One(b""),
            One(b"00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
            One(b"00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01"),
            One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\xff1"),
        ] {
            assert_eq!(shown(wrong), "00-TRACE-SPAN-03 TRACE-SPAN-1");
        }
    }

    #[test]
    fn b3_in_many_headers() {
        let shown = |headers: RequestHeaders<'_>| shown(&of(&[Kind::B3], &headers));
        let ids = many(TRACE, SPAN);
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN";
        let b3 = "4bf92f3577b34da6a3ce929d0e0e4736-SPAN";
        for (sampled, flags, expected) in [
            (Absent, Absent, format!("{trace}-01 {b3}")),
            (One(&b"1"[..]), Absent, format!("{trace}-01 {b3}-1-00f067aa0ba902b7")),
            (One(b"true"), Absent, format!("{trace}-01 {b3}-1-00f067aa0ba902b7")),
            (One(b"0"), Absent, format!("{trace}-00 {b3}-0-00f067aa0ba902b7")),
            (One(b"false"), One(&b"0"[..]), format!("{trace}-00 {b3}-0-00f067aa0ba902b7")),
            (Absent, One(b"1"), format!("{trace}-01 {b3}-d-00f067aa0ba902b7")),
            (One(b"0"), One(b"1"), format!("{trace}-01 {b3}-d-00f067aa0ba902b7")),
            (Absent, Several, format!("{trace}-01 {b3}")),
        ] {
            assert_eq!(shown(RequestHeaders { x_b3_sampled: sampled, x_b3_flags: flags, ..ids }), expected);
        }
        assert_eq!(
            shown(RequestHeaders { x_b3_parent_span_id: One(b"05e3ac9a4f6e3b90"), ..ids }),
            format!("{trace}-01 {b3}")
        );
        assert_eq!(
            shown(many(b"a3ce929d0e0e4736", SPAN)),
            "00-0000000000000000a3ce929d0e0e4736-SPAN-01 0000000000000000a3ce929d0e0e4736-SPAN"
        );
        assert_eq!(shown(RequestHeaders { x_b3_sampled: One(b"0"), ..NONE }), "00-TRACE-SPAN-00 TRACE-SPAN-0");
        let new = "00-TRACE-SPAN-03 TRACE-SPAN-1";
        for wrong in [
            NONE,
            many(b"nonsense", SPAN),
            many(TRACE, b"00f067aa0ba902b"),
            many(b"4bf92f3577b34da6-3ce929d0e0e4736", SPAN),
            many(b"00000000000000000000000000000000", SPAN),
            many(TRACE, b"0000000000000000"),
            many(TRACE, b"00f067aa0ba902b7-1"),
            many(b"4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", SPAN),
            RequestHeaders { x_b3_trace_id: Several, ..ids },
            RequestHeaders { x_b3_span_id: Absent, ..ids },
            RequestHeaders { x_b3_sampled: One(b"2"), ..ids },
            RequestHeaders { x_b3_sampled: Several, ..ids },
            RequestHeaders { x_b3_parent_span_id: One(b""), ..ids },
            RequestHeaders { x_b3_parent_span_id: Several, ..ids },
            RequestHeaders { x_b3_parent_span_id: One(SPAN), ..NONE },
        ] {
            assert_eq!(shown(wrong), new, "{wrong:?}");
        }
    }

    #[test]
    fn b3_in_one_header() {
        let shown = |b3| shown(&of(&[Kind::B3Single], &RequestHeaders { b3, ..NONE }));
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN";
        let b3 = "4bf92f3577b34da6a3ce929d0e0e4736-SPAN";
        assert_eq!(shown(One(b"4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7")), format!("{trace}-01 {b3}"));
        assert_eq!(
            shown(One(b"4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-d")),
            format!("{trace}-01 {b3}-d-00f067aa0ba902b7")
        );
        assert_eq!(shown(One(b"0")), "00-TRACE-SPAN-00 TRACE-SPAN-0");
        for wrong in [Absent, Several, One(b""), One(b"4bf92f3577b34da6a3ce929d0e0e4736"), One(b"\xff")] {
            assert_eq!(shown(wrong), "00-TRACE-SPAN-03 TRACE-SPAN-1");
        }
    }

    #[test]
    fn a_traceparent_beside_b3_goes_on_only_if_it_is_the_same_trace() {
        let ids = RequestHeaders { x_b3_sampled: One(b"1"), ..many(TRACE, SPAN) };
        let with = |traceparent| of(&[Kind::B3], &RequestHeaders { traceparent: One(traceparent), ..ids });
        let same = with(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03");
        assert!(same.is_continued && same.random);
        let other = with(b"00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-03");
        assert!(!other.is_continued && !other.random);
    }

    #[test]
    fn of_several_kinds_the_first_valid_one_counts() {
        let kinds = [Kind::Traceparent, Kind::B3, Kind::B3Single];
        let headers = RequestHeaders { b3: One(b"a3ce929d0e0e4736-00f067aa0ba902b7-0"), ..many(TRACE, SPAN) };
        assert_eq!(of(&kinds, &headers).sampled, None);
        assert_eq!(of(&[Kind::B3Single, Kind::B3], &headers).sampled, Some(Sampling::Deny));
        let headers = RequestHeaders { traceparent: One(b"nonsense"), x_b3_span_id: Absent, ..headers };
        assert_eq!(of(&kinds, &headers).trace_id, TraceId(0xa3ce929d0e0e4736));
    }

    #[test]
    fn a_header_with_only_the_traces_id() {
        let shown = |trace_id| shown(&of(&[Kind::B3], &RequestHeaders { trace_id, ..NONE }));
        for (text, id) in [
            (&b"4bf92f3577b34da6a3ce929d0e0e4736"[..], "4bf92f3577b34da6a3ce929d0e0e4736"),
            (b"4BF92F3577B34DA6A3CE929D0E0E4736", "4bf92f3577b34da6a3ce929d0e0e4736"),
            (b"a3ce929d0e0e4736", "0000000000000000a3ce929d0e0e4736"),
        ] {
            let span = of(&[Kind::B3], &RequestHeaders { trace_id: One(text), ..NONE });
            assert_eq!((span.trace_id.to_string().as_str(), span.sampled, span.parent_span_id), (id, None, None));
        }
        let long = [b'a'; 33];
        for wrong in [Absent, Several, One(b""), One(b"00000000000000000000000000000000"), One(&long), One(b"\xff")] {
            assert_eq!(shown(wrong), "00-TRACE-SPAN-03 TRACE-SPAN-1");
        }
        let beside = RequestHeaders { trace_id: One(&long[..32]), ..many(TRACE, SPAN) };
        assert_eq!(of(&[Kind::B3], &beside).trace_id.to_string().as_bytes(), TRACE);
    }

    #[test]
    fn only_its_own_kind_is_continued() {
        let b3 =
            RequestHeaders { b3: One(b"4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1"), ..many(TRACE, SPAN) };
        assert_eq!(of(&[Kind::Traceparent], &b3).parent_span_id, None);
    }
}
