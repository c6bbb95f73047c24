//! Which reading of a text is likeliest.

use super::anatomy::Numbers;
use super::row::{Format, Holds, Rule, Text};
use super::table::{ALL, TXID};
use super::time::{holds, is_by_chance};
use crate::snowflake::Layout;

/// The formats that have ids of a length, a bit for each; the last is for all longer texts.
static BY_LENGTH: [u64; 65] = {
    const { assert!(ALL.len() <= 64) };
    let (mut by_length, mut at) = ([0; 65], 0);
    while at < ALL.len() {
        let mut text = 0;
        while text < ALL[at].texts.len() {
            let Text { least, most, .. } = ALL[at].texts[text];
            let mut length = least;
            while length <= most && length < by_length.len() {
                by_length[length] |= 1 << at;
                length += 1;
            }
            if most >= by_length.len() {
                by_length[by_length.len() - 1] |= 1 << at;
            }
            text += 1;
        }
        at += 1;
    }
    by_length
};

/// The places in the list of the formats that have ids as long as this text.
pub(super) fn of_its_length(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut left = BY_LENGTH[text.len().min(BY_LENGTH.len() - 1)];
    std::iter::from_fn(move || {
        let at = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (at < u64::BITS).then_some(at as usize)
    })
}

/// Ids of later times are unlikely: a day from now.
const DAY_MS: i64 = 86_400_000;

/// Most ids that are met were made in the last hour.
const HOUR_MS: i64 = 3_600_000;

/// Bonus for an id of the last hour, in bits of [`Holds`]: years have this many bits more milliseconds than an hour.
const BITS_OF_AN_HOUR: u32 = 16;

/// Penalty for an unlikely time; exceeds any gap between formats of one shape.
const BITS_OF_NO_TIME: u32 = 32;

/// A reading is certain when it leads all others by this margin.
const CERTAIN_BITS: u32 = 16;

/// A text as an id of one format.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    format: &'static Format,
    /// How 64-bit ids are read.
    pub numbers: Numbers,
    /// The name of their layout, where nobody chose one.
    pub layout: Option<&'static str>,
    /// The milliseconds since 1970, if the id has a time.
    pub ms: Option<i64>,
    /// Why it is unlikely to be an id of this format.
    pub unlikely: Option<Unlikely>,
    bits: u32,
}

/// Why a text is unlikely to be an id of a format that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlikely {
    /// Its time is before such ids existed.
    TooEarly,
    /// Its time is more than a day ahead.
    TooLate,
    /// It is rather a word, or random characters.
    ByChance,
}

/// What says how likely a reading is.
pub(super) struct Rank {
    pub ms: Option<i64>,
    pub unlikely: Option<Unlikely>,
    pub bits: u32,
}

impl Rank {
    #[inline]
    fn new(format: &'static Format, text: &[u8], numbers: &Numbers, now_ms: i64) -> Option<Self> {
        let rank = Self::of(format, (format.holds)(text, numbers)?, now_ms);
        let is_old = rank.ms.is_some_and(|ms| !is_new(ms, now_ms));
        if rank.unlikely.is_none() && is_old && is_by_chance(format, text, rank.bits) {
            return Some(Self { unlikely: Some(Unlikely::ByChance), bits: rank.bits + BITS_OF_NO_TIME, ..rank });
        }
        Some(rank)
    }

    #[inline(always)]
    pub(super) fn of(format: &'static Format, holds: Holds, now_ms: i64) -> Self {
        let since_ms = format.since_ms;
        let unlikely = match holds.ms {
            Some(ms) if ms < since_ms => Some(Unlikely::TooEarly),
            Some(ms) if ms > now_ms.saturating_add(DAY_MS) => Some(Unlikely::TooLate),
            _ => None,
        };
        let bits = match (unlikely, holds.ms) {
            (Some(_), _) => holds.bits + BITS_OF_NO_TIME,
            (None, Some(ms)) if is_new(ms, now_ms) => holds.bits - BITS_OF_AN_HOUR,
            (None, _) => holds.bits,
        };
        Self { ms: holds.ms, unlikely, bits }
    }
}

/// Whether a time is less than an hour away.
#[inline(always)]
fn is_new(ms: i64, now_ms: i64) -> bool {
    // In fewer instructions than by `abs_diff`.
    ms.wrapping_sub(now_ms).wrapping_add(HOUR_MS) as u64 <= 2 * HOUR_MS as u64
}

/// The time of a txid of the last hour. Whatever else such a text could be would be older.
#[inline]
pub(crate) fn new_txid_ms(text: &[u8], now_ms: i64) -> Option<i64> {
    let held = holds::<TXID>(text, &Numbers::UNKNOWN)?;
    held.ms.filter(|ms| is_new(*ms, now_ms) && *ms >= TXID.since_ms)
}

