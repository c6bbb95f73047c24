//! The `traceparent` header of W3C Trace Context, level 2.

use super::ids::{SpanId, TraceId, put_ids};
use crate::make::trace_id::{otel_ids, span_id};
use crate::maker::{Made, Make, Maker};
use std::fmt;

pub(crate) const MAKE: Make = Make {
    takes_a_time: false,
    ..Make::of(|_| Ok(Maker::writing(|_, text| Ok(Made::in_place(text, |place| Traceparent::new(true).write(place))))))
};

pub(crate) const SAMPLED: u8 = 1;
pub(crate) const RANDOM: u8 = 2;

/// The contents of a `traceparent` header.
///
/// ```
/// use txid::trace::Traceparent;
///
/// let parent: Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse()?;
/// let child = parent.child();
/// assert_eq!(child.trace_id, parent.trace_id);
/// assert_ne!(child.span_id, parent.span_id);
/// assert!(child.sampled);
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traceparent {
    /// The trace.
    pub trace_id: TraceId,
    /// The span: the caller's in a header that came in, and this hop's in a header that goes out.
    pub span_id: SpanId,
    /// Whether the caller may have recorded the trace.
    pub sampled: bool,
    /// Whether the right-most seven bytes of the trace id are random.
    pub random: bool,
}

impl Traceparent {
    /// The length of the text.
    pub const LEN: usize = 55;

    /// The beginning of a new trace, with a random id.
    ///
    /// ```
    /// let text = txid::trace::Traceparent::new(true).to_string();
    /// assert!(text.starts_with("00-") && text.ends_with("-03"));
    /// ```
    pub fn new(sampled: bool) -> Self {
        let (trace_id, span_id) = otel_ids();
        Self { trace_id, span_id, sampled, random: true }
    }

    /// The trace with a new span.
    ///
    /// ```
    /// let parent = txid::trace::Traceparent::new(false);
    /// assert_eq!(parent.child().trace_id, parent.trace_id);
    /// ```
    pub fn child(&self) -> Self {
        Self { span_id: span_id(), ..*self }
    }

    /// The header's text, without allocating. Its version is always 00, and its flags are the two of level 2.
    ///
    /// ```
    /// use txid::trace::Traceparent;
    ///
    /// let later: Traceparent = "42-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-more".parse()?;
    /// assert_eq!(&later.to_text(), b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    #[inline]
    pub fn to_text(&self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut [u8; Self::LEN]) {
        *text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        put_ids(&mut text[3..], self.trace_id, self.span_id);
        text[54] += self.flags();
    }

    /// The flags as a number: 1 for sampled, 2 for a random trace id, or both.
    ///
    /// ```
    /// assert_eq!(txid::trace::Traceparent::new(true).flags(), 3);
    /// ```
    pub fn flags(&self) -> u8 {
        u8::from(self.sampled) * SAMPLED + u8::from(self.random) * RANDOM
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.to_text()).map_err(|_| fmt::Error)?)
    }
}
