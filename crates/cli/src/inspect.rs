//! `txid inspect`: shows what ids hold.

use crate::errors::complain;
use crate::input::Source;
use crate::line_time::END_OF_SPAN;
use crate::link::Link;
use crate::terminal::Harmless;
use crate::{picture, time, zone};
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use anstyle::Style;
use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use jiff::fmt::friendly::{Designator, Direction, Spacing, SpanPrinter};
use jiff::tz::TimeZone;
use jiff::{RoundMode, SpanRound, Timestamp, Unit, Zoned};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::io::{BufWriter, IsTerminal, StdoutLock, Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;
use txid::formats::find::Finder;
use txid::formats::{self, Anatomy, Numbers, Reading, Unlikely};
use txid::snowflake::Layout;
use txid::{FormatError, FormatErrorKind};
use txid_args::Inspect;

/// What is written at once where nobody watches.
const BUFFER: usize = 64 << 10;

/// How many bytes of an invalid id an error shows.
const SHOWN: usize = 60;

/// A text as an id of one format.
struct Id {
    reading: Reading,
    holds: Anatomy,
}

impl Id {
    /// All that the text can be, the likeliest first.
    fn all(text: &[u8], numbers: &Numbers, now: Timestamp) -> Result<Vec<Self>, FormatError> {
        let found = formats::recognize(text, numbers, now.as_millisecond())?;
        Ok(found.into_iter().map(|(reading, holds)| Self { reading, holds }).collect())
    }

    /// The trace of a line of OTLP/JSON, with the ids and times of its span.
    fn of_span(line: &[u8], numbers: &Numbers, now: Timestamp) -> Option<Vec<Self>> {
        let line: Value = serde_json::from_slice(line).ok()?;
        let span = &line["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        let text = |name: &str| span[name].as_str();
        let ns = |name: &str| text(name)?.parse::<u64>().ok();
        let (start, end) = (ns("startTimeUnixNano")?, ns(END_OF_SPAN)?);
        let mut found = Self::all(text("traceId")?.as_bytes(), numbers, now).ok()?;
        let Self { reading, holds } = found.first_mut()?;
        reading.ms = Some((start / 1_000_000) as i64);
        let parts = [("span_id", text("spanId")), ("parent_span_id", text("parentSpanId"))];
        holds.parts.extend(parts.into_iter().filter_map(|(name, id)| Some((name, id?.to_string().into()))));
        let duration = Duration::from_nanos(end.saturating_sub(start));
        holds.parts.push(("duration", format!("{duration:?}").into()));
        Some(found)
    }

    /// The format, and the layout that it was read in.
    fn title(&self) -> String {
        let title = self.reading.format().title;
        self.reading.layout.map_or_else(|| title.to_string(), |layout| format!("{title}, layout {layout}"))
    }

    fn moment(&self) -> Option<Timestamp> {
        self.reading.ms.and_then(time::timestamp)
    }

    /// Milliseconds since 1970.
    fn ms(&self) -> Option<i128> {
        self.holds.far_ms.map(i128::from).or(self.reading.ms.map(i128::from))
    }

    /// Its time, or its milliseconds if they are after the year 9999.
    fn time(&self) -> Option<String> {
        self.moment().map(time::rfc3339_of).or(self.ms().map(|ms| ms.to_string()))
    }

    /// The last millisecond of its layout, if that was given.
    fn layout_ends_ms(&self) -> Option<i64> {
        let (format, numbers) = (self.reading.format(), &self.reading.numbers);
        (numbers.is_chosen && format.takes_a_layout()).then(|| *numbers.layout.range_ms().end())
    }

    /// What a line says of it that is not the first.
    fn line(&self) -> String {
        let time = self.time().map_or(String::new(), |time| format!(" of {time}"));
        let unlikely = self.unlikely().map_or(String::new(), |why| format!("; unlikely: {why}"));
        format!("{}{time}{unlikely}", self.title())
    }

    fn unlikely(&self) -> Option<&'static str> {
        Some(match self.reading.unlikely? {
            Unlikely::TooEarly => "its time is before such ids existed",
            Unlikely::TooLate => "its time is more than a day ahead",
            Unlikely::ByChance => "it is rather a word, or random",
        })
    }
}

/// Writes an object with its keys in this order, and the other readings as objects in it.
struct Json<'a> {
    id: &'a Id,
    others: &'a [Id],
    url: Option<&'a str>,
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json { id, others, url } = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("id", &id.holds.text)?;
        object.serialize_entry("format", id.reading.format().title)?;
        if let Some(layout) = id.reading.layout {
            object.serialize_entry("layout", layout)?;
        }
        if let Some(why) = id.unlikely() {
            object.serialize_entry("unlikely", why)?;
        }
        if let Some(moment) = id.moment() {
            object.serialize_entry("time", &time::rfc3339_of(moment))?;
        }
        if let Some(ms) = id.ms() {
            object.serialize_entry("ms", &ms)?;
        }
        for (name, value) in &id.holds.parts {
            object.serialize_entry(name, &value.to_string())?;
        }
        if let Some(ms) = id.layout_ends_ms() {
            object.serialize_entry("layout_ends", &time_or_ms(ms))?;
        }
        if !id.holds.bytes.is_empty() {
            object.serialize_entry("hex", &hex(&id.holds.bytes))?;
        }
        if !others.is_empty() {
            let others = others.iter().map(|id| Json { id, others: &[], url: None });
            object.serialize_entry("or_else", &others.collect::<Vec<_>>())?;
        }
        if let Some(url) = url {
            object.serialize_entry("url", url)?;
        }
        object.end()
    }
}

