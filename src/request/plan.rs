//! What a gateway changes in the headers of a request.

use super::field::Field;
use super::header::{Header, Verdict};
use super::networks::Peer;
use super::outgoing::Outgoing;
use super::policy::Policy;
use super::span::{Open, SpanTexts};
use std::ops::Range;

/// For a gateway that reads and changes headers by their names: which ones it reads, and what it changes in each request. It is filled
/// for one request after the other.
///
/// ```
/// use txid::request::{Peer, Plan, Policy, Verdict};
///
/// let mut policy = Policy::default();
/// policy.set("accept", &["10.0.0.0/8"])?;
/// let mut plan = Plan::new(&policy);
/// assert_eq!(plan.names(), ["x-request-id"]);
/// assert!(plan.trusts(Peer::parse(b"10.1.2.3")));
/// let sent = |_place: usize| Some(&b"7f3a"[..]);
/// assert_eq!(plan.fill(txid::system_ms(), Some(sent)), (Verdict::Accepted, Some(&b"7f3a"[..])));
/// # Ok::<(), txid::request::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    policy: Policy,
    names: Vec<String>,
    /// How many of the names are of ids, and how many are read.
    ids: usize,
    reads: usize,
    /// The place of each field's name.
    places: [Option<u8>; Field::COUNT],
    changes: Vec<Change>,
    texts: Vec<u8>,
    traceparent: Option<Range<usize>>,
}

/// A header that must change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place of its name among [`Plan::names`].
    pub place: usize,
    /// Where its new value is in [`Plan::texts`]. None if the request must not have the header.
    pub value: Option<Range<usize>>,
}

impl Plan {
    /// A plan for requests under this policy.
    pub fn new(policy: &Policy) -> Self {
        let mut plan = Self {
            policy: policy.clone(),
            names: vec![policy.header().to_ascii_lowercase()],
            ids: 0,
            reads: 0,
            places: [None; Field::COUNT],
            changes: Vec::new(),
            texts: Vec::new(),
            traceparent: None,
        };
        plan.names.extend(policy.other_headers().iter().map(|name| name.to_ascii_lowercase()));
        plan.ids = plan.names.len();
        if policy.trace_id_header().is_some() {
            plan.name(Field::TraceId);
        }
        for kind in policy.kinds() {
            kind.fields().0.iter().for_each(|&field| plan.name(field));
        }
        plan.reads = plan.names.len();
        for kind in policy.kinds() {
            kind.fields().1.iter().for_each(|&field| plan.name(field));
        }
        plan
    }

    fn name(&mut self, field: Field) {
        if self.places[field as usize].is_none() {
            self.places[field as usize] = Some(self.names.len() as u8);
            self.names.push(self.policy.field_name(field).to_ascii_lowercase());
        }
    }

    /// The names of all headers that are read or changed, in lower case. Headers of ids are first, and headers that are only changed last.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many of the names are of headers that are read.
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// Whether ids and traces of this peer are accepted.
    pub fn trusts(&self, peer: Peer) -> bool {
        self.policy.trusts(peer)
    }

    /// Plans a request, when the clock reads `clock_ms`. If the sender is trusted, `sent` returns the value of the header at a place
    /// among the names, joined by commas if the request has several, or None. Returns the verdict on the id, and the id if it is
    /// accepted.
    pub fn fill<'a>(
        &mut self,
        clock_ms: i64,
        sent: Option<impl Fn(usize) -> Option<&'a [u8]>>,
    ) -> (Verdict, Option<&'a [u8]>) {
        self.changes.clear();
        self.texts.clear();
        let reads = self.reads;
        let header = |place: usize| match &sent {
            Some(sent) if place < reads => sent(place).map_or(Header::Absent, Header::One),
            _ => Header::Absent,
        };
        if !self.policy.kinds().is_empty() {
            let of_field =
                |field: Field| self.places[field as usize].map_or(Header::Absent, |place| header(place.into()));
            let mut span = self.policy.span_of(sent.is_some(), of_field, clock_ms);
            if let Some(ratio) = self.policy.sample() {
                span.decide(ratio);
            }
            let texts = span.texts();
            let SpanTexts { traceparent, parent_span_id, b3, b3_len } = &texts;
            let outgoing = Outgoing {
                traceparent,
                parent_span_id: parent_span_id.as_ref(),
                b3: &b3[..*b3_len],
                sampled: span.sampled,
                is_continued: span.is_continued,
                is_datadog: span.is_datadog,
                priority: span.priority,
                ratio: span.ratio,
                random_value: span.random_value().filter(|_| span.open == Open::ByValue),
            };
            self.traceparent = Some(add(&mut self.texts, traceparent));
            outgoing.each(&self.policy, |field, value| {
                let place = usize::from(self.places[field as usize].unwrap_or_default());
                let is_known = sent.is_some() && place < reads;
                let is_as_it_came = match (header(place), value) {
                    (Header::Absent, None) => is_known,
                    (Header::One(old), Some(new)) => old == new,
                    _ => false,
                };
                if !is_as_it_came {
                    let value = value.map(|value| add(&mut self.texts, value));
                    self.changes.push(Change { place, value });
                }
            });
        }
        first_id((0..self.ids).map(header))
    }

    /// What must change besides the header with the id.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The text that holds the values.
    pub fn texts(&self) -> &[u8] {
        &self.texts
    }

    /// Where the span's `traceparent` is in the text. None without traces.
    pub fn traceparent(&self) -> Option<Range<usize>> {
        self.traceparent.clone()
    }
}

