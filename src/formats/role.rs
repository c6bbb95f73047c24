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
        self.is_read() && !self.texts.iter().any(|layout| layout.parts.iter().any(is_shown))
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