pub(crate) fn run(args: &Inspect) -> Result<ExitCode> {
    let numbers = numbers(args)?;
    if args.time {
        return stamp(numbers);
    }
    let mut inspection = Inspection {
        json: args.json,
        link: Link::new(args)?,
        now: Timestamp::now(),
        numbers,
        finder: Finder::of_all(numbers),
        zone: zone::local_zone()?,
        has_colors: anstream::AutoStream::choice(&stdout()) != ColorChoice::Never,
        out: BufWriter::with_capacity(BUFFER, stdout().lock()),
        all_good: true,
    };
    for id in &args.ids {
        inspection.text(id.as_bytes())?;
    }
    if args.ids.is_empty() {
        let (source, bar) = (Source::Stdin, ProgressBar::hidden());
        let all = source.each(source.open(&bar)?, &bar, |block| {
            let mut lines = block.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
            lines.try_for_each(|line| inspection.text(line))?;
            inspection.flush()?;
            Ok(ControlFlow::Continue(()))
        })?;
        if !all {
            return Ok(ExitCode::from(crate::errors::TROUBLE));
        }
    }
    inspection.flush()?;
    Ok(ExitCode::from(u8::from(!inspection.all_good)))
}

/// Passes on the lines of standard input, each with the time of its first id before it.
fn stamp(numbers: Numbers) -> Result<ExitCode> {
    let ids = Finder::of_likely(numbers);
    let mut out: Box<dyn Write> = match stdout().is_terminal() {
        true => Box::new(Harmless::new(stdout().lock())),
        false => Box::new(BufWriter::with_capacity(BUFFER, stdout().lock())),
    };
    let (source, bar) = (Source::Stdin, ProgressBar::hidden());
    let all = source.each(source.open(&bar)?, &bar, |block| {
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            let moment = ids.first(line).and_then(|id| time::timestamp(id.ms?));
            // As wide as a time.
            let time = moment.map_or_else(|| " ".repeat(24), time::rfc3339_of);
            let end = if line.ends_with(b"\n") { "" } else { "\n" };
            let parts = [time.as_bytes(), b" ", line, end.as_bytes()];
            parts.iter().try_for_each(|part| out.write_all(part)).context("standard output")?;
        }
        out.flush().context("standard output")?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ExitCode::from(if all { 0 } else { crate::errors::TROUBLE }))
}

fn numbers(args: &Inspect) -> Result<Numbers> {
    let mut layout: Layout = args.layout.as_deref().unwrap_or("snowflake").parse()?;
    if let Some(epoch) = &args.epoch {
        layout = layout.with_epoch_ms(time::parse("--epoch", epoch)?)?;
    }
    Ok(Numbers { layout, is_chosen: args.layout.is_some() || args.epoch.is_some() })
}

