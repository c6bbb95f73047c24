//! `txid grep`: prints the records of logs from a time window, or with a text.

use crate::blocks::lines;
use crate::errors::{TROUBLE, complain, say};
use crate::grep_page::{Layout, Page};
use crate::histogram::Histogram;
use crate::ids::{Default, Wanted};
use crate::input::{self, Part, Source};
use crate::pattern;
use crate::records::{At, InFlight, Piece, Records};
use crate::seek::Seeker;
use crate::skipped::quoted;
use crate::time;
use crate::window::{self, Ends};
use anyhow::{Context, Error, Result, bail};
use indicatif::{HumanCount, ProgressBar};
use memchr::memchr_iter;
use serde_json::json;
use std::io::{IsTerminal, Write, stdout};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::process::ExitCode;
use txid_args::{By, Grep};

/// How much of the beginning of a file says whether it is text: then, fewer than one in a hundred bytes are zeros, as after a
/// power cut.
const BEGINNING: usize = 64 << 10;

/// How much of each end of a block shows which times a file has.
const END: usize = 1 << 10;

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
    let records = Records::new(args, wanted, range.clone())?;
    let late = args.late.as_deref().zip(range.clone());
    let mut search = Search {
        seeker: late.map(|(late, range)| Seeker::new(late, range, &records.wanted, args.by)).transpose()?,
        spread: range.map(|range| Spread { range, times: None, looked: 0 }),
        records,
        what: What::of(args),
        by: args.by,
        text: args.text,
        is_silent: args.no_messages,
        is_inverted: args.invert_match,
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
    if let Some(spread) = &search.spread {
        let passed = &mut search.records.passed;
        passed.others = passed.others.or(spread.times);
    }
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

/// The times of the window; None if only a text is looked for.
fn times(args: &Grep, wanted: &Wanted) -> Result<Option<RangeInclusive<i64>>> {
    if let Some(text) = &args.in_flight {
        return Ok(Some(i64::MIN..=window::moment("--in-flight", text, wanted)? - 1));
    }
    let ends = Ends::of(&args.window, wanted, None)?;
    let is_named = ends.from.is_some() || ends.to.is_some() || args.histogram.is_some();
    match (is_named, args.regexp.is_empty() && args.id.is_empty()) {
        (false, true) => bail!(
            "which time? Say --from, --to, --around or --in-flight, as in --from 10m or --around ID; or a text with -e, or \
             an id with --id"
        ),
        (false, false) => Ok(None),
        _ => Ok(Some(ends.range())),
    }
}

/// Somebody who gives an id where the name of a file stands wants that id, and not all lines of the files after it.
fn refuse_ids_as_files(sources: &[Source], wanted: &Wanted) -> Result<()> {
    for source in sources {
        let Source::File(path) = source else { continue };
        let text = path.to_string_lossy();
        let ms = wanted.ms(text.as_bytes());
        if path.exists() || ms.is_none() && !pattern::is_of_a_trace(&text) {
            continue;
        }
        let others = sources.iter().map(Source::name).filter(|name| *name != text).map(|name| quoted(&name));
        let files = Some(others.collect::<Vec<_>>().join(" ")).filter(|files| !files.is_empty());
        let files = files.as_deref().unwrap_or("FILE");
        let near = match ms {
            Some(Ok(_)) => format!(", and txid grep --around {text} {files} what was near it"),
            _ => String::new(),
        };
        bail!("{text}: no file has this name; that is an id: txid grep --id {text} {files} finds it{near}");
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
    reasons.into_iter().find_map(|(applies, why)| applies.then_some(why))
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

struct Search<'a> {
    records: Records,
    seeker: Option<Seeker>,
    /// The times that were met, as long as nothing is found.
    spread: Option<Spread>,
    what: What,
    by: By,
    text: bool,
    is_silent: bool,
    is_inverted: bool,
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
        let (mut begun, mut zeros) = (0, 0);
        if let Some(histogram) = &mut self.histogram {
            histogram.begin(shown);
        }
        self.records.begin(source.changed_ms());
        let page = Page::new(self.layout, shown, self.has_printed);
        let mut sink = Sink {
            what: self.what,
            layout: self.layout,
            page,
            histogram: self.histogram.take(),
            count: 0,
            error: None,
        };
        let mut is_over = false;
        // Nothing stands for the end.
        let mut each = |block: Option<&[u8]>| {
            if is_over {
                return Ok(ControlFlow::Break(()));
            }
            let mut take = |records: &mut Records, piece: Piece| sink.take(records, piece);
            let goes_on = match block.unwrap_or_default() {
                b"" => {
                    let goes_on = self.records.end(&mut take);
                    if block.is_some() {
                        sink.page.skip_line();
                    }
                    goes_on
                }
                block => {
                    self.records.look(block);
                    if let Some(seeker) = &mut self.seeker {
                        seeker.see(block);
                    }
                    if let Some(spread) = self.spread.as_mut().filter(|_| !self.found) {
                        spread.see(block, &mut self.records);
                    }
                    self.records.read(block, &mut take)
                }
            };
            if let Some(error) = sink.error.take() {
                return Err(error);
            }
            self.found |= sink.count > 0;
            // As in grep, binary content is not printed unless somebody wants it. Of a count, nothing is.
            let beginning = block.unwrap_or_default();
            let beginning = &beginning[..beginning.len().min(BEGINNING - begun)];
            begun += beginning.len();
            zeros += memchr_iter(0, beginning).count();
            let is_binary = zeros > 0 && zeros * 100 >= begun && !self.text && self.what == What::Lines;
            let text = sink.page.take();
            if is_binary && !text.is_empty() {
                bar.suspend(|| say(&format!("{name}: binary file matches")));
                is_over = true;
                return Ok(ControlFlow::Break(()));
            }
            if !text.is_empty() {
                match stdout().is_terminal() {
                    true => bar.suspend(|| print(&text))?,
                    false => print(&text)?,
                }
            }
            sink.page.give_back(text);
            is_over = goes_on.is_break();
            Ok(goes_on)
        };
        let all = source.each(blocks, &bar, |block| each(Some(block)))?;
        _ = each(None)?;
        self.trouble |= !all;
        self.has_printed = sink.page.has_printed();
        let count = sink.count;
        self.histogram = sink.histogram;
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

    /// What counted by what, what was not found, and what to type.
    fn say_what_was_passed(&self) {
        let records = &self.records;
        if let (Some(seeker), false) = (&self.seeker, self.trouble) {
            seeker.sentences().iter().for_each(|sentence| say(sentence));
        }
        if let Some(InFlight { timed: 0, untimed: 1.., .. }) = records.in_flight {
            say(
                "--in-flight: no line has a time of its own, such as 24/Nov/2026:12:04:00 +0000 or 2026-11-24T12:04:00Z; \
                 --around finds what began near a time",
            );
        }
        let is_told = !self.is_silent && matches!(self.what, What::Lines | What::Counts);
        let [by_id, by_time] = records.counts;
        if is_told && by_time > 0 && self.by == By::Either {
            let by_id = if by_id == 0 { String::new() } else { format!(", {} by an id", HumanCount(by_id)) };
            say(&format!("{} by their own time{by_id}", HumanCount(by_time)));
        }
        if let (Some(spread), true) =
            (&self.spread, is_told && !self.found && !self.is_inverted && records.in_flight.is_none())
        {
            if spread.looked > 0 {
                say(&spread.sentence());
            }
        }
        // Where a format was named, only if there is nothing of it.
        let is_sampled = records.wanted.formats.is_some();
        if self.is_inverted || is_sampled && self.found {
            return;
        }
        records.passed.sentences(&records.wanted, !is_sampled).iter().for_each(|sentence| say(sentence));
    }
}

/// The window, and the times of the lines.
struct Spread {
    range: RangeInclusive<i64>,
    times: Option<[i64; 2]>,
    looked: usize,
}

impl Spread {
    /// All lines of the first block, and those at both ends of the others.
    fn see(&mut self, block: &[u8], records: &mut Records) {
        let ends = match self.looked {
            0 => [block, b""],
            _ => [&block[..block.len().min(END)], &block[block.len().saturating_sub(END)..]],
        };
        self.looked += block.len();
        for ms in ends.into_iter().flat_map(lines).filter_map(|line| records.ms(line)) {
            let [first, last] = self.times.unwrap_or([ms; 2]);
            self.times = Some([first.min(ms), last.max(ms)]);
        }
    }

    /// Times of one day stand without it.
    fn sentence(&self) -> String {
        let ends = [*self.range.start(), self.range.end().saturating_add(1)];
        let ends = ends.map(|ms| Some(ms).filter(|&ms| ms > i64::MIN && ms < i64::MAX));
        let texts = |times: [Option<i64>; 2]| times.map(|ms| ms.map(|ms| time::rfc3339(ms).replace(".000Z", "Z")));
        let (mut window, mut times) = (texts(ends), texts([0, 1].map(|end| self.times.map(|times| times[end]))));
        let days: Vec<_> = window.iter().chain(&times).flatten().map(|text| text[..11].to_string()).collect();
        if days.len() == 4 && days.iter().all(|day| *day == days[0]) {
            window.iter_mut().chain(&mut times).flatten().for_each(|text| *text = text.split_off(11));
        }
        let window = match &window {
            [Some(from), Some(to)] => format!("window {from} to {to}"),
            [Some(from), None] => format!("window from {from}"),
            [None, Some(to)] => format!("window to {to}"),
            [None, None] => "all times".to_string(),
        };
        match &times {
            [Some(first), Some(last)] => format!("{window}; times here run from {first} to {last}"),
            _ => format!("{window}; nothing here has a time or an id with one"),
        }
    }
}

/// Where the pieces of a file go.
struct Sink<'a> {
    what: What,
    layout: &'a Layout,
    page: Page<'a>,
    histogram: Option<Histogram>,
    count: u64,
    error: Option<Error>,
}

impl Sink<'_> {
    fn take(&mut self, records: &mut Records, piece: Piece) -> ControlFlow<()> {
        let (text, at) = match piece {
            Piece::Of(text, at) => (text, at),
            Piece::Other(text) if self.what == What::Lines && !self.layout.is_plain() => {
                return self.page.without(text);
            }
            Piece::Other(_) => return ControlFlow::Continue(()),
        };
        if let (Some(histogram), Some(at)) = (&mut self.histogram, &at) {
            let ms = match at {
                At::Id(id) => records.ids.first(&text[id.clone()]).and_then(|id| id.ms),
                At::Line(ms) => Some(*ms),
                At::Any => None,
            };
            self.count += u64::from(ms.is_some());
            self.error = ms.and_then(|ms| histogram.add(ms).err());
            return if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        let most = match self.what {
            What::Lines if self.layout.is_plain() => {
                self.count += u64::from(at.is_some());
                self.page.copy(text);
                return ControlFlow::Continue(());
            }
            What::Lines if self.layout.is_json => {
                let ids = records.ids_in(text);
                let goes_on = self.page.object(text, |object| {
                    object["ids"] = shown(records, text, &ids);
                    if let Some(At::Line(ms)) = at {
                        object["time"] = json!(time::rfc3339(ms));
                    }
                });
                self.count += self.page.take_count();
                return goes_on;
            }
            What::Lines => {
                let needs_parts = self.layout.needs_ids();
                let mut is_new = at.is_some();
                for line in lines(text) {
                    let parts = if needs_parts { records.parts(line) } else { Vec::new() };
                    let goes_on = self.page.with(line, is_new, parts.into_iter());
                    self.count += self.page.take_count();
                    goes_on?;
                    is_new = false;
                }
                return ControlFlow::Continue(());
            }
            What::Counts => self.layout.most.unwrap_or(u64::MAX),
            _ => self.layout.most.unwrap_or(1).min(1),
        };
        self.count = (self.count + u64::from(at.is_some())).min(most);
        if self.count >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Ids for programs.
fn shown(records: &Records, text: &[u8], ids: &[Range<usize>]) -> serde_json::Value {
    let shown = |range: &Range<usize>| {
        let text = &text[range.clone()];
        let found = records.ids.first(text);
        json!({
            "id": String::from_utf8_lossy(text),
            "format": found.as_ref().map(|it| it.format.name),
            "time": found.and_then(|it| it.ms).map(time::rfc3339),
        })
    };
    ids.iter().map(shown).collect()
}

/// Prints whole lines as soon as they are known, so that `tail -f` can be searched.
fn print(text: &[u8]) -> Result<()> {
    let mut out = stdout();
    out.write_all(text).and_then(|()| out.flush()).context("standard output")
}
