//! What only a server with its own configuration asks of a policy: nginx, whose directives are inherited.

use crate::caller::{fail, txid_text, words};
use crate::error::txid_error;
use crate::policy::txid_policy;
use ::txid::request::check_header_name;
use std::ffi::c_char;

/// Takes from `parent` the options that are not set in `policy`.
///
/// # Safety
///
/// Both must be from txid_policy_open, and `policy` not in use by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_inherit(policy: *mut txid_policy, parent: *const txid_policy) {
    // SAFETY: the caller vouches for both.
    unsafe { (*policy).0.inherit(&(*parent).0) }
}

/// Whether the policy accepts nobody's ids, so that no header needs to be read.
///
/// # Safety
///
/// `policy` must be from txid_policy_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_trusts_nobody(policy: *const txid_policy) -> bool {
    // SAFETY: the caller vouches for it.
    unsafe { (*policy).0.trusts_nobody() }
}

/// Whether the policy rejects requests with an invalid id.
///
/// # Safety
///
/// `policy` must be from txid_policy_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_rejects(policy: *const txid_policy) -> bool {
    // SAFETY: the caller vouches for it.
    unsafe { (*policy).0.rejects() }
}

/// Whether the policy continues traces.
///
/// # Safety
///
/// `policy` must be from txid_policy_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_traces(policy: *const txid_policy) -> bool {
    // SAFETY: the caller vouches for it.
    unsafe { !(*policy).0.kinds().is_empty() }
}

/// Writes the name of the header with the id to `name`. It belongs to the policy.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and `name` valid for a write. The text is valid until the policy changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_header(policy: *const txid_policy, name: *mut txid_text) {
    // SAFETY: the caller vouches for both.
    unsafe { name.write(txid_text::of((*policy).0.header())) }
}

/// As txid_policy_header, for the header that holds only the trace's id; its length is 0 if there is none.
///
/// # Safety
///
/// As for txid_policy_header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_trace_id_header(policy: *const txid_policy, name: *mut txid_text) {
    // SAFETY: the caller vouches for both.
    unsafe { name.write(txid_text::of((*policy).0.trace_id_header().unwrap_or_default())) }
}

/// Whether the header whose name are the `len` characters at `name` can carry an id. Returns 0, or a txid_error; then
/// `message` says why not.
///
/// # Safety
///
/// `name` must be valid for reads of `len` bytes, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_check_header_name(name: *const c_char, len: usize, message: *mut c_char) -> i32 {
    // SAFETY: the caller's promise is the same.
    let name = unsafe { words(&txid_text { len, data: name }, 1) };
    match check_header_name(&name[0]) {
        Ok(()) => 0,
        // SAFETY: the caller's promise is the same.
        Err(error) => unsafe { fail(txid_error::Option, &error, message) },
    }
}
