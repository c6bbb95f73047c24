//! What is decided about a request, in one call.

use crate::caller::{bytes, txid_text};
use crate::policy::{txid_field, txid_peer, txid_policy, txid_verdict};
use crate::span::txid_span;
use ::txid::request::{Came, Outgoing, PLACES, Policy, Ratio, is_valid_id};
use ::txid::trace::{AmznTraceId, B3, CloudTraceContext, SpanId, TraceId, Traceparent, UberTraceId};
use std::ffi::{c_char, c_void};
use std::ptr::null;

/// How many headers a policy looks at. Each has a place: the names of the option `header` in their order, that of trace_id_header at
/// TXID_IDS, and those of traces. A set of places has a bit for each.
pub const TXID_PLACES: usize = 24;
const _: () = assert!(TXID_PLACES == PLACES);

/// How many headers an id may come in.
pub const TXID_IDS: usize = 4;
const _: () = assert!(TXID_IDS == Policy::MOST_HEADERS);

/// What a gateway knows of a request. If all of it is zero, nothing came in, and the policy's options count.
#[repr(C)]
pub struct txid_request {
    /// Who sent it.
    pub peer: txid_peer,
    /// The share of traces that are recorded, as txid_share has it, in place of the policy's; or 0.
    pub share: i64,
    /// 1 if the peer is trusted, -1 if not, and 0 if the policy is to say.
    pub trust: i8,
    /// Whether each id that came once is valid, but those of `refused`.
    pub judges: bool,
    /// Places of ids that are not valid.
    pub refused: u32,
    /// The headers that came.
    pub came: u32,
    /// Those of them that came more than once.
    pub repeated: u32,
    /// Their values, with the spaces around them. Only those of headers that came once are read.
    pub values: [txid_text; TXID_PLACES],
}

/// The length of all values that change, but the id.
pub const TXID_CHANGED_TEXT_LEN: usize = 704;
const _: () = assert!(
    TXID_CHANGED_TEXT_LEN
        >= Traceparent::LEN
            + B3::MAX_LEN
            + 2 * TraceId::LEN
            + 2 * SpanId::LEN
            + 2
            + AmznTraceId::MAX_LEN
            + CloudTraceContext::MAX_LEN
            + UberTraceId::LEN
            + 4 * Outgoing::DATADOG_LEN
            + Outgoing::TRACESTATE_LEN
);

/// A header of a request that must change.
#[repr(C)]
pub struct txid_changed_header {
    /// Its name.
    pub name: txid_text,
    /// Its new value; `data` is NULL if the request must not have it.
    pub value: txid_text,
    /// Its place.
    pub place: usize,
}

/// The headers of a request that must change.
#[repr(C)]
pub struct txid_changed_headers {
    /// How many there are.
    pub count: usize,
    /// The length of `text`.
    pub text_len: usize,
    /// The headers; `count` of them are written.
    pub list: [txid_changed_header; TXID_PLACES],
    /// Their values, one after the other.
    pub text: [u8; TXID_CHANGED_TEXT_LEN],
}

/// What is decided about a request.
#[repr(C)]
pub struct txid_decision {
    /// The place of the id that is kept, or of the first invalid one; otherwise -1.
    pub about: i32,
    /// The id that is kept. If its length is 0, the caller makes one.
    pub id: txid_text,
    /// Room for the span, or the one that was decided before. NULL if the request has none.
    pub span: *mut txid_span,
    /// Room for the headers that must change.
    pub changes: *mut txid_changed_headers,
}

/// What is to be decided.
#[repr(C)]
pub enum txid_wants {
    /// Whether an id is kept: `about` and `id`.
    Id = 1,
    /// The span: what `span` points to.
    Span = 2,
    /// What `changes` points to, for the id and the span that were decided now or before. Without an id, the header for it is left out.
    Changes = 4,
}

/// Decides about a request what is in `wants`, a sum of txid_wants, and leaves the rest of `decision` as it is. Returns a txid_verdict on
/// the id, if that is decided. If several are wanted, `trust` of the request then says whether the peer is trusted. See txid_fill_now for
/// `clock_ms`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open; `request` and what it points to must be valid for reads, and `trust` for a write; `decision`
/// and the rooms in it for what is wanted for writes. It then points into itself, to the policy and to the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_decide(
    policy: *const txid_policy,
    clock_ms: i64,
    request: *mut txid_request,
    wants: u32,
    decision: *mut txid_decision,
) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match wants {
            ID => decide_id(policy, request, decision),
            SPAN if (*request).came == 0 => start_span(policy, clock_ms, request, decision),
            SPAN => decide_span(policy, clock_ms, request, decision),
            CHANGES => decide_changes(policy, request, decision),
            _ => decide_all(policy, clock_ms, request, wants, decision),
        }
    }
}

