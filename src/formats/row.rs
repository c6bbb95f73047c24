//! What a row of the table can say, and the rules that it must obey. They are checked when it is compiled.

use super::anatomy::Numbers;
use super::wide::Wide;
use crate::maker::Make;
use std::fmt;
use std::ops::RangeInclusive;

/// A format of ids: a row of the table.
pub struct Format {
    /// Its name in a configuration. The command writes dashes where this has underscores.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What its ids are, for a list of formats.
    pub about: &'static str,
    /// How to make its ids; None for a format that is only read.
    pub make: Option<Make>,
    /// How ids are written; empty if nothing tells them from ids of another format. The first is that of the lowest and
    /// the highest id of a time. A text is read as the first of these that has its length.
    pub(crate) texts: &'static [Text],
    /// The lengths, as the beginning of a sentence.
    pub(crate) length: &'static str,
    /// The usual lengths, if they are fewer. A text of another length gets no detailed error.
    pub(crate) usual: Option<[usize; 2]>,
    /// The milliseconds since 1970 before which there were no such ids.
    pub(crate) since_ms: i64,
    /// Whether texts sort as the ids do; None if ids do not sort by their time.
    pub(crate) sorts: Option<Texts>,
    /// What no row can say.
    pub(crate) rule: Option<Rule>,
    /// What a text holds, if it is an id.
    pub(crate) holds: fn(&[u8], &Numbers) -> Option<Holds>,
}

/// A row that the compiler knows.
pub(super) trait Row {
    const FORMAT: &'static Format;
}

/// What no row can say, because it depends on more than the parts of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The layout of 64-bit numbers is given by who reads them, and it says how many digits are usual.
    Layout,
    /// Later versions of the header may have more after it, and mean less.
    Traceparent,
}

/// What makes one reading of a text likelier than another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds {
    /// The milliseconds since 1970, if the id has a time.
    pub ms: Option<i64>,
    /// The weight: about how many bits tell apart all ids that there can be. More, if ids of the format rarely look like this.
    pub bits: u32,
}

/// Which texts are words rather than ids. Whoever makes ids writes all letters in one case, unless the case tells digits apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chance {
    /// Nothing says so.
    Unknown,
    /// Those with letters in both cases, or without a letter.
    Cases,
    /// Those that have not more bits than the weight of the id: six a character, and fewer in one case, or of words.
    Weight,
}

/// One way in which ids of a format are written.
pub(crate) struct Text {
    /// From the first character on.
    pub parts: &'static [Part],
    /// Where each of them ends.
    pub ends: [End; Text::MOST],
    /// How long it can be.
    pub least: usize,
    pub most: usize,
    /// About how many bits tell apart all ids that there can be: their random bits, and those of the time between the
    /// format's beginning and today. Where two formats fit, the text is likelier an id of the one that has fewer.
    pub weight: u32,
    /// Which texts are words rather than ids.
    pub chance: Chance,
    /// Whether ids that are read from this text are written as the first one.
    pub is_another: bool,
    /// Whether each id has one such text, but for a rest.
    pub is_canonical: bool,
    /// Whether an id is one number.
    pub has_one_number: bool,
}

/// Where a part of a text ends.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// This many characters after its beginning.
    After(usize),
    /// This many before the end of the text.
    Before(usize),
    /// At the next such character.
    At(u8),
}

/// A part of a text.
#[allow(clippy::large_enum_variant, reason = "all of them are constants")]
pub(crate) enum Part {
    /// This character.
    Literal(u8),
    /// A number.
    Number(Number),
    /// Characters that are no number.
    Word(Word),
    /// A dash and anything else, or nothing.
    Rest,
}

