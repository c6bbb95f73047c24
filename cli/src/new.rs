//! `txid new`: ids, one a line.

use crate::{args::New, time};
use anyhow::{Context, Result};
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use txid::Txid;

pub fn run(args: &New) -> Result<ExitCode> {
    let at = args.at.as_deref().map(|text| time::parse("--at", text)).transpose()?;
    let mut out = BufWriter::new(stdout().lock());
    (0..args.count)
        .try_for_each(|_| writeln!(out, "{}", at.map_or_else(Txid::now, Txid::at)))
        .and_then(|()| out.flush())
        .context("standard output")?;
    Ok(ExitCode::SUCCESS)
}
