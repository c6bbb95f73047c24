//! What is decided about a request: its id, its span, and what changes in its headers.

use super::field::Field;
use super::header::{Header, Verdict};
use super::outgoing::Outgoing;
use super::policy::Policy;
use super::span::Span;
use crate::text::trimmed;
use std::cell::Cell;

/// The headers of a request that a policy looks at. Each has its place: the names of the option `header` in their order, then those of
/// [`Field`]. A set of places has a bit for each.
///
/// ```
/// use txid::request::{Came, Policy, Verdict};
///
/// let mut policy = Policy::default();
/// policy.set("header", &["X-Request-Id", "CF-Ray"])?;
/// policy.set("accept", &["all"])?;
/// let came = Came { is_trusted: true, came: 0b11, repeated: 0, value: |place| [&b"7f 3a"[..], b"8c1f"][place] };
/// assert_eq!(came.id(|_, value| txid::request::is_valid_id(value)), (Verdict::Accepted, Some(1), &b"8c1f"[..]));
/// let mut changes = Vec::new();
/// let is_valid = |_, value: &[u8]| txid::request::is_valid_id(value);
/// came.changes(&policy, b"8c1f", None, is_valid, |place, value| changes.push((place, value.map(<[u8]>::to_vec))));
/// assert_eq!(changes, [(0, Some(b"8c1f".to_vec()))]);
/// # Ok::<(), txid::request::PolicyError>(())
/// ```
pub struct Came<V> {
    /// Whether the peer is trusted.
    pub is_trusted: bool,
    /// The headers that are there.
    pub came: u32,
    /// Those that are there more than once.
    pub repeated: u32,
    /// The value of a header that is there once, as it came.
    pub value: V,
}

/// How many places there are.
pub const PLACES: usize = Policy::MOST_HEADERS + Field::COUNT;
const _: () = assert!(PLACES <= u32::BITS as usize);

/// The places of headers with an id.
const IDS: u32 = (1 << Policy::MOST_HEADERS) - 1;

/// The places of headers of traces whose names are the same in each policy.
const OF_TRACES: u32 = !IDS & !(1 << Field::TraceId.place());

impl<'a, V: Fn(usize) -> &'a [u8]> Came<V> {
    fn has(&self, places: u32, place: usize) -> bool {
        places >> place & 1 != 0
    }

