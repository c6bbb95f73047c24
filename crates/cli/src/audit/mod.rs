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

use crate::blocks::lines;
use crate::errors::{TROUBLE, complain, say};
use crate::ids::{Default, Wanted, is_to_come};
use crate::input::{self, Source};
use crate::skipped::{Skipped, is_number};
use crate::time;
use anyhow::{Context, Result, anyhow, bail};
use clock::{Clock, StepBack};
use findings::{Few, Findings};
use key::Key;
use maker::{MAKER, Maker, Makers, Reader, hash_of_value};
use records::{Record, Records};
use report::{Hosts, Report};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use tempfile::SpooledTempFile;
use txid::formats::Format;
use txid::formats::find::{Finder, SHORTEST};
use txid_args::Audit;

/// In one line.
const MOST_FORMATS: usize = 4;

/// What the rest of the command takes, or the merge of a temporary file.
const OTHER_MEMORY: u64 = 32 << 20;
const LEAST_MEMORY: u64 = 40 << 20;

/// What a clock takes; and after how much more of all, records have less.
const CLOCK: usize = 200;
const STEP: usize = 1 << 20;

/// Nobody asks about fewer ids in two files.
const LEAST_COPIED: u64 = 10;

/// To show lines as they were read, the first small files stay in memory, and others open.
const SMALL_FILES: usize = 8;
const SMALL: usize = 1 << 19;
const OPEN_FILES: usize = 256;

/// So much is looked at for words that are ids by chance.
const SAMPLE: usize = 16 << 20;

/// How often chance may differ from what is expected.
const CHANCE: f64 = 2.0;

