//! What identifies a host: its addresses.

use crate::caller::{bytes, written_if_read};
use crate::error::txid_error;
use std::ffi::c_char;
use std::net::IpAddr;

/// The size of a MAC address.
pub const TXID_MAC_LEN: usize = 6;

/// Reads the `len` characters at `text` as a MAC address, "02:42:ac:11:00:02", into the TXID_MAC_LEN bytes at `mac`.
/// Returns 0, or a txid_error if it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `mac` for writes of TXID_MAC_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_mac_read(text: *const c_char, len: usize, mac: *mut u8) -> i32 {
    // SAFETY: the caller vouches for both lengths, and a byte array needs no alignment.
    unsafe { written_if_read(::txid::read_mac(bytes(text, len)), |read| mac.cast::<[u8; TXID_MAC_LEN]>().write(read)) }
}

/// Writes the word that identifies a host to `host`: an IPv4 address, or the four words of an IPv6 address folded by
/// XOR. The address is the `len` characters at `text`, or the host's own if `len` is 0. Returns 0 or a txid_error; then
/// nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `host` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_host_word(text: *const c_char, len: usize, host: *mut u32) -> i32 {
    // SAFETY: the caller's promise is the same.
    let address = unsafe { address(text, len) }
        .or_else(|error| ::txid::host_ipv6().filter(|_| len == 0).map(IpAddr::V6).ok_or(error));
    match address {
        Ok(address) => {
            // SAFETY: the caller vouches for `host`.
            unsafe { host.write(::txid::trace::host_word(address)) };
            0
        }
        Err(error) => error as i32,
    }
}

/// Writes an IPv4 address to `ipv4`, most significant byte first: the `len` characters at `text`, or the host's own
/// address if `len` is 0. That is the address of its default route; without one, a private address of an interface that
/// is not a bridge, or else another one that is not link-local. Returns 0 or a txid_error; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `ipv4` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_host_ipv4(text: *const c_char, len: usize, ipv4: *mut u32) -> i32 {
    // SAFETY: the caller's promise is the same.
    match unsafe { address(text, len) } {
        Ok(IpAddr::V4(address)) => {
            // SAFETY: the caller vouches for `ipv4`.
            unsafe { ipv4.write(address.to_bits()) };
            0
        }
        Ok(IpAddr::V6(_)) => txid_error::Address as i32,
        Err(error) => error as i32,
    }
}

/// The address in a text, or the host's IPv4 address if the text is empty.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
unsafe fn address(text: *const c_char, len: usize) -> Result<IpAddr, txid_error> {
    if len == 0 {
        return ::txid::host_ipv4().map(IpAddr::V4).ok_or(txid_error::NoAddress);
    }
    // SAFETY: the caller's promise is the same.
    let text = std::str::from_utf8(unsafe { bytes(text, len) });
    text.ok().and_then(|text| text.parse().ok()).ok_or(txid_error::Address)
}