/// Characters of an alphabet that are shown as they are.
pub(crate) struct Word {
    /// What they are; None if they are not shown.
    pub name: Option<&'static str>,
    pub digits: &'static Digits,
    pub least: usize,
    pub most: usize,
    /// A character that it neither begins nor ends with, and the error.
    pub not_around: Option<(u8, &'static str)>,
}

/// A number in digits of an alphabet.
pub(crate) struct Number {
    pub digits: &'static Digits,
    /// How many characters.
    pub least: usize,
    pub most: usize,
    /// How digits are grouped.
    pub pattern: Option<Pattern>,
    /// The bits that it may have, whether its digits never have more, and the error of more.
    pub bits: u32,
    pub always_fits: bool,
    pub too_large: &'static str,
    /// The bits of the last digit that must be zero, and the characters that have them.
    pub pad: u32,
    pub padded: &'static str,
    /// The error of zero, if zero is refused.
    pub nonzero: Option<&'static str>,
    /// What its bits are: the first of these whose constants it has.
    pub fields: &'static [Fields],
    /// The error, if it has the constants of none.
    pub no_fields: &'static str,
}

/// Groups of digits with other characters between them.
#[derive(Clone, Copy)]
pub(crate) struct Pattern {
    /// A dot for each digit, and the other characters.
    pub text: &'static str,
    /// Where each group begins, and how many digits it has; some are empty.
    pub groups: [(usize, usize); 5],
    /// Where the other characters are; some are there twice.
    pub others: [(usize, u8); 4],
}

/// The characters of digits, from zero on.
pub(crate) struct Digits {
    /// The name of the alphabet, for readers in other languages.
    #[cfg_attr(not(test), expect(dead_code, reason = "only they read it"))]
    pub name: &'static str,
    pub alphabet: &'static [u8],
    /// Whether letters may be in the other case as well.
    pub has_both_cases: bool,
    /// Whether they are written in upper case.
    pub is_upper: bool,
    /// What a character should have been.
    pub expected: &'static str,
    /// A text that has this character is in digits of this other alphabet.
    pub other: Option<(u8, &'static Digits)>,
    pub decoder: Decoder,
    /// How many digits a word of 64 bits has room for.
    pub a_word: usize,
    /// The value of each byte; [`Digits::NONE`] of those that are no digit.
    pub values: [u8; 256],
}

/// How digits become a number.
#[derive(Clone, Copy)]
pub(crate) enum Decoder {
    /// 16 hexadecimal digits at once.
    Hexadecimal,
    /// The 20 digits of 96 bits in base32hex at once.
    Twenty,
    /// A power of two as base: by shifts, 60 bits at once.
    Shifts,
    /// Any other base: by multiplication, a word of 64 bits at once.
    Words,
}

/// What the bits of a number are, from the highest on.
pub(crate) struct Fields {
    pub list: &'static [Field],
    pub clock: Option<Clock>,
    /// Added to the weight of such ids; None if they are rather ids of another format.
    pub more: Option<u32>,
    /// Values that are shown besides: their lowest bit, and the field.
    pub shown: &'static [(u32, Field)],
    /// The bits of all fields.
    pub width: u32,
    /// Whether a field may have a value that is not valid.
    pub has_ranges: bool,
    /// Whether some values are less likely.
    pub has_rare_values: bool,
    /// The bits of constants, and their value.
    pub mask: u128,
    pub wanted: u128,
    /// Where the pieces of the time are: the lowest bit in the number, the width, and the lowest bit in the time.
    pub pieces: [(u32, u32, u32); 3],
    pub time_bits: u32,
}

/// What the time of an id counts.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// The milliseconds of a unit.
    pub unit_ms: i64,
    /// How many of them are a unit, if it is longer than what is counted.
    pub per_unit: u64,
    /// What a number is after such units, if it is shown.
    pub rest: Option<&'static str>,
    /// When it begins, in milliseconds since 1970.
    pub epoch_ms: i64,
}

/// Consecutive bits of a number.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub bits: u32,
    pub kind: Kind,
    /// Whether it says which node made the id.
    pub is_node: bool,
    /// Whether it tells apart ids of one time and node.
    pub is_sequence: bool,
    /// The lowest and the highest value that is valid, and the error.
    pub range: Option<(u64, u64, &'static str)>,
    /// Added to the weight of ids with a value above this one.
    pub rarely_above: Option<(u64, u32)>,
}

/// How a field is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bits of the time, the lowest of which has this place.
    Time(u32),
    /// A number in decimal digits.
    Int,
    /// Hexadecimal digits.
    Hex,
    /// An IPv4 address.
    Ip,
    /// A MAC address.
    Mac,
    /// Whether something is so.
    Flag,
    /// The digits of the text.
    Digits,
    /// The variant of a UUID.
    Variant,
    /// A UUID with its dashes.
    Uuid,
    /// Bits that are shown in the picture alone.
    Bits,
    /// Always this value; shown in the picture alone.
    Is(u64),
}

