//! The networks of trusted peers, held against the bits of addresses.

use crate::bytes::{is_digits, text};
use std::net::{IpAddr, SocketAddr};
use txid::request::{Networks, Peer};

fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => format!("{:032b}", v4.to_bits()),
        IpAddr::V6(v6) => format!("{:0128b}", v6.to_bits()),
    }
}

/// The bits that a peer has in common with all of this network, if it is one.
fn prefix(network: &str) -> Option<String> {
    let (address, length) =
        network.split_once('/').map_or((network, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().ok()?;
    let mut prefix = bits(address);
    if let Some(length) = length {
        let length = length.parse().ok().filter(|&wanted| is_digits(length) && wanted <= prefix.len())?;
        prefix.truncate(length);
    }
    // Families have bits of different lengths, and an IPv4-mapped address is one of IPv4.
    (address == address.to_canonical()).then(|| format!("{} {prefix}", address.is_ipv4()))
}

/// A network, and a peer in the next line.
pub fn networks(bytes: &[u8]) {
    let mut lines = bytes.splitn(2, |&byte| byte == b'\n');
    let network = text(lines.next().unwrap_or_default());
    let peer = lines.next().unwrap_or_default();
    match Networks::parse([&*network]) {
        Ok(networks) => {
            let peer_text = std::str::from_utf8(peer).unwrap_or_default();
            let with_port = |text: &str| text.parse::<SocketAddr>().ok().map(|address| address.ip());
            let address = peer_text.parse::<IpAddr>().ok().or_else(|| with_port(peer_text));
            let address = address.map(|address| address.to_canonical());
            let expected = match &*network {
                "all" => true,
                "off" => false,
                "unix:" => [&b"unix:"[..], b"/", b"@"].iter().any(|begin| peer.starts_with(begin)),
                network => {
                    let prefix = prefix(network).expect("it was accepted");
                    address.is_some_and(|peer| format!("{} {}", peer.is_ipv4(), bits(peer)).starts_with(&prefix))
                }
            };
            assert_eq!(networks.contain(Peer::parse(peer)), expected);
        }
        Err(error) => {
            assert!(prefix(&network).is_none() && !["all", "off", "unix:"].contains(&&*network));
            assert!(error.to_string().contains(&format!("{network:?}")), "{error}");
        }
    }
}
