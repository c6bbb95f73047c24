//! The policy of one server for ids and traces that come in: its options, and their decisions.

use super::field::{Field, MOST_IDS, is_same};
use super::header::{Header, HeaderNameError, check_header_name};
use super::networks::{NetworkError, Networks, Peer};
use super::ratio::Ratio;
use super::span::{Kind, Span};
use super::trace_ids::{TraceIds, Wrong};
use crate::text::error_texts;

/// The policy of one server for ids and traces that come in. Without options, it accepts nobody's.
///
/// ```
/// use txid::request::{Peer, Policy};
///
/// let mut policy = Policy::default();
/// policy.set("accept", &["10.0.0.0/8", "unix:"])?;
/// assert!(policy.trusts(Peer::parse(b"10.1.2.3")));
/// assert!(!policy.trusts(Peer::parse(b"192.0.2.1")));
/// # Ok::<(), txid::request::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    // None where the option is not given, so that it can be inherited.
    pub(super) accept: Option<Networks>,
    pub(super) headers: Option<Headers>,
    pub(super) reject: Option<bool>,
    pub(super) kinds: Option<Vec<Kind>>,
    pub(super) trace_id_header: Option<Option<String>>,
    pub(super) trace_ids: Option<TraceIds>,
    pub(super) random_flag: Option<bool>,
    pub(super) sample: Option<Option<Ratio>>,
    pub(super) pass_others: Option<bool>,
    pub(super) pass_spans: Option<bool>,
    /// The options that are set here, and not inherited.
    pub(super) own: Vec<&'static str>,
}

/// The names of the headers that an id may come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Headers {
    first: String,
    others: Vec<String>,
}

impl Policy {
    /// The header with the id, unless the option `header` names another one.
    pub const DEFAULT_HEADER: &str = "X-Request-Id";

    /// How many headers an id may come in.
    pub const MOST_HEADERS: usize = MOST_IDS;

    /// Takes from `parent` the options that are not set.
    ///
    /// ```
    /// use txid::request::{Peer, Policy};
    ///
    /// let (mut http, mut server) = (Policy::default(), Policy::default());
    /// http.set("accept", &["all"])?;
    /// server.inherit(&http);
    /// assert!(server.trusts(Peer::parse(b"192.0.2.1")));
    /// # Ok::<(), txid::request::PolicyError>(())
    /// ```
    pub fn inherit(&mut self, parent: &Self) {
        fn take<T: Clone>(own: &mut Option<T>, parents: &Option<T>) {
            *own = own.take().or_else(|| parents.clone());
        }
        take(&mut self.accept, &parent.accept);
        take(&mut self.headers, &parent.headers);
        take(&mut self.reject, &parent.reject);
        take(&mut self.kinds, &parent.kinds);
        take(&mut self.trace_id_header, &parent.trace_id_header);
        take(&mut self.trace_ids, &parent.trace_ids);
        take(&mut self.random_flag, &parent.random_flag);
        take(&mut self.sample, &parent.sample);
        take(&mut self.pass_others, &parent.pass_others);
        take(&mut self.pass_spans, &parent.pass_spans);
    }

