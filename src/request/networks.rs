//! The networks of trusted peers.

use crate::text::error_texts;
use std::net::{IpAddr, SocketAddr};

/// What nginx uses as the address of a peer on a Unix socket, followed by the path if the peer has one.
const UNIX: &str = "unix:";

/// A list of networks.
///
/// Addresses are compared as in nginx: an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`, as sockets for both families
/// report it) is an IPv4 address, and `::/0` contains all of IPv6 and nothing of IPv4.
///
/// ```
/// use txid::request::{Networks, Peer};
///
/// let networks = Networks::parse(["10.0.0.0/8", "fd00::/8", "unix:"])?;
/// assert!(networks.contain(Peer::parse(b"10.1.2.3")));
/// assert!(networks.contain(Peer::parse(b"::ffff:10.1.2.3")));
/// assert!(!networks.contain(Peer::parse(b"192.0.2.1")));
/// # Ok::<(), txid::request::NetworkError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks {
    all: bool,
    unix: bool,
    v4: Vec<Network<u32>>,
    v6: Vec<Network<u128>>,
}

/// The addresses of which these bits are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network<T> {
    address: T,
    mask: T,
}

impl Networks {
    /// Reads a list of addresses, networks such as `10.0.0.0/8`, `unix:` and `all`; or `off` alone, which contains
    /// nobody.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] names the invalid entry.
    pub fn parse<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Self, NetworkError> {
        let list: Vec<_> = list.into_iter().collect();
        if list == ["off"] {
            return Ok(Self::default());
        }
        let mut networks = Self::default();
        list.into_iter().try_for_each(|text| networks.add(text))?;
        Ok(networks)
    }

    /// Whether the list contains nobody.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the peer is in one of the networks.
    #[inline]
    pub fn contain(&self, peer: Peer) -> bool {
        self.all
            || match peer {
                Peer::V4(peer) => self.v4.iter().any(|network| peer & network.mask == network.address),
                Peer::V6(peer) => self.v6.iter().any(|network| peer & network.mask == network.address),
                Peer::Unix => self.unix,
                Peer::Other => false,
            }
    }

    fn add(&mut self, text: &str) -> Result<(), NetworkError> {
        match text {
            "all" => {
                self.all = true;
                return Ok(());
            }
            "off" => return Err(NetworkError::OffWithOthers),
            UNIX => {
                self.unix = true;
                return Ok(());
            }
            _ => {}
        }
        let not_a_network = || NetworkError::NotANetwork(text.to_string());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => {
                // parse() would accept a sign as well.
                let is_digits = length.bytes().all(|byte| byte.is_ascii_digit());
                (address, Some(length.parse().ok().filter(|_| is_digits).ok_or_else(not_a_network)?))
            }
            None => (text, None),
        };
        match address.parse().map_err(|_| not_a_network())? {
            IpAddr::V4(v4) => self.v4.push(Network::v4(v4.to_bits(), length.unwrap_or(32)).ok_or_else(not_a_network)?),
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => return Err(NetworkError::Mapped(text.to_string())),
            IpAddr::V6(v6) => self.v6.push(Network::v6(v6.to_bits(), length.unwrap_or(128)).ok_or_else(not_a_network)?),
        }
        Ok(())
    }
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An IPv4 address.
    V4(u32),
    /// An IPv6 address, unless it is IPv4-mapped.
    V6(u128),
    /// A process on this machine, on a Unix socket.
    Unix,
    /// Anything else, which only `all` contains.
    Other,
}

impl From<IpAddr> for Peer {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::V4(v4.to_bits()),
            IpAddr::V6(v6) => Self::V6(v6.to_bits()),
        }
    }
}

impl Peer {
    /// Reads an address in nginx's notation, or in Envoy's: with a port, and the path or abstract name of a Unix socket.
    ///
    /// ```
    /// use txid::request::Peer;
    ///
    /// assert_eq!(Peer::parse(b"10.0.0.7"), Peer::V4(0x0a000007));
    /// assert_eq!(Peer::parse(b"[::1]:51324"), Peer::V6(1));
    /// assert_eq!([&b"unix:"[..], b"/run/front.sock", b"@front"].map(Peer::parse), [Peer::Unix; 3]);
    /// ```
    pub fn parse(text: &[u8]) -> Self {
        if text.starts_with(UNIX.as_bytes()) || matches!(text.first(), Some(b'/' | b'@')) {
            return Self::Unix;
        }
        let address = std::str::from_utf8(text).ok().and_then(|text| match text.parse::<IpAddr>() {
            Err(_) => text.parse::<SocketAddr>().ok().map(|address| address.ip()),
            address => address.ok(),
        });
        address.map_or(Self::Other, Self::from)
    }
}

impl Network<u32> {
    fn v4(address: u32, length: u32) -> Option<Self> {
        let mask = u32::MAX.checked_shl(32_u32.checked_sub(length)?).unwrap_or(0);
        Some(Self { address: address & mask, mask })
    }
}

impl Network<u128> {
    fn v6(address: u128, length: u32) -> Option<Self> {
        let mask = u128::MAX.checked_shl(128_u32.checked_sub(length)?).unwrap_or(0);
        Some(Self { address: address & mask, mask })
    }
}

/// Why a list of networks is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// This entry is not a network.
    NotANetwork(String),
    /// This entry is an IPv6 network of IPv4-mapped addresses, which count as IPv4.
    Mapped(String),
    /// `off` was given with other entries.
    OffWithOthers,
}

error_texts! { NetworkError {
    Self::NotANetwork(text) =>
        "{text:?} is not an address, a network such as 10.0.0.0/8 or fd00::/8, unix:, all or off";
    Self::Mapped(text) =>
        "{text:?} contains IPv4-mapped addresses, which count as IPv4: write it as an IPv4 network";
    Self::OffWithOthers => "\"off\" cannot be combined with other networks";
} }