/// Whether the texts of ids sort as the ids do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// No, since they may have different lengths.
    Unsorted,
    /// Yes.
    AsTheyAre,
    /// In the case that ids are written in; the other one is read as well.
    InOneCase,
}

/// A row to begin with.
pub(super) const ROW: Format = Format {
    name: "",
    title: "",
    about: "",
    make: None,
    texts: &[],
    length: "",
    usual: None,
    since_ms: i64::MIN,
    sorts: None,
    rule: None,
    holds: |_, _| None,
};

impl Format {
    /// No format has more kinds of texts.
    pub(super) const MOST_TEXTS: usize = 7;
}

impl Format {
    /// Whether ids are numbers of 64 bits, which whoever reads them says the layout of.
    pub fn takes_a_layout(&self) -> bool {
        self.rule == Some(Rule::Layout)
    }

    /// Whether its ids can be read: nothing tells those of some formats from others.
    pub const fn is_read(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The usual lengths in bytes. A text of another length gets no detailed error.
    pub const fn lengths(&self) -> RangeInclusive<usize> {
        if let Some([least, most]) = self.usual {
            return least..=most;
        }
        let (mut least, mut most, mut at) = (usize::MAX, 0, 0);
        while at < self.texts.len() {
            let text = &self.texts[at];
            if text.least < least {
                least = text.least;
            }
            if text.most > most {
                most = text.most;
            }
            at += 1;
        }
        least..=most
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name)
    }
}

/// There are no two formats of one name.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Digits {
    /// In place of a value. Bits of values are below it.
    pub const NONE: u8 = 0x80;

    const fn of(name: &'static str, alphabet: &'static [u8], has_both_cases: bool, expected: &'static str) -> Self {
        assert!(alphabet.len() <= 64);
        let (mut values, mut at) = ([Self::NONE; 256], 0);
        while at < alphabet.len() {
            let byte = alphabet[at];
            assert!(values[byte as usize] == Self::NONE, "a digit is there twice");
            values[byte as usize] = at as u8;
            if has_both_cases {
                values[byte.to_ascii_lowercase() as usize] = at as u8;
                values[byte.to_ascii_uppercase() as usize] = at as u8;
            }
            at += 1;
        }
        let decoder = match alphabet.len() {
            16 => Decoder::Hexadecimal,
            32 | 64 => Decoder::Shifts,
            _ => Decoder::Words,
        };
        Self {
            name,
            alphabet,
            has_both_cases,
            is_upper: alphabet[alphabet.len() - 1].is_ascii_uppercase(),
            expected,
            other: None,
            decoder,
            a_word: u64::MAX.ilog(alphabet.len() as u64) as usize,
            values,
        }
    }

    pub const fn one_case(name: &'static str, alphabet: &'static [u8], expected: &'static str) -> Self {
        Self::of(name, alphabet, false, expected)
    }

    pub const fn both_cases(name: &'static str, alphabet: &'static [u8], expected: &'static str) -> Self {
        Self::of(name, alphabet, true, expected)
    }

    pub const fn decoded_by(self, decoder: Decoder) -> Self {
        Self { decoder, ..self }
    }

    pub const fn or(self, byte: u8, other: &'static Self) -> Self {
        Self { other: Some((byte, other)), ..self }
    }

    /// The alphabet of a text.
    #[inline(always)]
    pub fn for_text(&self, text: &[u8]) -> &Self {
        match self.other {
            Some((byte, other)) if text.contains(&byte) => other,
            _ => self,
        }
    }

    #[inline(always)]
    pub const fn base(&self) -> u64 {
        self.alphabet.len() as u64
    }

    /// The bits of a digit whose base is a power of two.
    #[inline(always)]
    pub const fn width(&self) -> u32 {
        self.alphabet.len().trailing_zeros()
    }

    #[inline(always)]
    pub const fn value(&self, byte: u8) -> Option<u8> {
        match self.values[byte as usize] {
            Self::NONE => None,
            value => Some(value),
        }
    }
}

