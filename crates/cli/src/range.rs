//! `txid range`: prints the first and the last id of a time window.

use crate::ids::{Default, Wanted};
use crate::sql::{self, Holds};
use crate::time;
use crate::window::Ends;
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use std::io::{Write, stdout};
use std::process::ExitCode;
use txid::formats::{Format, Shape};
use txid_args::Range;

#[derive(Serialize)]
struct Bounds {
    first: String,
    last: String,
    from: String,
    to: String,
}

pub(crate) fn run(args: &Range) -> Result<ExitCode> {
    let wanted = Wanted::new(&args.ids, Default::Txid)?;
    let Some(format) = wanted.one() else {
        bail!("--format: a window has a first and a last id of one format; give one");
    };
    let numbers = wanted.numbers;
    let ends = Ends::of(&args.window, &wanted, Some("now"))?;
    let (Some(from), Some(to)) = (ends.from, ends.to) else { bail!("--from or --around is missing") };
    let window = ends.range();
    let Some(times) = format.times(&numbers) else {
        bail!("ids of {} do not sort by time, so a window has no first and last id", format.name);
    };
    let [first, last] = format.bounds(window.clone(), &numbers).ok_or_else(|| {
        let [first, last] = [times.start(), times.end()].map(|ms| time::rfc3339(*ms));
        anyhow!("ids of {} have times from {first} to {last}", format.name)
    })?;
    let (from, to) = (time::rfc3339(from), time::rfc3339(to));
    let text = match &args.sql {
        Some(column) => sql::between(column, holds(format), &first, &last, args.dialect),
        None if args.json => serde_json::to_string(&Bounds { first, last, from, to })?,
        None => format!("{first}\n{last}"),
    };
    writeln!(stdout(), "{text}").context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// What a column of these ids holds.
fn holds(format: &Format) -> Holds {
    match format.shape() {
        Some(Shape::Uuid) => Holds::Uuid,
        _ if format.takes_a_layout() => Holds::Number,
        _ => Holds::Text,
    }
}
