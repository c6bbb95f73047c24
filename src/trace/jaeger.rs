//! The `uber-trace-id` header of Jaeger's own clients.

use super::b3::Sampling;
use super::ids::{SpanId, TraceId};
use crate::text::{FormatError, read_from_text, show_as_text};

/// The contents of an `uber-trace-id` header.
///
/// ```
/// use txid::trace::{Sampling, UberTraceId};
///
/// // Clients leave out zeros in front, and some write `%3A` for a colon.
/// let header: UberTraceId = "3ce929d0e0e4736:f067aa0ba902b7:0:1".parse()?;
/// assert_eq!(header.trace_id.to_string(), "000000000000000003ce929d0e0e4736");
/// assert_eq!((header.span_id.to_string().as_str(), header.sampled), ("00f067aa0ba902b7", Sampling::Accept));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UberTraceId {
    /// The trace.
    pub trace_id: TraceId,
    /// The span that sends the header.
    pub span_id: SpanId,
    /// Whether the trace is recorded. The header cannot leave this open.
    pub sampled: Sampling,
}

impl UberTraceId {
    /// The length of a header that is written.
    pub const LEN: usize = 53;

    /// The longest header that is read: with a parent and two digits of flags, and `%3A` for each colon.
    const LONGEST: usize = 32 + 16 + 16 + 2 + 3 * 3;

    /// The text, without allocating. Nobody reads the parent any more, so it is 0.
    ///
    /// ```
    /// use txid::trace::{Sampling, SpanId, TraceId, UberTraceId};
    ///
    /// let header = UberTraceId { trace_id: TraceId(255), span_id: SpanId(17), sampled: Sampling::Debug };
    /// assert_eq!(header.to_string(), "000000000000000000000000000000ff:0000000000000011:0:3");
    /// ```
    pub fn to_text(self) -> [u8; Self::LEN] {
        Self::text_of(&self.trace_id.to_text(), &self.span_id.to_text(), self.sampled)
    }

    /// As [`UberTraceId::to_text`], of ids that are texts already.
    pub(crate) fn text_of(trace_id: &[u8], span_id: &[u8], sampled: Sampling) -> [u8; Self::LEN] {
        let mut text = [b':'; Self::LEN];
        text[..32].copy_from_slice(trace_id);
        text[33..49].copy_from_slice(span_id);
        text[50] = b'0';
        text[52] = match sampled {
            Sampling::Deny => b'0',
            Sampling::Accept => b'1',
            Sampling::Debug => b'3',
        };
        text
    }

    /// Reads text from bytes: `TRACE:SPAN:PARENT:FLAGS`, up to 32, 16, 16 and 2 hexadecimal digits in either case. Of the flags,
    /// 1 is `sampled`, and 2 with it is `debug`.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        if text.len() > Self::LONGEST {
            return Err(FormatError::length(text.len(), "an uber-trace-id has 7 to 75"));
        }
        let mut decoded = [0; Self::LONGEST];
        let text = without_escapes(text, &mut decoded);
        let mut fields = text.split(|&byte| byte == b':');
        let (Some(trace_id), Some(span_id), Some(parent), Some(flags), None) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(FormatError::value("an uber-trace-id is TRACE:SPAN:PARENT:FLAGS"));
        };
        let id = |field: &[u8], most, wrong| digits(field, most).filter(|&id| id != 0).ok_or(FormatError::value(wrong));
        let trace_id = id(trace_id, 32, "the trace is not 1 to 32 hexadecimal digits, or zero")?;
        let span_id = id(span_id, 16, "the span is not 1 to 16 hexadecimal digits, or zero")?;
        digits(parent, 16).ok_or(FormatError::value("the parent is not 1 to 16 hexadecimal digits"))?;
        let sampled = match digits(flags, 2).ok_or(FormatError::value("the flags are not 1 or 2 hexadecimal digits"))? {
            flags if flags & 1 == 0 => Sampling::Deny,
            flags if flags & 2 == 0 => Sampling::Accept,
            _ => Sampling::Debug,
        };
        Ok(Self { trace_id: TraceId(trace_id), span_id: SpanId(span_id as u64), sampled })
    }
}

read_from_text!(UberTraceId);

show_as_text!(UberTraceId);

/// The text with a colon for each `%3A`.
fn without_escapes<'a>(text: &[u8], decoded: &'a mut [u8; UberTraceId::LONGEST]) -> &'a [u8] {
    let (mut len, mut rest) = (0, text);
    while let [first, more @ ..] = rest {
        (decoded[len], rest) = match rest {
            [b'%', b'3', b'A' | b'a', more @ ..] => (b':', more),
            _ => (*first, more),
        };
        len += 1;
    }
    &decoded[..len]
}

/// A number of 1 to `most` hexadecimal digits, in either case.
fn digits(field: &[u8], most: usize) -> Option<u128> {
    if !(1..=most).contains(&field.len()) {
        return None;
    }
    field.iter().try_fold(0, |number, &byte| Some(number << 4 | u128::from(char::from(byte).to_digit(16)?)))
}
