//! Finds the records of a log that match: a line with a time or an id, and the lines after it that have neither.

use crate::blocks::{line_end, line_start};
use crate::ids::{Own, Wanted};
use crate::line_time::{END_OF_SPAN, LineTime};
use crate::pattern::Pattern;
use crate::skipped::{Skipped, is_number};
use anyhow::Result;
use memchr::{memchr, memmem};
use std::ops::{ControlFlow, Range, RangeInclusive};
use txid::formats::find::{Finder, Window};
use txid_args::{By, Grep};

/// How much of the input is searched for ids of other formats if there is nothing else.
const SAMPLE: usize = 256 << 10;

/// How much of a record is kept as long as the pattern is not found in it.
const MOST_HELD: usize = 8 << 20;

/// A part of the input. All come, in their order.
pub(crate) enum Piece<'a> {
    /// Lines of a record that matches, and why it does. None: they go on with what came before.
    Of(&'a [u8], Option<At>),
    Other(&'a [u8]),
}

type Found<'a> = dyn FnMut(&mut Records, Piece) -> ControlFlow<()> + 'a;

/// What a record counts by.
pub(crate) enum At {
    /// The first id in the window, at this place.
    Id(Range<usize>),
    /// The time of its line.
    Line(i64),
    /// Nothing but the pattern.
    Any,
}

/// The record that is read.
enum Now {
    Out,
    /// It matches; why is handed on with its first lines.
    In(Option<At>),
    /// It is in the window, and its lines of the blocks before do not have the pattern.
    Open(At, Vec<u8>),
}

/// What began before a time, and was written after it.
pub(crate) struct InFlight {
    at_ms: i64,
    own: Own,
    pub(crate) timed: u64,
    pub(crate) untimed: u64,
}

impl InFlight {
    fn has(&mut self, line: &[u8], times: &mut LineTime) -> bool {
        if self.own.ms(line).is_none_or(|ms| ms >= self.at_ms) {
            return false;
        }
        let of_span = memmem::rfind(line, END_OF_SPAN.as_bytes()).map_or(line, |at| &line[at..]);
        let end = times.find(of_span).map(|it| it.ms + it.unit_ms);
        *(if end.is_some() { &mut self.timed } else { &mut self.untimed }) += 1;
        end.is_some_and(|end| end > self.at_ms)
    }
}

pub(crate) struct Records {
    pub(crate) ids: Finder,
    pub(crate) wanted: Wanted,
    pub(crate) passed: Skipped,
    pub(crate) in_flight: Option<InFlight>,
    /// Records that matched by an id, and by the time of a line.
    pub(crate) counts: [u64; 2],
    range: RangeInclusive<i64>,
    window: Window,
    times: LineTime,
    by: By,
    pattern: Option<Pattern>,
    /// Only the pattern counts.
    is_any_time: bool,
    is_inverted: bool,
    /// Each line is a record.
    is_lines: bool,
    /// A record is handed on when it has ended.
    is_whole: bool,
    /// The pattern can go over ends of lines: searched for in several records at once, it may be found across them.
    is_stepwise: bool,
    /// Whether a record has begun; before that, each line is one.
    has_begun: bool,
    /// Whether the record that is read begins with a blank.
    is_indented: bool,
    now: Now,
    hits: Vec<Range<usize>>,
    /// How much was looked at for other formats.
    looked: usize,
}

impl Records {
    /// Records with a time of `range`, if it matters.
    pub(crate) fn new(args: &Grep, wanted: Wanted, range: Option<RangeInclusive<i64>>) -> Result<Self> {
        let (ids, is_any_time) = (wanted.finder()?, range.is_none());
        let range = range.unwrap_or(i64::MIN..=i64::MAX);
        let in_flight = match args.in_flight {
            Some(_) => {
                let own = Own::new(&wanted, By::Id)?;
                Some(InFlight { at_ms: range.end() + 1, own, timed: 0, untimed: 0 })
            }
            None => None,
        };
        Ok(Self {
            window: ids.window(range.clone()),
            ids,
            wanted,
            passed: Skipped::new(range.clone()),
            by: if in_flight.is_some() { By::Id } else { args.by },
            in_flight,
            counts: [0; 2],
            range,
            times: LineTime::new(),
            pattern: Pattern::of(args)?,
            is_any_time,
            is_inverted: args.invert_match,
            is_lines: args.lines,
            is_whole: args.json,
            is_stepwise: false,
            has_begun: false,
            is_indented: false,
            now: Now::Out,
            hits: Vec::new(),
            looked: 0,
        })
    }

    /// The lines that follow are of another file, which was last changed then.
    pub(crate) fn begin(&mut self, changed_ms: i64) {
        self.times.begin(changed_ms);
        (self.has_begun, self.now) = (false, Now::Out);
    }

    /// Hands on the lines of a block. The end of the last record may come later.
    pub(crate) fn read(&mut self, block: &[u8], found: &mut Found) -> ControlFlow<()> {
        // The pattern says where the next record is that may match.
        let jumps = self.pattern.is_some() && !self.is_inverted && !self.is_stepwise;
        // Many lines are told at a time that do not match.
        let skips = !jumps && !self.is_inverted && self.by != By::Id;
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        if !jumps {
            self.hits_in(block, |hit| hits.push(hit));
        }
        let (mut begin, mut at, mut next_hit, mut next_match) = (0, 0, 0, None);
        while at < block.len() {
            if jumps && matches!(self.now, Now::Out) {
                let to = self.jump(block, at, &mut next_match);
                if to > at {
                    at = to;
                    continue;
                }
            }
            if skips && matches!(self.now, Now::Out) {
                while hits.get(next_hit).is_some_and(|hit| hit.start < at) {
                    next_hit += 1;
                }
                let to = hits.get(next_hit).map_or(block.len(), |hit| hit.start);
                let [end, time] = self.times.skip(block, at, to, &self.range);
                if end > at {
                    self.is_indented = blanks(&block[line_start(block, at, time)..]) > 0;
                    (self.has_begun, at) = (true, end);
                    continue;
                }
            }
            let end = line_end(block, at);
            let line = &block[at..end];
            let hit = match jumps {
                true => {
                    let mut first = None;
                    self.hits_in(line, |hit| first = Some(hit));
                    first
                }
                false => {
                    while hits.get(next_hit).is_some_and(|hit| hit.start < at) {
                        next_hit += 1;
                    }
                    hits.get(next_hit).filter(|hit| hit.end <= end).map(|hit| hit.start - at..hit.end - at)
                }
            };
            if let Some(is_in) = self.begins(line, hit) {
                let was_out = matches!(self.now, Now::Out);
                let first = self.first_state(is_in);
                self.is_indented = blanks(line) > 0;
                if was_out && matches!(first, Now::Out) {
                    at = end;
                    continue;
                }
                self.hand_on(&block[begin..at], true, found)?;
                begin = at;
                if jumps && !was_out {
                    self.now = Now::Out;
                    continue;
                }
                self.now = first;
            }
            at = end;
        }
        self.hits = hits;
        self.hand_on(&block[begin..], self.is_lines, found)
    }

    /// Ends the last record.
    pub(crate) fn end(&mut self, found: &mut Found) -> ControlFlow<()> {
        let goes_on = self.hand_on(b"", true, found);
        self.now = Now::Out;
        goes_on
    }

    fn first_state(&self, is_in: Option<At>) -> Now {
        match (is_in, &self.pattern, self.is_inverted) {
            (Some(at), Some(_), _) => Now::Open(at, Vec::new()),
            (Some(at), None, false) if self.is_whole => Now::Open(at, Vec::new()),
            (Some(at), None, false) => Now::In(Some(at)),
            (None, None, true) => Now::In(Some(At::Any)),
            _ => Now::Out,
        }
    }

    /// Hands on lines of the record that is read, if it is known whether it matches.
    fn hand_on(&mut self, lines: &[u8], is_end: bool, found: &mut Found) -> ControlFlow<()> {
        let (at, mut held) = match std::mem::replace(&mut self.now, Now::Out) {
            Now::Out => return found(self, Piece::Other(lines)),
            Now::In(at) if lines.is_empty() => {
                self.now = Now::In(at);
                return ControlFlow::Continue(());
            }
            Now::In(at) => {
                self.now = Now::In(None);
                return self.tell(lines, at, found);
            }
            Now::Open(at, held) => (at, held),
        };
        let is_whole = held.is_empty();
        if !is_whole {
            held.extend_from_slice(lines);
        }
        let text = if is_whole { lines } else { &held };
        let has_it = self.pattern.as_ref().is_none_or(|pattern| pattern.is_in(text));
        if !(is_end || has_it && !self.is_whole || text.len() > MOST_HELD) {
            if is_whole {
                held.extend_from_slice(lines);
            }
            self.now = Now::Open(at, held);
            return ControlFlow::Continue(());
        }
        if has_it == self.is_inverted {
            return found(self, Piece::Other(text));
        }
        self.now = Now::In(None);
        self.tell(text, Some(at), found)
    }

    fn tell(&mut self, lines: &[u8], at: Option<At>, found: &mut Found) -> ControlFlow<()> {
        match at {
            Some(At::Id(_)) => self.counts[0] += 1,
            Some(At::Line(_)) => self.counts[1] += 1,
            _ => {}
        }
        found(self, Piece::Of(lines, at))
    }

    /// Whether a record begins with this line, and if it is in the window, why. `hit` is the first id in the window.
    #[inline]
    fn begins(&mut self, line: &[u8], hit: Option<Range<usize>>) -> Option<Option<At>> {
        let blanks = blanks(line);
        let may_be_inner = blanks > 0 && self.has_begun && !self.is_indented && !self.is_lines;
        let is_inner = |place: usize| may_be_inner && place > blanks;
        if let Some(hit) = hit {
            if is_inner(hit.start) {
                return None;
            }
            self.has_begun = true;
            let is_in_flight = self.in_flight.as_mut().is_none_or(|it| it.has(line, &mut self.times));
            return Some(is_in_flight.then_some(At::Id(hit)));
        }
        // After a record that does not match, one that does not match is no news.
        let is_news = self.is_any_time || self.is_inverted && self.pattern.is_none() || !matches!(self.now, Now::Out);
        let any = self.is_any_time.then_some(At::Any);
        if self.is_any_time && self.is_lines {
            return Some(any);
        }
        if is_news || self.by != By::Id {
            if let Some(stamp) = self.times.find(line) {
                if is_inner(stamp.range.start) {
                    return None;
                }
                self.has_begun = true;
                return Some(any.or_else(|| self.at(line, stamp.ms)));
            }
        }
        if is_news && self.by != By::Line {
            if let Some(place) = self.id_in(line) {
                if is_inner(place) {
                    return None;
                }
                self.has_begun = true;
                return Some(any);
            }
        }
        (self.is_lines || !self.has_begun).then_some(any)
    }

    /// What a line counts by that has this time, and no id in the window.
    fn at(&self, line: &[u8], ms: i64) -> Option<At> {
        let is_in_range = self.by != By::Id && self.range.contains(&ms);
        (is_in_range && (self.by == By::Line || self.id_in(line).is_none())).then_some(At::Line(ms))
    }

    /// Where the pattern may be next: the beginning of its record, or of the last one. `next_match` is where it was found.
    fn jump(&mut self, block: &[u8], at: usize, next_match: &mut Option<usize>) -> usize {
        let Some(pattern) = &self.pattern else { return at };
        let place = next_match.filter(|place| *place >= at).unwrap_or_else(|| match pattern.find(&block[at..]) {
            Some(range) => {
                self.is_stepwise |= memchr(b'\n', &block[at..][range.clone()]).is_some();
                at + range.start
            }
            None => block.len(),
        });
        *next_match = Some(place);
        let line = line_start(block, at, place);
        let after = line_end(block, place);
        if self.is_lines {
            return line;
        }
        let (mut end, mut indented) = (after, None);
        while end > at {
            let start = line_start(block, at, end - 1);
            let text = &block[start..end];
            match (self.place_in(text), blanks(text)) {
                (None, _) => {}
                (Some(_), 0) => return self.begin_at(start),
                (Some(place), blanks) if place > blanks => _ = indented.get_or_insert(start),
                _ => return self.begin_at(indented.unwrap_or(start)),
            }
            end = start;
        }
        match indented.filter(|_| self.is_indented || !self.has_begun) {
            Some(start) => self.begin_at(start),
            // Lines of the record that does not match, or such before all records.
            None if self.has_begun => after,
            None => line,
        }
    }

    /// A record begins here, indented or not.
    fn begin_at(&mut self, place: usize) -> usize {
        self.is_indented = true;
        place
    }

    /// Where the time of a line begins, or else its first id.
    fn place_in(&mut self, line: &[u8]) -> Option<usize> {
        let time = self.times.find(line).map(|it| it.range.start);
        time.or_else(|| self.id_in(line).filter(|_| self.by != By::Line))
    }

    /// Where the first id of a line begins, whatever its time is.
    fn id_in(&self, line: &[u8]) -> Option<usize> {
        let (mut first, passes_numbers) = (None, self.wanted.passes_numbers());
        self.ids.each(line, |id| {
            if passes_numbers && is_number(&line[id.range.clone()]) {
                return ControlFlow::Continue(());
            }
            first = Some(id.range.start);
            ControlFlow::Break(())
        });
        first
    }

    /// The first id in the window of each line.
    #[inline]
    fn hits_in(&mut self, text: &[u8], mut found: impl FnMut(Range<usize>)) {
        if self.by == By::Line || self.is_any_time {
            return;
        }
        let (mut next_line, passes_numbers) = (0, self.wanted.passes_numbers());
        let Self { ids, window, passed, .. } = self;
        ids.within(text, window, |id| {
            if id.start < next_line {
                return;
            }
            if passes_numbers && is_number(&text[id.clone()]) {
                return passed.number(text, id);
            }
            next_line = line_end(text, id.end);
            found(id);
        });
    }

    /// What matched in a line: the pattern, or else ids of the window, or else the time.
    pub(crate) fn parts(&mut self, line: &[u8]) -> Vec<Range<usize>> {
        match &self.pattern {
            _ if self.is_inverted => Vec::new(),
            Some(pattern) => pattern.all(line),
            None => {
                let ids = self.ids_in(line);
                match self.times.find(line).filter(|it| ids.is_empty() && self.range.contains(&it.ms)) {
                    Some(stamp) if self.by != By::Id => vec![stamp.range],
                    _ => ids,
                }
            }
        }
    }

    /// The ids of the window, without numbers that are passed over.
    pub(crate) fn ids_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        let (mut ids, passes_numbers) = (Vec::new(), self.wanted.passes_numbers());
        if self.by != By::Line {
            self.ids.within(text, &self.window, |id| {
                if !(passes_numbers && is_number(&text[id.clone()])) {
                    ids.push(id);
                }
            });
        }
        ids
    }

    /// Looks for other ids where there are none of those that are wanted.
    pub(crate) fn look(&mut self, block: &[u8]) {
        if self.looked < SAMPLE && self.wanted.formats.is_some() {
            let part = &block[..block.len().min(SAMPLE - self.looked)];
            self.looked += part.len();
            match self.ids.first(part) {
                Some(_) => self.looked = SAMPLE,
                None => drop(self.passed.look(part)),
            }
        }
    }

    /// What a line counts by, if not by an id of the window.
    pub(crate) fn ms(&mut self, line: &[u8]) -> Option<i64> {
        let id = self.ids.first(line).filter(|id| self.by != By::Line && !is_number(&line[id.range.clone()]));
        id.and_then(|id| id.ms).or_else(|| self.times.find(line).filter(|_| self.by != By::Id).map(|it| it.ms))
    }
}

/// Spaces and tabs at the beginning.
pub(crate) fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
