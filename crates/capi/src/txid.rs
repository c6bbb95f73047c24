//! The 96-bit id: making it, reading it, the bounds of a millisecond, and its bytes.

use crate::caller::{self, written_if_read};
use crate::error::txid_error;
use ::txid::{FormatError, Txid};
use std::ffi::c_char;

/// The length of an id. Ids are not NUL-terminated.
pub const TXID_LEN: usize = 20;

/// The size of an id as bytes.
pub const TXID_BYTES_LEN: usize = 12;

const _: () = assert!(TXID_LEN == Txid::LEN);

/// Writes a new id stamped with exactly `ms` to `buf`: TXID_LEN characters, no NUL. Only the low 42 bits of `ms` count,
/// so -1 gives the last millisecond of the range, and 2^42 the first. Nobody can guess an id, or compute one from others.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, Txid::wrapping_at(ms).to_text()) }
}

/// Writes a new id of this moment to `buf`, as txid_fill does. `clock_ms` is the caller's reading of the wall clock, or
/// txid_clock_ms(). Within a thread, time never goes backwards: if the clock is at most ten seconds behind the last
/// time used, ids keep that time until the clock has caught up; if it is further behind, it is followed.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, Txid::now_by(clock_ms).to_text()) }
}

/// Whether this thread's ids are made without the operating system's randomness, because it failed to give any when
/// last asked. Such ids come from the clock, the process and its address space; the system is asked again in the next
/// second.
#[unsafe(no_mangle)]
pub extern "C" fn txid_entropy_degraded() -> bool {
    ::txid::entropy_degraded()
}

/// Writes the lowest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is lower.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_first(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, Txid::wrapping_bounds_of(ms)[0].to_text()) }
}

/// Writes the highest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is higher.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_last(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, Txid::wrapping_bounds_of(ms)[1].to_text()) }
}

/// Reads the `len` characters at `text`, in upper or lower case, as an id. If `len` is wrong, `text` is not read.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[inline]
pub(crate) unsafe fn read(text: *const c_char, len: usize) -> Result<Txid, FormatError> {
    if len != TXID_LEN {
        return Txid::from_text(&[]);
    }
    // SAFETY: the caller vouches for `len` bytes, which are TXID_LEN.
    Txid::from_text(unsafe { &*text.cast::<[u8; TXID_LEN]>() })
}

/// The millisecond since 1970-01-01 UTC of the id at `text`, in upper or lower case; or a txid_error if the `len`
/// characters are not an id.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_ms(text: *const c_char, len: usize) -> i64 {
    // SAFETY: the caller's promise is the same.
    match unsafe { read(text, len) } {
        Ok(id) => id.timestamp_ms(),
        Err(error) => txid_error::from(error) as i64,
    }
}

/// Writes the TXID_BYTES_LEN bytes of the id at `text`, in upper or lower case, to `bytes_out`. They sort as the text
/// does. Returns 0, or a txid_error if the `len` characters are not an id; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `bytes_out` for writes of TXID_BYTES_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_to_bytes(text: *const c_char, len: usize, bytes_out: *mut u8) -> i32 {
    // SAFETY: the caller vouches for both lengths, and a byte array needs no alignment.
    unsafe { written_if_read(read(text, len), |id| bytes_out.cast::<[u8; TXID_BYTES_LEN]>().write(id.into())) }
}

/// Writes the text of the id in the TXID_BYTES_LEN bytes at `bytes` to `buf`, as txid_fill does. Any bytes are an id.
///
/// # Safety
///
/// `bytes` must be valid for reads of TXID_BYTES_LEN bytes, `buf` for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_from_bytes(bytes: *const u8, buf: *mut c_char) {
    // SAFETY: the caller vouches for both lengths.
    unsafe {
        let id = Txid::from(bytes.cast::<[u8; TXID_BYTES_LEN]>().read());
        caller::write(buf, id.to_text());
    }
}
