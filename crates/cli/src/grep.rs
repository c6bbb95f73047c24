//! `txid grep`: prints the lines with an id from a time window.

use crate::grep_page::{Layout, Page};
use crate::histogram::Histogram;
use crate::ids::{Default, Own, Wanted};
use crate::input::{self, Part, Source};
use crate::line_time::LineTime;
use crate::passed::{Passed, is_number};
use crate::seek::Seeker;
use crate::time;
use crate::trouble::{TROUBLE, complain, say};
use crate::window::{self, Ends};
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use memchr::{memchr, memchr_iter, memrchr};
use serde_json::json;
use std::io::{IsTerminal, Write, stdout};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::process::ExitCode;
use txid::formats::find::{Finder, Window};
use txid_args::Grep;

/// Of the beginning of a file, so much says whether it is text: then, fewer than one in a hundred bytes are zeros, as after a
/// power cut.
const BEGINNING: usize = 64 << 10;

/// Of the beginning of the input, ids of other formats are looked for if there is nothing else.
const SAMPLE: usize = 256 << 10;

pub(crate) fn run(args: &Grep) -> Result<ExitCode> {
    if args.max_count == Some(0) && !args.files_without_match {
        return Ok(ExitCode::from(1));
    }
    let wanted = Wanted::new(&args.ids, Default::Any)?;
    let sources = match args.recursive {
        true => input::sources_below(&args.files, &args.include)?,
        false => input::sources(&args.files),
    };
    refuse_ids_as_files(&sources, &wanted)?;
    let range = times(args, &wanted)?;
    let layout = Layout::of(args, sources.len());
    let lines = Lines::new(args, wanted, range.clone())?;
    let mut search = Search {
        seeker: args.late.as_deref().map(|late| Seeker::new(late, range, &lines.wanted)).transpose()?,
        lines,
        what: What::of(args),
        text: args.text,
        is_silent: args.no_messages,
        layout: &layout,
        histogram: args.histogram.as_deref().map(|span| Histogram::new(span, args)).transpose()?,
        bar: input::bar(&sources),
        found: false,
        trouble: false,
        has_printed: false,
    };
    if let (Some(seeker), Some(why)) = (&mut search.seeker, whole_files(args)) {
        say(&format!("--late: all is read: {why}"));
        seeker.is_off = true;
    }
    for source in &sources {
        if search.source(source)?.is_break() {
            break;
        }
    }
    search.bar.finish_and_clear();
    if let Some(histogram) = &search.histogram {
        print(histogram.text()?.as_bytes())?;
    }
    search.say_what_was_passed();
    Ok(ExitCode::from(match search {
        Search { what: What::Nothing, found: true, .. } => 0,
        Search { trouble: true, .. } => TROUBLE,
        Search { found: true, .. } => 0,
        _ => 1,
    }))
}

/// The times that an id must have.
fn times(args: &Grep, wanted: &Wanted) -> Result<RangeInclusive<i64>> {
    if let Some(text) = &args.in_flight {
        return Ok(i64::MIN..=window::moment("--in-flight", text, wanted)? - 1);
    }
    let ends = Ends::of(&args.window, wanted, None)?;
    if let (None, None, None) = (ends.from, ends.to, &args.histogram) {
        bail!(
            "which time? Say --from, --to, --around or --in-flight, as in --from 10m or --around ID; \
             grep -F finds a text"
        );
    }
    Ok(ends.range())
}

/// Somebody who gives an id where the name of a file stands wants that id, and not all lines of the files after it.
fn refuse_ids_as_files(sources: &[Source], wanted: &Wanted) -> Result<()> {
    for source in sources {
        let Source::File(path) = source else { continue };
        let text = path.to_string_lossy();
        if !path.exists() && wanted.ms(text.as_bytes()).is_some() {
            bail!(
                "{text}: no file has this name; that is an id: grep -F {text} FILE finds it, and txid grep --around \
                 {text} FILE what was near it"
            );
        }
    }
    Ok(())
}

/// Why --late cannot be of use.
fn whole_files(args: &Grep) -> Option<&'static str> {
    let reasons = [
        (args.invert_match, "-v prints what is outside the window"),
        (args.line_number, "-n counts all lines"),
        (args.files_without_match, "-L must see all lines"),
        (
            args.after_context.or(args.before_context).or(args.context).is_some(),
            "-A, -B and -C print what is outside the window",
        ),
    ];
    reasons.into_iter().find_map(|(is_one, why)| is_one.then_some(why))
}

/// What is printed.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Lines,
    Counts,
    Names,
    NamesWithout,
    Nothing,
}

impl What {
    fn of(args: &Grep) -> Self {
        match args {
            Grep { quiet: true, .. } => Self::Nothing,
            Grep { files_with_matches: true, .. } => Self::Names,
            Grep { files_without_match: true, .. } => Self::NamesWithout,
            Grep { count: true, .. } => Self::Counts,
            _ => Self::Lines,
        }
    }
}

