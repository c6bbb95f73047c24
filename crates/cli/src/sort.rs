//! `txid sort`: sorts the lines of several files by their ids, in bounded memory.
//!
//! Lines are collected until they fill the allowed memory, sorted, and written to a temporary file as one run. At the
//! end all runs are merged. Input that fits into memory is never written to disk.

use crate::hint::Hint;
use crate::ids::Wanted;
use crate::input;
use crate::runs::{Key, Runs};
use crate::terminal::Harmless;
use crate::trouble::{complain, say};

use anyhow::{Context, Result};
use memchr::memchr;
use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use txid::formats::find::Finder;
use txid_args::Sort;

/// How many bytes of lines, including the notes about them, are sorted at a time.
const MEMORY: usize = 96 << 20;

pub(crate) fn run(args: &Sort) -> Result<ExitCode> {
    let ids = Wanted::new(&args.ids)?.finder()?;
    let mut sorter = Sorter { ids, text: Vec::new(), lines: Vec::new(), runs: None, key: None };
    let sources = input::sources(&args.files);
    let bar = input::bar(&sources);
    let (mut all, mut hint) = (true, Hint::default());
    for source in &sources {
        match source.open(&bar) {
            Ok(blocks) => {
                sorter.begin_source();
                all &= source.each(blocks, &bar, |block| {
                    hint.look(block, &sorter.ids);
                    sorter.add_all(block)?;
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            Err(error) => {
                all = false;
                bar.suspend(|| complain(&error));
            }
        }
    }
    bar.finish_and_clear();
    hint.text(&sorter.ids).iter().for_each(|hint| say(hint));
    let mut out: Box<dyn Write> = match stdout().is_terminal() {
        true => Box::new(Harmless::new(stdout().lock())),
        false => Box::new(BufWriter::new(stdout().lock())),
    };
    sorter.write(&mut out)?;
    out.flush().context("standard output")?;
    Ok(ExitCode::from(if all { 0 } else { crate::trouble::TROUBLE }))
}

struct Line {
    key: Key,
    begin: usize,
    end: usize,
}

struct Sorter {
    ids: Finder,
    text: Vec<u8>,
    lines: Vec<Line>,
    runs: Option<Runs>,
    /// The key of the previous line of the same source.
    key: Key,
}

impl Sorter {
    fn begin_source(&mut self) {
        self.key = None;
    }

    fn add_all(&mut self, mut lines: &[u8]) -> Result<()> {
        while !lines.is_empty() {
            let end = memchr(b'\n', lines).map_or(lines.len(), |newline| newline + 1);
            self.add(&lines[..end])?;
            lines = &lines[end..];
        }
        Ok(())
    }

    fn add(&mut self, line: &[u8]) -> Result<()> {
        let begin = self.text.len();
        self.text.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        // A line without an id has the key of the previous line; equal keys keep their order.
        let id = self.ids.first_order(line).map(|order| [(order >> 64) as u64, order as u64]);
        self.key = id.or(self.key);
        match self.lines.last_mut() {
            Some(before) if id.is_none() && before.key == self.key => before.end = self.text.len(),
            _ => self.lines.push(Line { key: self.key, begin, end: self.text.len() }),
        }
        if self.text.len() + self.lines.len() * size_of::<Line>() >= MEMORY {
            self.spill().context("temporary file")?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        // The beginning of a line is unique, so the order is well defined, and this sort needs no memory.
        self.lines.sort_unstable_by_key(|line| (line.key, line.begin));
    }

    fn sorted(&self) -> impl Iterator<Item = (Key, &[u8])> {
        self.lines.iter().map(|line| (line.key, &self.text[line.begin..line.end]))
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut runs = self.runs.take().map_or_else(Runs::new, Ok)?;
        runs.add(self.sorted())?;
        self.runs = Some(runs);
        self.text.clear();
        self.lines.clear();
        Ok(())
    }

    fn write(mut self, out: &mut impl Write) -> Result<()> {
        if self.runs.is_none() {
            self.sort();
            return self.sorted().try_for_each(|(_, text)| out.write_all(text)).context("standard output");
        }
        self.spill().context("temporary file")?;
        let runs = self.runs.take();
        drop(self);
        runs.map_or(Ok(()), |runs| runs.merge(out))
    }
}