/// The time of a txid of a likely time. The other formats of its length are not likelier: such an xid would be older, and a push
/// id has more bits.
#[inline]
pub(super) fn likely_txid_ms(text: &[u8], now_ms: i64) -> Option<i64> {
    Rank::new(&TXID, text, &Numbers::UNKNOWN, now_ms).filter(|txid| txid.unlikely.is_none())?.ms
}

impl Format {
    /// How often chance makes an id of this format of a text with as many of its digits: from 0 to 1. Where the digits have few
    /// other bits than the time, only one of the last hour is an id. None if the text can be none.
    ///
    /// ```
    /// let id = txid::formats::named("trace_id").unwrap();
    /// assert_eq!(id.chance(b"4bf92f3577b34da6a3ce929d0e0e4736"), Some(1.0 / 2048.0));
    /// assert_eq!(id.chance(b"4bf92f3577b34da6a3ce929d0e0e473"), None);
    /// ```
    pub fn chance(&self, text: &[u8]) -> Option<f64> {
        let layout = self.texts.iter().find(|layout| self.has_a_time() && layout.has_length(text.len()))?;
        let number = layout.only_number().filter(|number| number.pattern.is_none() && !self.takes_a_layout())?;
        let bits = (number.digits.base() as f64).log2() * text.len() as f64;
        let are_digits = text.iter().all(|byte| number.digits.value(*byte).is_some());
        let weight = f64::from(layout.weight);
        let weight = if weight < bits { weight } else { weight - f64::from(BITS_OF_AN_HOUR) };
        are_digits.then(|| (weight - bits).exp2().min(1.0))
    }
}

/// Whether a reading is nearly as likely as the likeliest one.
#[inline(always)]
pub(super) fn is_near(bits: u32, least: u32) -> bool {
    bits < least + CERTAIN_BITS
}

impl Reading {
    pub(super) fn new(format: &'static Format, text: &[u8], numbers: Numbers, now_ms: i64) -> Option<Self> {
        let Rank { ms, unlikely, bits } = Rank::new(format, text, &numbers, now_ms)?;
        Some(Self { format, numbers, layout: None, ms, unlikely, bits })
    }

    /// The format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// The name of the format.
    pub fn name(&self) -> &'static str {
        self.format.name
    }

    /// Ties: the later time wins; among unlikely readings, the least wrong.
    pub(super) fn is_likelier(&self, other: &Self) -> bool {
        let wrong_by = |it: &Self| match (it.unlikely, it.ms) {
            (Some(Unlikely::TooEarly), Some(ms)) => it.format.since_ms.abs_diff(ms),
            (Some(Unlikely::TooLate), Some(ms)) => ms as u64,
            _ => 0,
        };
        (self.bits, wrong_by(self), other.ms) < (other.bits, wrong_by(other), self.ms)
    }
}

/// All readings of a text, the likeliest first.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    found: [Option<Reading>; Readings::MOST],
}

impl Readings {
    /// No text fits more formats and layouts.
    pub const MOST: usize = 16;

    /// What `text` can be when the clock reads `now_ms`. Unless a layout is chosen, a number is read in each known one.
    ///
    /// A reading is likelier if its format has fewer ids. It is unlikely if its time is before such ids existed, or more
    /// than a day ahead, or if chance makes such texts.
    ///
    /// ```
    /// use txid::formats::{Numbers, Readings, Unlikely};
    ///
    /// // An xid of 2026 would be a txid of 2028, or a push id of 7771.
    /// let now_ms = 1_795_000_000_000;
    /// let found = Readings::of(b"dbuodg30ui3e8a215n4g", &Numbers::UNKNOWN, now_ms);
    /// let names: Vec<_> = found.iter().map(|it| (it.name(), it.unlikely)).collect();
    /// assert_eq!(names, [("xid", None), ("txid", Some(Unlikely::TooLate)), ("pushid", Some(Unlikely::TooLate))]);
    /// ```
    pub fn of(text: &[u8], numbers: &Numbers, now_ms: i64) -> Self {
        let mut readings = Self { found: [None; Self::MOST] };
        for format in of_its_length(text).map(|at| ALL[at]) {
            if format.rule != Some(Rule::Layout) || numbers.is_chosen {
                readings.add(Reading::new(format, text, *numbers, now_ms));
                continue;
            }
            if !text.iter().all(u8::is_ascii_digit) {
                continue;
            }
            // Leaf's bits are snowflake's.
            for (name, layout) in Layout::PRESETS.into_iter().filter(|(name, _)| *name != "leaf") {
                let reading = Reading::new(format, text, Numbers { layout, is_chosen: false }, now_ms);
                readings.add(reading.map(|it| Reading { layout: Some(name), ..it }));
            }
        }
        readings
    }

