//! UUIDs.

use crate::caller::{bytes, place, written_if_read};
use crate::host::TXID_MAC_LEN;
use ::txid::uuid::{self, Uuid};
use std::ffi::c_char;

/// The length of a UUID.
pub const TXID_UUID_LEN: usize = 36;

const _: () = assert!(TXID_UUID_LEN == uuid::LEN);

/// The fields of a UUID.
#[repr(C)]
pub struct txid_uuid_parts {
    /// Milliseconds since 1970-01-01 UTC for versions 1, 6 and 7, otherwise INT64_MIN.
    pub ms: i64,
    /// 0 to 15.
    pub version: u8,
    /// 0 for NCS, 1 for RFC 9562, 2 for Microsoft, 3 for reserved ones.
    pub variant: u8,
}

/// Writes a new UUID of version 4, all random, to `buf`: TXID_UUID_LEN characters, no NUL.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v4(buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v4(), buf) }
}

/// Writes a new UUID of version 7, stamped with the low 48 bits of `ms`, to `buf`. If the thread's previous one has the
/// same stamp, this one is greater.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v7(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v7_at(ms), buf) }
}

/// Writes a new UUID of version 7 of this moment to `buf`, greater than the previous one of this thread. See
/// txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v7_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v7_by(clock_ms), buf) }
}

/// Writes a new UUID of version 1 of this moment to `buf`. See txid_fill_now for `clock_ms`. `node` points to
/// TXID_MAC_LEN bytes that no other thread or process may use, or is NULL for a random node.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes, `node` NULL or valid for reads of TXID_MAC_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v1_now(buf: *mut c_char, clock_ms: i64, node: *const u8) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let node = node.cast::<[u8; TXID_MAC_LEN]>().as_ref();
        write_uuid(uuid::v1_by(clock_ms, node.copied()), buf)
    }
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[inline(always)]
unsafe fn write_uuid(id: Uuid, buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    uuid::write(id, unsafe { place(buf) });
}

/// Reads the `len` characters at `text`, in upper or lower case, as a UUID. Returns 0, or a txid_error if it is not
/// one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_read(text: *const c_char, len: usize, parts: *mut txid_uuid_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(uuid::read_ascii(bytes(text, len)), |read| {
            let (version, variant) = (read.version, read.variant as u8);
            parts.write(txid_uuid_parts { ms: read.ms.unwrap_or(i64::MIN), version, variant });
        })
    }
}
