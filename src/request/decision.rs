//! What is decided about a request: its id, its span, and what changes in its headers.

use super::field::Field;
use super::header::{Header, Verdict};
use super::outgoing::Outgoing;
use super::policy::Policy;
use super::span::Span;
use crate::text::trimmed;
use std::cell::Cell;

/// The headers of a request that a policy looks at. Each has its place: the names of the option `header` in their order, then those of
/// [`Field`]. A set of places has a bit for each.
///
/// ```
/// use txid::request::{Came, Policy, Verdict};
///
/// let mut policy = Policy::default();
/// policy.set("header", &["X-Request-Id", "CF-Ray"])?;
/// policy.set("accept", &["all"])?;
/// let came = Came { is_trusted: true, came: 0b11, repeated: 0, unread: 0, value: |place| [&b"7f 3a"[..], b"8c1f"][place] };
/// assert_eq!(came.id(|_, value| txid::request::is_valid_id(value)), (Verdict::Accepted, Some(1), &b"8c1f"[..]));
/// let mut changes = Vec::new();
/// let is_valid = |_, value: &[u8]| txid::request::is_valid_id(value);
/// came.changes(&policy, b"8c1f", None, is_valid, |name, value| changes.push((name.to_string(), value.map(<[u8]>::to_vec))));
/// assert_eq!(changes, [("X-Request-Id".to_string(), Some(b"8c1f".to_vec()))]);
/// # Ok::<(), txid::request::PolicyError>(())
/// ```
pub struct Came<V> {
    /// Whether the peer is trusted.
    pub is_trusted: bool,
    /// The headers that are there.
    pub came: u32,
    /// Those that are there more than once.
    pub repeated: u32,
    /// Those that may be there: the gateway did not look.
    pub unread: u32,
    /// The value of a header that is there once, as it came.
    pub value: V,
}

/// How many places there are.
pub const PLACES: usize = Policy::MOST_HEADERS - 1 + Field::COUNT;
const _: () = assert!(PLACES <= u32::BITS as usize);

/// The places of headers with an id.
const IDS: u32 = (1 << Policy::MOST_HEADERS) - 1;

/// The places of headers of traces whose names are the same in each policy.
const OF_TRACES: u32 = !IDS & !(1 << Field::TraceId.place());

impl<'a, V: Fn(usize) -> &'a [u8]> Came<V> {
    fn has(&self, places: u32, place: usize) -> bool {
        places >> place & 1 != 0
    }

    fn header(&self, place: usize) -> Header<'a> {
        match (self.has(self.came, place), self.has(self.repeated, place)) {
            (false, _) => Header::Absent,
            (true, false) => Header::One((self.value)(place)),
            (true, true) => Header::Several,
        }
    }

    /// The verdict on the ids; the place of the one that is kept, or of the first invalid one; and the id that is kept, or an empty text. The
    /// first one that `is_valid` counts.
    #[inline]
    pub fn id(&self, is_valid: impl Fn(usize, &[u8]) -> bool) -> (Verdict, Option<usize>, &'a [u8]) {
        let (mut left, mut invalid) = (self.came & IDS, None);
        if !self.is_trusted {
            left = 0;
        }
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            left &= left - 1;
            if !self.has(self.repeated, place) {
                let value = trimmed((self.value)(place));
                if is_valid(place, value) && !value.is_empty() {
                    return (Verdict::Accepted, Some(place), value);
                }
            }
            invalid = invalid.or(Some(place));
        }
        (if invalid.is_some() { Verdict::Invalid } else { Verdict::New }, invalid, b"")
    }

    /// The span of the request, which continues the trace that a trusted peer sent, or starts one.
    #[inline]
    pub fn span(&self, policy: &Policy, clock_ms: i64) -> Span {
        let continues = self.is_trusted && self.came & !IDS != 0;
        policy.span_of(continues, |field| self.header(field.place()), clock_ms)
    }

    /// Calls `put` with the name of each header that must change, and its new value. Without a value, the request must not have it. An
    /// empty `id` leaves out the header with the id.
    pub fn changes(
        &self,
        policy: &Policy,
        id: &[u8],
        span: Option<Outgoing<'_>>,
        is_valid: impl Fn(usize, &[u8]) -> bool,
        mut put: impl FnMut(&str, Option<&[u8]>),
    ) {
        let done = Cell::new(0);
        let mut put = |place: usize, value: Option<&[u8]>| {
            done.set(done.get() | 1 << place);
            let is_as_it_came = match (self.header(place), value) {
                (Header::Absent, None) => !self.has(self.unread, place),
                // A value that came with spaces around it goes on without them.
                (Header::One(old), Some(new)) => old == new,
                _ => false,
            };
            if !is_as_it_came {
                put(policy.name_at(place), value);
            }
        };
        if !id.is_empty() {
            put(0, Some(id));
        }
        for place in 1..=policy.other_headers().len() {
            let is_accepted = match self.header(place) {
                Header::One(value) => self.is_trusted && is_valid(place, trimmed(value)),
                _ => false,
            };
            if !is_accepted {
                put(place, None);
            }
        }
        if let Some(span) = span {
            span.each(policy, |field, value| put(field.place(), value));
        }
        if self.is_trusted || policy.kinds().is_empty() || policy.passes_others() {
            return;
        }
        let mut left = (self.came | self.unread) & OF_TRACES & !done.get();
        while left != 0 {
            put(left.trailing_zeros() as usize, None);
            left &= left - 1;
        }
    }
}