    /// Checks the options with each other, when all are set or inherited. `is_id_of_trace` says whether new ids of requests are
    /// those of their traces.
    ///
    /// ```
    /// let mut policy = txid::request::Policy::default();
    /// policy.set("trace_id_header", &["X-Trace-Id"])?;
    /// let error = policy.check(false).unwrap_err();
    /// assert_eq!(error.to_string(), "trace_id_header is \"X-Trace-Id\", but trace is off");
    /// # Ok::<(), txid::request::PolicyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PolicyError`] names the options that do not go together.
    pub fn check(&self, is_id_of_trace: bool) -> Result<(), PolicyError> {
        let is_off = self.kinds().is_empty();
        match self.trace_id_header() {
            Some(name) if is_off => return Err(PolicyError::HeaderWithoutTrace(name.to_string())),
            Some(name) if self.headers().any(|other| name.eq_ignore_ascii_case(other)) => {
                return Err(PolicyError::SameHeader(name.to_string()));
            }
            _ => {}
        }
        if is_id_of_trace && is_off {
            return Err(PolicyError::FormatWithoutTrace);
        }
        if is_id_of_trace && self.passes_spans() {
            return Err(PolicyError::NeedsSpan("format same_as_trace"));
        }
        // Inherited options may be for others.
        let is_own = |(option, is_set): &(&'static str, bool)| *is_set && self.own.contains(option);
        let of_spans = [
            ("trace_ids", self.trace_ids.is_some_and(|ids| ids != TraceIds::Random)),
            ("trace_random_flag", self.random_flag == Some(false)),
            ("sample", self.sample().is_some()),
        ];
        let of_traces = [("trace_pass_others", self.passes_others()), ("trace_span", self.passes_spans())];
        let unused = |option, without| Err(PolicyError::Unused { option, without });
        match (of_spans.into_iter().find(is_own), of_traces.into_iter().find(is_own)) {
            (Some((option, _)), _) | (_, Some((option, _))) if is_off => unused(option, "trace"),
            (Some((option, _)), _) if self.passes_spans() => Err(PolicyError::NeedsSpan(option)),
            _ if is_own(&("on_invalid", self.rejects())) && self.trusts_nobody() => unused("on_invalid", "accept"),
            _ => Ok(()),
        }
    }

    /// The name of the header with the id: of those that are read, the first, which is sent.
    pub fn header(&self) -> &str {
        self.headers.as_ref().map_or(Self::DEFAULT_HEADER, |headers| &headers.first)
    }

    /// The names of the other headers that an id may come in, in the order in which they count.
    #[inline]
    pub fn other_headers(&self) -> &[String] {
        self.headers.as_ref().map_or(&[], |headers| &headers.others)
    }

    fn headers(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.header()).chain(self.other_headers().iter().map(String::as_str))
    }

    /// The name of the header that holds only the trace's id, if there is one.
    pub fn trace_id_header(&self) -> Option<&str> {
        self.trace_id_header.as_ref()?.as_deref()
    }

    /// Whether a request with an invalid id is rejected, instead of getting a new one.
    pub fn rejects(&self) -> bool {
        self.reject == Some(true)
    }

    /// The headers that a trace may come in. The first valid one counts.
    pub fn kinds(&self) -> &[Kind] {
        self.kinds.as_deref().unwrap_or_default()
    }

    /// Whether nobody is accepted, so that no header needs to be read.
    #[inline]
    pub fn trusts_nobody(&self) -> bool {
        self.accept.as_ref().is_none_or(Networks::is_empty)
    }

    /// Whether ids and traces of this peer are accepted.
    #[inline]
    pub fn trusts(&self, peer: Peer) -> bool {
        self.accept.as_ref().is_some_and(|accept| accept.contain(peer))
    }

    /// The share of traces that [`Span::decide`] is to record. Without one, all that begin here are, and none says how likely that was.
    pub fn sample(&self) -> Option<Ratio> {
        self.sample.flatten()
    }

    /// Whether headers of other kinds of traces go on even if the peer is not accepted.
    pub fn passes_others(&self) -> bool {
        self.pass_others == Some(true)
    }

    /// Whether this hop has no span of its own.
    #[inline]
    pub fn passes_spans(&self) -> bool {
        self.pass_spans == Some(true)
    }

    /// The first span of a new trace, when the clock reads `clock_ms`.
    ///
    /// ```
    /// let mut policy = txid::request::Policy::default();
    /// policy.set("trace_ids", &["sorted"])?;
    /// let now_ms = txid::system_ms();
    /// assert!(policy.new_span(now_ms).trace_id < policy.new_span(now_ms + 1).trace_id);
    /// # Ok::<(), txid::request::PolicyError>(())
    /// ```
    #[inline]
    pub fn new_span(&self, clock_ms: i64) -> Span {
        let mut span = Span::new(self.trace_ids.unwrap_or_default(), clock_ms);
        if self.random_flag == Some(false) {
            span.random = false;
        }
        span
    }

