//! The time that a line of a log says it was written at.

use crate::blocks::line_end;
use crate::errors::complain;
use crate::zone::local_zone;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use memchr::{memchr, memchr_iter};
use std::ops::{Range, RangeInclusive};
use std::sync::Once;

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// What a time is called in JSON and in `key=value`.
const KEYS: [&str; 14] = [
    "time",
    "ts",
    "@timestamp",
    "timestamp",
    "__REALTIME_TIMESTAMP",
    "@t",
    "t",
    "datetime",
    "date",
    "asctime",
    "msec",
    "eventTime",
    "startTimeUnixNano",
    END_OF_SPAN,
];

/// In OTLP/JSON, behind the time when a span began.
pub(crate) const END_OF_SPAN: &str = "endTimeUnixNano";

/// Years back to a 29 February, where a line does not say its year.
const MOST_YEARS: i16 = 8;

const DAY_S: i64 = 86_400;
const YEAR_MS: i64 = 365 * DAY_S * 1000;

/// The longest text before a clock that is compared with the one of the line before.
const MOST_BEFORE: usize = 64;

/// Finds the times of lines.
pub(crate) struct LineTime {
    zone: TimeZone,
    /// No line of the file is later, so this tells a year that is missing.
    changed_ms: i64,
    changed_year: i16,
    /// The last local day, and what its clock was ahead of UTC, if that did not change.
    day: (i64, Option<i64>),
    before: Option<Before>,
}

/// How the time before was written: most lines differ from it in the clock alone.
struct Before {
    /// Where its text begins, after the first colon of the line, or whether the line begins there. It has one more byte before
    /// the time, and in JSON all of the line.
    from: isize,
    is_first: bool,
    /// The text before the clock, and after it up to the offset, with one more byte.
    head: Same,
    fraction: usize,
    tail: Same,
    /// Where the time begins in `head`.
    start: usize,
    /// The time of midnight.
    midnight_ms: i64,
    has_year: bool,
}

/// A time that stands in a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stamp {
    pub(crate) range: Range<usize>,
    /// Milliseconds since 1970.
    pub(crate) ms: i64,
    /// How many milliseconds it spans: a whole second, without a fraction.
    pub(crate) unit_ms: i64,
    has_year: bool,
}

/// A day that stands before a clock.
struct Day {
    start: usize,
    year: Option<i16>,
    month: u8,
    day: u8,
}

impl LineTime {
    /// In the local time zone. If there is none of its name, that is said, and lines are read as UTC.
    pub(crate) fn new() -> Self {
        static SAID: Once = Once::new();
        Self::of(local_zone().unwrap_or_else(|error| {
            SAID.call_once(|| complain(&error.context("times of lines without a zone are read as UTC")));
            TimeZone::UTC
        }))
    }

    pub(crate) fn of(zone: TimeZone) -> Self {
        let mut it = Self { zone, changed_ms: 0, changed_year: 0, day: (i64::MIN, None), before: None };
        it.begin(txid::system_ms());
        it
    }

    /// The lines that follow are of a file that was last changed then.
    pub(crate) fn begin(&mut self, changed_ms: i64) {
        (self.changed_ms, self.before) = (changed_ms, None);
        let changed = Timestamp::from_millisecond(changed_ms).unwrap_or_default();
        self.changed_year = changed.to_zoned(self.zone.clone()).year();
    }

    /// The first time in the line. In JSON, the first under the name of a time, if there is one.
    #[inline]
    pub(crate) fn find(&mut self, line: &[u8]) -> Option<Stamp> {
        match self.before.as_ref().and_then(|before| before.again(line, self.changed_ms)) {
            Some(stamp) => Some(stamp),
            None => self.search(line),
        }
    }

    /// The end of those lines from here on that are like the one before and not of these times, up to a place; and where
    /// the last of them has its time.
    #[inline]
    pub(crate) fn skip(&self, text: &[u8], mut at: usize, to: usize, times: &RangeInclusive<i64>) -> [usize; 2] {
        let (Some(before), mut last) = (&self.before, at) else { return [at; 2] };
        while at < to {
            let stamp = before.again(&text[at..], self.changed_ms);
            let Some(stamp) = stamp.filter(|stamp| !times.contains(&stamp.ms)) else { break };
            let start = at + stamp.range.start;
            let end = line_end(text, at + stamp.range.end);
            if end > to {
                break;
            }
            (at, last) = (end, start);
        }
        [at, last]
    }

