//! `txid grep`: prints the lines with an id from a time window.

use crate::grep_page::{Layout, Page};
use crate::hint::Hint;
use crate::histogram::Histogram;
use crate::ids::Wanted;
use crate::input::{self, Source};
use crate::trouble::{complain, say};
use crate::window::Ends;
use anyhow::{Context, Error, Result, anyhow};
use indicatif::ProgressBar;
use memchr::{memchr, memrchr};
use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use txid::formats::find::{Finder, Window};
use txid_args::Grep;

pub(crate) fn run(args: &Grep) -> Result<ExitCode> {
    let wanted = Wanted::new(&args.ids)?;
    let ids = wanted.finder()?;
    let sources = if args.recursive { input::sources_below(&args.files) } else { input::sources(&args.files) };
    let layout = Layout::of(args, sources.len());
    let mut search = Search {
        window: ids.window(Ends::of(&args.window, &wanted, None)?.range()),
        ids,
        wanted,
        what: What::of(args),
        text: args.text,
        layout: &layout,
        histogram: args.histogram.as_deref().map(Histogram::new).transpose()?,
        bar: input::bar(&sources),
        hint: Hint::default(),
        found: false,
        trouble: false,
        has_printed: false,
    };
    for source in &sources {
        if search.source(source)?.is_break() {
            break;
        }
    }
    search.bar.finish_and_clear();
    if let Some(histogram) = &search.histogram {
        print(histogram.text().as_bytes())?;
    }
    if let Some(hint) = search.hint_text() {
        say(&hint);
    }
    Ok(ExitCode::from(match search {
        Search { what: What::Nothing, found: true, .. } => 0,
        Search { trouble: true, .. } => crate::trouble::TROUBLE,
        Search { found: true, .. } => 0,
        _ => 1,
    }))
}

/// What is printed.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Lines,
    Counts,
    Names,
    Nothing,
}

impl What {
    fn of(args: &Grep) -> Self {
        match args {
            Grep { quiet: true, .. } => Self::Nothing,
            Grep { files_with_matches: true, .. } => Self::Names,
            Grep { count: true, .. } => Self::Counts,
            _ => Self::Lines,
        }
    }
}

struct Search<'a> {
    ids: Finder,
    wanted: Wanted,
    window: Window,
    what: What,
    text: bool,
    layout: &'a Layout,
    histogram: Option<Histogram>,
    bar: ProgressBar,
    hint: Hint,
    found: bool,
    trouble: bool,
    has_printed: bool,
}

