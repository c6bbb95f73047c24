//! The `X-Amzn-Trace-Id` header of AWS's load balancers and X-Ray.

use super::ids::{SpanId, TraceId, trace_id_of_any_hex};
use crate::text::{FormatError, show_as_text, trimmed};

/// The contents of an `X-Amzn-Trace-Id` header.
///
/// ```
/// use txid::trace::AmznTraceId;
///
/// // An Application Load Balancer sends the trace alone.
/// let header = AmznTraceId::from_text(b"Self=1-67891234-12456789abcdef012345678;Root=1-67891233-abcdef012345678912345678")?;
/// assert_eq!(header.trace_id.to_string(), "67891233abcdef012345678912345678");
/// assert_eq!((header.parent_id, header.sampled), (None, None));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmznTraceId {
    /// The trace: what `Root` has after its version.
    pub trace_id: TraceId,
    /// The span that sends the header.
    pub parent_id: Option<SpanId>,
    /// Whether the trace is recorded. None leaves the decision to the receiver.
    pub sampled: Option<bool>,
}

impl AmznTraceId {
    /// The length of the longest header that is written.
    pub const MAX_LEN: usize = 74;

    /// Writes the text to the beginning of `text`, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::trace::{AmznTraceId, SpanId, TraceId};
    ///
    /// let header = AmznTraceId { trace_id: TraceId(255), parent_id: Some(SpanId(1)), sampled: Some(true) };
    /// assert_eq!(header.to_string(), "Root=1-00000000-0000000000000000000000ff;Parent=0000000000000001;Sampled=1");
    /// ```
    pub fn write(&self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        let parent_id = self.parent_id.map(SpanId::to_text);
        Self::write_texts(&self.trace_id.to_text(), parent_id.as_ref().map(|id| &id[..]), self.sampled, text)
    }

    /// As [`AmznTraceId::write`], of ids that are texts already.
    pub(crate) fn write_texts(
        trace_id: &[u8],
        parent_id: Option<&[u8]>,
        sampled: Option<bool>,
        text: &mut [u8; Self::MAX_LEN],
    ) -> usize {
        *text = *b"Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0";
        text[7..15].copy_from_slice(&trace_id[..8]);
        text[16..40].copy_from_slice(&trace_id[8..]);
        let mut len = 40;
        if let Some(parent_id) = parent_id {
            text[48..64].copy_from_slice(parent_id);
            len = 64;
        }
        if let Some(sampled) = sampled {
            text.copy_within(64..74, len);
            len += 10;
            text[len - 1] = b'0' + u8::from(sampled);
        }
        len
    }

    /// Reads text from bytes: parts such as `Root=1-67891233-abcdef012345678912345678`, in any order, with `;` between
    /// them. Spaces and tabs are skipped, and so are unknown parts. `Root`, `Parent` and `Sampled` may be there once. A `Sampled` of
    /// another value than 0 and 1 leaves the decision open, as in AWS's own libraries.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let (mut trace_id, mut parent_id, mut sampled) = (None, None, None);
        for part in text.split(|&byte| byte == b';') {
            let Some(equals) = part.iter().position(|&byte| byte == b'=') else { continue };
            let value = trimmed(&part[equals + 1..]);
            let is_first = match trimmed(&part[..equals]) {
                b"Root" => trace_id.replace(read_root(value)?).is_none(),
                b"Parent" => parent_id.replace(read_parent(value)?).is_none(),
                b"Sampled" => sampled.replace(read_sampled(value)).is_none(),
                _ => true,
            };
            if !is_first {
                return Err(FormatError::value("Root, Parent and Sampled must not be there twice"));
            }
        }
        let trace_id = trace_id.ok_or(FormatError::value("there is no Root"))?;
        Ok(Self { trace_id, parent_id, sampled: sampled.flatten() })
    }
}

show_as_text!(AmznTraceId, AmznTraceId::MAX_LEN);

/// Reads `1-` and the id with a dash after its first 8 digits, in either case.
fn read_root(value: &[u8]) -> Result<TraceId, FormatError> {
    let id = match value {
        [b'1', b'-', first @ .., _] if first.len() == TraceId::LEN && first[8] == b'-' => {
            let mut id = [0; TraceId::LEN];
            id[..8].copy_from_slice(&value[2..10]);
            id[8..].copy_from_slice(&value[11..]);
            trace_id_of_any_hex(&id)
        }
        _ => None,
    };
    id.ok_or(FormatError::value("Root is not 1-, 8 hexadecimal digits, - and 24 more, or all zeros"))
}

fn read_parent(value: &[u8]) -> Result<SpanId, FormatError> {
    let id = if value.len() == SpanId::LEN { trace_id_of_any_hex(value) } else { None };
    let id = id.ok_or(FormatError::value("Parent is not 16 hexadecimal digits, or all zeros"))?;
    Ok(SpanId(id.0 as u64))
}

/// `?` asks the receiver to decide.
fn read_sampled(value: &[u8]) -> Option<bool> {
    match value {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}
