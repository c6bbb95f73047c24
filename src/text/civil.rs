//! Dates of the proleptic Gregorian calendar, in UTC: milliseconds since 1970 as text, and text as milliseconds.

use super::decimal::PAIRS;
use std::fmt;

const MS_A_DAY: i64 = 86_400_000;
const DAYS_IN_400_YEARS: i64 = 146_097;
/// Days from 0000-03-01, where this calendar starts, to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_BEFORE_MARCH_OF_YEAR_0: u32 = 60;

/// The years that have four digits.
pub(crate) const FOUR_DIGITS_MS: std::ops::Range<i64> = -62_167_219_200_000..253_402_300_800_000;

/// A moment in milliseconds since 1970-01-01 UTC, written as `2014-09-01T00:00:00.000Z`.
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    /// The length of the text of a year with four digits.
    pub(crate) const LEN: usize = 24;

    /// The text, if the year has four digits.
    #[inline]
    pub(crate) fn to_text(&self) -> Option<[u8; Self::LEN]> {
        if !FOUR_DIGITS_MS.contains(&self.0) {
            return None;
        }
        let since_year_0 = (self.0 - FOUR_DIGITS_MS.start) as u64;
        let (days, ms) = ((since_year_0 / MS_A_DAY as u64) as u32, (since_year_0 % MS_A_DAY as u64) as u32);
        let (year, month, day) = date_of(days);
        let seconds = ms / 1000;
        let minutes = seconds / 60;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        // The last two digits of a number.
        let mut put = |at: usize, number: u32| text[at..at + 2].copy_from_slice(&PAIRS[number as usize % 100]);
        put(0, year / 100);
        put(2, year);
        put(5, month);
        put(8, day);
        put(11, minutes / 60);
        put(14, minutes % 60);
        put(17, seconds % 60);
        put(20, ms / 10);
        text[22] += (ms % 10) as u8;
        Some(text)
    }
}

/// The year, the month and the day, this many days after 0000-01-01: as in "Euclidean affine functions and their
/// application to calendar algorithms" by Neri and Schneider, which needs no division by a variable.
#[inline]
fn date_of(days: u32) -> (u32, u32, u32) {
    // Years begin in March here, so that the leap day is the last day of a year, and 400 years earlier.
    let days = 4 * (days + DAYS_IN_400_YEARS as u32 - DAYS_BEFORE_MARCH_OF_YEAR_0) + 3;
    let (century, day_of_century) = (days / DAYS_IN_400_YEARS as u32, days % DAYS_IN_400_YEARS as u32 / 4);
    // 2^32 / 2939745 is 365.25 days, times four.
    let years = 2_939_745 * u64::from(4 * day_of_century + 3);
    let (year_of_century, day_of_year) = ((years >> 32) as u32, years as u32 / 2_939_745 / 4);
    // 2^16 / 2141 is the 30.6 days of a month between March and February.
    let months = 2141 * day_of_year + 197_913;
    let (month, day) = (months >> 16, (months & 0xffff) / 2141 + 1);
    let in_next_year = day_of_year >= 306;
    let year = 100 * century + year_of_century + u32::from(in_next_year) - 400;
    (year, if in_next_year { month - 12 } else { month }, day)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_text() {
            Some(text) => f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?),
            None => write!(f, "{} ms after 1970", self.0),
        }
    }
}

/// Reads `2014-09-01`, `2014-09-01T12:30:00Z` or `2014-09-01T12:30:00.250Z`.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time.strip_suffix('Z')?)),
        None => (text, None),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (hour, minute, second, ms) = match time {
        None => (0, 0, 0, 0),
        Some(time) => {
            let (time, ms) = match time.split_once('.') {
                Some((time, ms)) => (time, numbers(ms, '.', [3])?[0]),
                None => (time, 0),
            };
            let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
            (hour, minute, second, ms)
        }
    };
    if minute > 59 || second > 59 {
        return None;
    }

    let (year_from_march, month_from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (year_from_march.div_euclid(400), year_from_march.rem_euclid(400));
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let days = era * DAYS_IN_400_YEARS + 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let moment = (days - DAYS_TO_1970) * MS_A_DAY + ((hour * 60 + minute) * 60 + second) * 1000 + ms;
    // A month, day or hour that there is not turns into another day.
    Moment(moment).to_text()?.starts_with(date.as_bytes()).then_some(moment)
}

fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut values = [0; N];
    for (value, digits) in values.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *value = part.parse().ok()?;
    }
    parts.next().is_none().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_dates() {
        for (text, ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2010-11-04T01:42:54.657Z", 1_288_834_974_657),
            ("2014-09-01T00:00:00.000Z", 1_409_529_600_000),
            ("2016-05-19T16:00:00.000Z", 1_463_673_600_000),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("1969-12-31T23:59:59.999Z", -1),
            ("0000-03-01T00:00:00.000Z", -62_162_035_200_000),
        ] {
            assert_eq!(Moment(ms).to_string(), text);
            assert_eq!(parse(text), Some(ms));
        }
        assert_eq!(parse("2014-09-01"), Some(1_409_529_600_000));
        assert_eq!(parse("2014-09-01T00:00:01Z"), Some(1_409_529_601_000));
    }

    #[test]
    fn no_date() {
        for text in ["", "2014", "2014-9-1", "2014-02-29", "2014-13-01", "2014-00-01", "2014-09-01T24:00:00Z"] {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in [
            "2014-09-01T00:00:00",
            "2014-09-01T00:00Z",
            "2014-09-01T00:00:00.1Z",
            "+014-09-01",
            "2014-09-01-01",
            "2014-09-01T+1:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ms in FOUR_DIGITS_MS) {
            prop_assert_eq!(parse(&Moment(ms).to_string()), Some(ms));
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,30}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{0,12}Z") {
            parse(&text);
        }
    }

    #[test]
    fn each_day_is_that_of_jiff() {
        // Each at another time: of 800 years all days, twice all that there are, and one a month of the others.
        let moment = |ms: i64| ms + (ms / MS_A_DAY * 7_654_321).rem_euclid(MS_A_DAY);
        let near = (-DAYS_IN_400_YEARS..DAYS_IN_400_YEARS).map(|day| day * MS_A_DAY);
        for ms in near.chain(FOUR_DIGITS_MS.step_by(29 * MS_A_DAY as usize)).map(moment) {
            let after_1970 = jiff::SignedDuration::from_millis(ms);
            let expected = format!("{:.3}Z", jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0) + after_1970);
            assert_eq!((Moment(ms).to_string(), parse(&expected)), (expected, Some(ms)));
        }
        for outside in [FOUR_DIGITS_MS.start - 1, FOUR_DIGITS_MS.end, i64::MIN, i64::MAX] {
            assert_eq!(Moment(outside).to_text(), None);
        }
        assert_eq!(Moment(FOUR_DIGITS_MS.end).to_string(), "253402300800000 ms after 1970");
    }

    #[test]
    fn no_year_has_a_13th_month_and_no_day_a_25th_hour() {
        let is_date = |month: u32, day: u32| (1..=12).contains(&month) && (1..=31).contains(&day);
        for (month, day) in (0..100).flat_map(|month| (0..100).map(move |day| (month, day))) {
            let date = format!("2024-{month:02}-{day:02}");
            assert!(parse(&date).is_none() || is_date(month, day), "{date}");
        }
        let hours = (0..100).filter(|hour| parse(&format!("2024-12-31T{hour:02}:59:59.999Z")).is_some());
        assert!(hours.eq(0..24));
    }

    #[test]
    fn no_hour_has_a_60th_minute() {
        for time in ["24:00:00", "12:60:00", "12:00:60", "12:60:60"] {
            assert_eq!(parse(&format!("2026-01-01T{time}Z")), None, "{time}");
        }
    }
}