    #[inline(never)]
    fn search(&mut self, line: &[u8]) -> Option<Stamp> {
        let stamp = self.first(line)?;
        if let Some(before) = memchr(b':', line).and_then(|colon| self.before_of(line, colon, &stamp)) {
            self.before = Some(before);
        }
        Some(stamp)
    }

    fn first(&mut self, line: &[u8]) -> Option<Stamp> {
        let first = self.next(line, 0)?;
        if line[0] != b'{' || is_named(line, first.range.start) {
            return Some(first);
        }
        let mut end = first.range.end;
        while let Some(stamp) = self.next(line, end) {
            if is_named(line, stamp.range.start) {
                return Some(stamp);
            }
            end = stamp.range.end;
        }
        Some(first)
    }

    fn next(&mut self, line: &[u8], start: usize) -> Option<Stamp> {
        let clock = memchr_iter(b':', &line[start..]).find_map(|colon| self.clock(line, start, start + colon));
        let end = clock.as_ref().map_or(line.len(), |clock| clock.range.start);
        counted(line, start..end).or(clock)
    }

    /// Reads `12:04:00` with its first colon here, after a day.
    #[inline]
    fn clock(&mut self, line: &[u8], start: usize, colon: usize) -> Option<Stamp> {
        let two = |at: usize| number(line.get(at..at + 2)?);
        if line.get(colon + 3) != Some(&b':') {
            return None;
        }
        let (minute, second) = (two(colon + 1)?, two(colon + 4)?);
        // Java writes 2:04:00 AM.
        let at = colon.checked_sub(2).filter(|at| line[*at].is_ascii_digit()).or(colon.checked_sub(1))?;
        let hour = number(&line[at..colon])?;
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let mut day = day_before(line, start, at)?;
        let mut end = colon + 6;
        let (mut ms, mut unit_ms) = (0, 1000);
        if let [b'.' | b',', digits @ ..] = &line[end..] {
            let count = leading_digits(digits);
            if count > 0 {
                ms = fraction_ms(&digits[..count]);
                unit_ms = 1;
                end += 1 + count;
            }
        }
        let (hour, more) = half_of_day(hour, &line[end..]);
        end += more;
        let (offset_s, more) = offset(&line[end..]).map_or((None, 0), |(offset_s, more)| (Some(offset_s), more));
        end += more;
        if day.year.is_none() {
            if let Some(year) = line.get(end + 1..end + 5).filter(|_| line[end] == b' ').and_then(year) {
                (day.year, end) = (Some(year), end + 5);
            }
        }
        let of_day_ms = of_day_ms(hour, minute, second.min(59));
        let (last, changed_ms) = (self.changed_year, self.changed_ms);
        let mut ms_in = |year| {
            let local_s = days(year, day.month, day.day)? * DAY_S + of_day_ms / 1000;
            let ahead_s = offset_s.map_or_else(|| self.ahead_s(local_s), Some)?;
            Some((local_s - ahead_s) * 1000 + ms)
        };
        let ms = match day.year {
            Some(year) => ms_in(year)?,
            None => (last - MOST_YEARS..=last).rev().find_map(|year| ms_in(year).filter(|ms| *ms <= changed_ms))?,
        };
        Some(Stamp { range: day.start..end, ms, unit_ms, has_year: day.year.is_some() })
    }

    /// What a local clock is ahead of UTC. One that is set back shows an hour twice: the first counts.
    fn ahead_s(&mut self, local_s: i64) -> Option<i64> {
        let ahead_s = |local_s| {
            let utc = Timestamp::from_second(local_s).ok()?.to_zoned(TimeZone::UTC).datetime();
            let moment = utc.to_zoned(self.zone.clone()).ok()?.timestamp();
            Some(local_s - moment.as_second())
        };
        let day = local_s.div_euclid(DAY_S);
        if day != self.day.0 {
            let [first, last] = [day * DAY_S, (day + 1) * DAY_S].map(ahead_s);
            self.day = (day, first.filter(|_| first == last));
        }
        self.day.1.or_else(|| ahead_s(local_s))
    }