impl Number {
    /// The number of digits, if all texts have the same.
    pub const fn count(&self) -> usize {
        let Some(Pattern { groups, .. }) = self.pattern else { return self.most };
        groups[0].1 + groups[1].1 + groups[2].1 + groups[3].1 + groups[4].1
    }

    pub const fn padded(self, pad: u32, padded: &'static str) -> Self {
        Self { pad, padded, ..self }
    }

    pub const fn nonzero(self, error: &'static str) -> Self {
        Self { nonzero: Some(error), ..self }
    }

    pub const fn too_large(self, too_large: &'static str) -> Self {
        Self { too_large, ..self }
    }

    pub const fn or_else(self, no_fields: &'static str) -> Self {
        Self { no_fields, ..self }
    }
}

/// A number of this many digits.
pub(crate) const fn number(digits: &'static Digits, count: usize, fields: &'static [Fields]) -> Number {
    range_of_digits(digits, count, count, fields)
}

/// A number of any of these lengths.
pub(crate) const fn range_of_digits(
    digits: &'static Digits,
    least: usize,
    most: usize,
    fields: &'static [Fields],
) -> Number {
    assert!(!fields.is_empty());
    let bits = fields[0].width;
    let mut at = 0;
    while at < fields.len() {
        assert!(fields[at].width == bits, "the fields of a number do not have the same width");
        at += 1;
    }
    let too_large = match bits {
        64 => "a number has more than 64 bits",
        128 => "its value has more than 128 bits",
        160 => "its value has more than 160 bits",
        _ => "its value is too large",
    };
    Number {
        digits,
        least,
        most,
        pattern: None,
        bits,
        always_fits: false,
        too_large,
        pad: 0,
        padded: "",
        nonzero: None,
        fields,
        no_fields: "",
    }
}

/// A number in groups of digits.
pub(crate) const fn grouped(digits: &'static Digits, pattern: &'static str, fields: &'static [Fields]) -> Number {
    let (text, mut groups, mut group, mut others, mut other) = (pattern.as_bytes(), [(0, 0); 5], 0, [(0, 0); 4], 0);
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'.' {
            if groups[group].1 == 0 {
                groups[group].0 = at;
            }
            groups[group].1 += 1;
        } else {
            group += (groups[group].1 > 0) as usize;
            others[other] = (at, text[at]);
            other += 1;
        }
        at += 1;
    }
    while other < others.len() {
        others[other] = others[0];
        other += 1;
    }
    Number { pattern: Some(Pattern { text: pattern, groups, others }), ..number(digits, pattern.len(), fields) }
}

/// A number as a part of a text.
pub(crate) const fn part(number: Number) -> Part {
    let base = number.digits.base() as u128;
    let room = if base.is_power_of_two() {
        number.digits.width() * number.count() as u32
    } else if number.most <= number.digits.a_word {
        base.pow(number.most as u32).ilog2() + 1
    } else {
        u32::MAX
    };
    Part::Number(Number { always_fits: room <= number.bits + number.pad, ..number })
}