/// What began before a time, and was written after it.
struct InFlight {
    at_ms: i64,
    times: LineTime,
    own: Own,
    timed: u64,
    untimed: u64,
}

impl InFlight {
    fn has(&mut self, line: &[u8]) -> bool {
        if self.own.ms(line).is_none_or(|ms| ms >= self.at_ms) {
            return false;
        }
        let end = self.times.find(line).map(|it| it.ms + it.unit_ms);
        *(if end.is_some() { &mut self.timed } else { &mut self.untimed }) += 1;
        end.is_some_and(|end| end > self.at_ms)
    }
}

/// Finds lines.
struct Lines {
    ids: Finder,
    wanted: Wanted,
    window: Window,
    passed: Passed,
    in_flight: Option<InFlight>,
    /// How much was looked at for other formats.
    looked: usize,
}

impl Lines {
    fn new(args: &Grep, wanted: Wanted, range: RangeInclusive<i64>) -> Result<Self> {
        let ids = wanted.finder()?;
        let own = |at_ms| {
            Ok::<_, anyhow::Error>(InFlight {
                at_ms,
                times: LineTime::new(),
                own: Own::new(&wanted)?,
                timed: 0,
                untimed: 0,
            })
        };
        let in_flight = args.in_flight.is_some().then(|| own(range.end() + 1)).transpose()?;
        let (window, passed) = (ids.window(range.clone()), Passed::new(range));
        Ok(Self { ids, wanted, window, passed, in_flight, looked: 0 })
    }

    /// Calls `found` with the places of each line that matches, and of its first id in the window.
    fn each(&mut self, block: &[u8], found: &mut dyn FnMut(Range<usize>, Range<usize>)) {
        let (mut next_line, passes_numbers) = (0, self.wanted.passes_numbers());
        let Self { ids, window, passed, in_flight, .. } = self;
        ids.within(block, window, |id| {
            if id.start < next_line {
                return;
            }
            if passes_numbers && is_number(&block[id.clone()]) {
                return passed.number(&block[id]);
            }
            let begin =
                memrchr(b'\n', &block[next_line..id.start]).map_or(next_line, |newline| next_line + newline + 1);
            next_line = memchr(b'\n', &block[id.end..]).map_or(block.len(), |newline| id.end + newline + 1);
            if in_flight.as_mut().is_none_or(|it| it.has(&block[begin..next_line])) {
                found(begin..next_line, id);
            }
        });
    }

    /// The ids in the window of a line, without numbers that are passed over.
    fn ids_in(&self, line: &[u8]) -> Vec<Range<usize>> {
        let (mut ids, passes_numbers) = (Vec::new(), self.wanted.passes_numbers());
        self.ids.within(line, &self.window, |id| {
            if !(passes_numbers && is_number(&line[id.clone()])) {
                ids.push(id);
            }
        });
        ids
    }

    /// Looks for other ids where there are none of those that are wanted.
    fn look(&mut self, block: &[u8]) {
        if self.looked < SAMPLE && self.wanted.formats.is_some() {
            let part = &block[..block.len().min(SAMPLE - self.looked)];
            self.looked += part.len();
            match self.ids.first(part) {
                Some(_) => self.looked = SAMPLE,
                None => drop(self.passed.look(part)),
            }
        }
    }
}

struct Search<'a> {
    lines: Lines,
    seeker: Option<Seeker>,
    what: What,
    text: bool,
    is_silent: bool,
    layout: &'a Layout,
    histogram: Option<Histogram>,
    bar: ProgressBar,
    found: bool,
    trouble: bool,
    has_printed: bool,
}

