//! What ids look like in other text.

use super::row::{Format, Part, Rule, Text};
use std::ops::RangeInclusive;

/// What the ids of a format look like in other text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// This many letters and digits, with no letter or digit before or after them.
    Word(RangeInclusive<usize>),
    /// As a UUID does: words of 8, 4, 4, 4 and 12, with dashes between them.
    Uuid,
    /// A run of exactly this many letters, digits, `@`, `-` and `_`.
    Base64(usize),
    /// A word of 32, and two words of digits, with dots between them.
    Dotted,
    /// Words of 1, 8 and 24 with dashes between them, or a word of 32.
    Xray,
    /// A word of 26, alone or with letters, digits and `_` before it: at most 64, of which `_` is the last.
    Prefixed,
}

impl Format {
    /// What its ids look like in other text; None if they have no time, and are not looked for.
    pub fn shape(&self) -> Option<Shape> {
        if !self.has_a_time() {
            return None;
        }
        let (first, last) = (self.texts.first()?, self.texts.last()?);
        let pattern = |text: &Text| text.only_number().and_then(|number| number.pattern);
        let has = |part: fn(&Part) -> bool| self.texts.iter().any(|text| text.parts.iter().any(part));
        Some(match (pattern(first), first.only_number()) {
            (Some(_), _) if self.texts.len() > 1 => Shape::Xray,
            (Some(_), _) => Shape::Uuid,
            (None, Some(number)) if number.digits.base() == 64 => Shape::Base64(number.most),
            _ if has(|part| matches!(part, Part::Literal(b'.'))) => Shape::Dotted,
            _ if has(|part| matches!(part, Part::Literal(b'_'))) => Shape::Prefixed,
            _ if self.rule == Some(Rule::Layout) => Shape::Word(self.lengths()),
            _ => Shape::Word(first.least..=last.most),
        })
    }
}
