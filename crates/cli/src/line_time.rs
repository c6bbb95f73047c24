//! The time that a line says it was written at.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use memchr::memchr_iter;

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// The millisecond after the time in the line: a time without a fraction is that of a whole second.
///
/// The first of these: `24/Nov/2026:12:04:00 +0000`, `2026-11-24T12:04:00.123Z`, `2026/11/24 12:04:00`, and milliseconds or
/// seconds with a fraction since 1970, as `1795521840123` and `1795521840.123`.
pub(crate) fn end_of(line: &[u8], zone: &TimeZone) -> Option<i64> {
    let clock = memchr_iter(b':', line).find_map(|colon| Some((colon, of_clock(line, colon.checked_sub(2)?, zone)?)));
    let counted = counted(&line[..clock.map_or(line.len(), |(colon, _)| colon)]);
    counted.or(clock.map(|(_, ms)| ms))
}

/// Of `12:04:00` at this place, with its day before it.
fn of_clock(line: &[u8], at: usize, zone: &TimeZone) -> Option<i64> {
    let time = line.get(at..at + 8)?;
    let [hour, minute, second] = [0, 3, 6].map(|at| number(&time[at..at + 2]));
    let (hour, minute, second) = (hour?, minute?, second?);
    if time[2] != b':' || time[5] != b':' {
        return None;
    }
    let (year, month, day) = day_before(line, at)?;
    let mut rest = &line[at + 8..];
    let (mut ns, mut unit_ms) = (0, 1000);
    if let [b'.' | b',', digits @ ..] = rest {
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count > 0 {
            ns = digits[..count.min(9)].iter().fold(0, |ns, digit| ns * 10 + i32::from(digit - b'0'));
            ns *= 10_i32.pow(9 - count.min(9) as u32);
            unit_ms = 1;
            rest = &digits[count..];
        }
    }
    let local = DateTime::new(year, month, day, hour, minute, second.min(59), ns).ok()?;
    let zone = offset(rest).map_or_else(|| zone.clone(), Offset::to_time_zone);
    Some(local.to_zoned(zone).ok()?.timestamp().as_millisecond() + unit_ms)
}

fn day_before(line: &[u8], at: usize) -> Option<(i16, i8, i8)> {
    if let Some(day) = at.checked_sub(12).map(|start| &line[start..at]) {
        if let (b'/', b'/', b':') = (day[2], day[6], day[11]) {
            let month = MONTHS.iter().position(|month| month[..] == day[3..6])?;
            return Some((year(&day[7..11])?, month as i8 + 1, number(&day[..2])?));
        }
    }
    let day = &line[at.checked_sub(11)?..at];
    let is_one = day[4] == day[7] && matches!(day[4], b'-' | b'/') && matches!(day[10], b' ' | b'T' | b't');
    if is_one { Some((year(&day[..4])?, number(&day[5..7])?, number(&day[8..10])?)) } else { None }
}

/// `Z`, `+00:00`, `+0000` or ` +0000`.
fn offset(rest: &[u8]) -> Option<Offset> {
    let sign_of = |text: &[u8]| match text.first() {
        Some(b'+') => Some(1),
        Some(b'-') => Some(-1),
        _ => None,
    };
    if let Some(b'Z' | b'z') = rest.first() {
        return Some(Offset::UTC);
    }
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let sign = sign_of(rest)?;
    let minutes = if rest.get(3) == Some(&b':') { rest.get(4..6) } else { rest.get(3..5) };
    let [hours, minutes] = [number(rest.get(1..3)?)?, number(minutes?)?].map(i32::from);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// Milliseconds, or seconds with a fraction, since 1970: a word of digits of this century.
fn counted(text: &[u8]) -> Option<i64> {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
    words.into_iter().find_map(|word| {
        let (seconds, fraction) = match word.len() {
            13 => (&word[..10], &word[10..]),
            14.. if word[10] == b'.' => (&word[..10], &word[11..14.min(word.len())]),
            _ => return None,
        };
        let is_one = word[0] == b'1'
            && fraction.len() == 3
            && seconds.iter().chain(fraction).chain(&word[11..]).all(u8::is_ascii_digit);
        if !is_one {
            return None;
        }
        let digits = seconds.iter().chain(fraction);
        Some(digits.fold(0, |ms, digit| ms * 10 + i64::from(digit.wrapping_sub(b'0'))) + 1)
    })
}

fn number(digits: &[u8]) -> Option<i8> {
    std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit))?.parse().ok()
}

fn year(digits: &[u8]) -> Option<i16> {
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|year| (1970..=2109).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_of_a_line_is_its_own() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let ms = 1_795_521_840_000; // 2026-11-24T12:04:00Z
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
            ("2026-13-24T12:04:00Z", None),
            ("17955218400000 a1795521840000", None),
            ("2026-11-24 13:04:00, x", Some(ms + 1000)),
            ("2026-11-24T12:04:00+0000", Some(ms + 1000)),
            ("2026-11-24 12:04:00 +00:00", Some(ms + 1000)),
            ("2026-11-24 12-04-00 2026/11-24 13:04:00 2026-11-24_13:04:00", None),
            ("1795521840.1x0 17955218401.50", None),
            ("2026-11-24T12:+4:00Z", None),
        ] {
            assert_eq!(end_of(line.as_bytes(), &berlin), expected, "{line}");
        }
        for (month, name) in (1..).zip("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(' ')) {
            let both = [format!("02/{name}/2026:00:00:00 +0000"), format!("2026-{month:02}-02T00:00:00Z")];
            let [logged, written] = both.map(|line| end_of(line.as_bytes(), &berlin).expect(name));
            assert_eq!(logged, written, "{name}");
        }
    }
}
