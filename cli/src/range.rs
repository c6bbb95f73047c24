//! `txid range`: prints the two ids that bound a window of time.

use crate::time;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::{Write, stdout};
use std::process::ExitCode;
use txid::Txid;
use txid_args::Range;

#[derive(Serialize)]
struct Bounds {
    first: String,
    last: String,
    from: String,
    to: String,
}

pub(crate) fn run(args: &Range) -> Result<ExitCode> {
    let window =
        time::window(("--from", time::parse("--from", &args.from)?), ("--to", time::parse("--to", &args.to)?))?;
    let bounds = Bounds {
        first: Txid::first_of(*window.start()).to_string(),
        last: Txid::last_of(*window.end()).to_string(),
        from: time::rfc3339(*window.start()),
        to: time::rfc3339(*window.end()),
    };
    let text = match &args.sql {
        Some(column) => format!("{column} BETWEEN '{}' AND '{}'", bounds.first, bounds.last),
        None if args.json => serde_json::to_string(&bounds)?,
        None => format!("{}\n{}", bounds.first, bounds.last),
    };
    writeln!(stdout(), "{text}").context("standard output")?;
    Ok(ExitCode::SUCCESS)
}
