//! `txid range`: prints the first and the last id of a time window.

use crate::sql::{self, Holds};
use crate::{ids, time};
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use std::io::{Write, stdout};
use std::process::ExitCode;
use txid::formats::Format;
use txid_args::{Range, name};

#[derive(Serialize)]
struct Bounds {
    first: String,
    last: String,
    from: String,
    to: String,
}

pub(crate) fn run(args: &Range) -> Result<ExitCode> {
    let (format, numbers) = ids::chosen(&args.ids)?;
    let from = match (&args.from, &args.since) {
        (Some(text), _) => ("--from", time::parse("--from", text)?),
        (None, Some(text)) => ("--since", time::parse_since("--since", text)?),
        (None, None) => bail!("--from or --since is missing"),
    };
    let to = ("--to", time::parse("--to", &args.to)?);
    let window = time::window(from, to)?;
    let Some(times) = format.times(&numbers) else {
        bail!("ids of {} do not sort by time, so a window has no first and last id", name(format));
    };
    let [first, last] = format.bounds(window.clone(), &numbers).ok_or_else(|| {
        let [first, last] = [times.start(), times.end()].map(|ms| time::rfc3339(*ms));
        anyhow!("ids of {} have times from {first} to {last}", name(format))
    })?;
    let (from, to) = (time::rfc3339(from.1), time::rfc3339(to.1));
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
    match format.name {
        "snowflake" => Holds::Number,
        "uuid_v6" | "uuid_v7" => Holds::Uuid,
        _ => Holds::Text,
    }
}
