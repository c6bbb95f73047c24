//! `txid sort`: the lines of several files in the order of their ids, in bounded memory.
//!
//! Lines gather until they fill what memory they may, are sorted, and go to a temporary file as one run. In the end all
//! runs are merged. What fits into memory never sees the disk.

use crate::runs::Runs;
use crate::{args::Sort, input, words};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use std::io::{self, BufRead, BufReader, BufWriter, Write, stdout};
use std::process::ExitCode;
use txid::Txid;

/// How many bytes of lines, with what is noted about them, are sorted at once.
const MEMORY: usize = 96 << 20;

pub fn run(args: &Sort) -> Result<ExitCode> {
    let mut sorter = Sorter::default();
    for source in input::sources(&args.files) {
        let lines = source.open(&ProgressBar::hidden())?;
        sorter.read(BufReader::with_capacity(64 << 10, lines)).with_context(|| source.name())?;
    }
    let mut out = BufWriter::new(stdout().lock());
    sorter.write(&mut out)?;
    out.flush().context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// What lines are ordered by: none at all comes first.
pub type Key = Option<Txid>;

struct Line {
    key: Key,
    begin: usize,
    end: usize,
}

#[derive(Default)]
struct Sorter {
    text: Vec<u8>,
    lines: Vec<Line>,
    runs: Option<Runs>,
}

impl Sorter {
    fn read(&mut self, mut input: impl BufRead) -> Result<()> {
        let mut key = None;
        loop {
            let begin = self.text.len();
            if input.read_until(b'\n', &mut self.text)? == 0 {
                return Ok(());
            }
            if self.text.last() != Some(&b'\n') {
                self.text.push(b'\n');
            }
            // A line without an id has that of the line before: what has the same id keeps its order.
            let id = words::first_id(&self.text[begin..]);
            key = id.or(key);
            match self.lines.last_mut() {
                Some(before) if id.is_none() && before.key == key && begin > 0 => before.end = self.text.len(),
                _ => self.lines.push(Line { key, begin, end: self.text.len() }),
            }
            if self.text.len() + self.lines.len() * size_of::<Line>() >= MEMORY {
                self.spill().context("temporary file")?;
            }
        }
    }

    fn sort(&mut self) {
        // Where a line begins tells it from all others, so that nothing is left to chance, and no memory is needed.
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
