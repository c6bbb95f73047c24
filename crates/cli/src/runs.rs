//! Sorted runs of lines in one temporary file, and how they are merged.

use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;

/// How much memory the merge has for reading, and how little it reads of a run at once.
const MEMORY: usize = 8 << 20;
const LEAST_BUFFER: usize = 16 << 10;

/// The header of a line in the file: whether it has a key, the key, its hash, and its length.
const HEADER: usize = 1 + 24 + 8 + 8;

/// What lines are ordered by, a time and the two halves of a number; None comes first.
pub(crate) type Key = Option<[u64; 3]>;

pub(crate) struct Runs {
    /// Unnamed from the start, so that it disappears with the process, however that ends.
    file: File,
    /// The end of each run, which is the beginning of the next.
    ends: Vec<u64>,
}

impl Runs {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, ends: Vec::new() })
    }

    /// Adds lines that are in order, each with a hash if equal ones are to be left out, and otherwise 0.
    pub(crate) fn add(&mut self, lines: impl Iterator<Item = (Key, u64, impl AsRef<[u8]>)>) -> io::Result<()> {
        let mut end = self.ends.last().copied().unwrap_or(0);
        let mut out = BufWriter::with_capacity(LEAST_BUFFER, &self.file);
        for (key, hash, line) in lines {
            let line = line.as_ref();
            let mut header = [0; HEADER];
            header[0] = u8::from(key.is_some());
            let [ms, high, low] = key.unwrap_or_default();
            for (bytes, word) in header[1..].chunks_exact_mut(8).zip([ms, high, low, hash, line.len() as u64]) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            out.write_all(&header)?;
            out.write_all(line)?;
            end += (HEADER + line.len()) as u64;
        }
        out.flush()?;
        self.ends.push(end);
        Ok(())
    }

    /// Writes the lines of all runs in order, but those with the key and the hash of one before. For equal keys, lines of an
    /// earlier run come first. `name` is that of the output, for errors.
    pub(crate) fn merge(self, out: &mut impl Write, name: &str) -> Result<()> {
        let capacity = (MEMORY / self.ends.len()).max(LEAST_BUFFER);
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let mut runs: Vec<_> = begins
            .zip(&self.ends)
            .map(|(begin, &end)| BufReader::with_capacity(capacity, Run { file: &self.file, begin, end }))
            .collect();
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (index, run) in runs.iter_mut().enumerate() {
            heads.extend(next_line(run)?.map(|(key, hash, len)| Reverse((key, index, hash, len))));
        }
        let mut seen = Seen::default();
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((key, index, hash, len)) = *head;
            match seen.is_new(key, hash) {
                true => copy(&mut runs[index], len, out, name)?,
                false => copy(&mut runs[index], len, &mut io::sink(), name)?,
            }
            match next_line(&mut runs[index])? {
                Some((key, hash, len)) => *head = Reverse((key, index, hash, len)),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(())
    }
}

/// Hashes of lines with one key.
#[derive(Default)]
pub(crate) struct Seen {
    key: Key,
    hashes: HashSet<u64>,
}

impl Seen {
    pub(crate) fn is_new(&mut self, key: Key, hash: u64) -> bool {
        if hash == 0 {
            return true;
        }
        if key != self.key {
            self.key = key;
            self.hashes.clear();
        }
        self.hashes.insert(hash)
    }
}

/// The part of the file that holds one run.
struct Run<'a> {
    file: &'a File,
    begin: u64,
    end: u64,
}

impl Read for Run<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min((self.end - self.begin) as usize);
        let read = self.file.read_at(&mut buffer[..wanted], self.begin)?;
        self.begin += read as u64;
        Ok(read)
    }
}

/// The key, the hash and the length of the next line.
fn next_line(run: &mut BufReader<Run>) -> Result<Option<(Key, u64, u64)>> {
    let mut header = [0; HEADER];
    if run.fill_buf().context("temporary file")?.is_empty() {
        return Ok(None);
    }
    run.read_exact(&mut header).context("temporary file")?;
    let word = |at: usize| Ok::<_, anyhow::Error>(u64::from_le_bytes(header[at..at + 8].try_into()?));
    let key = [word(1)?, word(9)?, word(17)?];
    Ok(Some(((header[0] == 1).then_some(key), word(25)?, word(33)?)))
}

/// Copies without holding everything in memory.
fn copy(run: &mut BufReader<Run>, mut len: u64, out: &mut impl Write, name: &str) -> Result<()> {
    while len > 0 {
        let part = run.fill_buf().context("temporary file")?;
        if part.is_empty() {
            return Err(io::Error::from(ErrorKind::UnexpectedEof)).context("temporary file");
        }
        let count = part.len().min(len as usize);
        out.write_all(&part[..count]).with_context(|| name.to_string())?;
        run.consume(count);
        len -= count as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_is_full_is_named() {
        let mut runs = Runs::new().unwrap();
        runs.add(std::iter::once((None, 0, "x\n"))).unwrap();
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        let error = runs.merge(&mut full, "a.log").unwrap_err();
        assert_eq!(format!("{error:#}"), "a.log: No space left on device (os error 28)");
    }
}
