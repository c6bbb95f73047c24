//! `txid sort`: sorts the lines of several files by their ids and times, in bounded memory.
//!
//! Lines are collected until they fill the allowed memory, sorted, and written to a temporary file as one run. At the
//! end all runs are merged. Input that fits into memory is never written to disk.

use crate::blocks::lines;
use crate::errors::{TROUBLE, complain, say};
use crate::ids::{Default, Wanted, is_surely_one};
use crate::input;
use crate::line_time::LineTime;
use crate::records::blanks;
use crate::runs::{Key, Runs, Seen};
use crate::skipped::Skipped;
use crate::terminal::Harmless;

use anyhow::{Context, Result};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use txid::formats::find::{Finder, Found};
use txid_args::{By, Sort};

/// How many bytes of lines, including the notes about them, are sorted at a time.
const MEMORY: usize = 96 << 20;

/// From here on, the next line with an id begins anew, so that those below it stay with it.
const NEARLY: usize = 84 << 20;

/// The bits of a txid below its milliseconds.
const BELOW_MS: u32 = 54;

pub(crate) fn run(args: &Sort) -> Result<ExitCode> {
    let wanted = Wanted::new(&args.ids, Default::Txid)?;
    let mut sorter = Sorter {
        ids: wanted.finder()?,
        wanted,
        by: args.by,
        times: LineTime::new(),
        passed: Skipped::new(i64::MIN..=i64::MAX),
        is_found: false,
        is_reversed: args.reverse,
        is_unique: args.unique,
        hashes: RandomState::new(),
        text: Vec::new(),
        lines: Vec::new(),
        runs: None,
        key: None,
        is_indented: false,
    };
    let sources = input::sources(&args.files);
    let bar = input::bar(&sources);
    let mut all = true;
    for source in &sources {
        match source.open(&bar) {
            Ok(blocks) => {
                sorter.begin_source(source.changed_ms());
                all &= source.each(blocks, &bar, |block| {
                    lines(block).try_for_each(|line| sorter.add(line))?;
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
    sorter.say_what_was_passed();
    let name = args.output.as_ref().map_or("standard output".to_string(), |path| path.display().to_string());
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) => Box::new(BufWriter::new(File::create(path).context(name.clone())?)),
        None if stdout().is_terminal() => Box::new(Harmless::new(stdout().lock())),
        None => Box::new(BufWriter::new(stdout().lock())),
    };
    sorter.write(&mut out, &name)?;
    out.flush().context(name)?;
    Ok(ExitCode::from(if all { 0 } else { TROUBLE }))
}

struct Line {
    key: Key,
    begin: usize,
    end: usize,
}

struct Sorter {
    ids: Finder,
    wanted: Wanted,
    by: By,
    times: LineTime,
    passed: Skipped,
    /// Whether an id that is wanted was found.
    is_found: bool,
    is_reversed: bool,
    is_unique: bool,
    hashes: RandomState,
    text: Vec<u8>,
    lines: Vec<Line>,
    runs: Option<Runs>,
    /// The key of the previous line of the same source, and whether that began with a blank.
    key: Key,
    is_indented: bool,
}

impl Sorter {
    fn begin_source(&mut self, changed_ms: i64) {
        self.times.begin(changed_ms);
        (self.key, self.is_indented) = (None, false);
    }

    fn say_what_was_passed(&self) {
        let are_others_taken = self.wanted.is_default || self.wanted.passes_numbers();
        if are_others_taken || !self.is_found {
            self.passed.sentences(&self.wanted, are_others_taken).iter().for_each(|sentence| say(sentence));
        }
    }

    fn add(&mut self, line: &[u8]) -> Result<()> {
        // A line without an id has the key of the previous line; equal keys keep their order.
        let id = self.order(line).map(|id| if self.is_reversed { id.map(|part| !part) } else { id });
        self.key = id.or(self.key);
        if id.is_some() && self.memory() >= NEARLY {
            self.spill().context("temporary file")?;
        }
        let begin = self.text.len();
        self.text.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        match self.lines.last_mut() {
            Some(before) if id.is_none() && before.key == self.key => before.end = self.text.len(),
            _ => self.lines.push(Line { key: self.key, begin, end: self.text.len() }),
        }
        if self.memory() >= MEMORY {
            self.spill().context("temporary file")?;
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.text.len() + self.lines.len() * size_of::<Line>()
    }

    /// What the line is sorted by; None if it goes on with the one before.
    fn order(&mut self, line: &[u8]) -> Key {
        let blanks = blanks(line);
        let id = if self.by == By::Line { None } else { self.order_of_id(line) };
        let (place, key) = match id {
            Some(found) => found,
            None if self.by == By::Id => return None,
            None => {
                let stamp = self.times.find(line)?;
                (stamp.range.start, [stamp.ms.abs_diff(i64::MIN), 0, 0])
            }
        };
        if blanks > 0 && place > blanks && self.key.is_some() && !self.is_indented {
            return None;
        }
        self.is_indented = blanks > 0;
        self.passed.near(key[0].wrapping_add(i64::MIN as u64) as i64);
        Some(key)
    }

    /// The place of the id that counts, and what it is sorted by.
    fn order_of_id(&mut self, line: &[u8]) -> Option<(usize, [u64; 3])> {
        let by_time = |id: Found| Some((id.range.start, [id.ms?.abs_diff(i64::MIN), 0, 0]));
        if self.wanted.passes_numbers() {
            let [_, first] = self.passed.look(line);
            return first.and_then(by_time);
        }
        let id = self.ids.first_order(line);
        if !self.wanted.is_default {
            self.is_found |= id.is_some();
            if !self.is_found {
                self.passed.look(line);
            }
            let (range, order) = id?;
            let ms = self.ids.first(&line[range.clone()])?.ms?;
            return Some((range.start, [ms.abs_diff(i64::MIN), (order >> 64) as u64, order as u64]));
        }
        let by_txid = |order: u128| {
            let ms = (order >> BELOW_MS) as i64;
            [ms.abs_diff(i64::MIN), order as u64 & ((1 << BELOW_MS) - 1), 0]
        };
        if let Some((range, order)) = id.filter(|(range, order)| is_surely_one(line, range, (order >> BELOW_MS) as i64))
        {
            self.is_found = true;
            return Some((range.start, by_txid(order)));
        }
        match self.passed.look(line) {
            [Some(txid), _] => {
                let (_, order) = self.ids.first_order(&line[txid.range.clone()])?;
                Some((txid.range.start, by_txid(order)))
            }
            [_, first] => first.and_then(by_time),
        }
    }

    fn sort(&mut self) {
        // The beginning of a line is unique, so the order is well defined, and this sort needs no memory.
        self.lines.sort_unstable_by_key(|line| (line.key, line.begin));
    }

    /// The lines with their keys, and if equal ones are left out, a hash.
    fn sorted(&self) -> impl Iterator<Item = (Key, u64, &[u8])> {
        let hash = |line: &Line, text: &[u8]| match line.key {
            Some(_) if self.is_unique => self.hashes.hash_one(text).max(1),
            _ => 0,
        };
        self.lines.iter().map(move |line| {
            let text = &self.text[line.begin..line.end];
            (line.key, hash(line, text), text)
        })
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

    /// `name` is that of the output, for errors.
    fn write(mut self, out: &mut impl Write, name: &str) -> Result<()> {
        if self.runs.is_none() {
            self.sort();
            let mut seen = Seen::default();
            let mut lines = self.sorted().filter(|(key, hash, _)| seen.is_new(*key, *hash));
            return lines.try_for_each(|(_, _, text)| out.write_all(text)).context(name.to_string());
        }
        self.spill().context("temporary file")?;
        let runs = self.runs.take();
        drop(self);
        runs.map_or(Ok(()), |runs| runs.merge(out, name))
    }
}