pub(crate) fn run(args: &Audit) -> Result<ExitCode> {
    let wanted = Wanted::new(&args.ids, Default::Txid)?;
    let sources = input::sources(&args.files);
    let bar = input::bar(&sources);
    let memory = memory(&args.memory)?;
    let keys: Vec<_> = args.per.iter().filter(|key| *key != "file").collect();
    let mut audit = Collector {
        ids: wanted.finder()?,
        is_any: wanted.formats.is_none(),
        passes_numbers: wanted.passes_numbers(),
        passed: Skipped::new(i64::MIN..=i64::MAX),
        always_looks: wanted.is_default,
        readers: Reader::all(wanted.numbers),
        records: Records::new(memory),
        makers: Makers::new(memory),
        hosts: Hosts::default(),
        per: keys.iter().map(|text| key("--per", text)).collect::<Result<_>>()?,
        host: args.host.as_ref().map(|text| key("--host", text)).transpose()?,
        clocks: HashMap::new(),
        counts: BTreeMap::new(),
        by_chance: BTreeMap::new(),
        looked: [0; 2],
        steps: BTreeMap::new(),
        show: args.show,
        names: names_of(&sources),
        source: 0,
        line: 0,
        lines: 0,
        here: 0,
        without_key: 0,
        spools: HashMap::new(),
        files: HashMap::new(),
        left: 0,
    };
    let gap_ms = time::parse_span("--gap", &args.gap)?;
    let mut all = true;
    for (number, source) in sources.iter().enumerate() {
        let opened = source.file().and_then(|file| Ok((source.open_file(file.try_clone()?, &bar)?, file)));
        match opened {
            Ok((blocks, file)) => {
                audit.begin(number, source, file)?;
                all &= source.each(blocks, &bar, |block| {
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
    if audit.makers.is_full() {
        say("too many nodes to tell them all apart: only the first were looked at for hosts that share one");
    }
    let left_out = audit.leave_out();
    let ids: u64 = audit.counts.values().sum();
    let Collector {
        records,
        makers,
        hosts,
        steps,
        lines,
        without_key,
        spools,
        files,
        passed,
        counts,
        ids: finder,
        readers,
        ..
    } = audit;
    let mut all_steps = Few::new(args.show);
    steps.into_iter().filter(|(at, _)| counts.contains_key(at)).for_each(|(_, some)| all_steps.extend(some, by_ms));
    let is_once_a_file = keys.len() < args.per.len();
    let mut findings = Findings::new(wanted.numbers, gap_ms, [!keys.is_empty(), is_once_a_file], args.show, ids);
    records.each(|record| {
        if !left_out.contains(&makers.all[record.maker as usize].format()) {
            findings.add(record, &makers);
        }
    })?;
    findings.end(&makers);
    if without_key > 0 {
        let key = args.per.join(",");
        say(&format!("--per {key}: {without_key} lines with an id have no {key}, and repeat nothing"));
    }
    for (&(one, other), &count) in &findings.copies {
        if count >= LEAST_COPIED && 2 * findings.copies.values().sum::<u64>() > findings.repeats.count {
            let [one, other] = [one, other].map(|source| sources[source].name());
            say(&format!(
                "{count} ids of {other} are in {one}, too: leave out one if it is a copy; if both tell of the same requests, \
                 say --per file"
            ));
        }
    }
    let passed = passed.sentences(&wanted, wanted.passes_numbers());
    if ids == 0 || wanted.is_default || wanted.passes_numbers() {
        passed.iter().for_each(|sentence| say(sentence));
    }
    let repeats = findings.repeats.count > 0;
    let formats: Vec<_> = counts.into_iter().map(|(at, count)| (txid::formats::ALL[at].name, count)).collect();
    let numbers = wanted.numbers;
    let (steps, makers, hosts) = (all_steps, &makers, &hosts);
    let report = Report { findings, steps, makers, hosts, lines, numbers, formats, args, sources: &sources };
    let has_id = |line: &[u8], id| {
        let mut has_id = false;
        finder.each(line, |it| {
            let at = txid::formats::ALL.iter().position(|format| *format == it.format).unwrap_or_default();
            has_id |= readers[at].read(&line[it.range]).0 == id;
            ControlFlow::Continue(())
        });
        has_id
    };
    report.print(spools, files, has_id)?;
    if ids == 0 && all {
        let title = wanted.title();
        complain(&anyhow!("there is no {title} on {lines} lines, so there is nothing to report"));
    }
    Ok(ExitCode::from(match (all && ids > 0, repeats) {
        (false, _) => TROUBLE,
        (true, repeats) => u8::from(repeats),
    }))
}

fn key(option: &str, text: &str) -> Result<Key> {
    Key::new(text).with_context(|| format!("{option} '{text}': not a name, nor a column from 1"))
}

fn by_ms((_, _, step): &(u32, usize, StepBack)) -> i64 {
    step.by_ms
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
    is_any: bool,
    passes_numbers: bool,
    passed: Skipped,
    /// Whether lines without an id are looked at even if there are some.
    always_looks: bool,
    readers: Vec<Reader>,
    records: Records,
    makers: Makers,
    hosts: Hosts,
    per: Vec<Key>,
    host: Option<Key>,
    /// The clocks of the file that is read, by host and format.
    clocks: HashMap<(u32, u32), Box<Clock>>,
    steps: BTreeMap<usize, Few<(u32, usize, StepBack)>>,
    show: usize,
    /// The host of each source.
    names: Vec<String>,
    /// How many ids there are of each format, by its place in the list of all, and how many chance makes of the words that
    /// were looked at: of so many bytes and lines.
    counts: BTreeMap<usize, u64>,
    by_chance: BTreeMap<usize, f64>,
    looked: [usize; 2],
    source: usize,
    line: u64,
    lines: u64,
    /// The host of lines that name none.
    here: u32,
    without_key: u64,
    /// What cannot be read a second time, or is small, by the number of its source, and other files that were read.
    spools: HashMap<usize, SpooledTempFile>,
    files: HashMap<usize, File>,
    /// How much memory records have left to hosts and nodes.
    left: usize,
}

impl Collector {
    fn begin(&mut self, number: usize, source: &Source, file: File) -> Result<()> {
        self.source = number;
        self.line = 0;
        self.here = self.hosts.number(self.names[number].as_bytes())?;
        self.hosts.add_file(self.here, &source.name());
        let metadata = file.metadata().with_context(|| source.name())?;
        let is_small = self.spools.len() < SMALL_FILES && metadata.len() <= SMALL as u64;
        match metadata.is_file() {
            false => drop(self.spools.insert(number, SpooledTempFile::new(0))),
            true if is_small => drop(self.spools.insert(number, SpooledTempFile::new(SMALL))),
            true if self.files.len() < OPEN_FILES => drop(self.files.insert(number, file)),
            true => {}
        }
        Ok(())
    }

    fn end(&mut self) {
        let clocks = std::mem::take(&mut self.clocks);
        for ((host, at), mut clock) in clocks {
            let step = clock.end();
            self.add_step(host, at as usize, step);
        }
        self.lines += self.line;
    }

    fn block(&mut self, block: &[u8]) -> Result<()> {
        if block.is_empty() {
            self.line += 1;
            return self.spool(b"\n");
        }
        self.spool(block)?;
        if self.is_any && self.looked[0] < SAMPLE {
            self.look(block);
        }
        lines(block).try_for_each(|line| {
            self.line += 1;
            self.add(line)
        })
    }

    fn spool(&mut self, lines: &[u8]) -> Result<()> {
        match self.spools.get_mut(&self.source) {
            Some(spool) => spool.write_all(lines).context("temporary file"),
            None => Ok(()),
        }
    }

    /// How many of the words would be ids by chance.
    fn look(&mut self, block: &[u8]) {
        let words = block.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.len() >= SHORTEST);
        for word in words {
            for (at, format) in txid::formats::ALL.iter().copied().enumerate() {
                if let Some(chance) = format.chance(word) {
                    *self.by_chance.entry(at).or_default() += chance;
                }
            }
        }
        self.looked = [self.looked[0] + block.len(), self.looked[1] + lines(block).count()];
    }

    /// The formats with no more ids than chance makes.
    fn leave_out(&mut self) -> Vec<&'static Format> {
        let (mut left_out, more) = (Vec::new(), CHANCE * self.lines as f64 / self.looked[1].max(1) as f64);
        self.counts.retain(|at, count| {
            let (format, chance) = (txid::formats::ALL[*at], self.by_chance.get(at).unwrap_or(&0.0));
            let is_more = *count as f64 > more * chance;
            if !is_more {
                let name = format.name;
                say(&format!("{count} ids of {name} are no more than chance makes: left out without --format {name}"));
                left_out.push(format);
            }
            is_more
        });
        left_out
    }

    /// Remembers the first id of each format in a line.
    fn add(&mut self, line: &[u8]) -> Result<()> {
        let mut found: [Option<First>; MOST_FORMATS] = [None; MOST_FORMATS];
        let mut count = 0;
        let is_one_format = self.ids.format().is_some();
        let (readers, passed, passes_numbers) = (&self.readers, &mut self.passed, self.passes_numbers);
        self.ids.each(line, |it| {
            if passes_numbers && is_number(&line[it.range.clone()]) {
                passed.number(line, it.range);
                return ControlFlow::Continue(());
            }
            let Some(ms) = it.ms else { return ControlFlow::Continue(()) };
            let at = txid::formats::ALL.iter().position(|format| *format == it.format).unwrap_or_default();
            if count < found.len() && found[..count].iter().flatten().all(|before| before.at != at) {
                let (id, maker) = readers[at].read(&line[it.range]);
                found[count] = Some(First { at, id, maker, ms });
                count += 1;
            }
            if is_one_format || count == found.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if count == 0 {
            if !passes_numbers && (self.always_looks || self.records.count == 0) {
                self.passed.look(line);
            }
            return Ok(());
        }
        // An xid would be a txid of years to come.
        if self.always_looks && found[0].is_some_and(|first| is_to_come(first.ms)) {
            self.passed.look(line);
        }
        let keys = self.per.iter().zip(1..);
        let per = keys.filter_map(|(key, number)| Some(hash_of_value(number, key.value(line)?))).next().unwrap_or(0);
        self.without_key += u64::from(!self.per.is_empty() && per == 0);
        let host = match self.host.as_ref().and_then(|key| key.value(line)) {
            Some(name) => self.hosts.number(name)?,
            None => self.here,
        };
        let place = Record::place(self.source, self.line);
        for First { at, id, maker, ms } in found.into_iter().flatten() {
            let step = self.clocks.entry((host, at as u32)).or_default().see(ms, self.line);
            self.add_step(host, at, step);
            self.passed.near(ms);
            let maker = self.makers.number(maker);
            *self.counts.entry(at).or_default() += 1;
            self.records.add(Record { ms, id, place, per, host, maker })?;
        }
        let taken = self.hosts.memory() + self.clocks.len() * CLOCK + self.makers.all.len() * MAKER;
        if taken > self.left + STEP {
            self.records.leave(taken - self.left);
            self.left = taken;
        }
        Ok(())
    }

    fn add_step(&mut self, host: u32, at: usize, step: Option<StepBack>) {
        if let Some(step) = step {
            let steps = self.steps.entry(at).or_insert_with(|| Few::new(self.show));
            steps.add_by_size((host, self.source, step), by_ms);
        }
    }
}

/// The host that each source is of: its name, without what compression and rotation add.
fn names_of(sources: &[Source]) -> Vec<String> {
    let names: Vec<_> = sources.iter().map(|source| unpacked(&source.name()).to_string()).collect();
    let is_there = |name: &str| names.iter().any(|other| other == name) || Path::new(name).exists();
    names.iter().map(|name| unrotated(name, is_there).to_string()).collect()
}

fn unpacked(name: &str) -> &str {
    [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// `access.log` of `access.log.2`, of `access.log-20261124`, and `access` of `access.2` if that is there as well: of
/// `10.0.0.1` and `10.0.0.2`, none is the other's.
fn unrotated(name: &str, is_there: impl Fn(&str) -> bool) -> &str {
    let Some((before, number)) = name.rsplit_once(['.', '-']) else { return name };
    let is_day = number.len() == 8 && number.starts_with("20");
    let is_rotation = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_rotation && (is_day || before.ends_with(".log") || is_there(before)) { before } else { name }
}

#[cfg(test)]
mod tests {
    use super::{memory, unpacked, unrotated};

    #[test]
    fn memory_is_so_many_bytes_less_those_of_the_rest() {
        for (text, mib) in [("40M", 8), ("40960K", 8), ("41943040", 8), ("1g", 992), ("64MB", 32)] {
            assert_eq!(memory(text).ok(), Some(mib << 20), "{text}");
        }
        for text in ["41943039", "39M", "M", "-1G", "1.5G", "1T", "17179869184G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_rotation_is_taken_off() {
        let files = ["web", "web.1", "10.0.0.1", "10.0.0.2"];
        for (name, expected) in [
            ("web.1", "web"),
            ("pod.1", "pod.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("a.log.12", "a.log"),
            ("a-20261124", "a"),
            ("a-1", "a-1"),
            ("a.", "a."),
        ] {
            assert_eq!(unrotated(name, |name| files.contains(&name)), expected, "{name}");
        }
        assert_eq!(["a.log.1.gz", "a.zst", "a.gz.b"].map(unpacked), ["a.log.1", "a", "a.gz.b"]);
    }
}