fn add(texts: &mut Vec<u8>, text: &[u8]) -> Range<usize> {
    let start = texts.len();
    texts.extend_from_slice(text);
    start..texts.len()
}

/// The first valid id that a trusted sender sent in these headers.
fn first_id<'a>(headers: impl Iterator<Item = Header<'a>>) -> (Verdict, Option<&'a [u8]>) {
    let mut verdict = Verdict::New;
    for header in headers {
        match Verdict::on(true, header) {
            Verdict::Accepted => return (Verdict::Accepted, header.single()),
            Verdict::Invalid => verdict = Verdict::Invalid,
            Verdict::New => {}
        }
    }
    (verdict, None)
}

#[cfg(test)]
mod tests {
    use super::super::ratio::{Ratio, random_value_of};
    use super::*;
    use crate::trace::{TraceId, Traceparent};
    use std::collections::BTreeMap;

    const TRACEPARENT: &[u8] = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn plan(options: &[(&str, &[&str])]) -> Plan {
        let mut policy = Policy::default();
        options.iter().for_each(|(option, words)| policy.set(option, words).unwrap());
        Plan::new(&policy)
    }

    /// What changes: the names, each with its new value.
    fn changes(plan: &Plan) -> Vec<(&str, Option<&str>)> {
        let text = |range: &Range<usize>| std::str::from_utf8(&plan.texts()[range.clone()]).unwrap();
        let change = |change: &Change| (plan.names()[change.place].as_str(), change.value.clone());
        plan.changes().iter().map(change).map(|(name, value)| (name, value.as_ref().map(text))).collect()
    }

