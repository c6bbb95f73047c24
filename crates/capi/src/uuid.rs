//! UUIDs that C programs ask for by a function. A maker makes those of version 1.

use crate::caller::{bytes, place};
use crate::error::txid_error;
use ::txid::uuid::{self, Uuid};
use std::ffi::c_char;

/// The length of a UUID.
pub const TXID_UUID_LEN: usize = 36;

const _: () = assert!(TXID_UUID_LEN == uuid::LEN);

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
    unsafe { write_uuid(uuid::wrapping_v7_at(ms), buf) }
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

/// Writes the UUID of the name of `len` bytes at `name` to `buf`: the same each time. `version` is 3 (MD5) or 5 (SHA-1), and
/// the namespace a UUID, or dns, url, oid or x500. Returns 0, or a txid_error if the version or the namespace is none; then
/// nothing is written.
///
/// # Safety
///
/// `namespace_text` must be valid for reads of `namespace_len` bytes, `name` of `len` bytes, `buf` for writes of
/// TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_of_name(
    version: i32,
    namespace_text: *const c_char,
    namespace_len: usize,
    name: *const c_char,
    len: usize,
    buf: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for both.
    let (namespace, name) = unsafe { (bytes(namespace_text, namespace_len), bytes(name, len)) };
    let namespace = match uuid::namespace(namespace) {
        Ok(namespace) => namespace,
        Err(error) => return txid_error::from(error) as i32,
    };
    let id = match version {
        3 => uuid::v3(namespace, name),
        5 => uuid::v5(namespace, name),
        _ => return txid_error::Option as i32,
    };
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(id, buf) };
    0
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[inline(always)]
unsafe fn write_uuid(id: Uuid, buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    uuid::write(id, unsafe { place(buf) });
}
