//! The headers that a request's id and its span are in.

use super::policy::Policy;

macro_rules! fields {
    ($($field:ident $name:literal,)*) => {
        /// A header that a policy reads or sends.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Field {
            /// The header with the request's id.
            Id,
            /// The header that holds only the trace's id.
            TraceId,
            $(
                #[doc = $name]
                $field,
            )*
        }

        /// The headers of traces whose names are the same in each policy.
        const OF_TRACES: &[(Field, &str)] = &[$((Field::$field, $name)),*];
    };
}

// The only list of them. What no kind reads or sends is only taken from those who are not trusted.
fields! {
    Traceparent "traceparent",
    Tracestate "tracestate",
    B3 "b3",
    XB3TraceId "X-B3-TraceId",
    XB3SpanId "X-B3-SpanId",
    XB3ParentSpanId "X-B3-ParentSpanId",
    XB3Sampled "X-B3-Sampled",
    XB3Flags "X-B3-Flags",
    XAmznTraceId "X-Amzn-Trace-Id",
    XCloudTraceContext "X-Cloud-Trace-Context",
    UberTraceId "uber-trace-id",
    XDatadogTraceId "X-Datadog-Trace-Id",
    XDatadogParentId "X-Datadog-Parent-Id",
    XDatadogSamplingPriority "X-Datadog-Sampling-Priority",
    XDatadogOrigin "X-Datadog-Origin",
    XDatadogTags "X-Datadog-Tags",
    Sw8 "sw8",
    Sw8Correlation "sw8-correlation",
    Sw8X "sw8-x",
}

/// The names of one length, a bit for each: most other headers have another length.
static OF_LENGTH: [u32; 32] = {
    const { assert!(OF_TRACES.len() <= 32) };
    let (mut of_length, mut index) = ([0; 32], 0);
    while index < OF_TRACES.len() {
        of_length[OF_TRACES[index].1.len()] |= 1 << index;
        index += 1;
    }
    of_length
};

impl Field {
    /// How many there are.
    pub const COUNT: usize = 2 + OF_TRACES.len();

    /// Its place among the headers that a policy looks at.
    #[inline]
    pub const fn place(self) -> usize {
        match self as usize {
            0 => 0,
            at => Policy::MOST_HEADERS - 1 + at,
        }
    }

    /// The header at this place, which is not one with an id.
    pub(super) fn at(place: usize) -> Option<Self> {
        match place.checked_sub(Self::TraceId.place())? {
            0 => Some(Self::TraceId),
            at => OF_TRACES.get(at - 1).map(|(field, _)| *field),
        }
    }

    /// The header of traces of this name, in any case.
    #[inline]
    pub(super) fn of_traces(name: &[u8]) -> Option<Self> {
        let mut left = *OF_LENGTH.get(name.len())?;
        while left != 0 {
            let (field, known) = OF_TRACES[left.trailing_zeros() as usize];
            if is_same_of_one_length(name, known.as_bytes()) {
                return Some(field);
            }
            left &= left - 1;
        }
        None
    }

    /// The name of a header of traces; None for the two whose names the policy chooses.
    pub(super) fn name(self) -> Option<&'static str> {
        OF_TRACES.get((self as usize).checked_sub(2)?).map(|(_, name)| *name)
    }

    /// The names of the headers of traces, each with its place among all fields.
    pub fn names() -> impl Iterator<Item = (usize, &'static str)> {
        OF_TRACES.iter().map(|(field, name)| (*field as usize, *name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_are_the_same_in_any_case() {
        assert!(is_same(b"X-Id", "x-id") && is_same(b"x-id", "X-ID"));
        assert!(["X-Ie", "X-Idd", "X-I", ""].into_iter().all(|other| !is_same(b"X-Id", other)));
    }

    #[test]
    fn each_header_of_traces_has_its_place_among_all_fields() {
        assert_eq!(Field::names().count(), OF_TRACES.len());
        assert!(Field::names().all(|(place, name)| Field::of_traces(name.as_bytes()).unwrap() as usize == place));
    }

    #[test]
    fn a_header_of_traces_is_found_by_its_name_in_any_case_and_by_no_other() {
        for &(field, name) in OF_TRACES {
            assert_eq!(field.name(), Some(name));
            for name in [name.to_string(), name.to_uppercase(), name.to_lowercase()] {
                assert_eq!(Field::of_traces(name.as_bytes()), Some(field), "{name}");
            }
            let (shorter, longer, other) = (&name[1..], format!("{name}x"), "x".repeat(name.len()));
            for name in [shorter, &longer, &other] {
                assert_eq!(Field::of_traces(name.as_bytes()), None, "{name}");
            }
        }
        for len in (0..200).chain([1 << 16]) {
            assert_eq!(Field::of_traces("x".repeat(len).as_bytes()), None, "{len}");
        }
        assert_eq!([Field::Id, Field::TraceId].map(Field::name), [None, None]);
    }
}
