//! The host's own address.
//!
//! The first of these that exists: the one that packets to the world are sent from, or to a private network; a private
//! one of an interface that is not a bridge (`docker0` has the same on every host); any other one that is not link-local.

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Addresses for documentation only (RFC 5737, RFC 3849), so that only the default route leads there. Then one address
/// in each private network.
const FAR_AWAY: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 255, 255, 254)),
    IpAddr::V4(Ipv4Addr::new(172, 31, 255, 254)),
    IpAddr::V4(Ipv4Addr::new(192, 168, 255, 254)),
];

/// The host's IPv4 address: that of its default route; without one, a private address of an interface that is not a
/// bridge, or else any other that is not link-local. It is looked up once in a process.
///
/// ```
/// if let Some(address) = txid::system::host_ipv4() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv4() -> Option<Ipv4Addr> {
    static ADDRESS: Found<Ipv4Addr> = Found::nothing();
    ADDRESS.or_find(|| candidates().into_iter().find_map(v4))
}

/// The first private address among the host's IPv4 addresses.
pub(crate) fn private_ipv4() -> Option<Ipv4Addr> {
    candidates().into_iter().filter_map(v4).find(Ipv4Addr::is_private)
}

/// The host's IPv6 address, found in the same way.
///
/// ```
/// if let Some(address) = txid::system::host_ipv6() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv6() -> Option<Ipv6Addr> {
    static ADDRESS: Found<Ipv6Addr> = Found::nothing();
    ADDRESS.or_find(|| {
        candidates().into_iter().find_map(|address| if let IpAddr::V6(v6) = address { Some(v6) } else { None })
    })
}

fn v4(address: IpAddr) -> Option<Ipv4Addr> {
    if let IpAddr::V4(v4) = address { Some(v4) } else { None }
}

/// What was found first. Without a lock, which a child that is forked meanwhile would wait for. Null if nothing was found
/// yet: a host without an address may get one later.
struct Found<T>(AtomicPtr<T>);

impl<T: Copy> Found<T> {
    const fn nothing() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn or_find(&self, find: impl FnOnce() -> Option<T>) -> Option<T> {
        // SAFETY: it is null or was leaked, and never changes.
        if let Some(&found) = unsafe { self.0.load(Ordering::Acquire).as_ref() } {
            return Some(found);
        }
        let found = Box::into_raw(Box::new(find()?));
        match self.0.compare_exchange(ptr::null_mut(), found, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as above.
            Ok(_) => Some(unsafe { *found }),
            Err(first) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(found) });
                // SAFETY: as above, and it is not null.
                Some(unsafe { *first })
            }
        }
    }
}

/// The host's addresses, the best first.
fn candidates() -> Vec<IpAddr> {
    let mut addresses: Vec<_> = FAR_AWAY.into_iter().filter_map(source_towards).collect();
    let own = of_interfaces();
    let is_private = |address: &IpAddr| matches!(address, IpAddr::V4(v4) if v4.is_private());
    addresses.extend(own.iter().copied().filter(is_private));
    addresses.extend(own);
    addresses
}

/// The address that packets to `far` are sent from. Connecting a UDP socket asks the routing table and sends nothing.
/// (With rustix: the standard library's UdpSocket adds more to the size of libtxid.so.)
fn source_towards(far: IpAddr) -> Option<IpAddr> {
    let family = if far.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    rustix::net::connect(&socket, &SocketAddr::new(far, 9)).ok()?;
    let source = SocketAddr::try_from(rustix::net::getsockname(&socket).ok()?).ok()?.ip();
    Some(source).filter(|address| !address.is_loopback())
}

/// The addresses of all interfaces that are not bridges.
fn of_interfaces() -> Vec<IpAddr> {
    let (mut list, mut addresses) = (ptr::null_mut(), Vec::new());
    // SAFETY: `list` is ours to write to.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return addresses;
    }
    let mut next = list;
    // SAFETY: each interface is valid until the list is freed, and the last one's `next` is null.
    while let Some(interface) = unsafe { next.as_ref() } {
        next = interface.ifa_next;
        // SAFETY: the name ends with a NUL, and the address is null or has the size of its family.
        let (name, address) = unsafe { (CStr::from_ptr(interface.ifa_name), ip(interface.ifa_addr)) };
        addresses.extend(address.filter(|&address| is_for_others(address) && !is_bridge(name)));
    }
    // SAFETY: the list is not used after this.
    unsafe { libc::freeifaddrs(list) };
    addresses
}

/// # Safety
///
/// `address` must be null or point to a whole address of its family.
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller promises as much for all three.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                Some(Ipv4Addr::from(u32::from_be((*address.cast::<libc::sockaddr_in>()).sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => Some(Ipv6Addr::from((*address.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr).into()),
            _ => None,
        }
    }
}

fn is_for_others(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
    }
}

/// How Linux marks a bridge; other systems are not known to have a mark.
fn is_bridge(interface: &CStr) -> bool {
    let path = [b"/sys/class/net/", interface.to_bytes(), b"/bridge"].concat();
    rustix::fs::access(&path[..], rustix::fs::Access::EXISTS).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_only_mean_something_here_are_for_nobody_else() {
        for (address, expected) in [
            ("10.0.0.7", true),
            ("203.0.113.9", true),
            ("127.0.0.1", false),
            ("169.254.3.4", false),
            ("2001:db8::7", true),
            ("::1", false),
            ("fe80::7", false),
        ] {
            assert_eq!(is_for_others(address.parse().unwrap()), expected, "{address}");
        }
    }
}