/// Characters that are shown by this name.
pub(crate) const fn word(name: &'static str, digits: &'static Digits, least: usize, most: usize) -> Word {
    Word { name: Some(name), digits, least, most, not_around: None }
}

impl Word {
    pub const fn not_around(self, byte: u8, error: &'static str) -> Self {
        Self { not_around: Some((byte, error)), ..self }
    }
}

impl Part {
    pub const fn lengths(&self) -> (usize, usize) {
        match self {
            Self::Literal(_) => (1, 1),
            Self::Number(Number { least, most, .. }) | Self::Word(Word { least, most, .. }) => (*least, *most),
            Self::Rest => (0, usize::MAX),
        }
    }
}

impl Text {
    /// No text has more parts.
    pub const MOST: usize = 8;

    pub const fn of(weight: u32, parts: &'static [Part]) -> Self {
        let (mut least, mut most, mut ends, mut is_canonical) = (0, 0_usize, [End::After(0); Self::MOST], true);
        let (mut numbers, mut at) = (0, parts.len());
        while at > 0 {
            at -= 1;
            let (part_least, part_most) = parts[at].lengths();
            ends[at] = if part_least == part_most {
                End::After(part_least)
            } else if least == most {
                End::Before(least)
            } else {
                match parts[at + 1] {
                    Part::Literal(byte) => End::At(byte),
                    _ => panic!("where does this part end?"),
                }
            };
            least += part_least;
            most = most.saturating_add(part_most);
            is_canonical &= self::is_canonical(&parts[at]);
            numbers += matches!(parts[at], Part::Number(_)) as u32;
        }
        Self {
            parts,
            ends,
            least,
            most,
            weight,
            chance: match parts {
                [Part::Number(number)] if number.digits.base() >= 62 => Chance::Weight,
                [Part::Number(number)] if number.digits.base() >= 32 && number.digits.has_both_cases => Chance::Cases,
                _ => Chance::Unknown,
            },
            is_another: false,
            is_canonical,
            has_one_number: numbers == 1,
        }
    }

    /// Limits the length of all parts together.
    pub const fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    pub const fn written_as_the_first(self) -> Self {
        Self { is_another: true, is_canonical: false, ..self }
    }

    #[inline(always)]
    pub const fn has_length(&self, length: usize) -> bool {
        self.least <= length && length <= self.most
    }

    /// The only part, if that is a number.
    #[inline(always)]
    pub const fn only_number(&self) -> Option<&'static Number> {
        match self.parts {
            [Part::Number(number)] => Some(number),
            _ => None,
        }
    }
}

/// Whether a part of an id has one text.
const fn is_canonical(part: &Part) -> bool {
    match part {
        Part::Number(Number { digits, least, most, .. }) => {
            !digits.has_both_cases && digits.other.is_none() && *least == *most
        }
        Part::Literal(_) | Part::Word(_) | Part::Rest => true,
    }
}

/// How messages name a character that is the same in all ids.
pub(crate) const fn quoted(byte: u8) -> &'static str {
    match byte {
        b'-' => "a dash",
        b'.' => "a dot",
        b'1' => "'1'",
        b'_' => "'_'",
        b'c' => "'c'",
        b'e' => "'e'",
        _ => panic!("give this character a name"),
    }
}

pub(crate) const SECONDS: Clock = Clock { unit_ms: 1000, per_unit: 1, rest: None, epoch_ms: 0 };
pub(crate) const MILLISECONDS: Clock = Clock { unit_ms: 1, ..SECONDS };

impl Fields {
    /// Fields without a time.
    pub const fn untimed(list: &'static [Field]) -> Self {
        Self::new(None, list)
    }

    /// Fields with a time.
    pub const fn timed(clock: Clock, list: &'static [Field]) -> Self {
        Self::new(Some(clock), list)
    }

