//! Reads times on the command line.

use crate::line_time::LineTime;
use crate::zone::local_zone;
use anyhow::{Context, Result, anyhow, bail};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, SpanRelativeTo, Timestamp, Unit, Zoned};

/// The last millisecond that a txid can hold.
pub const LAST_MS: i64 = (1 << 42) - 1;

/// Milliseconds since 1970 of a time in one of the forms in the help. `option` is for errors.
pub fn parse(option: &str, text: &str) -> Result<i64> {
    parse_at(text, Timestamp::now(), &local_zone).with_context(|| format!("{option} '{text}'"))
}

/// The milliseconds in a span such as `10m`.
pub(crate) fn parse_span(option: &str, text: &str) -> Result<i64> {
    let day = SpanRelativeTo::days_are_24_hours();
    let ms = span(text).ok_or_else(not_a_span).and_then(|span| match span.total((Unit::Millisecond, day)) {
        Ok(ms) if ms < 1.0 => bail!("less than a millisecond"),
        Ok(ms) if ms < LAST_MS as f64 => Ok(ms as i64),
        Ok(_) => bail!("longer than the times that an id can hold"),
        Err(_) => bail!("a month or a year is not always as long; give it in days or less"),
    });
    ms.with_context(|| format!("{option} '{text}'"))
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

/// Where the clock reads `now`. The zone is only asked for if it matters.
fn parse_at(text: &str, now: Timestamp, zone: &dyn Fn() -> Result<TimeZone>) -> Result<i64> {
    if text == "now" {
        return in_range(now);
    }
    if let Some(seconds) = text.strip_prefix('@') {
        return since_1970(seconds).ok_or_else(not_a_time).and_then(ms_in_range);
    }
    if is_digits(text) {
        return number(text, zone);
    }
    if let Some(rest) = text.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.ends_with("ago")) {
        return match is_digits(rest) {
            true => ms_in_range(i64::MIN),
            false => span(rest).ok_or_else(not_a_time).and_then(|span| later(now, -span)),
        };
    }
    if let Some(rest) = text.strip_prefix('+') {
        return span(rest).ok_or_else(not_a_time).and_then(|span| later(now, span));
    }
    if let Some((time, offset)) = clock(text) {
        let zone = offset.map_or_else(zone, Ok)?;
        return at(now.to_zoned(zone.clone()).date().to_datetime(time), zone);
    }
    if has_an_offset(text) {
        return match (text.parse(), offset_hours(text)) {
            (_, Some(24..)) => Err(anyhow!("the offset is too large; offsets are from -23:59 to +23:59")),
            (Ok(moment), _) => in_range(moment),
            (Err(_), _) => as_logged(text, now, zone)?.ok_or_else(not_a_time).and_then(ms_in_range),
        };
    }
    if let Some(span) = span(text.strip_suffix("ago").unwrap_or(text)) {
        return later(now, -span);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return at(local, zone()?);
    }
    if let Some(ms) = as_logged(text, now, zone)? {
        return ms_in_range(ms);
    }
    // A day by its name, which may be followed by a time of that day.
    let (day, (time, offset)) = match text.rsplit_once(' ').and_then(|(day, time)| Some((day, clock(time)?))) {
        Some(both) => both,
        None => (text, (Time::midnight(), None)),
    };
    let zone = offset.map_or_else(zone, Ok)?;
    at(day_named(day, &now.to_zoned(zone.clone())).ok_or_else(not_a_time)?.to_datetime(time), zone)
}

/// As a line of a log has it, which may be in brackets.
fn as_logged(text: &str, now: Timestamp, zone: &dyn Fn() -> Result<TimeZone>) -> Result<Option<i64>> {
    let text = text.trim_matches(['[', ']']);
    if !text.contains(':') || !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let mut times = LineTime::of(zone()?);
    times.begin(now.as_millisecond());
    let stamp = times.find(text.as_bytes()).filter(|stamp| stamp.range == (0..text.len()));
    Ok(stamp.map(|stamp| stamp.ms))
}

fn not_a_time() -> anyhow::Error {
    anyhow!(
        "not a time; write it as 2018-04-01T01:21:28.552Z, '2018-04-01 01:21', 2018-04-01, 10:00, 2:10am, 10:00Z, \
         yesterday, 'last tuesday', 10m or '10m ago', @1522545688, 1522545688552 or now"
    )
}

