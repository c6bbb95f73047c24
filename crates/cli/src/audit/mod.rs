//! `txid audit`: reports what is wrong with the ids of logs.
//!
//! A record of each id is collected, and where they do not fit into memory, sorted by time in a temporary file. Clocks are
//! looked at in the order of lines, everything else in the order of time.

mod clock;
mod findings;
mod key;
mod maker;
mod records;
mod report;

use crate::hint::Hint;
use crate::ids::Wanted;
use crate::input::{self, Source};
use crate::time;
use crate::trouble::{TROUBLE, complain, say};
use anyhow::{Context, Result, bail};
use clock::{Clock, StepBack};
use findings::{Few, Findings};
use key::Key;
use maker::{Maker, Makers, Reader, hash_of_value};
use memchr::memchr;
use records::{Record, Records};
use report::{Hosts, Report};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use txid::formats::find::Finder;
use txid_args::Audit;

/// In one line.
const MOST_FORMATS: usize = 4;

/// What the rest of the command takes, or the merge of a temporary file.
const OTHER_MEMORY: u64 = 32 << 20;
const LEAST_MEMORY: u64 = 40 << 20;

pub(crate) fn run(args: &Audit) -> Result<ExitCode> {
    let wanted = Wanted::new(&args.ids)?;
    let sources = input::sources(&args.files);
    let bar = input::bar(&sources);
    let mut audit = Collector {
        ids: wanted.finder()?,
        readers: Reader::all(wanted.numbers),
        records: Records::new(memory(&args.memory)?),
        makers: Makers::default(),
        hosts: Hosts::default(),
        per: key("--per", args.per.as_deref())?,
        host: key("--host", args.host.as_deref())?,
        clocks: HashMap::new(),
        steps: Few::new(args.show),
        source: 0,
        is_stdin: false,
        line: 0,
        lines: 0,
        here: 0,
        without_key: 0,
        kept: None,
    };
    let gap_ms = time::parse_span("--gap", &args.gap)?;
    let (mut all, mut hint) = (true, Hint::default());
    for (number, source) in sources.iter().enumerate() {
        match source.open(&bar) {
            Ok(blocks) => {
                audit.begin(number, source)?;
                all &= source.each(blocks, &bar, |block| {
                    hint.look(block, &audit.ids);
                    audit.block(block)?;
                    Ok(ControlFlow::Continue(()))
                })?;
                audit.end();
            }
            Err(error) => {
                all = false;
                bar.suspend(|| complain(&error));
            }
        }
    }
    bar.finish_and_clear();
    hint.text(&audit.ids).iter().for_each(|hint| say(hint));
    if audit.makers.is_full() {
        say("too many nodes to tell them all apart: only the first were looked at for hosts that share one");
    }
    let mut findings = Findings::new(wanted.numbers, gap_ms, audit.per.is_some(), args.show);
    let Collector { records, makers, hosts, steps, lines, without_key, kept, .. } = audit;
    records.each(|record| findings.add(record, &makers))?;
    findings.end(&makers);
    if let (Some(key), 1..) = (&args.per, without_key) {
        say(&format!("--per {key}: {without_key} lines with an id have no {key}, and repeat nothing"));
    }
    let repeats = findings.repeats.count > 0;
    let report = Report { findings, steps, makers: &makers, hosts: &hosts, lines, numbers: wanted.numbers };
    report.print(args, &sources, kept)?;
    Ok(ExitCode::from(match (all, repeats) {
        (false, _) => TROUBLE,
        (true, repeats) => u8::from(repeats),
    }))
}

fn key(option: &str, text: Option<&str>) -> Result<Option<Key>> {
    let key =
        |text: &str| Key::new(text).with_context(|| format!("{option} '{text}': not a name, nor a column from 1"));
    text.map(key).transpose()
}

/// A number of bytes, with or without K, M or G.
fn memory(text: &str) -> Result<usize> {
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches('B').trim_end_matches(['K', 'M', 'G']);
    let unit = match upper[digits.len()..].chars().next() {
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some('G') => 1 << 30,
        _ => 1_u64,
    };
    let size = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit));
    let size = size.with_context(|| format!("--memory '{text}': not a size; write it as 256M or 1G"))?;
    if size < LEAST_MEMORY {
        bail!("--memory '{text}': at least {}M are needed", LEAST_MEMORY >> 20);
    }
    Ok((size - OTHER_MEMORY) as usize)
}