    /// What is the same in the next line, if its clock alone is another one.
    fn before_of(&mut self, line: &[u8], colon: usize, stamp: &Stamp) -> Option<Before> {
        let (start, stop) = (stamp.range.start, stamp.range.end);
        let is_json = line[0] == b'{';
        let from = if is_json { 0 } else { colon.min(start.saturating_sub(1)) };
        let (clock, [hour, minute, second]) =
            (start..stop.saturating_sub(7)).rev().find_map(|at| Some((at, digits_of_clock(line, at)?)))?;
        let fraction = match &line[clock + 8..stop] {
            [b'.' | b',', digits @ ..] => leading_digits(digits),
            _ => 0,
        };
        let rest = clock + 8 + if fraction > 0 { 1 + fraction } else { 0 };
        let tail = line.get(rest..stop + 1)?;
        // Where clocks are set that day, or another half of it stands behind, each time is read anew.
        let is_of_zone = || self.day.1.is_some() && (stop == rest || tail.iter().any(u8::is_ascii_digit));
        let is_near = clock - from <= MOST_BEFORE
            && (offset(&line[rest..]).is_some() || is_of_zone())
            && !matches!(tail, [b'+' | b'-'])
            && (!is_json || is_named(line, start));
        is_near.then(|| Before {
            from: from as isize - colon as isize,
            is_first: from == 0,
            head: Same::new(&line[from..clock]),
            fraction,
            tail: Same::new(tail),
            start: start - from,
            midnight_ms: stamp.ms.div_euclid(1000) * 1000 - of_day_ms(hour, minute, second),
            has_year: stamp.has_year,
        })
    }
}

impl Before {
    /// The time of a line that is like the one before but for its clock.
    #[inline]
    fn again(&self, line: &[u8], changed_ms: i64) -> Option<Stamp> {
        let from = match self.is_first {
            true => 0,
            false => memchr(b':', line)?.checked_add_signed(self.from).filter(|from| *from > 0)?,
        };
        let clock = from + self.head.text.len();
        let end = clock + 8 + if self.fraction > 0 { 1 + self.fraction } else { 0 };
        if !self.head.is_at(line, from) || !self.tail.is_at(line, end) {
            return None;
        }
        let [hour, minute, second] = digits_of_clock(line, clock)?;
        let mut ms = self.midnight_ms + of_day_ms(hour, minute, second);
        let has_point = matches!(line[clock + 8], b'.' | b',');
        if self.fraction > 0 {
            let digits = &line[clock + 9..end];
            if !has_point || leading_digits(digits) < digits.len() {
                return None;
            }
            ms += fraction_ms(digits);
        } else if has_point {
            return None;
        }
        // What follows may be a zone, a year, or a half of the day. Without a year, it is of the last one before the change.
        let has_more = *self.tail.text == *b" "
            && line.get(end + 1).is_some_and(|byte| byte.is_ascii_digit() || b"+-UGAP".contains(byte));
        let is_of_year = self.has_year || (0..YEAR_MS).contains(&(changed_ms - ms));
        let start = from + self.start;
        if has_more || !is_of_year || counted(line, 0..start).is_some() {
            return None;
        }
        let (range, unit_ms) = (start..end + self.tail.text.len() - 1, if self.fraction > 0 { 1 } else { 1000 });
        Some(Stamp { range, ms, unit_ms, has_year: self.has_year })
    }
}

/// A text that is expected again: if it is short, it is compared at once.
struct Same {
    text: Vec<u8>,
    word: u128,
    mask: u128,
}

impl Same {
    fn new(text: &[u8]) -> Self {
        let mut bytes = [0; 16];
        let short = text.len().min(16);
        bytes[..short].copy_from_slice(&text[..short]);
        let mask = u128::MAX.checked_shl(8 * short as u32).map_or(u128::MAX, |above| !above);
        Self { text: text.to_vec(), word: u128::from_le_bytes(bytes), mask }
    }

    #[inline]
    fn is_at(&self, line: &[u8], at: usize) -> bool {
        match line.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) if self.text.len() <= 16 => u128::from_le_bytes(*bytes) & self.mask == self.word,
            _ => line.get(at..at + self.text.len()).is_some_and(|text| text == self.text),
        }
    }
}

fn of_day_ms(hour: u8, minute: u8, second: u8) -> i64 {
    ((i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second)) * 1000
}

