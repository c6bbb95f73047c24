//! Reads times on the command line.

use anyhow::{Context, Result, anyhow, bail};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use std::ops::RangeInclusive;

/// The last millisecond that a txid can hold.
pub const LAST_MS: i64 = (1 << 42) - 1;

/// nginx's `$time_local`, which its access log has in brackets.
const OF_NGINX: &str = "%d/%b/%Y:%H:%M:%S %z";

/// Milliseconds since 1970 of a time in one of the forms in the help. `option` is for errors.
pub fn parse(option: &str, text: &str) -> Result<i64> {
    parse_at(text, Timestamp::now(), &local_zone).with_context(|| format!("{option} '{text}'"))
}

/// Milliseconds since 1970 of the moment that is a span such as `10m` ago.
pub fn parse_since(option: &str, text: &str) -> Result<i64> {
    let parsed = span(text)
        .ok_or_else(|| anyhow!("not a span of time; write it as 10m, 1h30m or '2 days'"))
        .and_then(|span| before(Timestamp::now(), span));
    parsed.with_context(|| format!("{option} '{text}'"))
}

/// The milliseconds from one time until before another, so that windows which follow each other have none in common.
pub(crate) fn window(from: (&str, i64), to: (&str, i64)) -> Result<RangeInclusive<i64>> {
    if from.1 >= to.1 {
        bail!("the window is empty: {} is {}, and {} is {}", from.0, rfc3339(from.1), to.0, rfc3339(to.1));
    }
    Ok(from.1..=to.1 - 1)
}

/// The millisecond in RFC 3339, UTC; 1970 if the calendar does not have it.
pub fn rfc3339(ms: i64) -> String {
    rfc3339_of(timestamp(ms).unwrap_or_default())
}

/// The moment in RFC 3339, UTC.
pub fn rfc3339_of(moment: Timestamp) -> String {
    format!("{moment:.3}")
}

/// The moment of a millisecond; None after the year 9999, where the calendar ends.
pub fn timestamp(ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(ms).ok()
}

/// The time zone of the variable TZ, or the system's. A system without one is in UTC.
pub(crate) fn local_zone() -> Result<TimeZone> {
    TimeZone::try_system().or_else(|_| match std::env::var_os("TZ") {
        Some(name) => {
            bail!(
                "TZ is '{}', which is not a time zone on this system; set it as in TZ=Europe/Berlin, or unset it",
                name.to_string_lossy()
            )
        }
        None => Ok(TimeZone::UTC),
    })
}

/// Where the clock reads `now`. The zone is only asked for if it matters.
fn parse_at(text: &str, now: Timestamp, zone: &dyn Fn() -> Result<TimeZone>) -> Result<i64> {
    if text == "now" {
        return in_range(now);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is outside the range anyway, like the nearest one that fits.
        let end = if digits == text { i64::MAX } else { i64::MIN };
        return ms_in_range(text.parse().unwrap_or(end));
    }
    if let Ok(moment) = strtime::parse(OF_NGINX, text.trim_matches(['[', ']'])).and_then(|time| time.to_timestamp()) {
        return in_range(moment);
    }
    if has_an_offset(text) {
        return match (text.parse(), offset_hours(text)) {
            (_, Some(24..)) => Err(anyhow!("the offset is too large; offsets are from -23:59 to +23:59")),
            (Ok(moment), _) => in_range(moment),
            (Err(_), _) => Err(not_a_time()),
        };
    }
    if let Some(time) = clock(text) {
        let zone = zone()?;
        return at(now.to_zoned(zone.clone()).date().to_datetime(time), zone);
    }
    if let Some(span) = span(text.strip_suffix("ago").unwrap_or(text)) {
        return before(now, span);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return at(local, zone()?);
    }
    // A day by its name, which may be followed by a time of that day.
    let (day, time) = match text.rsplit_once(' ').and_then(|(day, time)| Some((day, clock(time)?))) {
        Some(both) => both,
        None => (text, Time::midnight()),
    };
    let zone = zone()?;
    at(day_named(day, &now.to_zoned(zone.clone())).ok_or_else(not_a_time)?.to_datetime(time), zone)
}

fn not_a_time() -> anyhow::Error {
    anyhow!(
        "not a time; write it as 2018-04-01T01:21:28.552Z, '2018-04-01 01:21', 2018-04-01, 10:00, yesterday, \
         'last tuesday', '10m ago', 1522545688552 or now"
    )
}

/// `10:00`, with or without seconds and their fractions.
fn clock(text: &str) -> Option<Time> {
    let begins_as_one = matches!(text.as_bytes(), [b'0'..=b'9', b'0'..=b'9', b':', ..]);
    text.parse().ok().filter(|_| begins_as_one)
}

fn day_named(name: &str, today: &Zoned) -> Option<Date> {
    match name.to_ascii_lowercase().as_str() {
        "today" => Some(today.date()),
        "yesterday" => today.date().yesterday().ok(),
        name => {
            let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
            let day = days.iter().position(|day| name.strip_prefix("last ") == Some(*day))?;
            today.date().nth_weekday(-1, Weekday::from_monday_zero_offset(day as i8).ok()?).ok()
        }
    }
}