    /// The name of the header at this place of [`Came`](super::Came), as it was chosen; empty if there is none.
    pub fn name_at(&self, place: usize) -> &str {
        match place {
            0 => self.header(),
            place if place < Self::MOST_HEADERS => self.other_headers().get(place - 1).map_or("", String::as_str),
            place => match Field::at(place) {
                Some(Field::TraceId) => self.trace_id_header().unwrap_or_default(),
                field => field.and_then(Field::name).unwrap_or_default(),
            },
        }
    }

    /// Whether the policy looks at the header at this place.
    pub fn looks_at(&self, place: usize) -> bool {
        !self.name_at(place).is_empty() && (place <= Self::MOST_HEADERS || !self.kinds().is_empty())
    }

    /// The place of the header of this name, in any case, if the policy looks at it.
    ///
    /// ```
    /// use txid::request::Policy;
    ///
    /// let mut policy = Policy::default();
    /// assert_eq!((policy.place_of(b"x-request-id"), policy.place_of(b"traceparent")), (Some(0), None));
    /// policy.set("trace", &["b3"])?;
    /// assert_eq!(policy.name_at(policy.place_of(b"TraceParent").unwrap()), "traceparent");
    /// # Ok::<(), txid::request::PolicyError>(())
    /// ```
    #[inline]
    pub fn place_of(&self, name: &[u8]) -> Option<usize> {
        if is_same(name, self.header()) {
            return Some(0);
        }
        if let Some(at) = self.other_headers().iter().position(|other| is_same(name, other)) {
            return Some(at + 1);
        }
        if self.kinds().is_empty() {
            return None;
        }
        if self.trace_id_header().is_some_and(|wanted| is_same(name, wanted)) {
            return Some(Field::TraceId.place());
        }
        Field::of_traces(name).map(Field::place)
    }

    /// The span of a request, whose headers `header` returns: it continues the trace that came in, if the peer is trusted and
    /// sent a valid one, or starts a new trace. It asks only for the headers that count.
    ///
    /// ```
    /// use txid::request::{Field, Header, Policy};
    ///
    /// let mut policy = Policy::default();
    /// policy.set("trace", &["traceparent"])?;
    /// let header = |field| match field {
    ///     Field::Traceparent => Header::One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ///     _ => Header::Absent,
    /// };
    /// assert!(policy.span_of(true, header, txid::system_ms()).is_continued);
    /// assert!(!policy.span_of(false, header, txid::system_ms()).is_continued);
    /// # Ok::<(), txid::request::PolicyError>(())
    /// ```
    #[inline]
    pub fn span_of<'a>(&self, is_trusted: bool, header: impl Fn(Field) -> Header<'a>, clock_ms: i64) -> Span {
        let new = || self.new_span(clock_ms);
        match self.kinds() {
            [] => new(),
            kinds if is_trusted => Span::of(kinds, header, new),
            _ => new(),
        }
    }
}

pub(super) fn once<T>(option: &mut Option<T>, value: T) -> Result<(), PolicyError> {
    if option.is_some() {
        return Err(PolicyError::Twice);
    }
    *option = Some(value);
    Ok(())
}

fn header_name(name: &str) -> Result<String, PolicyError> {
    check_header_name(name)?;
    Ok(name.to_string())
}

pub(super) fn header_or_off(words: &[&str]) -> Result<Option<String>, PolicyError> {
    if words == ["off"] { Ok(None) } else { header_name(&words.join(" ")).map(Some) }
}