fn not_a_span() -> anyhow::Error {
    anyhow!("not a span of time; write it as 10m, 1h30m or '2 days'")
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Seconds since 1970, possibly with a fraction, in milliseconds.
fn since_1970(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = is_digits(seconds) && is_digits(fraction);
    let ms = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok().filter(|_| is_number)?;
    // A number that does not fit is outside the range anyway.
    Some(seconds.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(1000).saturating_add(ms))
}

/// A number says what it is by its length.
fn number(text: &str, zone: &dyn Fn() -> Result<TimeZone>) -> Result<i64> {
    let value: i64 = text.parse().unwrap_or(i64::MAX);
    let midnight = |year: i64, month: i64, day: i64| Date::new(year as i16, month as i8, day as i8).ok();
    let day = match text.len() {
        _ if value == 0 => return Ok(0),
        4 => midnight(value, 1, 1),
        8 => midnight(value / 10_000, value / 100 % 100, value % 100),
        10 => return ms_in_range(value * 1000),
        11..=13 => return ms_in_range(value),
        16 => bail!("{}; microseconds? milliseconds are the first 13 digits", too_late()),
        19 => bail!("{}; nanoseconds? milliseconds are the first 13 digits", too_late()),
        14.. => return ms_in_range(i64::MAX),
        _ => None,
    };
    match day.filter(|day| (1970..=2109).contains(&day.year())) {
        Some(day) => at(day.to_datetime(Time::midnight()), zone()?),
        None => bail!(
            "a number of {} is no time; write seconds since 1970 as @{text} or with 10 digits, milliseconds with 13, \
             a day as 2018-04-01 or 20180401, a year as 2018",
            if text.len() == 1 { "1 digit".to_string() } else { format!("{} digits", text.len()) }
        ),
    }
}

/// `10:00`, with or without seconds and their fractions, and its offset, if it has one; or `2:10am`.
fn clock(text: &str) -> Option<(Time, Option<TimeZone>)> {
    let lower = text.to_ascii_lowercase();
    for (half, more) in [("am", 0), ("pm", 12)] {
        let Some(time) = lower.strip_suffix(half).map(str::trim_end) else { continue };
        let (hour, rest) = time.split_at(time.find(':').unwrap_or(time.len()));
        let hour = hour.parse::<u8>().ok().filter(|it| (1..=12).contains(it) && is_digits(hour))?;
        let rest = if rest.is_empty() { ":00" } else { rest };
        return clock(&format!("{:02}{rest}", hour % 12 + more)).filter(|(_, zone)| zone.is_none());
    }
    if !matches!(text.as_bytes(), [b'0'..=b'9', b'0'..=b'9', b':', ..]) {
        return None;
    }
    let Some(offset) = text.find(['Z', 'z', '+', '-']) else { return Some((text.parse().ok()?, None)) };
    let time: Time = text[..offset].parse().ok()?;
    let moment: Timestamp = format!("2000-01-01T{text}").parse().ok()?;
    let utc = moment.to_zoned(TimeZone::UTC).datetime();
    let seconds = Date::new(2000, 1, 1).ok()?.to_datetime(time).duration_since(utc).as_secs();
    Some((time, Some(Offset::from_seconds(seconds.try_into().ok()?).ok()?.to_time_zone())))
}

/// Whether a time is one of each day.
pub(crate) fn is_of_each_day(text: &str) -> bool {
    clock(text).is_some()
}

fn day_named(name: &str, today: &Zoned) -> Option<Date> {
    match name.to_ascii_lowercase().as_str() {
        "today" => Some(today.date()),
        "tomorrow" => today.date().tomorrow().ok(),
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

/// The moment that is so much later, or earlier if the span is negative.
fn later(now: Timestamp, span: Span) -> Result<i64> {
    match now.to_zoned(TimeZone::UTC).checked_add(span) {
        Ok(zoned) => in_range(zoned.timestamp()),
        // Outside the calendar.
        Err(_) => ms_in_range(if span.is_negative() { i64::MIN } else { i64::MAX }),
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
        bail!(too_late());
    }
    Ok(ms)
}

fn too_late() -> String {
    format!("after {}, the last time that an id can hold", rfc3339(LAST_MS))
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
    fn spans_and_numbers_end_where_ids_do() {
        for (text, expected) in [
            ("1ms", Some(1)),
            ("1500ms", Some(1500)),
            ("2 days", Some(172_800_000)),
            ("4398046511102ms", Some(LAST_MS - 1)),
            ("4398046511103ms", None),
            ("999us", None),
            ("-1s", None),
        ] {
            assert_eq!(parse_span("--for", text).ok(), expected, "{text}");
        }
        for (text, expected) in [
            ("1970", Some(0)),
            ("2109", Some(4_386_441_600_000)),
            ("9999999999", None),
            ("4000000000", Some(4_000_000_000_000)),
            ("10000000000", Some(10_000_000_000)),
            ("100000000000", Some(100_000_000_000)),
            ("4398046511103", Some(LAST_MS)),
            ("4398046511104", None),
            ("@4398046511.103", Some(LAST_MS)),
            ("@4398046511.104", None),
            ("@99999999999999999999", None),
            ("10:00z", Some(1_522_231_200_000)),
            ("100000000000000", None),
        ] {
            let now = "2018-03-28T10:00:00Z".parse().unwrap();
            assert_eq!(parse_at(text, now, &|| Ok(TimeZone::UTC)).ok(), expected, "{text}");
        }
    }

    /// Each form of the help, and what it says of it, where that is 12:00 on a Wednesday in Berlin.
    #[test]
    fn times_are_read_as_the_help_says() {
        let args = <txid_args::Args as clap::CommandFactory>::command();
        let help = args.find_subcommand("new").unwrap().get_after_help().unwrap().to_string();
        let rows: &[(&str, &str, &[&str])] = &[
            ("2018-04-01T01:21:28.552Z", "RFC 3339, with any offset up to 23:59", &["2018-04-01T01:21:28.552Z"]),
            (
                "01/Apr/2018:01:21:28 +0000",
                "as nginx logs it; without +0000, local time",
                &["2018-04-01T01:21:28.000Z"],
            ),
            ("'Mar 27 01:21:28'", "as syslog has it: the last one before now", &["2018-03-26T23:21:28.000Z"]),
            ("'2018-04-01 01:21:28'", "local time, also without seconds", &["2018-03-31T23:21:28.000Z"]),
            (
                "2018-04-01, 20180401, 2018",
                "midnight of the day, or of 1 January, local time",
                &["2018-03-31T22:00:00.000Z", "2018-03-31T22:00:00.000Z", "2017-12-31T23:00:00.000Z"],
            ),
            (
                "today, tomorrow, yesterday",
                "midnight, local time",
                &["2018-03-27T22:00:00.000Z", "2018-03-28T22:00:00.000Z", "2018-03-26T22:00:00.000Z"],
            ),
            ("'last tuesday'", "midnight of the last Tuesday before today", &["2018-03-26T22:00:00.000Z"]),
            (
                "10:00, 'yesterday 2:10am'",
                "local time, of today or of that day; 10:00Z is UTC",
                &["2018-03-28T08:00:00.000Z", "2018-03-27T00:10:00.000Z"],
            ),
            (
                "10m, -10m, 1h30m, '2 days ago'",
                "before now",
                &[
                    "2018-03-28T09:50:00.000Z",
                    "2018-03-28T09:50:00.000Z",
                    "2018-03-28T08:30:00.000Z",
                    "2018-03-26T10:00:00.000Z",
                ],
            ),
            ("+10m", "after now; in --to, after --from", &["2018-03-28T10:10:00.000Z"]),
            (
                "@1522545688, 1522545688",
                "seconds since 1970 (10 digits without the @)",
                &["2018-04-01T01:21:28.000Z", "2018-04-01T01:21:28.000Z"],
            ),
            ("1522545688552", "milliseconds since 1970 (11 to 13 digits)", &["2018-04-01T01:21:28.552Z"]),
            ("now", "", &["2018-03-28T10:00:00.000Z"]),
        ];
        let shown: String =
            rows.iter().map(|(forms, what, _)| format!("  {forms:<32}{what}").trim_end().to_string() + "\n").collect();
        let range = format!("Times are from {} to {}, the range of a txid.", &rfc3339(0)[..10], rfc3339(LAST_MS));
        let zone = "Local time is that of the variable TZ, or of the system. Second 60 is read as 59.";
        let expected = format!("A TIME is one of:\n{shown}{zone}\n{range}\n");
        assert!(help.starts_with(&expected), "{help}\nis not\n{expected}");
        for (forms, _, times) in rows {
            let found: Vec<_> = forms.split(", ").map(|form| read(form.trim_matches('\''))[0].clone()).collect();
            assert_eq!(found, *times, "{forms}");
        }
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
            ("2:10am", "2018-03-28T00:10:00.000Z", "2018-03-28T02:10:00.000Z"),
            ("yesterday 12pm", "2018-03-27T10:00:00.000Z", "2018-03-27T12:00:00.000Z"),
            ("12:30:01 am", "2018-03-27T22:30:01.000Z", "2018-03-28T00:30:01.000Z"),
            ("Mar 27 10:00:00", "2018-03-27T08:00:00.000Z", "2018-03-27T10:00:00.000Z"),
            ("Dec  1 10:00:00", "2017-12-01T09:00:00.000Z", "2017-12-01T10:00:00.000Z"),
            ("I0327 10:00:00.250", "2018-03-27T08:00:00.250Z", "2018-03-27T10:00:00.250Z"),
            ("10:00:30.5", "2018-03-28T08:00:30.500Z", "2018-03-28T10:00:30.500Z"),
            ("last tuesday", "2018-03-26T22:00:00.000Z", "2018-03-27T00:00:00.000Z"),
            ("last Wednesday", "2018-03-20T23:00:00.000Z", "2018-03-21T00:00:00.000Z"),
            ("last thursday 09:30", "2018-03-22T08:30:00.000Z", "2018-03-22T09:30:00.000Z"),
            ("5d", "2018-03-23T10:00:00.000Z", "2018-03-23T10:00:00.000Z"),
            ("2h ago", "2018-03-28T08:00:00.000Z", "2018-03-28T08:00:00.000Z"),
            ("-2h", "2018-03-28T08:00:00.000Z", "2018-03-28T08:00:00.000Z"),
            ("+2h", "2018-03-28T12:00:00.000Z", "2018-03-28T12:00:00.000Z"),
            ("tomorrow", "2018-03-28T22:00:00.000Z", "2018-03-29T00:00:00.000Z"),
            ("tomorrow 10:00", "2018-03-29T08:00:00.000Z", "2018-03-29T10:00:00.000Z"),
            ("12:00Z", "2018-03-28T12:00:00.000Z", "2018-03-28T12:00:00.000Z"),
            ("12:00:30.5-02:30", "2018-03-28T14:30:30.500Z", "2018-03-28T14:30:30.500Z"),
            ("yesterday 12:00Z", "2018-03-27T12:00:00.000Z", "2018-03-27T12:00:00.000Z"),
            ("27/Mar/2018:10:00:00", "2018-03-27T08:00:00.000Z", "2018-03-27T10:00:00.000Z"),
            ("[27/Mar/2018:10:00:00]", "2018-03-27T08:00:00.000Z", "2018-03-27T10:00:00.000Z"),
            ("20180327", "2018-03-26T22:00:00.000Z", "2018-03-27T00:00:00.000Z"),
            ("2017", "2016-12-31T23:00:00.000Z", "2017-01-01T00:00:00.000Z"),
            ("@1522231200", "2018-03-28T10:00:00.000Z", "2018-03-28T10:00:00.000Z"),
            ("@1522231200.25", "2018-03-28T10:00:00.250Z", "2018-03-28T10:00:00.250Z"),
            ("@1522231200.2599", "2018-03-28T10:00:00.259Z", "2018-03-28T10:00:00.259Z"),
            ("@5", "1970-01-01T00:00:05.000Z", "1970-01-01T00:00:05.000Z"),
            ("1522231200", "2018-03-28T10:00:00.000Z", "2018-03-28T10:00:00.000Z"),
            ("1522231200250", "2018-03-28T10:00:00.250Z", "2018-03-28T10:00:00.250Z"),
            ("0000000000005", "1970-01-01T00:00:00.005Z", "1970-01-01T00:00:00.005Z"),
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