/// The numbers of `12:04:00` at this place, with two digits each.
#[inline]
fn digits_of_clock(line: &[u8], at: usize) -> Option<[u8; 3]> {
    // All at once: what is left of digits is at most 9, and of colons 0.
    let text = u64::from_le_bytes(*line.get(at..)?.first_chunk()?) ^ u64::from_le_bytes(*b"00:00:00");
    let over = text.wrapping_add(u64::from_le_bytes([6, 6, 15, 6, 6, 15, 6, 6]));
    let two = |at: u32| ((text >> (8 * at)) as u8).wrapping_mul(10).wrapping_add((text >> (8 * at + 8)) as u8);
    let (hour, minute, second) = (two(0), two(3), two(6));
    let all_digits = (text | over) & 0xf0f0_f0f0_f0f0_f0f0 == 0;
    (all_digits && hour < 24 && minute < 60 && second < 60).then_some([hour, minute, second])
}

/// The milliseconds that the first three digits after the point say.
fn fraction_ms(digits: &[u8]) -> i64 {
    (0..3).fold(0, |ms, at| ms * 10 + digits.get(at).map_or(0, |digit| i64::from(digit - b'0')))
}

/// The day before a clock that begins here: `24/Nov/2026:`, `2026-11-24T`, `2026/11/24 `, `24-Nov-2026 `, `24 Nov 2026 `,
/// `Nov 24, 2026 `, `Nov 24 `, `I1124 ` or `I20261124 `.
#[inline]
fn day_before(line: &[u8], start: usize, at: usize) -> Option<Day> {
    let text = &line[start..at.checked_sub(1)?.max(start)];
    let between = line[at - 1];
    // apt writes two spaces.
    let text = if between == b' ' { text.strip_suffix(b" ").unwrap_or(text) } else { text };
    let from_end = |back: usize| text.len().checked_sub(back);
    if !matches!(between, b' ' | b'T' | b't' | b':') {
        return None;
    }
    // With its year at the end, or at the beginning.
    let tail = &text[from_end(5).unwrap_or(0)..];
    if let [sep @ (b'/' | b'-' | b' '), ..] = tail {
        if let (5, Some(year)) = (tail.len(), year(&tail[1..])) {
            let before = text.len() - 5;
            let of_name = before.checked_sub(3).and_then(|at| Some((at, month(&text[at..before])?)));
            if let Some((at, month)) = of_name {
                let end = at.checked_sub(1).filter(|end| text[*end] == *sep)?;
                let (first, day) = day_ending(text, end)?;
                return Some(Day { start: start + first, year: Some(year), month, day });
            }
            if *sep == b' ' {
                let end = if text[..before].ends_with(b",") { before - 1 } else { before };
                return named_day(text, end).map(|it| Day { start: start + it.start, year: Some(year), ..it });
            }
        }
    }
    if between == b':' {
        return None;
    }
    if let Some(first) = from_end(10) {
        let date = &text[first..];
        if date[4] == date[7] && matches!(date[4], b'-' | b'/') {
            let (year, month, day) = (year(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
            return Some(Day { start: start + first, year: Some(year), month, day });
        }
    }
    if between != b' ' {
        return None;
    }
    for length in [5, 9] {
        if let Some(first) = from_end(length).filter(|&first| b"IWEFD".contains(&text[first])) {
            let digits = &text[first + 1..];
            let is_word = first > 0 && text[first - 1].is_ascii_alphanumeric();
            if !is_word && digits.iter().all(u8::is_ascii_digit) {
                let year = if length == 9 { Some(year(&digits[..4])?) } else { None };
                let (month, day) = (number(&digits[length - 5..length - 3])?, number(&digits[length - 3..])?);
                return Some(Day { start: start + first, year, month, day });
            }
        }
    }
    named_day(text, text.len()).map(|it| Day { start: start + it.start, ..it })
}

/// `Nov 24` or `Nov  4` that ends here.
fn named_day(text: &[u8], end: usize) -> Option<Day> {
    let (first, day) = day_ending(text, end)?;
    let before = text[..first].trim_ascii_end();
    let start = before.len().checked_sub(3).filter(|_| (1..=2).contains(&(first - before.len())))?;
    Some(Day { start, year: None, month: month(&before[start..])?, day })
}

/// Where one or two digits begin that end here.
fn day_ending(text: &[u8], end: usize) -> Option<(usize, u8)> {
    let count = text[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=2).contains(&count) {
        return None;
    }
    Some((end - count, number(&text[end - count..end])?))
}

fn month(name: &[u8]) -> Option<u8> {
    MONTHS.iter().position(|month| month[..] == *name).map(|at| at as u8 + 1)
}

/// ` AM` or ` PM`, also after a narrow space that does not break, as newer Java writes it.
fn half_of_day(hour: u8, rest: &[u8]) -> (u8, usize) {
    let after = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix("\u{202f}".as_bytes()));
    let more = |after: &[u8]| rest.len() - after.len() + 2;
    match after {
        Some(after @ [b'A', b'M', ..]) => (hour % 12, more(after)),
        Some(after @ [b'P', b'M', ..]) => (hour % 12 + 12, more(after)),
        _ => (hour, 0),
    }
}

/// Seconds of `Z`, ` UTC`, `+00:00`, `+0000`, ` +0000` or `+00`, and its length.
fn offset(rest: &[u8]) -> Option<(i64, usize)> {
    if let Some(b'Z' | b'z') = rest.first() {
        return Some((0, 1));
    }
    let text = rest.strip_prefix(b" ").unwrap_or(rest);
    let space = rest.len() - text.len();
    if space == 1 && [&b"UTC"[..], b"GMT"].iter().any(|name| text.starts_with(name)) {
        return Some((0, 4));
    }
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes, length) = match (&text[1..], leading_digits(&text[1..])) {
        ([a, b, b':', c, d, ..], 2) if leading_digits(&text[4..]) == 2 => ([*a, *b], [*c, *d], 6),
        ([a, b, c, d, ..], 4) => ([*a, *b], [*c, *d], 5),
        ([a, b, ..], 2) if space == 0 => ([*a, *b], *b"00", 3),
        _ => return None,
    };
    let (hours, minutes) = (i64::from(number(&hours)?), i64::from(number(&minutes)?));
    let is_offset = hours < 24 && minutes < 60;
    is_offset.then_some((sign * (hours * 3600 + minutes * 60), space + length))
}