pub(super) fn sample(words: &[&str]) -> Result<Option<Ratio>, PolicyError> {
    let text = words.join(" ");
    if text == "off" {
        return Ok(None);
    }
    Ratio::parse(text.as_bytes()).map(Some).ok_or(PolicyError::NoRatio(text))
}

pub(super) fn header_names(words: &[&str]) -> Result<Headers, PolicyError> {
    if words.len() > Policy::MOST_HEADERS {
        return Err(PolicyError::TooManyHeaders(words.len()));
    }
    for (at, name) in words.iter().enumerate() {
        if words[..at].iter().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(PolicyError::WordTwice(name.to_string()));
        }
    }
    let (first, others) = words.split_first().unwrap_or((&"", &[]));
    let others = || others.iter().map(|name| header_name(name)).collect::<Result<_, _>>();
    Ok(Headers { first: header_name(first)?, others: others()? })
}

pub(super) fn reject(words: &[&str]) -> Result<bool, PolicyError> {
    match words {
        ["replace"] => Ok(false),
        ["reject"] => Ok(true),
        _ => Err(PolicyError::NoAction(words.join(" "))),
    }
}

pub(super) fn pass(words: &[&str]) -> Result<bool, PolicyError> {
    match words {
        ["new"] => Ok(false),
        ["pass"] => Ok(true),
        _ => Err(PolicyError::NoSpan(words.join(" "))),
    }
}

pub(super) fn switch(words: &[&str]) -> Result<bool, PolicyError> {
    match words {
        ["on"] => Ok(true),
        ["off"] => Ok(false),
        _ => Err(PolicyError::NoSwitch(words.join(" "))),
    }
}

pub(super) fn kinds(words: &[&str]) -> Result<Vec<Kind>, PolicyError> {
    let no_kind = |word: &str| PolicyError::NoKind(word.to_string());
    match words {
        [] => Err(no_kind("")),
        ["off"] => Ok(Vec::new()),
        _ if words.contains(&"off") => Err(PolicyError::OffBesideOthers),
        _ => {
            let mut kinds = Vec::new();
            for word in words {
                let kind = Kind::named(word).ok_or_else(|| no_kind(word))?;
                if kinds.contains(&kind) {
                    return Err(PolicyError::WordTwice(word.to_string()));
                }
                kinds.push(kind);
            }
            Ok(kinds)
        }
    }
}

/// Why an option is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// There is no option of this name.
    NoOption {
        /// The name as given.
        name: String,
        /// The names of the options.
        known: Vec<&'static str>,
    },
    /// The option is already set.
    Twice,
    /// A list of networks is not valid.
    Networks(NetworkError),
    /// The header cannot carry an id.
    HeaderName(HeaderNameError),
    /// This is not what can be done about an invalid id.
    NoAction(String),
    /// Too many names of headers.
    TooManyHeaders(usize),
    /// A header, or a kind of trace, is there twice.
    WordTwice(String),
    /// A kind of trace beside `off`.
    OffBesideOthers,
    /// The ids of traces count from a day that is yet to come.
    Future(String),
    /// An option that has no effect, because another one is off.
    Unused {
        /// Its name.
        option: &'static str,
        /// What is off.
        without: &'static str,
    },
    /// An option that has no effect without a span of this hop.
    NeedsSpan(&'static str),
    /// This is not what is done about a span.
    NoSpan(String),
    /// This is not a sampling ratio.
    NoRatio(String),
    /// These are not ids of traces.
    NoTraceIds(String),
    /// This is not the name of a kind of trace.
    NoKind(String),
    /// This is neither on nor off.
    NoSwitch(String),
    /// A header holds only the trace's id, but there are no traces.
    HeaderWithoutTrace(String),
    /// The header with the id and the one that holds only the trace's id are the same.
    SameHeader(String),
    /// New ids are those of traces, but there are no traces.
    FormatWithoutTrace,
}

impl From<NetworkError> for PolicyError {
    fn from(error: NetworkError) -> Self {
        Self::Networks(error)
    }
}

