//! What an id says of the one that made it.

use super::anatomy::Numbers;
use super::layout;
use super::read::{Each, scan, value_of};
use super::row::{Field, Fields, Format, Kind, Number, Part, Rule, Word};
use super::wide::Wide;
use std::ops::Range;

impl Format {
    /// The node that made an id, as a number; None if `text` is not an id of this format, or if ids do not name a node.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let node = |name, text: &str| named(name).unwrap().node(text.as_bytes(), &Numbers::UNKNOWN);
    /// assert_eq!(node("eagleid", "0ad1348f14031692750021003e"), Some(0x0ad1_348f));
    /// assert_eq!(node("txid", "b2fr5nvqg00000000000"), None);
    /// ```
    pub fn node(&'static self, text: &[u8], numbers: &Numbers) -> Option<u64> {
        if self.rule == Some(Rule::Layout) {
            return layout::parts(self, text, numbers).map(|parts| parts.node);
        }
        let mut node = Node(None);
        scan(self, text, &mut node).ok().and(node.0)
    }

    /// A node as `txid inspect` shows it, with a slash between its parts.
    ///
    /// ```
    /// let sofa = txid::formats::named("sofa").unwrap();
    /// assert_eq!(sofa.node_text(0x0ad1_348f << 32 | 56696), "10.209.52.143/56696");
    /// ```
    pub fn node_text(&self, node: u64) -> String {
        let of_a_part = |part: &'static Part| match part {
            Part::Number(number) => number.fields[0].list,
            _ => &[],
        };
        let parts = self.texts.first().map_or(&[][..], |layout| layout.parts);
        let fields: Vec<_> = parts.iter().flat_map(of_a_part).filter(|field| field.is_node).collect();
        if fields.is_empty() {
            return node.to_string();
        }
        let mut place: u32 = fields.iter().map(|field| field.bits).sum();
        let shown = fields.into_iter().map(|field| {
            place -= field.bits;
            let kind = if field.kind == Kind::Bits { Kind::Hex } else { field.kind };
            let value = value_of(&Field { kind, ..*field }, Wide::of(node.into()).bits(place, field.bits), b"");
            value.map_or(String::new(), |value| value.to_string())
        });
        shown.collect::<Vec<_>>().join("/")
    }

    /// The sequence of an id that sorts by `order`, and how many there are in a unit of time; None if it has none, or one that
    /// runs on.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// assert_eq!(named("snowflake").unwrap().sequence(7, &Numbers::UNKNOWN), Some((7, 1 << 12)));
    /// assert_eq!(named("flake").unwrap().sequence(7, &Numbers::UNKNOWN), None);
    /// ```
    pub fn sequence(&self, order: u128, numbers: &Numbers) -> Option<(u64, u64)> {
        if self.rule == Some(Rule::Layout) {
            let width = numbers.layout.parts().into_iter().find(|(name, _)| *name == "sequence")?.1;
            return Some((numbers.layout.decode(order as u64)?.sequence, 1 << width));
        }
        let number = self.texts.first()?.only_number()?;
        let (field, value) = number.fields[0].values(Wide::of(order)).find(|(field, _)| field.is_sequence)?;
        Some((value as u64, 1 << field.bits))
    }
}

impl Format {
    /// Whether [`Format::order`] has all bits of an id.
    pub fn is_ordered_whole(&self) -> bool {
        let bits = |part: &Part| if let Part::Number(number) = part { number.bits } else { 0 };
        let parts = self.texts.first().map_or(&[][..], |layout| layout.parts);
        self.texts_sort().is_some() && parts.iter().map(bits).sum::<u32>() <= u128::BITS
    }

    /// Whether nothing tells its ids from other words but their length.
    pub(super) fn is_a_word(&self) -> bool {
        let is_shown = |part: &Part| !matches!(part, Part::Word(Word { name: None, .. }));
        !self.texts.iter().any(|layout| layout.parts.iter().any(is_shown))
    }

