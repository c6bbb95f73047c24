//! The time in ids, the ids of a time, and what they sort by.

use super::anatomy::Numbers;
use super::read::{Each, by_layout, in_ascii, layout_at, scan, scan_alone};
use super::row::{Chance, Clock, Fields, Format, Holds, Kind, Number, Part, Row, Rule, Text, Texts};
use super::wide::Wide;
use super::{layout, number};
use std::ops::{Range, RangeInclusive};

/// What is added to the weight of such an id; None if it is rather an id of another format.
#[inline(always)]
fn more_of(fields: &Fields, bits: Wide) -> Option<u32> {
    let (mut more, mut place) = (fields.more?, fields.width);
    if !fields.has_rare_values {
        return Some(more);
    }
    for field in fields.list {
        place -= field.bits;
        if let Some((most, added)) = field.rarely_above {
            more += if bits.bits(place, field.bits) as u64 > most { added } else { 0 };
        }
    }
    Some(more)
}

/// Whether a text is a word rather than an id of this weight.
pub(super) fn is_by_chance(format: &Format, text: &[u8], bits: u32) -> bool {
    let layout = format.texts.iter().find(|layout| layout.has_length(text.len()));
    let Some(chance) = layout.map(|layout| layout.chance).filter(|chance| *chance != Chance::Unknown) else {
        return false;
    };
    // Eight characters at once: of letters, `@` and `_`, bit 6 is set, and of lower case bit 5 as well.
    let [mut upper, mut lower] = [0; 2];
    let mut add = |eight: [u8; 8]| {
        let characters = u64::from_ne_bytes(eight);
        let letters = characters & u64::from_ne_bytes([0x40; 8]);
        lower |= letters & characters << 1;
        upper |= letters & !(characters << 1);
    };
    text.chunks_exact(8).filter_map(|eight| eight.first_chunk().copied()).for_each(&mut add);
    text.last_chunk().copied().into_iter().for_each(add);
    match chance {
        Chance::Cases => (upper == 0) == (lower == 0),
        _ => {
            let (bits, length) = (2 * bits as usize, text.len());
            bits > 12 * length || bits > 11 * length && (upper == 0 || lower == 0 || are_words(text))
        }
    }
}

/// Whether all are letters, `@`, `-` and `_`, and none of `A` to `Z`, `@` and `_` is beside another. There are about as many such
/// texts as of letters and digits in one case.
fn are_words(text: &[u8]) -> bool {
    let is_upper = |byte: &u8| (b'@'..=b'_').contains(byte);
    !text.iter().any(u8::is_ascii_digit) && !text.windows(2).any(|two| two.iter().all(is_upper))
}

/// What a text holds as an id of a format that the compiler knows, and makes code for alone.
#[inline(always)]
pub(super) fn holds<R: Row>(text: &[u8], numbers: &Numbers) -> Option<Holds> {
    if const { matches!(R::FORMAT.rule, Some(Rule::Layout)) } {
        return layout::holds(R::FORMAT, text, numbers);
    }
    by_layout!(R, text, |layout, AT| {
        let mut held = TimeAndWeight { ms: None, more: Some(0) };
        scan_alone::<R, AT>(layout, text, &mut held).ok()?;
        Some(Holds { ms: held.ms, bits: layout.weight + held.more? })
    });
    None
}

struct TimeAndWeight {
    ms: Option<i64>,
    /// Added to the weight; None for an id that is rather of another format.
    more: Option<u32>,
}

impl Each for TimeAndWeight {
    #[inline(always)]
    fn number(&mut self, _: &'static Number, fields: &'static Fields, bits: Wide, _: Range<usize>) {
        self.ms = self.ms.or(fields.ms(bits));
        self.more = self.more.and_then(|more| Some(more + more_of(fields, bits)?));
    }
}

/// What ids sort by.
struct Order {
    order: u128,
    is_sorted: bool,
}

impl Each for Order {
    fn number(&mut self, number: &'static Number, fields: &'static Fields, bits: Wide, _: Range<usize>) {
        // Ids with other constants, such as a UUID of another version, do not sort with these.
        self.is_sorted &= std::ptr::eq(fields, &number.fields[0]);
        self.order = match number.bits {
            129.. => bits.shifted_down(number.bits - 128).low,
            65..=128 => bits.low,
            _ => self.order * u128::from(number.digits.base()).pow(number.count() as u32) + bits.low,
        };
    }
}

impl Format {
    /// The milliseconds since 1970 in `text`, if it is an id of this format and holds a time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".as_bytes();
    /// assert_eq!(named("uuid_v7").unwrap().ms(uuid, &Numbers::UNKNOWN), Some(1_645_557_742_000));
    /// assert_eq!(named("uuid_v4").unwrap().ms(uuid, &Numbers::UNKNOWN), None);
    /// ```
    pub fn ms(&'static self, text: &[u8], numbers: &Numbers) -> Option<i64> {
        (self.holds)(text, numbers)?.ms
    }

    /// Whether its ids hold the time when they were made.
    pub fn has_a_time(&self) -> bool {
        self.since_ms != i64::MIN
    }

    /// The milliseconds since 1970 before which there were no such ids, if they hold a time.
    pub fn since_ms(&self) -> Option<i64> {
        Some(self.since_ms).filter(|_| self.has_a_time())
    }

    /// Whether texts of ids sort as the ids do; None if ids do not sort by their time.
    pub fn texts_sort(&self) -> Option<Texts> {
        self.sorts
    }

