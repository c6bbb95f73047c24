//! `txid grep`: the lines that carry an id from a window of time.

use crate::input::{self, Blocks, Source};
use crate::{args::Grep, complain, say, time, words};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use memchr::{memchr, memrchr};
use std::io::{IsTerminal, Stdout, Write, stdout};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use txid::Txid;

pub fn run(args: &Grep) -> Result<ExitCode> {
    let sources = input::sources(&args.files);
    let mut search = Search {
        ids: ids_of(args)?,
        count: args.count,
        named: sources.len() > 1,
        out: stdout(),
        bar: input::bar(&sources),
        found: false,
        trouble: false,
    };
    for source in &sources {
        search.source(source)?;
    }
    search.bar.finish_and_clear();
    Ok(ExitCode::from(match search {
        Search { trouble: true, .. } => crate::TROUBLE,
        Search { found: true, .. } => 0,
        _ => 1,
    }))
}

fn ids_of(args: &Grep) -> Result<RangeInclusive<Txid>> {
    let from = match (&args.from, &args.since) {
        (Some(text), _) => ("--from", time::parse("--from", text)?),
        (None, Some(text)) => ("--since", time::parse_since("--since", text)?),
        (None, None) => ("--from", 0),
    };
    let to = args.to.as_deref().map_or(Ok(time::LAST_MS), |text| time::parse("--to", text))?;
    let window = time::window(from, ("--to", to))?;
    Ok(Txid::first_of(*window.start())..=Txid::last_of(*window.end()))
}

struct Search {
    ids: RangeInclusive<Txid>,
    count: bool,
    named: bool,
    out: Stdout,
    bar: ProgressBar,
    found: bool,
    trouble: bool,
}

impl Search {
    /// Trouble with the source is told and remembered, and the others have their turn; only what keeps the output from
    /// being written is an error.
    fn source(&mut self, source: &Source) -> Result<()> {
        let mut count = 0;
        match source.open(&self.bar) {
            Ok(input) => self.lines(source, Blocks::new(input), &mut count)?,
            Err(error) => return self.tell(&error),
        }
        self.found |= count > 0;
        if self.count {
            let line = if self.named { format!("{}:{count}\n", source.name()) } else { format!("{count}\n") };
            self.print(line.as_bytes())?;
        }
        Ok(())
    }

    fn lines(&mut self, source: &Source, mut blocks: Blocks, count: &mut u64) -> Result<()> {
        let mut binary = None;
        let mut lines = Vec::new();
        loop {
            let block = match blocks.next() {
                Ok(Some(block)) => block,
                Ok(None) => return Ok(()),
                Err(error) => return self.tell(&anyhow::Error::new(error).context(source.name())),
            };
            let binary = *binary.get_or_insert_with(|| memchr(0, block).is_some());
            *count += self.matching(block, &mut lines);
            if lines.is_empty() {
                continue;
            }
            if binary {
                // As with grep: the bytes could do anything to a terminal.
                self.bar.suspend(|| say(&format!("{}: binary file matches", source.name())));
                return Ok(());
            }
            self.print(&lines)?;
        }
    }

    /// How many lines of the block carry an id of the window; `lines` are these, if they are wanted.
    fn matching(&self, block: &[u8], lines: &mut Vec<u8>) -> u64 {
        let mut count = 0;
        let mut next_line = 0;
        lines.clear();
        for place in words::ids_within(block, &self.ids) {
            if place < next_line {
                continue;
            }
            let begin = memrchr(b'\n', &block[next_line..place]).map_or(next_line, |newline| next_line + newline + 1);
            next_line = memchr(b'\n', &block[place..]).map_or(block.len(), |newline| place + newline + 1);
            count += 1;
            if !self.count {
                lines.extend_from_slice(&block[begin..next_line]);
            }
        }
        if lines.last().is_some_and(|&byte| byte != b'\n') {
            lines.push(b'\n');
        }
        count
    }

    /// Whole lines, as soon as they are known, so that `tail -f` can be searched. The bar makes room for them.
    fn print(&mut self, lines: &[u8]) -> Result<()> {
        let out = &mut self.out;
        let mut write = || out.write_all(lines).and_then(|()| out.flush());
        let written = if stdout().is_terminal() { self.bar.suspend(write) } else { write() };
        written.context("standard output")
    }

    fn tell(&mut self, error: &anyhow::Error) -> Result<()> {
        self.trouble = true;
        self.bar.suspend(|| complain(error));
        Ok(())
    }
}
