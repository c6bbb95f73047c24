//! Reads a text by the row of its format.

use super::anatomy::{Anatomy, Numbers, Value};
use super::row::{End, Field, Fields, Format, Kind, Number, Part, Row, Rule, Text, Word, quoted};
use super::wide::Wide;
use super::{layout, number};
use crate::text::{FormatError, hex};
use std::net::Ipv4Addr;
use std::ops::Range;

/// Where a text is no id of a format.
pub(super) enum Fault {
    /// It has another length.
    Length,
    /// The character at this index is not this one.
    NotThis(usize, u8),
    /// This part is wrong.
    Part(&'static Part, Range<usize>),
    /// What an error says.
    Said(&'static str),
    /// What an error says of its length.
    SaidOfLength(&'static str),
}

/// Gets what a text has, part by part.
pub(super) trait Each {
    /// A number, which the text has at `place`.
    fn number(&mut self, number: &'static Number, fields: &'static Fields, bits: Wide, place: Range<usize>);

    /// Characters that are no number.
    fn word(&mut self, _: &'static Word, _: Range<usize>) {}
}

/// Reads the parts of a text in turn.
pub(super) fn scan(format: &'static Format, text: &[u8], each: &mut impl Each) -> Result<&'static Text, Fault> {
    let layout = format.texts.iter().find(|layout| layout.has_length(text.len())).ok_or(Fault::Length)?;
    if format.rule == Some(Rule::Traceparent) {
        check_version(layout, text)?;
    }
    let mut begin = 0;
    for (part, end) in layout.parts.iter().zip(&layout.ends) {
        let place = begin..end_of(*end, begin, text)?;
        begin = place.end;
        one(part, place, text, each)?;
    }
    Ok(layout)
}

/// The layout at `at` of a format, if there are so many.
pub(super) const fn layout_at(format: &'static Format, at: usize) -> Option<&'static Text> {
    if at < format.texts.len() { Some(&format.texts[at]) } else { None }
}

/// The part at `part` of that layout, and its end.
const fn part_at(format: &'static Format, at: usize, part: usize) -> Option<(&'static Part, End)> {
    match layout_at(format, at) {
        Some(layout) if part < layout.parts.len() => Some((&layout.parts[part], layout.ends[part])),
        _ => None,
    }
}

/// Scans one layout, with code for each of its parts, as the compiler would not make of a loop. `if const` leaves out the parts that
/// are not there before their code is made, which would be most of all code of this crate.
#[inline(always)]
pub(super) fn scan_alone<R: Row, const LAYOUT: usize>(
    layout: &Text,
    text: &[u8],
    each: &mut impl Each,
) -> Result<(), Fault> {
    if const { matches!(R::FORMAT.rule, Some(Rule::Traceparent)) } {
        check_version(layout, text)?;
    }
    let mut begin = 0;
    macro_rules! each_part {
        ($($at:literal)*) => {
            $(if const { part_at(R::FORMAT, LAYOUT, $at).is_some() } {
                if let Some((part, end)) = const { part_at(R::FORMAT, LAYOUT, $at) } {
                    let place = begin..end_of(end, begin, text)?;
                    begin = place.end;
                    one(part, place, text, each)?;
                }
            })*
        };
    }
    each_part!(0 1 2 3 4 5 6 7);
    debug_assert_eq!(begin, text.len());
    Ok(())
}

/// Returns what is made of the layout that has such a text's length, with code for each that the row has.
macro_rules! by_layout {
    ($row:ident, $text:ident, |$layout:ident, $at:ident| $made:expr) => {
        by_layout!($row, $text, |$layout, $at| $made, 0 1 2 3 4 5 6)
    };
    ($row:ident, $text:ident, |$layout:ident, $at:ident| $made:expr, $($number:literal)*) => {
        const { assert!(Format::MOST_TEXTS == 7) };
        $(if const { layout_at($row::FORMAT, $number).is_some() } {
            const $at: usize = $number;
            if let Some($layout) = const { layout_at($row::FORMAT, $number) }.filter(|layout| layout.has_length($text.len())) {
                return $made;
            }
        })*
    };
}
pub(super) use by_layout;

/// Reads one part.
#[inline(always)]
fn one(part: &'static Part, place: Range<usize>, text: &[u8], each: &mut impl Each) -> Result<(), Fault> {
    match part {
        Part::Literal(byte) if text[place.start] != *byte => return Err(Fault::NotThis(place.start, *byte)),
        Part::Number(number) => {
            let Some(bits) = number::read(number, &text[place.clone()]) else { return Err(Fault::Part(part, place)) };
            let fields = fields_of(number, bits).map_err(Fault::Said)?;
            each.number(number, fields, bits, place);
        }
        Part::Word(word) if !is_word(word, &text[place.clone()]) => return Err(Fault::Part(part, place)),
        Part::Rest if text.get(place.start).is_some_and(|byte| *byte != b'-') => {
            return Err(Fault::NotThis(place.start, b'-'));
        }
        Part::Word(word) => each.word(word, place),
        Part::Literal(_) | Part::Rest => {}
    }
    Ok(())
}

#[inline(always)]
fn end_of(end: End, begin: usize, text: &[u8]) -> Result<usize, Fault> {
    let end = match end {
        End::After(length) => begin + length,
        End::Before(rest) => text.len() - rest,
        End::At(next) => {
            let length = text[begin..].iter().position(|byte| *byte == next);
            begin + length.ok_or(Fault::Said("a dot is missing"))?
        }
    };
    if end <= text.len() { Ok(end) } else { Err(Fault::Length) }
}

/// The fields whose constants a number has, and whose values are valid.
#[inline(always)]
pub(super) fn fields_of(number: &Number, bits: Wide) -> Result<&'static Fields, &'static str> {
    let fields = match number.fields {
        [only] if bits.low & only.mask == only.wanted => only,
        several => several.iter().find(|fields| bits.low & fields.mask == fields.wanted).ok_or(number.no_fields)?,
    };
    if !fields.has_ranges {
        return Ok(fields);
    }
    let mut place = fields.width;
    for field in fields.list {
        place -= field.bits;
        if let Some((least, most, error)) = field.range {
            let value = bits.bits(place, field.bits) as u64;
            if value < least || value > most {
                return Err(error);
            }
        }
    }
    Ok(fields)
}

fn is_word(word: &Word, text: &[u8]) -> bool {
    let around = |byte: u8| text.first() == Some(&byte) || text.last() == Some(&byte);
    text.iter().all(|byte| word.digits.value(*byte).is_some()) && !word.not_around.is_some_and(|(byte, _)| around(byte))
}

/// Versions after 00 may have more after what is known.
fn check_version(layout: &Text, text: &[u8]) -> Result<(), Fault> {
    match &text[..2] {
        b"ff" => Err(Fault::Said("version ff is not valid")),
        b"00" if text.len() != layout.least => Err(Fault::SaidOfLength("a traceparent of version 00 has 55")),
        _ => Ok(()),
    }
}

/// The error of a fault.
#[cold]
fn explained(format: &'static Format, text: &[u8], fault: Fault) -> FormatError {
    match fault {
        Fault::Length if has_another_layout(format, text.len()) => {
            FormatError::value("ids of this length have another layout, which has a name of its own")
        }
        Fault::Length => FormatError::length(text.len(), format.length),
        Fault::NotThis(index, byte) => wrong(text, index, quoted(byte)),
        Fault::Said(why) => FormatError::value(why),
        Fault::SaidOfLength(expected) => FormatError::length(text.len(), expected),
        Fault::Part(Part::Number(number), place) => why_no_number(number, text, place),
        Fault::Part(Part::Word(word), place) => {
            let index = place.clone().find(|index| word.digits.value(text[*index]).is_none());
            match (index, word.not_around) {
                (Some(index), _) => wrong(text, index, word.digits.expected),
                (None, around) => FormatError::value(around.map_or("a part is missing", |(_, error)| error)),
            }
        }
        Fault::Part(..) => FormatError::value("a part is missing"),
    }
}

/// Whether another format, which people call the same, has ids of this length: the error names all lengths.
fn has_another_layout(format: &Format, length: usize) -> bool {
    // Not a digit of the name, as in b3.
    let lengths = format.length.split(" has ").last().unwrap_or_default();
    lengths.split(|char: char| !char.is_ascii_digit()).any(|named| named.parse() == Ok(length))
}

fn wrong(text: &[u8], index: usize, expected: &'static str) -> FormatError {
    FormatError::character(index + 1, text[index], expected)
}

fn why_no_number(number: &Number, text: &[u8], place: Range<usize>) -> FormatError {
    if place.is_empty() {
        return FormatError::value("a number is missing");
    }
    let digits = number.digits.for_text(&text[place.clone()]);
    let pattern = number.pattern.map(|pattern| pattern.text.as_bytes());
    let mut is_zero = true;
    for index in place.clone() {
        match pattern.map_or(b'.', |pattern| pattern[index - place.start]) {
            b'.' => match digits.value(text[index]) {
                Some(value) => is_zero &= value == 0,
                None => return wrong(text, index, digits.expected),
            },
            byte if byte != text[index] => return wrong(text, index, quoted(byte)),
            _ => {}
        }
    }
    let last = digits.value(text[place.end - 1]).unwrap_or_default();
    if u32::from(last) & ((1 << number.pad) - 1) != 0 {
        let (position, byte) = (place.end, text[place.end - 1]);
        return FormatError::last_character(position, byte, number.padded);
    }
    FormatError::value(number.nonzero.filter(|_| is_zero).unwrap_or(number.too_large))
}

/// The numbers of a text, in their order, and its time.
struct Found<const COUNT: usize> {
    numbers: [Wide; COUNT],
    count: usize,
    ms: Option<i64>,
}

impl<const COUNT: usize> Each for Found<COUNT> {
    #[inline(always)]
    fn number(&mut self, _: &'static Number, fields: &'static Fields, bits: Wide, _: Range<usize>) {
        if let Some(place) = self.numbers.get_mut(self.count) {
            *place = bits;
            self.count += 1;
        }
        self.ms = self.ms.or(fields.ms(bits));
    }
}

/// The numbers in a text, in their order.
pub(crate) fn numbers<const COUNT: usize>(format: &'static Format, text: &[u8]) -> Result<[Wide; COUNT], FormatError> {
    numbers_and_ms(format, text).map(|(numbers, _)| numbers)
}

/// The numbers in a text, and its time.
pub(crate) fn numbers_and_ms<const COUNT: usize>(
    format: &'static Format,
    text: &[u8],
) -> Result<([Wide; COUNT], Option<i64>), FormatError> {
    let mut found = Found { numbers: [Wide::default(); COUNT], count: 0, ms: None };
    match scan(format, text, &mut found) {
        Ok(_) => Ok((found.numbers, found.ms)),
        Err(fault) => Err(explained(format, text, fault)),
    }
}

/// The numbers in a text of a format that the compiler knows, and makes code for.
#[inline(always)]
pub(super) fn numbers_of<R: Row, const COUNT: usize>(text: &[u8]) -> Result<[u128; COUNT], FormatError> {
    let mut found = Found { numbers: [Wide::default(); COUNT], count: 0, ms: None };
    by_layout!(R, text, |layout, AT| match scan_alone::<R, AT>(layout, text, &mut found) {
        Ok(()) => Ok(found.numbers.map(|bits| bits.low)),
        Err(fault) => Err(explained(R::FORMAT, text, fault)),
    });
    Err(explained(R::FORMAT, text, Fault::Length))
}

/// The fields of all numbers in a text, in their order.
pub(crate) fn fields<const COUNT: usize>(format: &'static Format, text: &[u8]) -> Result<[u128; COUNT], FormatError> {
    struct Values<const COUNT: usize>([u128; COUNT], usize);

    impl<const COUNT: usize> Each for Values<COUNT> {
        fn number(&mut self, _: &'static Number, fields: &'static Fields, bits: Wide, _: Range<usize>) {
            for (_, value) in fields.values(bits) {
                if let Some(place) = self.0.get_mut(self.1) {
                    *place = value;
                    self.1 += 1;
                }
            }
        }
    }

    let mut values = Values([0; COUNT], 0);
    match scan(format, text, &mut values) {
        Ok(_) => Ok(values.0),
        Err(fault) => Err(explained(format, text, fault)),
    }
}

/// All that a text holds.
struct All<'a> {
    text: &'a [u8],
    found: &'a mut Anatomy,
    only_number: Option<(Wide, &'static Fields)>,
}

impl Each for All<'_> {
    fn number(&mut self, _: &'static Number, fields: &'static Fields, bits: Wide, place: Range<usize>) {
        self.only_number = Some((bits, fields));
        show(fields, bits, &self.text[place], self.found);
    }

    fn word(&mut self, word: &'static Word, place: Range<usize>) {
        if let Some(name) = word.name {
            self.found.parts.push((name, in_ascii(self.text[place].to_vec()).into()));
        }
    }
}

/// What a text holds as an id of a format.
pub(super) fn anatomy(format: &'static Format, text: &[u8], chosen: &Numbers) -> Result<Anatomy, FormatError> {
    if format.rule == Some(Rule::Layout) {
        return layout::anatomy(format, text, chosen);
    }
    let mut found = Anatomy { parts: Vec::with_capacity(4), ..Anatomy::default() };
    let mut all = All { text, found: &mut found, only_number: None };
    let layout = scan(format, text, &mut all).map_err(|fault| explained(format, text, fault))?;
    let only_number = all.only_number;
    if let Some((bits, fields)) = only_number.filter(|_| layout.has_one_number) {
        found.bytes = bytes_of(bits, fields.width);
        found.fields = fields.list.iter().map(|field| (field.name, field.bits as usize)).collect();
    }
    found.text = match layout.is_canonical && (text.len() == layout.least || layout.most < usize::MAX) {
        true => in_ascii(text.to_vec()),
        false => written(format, layout, text, only_number.map_or(Wide::default(), |(bits, _)| bits)),
    };
    if format.rule == Some(Rule::Traceparent) {
        keep_what_is_known(&mut found, text);
    }
    Ok(found)
}

/// Only the flag for sampling means the same in a later version; version 00 is written.
fn keep_what_is_known(found: &mut Anatomy, text: &[u8]) {
    if text[..2] == *b"00" && matches!(text[53..], [b'0', b'0'..=b'3']) {
        return;
    }
    let mut flags = 0;
    for (name, value) in &mut found.parts {
        if *name == "random" && text[..2] != *b"00" {
            *value = Value::Flag(false);
        }
        flags += match (*name, &value) {
            ("sampled", Value::Flag(true)) => 1,
            ("random", Value::Flag(true)) => 2,
            _ => 0,
        };
    }
    found.text.replace_range(..2, "00");
    found.text.replace_range(53.., &format!("{flags:02}"));
}

/// How an id is written that was read from this text. If the text is in another alphabet or layout, its only number is written anew.
fn written(format: &Format, layout: &Text, text: &[u8], bits: Wide) -> String {
    let mut written = Vec::with_capacity(text.len() + 4);
    let mut begin = 0;
    for (part, end) in layout.parts.iter().zip(&layout.ends) {
        let end = end_of(*end, begin, text).unwrap_or(begin);
        let read = &text[begin..end];
        begin = end;
        match part {
            Part::Number(number) if layout.is_another || number.digits.other.is_some() => {
                number::write(format.texts[0].only_number().unwrap_or(number), bits, &mut written);
            }
            Part::Number(number) => number::rewrite(number, read, &mut written),
            Part::Literal(_) | Part::Word(_) => written.extend_from_slice(read),
            Part::Rest => {}
        }
    }
    in_ascii(written)
}

/// Digits, words and what is between them are ASCII.
pub(super) fn in_ascii(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_default()
}

/// Adds the fields of a number.
fn show(fields: &'static Fields, bits: Wide, text: &[u8], found: &mut Anatomy) {
    let mut end = fields.width;
    let listed = fields.list.iter().map(|field| {
        end -= field.bits;
        (end, field)
    });
    for (place, field) in listed.chain(fields.shown.iter().map(|(place, field)| (*place, field))) {
        // Most fields of a UUID are not shown: their values are not looked at.
        if matches!(field.kind, Kind::Time(_) | Kind::Bits | Kind::Is(_)) {
            continue;
        }
        if let Some(value) = value_of(field, bits.bits(place, field.bits), text) {
            found.parts.push((field.name, value));
        }
    }
    let Some(clock) = fields.clock else { return };
    found.ms = fields.ms(bits);
    let time = || bits.bits(fields.pieces[0].0, fields.pieces[0].1) as u64;
    if let Some(name) = clock.rest {
        found.parts.push((name, (time() % clock.per_unit).into()));
    }
    if found.ms == Some(i64::MAX) {
        found.far_ms = Some(time()).filter(|time| i64::try_from(*time).is_err());
    }
}

fn bytes_of(bits: Wide, width: u32) -> Vec<u8> {
    let (high, low) = (bits.high.to_be_bytes(), bits.low.to_be_bytes());
    let count = width.div_ceil(8) as usize;
    match count.checked_sub(16) {
        Some(0) => low.to_vec(),
        Some(more) => [&high[8 - more..], &low].concat(),
        None => low[16 - count..].to_vec(),
    }
}

pub(super) fn value_of(field: &Field, bits: u128, text: &[u8]) -> Option<Value> {
    Some(match field.kind {
        Kind::Time(_) | Kind::Bits | Kind::Is(_) => return None,
        Kind::Int => (bits as u64).into(),
        Kind::Hex => hexadecimal(bits, field.bits.div_ceil(4) as usize).into(),
        Kind::Ip => Ipv4Addr::from_bits(bits as u32).to_string().into(),
        Kind::Mac => mac(bits).into(),
        Kind::Flag => Value::Flag(bits != 0),
        Kind::Digits => in_ascii(text.to_vec()).into(),
        Kind::Variant => Value::Text(variant(bits).into()),
        Kind::Uuid => uuid(bits).into(),
    })
}

/// The last of the 32 hexadecimal digits of a number.
fn hexadecimal(bits: u128, count: usize) -> String {
    in_ascii(hex::encode_128_bits(bits)[32 - count..].to_vec())
}

fn mac(bits: u128) -> String {
    let digits = hex::encode_128_bits(bits);
    let mut text = *b"..:..:..:..:..:..";
    for (place, pair) in text.chunks_mut(3).zip(digits[20..].chunks(2)) {
        place[..2].copy_from_slice(pair);
    }
    in_ascii(text.to_vec())
}

fn uuid(bits: u128) -> String {
    let digits = hexadecimal(bits, 32);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The variant of a UUID, by the highest three bits that it may take.
fn variant(bits: u128) -> &'static str {
    match bits {
        0..4 => "ncs",
        4 | 5 => "rfc9562",
        6 => "microsoft",
        _ => "future",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::named;

    /// Which may be any bytes.
    #[test]
    fn the_rest_of_a_later_traceparent_is_left_out() {
        let known = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let text = [b"cc", known.as_bytes(), b"-\xff"].concat();
        let found = anatomy(named("traceparent").unwrap(), &text, &Numbers::UNKNOWN).unwrap();
        assert_eq!(found.text, format!("00{known}"));
    }

    #[test]
    fn an_error_says_where_or_of_what_length() {
        let error = |name, text: &str| {
            anatomy(named(name).unwrap(), text.as_bytes(), &Numbers::UNKNOWN).map(|_| ()).unwrap_err().to_string()
        };
        let another = "ids of this length have another layout, which has a name of its own";
        assert_eq!(error("unique_id", &"A".repeat(24)), another);
        assert!(error("unique_id", &"A".repeat(25)).contains("24 or 27"));
        // Nothing but zeros, and one character that is no digit.
        for (name, zeros) in [("ksuid", 26), ("ulid", 25), ("xid", 19), ("flake", 21)] {
            let error = error(name, &("0".repeat(zeros) + "!"));
            assert!(error.contains(&(zeros + 1).to_string()), "{error}");
        }
    }
}
