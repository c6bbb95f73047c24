//! SkyWalking's ids.

use crate::caller::{bytes, place, written_if_read};
use crate::trace::TXID_TRACE_ID_LEN;
use ::txid::trace::{SkyWalking, TraceId};
use std::ffi::c_char;

/// The length of the longest SkyWalking id.
pub const TXID_SKYWALKING_MAX_LEN: usize = 64;

const _: () = assert!(TXID_SKYWALKING_MAX_LEN == SkyWalking::MAX_LEN);

/// The fields of a SkyWalking id.
#[repr(C)]
pub struct txid_skywalking_parts {
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// The thread that made it.
    pub thread: u32,
    /// 0 to 9999.
    pub sequence: u32,
    /// The process that made it, in hex.
    pub instance: [c_char; TXID_TRACE_ID_LEN],
}

/// Writes a new SkyWalking id of this moment to `buf`, and returns its length. See txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SKYWALKING_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_skywalking_now(buf: *mut c_char, clock_ms: i64) -> usize {
    let id = SkyWalking::new_by(clock_ms);
    // SAFETY: the caller's promise is the same.
    id.write(unsafe { place(buf) })
}

/// Reads the `len` characters at `text` as a SkyWalking id. Returns 0, or a txid_error if it is not one; then nothing
/// is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_skywalking_read(
    text: *const c_char,
    len: usize,
    parts: *mut txid_skywalking_parts,
) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(SkyWalking::from_text(bytes(text, len)), |id| {
            let instance = TraceId(id.instance).to_text().map(|byte| byte as c_char);
            parts.write(txid_skywalking_parts {
                ms: id.ms as i64,
                thread: id.thread,
                sequence: u32::from(id.sequence),
                instance,
            });
        })
    }
}
