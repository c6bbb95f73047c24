//! The `traceparent` header of W3C Trace Context.

use crate::caller::{self, bytes, written_if_read};
use crate::trace::{TXID_SPAN_ID_LEN, TXID_TRACE_ID_LEN};
use ::txid::trace::Traceparent;
use std::ffi::c_char;

/// The length of a traceparent of version 00.
pub const TXID_TRACEPARENT_LEN: usize = 55;

const _: () = assert!(TXID_TRACEPARENT_LEN == Traceparent::LEN);

/// The fields of a traceparent.
#[repr(C)]
pub struct txid_traceparent_parts {
    /// 32 hex digits.
    pub trace_id: [c_char; TXID_TRACE_ID_LEN],
    /// 16 hex digits.
    pub span_id: [c_char; TXID_SPAN_ID_LEN],
    /// Whether the trace is recorded.
    pub sampled: bool,
    /// Whether the last 7 bytes of the trace id are random.
    pub random: bool,
}

/// Writes the traceparent of a new trace with a random id to `buf`: TXID_TRACEPARENT_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACEPARENT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_new(buf: *mut c_char, sampled: bool) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, Traceparent::new(sampled).to_text()) }
}

/// Writes a traceparent with a new span of the trace in the `len` characters at `text` to `buf`: TXID_TRACEPARENT_LEN
/// characters. Returns 0, or a txid_error if they are not a traceparent; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `buf` for writes of TXID_TRACEPARENT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_child(text: *const c_char, len: usize, buf: *mut c_char) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        written_if_read(Traceparent::from_text(bytes(text, len)), |parent| caller::write(buf, parent.child().to_text()))
    }
}

/// Reads the `len` characters at `text` as a traceparent of W3C Trace Context, level 2. Returns 0, or a txid_error if
/// it must be ignored; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_read(
    text: *const c_char,
    len: usize,
    parts: *mut txid_traceparent_parts,
) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(Traceparent::from_text(bytes(text, len)), |read| {
            parts.write(txid_traceparent_parts {
                trace_id: read.trace_id.to_text().map(|byte| byte as c_char),
                span_id: read.span_id.to_text().map(|byte| byte as c_char),
                sampled: read.sampled,
                random: read.random,
            });
        })
    }
}