/// The first time within these bytes that is counted from 1970: in milliseconds or seconds with a fraction, and after the name
/// of a time also in seconds, microseconds and nanoseconds. It is of this century.
#[inline]
fn counted(line: &[u8], within: Range<usize>) -> Option<Stamp> {
    // Ten digits that follow each other have eight at one of these places.
    let mut at = within.start;
    while at < within.end {
        if !line[at..].first_chunk().is_some_and(are_digits) {
            at += 3;
            continue;
        }
        let back = line[within.start..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (start, end) = (at - back, at + leading_digits(&line[at..within.end]));
        if let Some(stamp) = counted_here(line, start, end) {
            return Some(stamp);
        }
        at = end + 1;
    }
    None
}

/// All at once.
#[inline]
fn are_digits(eight: &[u8; 8]) -> bool {
    let values = u64::from_ne_bytes(*eight) ^ u64::from_ne_bytes([b'0'; 8]);
    (values | values.wrapping_add(u64::from_ne_bytes([0x76; 8]))) & u64::from_ne_bytes([0x80; 8]) == 0
}

fn counted_here(line: &[u8], start: usize, end: usize) -> Option<Stamp> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
    let before = start.checked_sub(1).map(|before| line[before]);
    if line[start] != b'1' || before.as_ref().is_some_and(is_of_word) {
        return None;
    }
    let fraction = if line.get(end) == Some(&b'.') { leading_digits(&line[end + 1..]) } else { 0 };
    let whole_end = if fraction > 0 { end + 1 + fraction } else { end };
    if line.get(whole_end).is_some_and(is_of_word) {
        return None;
    }
    let digits = |range: Range<usize>| line[range].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let (ms, unit_ms) = match (end - start, fraction) {
        (13, _) => (digits(start..end), 1),
        (10, 3..) => (digits(start..end) * 1000 + digits(end + 1..end + 4), 1),
        (10, 0) if is_named(line, start) => (digits(start..end) * 1000, 1000),
        (10, 1) if is_named(line, start) => (digits(start..end) * 1000 + digits(end + 1..end + 2) * 100, 1),
        (10, 2) if is_named(line, start) => (digits(start..end) * 1000 + digits(end + 1..end + 3) * 10, 1),
        (16 | 19, 0) if is_named(line, start) => (digits(start..start + 13), 1),
        _ => return None,
    };
    Some(Stamp { range: start..whole_end, ms, unit_ms, has_year: true })
}

