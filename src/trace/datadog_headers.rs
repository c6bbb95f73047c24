//! The headers of Datadog's tracers, `X-Datadog-Trace-Id` and so on.

use super::b3::Sampling;
use super::ids::{SpanId, TraceId, span_id_of_hex};
use crate::text::{FormatError, decimal, trimmed};

/// What Datadog's headers say.
///
/// ```
/// use txid::trace::DatadogHeaders;
///
/// // The lower 64 bits of a trace are a decimal number, and the upper ones are among the tags.
/// let headers = DatadogHeaders::from_texts(
///     b"11803532876627986230",
///     Some(b"67667974448284343"),
///     Some(b"1"),
///     Some(b"_dd.p.dm=-1,_dd.p.tid=4bf92f3577b34da6"),
/// )?;
/// assert_eq!(headers.trace_id.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert_eq!(headers.parent_id.unwrap().to_string(), "00f067aa0ba902b7");
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatadogHeaders {
    /// The trace, from `X-Datadog-Trace-Id` and the tag `_dd.p.tid` of `X-Datadog-Tags`.
    pub trace_id: TraceId,
    /// The span that sends the headers, from `X-Datadog-Parent-Id`. A 0 there is none.
    pub parent_id: Option<SpanId>,
    /// `X-Datadog-Sampling-Priority`: -1 or 0 if the trace is not recorded, 1 if it is, 2 if somebody wants it. None leaves
    /// the decision to the receiver.
    pub priority: Option<i8>,
}

impl DatadogHeaders {
    /// Reads the values of the headers. A tag `_dd.p.tid` that is not 16 hexadecimal digits in lower case, or all zeros, does
    /// not count: the upper bits are zeros then.
    ///
    /// ```
    /// use txid::trace::DatadogHeaders;
    ///
    /// assert!(DatadogHeaders::from_texts(b"0", None, None, None).is_err());
    /// assert_eq!(DatadogHeaders::from_texts(b"17", None, Some(b"-1"), None)?.trace_id.0, 17);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_texts(
        trace_id: &[u8],
        parent_id: Option<&[u8]>,
        priority: Option<&[u8]>,
        tags: Option<&[u8]>,
    ) -> Result<Self, FormatError> {
        let low = match number(trace_id)? {
            0 => return Err(FormatError::value("a trace id must not be zero")),
            low => low,
        };
        let parent_id = parent_id.map_or(Ok(0), number)?;
        let priority = priority.map(read_priority).transpose()?;
        let high = tags.map_or(0, upper_half);
        Ok(Self {
            trace_id: TraceId(u128::from(high) << 64 | u128::from(low)),
            parent_id: (parent_id != 0).then_some(SpanId(parent_id)),
            priority,
        })
    }
}

/// What a priority says about recording. Datadog's tracers take a wish for `debug` as well, and write it so in B3.
pub(crate) fn sampling_of(priority: i8) -> Sampling {
    match priority {
        ..=0 => Sampling::Deny,
        1 => Sampling::Accept,
        2.. => Sampling::Debug,
    }
}

/// The priority that says the same.
pub(crate) fn priority_of(sampling: Sampling) -> i8 {
    match sampling {
        Sampling::Deny => 0,
        Sampling::Accept => 1,
        Sampling::Debug => 2,
    }
}

fn number(text: &[u8]) -> Result<u64, FormatError> {
    if text.len() > 20 {
        return Err(FormatError::length(text.len(), "an id of Datadog has 1 to 20"));
    }
    decimal::decode(text)
}

fn read_priority(text: &[u8]) -> Result<i8, FormatError> {
    let (digits, sign) = match text {
        [b'-', digits @ ..] => (digits, -1),
        [b'+', digits @ ..] => (digits, 1),
        digits => (digits, 1),
    };
    match decimal::decode(digits) {
        Ok(number @ 0..=99) => Ok(number as i8 * sign),
        _ => Err(FormatError::value("the priority is not a number of one or two digits")),
    }
}

/// The tag `_dd.p.tid` in a list such as `_dd.p.dm=-1,_dd.p.tid=4bf92f3577b34da6`; 0 if there is none.
fn upper_half(tags: &[u8]) -> u64 {
    let value = |tag| trimmed(tag).strip_prefix(b"_dd.p.tid=");
    tags.split(|&byte| byte == b',').find_map(value).and_then(span_id_of_hex).map_or(0, |id| id.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_has_one_or_two_digits_and_perhaps_a_sign() {
        let read = |text: &str| read_priority(text.as_bytes()).ok();
        assert_eq!(["0", "+1", "-1", "02", "99", "-99"].map(read), [0, 1, -1, 2, 99, -99].map(Some));
        assert!(["", "+", "-", "+-1", "100", "1.0"].into_iter().all(|text| read(text).is_none()));
    }
}