impl Search<'_> {
    /// Errors of a source are reported and remembered, and the other sources are still read. Only an output that cannot
    /// be written is an error here. Breaks if no other source can change anything.
    fn source(&mut self, source: &Source) -> Result<ControlFlow<()>> {
        let bar = self.bar.clone();
        let blocks = match source.open(&bar) {
            Ok(blocks) => blocks,
            Err(error) => {
                self.trouble = true;
                let error = self.meant(source, error);
                bar.suspend(|| complain(&error));
                return Ok(ControlFlow::Continue(()));
            }
        };
        let name = self.layout.is_named.then(|| source.name());
        let mut page = Page::new(self.layout, name.as_deref(), self.has_printed);
        let (mut binary, mut count) = (false, 0);
        let all = source.each(blocks, &bar, |block| {
            if block.is_empty() {
                page.skip_line();
                return Ok(ControlFlow::Continue(()));
            }
            if let Some(histogram) = &mut self.histogram {
                let found = count_times(&self.ids, &self.window, block, histogram)?;
                self.found |= found;
                self.look(block);
                return Ok(ControlFlow::Continue(()));
            }
            let goes_on = match self.what {
                What::Lines if self.layout.is_plain() => self.copy(block, page.plain()),
                What::Lines => self.fill(block, &mut page),
                _ => self.count(block, &mut count),
            };
            count += page.take_count();
            self.found |= count > 0;
            self.look(block);
            // As in grep, binary content is not printed unless somebody wants it. Of a count, nothing is.
            binary = binary || !self.text && self.what == What::Lines && memchr(0, block).is_some();
            let text = page.take();
            if binary && !text.is_empty() {
                bar.suspend(|| say(&format!("{}: binary file matches", source.name())));
                return Ok(ControlFlow::Break(()));
            }
            if !text.is_empty() {
                match stdout().is_terminal() {
                    true => bar.suspend(|| print(&text))?,
                    false => print(&text)?,
                }
            }
            page.give_back(text);
            Ok(goes_on)
        })?;
        self.trouble |= !all;
        self.has_printed = page.has_printed();
        let line = match self.what {
            What::Counts if self.histogram.is_none() => self.layout.count_line(name.as_deref(), count),
            What::Names if count > 0 => self.layout.name_line(&source.name()),
            _ => String::new(),
        };
        if !line.is_empty() {
            bar.suspend(|| print(line.as_bytes()))?;
        }
        Ok(match self.what == What::Nothing && self.found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }

    fn look(&mut self, block: &[u8]) {
        self.hint.look(block, &self.ids);
    }

    fn hint_text(&self) -> Option<String> {
        if self.layout.is_inverted { None } else { self.hint.text(&self.ids) }
    }

    /// What somebody meant who gave an id where the name of a file stands.
    fn meant(&self, source: &Source, error: Error) -> Error {
        let is_missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
        let name = source.name();
        match error.downcast_ref().is_some_and(is_missing) && self.wanted.ms(name.as_bytes()).is_some() {
            true => anyhow!(
                "{name}: no file has this name; that is an id: grep -F {name} FILE finds it, and txid grep --around \
                 {name} FILE what was near it"
            ),
            false => error,
        }
    }

    /// Counts the matching lines, or sees whether there is one.
    fn count(&self, block: &[u8], count: &mut u64) -> ControlFlow<()> {
        let most = match self.what {
            What::Counts => self.layout.most.unwrap_or(u64::MAX),
            _ => self.layout.most.unwrap_or(1).min(1),
        };
        let (mut with, mut next_line) = (0, 0);
        self.ids.within(block, &self.window, |range| {
            if range.start >= next_line {
                with += 1;
                next_line = memchr(b'\n', &block[range.end..]).map_or(block.len(), |newline| range.end + newline + 1);
            }
        });
        *count += match self.layout.is_inverted {
            true => {
                let newlines = memchr::memchr_iter(b'\n', block).count() as u64;
                newlines + u64::from(block.last() != Some(&b'\n')) - with
            }
            false => with,
        };
        match *count >= most {
            true => {
                *count = most;
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        }
    }

    /// Copies the lines with an id in the window to `lines`.
    fn copy(&self, block: &[u8], (lines, count): (&mut Vec<u8>, &mut u64)) -> ControlFlow<()> {
        let mut next_line = 0;
        self.ids.within(block, &self.window, |range| {
            let place = range.start;
            if place < next_line {
                return;
            }
            let begin = memrchr(b'\n', &block[next_line..place]).map_or(next_line, |newline| next_line + newline + 1);
            next_line = memchr(b'\n', &block[place..]).map_or(block.len(), |newline| place + newline + 1);
            *count += 1;
            lines.extend_from_slice(&block[begin..next_line]);
        });
        if lines.last().is_some_and(|&byte| byte != b'\n') {
            lines.push(b'\n');
        }
        ControlFlow::Continue(())
    }

    /// Lays out the lines of a block.
    fn fill(&self, block: &[u8], page: &mut Page) -> ControlFlow<()> {
        let mut places = Vec::new();
        self.ids.within(block, &self.window, |range| places.push(range));
        let (mut at, mut next) = (0, 0);
        while next < places.len() {
            let start = places[next].start;
            let begin = memrchr(b'\n', &block[at..start]).map_or(at, |newline| at + newline + 1);
            let end = memchr(b'\n', &block[start..]).map_or(block.len(), |newline| start + newline + 1);
            let ids = places[next..].iter().take_while(|range| range.start < end).count();
            page.without(&block[at..begin])?;
            let in_line = places[next..next + ids].iter().map(|range| range.start - begin..range.end - begin);
            page.with(&block[begin..end], in_line)?;
            next += ids;
            at = end;
        }
        page.without(&block[at..])
    }
}

/// Counts lines by the time of the first id in the window. Whether there is one.
fn count_times(ids: &Finder, window: &Window, block: &[u8], histogram: &mut Histogram) -> Result<bool> {
    let (mut times, mut next_line) = (Vec::new(), 0);
    ids.within(block, window, |range| {
        if range.start >= next_line {
            next_line = memchr(b'\n', &block[range.end..]).map_or(block.len(), |newline| range.end + newline + 1);
            times.extend(ids.first(&block[range]).and_then(|it| it.ms));
        }
    });
    times.iter().try_for_each(|ms| histogram.add(*ms))?;
    Ok(!times.is_empty())
}

/// Prints whole lines as soon as they are known, so that `tail -f` can be searched.
fn print(text: &[u8]) -> Result<()> {
    let mut out = stdout();
    out.write_all(text).and_then(|()| out.flush()).context("standard output")
}
