//! The options of a policy: all that is said of each, once. Lua, nginx, Kong's schema and the entries of the pages are written
//! from it by `make headers`, and compared by a test of crates/capi.

use super::networks::Networks;
use super::policy::{Policy, PolicyError, header_names, header_or_off, kinds, once, pass, reject, sample, switch};
use super::trace_ids::TraceIds;

/// Sets an option to what its words say.
pub(super) type Read = fn(&mut Policy, &[&str]) -> Result<(), PolicyError>;

/// An option of a policy.
pub struct PolicyOption {
    /// Its name, which is the same in Lua, in nginx (after `txid_`) and here.
    pub name: &'static str,
    /// The values that it takes.
    pub takes: Takes,
    /// Its words, as nginx's pages write them.
    pub syntax: &'static str,
    /// The value that it has to have in Lua.
    pub in_lua: &'static str,
    /// The word that counts if it is not given.
    pub default: &'static str,
    /// What it is for.
    pub sentence: &'static str,
    /// The first release that has it.
    pub since: &'static str,
    /// Whether it is a directive of nginx's module.
    pub is_directive: bool,
    /// Whether Lua uses it, too, where nginx's module decides about ids and traces.
    pub is_of_lua: bool,
    /// Reads its words, if [`Policy::set`] does.
    pub(super) read: Option<Read>,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Takes {
    /// `on` or `off`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A text.
    Text,
    /// The name of a header, or `off`.
    NameOrOff,
    /// Names of headers.
    Names,
    /// Networks, `all` or `off`.
    Networks,
    /// A [`Ratio`](super::Ratio), the variable with one, or `off`.
    Ratio,
    /// Other words.
    Words,
}

/// A directive to begin with, which is off.
const DIRECTIVE: PolicyOption = PolicyOption {
    name: "",
    takes: Takes::Text,
    syntax: "",
    in_lua: "",
    default: "off",
    sentence: "",
    since: "2.0.0",
    is_directive: true,
    is_of_lua: false,
    read: None,
};

impl PolicyOption {
    /// All options.
    ///
    /// ```
    /// use txid::request::PolicyOption;
    ///
    /// let header = PolicyOption::ALL.iter().find(|option| option.name == "header").unwrap();
    /// assert_eq!((header.syntax, header.default), ("NAME...", "X-Request-Id"));
    /// ```
    pub const ALL: &[Self] = &[
        Self {
            name: "header",
            takes: Takes::Names,
            syntax: "NAME...",
            in_lua: "the name of a header or a list of names",
            default: Policy::DEFAULT_HEADER,
            sentence: "Up to 4 headers that may have an incoming id. The first valid one counts. The id is sent in the first header of the list.",
            is_of_lua: true,
            read: Some(|policy, words| once(&mut policy.headers, header_names(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "accept",
            takes: Takes::Networks,
            syntax: "off | all | NETWORK... | unix: | $variable",
            in_lua: "true, false, a list of networks or a function",
            sentence: "The trusted peers, whose ids and traces are propagated: none, all, or those in these networks.",
            read: Some(|policy, words| once(&mut policy.accept, Networks::parse(words.iter().copied())?)),
            ..DIRECTIVE
        },
        Self {
            name: "on_invalid",
            takes: Takes::OneOf(&["replace", "reject"]),
            syntax: "replace | reject",
            in_lua: r#""replace" or "reject""#,
            default: "replace",
            sentence: "What happens if a trusted peer sends an invalid id, or several: the request gets a new id, or the response is 400.",
            read: Some(|policy, words| once(&mut policy.reject, reject(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "valid",
            takes: Takes::Text,
            syntax: "PATTERN",
            in_lua: "a regular expression or a function",
            sentence: "Which ids are valid. By default, those of 1 to 128 characters of `A-Za-z0-9._~:/+=@-`.",
            is_directive: false,
            ..DIRECTIVE
        },
        Self {
            name: "format",
            takes: Takes::Text,
            syntax: "FORMAT | same_as_trace",
            in_lua: "the name of a format or a function",
            default: "txid",
            sentence: "The format of new ids; with `same_as_trace`, the id of a request is the id of its trace.",
            ..DIRECTIVE
        },
        Self {
            name: "trace",
            takes: Takes::Words,
            syntax: "off | KIND...",
            in_lua: r#""off", "traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger" or a list of these"#,
            sentence: "The kinds of trace headers to propagate, in order of precedence.",
            read: Some(|policy, words| once(&mut policy.kinds, kinds(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "trace_span",
            takes: Takes::OneOf(&["new", "pass"]),
            syntax: "new | pass",
            in_lua: r#""new" or "pass""#,
            default: "new",
            sentence: "Whether this hop adds a span, the parent of the next hop's, or passes on what trusted peers sent, and starts no trace.",
            read: Some(|policy, words| once(&mut policy.pass_spans, pass(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "trace_id_header",
            takes: Takes::NameOrOff,
            syntax: "NAME | off",
            in_lua: "the name of a header or false",
            sentence: "A header with only the trace id, such as `X-Trace-Id`.",
            read: Some(|policy, words| once(&mut policy.trace_id_header, header_or_off(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "trace_ids",
            takes: Takes::Words,
            syntax: "random | sorted_seconds | sorted [epoch=DAY]",
            in_lua: r#""random", "sorted_seconds", "sorted" or { "sorted", "epoch=DAY" }"#,
            default: "random",
            sentence: "The ids of new traces. A trace store finds [ids that sort](#trace-ids-that-sort) with fewer reads.",
            read: Some(|policy, words| once(&mut policy.trace_ids, TraceIds::parse(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "trace_random_flag",
            takes: Takes::Switch,
            syntax: "on | off",
            in_lua: "true or false",
            default: "on",
            sentence: "Whether a new `traceparent` has the random-trace-id flag (02) of W3C Trace Context, level 2.",
            read: Some(|policy, words| once(&mut policy.random_flag, switch(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "trace_pass_others",
            takes: Takes::Switch,
            syntax: "on | off",
            in_lua: "true or false",
            sentence: "Whether trace headers of other kinds than `trace` are propagated from untrusted peers. Those of `trace` never are.",
            read: Some(|policy, words| once(&mut policy.pass_others, switch(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "sample",
            takes: Takes::Ratio,
            syntax: "off | PERCENT% | 1/N | $variable",
            in_lua: r#""off", a ratio such as "1%" or "1/1000", or "$variable""#,
            sentence: "The sampling ratio of traces that start here.",
            read: Some(|policy, words| once(&mut policy.sample, sample(words)?)),
            ..DIRECTIVE
        },
        Self {
            name: "server_timing",
            takes: Takes::Switch,
            syntax: "on | off",
            in_lua: "true or false",
            sentence: "Whether `handle()` sends the trace to browsers, in a `Server-Timing` header.",
            is_directive: false,
            ..DIRECTIVE
        },
        Self {
            name: "response",
            takes: Takes::Switch,
            syntax: "on | off",
            in_lua: "true or false",
            default: "on",
            sentence: "Whether `handle()` sends the header in the response.",
            is_directive: false,
            is_of_lua: true,
            ..DIRECTIVE
        },
        Self {
            name: "upstream",
            takes: Takes::Switch,
            syntax: "on | off",
            in_lua: "true or false",
            default: "on",
            sentence: "Whether `handle()` sends the header in the request to the upstream.",
            is_directive: false,
            is_of_lua: true,
            ..DIRECTIVE
        },
    ];

    /// Whether [`Policy::set`] reads it; what is left is up to a face.
    pub fn is_of_policy(&self) -> bool {
        self.read.is_some()
    }
}

impl Policy {
    /// Sets the [option](PolicyOption) of this name to what these words say.
    ///
    /// ```
    /// let mut policy = txid::request::Policy::default();
    /// assert_eq!(
    ///     policy.set("trace", &["b4"]).unwrap_err().to_string(),
    ///     "\"b4\" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger"
    /// );
    /// ```
    pub fn set(&mut self, option: &str, words: &[&str]) -> Result<(), PolicyError> {
        match OWN.iter().find(|(name, _)| *name == option) {
            Some((name, read)) => {
                read(self, words)?;
                self.own.push(name);
                Ok(())
            }
            None => {
                let known = OWN.iter().map(|(name, _)| *name).collect();
                Err(PolicyError::NoOption { name: option.to_string(), known })
            }
        }
    }
}

/// The options that a policy reads itself. Apart, so that the rest of the table is not in a program that does not show it.
const OWN: [(&str, Read); 10] = {
    let mut own: [(_, Read); 10] = [("", |_, _| Ok(())); 10];
    let (mut at, mut count) = (0, 0);
    while at < PolicyOption::ALL.len() {
        if let Some(read) = PolicyOption::ALL[at].read {
            own[count] = (PolicyOption::ALL[at].name, read);
            count += 1;
        }
        at += 1;
    }
    assert!(count == own.len());
    own
};