/// The first id of a format in a line.
#[derive(Clone, Copy)]
struct First {
    /// The place of the format in the list of all.
    at: usize,
    id: [u64; 2],
    maker: Maker,
    ms: i64,
}

struct Collector {
    ids: Finder,
    readers: Vec<Reader>,
    records: Records,
    makers: Makers,
    hosts: Hosts,
    per: Option<Key>,
    host: Option<Key>,
    /// Those of the file that is read, by host and format.
    clocks: HashMap<(u32, u32), Clock>,
    steps: Few<(u32, usize, StepBack)>,
    source: usize,
    is_stdin: bool,
    line: u64,
    lines: u64,
    /// The host of lines that name none.
    here: u32,
    without_key: u64,
    /// What came on standard input, to show lines of it.
    kept: Option<BufWriter<File>>,
}

impl Collector {
    fn begin(&mut self, number: usize, source: &Source) -> Result<()> {
        self.source = number;
        self.line = 0;
        self.here = self.hosts.number(host_of(&source.name()).as_bytes())?;
        self.is_stdin = matches!(source, Source::Stdin);
        if self.is_stdin {
            self.kept = Some(BufWriter::new(tempfile::tempfile().context("temporary file")?));
        }
        Ok(())
    }

    fn end(&mut self) {
        let clocks = std::mem::take(&mut self.clocks);
        for ((host, _), mut clock) in clocks {
            let step = clock.end();
            self.add_step(host, step);
        }
        self.lines += self.line;
    }

    fn block(&mut self, mut block: &[u8]) -> Result<()> {
        if block.is_empty() {
            self.line += 1;
            return self.keep(b"\n");
        }
        self.keep(block)?;
        while !block.is_empty() {
            let end = memchr(b'\n', block).map_or(block.len(), |newline| newline + 1);
            self.line += 1;
            self.add(&block[..end])?;
            block = &block[end..];
        }
        Ok(())
    }

    fn keep(&mut self, lines: &[u8]) -> Result<()> {
        match &mut self.kept {
            Some(kept) if self.is_stdin => kept.write_all(lines).context("temporary file"),
            _ => Ok(()),
        }
    }

    /// Remembers the first id of each format in a line.
    fn add(&mut self, line: &[u8]) -> Result<()> {
        let mut found: [Option<First>; MOST_FORMATS] = [None; MOST_FORMATS];
        let mut count = 0;
        let is_one = self.ids.format().is_some();
        let readers = &self.readers;
        self.ids.each(line, |it| {
            let Some(ms) = it.ms else { return ControlFlow::Continue(()) };
            let at = txid::formats::ALL.iter().position(|format| *format == it.format).unwrap_or_default();
            if count < found.len() && found[..count].iter().flatten().all(|before| before.at != at) {
                let (id, maker) = readers[at].read(&line[it.range]);
                found[count] = Some(First { at, id, maker, ms });
                count += 1;
            }
            if is_one || count == found.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if count == 0 {
            return Ok(());
        }
        let per = match &self.per {
            None => 0,
            Some(key) => key.value(line).map_or(0, hash_of_value),
        };
        self.without_key += u64::from(self.per.is_some() && per == 0);
        let host = match self.host.as_ref().and_then(|key| key.value(line)) {
            Some(name) => self.hosts.number(name)?,
            None => self.here,
        };
        let place = Record::place(self.source, self.line);
        for First { at, id, maker, ms } in found.into_iter().flatten() {
            let step = match self.clocks.get_mut(&(host, at as u32)) {
                Some(clock) => clock.see(ms, self.line),
                None => {
                    self.clocks.insert((host, at as u32), Clock::new(ms));
                    None
                }
            };
            self.add_step(host, step);
            let maker = self.makers.number(maker);
            self.records.add(Record { ms, id, place, per, host, maker })?;
        }
        Ok(())
    }

    fn add_step(&mut self, host: u32, step: Option<StepBack>) {
        if let Some(step) = step {
            self.steps.add_by_size((host, self.source, step), |(_, _, step)| step.by_ms);
        }
    }
}

/// The name of a file without what the rotation of logs adds: access.log of access.log.2.gz.
fn host_of(name: &str) -> String {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit_once(['.', '-']) {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            before.to_string()
        }
        _ => name.to_string(),
    }
}