/// Whether a moment is named, and not a local time.
fn has_an_offset(text: &str) -> bool {
    text.get(10..).is_some_and(|after_the_date| {
        text.as_bytes()[0].is_ascii_digit() && after_the_date.contains(['Z', 'z', '+', '-', '['])
    })
}

/// The hours of the offset at the end of a time. The parser reads some that RFC 3339 does not have.
fn offset_hours(text: &str) -> Option<u32> {
    let (_, offset) = text.get(10..)?.rsplit_once(['+', '-'])?;
    offset.get(..2)?.parse().ok()
}

/// A local time. One that is skipped when clocks are set forward is read with the offset from before.
fn at(local: DateTime, zone: TimeZone) -> Result<i64> {
    match local.to_zoned(zone) {
        Ok(zoned) => in_range(zoned.timestamp()),
        // Outside the calendar.
        Err(_) => ms_in_range(if local.year() > 0 { i64::MAX } else { i64::MIN }),
    }
}

/// A positive span of time, with its units: 25:00:00 is more likely a mistake.
fn span(text: &str) -> Option<Span> {
    let has_units = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    text.trim_end().parse::<Span>().ok().filter(|span| has_units && span.is_positive())
}

fn before(now: Timestamp, span: Span) -> Result<i64> {
    match now.to_zoned(TimeZone::UTC).checked_sub(span) {
        Ok(zoned) => in_range(zoned.timestamp()),
        // Before the calendar.
        Err(_) => ms_in_range(i64::MIN),
    }
}

fn in_range(time: Timestamp) -> Result<i64> {
    ms_in_range(time.as_nanosecond().div_euclid(1_000_000) as i64)
}

fn ms_in_range(ms: i64) -> Result<i64> {
    if ms < 0 {
        bail!("before {}, the first time that an id can hold", rfc3339(0));
    }
    if ms > LAST_MS {
        bail!("after {}, the last time that an id can hold", rfc3339(LAST_MS));
    }
    Ok(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `text` is read as in Berlin, and where it is UTC, on a Wednesday: 2018-03-28T12:00+02:00.
    fn read(text: &str) -> [String; 2] {
        let now = "2018-03-28T10:00:00Z".parse().unwrap();
        let berlin = || Ok(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?);
        [parse_at(text, now, &berlin), parse_at(text, now, &|| Ok(TimeZone::UTC))].map(|ms| rfc3339(ms.unwrap()))
    }

    #[test]
    fn a_time_without_a_day_is_of_the_local_day() {
        let now = "2018-03-27T23:30:00Z".parse().unwrap();
        let berlin = || Ok(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?);
        for (text, expected) in [("10:00", "2018-03-28T08:00:00.000Z"), ("today 10:00", "2018-03-28T08:00:00.000Z")] {
            assert_eq!(rfc3339(parse_at(text, now, &berlin).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, berlin, utc) in [
            ("2018-03-01 10:00:00", "2018-03-01T09:00:00.000Z", "2018-03-01T10:00:00.000Z"),
            ("2018-03-01T10:00", "2018-03-01T09:00:00.000Z", "2018-03-01T10:00:00.000Z"),
            ("2018-03-01", "2018-02-28T23:00:00.000Z", "2018-03-01T00:00:00.000Z"),
            ("today", "2018-03-27T22:00:00.000Z", "2018-03-28T00:00:00.000Z"),
            ("yesterday", "2018-03-26T22:00:00.000Z", "2018-03-27T00:00:00.000Z"),
            ("Yesterday 10:00", "2018-03-27T08:00:00.000Z", "2018-03-27T10:00:00.000Z"),
            ("10:00", "2018-03-28T08:00:00.000Z", "2018-03-28T10:00:00.000Z"),
            ("10:00:30.5", "2018-03-28T08:00:30.500Z", "2018-03-28T10:00:30.500Z"),
            ("last tuesday", "2018-03-26T22:00:00.000Z", "2018-03-27T00:00:00.000Z"),
            ("last Wednesday", "2018-03-20T23:00:00.000Z", "2018-03-21T00:00:00.000Z"),
            ("last thursday 09:30", "2018-03-22T08:30:00.000Z", "2018-03-22T09:30:00.000Z"),
            ("5d", "2018-03-23T10:00:00.000Z", "2018-03-23T10:00:00.000Z"),
            ("2h ago", "2018-03-28T08:00:00.000Z", "2018-03-28T08:00:00.000Z"),
            ("now", "2018-03-28T10:00:00.000Z", "2018-03-28T10:00:00.000Z"),
            // Clocks were set from 02:00 to 03:00.
            ("2018-03-25 02:30", "2018-03-25T01:30:00.000Z", "2018-03-25T02:30:00.000Z"),
            // The last second of 2016 was a leap second; that of 2018 was not.
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z", "2016-12-31T23:59:59.000Z"),
            ("2018-03-27 23:59:60", "2018-03-27T21:59:59.000Z", "2018-03-27T23:59:59.000Z"),
        ] {
            assert_eq!(read(text), [berlin, utc], "{text}");
        }
    }
}
