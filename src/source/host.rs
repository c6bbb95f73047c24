//! The host's own address.
//!
//! The first that there is of:
//!
//! 1. the address that packets to the rest of the world are sent from;
//! 2. the address that packets to a private network are sent from;
//! 3. a private address of an interface that is no bridge;
//! 4. any other address of such an interface, unless it is link-local.
//!
//! A list of all interfaces alone would not do: `docker0` has the same private address on every host, so two hosts would
//! pass for one.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::OnceLock;

/// Addresses that are only used in documentation (RFC 5737, RFC 3849), so that no route but the default one leads there.
const WORLD: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];
const PRIVATE_NETWORKS: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(10, 255, 255, 254)),
    IpAddr::V4(Ipv4Addr::new(172, 31, 255, 254)),
    IpAddr::V4(Ipv4Addr::new(192, 168, 255, 254)),
];

/// The host's IPv4 address: that of its route to the world; without one, a private address of an interface that is no
/// bridge, or else any other but a link-local one. It is looked up once in a process.
///
/// ```
/// if let Some(address) = txid::host_ipv4() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv4() -> Option<Ipv4Addr> {
    static ADDRESS: OnceLock<Ipv4Addr> = OnceLock::new();
    found_once(&ADDRESS, || candidates().find_map(v4))
}

/// The first of the host's IPv4 addresses that is private.
pub(crate) fn private_ipv4() -> Option<Ipv4Addr> {
    candidates().filter_map(v4).find(Ipv4Addr::is_private)
}

/// The host's IPv6 address, found in the same way.
///
/// ```
/// if let Some(address) = txid::host_ipv6() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv6() -> Option<Ipv6Addr> {
    static ADDRESS: OnceLock<Ipv6Addr> = OnceLock::new();
    found_once(&ADDRESS, || candidates().find_map(|address| if let IpAddr::V6(v6) = address { Some(v6) } else { None }))
}

fn v4(address: IpAddr) -> Option<Ipv4Addr> {
    if let IpAddr::V4(v4) = address { Some(v4) } else { None }
}

/// Only what is found is kept: a host that has no address yet may have one later.
fn found_once<T: Copy>(kept: &OnceLock<T>, find: impl FnOnce() -> Option<T>) -> Option<T> {
    kept.get().copied().or_else(|| find().map(|found| *kept.get_or_init(|| found)))
}

/// The host's addresses, the best first.
fn candidates() -> impl Iterator<Item = IpAddr> {
    let routed = WORLD.into_iter().chain(PRIVATE_NETWORKS).filter_map(source_towards);
    routed.chain(std::iter::once_with(of_interfaces).flatten())
}

/// The address that packets to this one are sent from. Connecting a UDP socket asks the routing table and sends nothing.
fn source_towards(far: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if far.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
}

/// The addresses of interfaces that are no bridges, the private ones first.
fn of_interfaces() -> impl Iterator<Item = IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default().into_iter();
    let (private, others): (Vec<_>, Vec<_>) = interfaces
        .filter(|interface| !interface.is_loopback() && !interface.is_link_local() && !is_bridge(&interface.name))
        .map(|interface| interface.ip())
        .partition(|&address| v4(address).is_some_and(|v4| v4.is_private()));
    private.into_iter().chain(others)
}

/// Linux shows a bridge so; elsewhere none is known.
fn is_bridge(interface: &str) -> bool {
    fs::exists(format!("/sys/class/net/{interface}/bridge")).unwrap_or_default()
}
