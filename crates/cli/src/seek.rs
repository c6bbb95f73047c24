//! Finds the part of a file that can have lines of a window, if no line is written later than promised.
//!
//! Lines stand in the order in which they were written. Each was written after its id was made, and at most so much later. So
//! all before a line with an id of more than that before the window are outside, and so are all after a line with an id of
//! more than that after it. The median of a block stands for one of its lines.

use crate::blocks::lines;
use crate::ids::{Own, Wanted};
use crate::input::{Part, Source, is_compressed};
use crate::time;
use crate::trouble::say;
use anyhow::{Context, Result};
use indicatif::HumanBytes;
use jiff::SignedDuration;
use memchr::{memchr, memrchr};
use std::fs::File;
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::FileExt;

/// How much is read at a place, and at how many places between the first and the last.
const BLOCK: usize = 64 << 10;
const PLACES: u64 = 64;

/// Reading all of a smaller file takes no longer.
const LEAST: u64 = 4 * (PLACES + 2) * BLOCK as u64;

pub(crate) struct Seeker {
    late_ms: i64,
    window: RangeInclusive<i64>,
    own: Own,
    pub(crate) is_off: bool,
    reads: u64,
    bytes: u64,
    of_bytes: u64,
    skipped: usize,
    /// How much later than its id a line came, at most.
    latest_ms: i64,
}

/// A block of a file.
#[derive(Clone)]
struct Block {
    at: u64,
    /// Its whole lines.
    lines: Range<u64>,
    median_ms: i64,
}

impl Seeker {
    pub(crate) fn new(late: &str, window: RangeInclusive<i64>, wanted: &Wanted) -> Result<Self> {
        Ok(Self {
            late_ms: time::parse_span("--late", late)?,
            window,
            own: Own::new(wanted)?,
            is_off: false,
            reads: 0,
            bytes: 0,
            of_bytes: 0,
            skipped: 0,
            latest_ms: 0,
        })
    }

    /// The part of this source that is to be read. If that is all of it, says why.
    pub(crate) fn part(&mut self, source: &Source) -> Result<Part> {
        if self.is_off {
            return Ok(Part::All);
        }
        let found = match source {
            Source::File(path) if source.is_lasting() => {
                self.part_of(&File::open(path)?).with_context(|| source.name())?
            }
            _ => Err("it is no file".to_string()),
        };
        Ok(found.unwrap_or_else(|why| {
            say(&format!("{}: --late: all is read: {why}", source.name()));
            Part::All
        }))
    }

    fn part_of(&mut self, file: &File) -> Result<Result<Part, String>> {
        let length = file.metadata()?.len();
        let mut head = [0; 10];
        if file.read_at(&mut head, 0)? == head.len() && is_compressed(&head) {
            return Ok(Err("it is compressed".to_string()));
        }
        if length < LEAST {
            return Ok(Err(format!("it is small, less than {}", HumanBytes(LEAST))));
        }
        let (mut blocks, last) = (Vec::new(), length - BLOCK as u64);
        for place in 0..PLACES + 2 {
            let at = last / (PLACES + 1) * place;
            match self.block(file, if place == PLACES + 1 { last } else { at })? {
                Some(block) => blocks.push(block),
                None => return Ok(Err(format!("near its byte {at} is no id"))),
            }
        }
        let mut highest_ms = i64::MIN;
        for block in &blocks {
            if highest_ms.saturating_sub(block.median_ms) > self.late_ms {
                return Ok(Err(format!("near its byte {} ids are older than before, by more than that", block.at)));
            }
            highest_ms = highest_ms.max(block.median_ms);
        }
        if file.metadata()?.len() != length {
            return Ok(Err("it grows".to_string()));
        }
        self.of_bytes += length;
        let (late_ms, window) = (self.late_ms, self.window.clone());
        let is_before = |block: &Block| block.median_ms.saturating_add(late_ms) < *window.start();
        let is_not_after = |block: &Block| block.median_ms.saturating_sub(late_ms) <= *window.end();
        let [before, not_before] = self.edge(file, &blocks, is_before)?;
        let [not_after, after] = self.edge(file, &blocks, is_not_after)?;
        if not_before.is_none() || not_after.is_none() {
            self.skipped += 1;
            return Ok(Ok(Part::Nothing));
        }
        let (begin, end) = (before.map_or(0, |it| it.lines.start), after.map_or(length, |it| it.lines.end));
        self.bytes += end.saturating_sub(begin);
        Ok(Ok(Part::Of(begin..end.max(begin))))
    }

    /// The last low block and the first that is not, after the space between them was halved until little is left.
    fn edge(&mut self, file: &File, blocks: &[Block], is_low: impl Fn(&Block) -> bool) -> Result<[Option<Block>; 2]> {
        let first_high = blocks.partition_point(&is_low);
        let mut ends = [first_high.checked_sub(1).map(|low| blocks[low].clone()), blocks.get(first_high).cloned()];
        while let [Some(low), Some(high)] = &mut ends {
            if high.at - low.at <= 4 * BLOCK as u64 {
                break;
            }
            let Some(middle) = self.block(file, low.at + (high.at - low.at) / 2)? else { break };
            let end = if is_low(&middle) { low } else { high };
            *end = middle;
        }
        Ok(ends)
    }

    /// None if no line in it has an id.
    fn block(&mut self, file: &File, at: u64) -> Result<Option<Block>> {
        let mut bytes = vec![0; BLOCK];
        file.read_exact_at(&mut bytes, at)?;
        self.reads += 1;
        self.bytes += BLOCK as u64;
        let start = if at == 0 { Some(0) } else { memchr(b'\n', &bytes).map(|newline| newline + 1) };
        let (Some(start), Some(end)) = (start, memrchr(b'\n', &bytes).map(|newline| newline + 1)) else {
            return Ok(None);
        };
        let mut times: Vec<_> = lines(&bytes[start..end.max(start)]).filter_map(|line| self.own.ms(line)).collect();
        times.sort_unstable();
        let median_ms = times.get(times.len() / 2);
        Ok(median_ms.map(|ms| Block { at, lines: at + start as u64..at + end as u64, median_ms: *ms }))
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
        let skipped = match self.skipped {
            0 => String::new(),
            1 => "; 1 file is outside the window".to_string(),
            count => format!("; {count} files are outside the window"),
        };
        let mut sentences = vec![format!(
            "--late: {} of {} were read, in {} parts{skipped}; lines later than {} are not found",
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

    /// By how much a line is later than the second highest of those before: one alone may be ahead.
    #[test]
    fn a_line_more_than_half_as_late_as_promised_is_said() {
        let args = <txid_args::Args as clap::Parser>::parse_from(["txid", "grep", "--from=0"]);
        let Some(txid_args::Command::Grep(args)) = args.command else { panic!("grep") };
        let wanted = Wanted::new(&args.ids, Default::Any).unwrap();
        let noon = 1_522_584_000_000;
        for (times, is_said) in
            [([0, 0, -500], false), ([0, 0, -501], true), ([9000, 0, -500], false), ([9000, 9000, 0], true)]
        {
            let mut seeker = Seeker::new("1s", 0..=1, &wanted).unwrap();
            seeker.of_bytes = 1;
            seeker.see(times.map(|ms| txid::Txid::at(noon + ms).to_string() + "\n").concat().as_bytes());
            assert_eq!(seeker.sentences().len(), 1 + usize::from(is_said), "{times:?}");
        }
    }
}
