//! `txid new`: makes ids, one per line.

use crate::errors::say;
use crate::time;
use anyhow::{Context, Result, anyhow, bail};
use std::ffi::OsStr;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use txid::formats::{self, Format};
use txid::snowflake::Layout;
use txid::{Maker, MakerError};
use txid_args::New;

pub(crate) fn run(args: &New) -> Result<ExitCode> {
    let at = args.at.as_deref().map(|text| time::parse("--at", text)).transpose()?;
    let maker = maker(args)?;
    warn_of_the_end(args);
    let mut out = BufWriter::new(stdout().lock());
    let mut text = [0; Maker::MAX_LEN];
    for _ in 0..args.count {
        let id = make(&maker, at, &mut text)?;
        out.write_all(id).and_then(|()| out.write_all(b"\n")).context("standard output")?;
    }
    out.flush().context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

fn make<'a>(maker: &Maker, at: Option<i64>, text: &'a mut [u8; Maker::MAX_LEN]) -> Result<&'a [u8]> {
    let made = match at {
        Some(ms) => maker.write_wrapping_at(ms, text).context(CARRY_NO_TIME)?,
        None => maker.write_by(txid::system_ms(), text)?,
    };
    if made.guessable {
        bail!("{} could be guessed: the operating system gave no randomness", text[..made.len].escape_ascii());
    }
    Ok(&text[..made.len])
}

fn maker(args: &New) -> Result<Maker> {
    let make = args.format.make;
    if args.at.is_some() && !make.takes_a_time {
        bail!(CARRY_NO_TIME);
    }
    // The library wants an absolute path; here, a relative one is of the working directory.
    let state = args.state.as_ref().map(std::path::absolute).transpose().context("--state")?;
    let given = [
        ("node", args.node.as_ref().map(AsRef::as_ref)),
        ("state", state.as_ref().map(AsRef::as_ref)),
        ("layout", args.layout.as_ref().map(AsRef::as_ref)),
        ("length", args.length.as_ref().map(AsRef::as_ref)),
        ("alphabet", args.alphabet.as_ref().map(AsRef::as_ref)),
        ("prefix", args.prefix.as_ref().map(AsRef::as_ref)),
    ];
    let in_name = args.format.options.iter().map(|(name, value)| (name.as_str(), AsRef::<OsStr>::as_ref(value)));
    let options: Vec<(&str, &OsStr)> =
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(in_name).collect();
    if let Some((option, _)) = options.iter().find(|(option, _)| !txid_args::options(make).contains(option)) {
        bail!("--{option} is for --format {}", formats_with(option));
    }
    args.format.format.maker(options).map_err(|error| match error {
        MakerError::Missing { option, give } => {
            anyhow!("--format {} needs --{option}: {give}", args.format.format.name)
        }
        MakerError::NoAddress => anyhow!("this format needs an IPv4 address of this host, and none was found"),
        other => other.into(),
    })
}

/// From a year before the layout ends.
fn warn_of_the_end(args: &New) {
    let layout = args.layout.as_deref().unwrap_or("snowflake");
    if let (true, Ok(layout)) = (args.format.make.options.contains(&"layout"), layout.parse::<Layout>()) {
        if let Some(ending) = layout.ending(txid::system_ms()) {
            say(&format!("warning: {ending}"));
        }
    }
}

const CARRY_NO_TIME: &str = "--at: ids of this format carry no time, or only the current time";

/// The names of the formats with this option.
fn formats_with(option: &str) -> String {
    let has = |format: &&&Format| format.make.as_ref().is_some_and(|make| txid_args::options(make).contains(&option));
    formats::ALL.iter().filter(has).map(|format| format.name).collect::<Vec<_>>().join(" or ")
}