struct Inspection {
    json: bool,
    link: Option<Link>,
    now: Timestamp,
    numbers: Numbers,
    finder: Finder,
    zone: TimeZone,
    has_colors: bool,
    out: BufWriter<StdoutLock<'static>>,
    all_good: bool,
}

impl Inspection {
    fn flush(&mut self) -> Result<()> {
        self.out.flush().context("standard output")
    }

    /// An id, or a text with ids in it.
    fn text(&mut self, text: &[u8]) -> Result<()> {
        if text.starts_with(br#"{"resourceSpans""#) {
            if let Some(found) = Id::of_span(text, &self.numbers, self.now) {
                return self.show(&found);
            }
        }
        let error = match Id::all(text, &self.numbers, self.now) {
            Ok(found) => return self.show(&found),
            Err(error) => error,
        };
        let mut ids = Vec::new();
        // One word of such a length was meant as an id.
        if error.kind() == FormatErrorKind::NoFormat
            || !text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"@_-".contains(byte))
        {
            self.finder.each(text, |id| {
                ids.push(id.range);
                ControlFlow::Continue(())
            });
        }
        for id in &ids {
            if let Ok(found) = Id::all(&text[id.clone()], &self.numbers, self.now) {
                self.show(&found)?;
            }
        }
        if ids.is_empty() {
            let is_known =
                error.kind() != FormatErrorKind::NoFormat && lookalike(text).is_none() && nearly(text).is_none();
            let why = match text.trim_ascii().contains(&b' ') {
                true => "no id is in this text".to_string(),
                false if is_known => error.to_string(),
                false => unknown(text),
            };
            self.refuse(text, &why)?;
        }
        Ok(())
    }

    fn refuse(&mut self, text: &[u8], why: &str) -> Result<()> {
        self.all_good = false;
        let more = if text.len() > SHOWN { "..." } else { "" };
        self.flush()?;
        complain(&anyhow!("'{}{more}': {why}", text[..text.len().min(SHOWN)].escape_ascii()));
        Ok(())
    }

    fn show(&mut self, found: &[Id]) -> Result<()> {
        let Some((id, others)) = found.split_first() else { return Ok(()) };
        let mut url = None;
        if let Some(link) = &self.link {
            url = link.of(&id.holds.text, id.reading.ms);
            if url.is_none() {
                let why = format!("an id of {} holds no time for the link", id.title());
                return self.refuse(id.holds.text.as_bytes(), &why);
            }
        }
        let shown = match (url, self.json) {
            (url, true) => {
                serde_json::to_writer(&mut self.out, &Json { id, others, url: url.as_deref() })?;
                String::new()
            }
            (Some(url), false) => url,
            (None, false) => {
                let block = self.block(id, others);
                let block = block.strip_suffix('\n').unwrap_or(&block);
                if self.has_colors { block.to_string() } else { strip_str(block).to_string() }
            }
        };
        writeln!(self.out, "{shown}").context("standard output")
    }

    fn block(&self, id: &Id, others: &[Id]) -> String {
        let bold = Style::new().bold();
        let mut block = format!("{bold}{}{bold:#}\n", id.holds.text);
        let only = if others.is_empty() { ", the only reading" } else { "" };
        let unlikely = id.unlikely().map_or(String::new(), |why| format!("; unlikely: {why}"));
        let mut rows = vec![("format", format!("{}{only}{unlikely}", id.title()))];
        rows.extend(others.iter().map(|other| ("or", other.line())));
        if let Some(moment) = id.moment() {
            let local = moment.to_zoned(self.zone.clone());
            rows.push(("time", time::rfc3339_of(moment)));
            rows.push(("local", local.strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()));
            rows.push(("age", age(moment, self.now)));
        }
        rows.extend(id.ms().map(|ms| ("ms", ms.to_string())));
        rows.extend(id.holds.parts.iter().map(|(name, value)| (*name, value.to_string())));
        rows.extend(id.layout_ends_ms().map(|ms| ("layout ends", time_or_ms(ms))));
        if !id.holds.bytes.is_empty() {
            rows.push(("hex", hex(&id.holds.bytes)));
        }
        let width = rows.iter().map(|(name, _)| name.len() + 1).max().unwrap_or_default().max(8);
        for (name, value) in rows {
            block += &format!("  {name:<width$}{value}\n");
        }
        for line in picture::of(&id.holds.bytes, &id.holds.fields) {
            block += &format!("  {line}\n");
        }
        block
    }
}

