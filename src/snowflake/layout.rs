//! Which bits of an id mean what.

use crate::text::{civil, error_texts};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

const YEAR_MS: i64 = 365 * 24 * 3_600_000;

/// The parts of a layout's text, which are also the keys of Lua's tables, each with its lowest and its highest number.
const PARTS: [(&str, i64, i64); 6] = [
    ("time_bits", 1, 63),
    ("node_bits", 0, 63),
    ("sequence_bits", 0, 63),
    ("unit_ms", 1, 1 << 32),
    // The integers that a double holds exactly, because Lua and JavaScript numbers are doubles.
    ("epoch", -(1 << 53), 1 << 53),
    ("random_start", 1, 1 << 62),
];

/// The number of the part at this place, if it is in its range.
fn in_range(place: usize, number: Option<i64>, value: &dyn fmt::Display) -> Result<i64, LayoutError> {
    let (name, least, most) = PARTS[place];
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| LayoutError::OutOfRange { name, value: value.to_string(), least, most })
}

/// Whether the node or the sequence is next to the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// time, node, sequence: Twitter's.
    NodeThenSequence,
    /// time, sequence, node: Sonyflake's. Ids of several nodes sort by their sequence first.
    SequenceThenNode,
}

/// The widths of an id's parts, their order, and what the time counts.
///
/// ```
/// use txid::snowflake::{Layout, Parts};
///
/// let id = 1160090501362225152;
/// assert_eq!(Layout::SNOWFLAKE.decode(id), Some(Parts { ms: 1565422103621, node: 1, sequence: 0 }));
/// ```
///
/// Any other layout is written as its parts from the highest bit to the lowest; the unit is 1 ms and the epoch is 1970
/// unless they are given:
///
/// ```
/// let layout: txid::snowflake::Layout = "time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=2014-09-01".parse()?;
/// assert_eq!(layout, txid::snowflake::Layout::SONYFLAKE);
/// # Ok::<(), txid::snowflake::LayoutError>(())
/// ```
///
/// With `random_start=16`, the sequence of each unit of time begins at a random number from 0 to 15: `id % n` is then even
/// at low rates, too. It may also follow the name of a preset, as in `snowflake,random_start=16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(super) time_bits: u32,
    pub(super) node_bits: u32,
    pub(super) sequence_bits: u32,
    pub(super) unit_ms: u64,
    pub(super) epoch_ms: i64,
    pub(super) order: Order,
    /// How many sequences a unit of time may begin at; 0 if it begins at 0.
    pub(super) random_start: u64,
}

/// The fields of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// When the id's unit of time began, in milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// The node that made it.
    pub node: u64,
    /// The position within the unit of time.
    pub sequence: u64,
}

impl Layout {
    /// Twitter's: 41 bits of milliseconds since 2010-11-04, 10 of node, 12 of sequence.
    pub const SNOWFLAKE: Self = Self {
        time_bits: 41,
        node_bits: 10,
        sequence_bits: 12,
        unit_ms: 1,
        epoch_ms: 1_288_834_974_657,
        order: Order::NodeThenSequence,
        random_start: 0,
    };

    /// Sonyflake's: 39 bits of 10 ms since 2014-09-01, 8 of sequence, 16 of node.
    pub const SONYFLAKE: Self = Self {
        time_bits: 39,
        node_bits: 16,
        sequence_bits: 8,
        unit_ms: 10,
        epoch_ms: 1_409_529_600_000,
        order: Order::SequenceThenNode,
        random_start: 0,
    };

    /// Baidu's UidGenerator: 28 bits of seconds since 2016-05-19T16:00:00Z, 22 of node, 13 of sequence.
    pub const UID: Self = Self {
        time_bits: 28,
        node_bits: 22,
        sequence_bits: 13,
        unit_ms: 1000,
        epoch_ms: 1_463_673_600_000,
        ..Self::SNOWFLAKE
    };

    /// Leaf's: as Twitter's, but each millisecond starts its sequence at a random number from 0 to 99, so that ids made
    /// at a low rate spread evenly over shards that are selected by the low bits.
    pub const LEAF: Self = Self { random_start: 100, ..Self::SNOWFLAKE };

    /// For programs whose numbers are doubles, as in JavaScript: 38 bits of 10 ms since 2015, 10 of node, 5 of sequence.
    ///
    /// It has as many nodes as [`Layout::SNOWFLAKE`]. Ids since September 2024 have 16 digits, so their texts sort.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// assert_eq!(Layout::SNOWFLAKE53.decode((1 << 53) - 1).unwrap().ms, *Layout::SNOWFLAKE53.range_ms().end() - 9);
    /// assert_eq!(Layout::SNOWFLAKE53.decode(1 << 53), None);
    /// assert_eq!(Layout::SNOWFLAKE53.ids_a_second(), 3_200.0);
    /// ```
    pub const SNOWFLAKE53: Self =
        Self { time_bits: 38, sequence_bits: 5, unit_ms: 10, epoch_ms: 1_420_070_400_000, ..Self::SNOWFLAKE };