    /// Values in the order of the names.
    fn sent<'a, const N: usize>(values: [Option<&'a [u8]>; N]) -> Option<impl Fn(usize) -> Option<&'a [u8]>> {
        Some(move |place: usize| values[place])
    }

    fn fill_for_nobody(plan: &mut Plan) -> (Verdict, Option<&'static [u8]>) {
        plan.fill(0, None::<fn(usize) -> Option<&'static [u8]>>)
    }

    #[test]
    fn ids_come_first_and_what_is_only_passed_on_last() {
        let plan = plan(&[
            ("header", &["CF-Ray", "X-Request-Id"]),
            ("trace", &["b3", "traceparent"]),
            ("trace_id_header", &["X-Trace-Id"]),
        ]);
        let names = "cf-ray x-request-id x-trace-id x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags traceparent b3 tracestate";
        assert_eq!(plan.names().join(" "), names);
        assert_eq!(plan.names()[..plan.reads()].last().unwrap(), "traceparent");
    }

    const ALL: [&str; 7] = ["traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger"];

    #[test]
    fn each_header_that_is_sent_has_a_name() {
        for kind in ALL {
            let mut plan = plan(&[("trace", &[kind])]);
            fill_for_nobody(&mut plan);
            assert!(changes(&plan).iter().all(|(name, _)| *name != "x-request-id"), "{kind}: {:?}", changes(&plan));
        }
        let plan = plan(&[("trace", &ALL)]);
        // All headers of traces, and the one with the id.
        assert_eq!(plan.names().len(), Field::names().count() + 1);
    }

    #[test]
    fn the_first_valid_id_counts() {
        let mut plan = plan(&[("header", &["CF-Ray", "X-Request-Id"])]);
        let mut judge = |first, second| plan.fill(0, sent([first, second]));
        assert_eq!(judge(None, None), (Verdict::New, None));
        assert_eq!(judge(Some(b"a"), Some(b"b")), (Verdict::Accepted, Some(&b"a"[..])));
        assert_eq!(judge(Some(b"a,b"), Some(b" b\t")), (Verdict::Accepted, Some(&b"b"[..])));
        assert_eq!(judge(Some(b"a,b"), None), (Verdict::Invalid, None));
        assert_eq!(fill_for_nobody(&mut plan), (Verdict::New, None));
    }

    #[test]
    fn a_trace_that_continues_keeps_its_state() {
        let mut plan = plan(&[("trace", &["traceparent"])]);
        plan.fill(0, sent([None, Some(TRACEPARENT)]));
        let [("traceparent", Some(value))] = changes(&plan)[..] else { panic!("{:?}", changes(&plan)) };
        assert!(value.as_bytes()[..36] == TRACEPARENT[..36] && value.as_bytes()[36..] != TRACEPARENT[36..], "{value}");
        let of_the_span = plan.traceparent().unwrap();
        assert_eq!(&plan.texts()[of_the_span], value.as_bytes());
    }

    #[test]
    fn nothing_of_an_untrusted_sender_goes_on() {
        let mut plan = plan(&[("trace", &["traceparent", "b3"])]);
        fill_for_nobody(&mut plan);
        let mut names: Vec<_> = changes(&plan).into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        let mut expected: Vec<_> = plan.names()[1..].iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_not_there_is_not_removed() {
        let mut plan = plan(&[("trace", &["b3"])]);
        plan.fill(0, sent([None; 6]));
        // It is not read, so it may be there.
        let removed: Vec<_> = changes(&plan).into_iter().filter(|(_, value)| value.is_none()).collect();
        assert_eq!(removed, [("b3", None)]);
    }

    /// The headers that a request has in the end, of those that the plan names.
    fn headers_of(options: &[(&str, &[&str])], came_in: &[(&str, &str)]) -> BTreeMap<String, String> {
        let mut plan = plan(options);
        let names = plan.names().to_vec();
        let sent =
            |place: usize| came_in.iter().find(|(name, _)| *name == names[place]).map(|(_, value)| value.as_bytes());
        plan.fill(0, Some(sent));
        let mut headers: BTreeMap<_, _> =
            came_in.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        for (name, value) in changes(&plan) {
            match value {
                Some(value) => _ = headers.insert(name.to_string(), value.to_string()),
                None => _ = headers.remove(name),
            }
        }
        headers
    }

    #[test]
    fn each_kind_says_whether_a_new_trace_is_recorded() {
        for (sample, flags, yes, state, rate) in
            [("100%", "-03", "1", Some("ot=th:0"), ",_dd.p.dm=-1,_dd.p.ksr=1"), ("0", "-02", "0", None, ",_dd.p.ksr=0")]
        {
            let headers = headers_of(&[("trace", &ALL), ("sample", &[sample])], &[]);
            assert_eq!(headers.get("tracestate").map(String::as_str), state);
            assert_eq!((&*headers["x-b3-sampled"], &*headers["x-datadog-sampling-priority"]), (yes, yes));
            for (name, end) in [
                ("traceparent", flags.to_string()),
                ("b3", format!("-{yes}")),
                ("x-amzn-trace-id", format!(";Sampled={yes}")),
                ("x-cloud-trace-context", format!(";o={yes}")),
                ("uber-trace-id", format!(":0:{yes}")),
                ("x-datadog-tags", rate.to_string()),
            ] {
                assert!(headers[name].ends_with(&end), "{sample}: {name}: {}", headers[name]);
            }
        }
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
    fn a_decision_that_came_in_stays() {
        const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        const SPAN: &str = "00f067aa0ba902b7";
        let traceparent = |flags: &str| format!("00-{ID}-{SPAN}-{flags}");
        let (yes, no) = (traceparent("03"), traceparent("02"));
        let (debug, b3) = (format!("{ID}-{SPAN}-d"), format!("{ID}-{SPAN}-0"));
        for (came_in, flag) in [
            (&[("traceparent", &*yes), ("tracestate", "a=b,ot=th:8;rv:0123456789abcd")][..], '3'),
            (&[("traceparent", &*no), ("tracestate", "ot=rv:0123456789abcd")], '2'),
            (&[("b3", &*debug)], '1'),
            (&[("b3", &*b3)], '0'),
            // Only a decision, about a trace that begins here.
            (&[("b3", "d")], '3'),
            (&[("b3", "1")], '3'),
            (&[("b3", "0")], '2'),
            (&[("x-datadog-trace-id", "17"), ("x-datadog-sampling-priority", "2")], '1'),
            (&[("x-datadog-trace-id", "17"), ("x-datadog-sampling-priority", "-1")], '0'),
            (&[("uber-trace-id", "a:b:0:3")], '1'),
        ] {
            for sample in ["0", "1%", "100%"] {
                let headers = headers_of(
                    &[("trace", &["traceparent", "b3_single", "datadog", "jaeger"]), ("sample", &[sample])],
                    came_in,
                );
                assert!(headers["traceparent"].ends_with(flag), "{sample}: {came_in:?}: {headers:?}");
                let state = came_in.iter().find(|(name, _)| *name == "tracestate").map(|(_, value)| *value);
                assert_eq!(headers.get("tracestate").map(String::as_str), state, "{came_in:?}");
                assert!(headers.get("x-datadog-tags").is_none_or(|tags| !tags.contains("ksr")), "{headers:?}");
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