    const fn new(clock: Option<Clock>, list: &'static [Field]) -> Self {
        let (mut width, mut at) = (0, 0);
        while at < list.len() {
            width += list[at].bits;
            at += 1;
        }
        let (mut mask, mut wanted, mut pieces, mut count, mut time_bits) = (0, 0, [(0, 0, 0); 3], 0, 0);
        let (mut has_ranges, mut has_rare_values) = (false, false);
        let mut place = width;
        at = 0;
        while at < list.len() {
            let field = &list[at];
            place -= field.bits;
            match field.kind {
                Kind::Is(value) => {
                    mask |= ((1_u128 << field.bits) - 1) << place;
                    wanted |= (value as u128) << place;
                }
                Kind::Time(low) => {
                    pieces[count] = (place, field.bits, low);
                    count += 1;
                    time_bits += field.bits;
                }
                _ => {}
            }
            has_ranges |= field.range.is_some();
            has_rare_values |= field.rarely_above.is_some();
            let mut other = 0;
            while other < at {
                assert!(field.may_be_beside(&list[other]), "a name is there twice");
                other += 1;
            }
            at += 1;
        }
        assert!(clock.is_some() == (count > 0), "a clock without a time, or a time without a clock");
        assert!(is_without_gaps(&pieces, count, time_bits), "the pieces of a time overlap, or leave some of it out");
        Self {
            list,
            clock,
            more: Some(0),
            shown: &[],
            width,
            has_ranges,
            has_rare_values,
            mask,
            wanted,
            pieces,
            time_bits,
        }
    }

    /// Makes ids less likely by this many bits.
    pub const fn rarely(self, more: u32) -> Self {
        Self { more: Some(more), ..self }
    }

    /// Leaves the ids to another format.
    pub const fn elsewhere(self) -> Self {
        Self { more: None, ..self }
    }

    /// Each field with its value in a number.
    pub fn values(&'static self, bits: Wide) -> impl Iterator<Item = (&'static Field, u128)> {
        let mut place = self.width;
        self.list.iter().map(move |field| {
            place -= field.bits;
            (field, bits.bits(place, field.bits))
        })
    }

    /// The milliseconds since 1970 in a number with these fields; at most `i64::MAX`.
    #[inline(always)]
    pub fn ms(&self, bits: Wide) -> Option<i64> {
        let clock = self.clock?;
        // In one word, where that is known: most ids have no more than 128 bits.
        let piece = |(place, width, low): (u32, u32, u32)| match (self.width, width) {
            (_, 0) => 0,
            (..=128, _) => ((bits.low >> place) as u64 & (u64::MAX >> (64 - width))) << low,
            _ => (bits.bits(place, width) as u64) << low,
        };
        // Not by an iterator, which the compiler may leave out of line.
        let [first, second, third] = self.pieces;
        let time = piece(first) | piece(second) | piece(third);
        let units = if clock.per_unit == 1 { time } else { time / clock.per_unit };
        Some(i64::try_from(units).unwrap_or(i64::MAX).saturating_mul(clock.unit_ms).saturating_add(clock.epoch_ms))
    }

    pub const fn showing(self, shown: &'static [(u32, Field)]) -> Self {
        Self { shown, ..self }
    }
}

/// Whether each bit of a time has one place.
const fn is_without_gaps(pieces: &[(u32, u32, u32); 3], count: usize, time_bits: u32) -> bool {
    let (mut seen, mut at) = (0_u128, 0);
    while at < count {
        let (_, bits, low) = pieces[at];
        let piece = ((1_u128 << bits) - 1) << low;
        if seen & piece != 0 {
            return false;
        }
        seen |= piece;
        at += 1;
    }
    seen == (1 << time_bits) - 1
}

impl Field {
    const fn new(name: &'static str, bits: u32, kind: Kind) -> Self {
        assert!(bits > 0);
        Self { name, bits, kind, is_node: false, is_sequence: false, range: None, rarely_above: None }
    }

    pub const fn node(self) -> Self {
        Self { is_node: true, ..self }
    }