    /// Discord's: 42 bits of milliseconds since 2015, of which 41 fit into a number with a sign; 5 of worker and 5 of
    /// process, which are the node; 12 of increment.
    pub const DISCORD: Self = Self { epoch_ms: 1_420_070_400_000, ..Self::SNOWFLAKE };

    /// Instagram's: 41 bits of milliseconds since 2011-08-24, of which 40 fit into a number with a sign; 13 of shard, 10
    /// of sequence.
    pub const INSTAGRAM: Self =
        Self { time_bits: 40, node_bits: 13, sequence_bits: 10, epoch_ms: 1_314_220_021_721, ..Self::SNOWFLAKE };

    /// Mastodon's: 48 bits of milliseconds since 1970, of which 47 fit into a number with a sign; 16 of a sequence that
    /// begins at a hash. There is no node, so such ids are only read.
    pub const MASTODON: Self = Self { time_bits: 47, node_bits: 0, sequence_bits: 16, epoch_ms: 0, ..Self::SNOWFLAKE };

    /// The presets by their names.
    pub const PRESETS: [(&str, Self); 8] = [
        ("snowflake", Self::SNOWFLAKE),
        ("sonyflake", Self::SONYFLAKE),
        ("uid", Self::UID),
        ("leaf", Self::LEAF),
        ("snowflake53", Self::SNOWFLAKE53),
        ("discord", Self::DISCORD),
        ("instagram", Self::INSTAGRAM),
        ("mastodon", Self::MASTODON),
    ];

    /// A custom layout.
    ///
    /// ```
    /// use txid::snowflake::{Layout, Order};
    ///
    /// let layout = Layout::new([42, 6, 15], 1, 1_577_836_800_000, Order::NodeThenSequence)?;
    /// assert_eq!(layout.to_string(), "time_bits=42,node_bits=6,sequence_bits=15,unit_ms=1,epoch=1577836800000");
    /// # Ok::<(), txid::snowflake::LayoutError>(())
    /// ```
    pub fn new(
        [time_bits, node_bits, sequence_bits]: [u32; 3],
        unit_ms: u64,
        epoch_ms: i64,
        order: Order,
    ) -> Result<Self, LayoutError> {
        for (place, bits) in [time_bits, node_bits, sequence_bits].into_iter().enumerate() {
            in_range(place, Some(bits.into()), &bits)?;
        }
        let sum = time_bits + node_bits + sequence_bits;
        if sum > 63 {
            return Err(LayoutError::TooWide(sum));
        }
        in_range(3, unit_ms.try_into().ok(), &unit_ms)?;
        in_range(4, Some(epoch_ms), &epoch_ms)?;
        Ok(Self { time_bits, node_bits, sequence_bits, unit_ms, epoch_ms, order, random_start: 0 })
    }

    /// The layout with another epoch, in milliseconds since 1970-01-01 UTC.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// let discord = Layout::SNOWFLAKE.with_epoch_ms(1_420_070_400_000)?;
    /// assert_eq!(discord.decode(175928847299117063).unwrap().ms, 1_462_015_105_796);
    /// # Ok::<(), txid::snowflake::LayoutError>(())
    /// ```
    pub fn with_epoch_ms(self, epoch_ms: i64) -> Result<Self, LayoutError> {
        let bits = [self.time_bits, self.node_bits, self.sequence_bits];
        Ok(Self { random_start: self.random_start, ..Self::new(bits, self.unit_ms, epoch_ms, self.order)? })
    }

    /// The layout whose units of time begin at a random one of this many sequences.
    fn starting_at(self, starts: Option<i64>, value: &str) -> Result<Self, LayoutError> {
        let (least, most) = (1, 1 << self.sequence_bits.min(62));
        match starts.filter(|starts| (least..=most).contains(starts)) {
            Some(starts) => Ok(Self { random_start: starts as u64, ..self }),
            None => Err(LayoutError::OutOfRange { name: "random_start", value: value.to_string(), least, most }),
        }
    }