/// What to say of a text that nobody meant as an id of a format.
fn unknown(text: &[u8]) -> String {
    if let Some(what) = nearly(text) {
        return what.to_string();
    }
    let looks = lookalike(text).map_or(String::new(), |what| format!(": {what}?"));
    let characters = if text.len() == 1 { "character" } else { "characters" };
    format!("not an id of a known format ({} {characters}{looks}); txid help grep names them", text.len())
}

/// What was nearly one.
fn nearly(text: &[u8]) -> Option<&'static str> {
    let is_base32hex = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'0'..=b'9' | b'a'..=b'v');
    let is_short = text.len() == 19 && text.iter().all(is_base32hex) && text.iter().any(u8::is_ascii_alphabetic);
    is_short.then_some("one character short of a txid")
}

/// What else people have in their logs.
fn lookalike(text: &[u8]) -> Option<&'static str> {
    let all = |is_kind: fn(&u8) -> bool| text.iter().all(is_kind);
    let is_crockford = |byte: &u8| byte.is_ascii_alphanumeric() && !b"iloILOuU".contains(byte);
    match text.len() {
        10 if all(u8::is_ascii_digit) => Some("seconds since 1970"),
        13 if all(u8::is_ascii_digit) => Some("milliseconds since 1970"),
        13 if text.iter().all(is_crockford) => Some("a TSID"),
        40 if all(u8::is_ascii_hexdigit) => Some("a SHA-1"),
        64 if all(u8::is_ascii_hexdigit) => Some("a SHA-256"),
        _ => None,
    }
}

/// A time; or its milliseconds if they are after the year 9999.
fn time_or_ms(ms: i64) -> String {
    time::timestamp(ms).map_or_else(|| ms.to_string(), time::rfc3339_of)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The age of a moment, or the time until it, in the two largest units that are not zero.
fn age(moment: Timestamp, now: Timestamp) -> String {
    let utc = |time: Timestamp| -> Zoned { time.to_zoned(TimeZone::UTC) };
    let (then, now) = (utc(moment), utc(now));
    let rounded = now.until((Unit::Year, &then)).and_then(|span| {
        let smallest = match span {
            span if span.get_years() != 0 => Unit::Month,
            span if span.get_months() != 0 => Unit::Day,
            span if span.get_days() != 0 => Unit::Hour,
            span if span.get_hours() != 0 => Unit::Minute,
            _ => Unit::Second,
        };
        span.round(SpanRound::new().largest(Unit::Year).smallest(smallest).mode(RoundMode::Trunc).relative(&now))
    });
    let printer = SpanPrinter::new()
        .designator(Designator::Verbose)
        .spacing(Spacing::BetweenUnitsAndDesignators)
        .direction(Direction::Suffix);
    match rounded {
        Ok(span) if span.is_zero() => "now".to_string(),
        Ok(span) if span.is_positive() => format!("in {}", printer.span_to_string(&span)),
        Ok(span) => printer.span_to_string(&span),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_age_has_two_units() {
        let now = "2018-03-28T10:00:00Z".parse().unwrap();
        for (moment, expected) in [
            ("2018-03-28T09:59:59.001Z", "now"),
            ("2018-03-28T10:00:00.999Z", "now"),
            ("2018-03-28T09:59:59Z", "1 second ago"),
            ("2018-03-28T10:00:01Z", "in 1 second"),
            ("2018-03-28T09:58:57.1Z", "1 minute 2 seconds ago"),
            ("2018-03-28T09:00:01Z", "59 minutes 59 seconds ago"),
            ("2018-03-28T07:58:01Z", "2 hours 1 minute ago"),
            ("2018-03-27T10:00:00Z", "1 day ago"),
            ("2018-03-30T12:59:59Z", "in 2 days 2 hours"),
            ("2018-02-10T00:00:00Z", "1 month 18 days ago"),
            ("2016-01-01T00:00:00Z", "2 years 2 months ago"),
        ] {
            assert_eq!(super::age(moment.parse().unwrap(), now), expected, "{moment}");
        }
    }
}
