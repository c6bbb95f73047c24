//! Flakes.

use crate::caller::{bytes, place, written_if_read};
use crate::host::TXID_MAC_LEN;
use ::txid::Flake;
use std::ffi::c_char;

/// The length of a flake.
pub const TXID_FLAKE_LEN: usize = 22;

const _: () = assert!(TXID_FLAKE_LEN == Flake::LEN);

/// The fields of a flake.
#[repr(C)]
pub struct txid_flake_parts {
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: u64,
    /// Its number among the flakes of its node.
    pub sequence: u32,
    /// The node that made it.
    pub node: [u8; TXID_MAC_LEN],
}

/// Writes a new flake stamped with exactly `ms` to `buf`: TXID_FLAKE_LEN characters. `node` points to TXID_MAC_LEN
/// bytes that no other thread or process may use, or is NULL for a random node. With a given node, the sequence wraps
/// after 65,536 flakes of the thread, whatever their stamps: make at most that many between two flakes with the same
/// stamp.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_FLAKE_LEN bytes, `node` NULL or valid for reads of TXID_MAC_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake(buf: *mut c_char, ms: i64, node: *const u8) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let node = node.cast::<[u8; TXID_MAC_LEN]>().as_ref();
        Flake::at(ms, node.copied()).write(place(buf))
    }
}

/// As txid_flake, for this moment; see txid_fill_now for `clock_ms`. After 65,536 flakes in a millisecond, the
/// following ones have the next millisecond.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_FLAKE_LEN bytes, `node` NULL or valid for reads of TXID_MAC_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake_now(buf: *mut c_char, clock_ms: i64, node: *const u8) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let node = node.cast::<[u8; TXID_MAC_LEN]>().as_ref();
        Flake::now_by(clock_ms, node.copied()).write(place(buf))
    }
}

/// Reads the `len` characters at `text` as a flake. Returns 0, or a txid_error if it is not one; then nothing is
/// written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `parts` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake_read(text: *const c_char, len: usize, parts: *mut txid_flake_parts) -> i32 {
    // SAFETY: the caller vouches for both.
    unsafe {
        written_if_read(Flake::from_text(bytes(text, len)), |flake| {
            let (ms, node) = (flake.timestamp_ms(), flake.node());
            parts.write(txid_flake_parts { ms, node, sequence: u32::from(flake.sequence()) });
        })
    }
}