    /// The fields of `id`, or None if it has more bits than the layout.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// assert_eq!(Layout::UID.decode(0).unwrap().ms, 1_463_673_600_000);
    /// assert_eq!(Layout::SNOWFLAKE.decode(1 << 63), None);
    /// ```
    pub fn decode(&self, id: u64) -> Option<Parts> {
        if id >> (self.time_bits + self.node_bits + self.sequence_bits) != 0 {
            return None;
        }
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        let (node, sequence) = match self.order {
            Order::NodeThenSequence => (id >> self.sequence_bits, id),
            Order::SequenceThenNode => (id, id >> self.node_bits),
        };
        let time = id >> (self.node_bits + self.sequence_bits);
        Some(Parts {
            ms: self.ms_of(time),
            node: low(node, self.node_bits),
            sequence: low(sequence, self.sequence_bits),
        })
    }

    /// The names of an id's parts and their widths in bits, from the highest bits to the lowest.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// assert_eq!(Layout::SONYFLAKE.parts(), [("time", 39), ("sequence", 8), ("node", 16)]);
    /// ```
    pub fn parts(&self) -> [(&'static str, u32); 3] {
        let (node, sequence) = (("node", self.node_bits), ("sequence", self.sequence_bits));
        match self.order {
            Order::NodeThenSequence => [("time", self.time_bits), node, sequence],
            Order::SequenceThenNode => [("time", self.time_bits), sequence, node],
        }
    }

    /// The highest valid node.
    pub fn last_node(&self) -> u64 {
        (1 << self.node_bits) - 1
    }

    /// The milliseconds since 1970-01-01 UTC for which the layout has ids: from the epoch until the time bits are used
    /// up.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// assert_eq!(Layout::SNOWFLAKE.range_ms(), 1_288_834_974_657..=3_487_858_230_208);
    /// ```
    pub fn range_ms(&self) -> RangeInclusive<i64> {
        self.epoch_ms..=self.ms_of(self.last_time()).saturating_add(self.unit_ms as i64 - 1)
    }

    /// The end of the layout if it is less than a year away, or past, when the clock says `now_ms`.
    ///
    /// ```
    /// use txid::snowflake::Layout;
    ///
    /// let now_ms = 1_710_000_000_000;
    /// assert!(Layout::SNOWFLAKE.ending(now_ms).is_none());
    /// let ending = Layout::UID.ending(now_ms).unwrap();
    /// assert!(ending.to_string().starts_with("the layout ends at 2024-11-20T13:24:15.999Z"));
    /// ```
    pub fn ending(&self, now_ms: i64) -> Option<Ending> {
        let end_ms = *self.range_ms().end();
        (end_ms.saturating_sub(now_ms) < YEAR_MS).then_some(Ending { end_ms, is_over: end_ms < now_ms })
    }

    /// The lowest and the highest id of the unit of time that `ms` is in.
    ///
    /// ```
    /// let [first, last] = txid::snowflake::Layout::SNOWFLAKE.ids_of(1_522_545_688_552);
    /// assert_eq!((first, last), (980_253_782_132_654_080, 980_253_782_136_848_383));
    /// ```
    pub fn ids_of(&self, ms: i64) -> [u64; 2] {
        let other_bits = self.node_bits + self.sequence_bits;
        let time = (ms.saturating_sub(self.epoch_ms).max(0) as u64 / self.unit_ms).min(self.last_time());
        [time << other_bits, time << other_bits | ((1 << other_bits) - 1)]
    }

    /// How many ids a node can make a second, sustained.
    ///
    /// ```
    /// assert_eq!(txid::snowflake::Layout::SNOWFLAKE.ids_a_second(), 4_096_000.0);
    /// assert_eq!(txid::snowflake::Layout::SONYFLAKE.ids_a_second(), 25_600.0);
    /// ```
    pub fn ids_a_second(&self) -> f64 {
        (1_u64 << self.sequence_bits) as f64 * 1000.0 / self.unit_ms as f64
    }

    pub(super) fn last_time(&self) -> u64 {
        (1 << self.time_bits) - 1
    }

    /// When a unit of time begins; at most `i64::MAX`.
    pub(super) fn ms_of(&self, time: u64) -> i64 {
        let ms = i128::from(time) * i128::from(self.unit_ms) + i128::from(self.epoch_ms);
        ms.min(i64::MAX.into()) as i64
    }

    /// The first unit of time that begins at `ms` or later.
    pub(super) fn unit_from(&self, ms: i64) -> u64 {
        let since_ms = u64::try_from(i128::from(ms) - i128::from(self.epoch_ms)).unwrap_or(0);
        since_ms.div_ceil(self.unit_ms)
    }

    /// The id at a position. Positions count all ids of a node: the time, then the sequence.
    #[inline]
    pub(super) fn id(&self, position: u64, node: u64) -> u64 {
        match self.order {
            Order::NodeThenSequence => {
                let (time, sequence) = (position >> self.sequence_bits, position & ((1 << self.sequence_bits) - 1));
                (time << self.node_bits | node) << self.sequence_bits | sequence
            }
            Order::SequenceThenNode => position << self.node_bits | node,
        }
    }

    /// Whether ids of both layouts have the same bits. They may still start their sequences differently.
    pub(super) fn has_same_bits(&self, other: &Self) -> bool {
        Self { random_start: 0, ..*self } == Self { random_start: 0, ..*other }
    }
}

/// That a layout ends soon, or has ended, for those who must choose another one in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    end_ms: i64,
    is_over: bool,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_over { "ended" } else { "ends" };
        let end = civil::Moment(self.end_ms);
        write!(f, "the layout {verb} at {end}, and there are no ids after that: choose another one in time")
    }
}

