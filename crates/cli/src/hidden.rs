//! `txid key new`, `txid key check`, `txid hide` and `txid reveal`: numbers and UUIDs, and what is shown of them.

use crate::errors::{TROUBLE, complain};
use crate::input::Source;
use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::{BufWriter, Write, stdout};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use txid::Hidden;
use txid::hidden::{Form, new_key};
use txid::segment::Segment;
use txid_args::{self as args, Hide, Key, KeyCommand, Reveal, Series};

/// How many bytes of what is refused an error shows.
const MOST_SHOWN: usize = 60;

/// A number or a UUID and its image, or one of them and why it has no other.
#[derive(Serialize)]
struct Pair {
    /// A text: many programs that read JSON round numbers above 2^53.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(crate) fn key(args: &Key) -> Result<ExitCode> {
    let line = match &args.command {
        KeyCommand::New => {
            let key = new_key().context("the operating system gave no randomness, so there is no key")?;
            key.iter().map(|byte| format!("{byte:02x}")).collect()
        }
        KeyCommand::Check(of) => {
            let checks = open(&of.file, &of.name, &of.shape)?.key_checks();
            checks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        }
    };
    writeln!(stdout(), "{line}").context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn hide(args: &Hide) -> Result<ExitCode> {
    let hide = |hidden: &Hidden, given: &[u8]| Ok(hidden.hide_text(given)?.to_string());
    each(&args.series, &args.numbers, hide, |hidden, shown| (hidden, shown))
}

pub(crate) fn reveal(args: &Reveal) -> Result<ExitCode> {
    let reveal = |hidden: &Hidden, given: &[u8]| Ok(hidden.reveal_text(given)?.to_string());
    each(&args.series, &args.images, reveal, |shown, hidden| (hidden, shown))
}

/// Prints a line for each text: what `find` finds for it, or nothing.
fn each(
    series: &Series,
    given: &[String],
    find: impl Fn(&Hidden, &[u8]) -> Result<String>,
    pair: impl Fn(Option<String>, Option<String>) -> (Option<String>, Option<String>),
) -> Result<ExitCode> {
    let mut hidden = open(&series.key, &series.name, &series.shape)?;
    if let Some(state) = &series.state {
        hidden = hidden.of_segment(Segment::attach(state)?);
    }
    let mut out = BufWriter::new(stdout().lock());
    let mut all_good = true;
    let mut print = |text: &[u8]| {
        let found = find(&hidden, text);
        let shown = text[..text.len().min(MOST_SHOWN)].escape_ascii().to_string();
        let error = found.as_ref().err().map(ToString::to_string);
        if let Some(error) = &error {
            all_good = false;
            let more = if text.len() > MOST_SHOWN { "..." } else { "" };
            complain(&anyhow!("'{shown}{more}': {error}"));
        }
        let line = match series.json {
            true => {
                let (inside, shown) = pair(Some(shown), found.ok());
                let (number, uuid) = if series.shape.uuid { (None, inside) } else { (inside, None) };
                serde_json::to_string(&Pair { number, uuid, shown, error })?
            }
            false => found.unwrap_or_default(),
        };
        writeln!(out, "{line}").context("standard output")
    };
    given.iter().try_for_each(|text| print(text.as_bytes()))?;
    if given.is_empty() {
        let (source, bar) = (Source::Stdin, ProgressBar::hidden());
        let all = source.each(source.open(&bar)?, &bar, |block| {
            if block.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            let lines = block.strip_suffix(b"\n").unwrap_or(block).split(|byte| *byte == b'\n');
            lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).try_for_each(&mut print)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if !all {
            return Ok(ExitCode::from(TROUBLE));
        }
    }
    out.flush().context("standard output")?;
    Ok(ExitCode::from(u8::from(!all_good)))
}

fn open(key: &Path, name: &str, shape: &args::Shape) -> Result<Hidden> {
    let shown = match (shape.digits, shape.letters, shape.uuid) {
        (Some(digits), _, _) => Form::Digits(digits),
        (_, Some(letters), _) => Form::Letters(letters),
        (_, _, true) => Form::Uuid,
        _ => bail!("--digits, --letters or --uuid is missing: how images look"),
    };
    let hidden = Hidden::open(key, name, shown)?;
    if let Some(error) = hidden.not_locked() {
        complain(&anyhow!("the system may write the key to swap space: mlock: {error}"));
    }
    Ok(if shape.check { hidden.with_check_digit() } else { hidden })
}
