//! What is remembered of each id, sorted by time in bounded memory.

use crate::runs::{Key, Runs};
use anyhow::{Context, Result};
use std::io::{self, Write};

/// An id on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Record {
    pub(super) ms: i64,
    /// All bits of an id of at most 128, otherwise as many of a hash.
    pub(super) id: [u64; 2],
    /// The number of its source, and of the line in it from 1.
    pub(super) place: u64,
    /// A hash of the value of --per; 0 if the line has none.
    pub(super) per: u64,
    pub(super) host: u32,
    pub(super) maker: u32,
}

pub(super) const LENGTH: usize = size_of::<Record>();

const LINE_BITS: u32 = 44;

/// With fewer in memory, there would be too many runs.
const LEAST: usize = 1 << 14;

impl Record {
    pub(super) fn place(source: usize, line: u64) -> u64 {
        (source as u64) << LINE_BITS | line & ((1 << LINE_BITS) - 1)
    }

    pub(super) fn source(&self) -> usize {
        (self.place >> LINE_BITS) as usize
    }

    pub(super) fn line(&self) -> u64 {
        self.place & ((1 << LINE_BITS) - 1)
    }

    /// Records of one id are neighbors in this order, but for those of other ids with the same hash.
    fn order(&self) -> [u64; 2] {
        [self.ms.abs_diff(i64::MIN), self.id[0].rotate_left(32) ^ self.id[1]]
    }

    pub(super) fn is_near(&self, other: &Self) -> bool {
        self.order() == other.order()
    }

    fn bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let words = [self.ms as u64, self.id[0], self.id[1], self.place, self.per];
        let maker = u64::from(self.host) << 32 | u64::from(self.maker);
        for (place, word) in bytes.chunks_exact_mut(8).zip(words.into_iter().chain([maker])) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn of(bytes: &[u8]) -> Self {
        let mut words = [0; LENGTH / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        }
        let [ms, high, low, place, per, maker] = words;
        Self { ms: ms as i64, id: [high, low], place, per, host: (maker >> 32) as u32, maker: maker as u32 }
    }
}

pub(super) struct Records {
    /// How many fit.
    most: usize,
    records: Vec<Record>,
    runs: Option<Runs>,
    /// How many there were.
    pub(super) count: u64,
}

impl Records {
    pub(super) fn new(memory: usize) -> Self {
        Self { most: memory / LENGTH, records: Vec::new(), runs: None, count: 0 }
    }

    pub(super) fn add(&mut self, record: Record) -> Result<()> {
        if self.records.len() == self.records.capacity() {
            let more = self.records.len().clamp(1 << 12, self.most.max(1 << 12));
            self.records.reserve_exact(more.min(self.most.saturating_sub(self.records.len())).max(1));
        }
        self.records.push(record);
        self.count += 1;
        if self.records.len() >= self.most {
            self.spill().context("temporary file")?;
        }
        Ok(())
    }

    /// From now on, so much memory less is there.
    pub(super) fn leave(&mut self, bytes: usize) {
        self.most = self.most.saturating_sub(bytes / LENGTH).max(LEAST);
    }

    fn sort(&mut self) {
        self.records.sort_unstable_by_key(|record| (record.order(), record.place));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut runs = self.runs.take().map_or_else(Runs::new, Ok)?;
        let key = |record: &Record| {
            let [high, low] = record.order();
            Key::Some([high, low, 0])
        };
        runs.add(self.records.iter().map(|record| (key(record), 0, record.bytes())))?;
        self.runs = Some(runs);
        self.records.clear();
        Ok(())
    }

    /// Calls `each` with all records by their time.
    pub(super) fn each(mut self, mut each: impl FnMut(Record)) -> Result<()> {
        if self.runs.is_none() {
            self.sort();
            self.records.into_iter().for_each(each);
            return Ok(());
        }
        self.spill().context("temporary file")?;
        let runs = self.runs.take();
        drop(self);
        let mut reader = Reader { each: &mut each, bytes: [0; LENGTH], filled: 0 };
        runs.map_or(Ok(()), |runs| runs.merge(&mut reader, "records"))
    }
}

/// Reads the records that are written to it.
struct Reader<'a, F> {
    each: &'a mut F,
    bytes: [u8; LENGTH],
    filled: usize,
}

impl<F: FnMut(Record)> Write for Reader<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(LENGTH - self.filled);
        self.bytes[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        if self.filled == LENGTH {
            self.filled = 0;
            (self.each)(Record::of(&self.bytes));
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_by_their_time_however_little_fits(
            all in proptest::collection::vec((-5..5_i64, any::<[u64; 2]>(), any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>()), 0..60),
            fits in 1..70_usize,
        ) {
            let all: Vec<_> = all.into_iter().enumerate().map(|(line, (ms, id, _, per, host, maker))| {
                Record { ms, id, place: Record::place(3, line as u64), per, host, maker }
            }).collect();
            let mut records = Records::new(fits * LENGTH);
            for record in &all {
                records.add(*record).unwrap();
                prop_assert!(records.records.len() < fits, "more are in memory than fit");
            }
            let mut found = Vec::new();
            records.each(|record| found.push(record)).unwrap();
            let mut expected = all;
            expected.sort_by_key(Record::order);
            prop_assert_eq!(found, expected);
        }
    }
}