impl From<HeaderNameError> for PolicyError {
    fn from(error: HeaderNameError) -> Self {
        Self::HeaderName(error)
    }
}

impl From<Wrong<'_>> for PolicyError {
    fn from(wrong: Wrong<'_>) -> Self {
        match wrong {
            Wrong::Word(word) => Self::NoTraceIds(word.to_string()),
            Wrong::Future(word) => Self::Future(word.to_string()),
        }
    }
}

error_texts! { PolicyError {
    Self::NoOption { name, known } => "{name:?} is not an option; the options are {}", known.join(", ");
    Self::Twice => "the option is already set";
    Self::Networks(error) => "{error}";
    Self::HeaderName(error) => "{error}";
    Self::NoAction(word) => "{word:?} is neither replace nor reject";
    Self::NoTraceIds(word) =>
        "{word:?} is not random, sorted_seconds, or sorted, with the day epoch=2020-01-01 if time counts from it";
    Self::NoRatio(word) =>
        "{word:?} is not a sampling ratio: write a percentage such as 0.1%, a fraction such as 1/1000, or 0";
    Self::NoKind(word) => "{word:?} is not one of off, {}", Kind::names();
    Self::TooManyHeaders(count) =>
        "{count} headers are too many: at most {} are allowed", Policy::MOST_HEADERS;
    Self::WordTwice(name) => "{name:?} is duplicate";
    Self::OffBesideOthers => "\"off\" cannot be combined with kinds of traces";
    Self::Future(word) =>
        "{word:?} is in the future, and ids with a time before it would not sort; take a past day";
    Self::Unused { option, without } =>
        "{option} has no effect, because {without} is off: leave it out, or set {without}";
    Self::NeedsSpan(option) => "{option} has no effect, because trace_span is pass: leave one of them out";
    Self::NoSpan(word) => "{word:?} is neither new nor pass";
    Self::NoSwitch(word) => "{word:?} is neither on nor off";
    Self::HeaderWithoutTrace(name) => "trace_id_header is {name:?}, but trace is off";
    Self::SameHeader(name) => "trace_id_header is {name:?}, and so is header; name another one";
    Self::FormatWithoutTrace => "format is \"same_as_trace\", but trace is off";
} }

#[cfg(test)]
mod tests {
    use super::*;
    use Header::{Absent, One};

    fn policy(options: &[(&str, &[&str])]) -> Policy {
        let mut policy = Policy::default();
        for (option, words) in options {
            policy.set(option, words).unwrap();
        }
        policy
    }

    const INSIDE: Peer = Peer::V4(0x0a000001);

    #[test]
    fn nobody_is_accepted_by_default() {
        assert!(Policy::default().trusts_nobody());
        assert!(policy(&[("accept", &["off"])]).trusts_nobody());
        assert!(!policy(&[("accept", &["all"])]).trusts_nobody());
    }

    #[test]
    fn options_that_are_not_set_are_inherited() {
        let all: [(&str, &[&str]); 10] = [
            ("accept", &["all"]),
            ("header", &["A"]),
            ("on_invalid", &["reject"]),
            ("trace", &["b3"]),
            ("trace_id_header", &["B"]),
            ("trace_ids", &["sorted"]),
            ("trace_random_flag", &["off"]),
            ("sample", &["1%"]),
            ("trace_pass_others", &["on"]),
            ("trace_span", &["pass"]),
        ];
        let none: [(&str, &[&str]); 10] = [
            ("accept", &["off"]),
            ("header", &["C"]),
            ("on_invalid", &["replace"]),
            ("trace", &["off"]),
            ("trace_id_header", &["off"]),
            ("trace_ids", &["random"]),
            ("trace_random_flag", &["on"]),
            ("sample", &["off"]),
            ("trace_pass_others", &["off"]),
            ("trace_span", &["new"]),
        ];
        for (given, expected) in [(&none[..], &none[..]), (&[], &all[..])] {
            let mut child = policy(given);
            child.inherit(&policy(&all));
            child.own.clear();
            assert_eq!(child, Policy { own: Vec::new(), ..policy(expected) });
        }
    }