    /// What ids sort by: a number of all their bits, or, if they do not sort by time, the milliseconds alone. Of more than
    /// 128 bits, the first. None if `text` is not an id of this format with a time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let order = |text: &str| named("uuid_v7").unwrap().order(text.as_bytes(), &Numbers::UNKNOWN);
    /// assert!(order("017f22e2-79b0-7cc3-98c4-dc0c0c07398f") < order("017f22e2-79b0-7cc3-98c4-dc0c0c073990"));
    /// ```
    pub fn order(&'static self, text: &[u8], numbers: &Numbers) -> Option<u128> {
        if !self.has_a_time() {
            return None;
        }
        if self.sorts.is_none() {
            // Times before 1970 come first.
            return Some(self.ms(text, numbers)?.abs_diff(i64::MIN).into());
        }
        if self.rule == Some(Rule::Layout) {
            return layout::order(self, text, numbers);
        }
        let mut order = Order { order: 0, is_sorted: true };
        scan(self, text, &mut order).ok().filter(|_| order.is_sorted).map(|_| order.order)
    }

    /// The milliseconds since 1970 that its ids can hold. None if they do not sort by their time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// assert_eq!(named("trace_id").unwrap().times(&Numbers::UNKNOWN), Some(0..=2_199_023_255_551));
    /// assert_eq!(named("uuid_v1").unwrap().times(&Numbers::UNKNOWN), None);
    /// ```
    pub fn times(&self, numbers: &Numbers) -> Option<RangeInclusive<i64>> {
        self.sorts?;
        match self.clock() {
            Some((number, fields, clock)) => {
                let units = highest(number).bits(0, fields.time_bits) as u64;
                // If units are not counted one by one, the last one is not whole.
                let units = if clock.per_unit == 1 { units } else { units / clock.per_unit - 1 };
                let begin = i64::try_from(units).unwrap_or(i64::MAX).saturating_mul(clock.unit_ms);
                Some(clock.epoch_ms..=begin.saturating_add(clock.epoch_ms).saturating_add(clock.unit_ms - 1))
            }
            None => Some(numbers.layout.range_ms()),
        }
    }

    /// The lowest id of the first of these milliseconds, and the highest of the last. None if ids do not sort by time,
    /// or cannot hold any of these times.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let bounds = named("uuid_v7").unwrap().bounds(1_522_545_688_552..=1_522_545_688_552, &Numbers::UNKNOWN).unwrap();
    /// assert_eq!(bounds, ["01627ecb-7fe8-7000-8000-000000000000", "01627ecb-7fe8-7fff-bfff-ffffffffffff"]);
    /// ```
    pub fn bounds(&self, ms: RangeInclusive<i64>, numbers: &Numbers) -> Option<[String; 2]> {
        self.bounds_as(self.texts.first()?, ms, numbers)
    }

    /// The bounds as they are written in one of its layouts.
    pub(super) fn bounds_as(&self, layout: &Text, ms: RangeInclusive<i64>, numbers: &Numbers) -> Option<[String; 2]> {
        let times = self.times(numbers)?;
        let (from, to) = (*ms.start().max(times.start()), *ms.end().min(times.end()));
        if from > to {
            return None;
        }
        if self.rule == Some(Rule::Layout) {
            let ([first, _], [_, last]) = (numbers.layout.ids_of(from), numbers.layout.ids_of(to));
            return Some([first, last].map(|id| id.to_string()));
        }
        Some([bound(layout, from, false), bound(layout, to, true)])
    }

    /// The number with the time, its fields and its clock.
    fn clock(&self) -> Option<(&'static Number, &'static Fields, Clock)> {
        self.texts.first()?.parts.iter().find_map(|part| match part {
            Part::Number(number) => Some((number, &number.fields[0], number.fields[0].clock?)),
            _ => None,
        })
    }
}

/// The lowest or the highest id of a millisecond.
fn bound(layout: &Text, ms: i64, is_last: bool) -> String {
    let mut text = Vec::new();
    for part in layout.parts {
        match part {
            Part::Literal(byte) => text.push(*byte),
            Part::Number(number) => number::write(number, bound_of(number, ms, is_last), &mut text),
            Part::Word(_) | Part::Rest => {}
        }
    }
    in_ascii(text)
}

/// The highest number that its digits and its bits have.
fn highest(number: &Number) -> Wide {
    let ones = Wide::ones(number.bits);
    match number.digits.base().checked_pow(number.count() as u32) {
        Some(digits) if u128::from(digits - 1) < ones.low => Wide::of(u128::from(digits - 1)),
        _ => ones,
    }
}

/// The lowest or the highest number of a millisecond, or of all if it has no time.
fn bound_of(number: &Number, ms: i64, is_last: bool) -> Wide {
    let fields = &number.fields[0];
    let Some(clock) = fields.clock else { return if is_last { highest(number) } else { Wide::default() } };
    let units = (i128::from(ms) - i128::from(clock.epoch_ms)) as u64 / clock.unit_ms as u64 * clock.per_unit;
    let time = match (is_last, ms) {
        // The last time is that of all later ones as well.
        (true, i64::MAX) => u64::MAX,
        (true, _) => units + clock.per_unit - 1,
        (false, _) => units,
    };
    let (mut bits, mut place) = (Wide::default(), fields.width);
    for field in fields.list {
        place -= field.bits;
        let value = match field.kind {
            Kind::Time(low) => Wide::of((time >> low).into()),
            Kind::Is(value) => Wide::of(value.into()),
            _ if is_last => Wide::ones(field.bits),
            _ => Wide::default(),
        };
        bits = bits.or(Wide::of(value.bits(0, field.bits)).shifted_up(place));
    }
    bits
}