    fn header(&self, place: usize) -> Header<'a> {
        match (self.has(self.came, place), self.has(self.repeated, place)) {
            (false, _) => Header::Absent,
            (true, false) => Header::One((self.value)(place)),
            (true, true) => Header::Several,
        }
    }

    /// The verdict on the ids; the place of the one that is kept, or of the first invalid one; and the id that is kept, or an empty text. The
    /// first one that `is_valid` counts.
    #[inline]
    pub fn id(&self, is_valid: impl Fn(usize, &[u8]) -> bool) -> (Verdict, Option<usize>, &'a [u8]) {
        let came = if self.is_trusted { self.came & IDS } else { 0 };
        let mut left = came & !self.repeated;
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            let value = trimmed((self.value)(place));
            if is_valid(place, value) && !value.is_empty() {
                return (Verdict::Accepted, Some(place), value);
            }
            left &= left - 1;
        }
        match came {
            0 => (Verdict::New, None, b""),
            // None of them is valid.
            _ => (Verdict::Invalid, Some(came.trailing_zeros() as usize), b""),
        }
    }

    /// The span of the request, which continues the trace that a trusted peer sent, or starts one.
    #[inline]
    pub fn span(&self, policy: &Policy, clock_ms: i64) -> Span {
        let continues = self.is_trusted && self.came & !IDS != 0;
        policy.span_of(continues, |field| self.header(field.place()), clock_ms)
    }

    /// Calls `put` with the place of each header that must change, and its new value. Without a value, the request must not have it. An
    /// empty `id` leaves out the header with the id.
    pub fn changes(
        &self,
        policy: &Policy,
        id: &[u8],
        span: Option<Outgoing<'_>>,
        is_valid: impl Fn(usize, &[u8]) -> bool,
        mut put: impl FnMut(usize, Option<&[u8]>),
    ) {
        let done = Cell::new(0_u32);
        let mut put = |place: usize, value: Option<&[u8]>| {
            done.set(done.get() | 1 << place);
            self.change(place, value, &mut put);
        };
        if !id.is_empty() {
            put(0, Some(id));
        }
        for place in 1..=policy.other_headers().len() {
            let is_accepted = match self.header(place) {
                Header::One(value) => self.is_trusted && is_valid(place, trimmed(value)),
                _ => false,
            };
            if !is_accepted {
                put(place, None);
            }
        }
        let passes = policy.passes_spans();
        let span = match (passes, self.is_trusted) {
            (false, _) => span,
            (true, true) => None,
            (true, false) => Some(Outgoing::NONE),
        };
        if let Some(span) = span {
            // What would be sent with a span is then taken from those who are not trusted.
            span.each(policy, |field, value| put(field.place(), value.filter(|_| !passes)));
        }
        if self.is_trusted || policy.kinds().is_empty() || policy.passes_others() {
            return;
        }
        let mut left = self.came & OF_TRACES & !done.get();
        while left != 0 {
            put(left.trailing_zeros() as usize, None);
            left &= left - 1;
        }
    }
    /// Not inlined: it is called for each header of each kind.
    #[inline(never)]
    fn change(&self, place: usize, value: Option<&[u8]>, put: &mut impl FnMut(usize, Option<&[u8]>)) {
        let is_as_it_came = match (self.header(place), value) {
            (Header::Absent, None) => true,
            // A value that came with spaces around it goes on without them.
            (Header::One(old), Some(new)) => old == new,
            _ => false,
        };
        if !is_as_it_came {
            put(place, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ratio::{Ratio, random_value_of};
    use super::super::span::{Open, SpanTexts};
    use super::*;
    use crate::trace::{TraceId, Traceparent};
    use std::collections::BTreeMap;

    /// The headers that a request of a trusted peer has in the end, of those that the policy looks at.
    fn headers_of(options: &[(&str, &[&str])], came_in: &[(&str, &str)]) -> BTreeMap<String, String> {
        let mut policy = Policy::default();
        options.iter().for_each(|(option, words)| policy.set(option, words).unwrap());
        let mut values = [""; PLACES];
        let mut came = 0;
        for (name, value) in came_in {
            let place = policy.place_of(name.as_bytes()).unwrap();
            values[place] = value;
            came |= 1 << place;
        }
        let came = Came { is_trusted: true, came, repeated: 0, value: |place: usize| values[place].as_bytes() };
        let mut span = came.span(&policy, 0);
        if let Some(ratio) = policy.sample() {
            span.decide(ratio);
        }
        let SpanTexts { traceparent, parent_span_id, b3, b3_len } = span.texts();
        let outgoing = Outgoing {
            traceparent: &traceparent,
            parent_span_id: parent_span_id.as_ref(),
            b3: &b3[..b3_len],
            sampled: span.sampled,
            is_continued: span.is_continued,
            is_datadog: span.is_datadog,
            priority: span.priority,
            ratio: span.ratio,
            random_value: span.random_value().filter(|_| span.open == Open::ByValue),
        };
        let mut headers: BTreeMap<_, _> =
            came_in.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        came.changes(
            &policy,
            b"",
            Some(outgoing),
            |_, _| true,
            |place, value| {
                let name = policy.name_at(place).to_ascii_lowercase();
                match value {
                    Some(value) => _ = headers.insert(name, String::from_utf8(value.to_vec()).unwrap()),
                    None => _ = headers.remove(&name),
                }
            },
        );
        headers
    }

    #[test]
    fn the_end_of_a_new_traces_id_decides() {
        for sample in ["25%", "1/3", "99.9%"] {
            let ratio = Ratio::parse(sample.as_bytes()).unwrap();
            for ids in ["random", "sorted_seconds", "sorted"] {
                for flag in ["on", "off"] {
                    for _ in 0..50 {
                        let options: &[(&str, &[&str])] = &[
                            ("trace", &["traceparent"]),
                            ("sample", &[sample]),
                            ("trace_ids", &[ids]),
                            ("trace_random_flag", &[flag]),
                        ];
                        let headers = headers_of(options, &[]);
                        let traceparent: Traceparent = headers["traceparent"].parse().unwrap();
                        let random = (traceparent.trace_id.0 as u64) << 8 >> 8;
                        assert_eq!(traceparent.sampled, random >= ratio.threshold(), "{sample}: {headers:?}");
                        assert_eq!(traceparent.random, flag == "on");
                        let state = match sample {
                            "25%" => "ot=th:c",
                            "1/3" => "ot=th:aaaaaaaaaaaaac",
                            _ => "ot=th:004189374bc6a8",
                        };
                        assert_eq!(headers.get("tracestate").map(|_| state), traceparent.sampled.then_some(state));
                        assert!(headers.get("tracestate").is_none_or(|found| found == state), "{headers:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn who_left_the_decision_open_left_it_to_us_and_the_value_that_decides_is_sent() {
        const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let b3 = format!("{ID}-00f067aa0ba902b7");
        // The first half of the id of Datadog's headers is not there.
        let others = "0000000000000000a3ce929d0e0e4736";
        for (came_in, id) in [
            (("b3", &*b3), ID),
            (("x-amzn-trace-id", "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736"), ID),
            (("x-cloud-trace-context", "4bf92f3577b34da6a3ce929d0e0e4736/17"), ID),
            (("x-trace-id", ID), ID),
            (("x-datadog-trace-id", "11803532876627986230"), others),
        ] {
            let headers = |sample| {
                headers_of(
                    &[
                        ("trace", &["traceparent", "b3_single", "aws", "gcp", "datadog"]),
                        ("trace_id_header", &["X-Trace-Id"]),
                        ("sample", &[sample]),
                    ],
                    &[came_in],
                )
            };
            let value = random_value_of(TraceId(u128::from_str_radix(id, 16).unwrap()));
            assert_eq!(headers("100%")["tracestate"], format!("ot=th:0;rv:{value:014x}"), "{came_in:?}");
            assert_eq!(headers("0")["tracestate"], format!("ot=rv:{value:014x}"), "{came_in:?}");
            let headers_of_none = headers("0");
            assert_eq!(headers_of_none["x-datadog-sampling-priority"], "0");
            assert!(headers_of_none["traceparent"].ends_with("-00"), "{came_in:?}");
            assert_eq!(headers("off").get("tracestate"), None);
        }
    }
}