/// Why a layout is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// Neither the name of a preset nor a list of parts.
    UnknownPreset(String),
    /// No part has this name, or the part is there twice.
    Part(String),
    /// This part is missing.
    Missing(&'static str),
    /// The value of a part is not a number in its range.
    OutOfRange {
        /// The part.
        name: &'static str,
        /// What was given.
        value: String,
        /// The lowest valid value.
        least: i64,
        /// The highest valid value.
        most: i64,
    },
    /// The parts have this many bits in total.
    TooWide(u32),
}

error_texts! { LayoutError {
    Self::UnknownPreset(name) =>
        "layout '{}' is not one of {}, nor a list such as time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01",
        name.as_bytes().escape_ascii(), Layout::PRESETS.map(|(known, _)| known).join(", ");
    Self::Part(part) =>
        "layout has '{}', but takes each of {} once, from the highest bits to the lowest",
        part.as_bytes().escape_ascii(), PARTS.map(|(known, ..)| known).join(", ");
    Self::Missing(name) => "layout has no {name}";
    Self::OutOfRange { name, value, least, most } =>
        "layout has {name} '{}', not an integer from {least} to {most}{}", value.as_bytes().escape_ascii(),
        if *name == "epoch" { " or a date such as 2014-09-01T00:00:00Z" } else { "" };
    Self::TooWide(sum) => "layout has {sum} bits of time, node and sequence, more than the 63 of an id";
} }

impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Self, LayoutError> {
        let preset_of = |name: &str| Self::PRESETS.iter().find(|(known, _)| *known == name).map(|(_, preset)| *preset);
        if let Some(preset) = preset_of(text) {
            return Ok(preset);
        }
        if !text.contains('=') {
            return Err(LayoutError::UnknownPreset(text.to_string()));
        }
        if let Some((preset, starts)) =
            text.split_once(",random_start=").and_then(|(name, starts)| Some((preset_of(name)?, starts)))
        {
            return preset.starting_at(starts.parse().ok(), starts);
        }
        let mut values: [Option<i64>; 6] = [None; 6];
        let mut order = Order::SequenceThenNode;
        for part in text.split(',') {
            let unknown = || LayoutError::Part(part.to_string());
            let (name, value) = part.split_once('=').ok_or_else(unknown)?;
            let place = PARTS.iter().position(|(known, ..)| *known == name).ok_or_else(unknown)?;
            if values[place].is_some() || (name == "time_bits" && (values[1].is_some() || values[2].is_some())) {
                return Err(unknown());
            }
            let number = match value.parse() {
                Err(_) if name == "epoch" => civil::parse(value),
                number => number.ok(),
            };
            values[place] = Some(in_range(place, number, &value)?);
            if name == "sequence_bits" && values[1].is_some() {
                order = Order::NodeThenSequence;
            }
        }
        let bits = |place: usize| values[place].map(|bits| bits as u32).ok_or(LayoutError::Missing(PARTS[place].0));
        let (unit_ms, epoch_ms) = (values[3].unwrap_or(1) as u64, values[4].unwrap_or(0));
        let layout = Self::new([bits(0)?, bits(1)?, bits(2)?], unit_ms, epoch_ms, order)?;
        match values[5] {
            Some(starts) => layout.starting_at(Some(starts), &starts.to_string()),
            None => Ok(layout),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time_bits={},", self.time_bits)?;
        match self.order {
            Order::NodeThenSequence => write!(f, "node_bits={},sequence_bits={}", self.node_bits, self.sequence_bits)?,
            Order::SequenceThenNode => write!(f, "sequence_bits={},node_bits={}", self.sequence_bits, self.node_bits)?,
        }
        write!(f, ",unit_ms={},epoch={}", self.unit_ms, self.epoch_ms)
    }
}