impl Search<'_> {
    /// Errors of a source are reported and remembered, and the other sources are still read. Only an output that cannot
    /// be written is an error here. Breaks if no other source can change anything.
    fn source(&mut self, source: &Source) -> Result<ControlFlow<()>> {
        let bar = self.bar.clone();
        let part = match &mut self.seeker {
            Some(seeker) => bar.suspend(|| seeker.part(source)),
            None => Ok(Part::All),
        };
        let blocks = match part.and_then(|part| source.open_part(part, &bar)) {
            Ok(blocks) => blocks,
            Err(error) => {
                self.trouble = true;
                if !self.is_silent {
                    bar.suspend(|| complain(&error));
                }
                return Ok(ControlFlow::Continue(()));
            }
        };
        let name = source.name();
        let shown = self.layout.is_named.then_some(name.as_str());
        let mut page = Page::new(self.layout, shown, self.has_printed);
        let (mut begun, mut zeros, mut count) = (0, 0, 0);
        if let Some(histogram) = &mut self.histogram {
            histogram.begin(shown);
        }
        let all = source.each(blocks, &bar, |block| {
            if block.is_empty() {
                page.skip_line();
                return Ok(ControlFlow::Continue(()));
            }
            self.lines.look(block);
            if let Some(seeker) = &mut self.seeker {
                seeker.see(block);
            }
            if let Some(histogram) = &mut self.histogram {
                self.found |= count_times(&mut self.lines, block, histogram)?;
                return Ok(ControlFlow::Continue(()));
            }
            let goes_on = match self.what {
                What::Lines if self.layout.is_plain() => copy(&mut self.lines, block, page.plain()),
                What::Lines => self.fill(block, &mut page),
                _ => self.count(block, &mut count),
            };
            count += page.take_count();
            self.found |= count > 0;
            // As in grep, binary content is not printed unless somebody wants it. Of a count, nothing is.
            let beginning = &block[..block.len().min(BEGINNING - begun)];
            begun += beginning.len();
            zeros += memchr_iter(0, beginning).count();
            let is_binary = zeros * 100 >= begun && !self.text && self.what == What::Lines;
            let text = page.take();
            if is_binary && !text.is_empty() {
                bar.suspend(|| say(&format!("{name}: binary file matches")));
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
            What::Counts => self.layout.count_line(shown, count),
            What::Names if count > 0 => self.layout.name_line(&name),
            What::NamesWithout if count == 0 => self.layout.name_line(&name),
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

    /// What was not found, and what to type.
    fn say_what_was_passed(&self) {
        let lines = &self.lines;
        if let (Some(seeker), false) = (&self.seeker, self.trouble) {
            seeker.sentences().iter().for_each(|sentence| say(sentence));
        }
        if let Some(InFlight { timed: 0, untimed: 1.., .. }) = lines.in_flight {
            say(
                "--in-flight: no line has a time of its own, such as 24/Nov/2026:12:04:00 +0000 or 2026-11-24T12:04:00Z; \
                 --around finds what began near a time",
            );
        }
        // Where a format was named, only if there is nothing of it.
        let is_sampled = lines.wanted.formats.is_some();
        if self.layout.is_inverted || is_sampled && self.found {
            return;
        }
        lines.passed.sentences(&lines.wanted, !is_sampled).iter().for_each(|sentence| say(sentence));
    }

    /// Counts the matching lines, or sees whether there is one.
    fn count(&mut self, block: &[u8], count: &mut u64) -> ControlFlow<()> {
        let most = match self.what {
            What::Counts => self.layout.most.unwrap_or(u64::MAX),
            _ => self.layout.most.unwrap_or(1).min(1),
        };
        let mut with = 0;
        self.lines.each(block, &mut |_, _| with += 1);
        *count += match self.layout.is_inverted {
            true => {
                let newlines = memchr_iter(b'\n', block).count() as u64;
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

    /// Lays out the lines of a block.
    fn fill(&mut self, block: &[u8], page: &mut Page) -> ControlFlow<()> {
        let mut lines = Vec::new();
        self.lines.each(block, &mut |line, _| lines.push(line));
        let (mut at, needs_ids) = (0, self.layout.needs_ids());
        for line in lines {
            page.without(&block[at..line.start])?;
            at = line.end;
            let text = &block[line];
            let ids = if needs_ids { self.lines.ids_in(text) } else { Vec::new() };
            match self.layout.is_json {
                true => page.object(text, |object| object["ids"] = self.shown(text, &ids))?,
                false => page.with(text, ids.into_iter())?,
            }
        }
        page.without(&block[at..])
    }

    /// For programs.
    fn shown(&self, line: &[u8], ids: &[Range<usize>]) -> serde_json::Value {
        let shown = |range: &Range<usize>| {
            let text = &line[range.clone()];
            let found = self.lines.ids.first(text);
            json!({
                "id": String::from_utf8_lossy(text),
                "format": found.as_ref().map(|it| it.format.name),
                "time": found.and_then(|it| it.ms).map(time::rfc3339),
            })
        };
        ids.iter().map(shown).collect()
    }
}

/// Counts lines by the time of the first id in the window. Whether there is one.
fn count_times(lines: &mut Lines, block: &[u8], histogram: &mut Histogram) -> Result<bool> {
    let mut ids = Vec::new();
    lines.each(block, &mut |_, id| ids.push(id));
    let times: Vec<_> = ids.into_iter().filter_map(|id| lines.ids.first(&block[id])?.ms).collect();
    times.iter().try_for_each(|ms| histogram.add(*ms))?;
    Ok(!times.is_empty())
}

/// Copies the lines with an id in the window.
fn copy(lines: &mut Lines, block: &[u8], (text, count): (&mut Vec<u8>, &mut u64)) -> ControlFlow<()> {
    lines.each(block, &mut |line, _| {
        *count += 1;
        text.extend_from_slice(&block[line]);
    });
    if text.last().is_some_and(|&byte| byte != b'\n') {
        text.push(b'\n');
    }
    ControlFlow::Continue(())
}

/// Prints whole lines as soon as they are known, so that `tail -f` can be searched.
fn print(text: &[u8]) -> Result<()> {
    let mut out = stdout();
    out.write_all(text).and_then(|()| out.flush()).context("standard output")
}
