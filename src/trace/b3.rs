//! Zipkin's B3: the single `b3` header, and the contents of the `X-B3-` headers.

use super::ids::{SpanId, TraceId, put_ids};
use crate::make::trace_id::{otel_ids, span_id};
use crate::maker::{Made, Make, Maker};
use crate::text::show_as_text;

pub(crate) const MAKE: Make = Make {
    takes_a_time: false,
    beside_copies: None,
    ..Make::of(|_| {
        Ok(Maker::writing(|_, text| {
            let (trace_id, span_id) = otel_ids();
            Ok(Made::in_place(text, |place| {
                *place = *b"00000000000000000000000000000000-0000000000000000-1";
                put_ids(place, trace_id, span_id);
            }))
        }))
    })
};

/// The contents of a `b3` header.
///
/// ```
/// use txid::trace::{B3, Sampling};
///
/// let parent: B3 = "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90".parse()?;
/// let child = parent.child();
/// assert_eq!(child.sampled, Some(Sampling::Accept));
/// assert_eq!(child.ids.unwrap().parent_span_id, Some(parent.ids.unwrap().span_id));
/// # Ok::<(), txid::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct B3 {
    /// The trace and the spans. None if the header only says whether to sample.
    pub ids: Option<B3Ids>,
    /// Whether to sample. None leaves the decision to the receiver.
    pub sampled: Option<Sampling>,
}

/// The ids of a `b3` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct B3Ids {
    /// The trace.
    pub trace_id: TraceId,
    /// Whether the trace's id is written with 16 characters, the older form, instead of 32.
    pub short: bool,
    /// The span.
    pub span_id: SpanId,
    /// The span that called this one.
    pub parent_span_id: Option<SpanId>,
}

/// Whether a trace is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// No.
    Deny,
    /// Yes.
    Accept,
    /// Yes, regardless of other rules.
    Debug,
}

impl From<bool> for Sampling {
    /// What a header means that says only yes or no.
    #[inline]
    fn from(is_sampled: bool) -> Self {
        if is_sampled { Self::Accept } else { Self::Deny }
    }
}

impl Sampling {
    /// The character in a header.
    ///
    /// ```
    /// assert_eq!(txid::trace::Sampling::Debug.letter(), 'd');
    /// ```
    #[inline]
    pub fn letter(self) -> char {
        match self {
            Self::Deny => '0',
            Self::Accept => '1',
            Self::Debug => 'd',
        }
    }
}

impl B3 {
    /// The length of the longest header.
    pub const MAX_LEN: usize = 68;

    /// The beginning of a new trace, with a random id of 32 characters.
    ///
    /// ```
    /// let b3 = txid::trace::B3::new(Some(txid::trace::Sampling::Accept));
    /// assert_eq!(b3.to_string().len(), 51);
    /// ```
    pub fn new(sampled: Option<Sampling>) -> Self {
        let (trace_id, span_id) = otel_ids();
        let ids = B3Ids { trace_id, short: false, span_id, parent_span_id: None };
        Self { ids: Some(ids), sampled }
    }

    /// The trace with a new span, called from this one; a new trace if this header only says whether to sample.
    ///
    /// ```
    /// let b3: txid::trace::B3 = "0".parse()?;
    /// assert!(b3.child().to_string().ends_with("-0"));
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn child(&self) -> Self {
        match self.ids {
            None => Self::new(self.sampled),
            Some(ids) => {
                let ids = B3Ids { span_id: span_id(), parent_span_id: Some(ids.span_id), ..ids };
                Self { ids: Some(ids), ..*self }
            }
        }
    }

    /// Writes the text to the beginning of `text`, without allocating, and returns its length.
    ///
    /// ```
    /// use txid::trace::B3;
    ///
    /// let mut text = [0; B3::MAX_LEN];
    /// assert_eq!(B3::new(None).write(&mut text), 49);
    /// ```
    #[inline]
    pub fn write(&self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        let Some(ids) = self.ids else {
            text[0] = self.sampled.map_or(0, |sampled| sampled.letter() as u8);
            return usize::from(self.sampled.is_some());
        };
        let mut both = [b'-'; Self::IDS_LEN];
        both[..32].copy_from_slice(&ids.trace_id.to_text());
        both[33..].copy_from_slice(&ids.span_id.to_text());
        let len = Self::write_texts(&both, self.sampled, ids.parent_span_id.map(SpanId::to_text), text);
        if ids.short {
            text.copy_within(16..len, 0);
            return len - 16;
        }
        len
    }

    /// The length of the ids of the trace and the span, with a dash between them.
    pub(crate) const IDS_LEN: usize = 49;

    /// As [`B3::write`], of ids that are texts already.
    #[inline]
    pub(crate) fn write_texts(
        ids: &[u8; Self::IDS_LEN],
        sampled: Option<Sampling>,
        parent_span_id: Option<[u8; SpanId::LEN]>,
        text: &mut [u8; Self::MAX_LEN],
    ) -> usize {
        // Writing more than counts takes fewer instructions than choosing.
        *text = [b'-'; Self::MAX_LEN];
        text[..49].copy_from_slice(ids);
        text[50] = sampled.map_or(0, |sampled| sampled.letter() as u8);
        text[52..].copy_from_slice(&parent_span_id.unwrap_or_default());
        match (sampled, parent_span_id) {
            (None, _) => Self::IDS_LEN,
            (Some(_), None) => 51,
            (Some(_), Some(_)) => Self::MAX_LEN,
        }
    }
}

// The single header. It cannot hold a parent without a sampling decision, so the parent is left out then.
show_as_text!(B3, B3::MAX_LEN);
