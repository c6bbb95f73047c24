//! Which peers are trusted.

use crate::caller::{open, txid_header, txid_text, words};
use ::txid::request::{Networks, Peer, Verdict, is_header_name};
use std::ffi::{c_char, c_void};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of peers.
pub struct txid_networks(Networks);

/// The sender of a request.
#[repr(C)]
pub struct txid_peer {
    /// Its struct sockaddr, or NULL if only its text is known.
    pub sockaddr: *const c_void,
    /// Its address as nginx writes it.
    pub text: txid_text,
}

impl txid_peer {
    /// # Safety
    ///
    /// The address must be valid for reads of the size of its family, or the text for reads of its length.
    #[inline]
    unsafe fn read(&self) -> Peer {
        if self.sockaddr.is_null() {
            // SAFETY: the caller's promise is the same.
            return Peer::parse(unsafe { self.text.bytes() });
        }
        // SAFETY: the family says what the caller vouches for.
        unsafe {
            match i32::from((*self.sockaddr.cast::<libc::sockaddr>()).sa_family) {
                libc::AF_INET => {
                    let address = (*self.sockaddr.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                    IpAddr::V4(Ipv4Addr::from_bits(u32::from_be(address))).into()
                }
                libc::AF_INET6 => {
                    let address = (*self.sockaddr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                    IpAddr::V6(Ipv6Addr::from(address)).into()
                }
                libc::AF_UNIX => Peer::Unix,
                _ => Peer::Other,
            }
        }
    }
}

/// What to do with an id that may have come in with a request.
#[repr(C)]
pub enum txid_verdict {
    /// The request gets a new id.
    New,
    /// The request keeps the id that came in.
    Accepted,
    /// The peer may send an id, but this is not a valid one. The request gets a new id, or is rejected.
    Invalid,
}

/// Reads a list of `count` networks: addresses, networks such as 10.0.0.0/8, unix: and all; or off alone. Returns NULL
/// on error; then `message` says what is wrong.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_networks_open(
    list: *const txid_text,
    count: usize,
    message: *mut c_char,
) -> *mut txid_networks {
    // SAFETY: the caller vouches for the texts and the message.
    unsafe {
        let list = words(list, count);
        open(Networks::parse(list.iter().map(|text| &**text)).map(txid_networks), message)
    }
}

/// Releases networks.
///
/// # Safety
///
/// `networks` must be from txid_networks_open and must not be used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_networks_close(networks: *mut txid_networks) {
    // SAFETY: it was made by `open`, and the caller gives it up.
    drop(unsafe { Box::from_raw(networks) });
}

/// Whether the peer is in one of the networks.
///
/// # Safety
///
/// `networks` must be from txid_networks_open, and `peer` must be valid for a read, as must what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_networks_contain(networks: *const txid_networks, peer: *const txid_peer) -> bool {
    // SAFETY: the caller vouches for both.
    unsafe { (*networks).0.contain((*peer).read()) }
}

/// Decides about the id in `header`, which `peer` sent. `accept` are the networks whose ids are accepted. A repeated
/// header does not count.
///
/// # Safety
///
/// `accept` must be from txid_networks_open, and the others must be valid for a read, as must what they point to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_judge(
    accept: *const txid_networks,
    peer: *const txid_peer,
    header: *const txid_header,
) -> txid_verdict {
    // SAFETY: the caller vouches for all of them.
    match unsafe { Verdict::of(&(*accept).0, (*peer).read(), (*header).read()) } {
        Verdict::New => txid_verdict::New,
        Verdict::Accepted => txid_verdict::Accepted,
        Verdict::Invalid => txid_verdict::Invalid,
    }
}

/// Whether `name` is valid as the name of a header.
///
/// # Safety
///
/// `name` must be valid for a read, as must its text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_is_header_name(name: *const txid_text) -> bool {
    // SAFETY: the caller vouches for the text.
    unsafe { is_header_name((*name).bytes()) }
}
