//! The headers that a request's span is in.

/// How many headers an id may come in.
pub(super) const MOST_IDS: usize = 4;

macro_rules! fields {
    ($($field:ident $name:literal,)*) => {
        /// A header of a trace that a policy reads, sends or removes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Field {
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
    pub const COUNT: usize = 1 + OF_TRACES.len();

    /// Its place among the headers that a policy looks at: those with an id come first.
    #[inline]
    pub const fn place(self) -> usize {
        MOST_IDS + self as usize
    }

    /// The one at this place.
    pub fn at(place: usize) -> Option<Self> {
        match place.checked_sub(MOST_IDS)? {
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

    /// Its name; None if the policy chooses it.
    pub fn name(self) -> Option<&'static str> {
        OF_TRACES.get((self as usize).checked_sub(1)?).map(|(_, name)| *name)
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
    fn a_header_of_traces_is_found_by_its_name_in_any_case_and_by_no_other() {
        for &(field, name) in OF_TRACES {
            assert_eq!((field.name(), Field::at(field.place())), (Some(name), Some(field)));
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
        assert_eq!((Field::TraceId.name(), Field::at(MOST_IDS), Field::at(0)), (None, Some(Field::TraceId), None));
    }
}
