//! What an id says of the one that made it.

use std::hash::{DefaultHasher, Hash, Hasher};
use txid::formats::{Format, Numbers, Sorted, Texts};

/// Nodes, each with its format, that are told apart. Where there are more, most are random bits of other ids.
const MOST: usize = 1 << 18;

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

    /// As `txid inspect` writes it, or nearly so.
    pub(super) fn node(&self) -> Option<String> {
        let node = self.node?;
        Some(match self.format().name {
            "snowflake" => node.to_string(),
            "trace_host_id" => std::net::Ipv4Addr::from_bits(node as u32).to_string(),
            "sofa" | "eagleid" => std::net::Ipv4Addr::from_bits((node >> 32) as u32).to_string(),
            "objectid" | "xid" => format!("{node:010x}"),
            _ => format!("{node:012x}"),
        })
    }
}

/// All makers, by their number.
#[derive(Default)]
pub(super) struct Makers {
    numbers: std::collections::HashMap<Maker, u32>,
    pub(super) all: Vec<Maker>,
}

impl Makers {
    pub(super) fn number(&mut self, maker: Maker) -> u32 {
        if let Some(number) = self.numbers.get(&maker) {
            return *number;
        }
        if self.all.len() >= MOST && maker.node.is_some() {
            return self.number(Maker { node: None, ..maker });
        }
        let number = self.all.len() as u32;
        self.all.push(maker);
        self.numbers.insert(maker, number);
        number
    }

    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= MOST
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
        let reader = |(at, format): (usize, &&'static Format)| {
            let sorted: Option<&Sorted> = format.time().and_then(|time| time.sorted.as_ref());
            let is_uuid = format.name.starts_with("uuid");
            Self {
                format,
                at,
                numbers,
                // A KSUID has more than fit.
                is_whole: sorted.is_some() && format.name != "ksuid",
                is_in_one_case: is_uuid || sorted.is_some_and(|sorted| sorted.texts == Texts::InOneCase),
            }
        };
        txid::formats::ALL.iter().enumerate().map(reader).collect()
    }

    /// All bits of an id of at most 128, otherwise as many of a hash; and who made it.
    pub(super) fn read(&self, text: &[u8]) -> ([u64; 2], Maker) {
        let order = self.format.order(text, &self.numbers).filter(|_| self.is_whole);
        let id = order.map(|order| [(order >> 64) as u64, order as u64]);
        let id = id.unwrap_or_else(|| match self.is_in_one_case {
            true => hash_of(&text.to_ascii_lowercase()),
            false => hash_of(text),
        });
        (id, Maker { format: self.at, node: self.node(text, order.unwrap_or_default()) })
    }

    fn node(&self, text: &[u8], bits: u128) -> Option<u64> {
        let hex = |part: Option<&[u8]>| u64::from_str_radix(std::str::from_utf8(part?).ok()?, 16).ok();
        match self.format.name {
            "snowflake" => Some(self.numbers.layout.decode(bits as u64)?.node),
            "flake" => Some((bits >> 16) as u64 & ((1 << 48) - 1)),
            // The machine and the process, whose counter follows.
            "xid" | "objectid" => Some((bits >> 24) as u64 & ((1 << 40) - 1)),
            "trace_host_id" => Some(u64::from((bits >> 32) as u32)),
            "uuid_v1" | "uuid_v6" => hex(text.get(24..36)),
            "eagleid" => Some(hex(text.get(..8))? << 32),
            // The address, and the process.
            "sofa" => {
                let process = std::str::from_utf8(text.get(25..)?).ok()?.parse::<u32>().ok()?;
                Some(hex(text.get(..8))? << 32 | u64::from(process))
            }
            _ => None,
        }
    }
}

/// The sequence of an id, and how many there are in a unit of time.
pub(super) fn sequence(maker: &Maker, id: [u64; 2], numbers: &Numbers) -> Option<(u64, u64)> {
    match maker.format().name {
        "snowflake" => {
            let [_, one, other] = numbers.layout.parts();
            let (_, width) = if one.0 == "sequence" { one } else { other };
            Some((numbers.layout.decode(id[1])?.sequence, 1 << width))
        }
        "flake" => Some((id[1] & 0xffff, 1 << 16)),
        "trace_id" | "trace_host_id" => Some((id[0] & ((1 << 23) - 1), 1 << 23)),
        _ => None,
    }
}

fn hash_of(text: &[u8]) -> [u64; 2] {
    [0_u8, 1].map(|half| {
        let mut hasher = DefaultHasher::new();
        (half, text).hash(&mut hasher);
        hasher.finish()
    })
}

/// A hash that is not 0.
pub(super) fn hash_of_value(value: &[u8]) -> u64 {
    hash_of(value)[0].max(1)
}
