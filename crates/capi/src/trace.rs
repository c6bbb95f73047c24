//! Trace ids that sort by time, and random trace and span ids.

use crate::caller::{self, bytes, written_if_read};
use ::txid::trace::{self, SpanId, TraceId};
use std::ffi::c_char;

/// The length of a trace id of any of the three kinds.
pub const TXID_TRACE_ID_LEN: usize = 32;

/// The length of a span id.
pub const TXID_SPAN_ID_LEN: usize = 16;

const _: () = assert!(TXID_TRACE_ID_LEN == TraceId::LEN && TXID_SPAN_ID_LEN == SpanId::LEN);

/// The fields of a trace id made by txid_trace_id or txid_trace_host_id.
#[repr(C)]
pub struct txid_trace_id_parts {
    /// Milliseconds since its epoch.
    pub ms: i64,
    /// Its number within its millisecond.
    pub sequence: u32,
    /// The word of txid_host_word, or random.
    pub host: u32,
    /// The last 32 bits.
    pub random: u32,
}

/// Writes a new trace id to `buf`, TXID_TRACE_ID_LEN characters, stamped with the low 41 bits of `ms - epoch_ms`. It
/// sorts by time, and directly after the thread's previous one if that has the same stamp.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id(buf: *mut c_char, ms: i64, epoch_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::id_at(ms, epoch_ms).to_text()) }
}

/// As txid_trace_id, for this moment; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id_now(buf: *mut c_char, clock_ms: i64, epoch_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::id_by(clock_ms, epoch_ms).to_text()) }
}

/// As txid_trace_id, but with the word `host` of txid_host_word.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_host_id(buf: *mut c_char, ms: i64, epoch_ms: i64, host: u32) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::host_id_at(ms, epoch_ms, host).to_text()) }
}

/// As txid_trace_host_id, for this moment; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_host_id_now(buf: *mut c_char, clock_ms: i64, epoch_ms: i64, host: u32) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::host_id_by(clock_ms, epoch_ms, host).to_text()) }
}

/// Writes a new random trace id, never all zeros, to `buf`: TXID_TRACE_ID_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_otel_trace_id(buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::otel_trace_id().to_text()) }
}

/// Writes a new random span id, never all zeros, to `buf`: TXID_SPAN_ID_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SPAN_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_id(buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, trace::span_id().to_text()) }
}

/// Reads the `len` characters at `text` as a trace id made by txid_trace_id or txid_trace_host_id. Returns 0, or a
/// txid_error if it is not a trace id; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id_read(text: *const c_char, len: usize, parts: *mut txid_trace_id_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(trace::read_id_ascii(bytes(text, len)), |read| {
            parts.write(txid_trace_id_parts {
                ms: read.ms as i64,
                sequence: read.sequence,
                host: (read.random >> 32) as u32,
                random: read.random as u32,
            });
        })
    }
}
