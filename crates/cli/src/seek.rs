//! Finds the part of a file that can have lines of a window, if no line is written later than promised.
//!
//! Lines stand in the order in which they were written. Each was written after its id was made, and at most so much later. So
//! all before a line with an id of more than that before the window are outside, and so are all after a line with an id of
//! more than that after it. The median of a block is the time of one of its lines, whatever few others are.

use crate::blocks::lines;
use crate::errors::say;
use crate::ids::{Own, Wanted};
use crate::input::{Part, Source, is_compressed};
use crate::time;
use anyhow::{Context, Result};
use indicatif::HumanBytes;
use jiff::SignedDuration;
use memchr::{memchr, memrchr};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::FileExt;
use txid_args::By;

/// How much is read at a place, and at how many places between the first and the last.
const BLOCK: u64 = 64 << 10;
const PLACES: u64 = 64;

pub(crate) struct Seeker {
    late_ms: i64,
    window: RangeInclusive<i64>,
    own: Own,
    block: u64,
    pub(crate) is_off: bool,
    reads: u64,
    bytes: u64,
    of_bytes: u64,
    /// How much later than its id a line came, at most.
    latest_ms: i64,
}

/// A block of a file.
struct Block {
    at: u64,
    /// Its whole lines.
    lines: Range<u64>,
    median_ms: i64,
}

/// Why a file is read whole, or not at all.
enum WholeFile {
    Because(String),
    Error(io::Error),
}

impl From<io::Error> for WholeFile {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::Because("it was truncated meanwhile".to_string()),
            _ => Self::Error(error),
        }
    }
}

impl Seeker {
    pub(crate) fn new(late: &str, window: RangeInclusive<i64>, wanted: &Wanted, by: By) -> Result<Self> {
        Ok(Self {
            late_ms: time::parse_span("--late", late)?,
            window,
            own: Own::new(wanted, by)?,
            block: BLOCK,
            is_off: false,
            reads: 0,
            bytes: 0,
            of_bytes: 0,
            latest_ms: 0,
        })
    }

    /// The part of this source that is to be read. If that is all of it, says why.
    pub(crate) fn part(&mut self, source: &Source) -> Result<Part> {
        if self.is_off {
            return Ok(Part::All);
        }
        self.own.begin(source.changed_ms());
        let why = match source {
            Source::File(path) if source.is_lasting() => {
                let file = File::open(path).with_context(|| source.name())?;
                match self.part_of(&file) {
                    Ok(range) => return Ok(Part::Of(file, range)),
                    Err(WholeFile::Because(why)) => why,
                    Err(WholeFile::Error(error)) => return Err(error).with_context(|| source.name()),
                }
            }
            _ => "it is no file".to_string(),
        };
        say(&format!("{}: --late: all is read: {why}", source.name()));
        Ok(Part::All)
    }

    /// What is written meanwhile belongs to the last part.
    fn part_of(&mut self, file: &File) -> Result<Range<u64>, WholeFile> {
        let length = file.metadata()?.len();
        let mut head = [0; 10];
        if file.read_at(&mut head, 0)? == head.len() && is_compressed(&head) {
            return Err(WholeFile::Because("it is compressed".to_string()));
        }
        // Reading all of a smaller file takes no longer.
        let least = 4 * (PLACES + 2) * self.block;
        if length < least {
            return Err(WholeFile::Because(format!("it is small, less than {}", HumanBytes(least))));
        }
        let (mut looks, last) = (Vec::new(), length - self.block);
        for place in 0..PLACES + 2 {
            let at = if place == PLACES + 1 { last } else { last / (PLACES + 1) * place };
            if !self.look(file, at, &mut looks)? {
                return Err(WholeFile::Because(format!("near its byte {at} is no id and no time")));
            }
        }
        let (late_ms, window) = (self.late_ms, self.window.clone());
        let is_before = |block: &Block| block.median_ms.saturating_add(late_ms) < *window.start();
        let is_after = |block: &Block| block.median_ms.saturating_sub(late_ms) > *window.end();
        // How many blocks are before the first line that may be in the window, and before the last.
        let first = |looks: &[Block]| looks.iter().rposition(is_before).map_or(0, |last| last + 1);
        let last = |looks: &[Block]| looks.iter().position(is_after).unwrap_or(looks.len());
        self.narrow(file, &mut looks, first)?;
        self.narrow(file, &mut looks, last)?;
        let begin = first(&looks).checked_sub(1).map_or(0, |before| looks[before].lines.start);
        let end = looks.get(last(&looks)).map_or(u64::MAX, |after| after.lines.end);
        self.of_bytes += length;
        self.bytes += end.min(length).saturating_sub(begin);
        Ok(begin..end)
    }