const ID: u32 = txid_wants::Id as u32;
const SPAN: u32 = txid_wants::Span as u32;
const CHANGES: u32 = txid_wants::Changes as u32;

/// # Safety
///
/// As for [`txid_decide`].
#[inline(never)]
unsafe fn decide_all(
    policy: *const txid_policy,
    clock_ms: i64,
    request: *mut txid_request,
    wants: u32,
    decision: *mut txid_decision,
) -> i32 {
    let mut verdict = txid_verdict::New as i32;
    // SAFETY: the caller's promise is the same.
    unsafe {
        // The peer's address is not read for each.
        if (*request).came != 0 {
            let _ = txid_request_trust(policy, request);
        }
        if wants & ID != 0 {
            verdict = decide_id(policy, request, decision);
        }
        if wants & SPAN != 0 {
            let _ = decide_span(policy, clock_ms, request, decision);
        }
        if wants & CHANGES != 0 {
            let _ = decide_changes(policy, request, decision);
        }
    }
    verdict
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(never)]
unsafe fn decide_id(policy: *const txid_policy, request: *const txid_request, decision: *mut txid_decision) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let (verdict, place, id) = came(policy, request).id(|place, value| is_valid(request, place, value));
        (*decision).about = place.map_or(-1, |place| place as i32);
        (*decision).id = txid_text { len: id.len(), data: id.as_ptr().cast() };
        txid_verdict::from(verdict) as i32
    }
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(never)]
unsafe fn decide_span(
    policy: *const txid_policy,
    clock_ms: i64,
    request: *const txid_request,
    decision: *const txid_decision,
) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let span = came(policy, request).span(&(*policy).0, clock_ms);
        let begins_here = span.begins_here;
        (*decision).span.write(txid_span::of(span, share(policy, request)));
        if (*policy).0.passes_spans() {
            (*(*decision).span).pass(begins_here);
        }
    }
    txid_verdict::New as i32
}

/// Decides where nothing came, which takes a quarter of the instructions.
///
/// # Safety
///
/// As for [`txid_decide`].
#[inline(never)]
unsafe fn start_span(
    policy: *const txid_policy,
    clock_ms: i64,
    request: *const txid_request,
    decision: *const txid_decision,
) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let span = (*policy).0.new_span(clock_ms);
        (*decision).span.write(txid_span::of(span, share(policy, request)));
        if (*policy).0.passes_spans() {
            (*(*decision).span).pass(true);
        }
    }
    txid_verdict::New as i32
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(always)]
unsafe fn share(policy: *const txid_policy, request: *const txid_request) -> Option<Ratio> {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match (*request).share {
            share @ 1.. => Ratio::of_threshold(share as u64 - 1),
            _ => (*policy).0.sample(),
        }
    }
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(never)]
unsafe fn decide_changes(
    policy: *const txid_policy,
    request: *const txid_request,
    decision: *const txid_decision,
) -> i32 {
    // SAFETY: the caller's promise is the same. A policy has each header once, and there is room for a change and a text of each.
    unsafe {
        let (id, changes) = ((*decision).id.bytes(), (*decision).changes);
        if (*decision).span.is_null() && !id.is_empty() {
            // Most requests bring none of the headers, or only that of the id that is kept.
            let first = (&raw const (*request).values).cast::<txid_text>();
            let count = match ((*request).came, (*request).repeated) {
                (0, _) => 1,
                (1, 0) if (*first).data == (*decision).id.data && (*first).len == id.len() => 0,
                _ => 2,
            };
            if count < 2 {
                let name = txid_text::of((*policy).0.header());
                let first = (&raw mut (*changes).list).cast::<txid_changed_header>();
                first.write(txid_changed_header { name, value: (*decision).id, place: 0 });
                ((*changes).count, (*changes).text_len) = (count, 0);
                return txid_verdict::New as i32;
            }
        }
        let span = (*decision).span.as_ref().map(txid_span::outgoing);
        let (mut count, mut used) = (0, 0);
        came(policy, request).changes(
            &(*policy).0,
            id,
            span,
            |place, value| is_valid(request, place, value),
            |place, value| {
                let value = match value {
                    None => txid_text { len: 0, data: null() },
                    // It is the caller's, and as long as it likes.
                    Some(value) if value.as_ptr() == id.as_ptr() => (*decision).id,
                    Some(value) => {
                        let place = (&raw mut (*changes).text).cast::<u8>().add(used);
                        place.copy_from_nonoverlapping(value.as_ptr(), value.len());
                        used += value.len();
                        txid_text { len: value.len(), data: place.cast() }
                    }
                };
                let list = (&raw mut (*changes).list).cast::<txid_changed_header>();
                list.add(count).write(txid_changed_header {
                    name: txid_text::of((*policy).0.name_at(place)),
                    value,
                    place,
                });
                count += 1;
            },
        );
        (*changes).count = count;
        (*changes).text_len = used;
    }
    txid_verdict::New as i32
}