    fn add(&mut self, mut added: Option<Reading>) {
        for place in &mut self.found {
            let Some(reading) = &added else { return };
            if place.as_ref().is_none_or(|there| reading.is_likelier(there)) {
                std::mem::swap(place, &mut added);
            }
        }
    }

    /// The readings, the likeliest first.
    pub fn iter(&self) -> impl Iterator<Item = &Reading> {
        self.found.iter().flatten()
    }

    /// The likeliest reading, if no other with another time, or without one, is nearly as likely. A number is never certain.
    ///
    /// ```
    /// use txid::formats::{Numbers, Readings};
    ///
    /// let certain = |text: &str, now_ms| {
    ///     let found = Readings::of(text.as_bytes(), &Numbers::UNKNOWN, now_ms);
    ///     found.certain().map(|it| it.name())
    /// };
    /// // Of 2018-04-01; an xid of 2017-02-16 has the same text.
    /// assert_eq!(certain("b2fr5nvqg00000000000", 1_522_545_689_000), Some("txid"));
    /// assert_eq!(certain("b2fr5nvqg00000000000", 1_795_000_000_000), None);
    /// ```
    pub fn certain(&self) -> Option<&Reading> {
        let first = self.likely().next()?;
        self.likely().all(|it| it.ms == first.ms).then_some(first)
    }

