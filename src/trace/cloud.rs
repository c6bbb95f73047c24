//! The `X-Cloud-Trace-Context` header of Google Cloud's load balancers.

use super::ids::{SpanId, TraceId, trace_id_of_any_hex};
use crate::text::{FormatError, decimal, show_as_text, trimmed};

/// The contents of an `X-Cloud-Trace-Context` header.
///
/// ```
/// use txid::trace::CloudTraceContext;
///
/// let header = CloudTraceContext::from_text(b"105445aa7843bc8bf206b12000100000/74;o=1")?;
/// assert_eq!((header.parent_id.unwrap().0, header.sampled), (74, Some(true)));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudTraceContext {
    /// The trace.
    pub trace_id: TraceId,
    /// The span that sends the header. A 0 there is none.
    pub parent_id: Option<SpanId>,
    /// Whether the trace is recorded. None leaves the decision to the receiver.
    pub sampled: Option<bool>,
}

impl CloudTraceContext {
    /// The length of the longest header.
    pub const MAX_LEN: usize = 57;

    /// Writes the text to the beginning of `text`, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::trace::{CloudTraceContext, SpanId, TraceId};
    ///
    /// let header = CloudTraceContext { trace_id: TraceId(255), parent_id: Some(SpanId(17)), sampled: Some(false) };
    /// assert_eq!(header.to_string(), "000000000000000000000000000000ff/17;o=0");
    /// ```
    pub fn write(&self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        Self::write_text(&self.trace_id.to_text(), self.parent_id, self.sampled, text)
    }

    /// As [`CloudTraceContext::write`], of a trace's id that is a text already.
    pub(crate) fn write_text(
        trace_id: &[u8],
        parent_id: Option<SpanId>,
        sampled: Option<bool>,
        text: &mut [u8; Self::MAX_LEN],
    ) -> usize {
        text[..32].copy_from_slice(trace_id);
        text[32] = b'/';
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(parent_id.map_or(0, |id| id.0)).as_bytes();
        let mut len = 33 + digits.len();
        text[33..len].copy_from_slice(digits);
        if let Some(sampled) = sampled {
            text[len..len + 4].copy_from_slice(if sampled { b";o=1" } else { b";o=0" });
            len += 4;
        }
        len
    }

    /// Reads text from bytes: 32 hexadecimal digits in either case; perhaps `/` and the span in decimal; and perhaps options such
    /// as `;o=1`, in which the lowest bit of the number counts. Other options are skipped.
    ///
    /// ```
    /// use txid::trace::CloudTraceContext;
    ///
    /// let header = CloudTraceContext::from_text(b"105445AA7843BC8BF206B12000100000")?;
    /// assert_eq!((header.parent_id, header.sampled), (None, None));
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let (ids, options) = match text.iter().position(|&byte| byte == b';') {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, &text[..0]),
        };
        let Some((trace_id, rest)) = trimmed(ids).split_at_checked(TraceId::LEN) else {
            return Err(FormatError::length(text.len(), "this header has 32 or more"));
        };
        let trace_id = trace_id_of_any_hex(trace_id)
            .ok_or(FormatError::value("the trace is not 32 hexadecimal digits, or all zeros"))?;
        let span_id = match rest {
            [] => 0,
            [b'/', digits @ ..] if digits.len() <= 20 => decimal::decode(digits)?,
            _ => return Err(FormatError::value("what follows the trace is not / and 1 to 20 digits")),
        };
        let mut sampled = None;
        for option in options.split(|&byte| byte == b';').map(trimmed) {
            let Some(value) = option.strip_prefix(b"o=") else { continue };
            let options = decimal::decode(value).map_err(|_| FormatError::value("o is not a number"))?;
            if sampled.replace(options & 1 == 1).is_some() {
                return Err(FormatError::value("o must not be there twice"));
            }
        }
        Ok(Self { trace_id, parent_id: (span_id != 0).then_some(SpanId(span_id)), sampled })
    }
}

show_as_text!(CloudTraceContext, CloudTraceContext::MAX_LEN);
