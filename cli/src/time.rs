//! Reads times on the command line.

use anyhow::{Context, Result, anyhow, bail};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use std::ops::RangeInclusive;

/// The last millisecond that an id can hold.
pub const LAST_MS: i64 = (1 << 42) - 1;

/// Milliseconds since 1970 of a time in one of the forms in the help. `option` is for errors.
pub fn parse(option: &str, text: &str) -> Result<i64> {
    parse_at(text, Timestamp::now()).with_context(|| format!("{option} '{text}'"))
}

/// Milliseconds since 1970 of the moment a span such as `10m` ago.
pub fn parse_since(option: &str, text: &str) -> Result<i64> {
    let parsed = text
        .parse::<Span>()
        .ok()
        .filter(|span| span.is_positive())
        .ok_or_else(|| anyhow!("not a span of time; write it as 10m, 1h30m or '2 days'"))
        .and_then(|span| back(Timestamp::now(), -span));
    parsed.with_context(|| format!("{option} '{text}'"))
}

/// The milliseconds from one to another, both included.
pub(crate) fn window(from: (&str, i64), to: (&str, i64)) -> Result<RangeInclusive<i64>> {
    if from.1 > to.1 {
        bail!("the range is empty: {} is {}, after {}, which is {}", from.0, rfc3339(from.1), to.0, rfc3339(to.1));
    }
    Ok(from.1..=to.1)
}

/// The millisecond in RFC 3339, UTC. It must be one that an id can hold.
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

fn parse_at(text: &str, now: Timestamp) -> Result<i64> {
    if text == "now" {
        return in_range(now);
    }
    if text.ends_with("ago") {
        let span: Span = text.parse().map_err(|error| not_a_time(&error))?;
        return back(now, span);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is outside the range anyway, like the nearest one that fits.
        let end = if digits == text { i64::MAX } else { i64::MIN };
        return ms_in_range(text.parse().unwrap_or(end));
    }
    if text.len() == "2018-04-01".len() {
        let date: Date = text.parse().map_err(|error| not_a_time(&error))?;
        let since_1970 = date.to_datetime(Time::midnight()).duration_since(Date::constant(1970, 1, 1).at(0, 0, 0, 0));
        return ms_in_range(since_1970.as_secs() * 1000);
    }
    in_range(text.parse().map_err(|error| not_a_time(&error))?)
}

fn not_a_time(error: &jiff::Error) -> anyhow::Error {
    anyhow!("not a time ({error}); write it as 2018-04-01T01:21:28.552Z, 2018-04-01, 1522545688552, now or '10m ago'")
}

/// `span` is negative.
fn back(now: Timestamp, span: Span) -> Result<i64> {
    in_range(now.to_zoned(TimeZone::UTC).checked_add(span)?.timestamp())
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