/// Sets a header of a request, or removes it if `value` is NULL: lua-nginx-module's ngx_http_lua_ffi_req_set_header. Returns 0, or -5 for a
/// header that it does not set.
pub type txid_set_header = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        name: *const c_char,
        name_len: usize,
        value: *const c_char,
        value_len: usize,
        values: *const c_void,
        values_len: usize,
        replaces: i32,
        message: *mut *const c_char,
    ) -> i32,
>;

/// Changes these headers of a request by `set`. Returns false if one cannot be set.
///
/// # Safety
///
/// `changes` must be from txid_decide, and what it points to still be there; `request` must be one that `set` takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_change_headers(
    changes: *const txid_changed_headers,
    request: *mut c_void,
    set: txid_set_header,
) -> bool {
    const DECLINED: i32 = -5;
    let Some(set) = set else { return false };
    let mut message = null();
    // SAFETY: the caller vouches for all of them. The list is written as far as it counts.
    unsafe {
        let list = (&raw const (*changes).list).cast::<txid_changed_header>();
        (0..(*changes).count).all(|at| {
            let txid_changed_header { name, value, .. } = &*list.add(at);
            let done = set(request, name.data, name.len, value.data, value.len, null(), 0, 1, &mut message);
            done == 0 || done == DECLINED
        })
    }
}

/// What came in. Not by a reference to the request, because a gateway need not have written all values.
///
/// # Safety
///
/// As for [`txid_decide`].
#[inline(always)]
unsafe fn came<'a>(policy: *const txid_policy, request: *const txid_request) -> Came<impl Fn(usize) -> &'a [u8]> {
    // SAFETY: the caller's promise is the same. Only values that it has written are asked for.
    unsafe {
        let (came, repeated) = ((*request).came, (*request).repeated);
        Came {
            is_trusted: came != 0 && is_trusted(policy, request),
            came,
            repeated,
            value: move |place: usize| (*(&raw const (*request).values).cast::<txid_text>().add(place)).bytes(),
        }
    }
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(always)]
unsafe fn is_trusted(policy: *const txid_policy, request: *const txid_request) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match (*request).trust {
            0 => (*request).peer.is_trusted_by(&(*policy).0),
            trust => trust > 0,
        }
    }
}

/// # Safety
///
/// As for [`txid_decide`].
#[inline(always)]
unsafe fn is_valid(request: *const txid_request, place: usize, value: &[u8]) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match (*request).judges {
            false => is_valid_id(value),
            true => (*request).refused >> place & 1 == 0,
        }
    }
}

/// Finds the headers that the policy looks at among the `count` at `fields`, and writes them to `request`: what came, and the values.
///
/// # Safety
///
/// `policy` must be from txid_policy_open; `fields` valid for reads of `count` of them, as must be what they point to; `request` for
/// writes. It then points to the values of the fields.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_request_find(
    policy: *const txid_policy,
    fields: *const txid_field,
    count: usize,
    request: *mut txid_request,
) {
    let (mut came, mut repeated) = (0, 0);
    // SAFETY: the caller vouches for all of them.
    unsafe {
        let policy = &(*policy).0;
        let fields = if count == 0 { &[] } else { std::slice::from_raw_parts(fields, count) };
        for field in fields {
            if let Some(place) = policy.place_of(bytes(field.name, field.name_len as usize)) {
                let value = txid_text { len: field.value_len as usize, data: field.value };
                (&raw mut (*request).values).cast::<txid_text>().add(place).write(value);
                repeated |= came & 1 << place;
                came |= 1 << place;
            }
        }
        (*request).came = came;
        (*request).repeated = repeated;
    }
}

/// Whether the peer of the request is trusted: by its `trust`, and otherwise by the policy, and then `trust` says so.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and `request` valid for reads and a write, as must be its peer for reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_request_trust(policy: *const txid_policy, request: *mut txid_request) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let trusted = is_trusted(policy, request);
        (*request).trust = if trusted { 1 } else { -1 };
        trusted
    }
}

/// Writes the name of the header at this place to `name`, as it was chosen; its length is 0 if the policy looks at none there. The name
/// is valid until the policy changes.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and `name` valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_header(policy: *const txid_policy, place: usize, name: *mut txid_text) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let policy = &(*policy).0;
        name.write(txid_text::of(if policy.looks_at(place) { policy.name_at(place) } else { "" }));
    }
}

/// The share of traces that these words of the option `sample` say, for txid_request: more than 0; or 0 for "off", and -1 if they are
/// wrong.
///
/// # Safety
///
/// `sample` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_share(sample: *const c_char, len: usize) -> i64 {
    // SAFETY: the caller's promise is the same.
    match unsafe { bytes(sample, len) } {
        b"off" => 0,
        share => Ratio::parse(share).map_or(-1, |ratio| ratio.threshold() as i64 + 1),
    }
}