/// Whether the name of a time stands before this place, as in `"ts":`, `"time": "` or `time=`.
fn is_named(line: &[u8], at: usize) -> bool {
    let before = line[..at].strip_suffix(b"\"").unwrap_or(&line[..at]).trim_ascii_end();
    let Some(before) = before.strip_suffix(b":").or_else(|| before.strip_suffix(b"=")) else { return false };
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@-.".contains(byte);
    let name = &before[before.len() - before.iter().rev().take_while(|byte| of_name(byte)).count()..];
    KEYS.iter().any(|key| name.eq_ignore_ascii_case(key.as_bytes()))
}

fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The number of one or two digits.
#[inline]
fn number(digits: &[u8]) -> Option<u8> {
    match digits {
        [one @ b'0'..=b'9'] => Some(one - b'0'),
        [ten @ b'0'..=b'9', one @ b'0'..=b'9'] => Some((ten - b'0') * 10 + one - b'0'),
        _ => None,
    }
}

fn year(digits: &[u8]) -> Option<i16> {
    let [century, rest] = [number(digits.get(..2)?)?, number(digits.get(2..)?)?].map(i16::from);
    Some(century * 100 + rest).filter(|year| digits.len() == 4 && (1970..=2109).contains(year))
}

/// Days from 1970 to a day of the calendar: the year begins in March, so that a 29 February is its last day.
fn days(year: i16, month: u8, day: u8) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + u8::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (year, of_year) = (i64::from(year), (153 * i64::from(month) + 2) / 5 + i64::from(day) - 1);
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_of_a_line_is_its_own() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let ms = 1_795_521_840_000; // 2026-11-24T12:04:00Z
        let mut times = LineTime::of(berlin);
        times.begin(ms + 60_000);
        let mut end_of = |line: &str| times.find(line.as_bytes()).map(|it| it.ms + it.unit_ms);
        for (line, expected) in [
            ("1.2.3.4 - - [24/Nov/2026:12:04:00 +0000] \"GET / HTTP/1.1\" 2026-01-01 10:00:00", Some(ms + 1000)),
            ("[24/Nov/2026:13:04:00 +0100]", Some(ms + 1000)),
            ("24/Nov/2026:13:04:00 x", Some(ms + 1000)),
            ("2026-11-24T12:04:00Z x", Some(ms + 1000)),
            ("2016-12-31T23:59:60Z x", Some(1_483_228_800_000)),
            ("{\"time\":\"2026-11-24T14:04:00.123456+02:00\"}", Some(ms + 124)),
            ("2026-11-24 13:04:00,500 INFO", Some(ms + 501)),
            ("2026/11/24 13:04:00 [error] 7#7: *1 upstream: \"http://1.2.3.4:80/\"", Some(ms + 1000)),
            ("{\"level\":30,\"time\":1795521840000,\"msg\":\"at 12:04:00\"}", Some(ms + 1)),
            ("x 1795521840.250 0.100", Some(ms + 251)),
            ("1795521840.250999", Some(ms + 251)),
            ("1795521840.25 1795521840.250ms", None),
            ("2795521840250", None),
            ("2026-11-24t17:34:00z", Some(ms + 19_801_000)),
            ("2026-11-24T17:34:00+05:30", Some(ms + 1000)),
            ("[24/Nov/2026:04:04:00 -0800]", Some(ms + 1000)),
            ("2026-11-24T12:04:00.1234567899Z", Some(ms + 124)),
            ("1970-01-01T00:00:00Z", Some(1000)),
            ("1969-12-31T23:59:59Z", None),
            ("31/Dec/2109:23:59:59 +0000", Some(4_417_977_600_000)),
            ("2110-01-01T00:00:00Z", None),
            ("d21lobmf444gq3hnigp0 504 at 12:04:00", None),
            ("24/Now/2026:12:04:00 12:3", None),
            ("2026-13-24T12:04:00Z 2026-02-29T12:04:00Z 2026-11-31 12:04:00 2026-11-24 24:04:00", None),
            ("17955218400000 a1795521840000", None),
            ("2026-11-24 13:04:00, x", Some(ms + 1000)),
            ("2026-11-24T12:04:00+0000", Some(ms + 1000)),
            ("2026-11-24 12:04:00 +00:00", Some(ms + 1000)),
            ("2026-11-24 12-04-00 2026/11-24 13:04:00 2026-11-24_13:04:00", None),
            ("1795521840.1x0 17955218401.50", None),
            ("2026-11-24T12:+4:00Z", None),
            // syslog, RFC 5424, klog, glog, Tomcat, log4j and HTTP, Java, Apache, ctime, PostgreSQL, Go.
            ("Nov 24 13:04:00 web-1 sshd[7]: at 2026-01-01 10:00:00", Some(ms + 1000)),
            ("<34>1 2026-11-24T12:04:00.003Z web-1 su - ID47 - x", Some(ms + 4)),
            ("I1124 13:04:00.250000    7 main.go:7] x", Some(ms + 251)),
            ("E20261124 13:04:00.250000 7 a.cc:7] x", Some(ms + 251)),
            ("XI1124 13:04:00.250000 7 main.go:7] x", None),
            ("24-Nov-2026 13:04:00.250 INFO [main]", Some(ms + 251)),
            ("24 Nov 2026 13:04:00,250 INFO", Some(ms + 251)),
            ("Date: Tue, 24 Nov 2026 12:04:00 GMT", Some(ms + 1000)),
            ("Nov 24, 2026 1:04:00 PM com.acme.Main main", Some(ms + 1000)),
            ("Nov 24, 2026 1:04:00\u{202f}PM com.acme.Main main", Some(ms + 1000)),
            ("Nov 24, 2026 12:04:00 AM x", Some(ms - 13 * 3_600_000 + 1000)),
            ("[Tue Nov 24 13:04:00.250000 2026] [core:error]", Some(ms + 251)),
            ("Tue Nov 24 12:04:00 UTC 2026", Some(ms + 1000)),
            ("2026-11-24 12:04:00.250 UTC [7] LOG:  x", Some(ms + 251)),
            ("2026-11-24 13:04:00.250 CET [7] LOG:  x", Some(ms + 251)),
            ("2026-11-24 12:04:00.250+00 x", Some(ms + 251)),
            ("2026/11/24 13:04:00.250000 main.go:7: x", Some(ms + 251)),
            // Not after the file's own change.
            ("Nov 24 13:05:00 x", Some(ms + 61_000)),
            ("Nov 24 13:05:01 x", Some(ms + 62_000 - 365 * 86_400_000)),
            ("Dec  1 13:04:00 x", Some(ms + 1000 + (7 - 365) * 86_400_000)),
            ("Feb 29 13:04:00 x", Some(1_709_208_241_000)),
            ("Feb 30 13:04:00 x", None),
            // JSON and key=value.
            ("{\"msg\":\"since 2026-01-01T00:00:00Z\",\"time\":\"2026-11-24T12:04:00Z\"}", Some(ms + 1000)),
            ("{\"msg\":\"since 2026-11-24T12:04:00Z\"}", Some(ms + 1000)),
            ("{\"ts\":1795521840}", Some(ms + 1000)),
            ("{\"ts\":1795521840.25,\"a\":1}", Some(ms + 251)),
            ("{\"n\":1795521841,\"@timestamp\" : 1795521840000}", Some(ms + 1)),
            ("{\"__CURSOR\":\"s=0\",\"__REALTIME_TIMESTAMP\":\"1795521840000123\"}", Some(ms + 1)),
            ("{\"Timestamp\":1795521840000123456}", Some(ms + 1)),
            ("{\"n\":1,\"startTimeUnixNano\":\"1795521840000123456\",\"n\":1795521841}", Some(ms + 1)),
            ("level=info ts=1795521840.5 msg=x", Some(ms + 501)),
            ("{\"id\":1795521840000123456,\"n\":1795521840}", None),
        ] {
            // A second time, it is like the line before.
            assert_eq!([end_of(line), end_of(line)], [expected; 2], "{line}");
        }
        for (month, name) in (1..).zip("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(' ')) {
            let both = [format!("02/{name}/2026:00:00:00 +0000"), format!("2026-{month:02}-02T00:00:00Z")];
            let [logged, written] = both.map(|line| end_of(&line).expect(name));
            assert_eq!(logged, written, "{name}");
        }
        let line = "x [24/Nov/2026:12:04:00 +0000] y";
        assert_eq!(&line[times.find(line.as_bytes()).unwrap().range], "24/Nov/2026:12:04:00 +0000");
    }
}
