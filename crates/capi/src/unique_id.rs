//! The UNIQUE_ID of Apache's mod_unique_id.

use crate::caller::{self, bytes, place, written_if_read};
use ::txid::{UniqueId, UniqueIdMaker};
use std::ffi::c_char;

/// The length of a UNIQUE_ID in the layout with the host's address.
pub const TXID_UNIQUE_ID_SHORT_LEN: usize = 24;

/// The length of a UNIQUE_ID in the layout of httpd 2.4.
pub const TXID_UNIQUE_ID_LONG_LEN: usize = 27;

/// The number of random bytes in a UNIQUE_ID of that layout.
pub const TXID_UNIQUE_ID_RANDOM_LEN: usize = 10;

const _: () = assert!(TXID_UNIQUE_ID_SHORT_LEN == UniqueId::SHORT_LEN && TXID_UNIQUE_ID_LONG_LEN == UniqueId::LONG_LEN);

/// The fields of a UNIQUE_ID.
#[repr(C)]
pub struct txid_unique_id_parts {
    /// When its second began, in milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// Its counter.
    pub counter: u32,
    /// The thread that made it.
    pub thread: u32,
    /// The host's address, in the layout that has it, most significant byte first.
    pub ipv4: u32,
    /// The process, in the layout with the host's address.
    pub pid: u32,
    /// The random number of the process, in the layout of httpd 2.4.
    pub random: [u8; TXID_UNIQUE_ID_RANDOM_LEN],
}

/// Writes a new UNIQUE_ID in the layout with the host's address to `buf`: TXID_UNIQUE_ID_SHORT_LEN characters, stamped
/// with the second of `ms`. `ipv4` is from txid_host_ipv4.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_SHORT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_short(buf: *mut c_char, ms: i64, ipv4: u32) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_short(buf, UniqueId::short_at(ms, ipv4.into())) }
}

/// As txid_unique_id_short, for this moment; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_SHORT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_short_now(buf: *mut c_char, clock_ms: i64, ipv4: u32) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_short(buf, UniqueId::short_by(clock_ms, ipv4.into())) }
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_SHORT_LEN bytes.
#[inline(always)]
unsafe fn write_short(buf: *mut c_char, id: UniqueId) {
    let mut text = [0; TXID_UNIQUE_ID_LONG_LEN];
    id.write(&mut text);
    let [short @ .., _, _, _] = text;
    // SAFETY: the caller's promise is the same.
    unsafe { caller::write(buf, short) }
}

/// Writes a new UNIQUE_ID in the layout of httpd 2.4 to `buf`: TXID_UNIQUE_ID_LONG_LEN characters, stamped with the
/// second of `ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_LONG_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_long(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    UniqueId::long_at(ms).write(unsafe { place(buf) });
}

/// As txid_unique_id_long, for this moment; see txid_fill_now for `clock_ms`.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_LONG_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_long_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller's promise is the same.
    UniqueId::long_by(clock_ms).write(unsafe { place(buf) });
}

/// Reads the `len` characters at `text` as a UNIQUE_ID, whose layout `len` determines. Fields of the other layout are
/// set to zero. Returns 0, or a txid_error if it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_read(text: *const c_char, len: usize, parts: *mut txid_unique_id_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(UniqueId::from_text(bytes(text, len)), |id| {
            let (ipv4, pid, random) = match id.maker {
                UniqueIdMaker::Short { address, pid } => (address.to_bits(), pid, [0; TXID_UNIQUE_ID_RANDOM_LEN]),
                UniqueIdMaker::Long { random } => (0, 0, random),
            };
            let (ms, counter, thread) = (i64::from(id.seconds) * 1000, u32::from(id.counter), id.thread);
            parts.write(txid_unique_id_parts { ms, counter, thread, ipv4, pid, random });
        })
    }
}