    #[test]
    fn options_that_do_not_go_together_are_refused() {
        let checked = |options: &[(&str, &[&str])], is_id_of_trace| {
            policy(options).check(is_id_of_trace).map_err(|error| error.to_string())
        };
        let (on, name) = (("trace", &["aws"][..]), ("trace_id_header", &["x-request-id"][..]));
        assert_eq!(checked(&[], false), Ok(()));
        assert_eq!(checked(&[on, ("trace_id_header", &["X-Trace-Id"])], true), Ok(()));
        assert_eq!(checked(&[("trace_id_header", &["off"])], false), Ok(()));
        assert_eq!(checked(&[name], false), Err("trace_id_header is \"x-request-id\", but trace is off".to_string()));
        assert_eq!(
            checked(&[on, name], false),
            Err("trace_id_header is \"x-request-id\", and so is header; name another one".to_string())
        );
        assert_eq!(checked(&[on, name, ("header", &["X-Id"])], false), Ok(()));
        assert_eq!(checked(&[], true), Err("format is \"same_as_trace\", but trace is off".to_string()));
        assert_eq!(
            checked(&[("header", &["X-Id", "X-Trace-Id"]), on, ("trace_id_header", &["x-trace-id"])], false),
            Err("trace_id_header is \"x-trace-id\", and so is header; name another one".to_string())
        );
    }

    #[test]
    fn an_option_without_effect_is_refused_unless_it_is_inherited() {
        for (option, word, other, otherwise) in [
            ("trace_ids", "sorted", "trace", "b3"),
            ("trace_random_flag", "off", "trace", "b3"),
            ("trace_pass_others", "on", "trace", "b3"),
            ("on_invalid", "reject", "accept", "all"),
        ] {
            let alone = policy(&[(option, &[word])]);
            let expected = format!("{option} has no effect, because {other} is off: leave it out, or set {other}");
            assert_eq!(alone.check(false).unwrap_err().to_string(), expected);
            assert_eq!(policy(&[(option, &[word]), (other, &[otherwise])]).check(false), Ok(()));
            let mut server = Policy::default();
            server.inherit(&alone);
            assert_eq!(server.check(false), Ok(()));
        }
        let defaults = [("trace_ids", &["random"][..]), ("trace_random_flag", &["on"]), ("on_invalid", &["replace"])];
        assert_eq!(policy(&defaults).check(false), Ok(()));
    }

