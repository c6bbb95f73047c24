//! `txid inspect`: what ids hold.

use crate::formats::{self, Anatomy};
use crate::input::{self, Blocks};
use crate::{args::Inspect, complain, picture, time};
use anstyle::Style;
use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use jiff::fmt::friendly::{Designator, Direction, Spacing, SpanPrinter};
use jiff::tz::TimeZone;
use jiff::{RoundMode, SpanRound, Timestamp, Unit, Zoned};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// How much of what is no id is repeated.
const SHOWN: usize = 60;

#[derive(Serialize)]
struct Json<'a> {
    id: &'a str,
    time: &'a str,
    ms: i64,
    random: &'a str,
    hex: &'a str,
}

pub fn run(args: &Inspect) -> Result<ExitCode> {
    let mut inspection = Inspection { json: args.json, now: Timestamp::now(), all_good: true };
    for id in &args.ids {
        inspection.show(id.as_bytes())?;
    }
    if args.ids.is_empty() {
        let source = &input::sources(&[])[0];
        let mut blocks = Blocks::new(source.open(&ProgressBar::hidden())?);
        while let Some(block) = blocks.next().with_context(|| source.name())? {
            let words = block.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.into_iter().try_for_each(|word| inspection.show(word))?;
        }
    }
    Ok(ExitCode::from(u8::from(!inspection.all_good)))
}

struct Inspection {
    json: bool,
    now: Timestamp,
    all_good: bool,
}

impl Inspection {
    fn show(&mut self, text: &[u8]) -> Result<()> {
        let id = match formats::recognise(text) {
            Ok(id) => id,
            Err(error) => {
                self.all_good = false;
                let more = if text.len() > SHOWN { "..." } else { "" };
                complain(&anyhow!("'{}{more}': {error}", text[..text.len().min(SHOWN)].escape_ascii()));
                return Ok(());
            }
        };
        let shown = if self.json { json(&id)? } else { self.block(&id) };
        anstream::stdout().lock().write_all(shown.as_bytes()).context("standard output")
    }

    fn block(&self, id: &Anatomy) -> String {
        let bold = Style::new().bold();
        let local = time::timestamp(id.ms).to_zoned(TimeZone::system());
        let mut block = format!("{bold}{}{bold:#}\n", id.text);
        for (name, value) in [
            ("time", time::rfc3339(id.ms)),
            ("local", local.strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()),
            ("age", age(id.ms, self.now)),
            ("ms", id.ms.to_string()),
            ("random", id.random.clone()),
            ("hex", hex(&id.bytes)),
        ] {
            block += &format!("  {name:<8}{value}\n");
        }
        for line in picture::of(&id.bytes, id.fields) {
            block += &format!("  {line}\n");
        }
        block
    }
}

fn json(id: &Anatomy) -> Result<String> {
    let (time, hex) = (time::rfc3339(id.ms), hex(&id.bytes));
    let json = Json { id: &id.text, time: &time, ms: id.ms, random: &id.random, hex: &hex };
    Ok(serde_json::to_string(&json)? + "\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How long ago that was, or will be, in the two largest units that say something.
fn age(ms: i64, now: Timestamp) -> String {
    let utc = |time: Timestamp| -> Zoned { time.to_zoned(TimeZone::UTC) };
    let (then, now) = (utc(time::timestamp(ms)), utc(now));
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