    /// The likeliest reading and those close to it. Numbers, and ids with an impossible time, have none.
    pub fn likely(&self) -> impl Iterator<Item = &Reading> {
        let first = self.found[0].filter(|it| it.unlikely.is_none() && it.layout.is_none());
        self.iter().take_while(move |it| first.is_some_and(|first| is_near(it.bits, first.bits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Txid;
    use crate::formats::row::{Field, Kind, Part};

    #[test]
    fn a_time_is_likely_from_the_formats_beginning_until_a_day_from_now() {
        const NOW_MS: i64 = 1_800_000_000_000;
        for format in ALL {
            let unlikely = |ms| Rank::of(format, Holds { ms: Some(ms), bits: 64 }, NOW_MS).unlikely;
            let [first, last] = [format.since_ms, NOW_MS + DAY_MS];
            assert!(unlikely(first).is_none() && unlikely(last).is_none());
            assert_eq!(unlikely(last + 1), Some(Unlikely::TooLate));
            assert!(first.checked_sub(1).is_none_or(|before| unlikely(before) == Some(Unlikely::TooEarly)));
        }
    }

    #[test]
    fn an_id_is_new_within_an_hour_of_now() {
        const NOW_MS: i64 = 1_800_000_000_000;
        let is_new_by = |by_ms| is_new(NOW_MS + by_ms, NOW_MS);
        let around = [-HOUR_MS - 1, -HOUR_MS, 0, HOUR_MS, HOUR_MS + 1];
        assert_eq!(around.map(is_new_by), [false, true, true, true, false]);
    }

    #[test]
    fn a_time_is_certain_if_no_other_reading_is_near() {
        let texts = [
            ("b2fr5nvqg00000000000", 1_522_545_688_554),
            ("dbuodg30ui3e8a215n4g", 1_795_000_000_000),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_645_557_742_000),
            ("4bf92f3577b34da6a3ce929d0e0e4736", 1_795_000_000_000),
            ("1541815603606036480", 1_656_432_460_105),
            ("01arz3ndektsv4rrffq69g5fav", 1_469_922_850_259),
            ("507f1f77bcf86cd799439011", 1_350_508_407_000),
            ("none", 0),
        ];
        let nows =
            |made_ms| [made_ms - 2 * DAY_MS, made_ms, made_ms + HOUR_MS, made_ms + HOUR_MS + 1, 1_795_000_000_000];
        for (text, now_ms) in texts.iter().flat_map(|(text, made_ms)| nows(*made_ms).map(|now_ms| (text, now_ms))) {
            let found = Readings::of(text.as_bytes(), &Numbers::UNKNOWN, now_ms);
            let is_alone = |it: &Reading| found.likely().all(|other| other.ms == it.ms);
            assert_eq!(
                found.certain().map(Reading::name),
                found.likely().next().filter(|it| is_alone(it)).map(Reading::name)
            );
        }
        let [(txid, made_ms), ..] = texts;
        let new = |now_ms| new_txid_ms(txid.as_bytes(), now_ms);
        assert_eq!([made_ms, made_ms + HOUR_MS, made_ms + HOUR_MS + 1].map(new), [Some(made_ms), Some(made_ms), None]);
        let first = Txid::of(TXID.since_ms, 0).to_string();
        assert_eq!(new_txid_ms(first.as_bytes(), TXID.since_ms), Some(TXID.since_ms));
        let before = Txid::of(TXID.since_ms - 1, 0).to_string();
        assert_eq!(new_txid_ms(before.as_bytes(), TXID.since_ms), None);
        assert!(is_near(40 + CERTAIN_BITS - 1, 40) && !is_near(40 + CERTAIN_BITS, 40));
    }

    #[test]
    fn a_number_has_no_likely_reading_even_if_its_time_is_now() {
        let (ms, now_ms) = (1_794_999_000_000_i64, 1_795_000_000_000);
        let found = Readings::of((ms << 16).to_string().as_bytes(), &Numbers::UNKNOWN, now_ms);
        assert!(found.iter().any(|it| it.ms == Some(ms)));
        assert_eq!(found.likely().count(), 0);
    }

    #[test]
    fn a_txid_of_a_likely_time_is_the_likeliest_reading() {
        const NOW_MS: i64 = 1_800_000_000_000;
        let chosen = Numbers { is_chosen: true, ..Numbers::UNKNOWN };
        let steps = (TXID.since_ms..NOW_MS + DAY_MS).step_by(4_567_891);
        for ms in steps.chain([NOW_MS - HOUR_MS, NOW_MS, NOW_MS + HOUR_MS, NOW_MS + DAY_MS]) {
            // Zeros make an xid, too.
            for text in [0, u64::MAX, ms as u64].map(|bits| Txid::of(ms, bits).to_string()) {
                let likeliest = Readings::of(text.as_bytes(), &chosen, NOW_MS).iter().next().map(Reading::name);
                assert_eq!(likeliest, Some("txid"), "{text}");
                assert_eq!(likely_txid_ms(text.as_bytes(), NOW_MS), Some(ms), "{text}");
            }
        }
        let later = Txid::of(NOW_MS + DAY_MS + 1, 0).to_string();
        assert_eq!(likely_txid_ms(later.as_bytes(), NOW_MS), None);
    }

    #[test]
    fn of_equal_readings_the_first_of_the_list_comes_first() {
        // This number has one time as either.
        let ms: i64 = 1_309_292_672_667;
        let found = Readings::of((ms << 16).to_string().as_bytes(), &Numbers::UNKNOWN, 1_795_000_000_000);
        let layouts: Vec<_> = found.iter().filter(|it| it.ms == Some(ms)).map(|it| it.layout).collect();
        assert_eq!(layouts, [Some("snowflake"), Some("mastodon")]);
    }

    #[test]
    fn a_trace_id_rarely_has_a_large_sequence() {
        let bits = |sequence: u128| {
            let text = format!("{:032x}", 1_795_000_000_000_u128 << 87 | sequence << 64 | 1);
            let found = Readings::of(text.as_bytes(), &Numbers::UNKNOWN, 1_795_000_000_000);
            found.iter().find(|it| it.name() == "trace_id").unwrap().bits
        };
        assert_eq!((bits(0xfff), bits(0x1000)), (bits(0), bits(0) + 13));
    }

    /// The bits in which ids can differ: those of fields that vary, and of the time from the format's beginning until now.
    fn bits_that_vary(format: &Format, now_ms: i64) -> f64 {
        let of_part = |part: &Part| match part {
            Part::Number(number) => {
                // A reader by a name that reads more than its own has its own last.
                let fields = number.fields.iter().rfind(|fields| fields.more == Some(0)).unwrap_or(&number.fields[0]);
                let digits = number.count() as f64 * (number.digits.base() as f64).log2();
                let of_field = |field: &Field| match (field.kind, field.range) {
                    (Kind::Is(_) | Kind::Time(_), _) => 0.0,
                    (_, Some((least, most, _))) => ((most - least + 1) as f64).log2(),
                    _ if field.rarely_above.is_some() => (field.rarely_above.unwrap().0 as f64).log2(),
                    _ => f64::from(field.bits),
                };
                let time = fields.clock.map_or(0.0, |clock| {
                    ((now_ms - format.since_ms) as f64 / clock.unit_ms as f64 * clock.per_unit as f64).log2()
                });
                fields.list.iter().map(of_field).sum::<f64>().min(digits) + time
            }
            Part::Word(word) if word.least == word.most => {
                word.most as f64 * (word.digits.alphabet.len() as f64).log2()
            }
            _ => 0.0,
        };
        format.texts[0].parts.iter().map(of_part).sum()
    }

    #[test]
    fn a_weight_is_near_the_bits_in_which_ids_can_differ() {
        for format in ALL.iter().copied().filter(|format| format.is_read()) {
            let near = match format.name {
                // Threads have small numbers, and all of a process have one instance.
                "skywalking" => 33.0,
                // Versions and flags have few values.
                "traceparent" => 17.0,
                _ => 12.0,
            };
            let (weight, bits) = (f64::from(format.texts[0].weight), bits_that_vary(format, 1_795_000_000_000));
            assert!((weight - bits).abs() < near, "{}: {weight}, but its fields have {bits:.0}", format.name);
        }
    }
}
