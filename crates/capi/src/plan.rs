//! What a gateway changes in the headers of a request.

use crate::caller::{bytes, txid_text};
use crate::policy::{txid_policy, txid_verdict};
use ::txid::request::{Peer, Plan};
use std::ffi::c_char;
use std::ops::Range;
use std::ptr::null;

/// A header that a gateway must change in a request.
#[repr(C)]
pub struct txid_change {
    /// The place of its name in the names of the plan.
    pub place: usize,
    /// Its new value. `data` is NULL if the request must not have the header.
    pub value: txid_text,
}

/// What a gateway changes in a request. Only the library makes it, and may add fields to it.
#[repr(C)]
pub struct txid_plan {
    /// The names of all headers that are read or changed, in lower case: first the one with the id, then the others that an id may
    /// come in, and those that are only changed last.
    pub names: *const txid_text,
    /// How many there are.
    pub name_count: usize,
    /// How many of them are read, from the first on.
    pub read_count: usize,
    /// What must change in this request besides the header with the id.
    pub changes: *const txid_change,
    /// How many there are.
    pub change_count: usize,
    /// The id that came in, if the request keeps it; its length is 0 otherwise.
    pub id: txid_text,
    /// The span of the request, as a traceparent of version 00; its length is 0 if the policy has no traces.
    pub traceparent: txid_text,
}

/// Begins with what the caller sees.
#[repr(C)]
struct Whole {
    seen: txid_plan,
    plan: Plan,
    changes: Vec<txid_change>,
    /// `seen` points to them.
    _names: Vec<txid_text>,
}

const NONE: txid_text = txid_text { len: 0, data: null() };

/// Opens a plan for requests under this policy, which may change or be closed later. It is for one thread at a time. Release it with
/// txid_plan_close.
///
/// # Safety
///
/// `policy` must be from txid_policy_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_plan_open(policy: *const txid_policy) -> *mut txid_plan {
    // SAFETY: the caller vouches for the policy.
    let plan = Plan::new(unsafe { &(*policy).0 });
    // The texts do not move with the plan.
    let names: Vec<_> = plan.names().iter().map(|name| txid_text::of(name)).collect();
    let seen = txid_plan {
        names: names.as_ptr(),
        name_count: names.len(),
        read_count: plan.reads(),
        changes: null(),
        change_count: 0,
        id: NONE,
        traceparent: NONE,
    };
    Box::into_raw(Box::new(Whole { seen, plan, changes: Vec::new(), _names: names })).cast()
}

/// Releases a plan.
///
/// # Safety
///
/// `plan` must be from txid_plan_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_plan_close(plan: *mut txid_plan) {
    if !plan.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(plan.cast::<Whole>()) });
    }
}

/// Whether ids and traces of the sender with this address are accepted: an IP address, with or without a port, or the path of a Unix
/// socket, or unix: as nginx has it.
///
/// # Safety
///
/// `plan` must be from txid_plan_open, and `address` valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_plan_trusts(plan: *const txid_plan, address: *const c_char, len: usize) -> bool {
    // SAFETY: the caller vouches for both.
    unsafe { (*plan.cast::<Whole>()).plan.trusts(Peer::parse(bytes(address, len))) }
}

/// Plans a request. Returns a txid_verdict on the id that came in. The plan is valid until the next call.
///
/// `values` are those of the headers that are read, in the order of their names. `data` is NULL if the request does not have the
/// header. Several values of one are joined by commas. Give NULL if the sender is not trusted. See txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `plan` must be from txid_plan_open, and not in use by another thread; `values` NULL, or valid for reads of `read_count` texts, as must
/// be their bytes, for as long as the plan's id is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_plan_fill(plan: *mut txid_plan, clock_ms: i64, values: *const txid_text) -> i32 {
    // SAFETY: the caller vouches for the plan.
    let Whole { seen, plan, changes, .. } = unsafe { &mut *plan.cast::<Whole>() };
    // SAFETY: the caller vouches for the values. No others are asked for than those that are read.
    let value =
        |place| unsafe { Some(&*values.add(place)).filter(|value| !value.data.is_null()).map(|value| value.bytes()) };
    let (verdict, id) = plan.fill(clock_ms, (!values.is_null()).then_some(value));
    let text = |range: &Range<usize>| {
        let text = &plan.texts()[range.clone()];
        txid_text { len: text.len(), data: text.as_ptr().cast() }
    };
    changes.clear();
    changes.extend(plan.changes().iter().map(|change| {
        let value = change.value.as_ref().map_or(NONE, text);
        txid_change { place: change.place, value }
    }));
    seen.changes = changes.as_ptr();
    seen.change_count = changes.len();
    seen.id = id.map_or(NONE, |id| txid_text { len: id.len(), data: id.as_ptr().cast() });
    seen.traceparent = plan.traceparent().as_ref().map_or(NONE, text);
    txid_verdict::from(verdict) as i32
}
