//! SOFATracer's ids.

use crate::caller::{bytes, place, written_if_read};
use ::txid::trace::Sofa;
use std::ffi::c_char;

/// The length of the longest SOFATracer id.
pub const TXID_SOFA_MAX_LEN: usize = 35;

const _: () = assert!(TXID_SOFA_MAX_LEN == Sofa::MAX_LEN);

/// The fields of a SOFATracer id.
#[repr(C)]
pub struct txid_sofa_parts {
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// The host's address, most significant byte first.
    pub ipv4: u32,
    /// 1000 to 9000.
    pub sequence: u32,
    /// The process.
    pub pid: u32,
}

/// Writes a new SOFATracer id of this moment to `buf`, with an address `ipv4` of txid_host_ipv4, and returns its
/// length. See txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SOFA_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_sofa_now(buf: *mut c_char, clock_ms: i64, ipv4: u32) -> usize {
    let id = Sofa::new_by(clock_ms, ipv4.into());
    // SAFETY: the caller's promise is the same.
    id.write(unsafe { place(buf) })
}

/// Reads the `len` characters at `text` as a SOFATracer id. Returns 0, or a txid_error if it is not one; then nothing
/// is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_sofa_read(text: *const c_char, len: usize, parts: *mut txid_sofa_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(Sofa::from_text(bytes(text, len)), |id| {
            let (ipv4, sequence) = (id.address.to_bits(), u32::from(id.sequence));
            parts.write(txid_sofa_parts { ms: id.ms as i64, ipv4, sequence, pid: id.pid });
        })
    }
}