    pub const fn sequence(self) -> Self {
        Self { is_sequence: true, ..self }
    }

    pub const fn within(self, least: u64, most: u64, error: &'static str) -> Self {
        assert!(least < most);
        Self { range: Some((least, most, error)), ..self }
    }

    pub const fn rarely_above(self, value: u64, bits: u32) -> Self {
        Self { rarely_above: Some((value, bits)), ..self }
    }

    /// Random bits, and pieces of a time, may have one name.
    const fn may_be_beside(&self, other: &Self) -> bool {
        let is_unnamed = matches!((self.kind, other.kind), (Kind::Bits, Kind::Bits) | (Kind::Time(_), Kind::Time(_)));
        is_unnamed || !is_same(self.name.as_bytes(), other.name.as_bytes())
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The time.
pub(crate) const fn time(bits: u32) -> Field {
    Field::new("time", bits, Kind::Time(0))
}

/// A piece of the time, the lowest bit of which has this place.
pub(crate) const fn time_at(low: u32, name: &'static str, bits: u32) -> Field {
    Field::new(name, bits, Kind::Time(low))
}

/// A number.
pub(crate) const fn int(name: &'static str, bits: u32) -> Field {
    Field::new(name, bits, Kind::Int)
}

/// Hexadecimal digits.
pub(crate) const fn hexa(name: &'static str, bits: u32) -> Field {
    Field::new(name, bits, Kind::Hex)
}

/// Bits that are shown in the picture alone.
pub(crate) const fn bits(name: &'static str, bits: u32) -> Field {
    Field::new(name, bits, Kind::Bits)
}

/// Always the same bits.
pub(crate) const fn is(name: &'static str, bits: u32, value: u64) -> Field {
    Field::new(name, bits, Kind::Is(value))
}

/// A field that is shown in another way.
pub(crate) const fn shown(kind: Kind, name: &'static str, bits: u32) -> Field {
    Field::new(name, bits, kind)
}

/// Checks what no part can see alone.
pub(super) const fn check(format: &Format) {
    assert!(format.texts.len() <= Format::MOST_TEXTS);
    let (mut at, mut has_a_time) = (0, false);
    while at < format.texts.len() {
        let parts = format.texts[at].parts;
        let (mut part, mut clocks) = (0, 0);
        while part < parts.len() {
            match &parts[part] {
                Part::Number(number) => {
                    clocks += number.has_a_time() as u32;
                    number.check();
                }
                Part::Literal(byte) => _ = quoted(*byte),
                Part::Word(_) | Part::Rest => {}
            }
            part += 1;
        }
        assert!(clocks <= 1, "there are two clocks");
        has_a_time |= clocks == 1;
        at += 1;
    }
    let has_a_beginning = format.since_ms != i64::MIN;
    assert!(
        has_a_time == has_a_beginning || matches!(format.rule, Some(Rule::Layout)),
        "what has a time has a beginning"
    );
    assert!(has_a_beginning || format.sorts.is_none(), "what sorts has a time");
    assert!(format.texts.is_empty() || !format.length.is_empty(), "how long are its ids?");
}

impl Number {
    /// Whether ids of this format have a time, rather than those of another one that it reads as well.
    const fn has_a_time(&self) -> bool {
        let mut at = 0;
        while at < self.fields.len() {
            if self.fields[at].more.is_some() {
                return self.fields[at].clock.is_some();
            }
            at += 1;
        }
        false
    }

    const fn check(&self) {
        let digits = self.digits;
        if let Some(pattern) = self.pattern {
            let mut at = 0;
            while at < pattern.others.len() {
                _ = quoted(pattern.others[at].1);
                at += 1;
            }
        }
        if self.least == self.most && digits.base().is_power_of_two() {
            let room = digits.width() * self.count() as u32;
            let all = self.bits + self.pad;
            assert!(all <= room && room < all + digits.width(), "the fields of a number are not as wide as its digits");
        }
    }
}