    /// Halves the space between the blocks on both sides of an edge, until little is left.
    fn narrow(
        &mut self,
        file: &File,
        looks: &mut Vec<Block>,
        edge: impl Fn(&[Block]) -> usize,
    ) -> Result<(), WholeFile> {
        while let Some([low, high]) = edge(looks).checked_sub(1).and_then(|low| looks.get(low..low + 2)) {
            let (at, space) = (low.at, high.at - low.at);
            if space <= 4 * self.block || !self.look(file, at + space / 2, looks)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a block and holds it against all others. Whether a line in it has a time.
    fn look(&mut self, file: &File, at: u64, looks: &mut Vec<Block>) -> Result<bool, WholeFile> {
        let mut bytes = vec![0; self.block as usize];
        file.read_exact_at(&mut bytes, at)?;
        self.reads += 1;
        self.bytes += self.block;
        let start = if at == 0 { Some(0) } else { memchr(b'\n', &bytes).map(|newline| newline + 1) };
        let (Some(start), Some(end)) = (start, memrchr(b'\n', &bytes).map(|newline| newline + 1)) else {
            return Ok(false);
        };
        let mut times: Vec<_> = lines(&bytes[start..end.max(start)]).filter_map(|line| self.own.ms(line)).collect();
        times.sort_unstable();
        let Some(&median_ms) = times.get(times.len() / 2) else { return Ok(false) };
        let place = looks.partition_point(|block| block.at < at);
        looks.insert(place, Block { at, lines: at + start as u64..at + end as u64, median_ms });
        let highest_ms = looks[..place].iter().map(|block| block.median_ms).max().unwrap_or(median_ms);
        let later = looks[place..]
            .iter()
            .find(|block| highest_ms.max(median_ms).saturating_sub(block.median_ms) > self.late_ms);
        match later {
            Some(Block { at, .. }) => Err(WholeFile::Because(format!(
                "near its byte {at} ids or times are older than before, by more than that"
            ))),
            None => Ok(true),
        }
    }

    /// Lines that are searched, to see how late they are.
    pub(crate) fn see(&mut self, block: &[u8]) {
        if self.is_off || self.of_bytes == 0 {
            return;
        }
        // A line is written after all ids before it were made; one of those may be ahead.
        let (mut highest, mut latest_ms) = ([i64::MIN; 2], self.latest_ms);
        for ms in lines(block).filter_map(|line| self.own.ms(line)) {
            latest_ms = latest_ms.max(highest[1].saturating_sub(ms));
            match ms {
                _ if ms > highest[0] => highest = [ms, highest[0]],
                _ if ms > highest[1] => highest[1] = ms,
                _ => {}
            }
        }
        self.latest_ms = latest_ms;
        self.reads += 1;
    }

    /// What was read, and what that means.
    pub(crate) fn sentences(&self) -> Vec<String> {
        if self.of_bytes == 0 {
            return Vec::new();
        }
        let span = |ms| format!("{:#}", SignedDuration::from_millis(ms));
        let mut sentences = vec![format!(
            "--late: {} of {} were read, in {} parts; lines later than {} are not found",
            HumanBytes(self.bytes),
            HumanBytes(self.of_bytes),
            self.reads,
            span(self.late_ms),
        )];
        if self.latest_ms > self.late_ms / 2 {
            sentences
                .push(format!("--late: a line came {} after its id; --late may be too short", span(self.latest_ms)));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Default;

    const NOON: i64 = 1_522_584_000_000;

    fn seeker(late_ms: i64, window: RangeInclusive<i64>) -> Seeker {
        let args = <txid_args::Args as clap::Parser>::parse_from(["txid", "grep", "--from=0"]);
        let Some(txid_args::Command::Grep(args)) = args.command else { panic!("grep") };
        let wanted = Wanted::new(&args.ids, Default::Txid).unwrap();
        Seeker::new(&format!("{late_ms}ms"), window, &wanted, By::Either).unwrap()
    }

    /// By how much a line is later than the second highest of those before: one alone may be ahead.
    #[test]
    fn a_line_more_than_half_as_late_as_promised_is_said() {
        for (times, is_said) in
            [([0, 0, -500], false), ([0, 0, -501], true), ([9000, 0, -500], false), ([9000, 9000, 0], true)]
        {
            let mut seeker = seeker(1000, 0..=1);
            seeker.of_bytes = 1;
            seeker.see(times.map(|ms| txid::Txid::wrapping_at(NOON + ms).to_string() + "\n").concat().as_bytes());
            assert_eq!(seeker.sentences().len(), 1 + usize::from(is_said), "{times:?}");
        }
    }

    /// Logs of every rate and promise, steadily, in bursts, and with an hour before the last 80 lines or after the first: each line
    /// of a window is in its part, wherever that is.
    #[test]
    fn no_line_is_missed_that_keeps_the_promise() {
        let mut random = 1_u64;
        let mut below = |end: i64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as i64 % end
        };
        let (lines, hour) = (8000, 3_600_000);
        for (rate, late_ms, pauses) in [0.1, 1.0, 30.0, 1000.0, 100_000.0].into_iter().flat_map(|rate| {
            [1, 1000, 300_000].into_iter().flat_map(move |late| (0..4).map(move |pauses| (rate, late, pauses)))
        }) {
            let mut times = Vec::new();
            for n in 0..lines {
                let written = NOON + ((if pauses == 1 { n / 50 * 50 } else { n }) as f64 * 1000.0 / rate) as i64;
                let paused = pauses == 2 && n >= lines - 80 || pauses == 3 && n >= 80;
                times.push(written + i64::from(paused) * hour - below(late_ms + 1) / (1 + below(3)));
            }
            let log: String = times.iter().map(|ms| format!("{} /\n", txid::Txid::wrapping_at(*ms))).collect();
            let mut file = tempfile::tempfile().unwrap();
            io::Write::write_all(&mut file, log.as_bytes()).unwrap();
            let ends = [0, 1, 40, 79, 80, 100, 3999, lines - 100, lines - 81, lines - 80, lines - 1];
            for n in 0..20 {
                let place = ends.get(n).copied().unwrap_or_else(|| below(lines));
                let from = times[place as usize] - below(2);
                let window = from..=from + below(1 + (30_000.0 / rate) as i64);
                let mut seeker = seeker(late_ms, window.clone());
                seeker.block = 512;
                let Ok(part) = seeker.part_of(&file) else { panic!("the promise is kept") };
                let missed = (0..).zip(&times).find(|(n, ms)| window.contains(ms) && !part.contains(&(n * 23)));
                assert_eq!(missed, None, "{rate} lines a second, {late_ms} ms late, pauses {pauses}: {window:?}");
            }
            let look = seeker(1, 0..=0).look(&file, log.len() as u64 - 1, &mut Vec::new());
            assert!(matches!(look, Err(WholeFile::Because(why)) if why == "it was truncated meanwhile"));
        }
    }
}
