//! Zipkin's single b3 header.

use crate::caller::{bytes, written_if_read};
use crate::trace::{TXID_SPAN_ID_LEN, TXID_TRACE_ID_LEN};
use ::txid::trace::{B3, SpanId};
use std::ffi::c_char;

/// The length of the longest b3 header.
pub const TXID_B3_MAX_LEN: usize = 68;

const _: () = assert!(TXID_B3_MAX_LEN == B3::MAX_LEN);

/// The contents of a b3 header. Missing parts are NULs.
#[repr(C)]
pub struct txid_b3_parts {
    /// 32 hex digits, or 16 followed by NULs.
    pub trace_id: [c_char; TXID_TRACE_ID_LEN],
    /// 16 hex digits.
    pub span_id: [c_char; TXID_SPAN_ID_LEN],
    /// 16 hex digits.
    pub parent_span_id: [c_char; TXID_SPAN_ID_LEN],
    /// '0', '1' or 'd'.
    pub sampled: c_char,
}

/// Reads the `len` characters at `text` as a single b3 header. Returns 0, or a txid_error if it is not one; then
/// nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_b3_read(text: *const c_char, len: usize, parts: *mut txid_b3_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe { written_if_read(B3::from_text(bytes(text, len)), |b3| parts.write(parts_of(&b3))) }
}

fn parts_of(b3: &B3) -> txid_b3_parts {
    let mut parts = txid_b3_parts {
        trace_id: [0; TXID_TRACE_ID_LEN],
        span_id: [0; TXID_SPAN_ID_LEN],
        parent_span_id: [0; TXID_SPAN_ID_LEN],
        sampled: b3.sampled.map_or(0, |sampling| sampling.letter() as c_char),
    };
    let span = |id: SpanId| id.to_text().map(|byte| byte as c_char);
    if let Some(ids) = b3.ids {
        let digits = ids.trace_id.to_text();
        let digits = if ids.short { &digits[TXID_TRACE_ID_LEN / 2..] } else { &digits[..] };
        for (place, &digit) in parts.trace_id.iter_mut().zip(digits) {
            *place = digit as c_char;
        }
        parts.span_id = span(ids.span_id);
        if let Some(parent) = ids.parent_span_id {
            parts.parent_span_id = span(parent);
        }
    }
    parts
}
