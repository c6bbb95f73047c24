//! What an id says of the one that made it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use txid::formats::{Format, Numbers};

/// Nodes, each with its format, that are told apart if half of the memory has room for them. Where there are more, most are
/// random bits of other ids.
const MOST: usize = 1 << 18;

/// What one takes, with what is found of it later.
pub(super) const MAKER: usize = 250;

/// A format, and the node of its ids if they have one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Maker {
    /// The place of the format in the list of all.
    format: usize,
    node: Option<u64>,
}

impl Maker {
    pub(super) fn format(&self) -> &'static Format {
        txid::formats::ALL[self.format]
    }

    pub(super) fn has_node(&self) -> bool {
        self.node.is_some()
    }

    /// As `txid inspect` shows it.
    pub(super) fn node(&self) -> Option<String> {
        Some(self.format().node_text(self.node?))
    }
}

/// All makers, by their number.
pub(super) struct Makers {
    most: usize,
    numbers: HashMap<Maker, u32>,
    pub(super) all: Vec<Maker>,
}

impl Makers {
    pub(super) fn new(memory: usize) -> Self {
        Self { most: (memory / 2 / MAKER).min(MOST), numbers: HashMap::new(), all: Vec::new() }
    }

    pub(super) fn number(&mut self, maker: Maker) -> u32 {
        if let Some(number) = self.numbers.get(&maker) {
            return *number;
        }
        if self.is_full() && maker.node.is_some() {
            return self.number(Maker { node: None, ..maker });
        }
        let number = self.all.len() as u32;
        self.all.push(maker);
        self.numbers.insert(maker, number);
        number
    }

    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= self.most
    }
}

/// How the ids of a format are remembered.
pub(super) struct Reader {
    format: &'static Format,
    at: usize,
    numbers: Numbers,
    is_whole: bool,
    is_in_one_case: bool,
}

impl Reader {
    /// One for each format, in their order.
    pub(super) fn all(numbers: Numbers) -> Vec<Self> {
        let reader = |(at, format): (usize, &&'static Format)| Self {
            format,
            at,
            numbers,
            is_whole: format.is_ordered_whole(),
            is_in_one_case: format.is_in_one_case(),
        };
        txid::formats::ALL.iter().enumerate().map(reader).collect()
    }

    #[cfg(test)]
    pub(super) fn is_of_numbers(&self) -> bool {
        self.format.takes_a_layout()
    }

    /// All bits of an id of at most 128, otherwise as many of a hash; and who made it.
    pub(super) fn read(&self, text: &[u8]) -> ([u64; 2], Maker) {
        let order = self.format.order(text, &self.numbers).filter(|_| self.is_whole);
        let id = order.map(|order| [(order >> 64) as u64, order as u64]);
        let id = id.unwrap_or_else(|| match self.is_in_one_case {
            true => hash_of(&text.to_ascii_lowercase()),
            false => hash_of(text),
        });
        (id, Maker { format: self.at, node: self.format.node(text, &self.numbers) })
    }
}

/// The sequence of an id, and how many there are in a unit of time.
pub(super) fn sequence(maker: &Maker, id: [u64; 2], numbers: &Numbers) -> Option<(u64, u64)> {
    maker.format().sequence(u128::from(id[0]) << 64 | u128::from(id[1]), numbers)
}

fn hash_of(text: &[u8]) -> [u64; 2] {
    [0_u8, 1].map(|half| {
        let mut hasher = DefaultHasher::new();
        (half, text).hash(&mut hasher);
        hasher.finish()
    })
}

/// A hash of the value of a key, with the number of the key in its low bits. It is not 0.
pub(super) fn hash_of_value(key: u64, value: &[u8]) -> u64 {
    hash_of(value)[0] & !KEY | key.min(KEY)
}

/// Whether these are values of one key.
pub(super) fn have_one_key(one: u64, other: u64) -> bool {
    one & KEY == other & KEY
}

const KEY: u64 = 15;

#[cfg(test)]
mod tests {
    use super::{Maker, Makers};
    use crate::audit::report::{Hosts, MOST_HOSTS};

    #[test]
    fn so_many_nodes_and_hosts_are_told_apart() {
        let mut makers = Makers::new(usize::MAX);
        let mut number = |node| (makers.number(Maker { format: 0, node }), makers.is_full());
        for node in 0..(1 << 18) - 1 {
            assert!(!number(Some(node)).1, "node {node}");
        }
        let last = (1 << 18) - 1;
        assert_eq!(
            [Some(1 << 20), Some(7), Some(1 << 21), Some(1 << 22), None].map(number),
            [(last, true), (7, true), (last + 1, true), (last + 1, true), (last + 1, true)]
        );
        let mut hosts = Hosts::default();
        (0..MOST_HOSTS).for_each(|host| assert_eq!(hosts.number(host.to_string().as_bytes()).unwrap(), host as u32));
        assert!(hosts.number(b"0").is_ok_and(|number| number == 0));
        let why = "more than 65536 hosts; --host must name what is the same on all lines of a host";
        assert_eq!(hosts.number(b"x").unwrap_err().to_string(), why);
    }
}
