//! The host's own address, looked up once in a process.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

/// The host's first private IPv4 address, or its first other one that is not its own alone.
///
/// ```
/// if let Some(address) = txid::host_ipv4() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv4() -> Option<Ipv4Addr> {
    static ADDRESS: OnceLock<Ipv4Addr> = OnceLock::new();
    found_once(&ADDRESS, || {
        let addresses = || addresses().filter_map(|address| if let IpAddr::V4(v4) = address { Some(v4) } else { None });
        addresses().find(Ipv4Addr::is_private).or_else(|| addresses().find(|v4| !v4.is_link_local()))
    })
}

/// The host's first IPv6 address that others know it by.
///
/// ```
/// if let Some(address) = txid::host_ipv6() {
///     assert!(!address.is_loopback());
/// }
/// ```
pub fn host_ipv6() -> Option<Ipv6Addr> {
    static ADDRESS: OnceLock<Ipv6Addr> = OnceLock::new();
    found_once(&ADDRESS, || {
        addresses().find_map(|address| match address {
            IpAddr::V6(v6) if !v6.is_unicast_link_local() => Some(v6),
            _ => None,
        })
    })
}

/// Only what is found is kept: a host that has no address yet may have one later.
fn found_once<T: Copy>(kept: &OnceLock<T>, find: impl FnOnce() -> Option<T>) -> Option<T> {
    kept.get().copied().or_else(|| find().map(|found| *kept.get_or_init(|| found)))
}

fn addresses() -> impl Iterator<Item = IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    interfaces.into_iter().filter(|interface| !interface.is_loopback()).map(|interface| interface.ip())
}