    /// Whether the same id is read in upper and in lower case.
    pub fn is_in_one_case(&self) -> bool {
        let has_both = |part: &Part| matches!(part, Part::Number(number) if number.digits.has_both_cases);
        self.texts.iter().any(|layout| layout.parts.iter().any(has_both))
    }
}

/// The fields that say which node made an id, beside each other.
struct Node(Option<u64>);

impl Each for Node {
    fn number(&mut self, _: &'static Number, fields: &'static Fields, bits: Wide, _: Range<usize>) {
        for (field, value) in fields.values(bits).filter(|(field, _)| field.is_node) {
            self.0 = Some(self.0.unwrap_or_default() << field.bits | value as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::named;
    use crate::formats::row::Texts;

    #[test]
    fn an_id_says_which_node_made_it() {
        for (name, text, node, shown) in [
            ("eagleid", "0ad1348f14031692750021003e", 0x0ad1_348f, "10.209.52.143"),
            ("sofa", "0ad1348f1403169275002100356696", 0x0ad1_348f << 32 | 56696, "10.209.52.143/56696"),
            ("xid", "9m4e2mr0ui3e8a215n4g", 0x0060_f486_e428, "60f486/58408"),
            ("uuid_v1", "e2c8f2d0-9d52-11ee-8c90-0242ac110002", 0x0242_ac11_0002, "0242ac110002"),
            ("objectid", "507f1f77bcf86cd799439011", 0x00bc_f86c_d799, "bcf86cd799"),
            ("snowflake", "1541815603606036480", 378, "378"),
        ] {
            let format = named(name).unwrap();
            assert_eq!(format.node(text.as_bytes(), &Numbers::UNKNOWN), Some(node), "{name}");
            assert_eq!(format.node_text(node), shown, "{name}");
        }
        for (name, text) in [("txid", "b2fr5nvqg00000000000"), ("xid", "b2fr5nvqg0000000000z")] {
            assert_eq!(named(name).unwrap().node(text.as_bytes(), &Numbers::UNKNOWN), None);
        }
        assert_eq!(named("txid").unwrap().node_text(7), "7");
    }

    #[test]
    fn a_sequence_is_counted_within_a_unit_of_time() {
        let sequence = |name, order| named(name).unwrap().sequence(order, &Numbers::UNKNOWN);
        assert_eq!(sequence("trace_id", 7 << 64 | 1 << 87), Some((7, 1 << 23)));
        assert_eq!(sequence("snowflake", 1 << 22 | 4095), Some((4095, 1 << 12)));
        assert_eq!(["txid", "flake", "sofa"].map(|name| sequence(name, 7)), [None; 3]);
    }

    #[test]
    fn ids_sort_as_their_row_says() {
        for (name, since, sorts, is_whole, is_in_one_case) in [
            ("txid", Some(1_420_070_400_000), Some(Texts::InOneCase), true, true),
            ("flake", Some(1_325_376_000_000), Some(Texts::AsTheyAre), true, false),
            ("ksuid", Some(1_400_000_000_000), Some(Texts::AsTheyAre), false, false),
            ("uuid_v4", None, None, false, true),
            ("uuid_v7", Some(0), Some(Texts::InOneCase), true, true),
            ("nanoid", None, None, false, false),
        ] {
            let format = named(name).unwrap();
            assert_eq!((format.since_ms(), format.texts_sort()), (since, sorts), "{name}");
            assert_eq!((format.is_ordered_whole(), format.is_in_one_case()), (is_whole, is_in_one_case), "{name}");
        }
        assert!(named("nanoid").unwrap().is_a_word() && !named("ksuid").unwrap().is_a_word());
        // A UUID of another version does not sort with those that a TypeID should have.
        let typeid = |text: &str| named("typeid").unwrap().order(text.as_bytes(), &Numbers::UNKNOWN).is_some();
        assert_eq!(["01h455vb4pex5vsknk084sn02q", "41h455vb4p8x5vsknk084sn02q"].map(typeid), [true, false]);
        // Eight digits of base 36 have fewer values than 42 bits.
        assert_eq!(named("cuid").unwrap().times(&Numbers::UNKNOWN), Some(0..=36_i64.pow(8) - 1));
    }
}
