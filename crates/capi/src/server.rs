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

/// What a policy says of every request.
#[repr(C)]
pub struct txid_terms {
    /// Whether it accepts nobody's ids, so that no header needs to be read.
    pub trusts_nobody: bool,
    /// Whether it rejects requests with an invalid id.
    pub rejects: bool,
    /// Whether it continues traces.
    pub traces: bool,
    /// Whether this hop has no span.
    pub passes_spans: bool,
}

/// Writes what the policy says of every request to `terms`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and `terms` valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_terms(policy: *const txid_policy, terms: *mut txid_terms) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let policy = &(*policy).0;
        terms.write(txid_terms {
            trusts_nobody: policy.trusts_nobody(),
            rejects: policy.rejects(),
            traces: !policy.kinds().is_empty(),
            passes_spans: policy.passes_spans(),
        });
    }
}

/// Whether the header whose name are the `len` characters at `name` can carry an id. Returns 0, or a txid_error; then
/// `message` says why not.
///
/// # Safety
///
/// `name` must be valid for reads of `len` bytes, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
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
