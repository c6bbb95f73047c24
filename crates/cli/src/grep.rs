//! `txid grep`: prints the lines with an id from a time window.

use crate::hint::Hint;
use crate::input::{self, Source};
use crate::trouble::{complain, say};
use crate::words::{Finder, Window};
use crate::{ids, terminal, time};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use memchr::{memchr, memrchr};
use std::io::{IsTerminal, Stdout, Write, stdout};
use std::ops::{ControlFlow, RangeInclusive};
use std::process::ExitCode;
use txid_args::Grep;

pub(crate) fn run(args: &Grep) -> Result<ExitCode> {
    let (format, numbers) = ids::chosen(&args.ids)?;
    let finder = Finder::new(format, numbers).context("ids of this format hold no time")?;
    let sources = input::sources(&args.files);
    let mut search = Search {
        window: finder.window(window_of(args)?),
        finder,
        count: args.count,
        text: args.text,
        named: sources.len() > 1,
        out: stdout(),
        bar: input::bar(&sources),
        hint: Hint::default(),
        found: false,
        trouble: false,
    };
    for source in &sources {
        search.source(source)?;
    }
    search.bar.finish_and_clear();
    if let Some(hint) = search.hint.text(&search.finder) {
        say(&hint);
    }
    Ok(ExitCode::from(match search {
        Search { trouble: true, .. } => crate::trouble::TROUBLE,
        Search { found: true, .. } => 0,
        _ => 1,
    }))
}

fn window_of(args: &Grep) -> Result<RangeInclusive<i64>> {
    let from = match (&args.from, &args.since) {
        (Some(text), _) => Some(("--from", time::parse("--from", text)?)),
        (None, Some(text)) => Some(("--since", time::parse_since("--since", text)?)),
        (None, None) => None,
    };
    let to = args.to.as_deref().map(|text| time::parse("--to", text)).transpose()?;
    match (from, to) {
        (Some(from), Some(to)) => time::window(from, ("--to", to)),
        (from, to) => Ok(from.map_or(i64::MIN, |(_, ms)| ms)..=to.map_or(i64::MAX, |ms| ms - 1)),
    }
}

struct Search {
    finder: Finder,
    window: Window,
    count: bool,
    text: bool,
    named: bool,
    out: Stdout,
    bar: ProgressBar,
    hint: Hint,
    found: bool,
    trouble: bool,
}

impl Search {
    /// Errors of a source are reported and remembered, and the other sources are still read. Only an output that cannot
    /// be written is an error here.
    fn source(&mut self, source: &Source) -> Result<()> {
        let bar = self.bar.clone();
        let blocks = match source.open(&bar) {
            Ok(blocks) => blocks,
            Err(error) => {
                self.trouble = true;
                bar.suspend(|| complain(&error));
                return Ok(());
            }
        };
        let (mut count, mut binary, mut lines) = (0, false, Vec::new());
        let all = source.each(blocks, &bar, |block| {
            count += self.matching(block, &mut lines);
            self.hint.look(block, &self.finder);
            // As in grep, binary content is not printed unless somebody wants it. Of a count, nothing is.
            binary = binary || !self.text && !self.count && memchr(0, block).is_some();
            if lines.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            if binary {
                bar.suspend(|| say(&format!("{}: binary file matches", source.name())));
                return Ok(ControlFlow::Break(()));
            }
            self.print(&lines)?;
            Ok(ControlFlow::Continue(()))
        })?;
        self.trouble |= !all;
        self.found |= count > 0;
        if self.count {
            let line = if self.named { format!("{}:{count}\n", source.name()) } else { format!("{count}\n") };
            self.print(line.as_bytes())?;
        }
        Ok(())
    }

    /// Counts the lines of the block with an id in the window; copies them to `lines` if they are wanted.
    fn matching(&self, block: &[u8], lines: &mut Vec<u8>) -> u64 {
        let mut count = 0;
        let mut next_line = 0;
        lines.clear();
        self.finder.within(block, &self.window, |place| {
            if place < next_line {
                return;
            }
            let begin = memrchr(b'\n', &block[next_line..place]).map_or(next_line, |newline| next_line + newline + 1);
            next_line = memchr(b'\n', &block[place..]).map_or(block.len(), |newline| place + newline + 1);
            count += 1;
            if !self.count {
                lines.extend_from_slice(&block[begin..next_line]);
            }
        });
        if lines.last().is_some_and(|&byte| byte != b'\n') {
            lines.push(b'\n');
        }
        count
    }

    /// Prints whole lines as soon as they are known, so that `tail -f` can be searched. The progress bar is hidden
    /// meanwhile.
    fn print(&mut self, lines: &[u8]) -> Result<()> {
        let out = &mut self.out;
        let mut write = |lines: &[u8]| out.write_all(lines).and_then(|()| out.flush());
        let written = match stdout().is_terminal() {
            true => self.bar.suspend(|| write(terminal::harmless(lines).as_bytes())),
            false => write(lines),
        };
        written.context("standard output")
    }
}