    #[test]
    fn only_a_trusted_peers_trace_is_continued_and_only_of_the_kinds() {
        let traceparent = One(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let trace_id = One(b"4bf92f3577b34da6a3ce929d0e0e4736");
        let header = |field| match field {
            Field::Traceparent => traceparent,
            Field::TraceId => trace_id,
            _ => Absent,
        };
        for (kinds, peer, is_continued) in [
            (&["traceparent"][..], INSIDE, true),
            (&["traceparent"], Peer::V4(1), false),
            (&["b3"], INSIDE, true),
            (&["b3"], Peer::V4(1), false),
            (&["off"], INSIDE, false),
            (&["off"], Peer::V4(1), false),
        ] {
            let policy = policy(&[("accept", &["10.0.0.0/8"]), ("trace", kinds)]);
            let span = policy.span_of(policy.trusts(peer), header, 0);
            let is_the_same = span.trace_id.to_string() == "4bf92f3577b34da6a3ce929d0e0e4736";
            assert_eq!(is_the_same, is_continued, "{kinds:?}, {peer:?}");
        }
    }

    #[test]
    fn an_invalid_id_is_replaced_unless_it_is_to_be_rejected() {
        for (options, rejects) in
            [(&[][..], false), (&[("on_invalid", &["replace"][..])], false), (&[("on_invalid", &["reject"])], true)]
        {
            assert_eq!(policy(options).rejects(), rejects, "{options:?}");
        }
    }

    #[test]
    fn the_names_that_are_chosen_are_those_of_the_headers() {
        for (options, id, trace_id) in [
            (&[][..], "X-Request-Id", ""),
            (
                &[("header", &["X-Id"][..]), ("trace", &["aws"]), ("trace_id_header", &["X-Trace-Id"])],
                "X-Id",
                "X-Trace-Id",
            ),
        ] {
            let policy = policy(options);
            let names = [0, Field::TraceId.place(), Field::B3.place()].map(|place| policy.name_at(place));
            assert_eq!(names, [id, trace_id, "b3"]);
            assert_eq!(policy.place_of(id.to_uppercase().as_bytes()), Some(0));
            assert_eq!(policy.place_of(b"x-trace-id").is_some(), !trace_id.is_empty());
            assert_eq!(policy.place_of(b"B3"), (!trace_id.is_empty()).then_some(Field::B3.place()));
            assert_eq!(policy.place_of(b"x-ids"), None);
        }
    }

    #[test]
    fn a_new_trace_has_the_flags_that_are_wanted() {
        let flags =
            |options: &[(&str, &[&str])]| policy(options).new_span(0).traceparent().to_string()[52..].to_string();
        assert_eq!(flags(&[]), "-03");
        assert_eq!(flags(&[("trace_random_flag", &["on"])]), "-03");
        assert_eq!(flags(&[("trace_random_flag", &["off"])]), "-01");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (option, words, reason) in [
            ("acept", &["all"][..], "\"acept\" is not an option; the options are header, accept, on_invalid, trace, "),
            ("accept", &["10.0.0.0/33"], "\"10.0.0.0/33\" is not an address, a network such as"),
            ("header", &["X Id"], "\"X Id\" is not the name of a header"),
            ("header", &[], "\"\" is not the name of a header"),
            ("header", &["$a"], "\"$a\" is not the name of a header"),
            ("header", &["Content-Length"], "\"Content-Length\" has a meaning of its own; name another header"),
            ("header", &["A", "b", "B"], "\"B\" is duplicate"),
            ("header", &["A", "B", "C", "D", "E"], "5 headers are too many: at most 4 are allowed"),
            ("on_invalid", &["no"], "\"no\" is neither replace nor reject"),
            ("trace", &["b4"], "\"b4\" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger"),
            ("trace", &["b3", "off"], "\"off\" cannot be combined"),
            ("trace", &[], "\"\" is not one of"),
            ("trace", &["b3_single", "b3-single"], "\"b3-single\" is duplicate"),
            ("trace_id_header", &["A:"], "\"A:\" is not the name of a header"),
            ("trace_ids", &["sorted", "epoch=2999-01-01"], "\"epoch=2999-01-01\" is in the future"),
            ("trace_ids", &["sort"], "\"sort\" is not random, sorted_seconds, or sorted, "),
            ("trace_random_flag", &["02"], "\"02\" is neither on nor off"),
            ("trace_random_flag", &[], "\"\" is neither on nor off"),
            (
                "sample",
                &["1"],
                "\"1\" is not a sampling ratio: write a percentage such as 0.1%, a fraction such as 1/1000, or 0",
            ),
            ("sample", &["1%", "2%"], "\"1% 2%\" is not a sampling ratio"),
            ("sample", &[], "\"\" is not a sampling ratio"),
        ] {
            let error = Policy::default().set(option, words).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
        assert!(Policy::default().set("header", &["A", "B", "C", "D"]).is_ok());
        let mut off = policy(&[("trace", &["off"])]);
        assert_eq!(off.set("trace", &["b3"]), Err(PolicyError::Twice));
        assert_eq!(off.kinds(), []);
    }
}
