//! Reads input as blocks of whole lines, in bounded memory.

use memchr::{memchr, memrchr};
use std::io::{self, ErrorKind, Read};

/// The longest line that is not skipped, in bytes, including its newline. A line of a log can contain a request's body:
/// nginx's limit is 1 MB by default, which becomes 6 MB if each byte is written as `\u00XX`.
const LONGEST_LINE: usize = 8 << 20;

const BLOCK: usize = 256 * 1024;

/// A part of the input.
pub enum Piece<'a> {
    /// As many whole lines as have arrived; only the last line of the input may lack a newline.
    Lines(&'a [u8]),
    /// The line at this offset is too long and is skipped. Counting lines would cost 7 % of a search.
    TooLong(u64),
}

/// The message for a line that is too long.
pub(crate) fn too_long(offset: u64) -> String {
    format!("the line at offset {offset} is longer than {} MiB; skipped", LONGEST_LINE >> 20)
}

/// The lines of a block, with their newlines.
pub(crate) fn lines(mut block: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr(b'\n', block).map_or(block.len(), |newline| newline + 1);
        let line;
        (line, block) = block.split_at(end);
        (!line.is_empty()).then_some(line)
    })
}

/// The blocks of an input.
pub struct Blocks {
    input: Box<dyn Read>,
    /// Grows only for a line that is longer than the buffer, up to `longest`.
    buffer: Vec<u8>,
    longest: usize,
    filled: usize,
    /// How much of the filled part was returned.
    given: usize,
    /// The offset of the buffer in the input.
    offset: u64,
    /// Whether the next bytes still belong to a line that is too long.
    passing: bool,
}

impl Blocks {
    /// Starts to read.
    pub fn new(input: Box<dyn Read>) -> Self {
        Self::with_sizes(input, BLOCK, LONGEST_LINE)
    }

    /// For tests: the buffer starts with `block` bytes and grows up to `longest`.
    pub fn with_sizes(input: Box<dyn Read>, block: usize, longest: usize) -> Self {
        Self { input, buffer: vec![0; block], longest, filled: 0, given: 0, offset: 0, passing: false }
    }

    /// The next part; None at the end.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.offset += self.given as u64;
        self.buffer.copy_within(self.given..self.filled, 0);
        self.filled -= self.given;
        self.given = 0;
        loop {
            if self.filled == self.longest {
                let offset = self.offset;
                self.offset += self.filled as u64;
                self.filled = 0;
                self.passing = true;
                return Ok(Some(Piece::TooLong(offset)));
            }
            if self.filled == self.buffer.len() {
                self.buffer.resize((2 * self.filled).min(self.longest), 0);
            }
            let mut read = match self.input.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                self.given = self.filled;
                return Ok((self.given > 0).then(|| Piece::Lines(&self.buffer[..self.given])));
            }
            if self.passing {
                let newline = memchr(b'\n', &self.buffer[..read]);
                let passed = newline.map_or(read, |place| place + 1);
                self.offset += passed as u64;
                self.passing = newline.is_none();
                self.buffer.copy_within(passed..read, 0);
                read -= passed;
            }
            // The bytes before have no newline, or they would have been returned.
            let newline = memrchr(b'\n', &self.buffer[self.filled..self.filled + read]);
            self.given = newline.map_or(0, |place| self.filled + place + 1);
            self.filled += read;
            if self.given > 0 {
                return Ok(Some(Piece::Lines(&self.buffer[..self.given])));
            }
        }
    }
}

/// Where the line at `place` begins, not before `from`.
pub(crate) fn line_start(text: &[u8], from: usize, place: usize) -> usize {
    memrchr(b'\n', &text[from..place]).map_or(from, |newline| from + newline + 1)
}

/// Where the line at `place` ends, with its newline.
pub(crate) fn line_end(text: &[u8], place: usize) -> usize {
    memchr(b'\n', &text[place..]).map_or(text.len(), |newline| place + newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An input that arrives in parts of these lengths, repeatedly. Instead of one of length 0, a signal arrives.
    struct InParts(Vec<u8>, Vec<usize>);

    impl Read for InParts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.rotate_left(1);
            if self.1[0] == 0 {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = self.1[0].min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    proptest! {
        #[test]
        fn all_lines_come_but_those_that_are_too_long(
            text in "([a-z]{0,9}\n|[a-z]{0,40}\n?){0,20}",
            mut parts in proptest::collection::vec(0..50_usize, 0..4),
            last in 1..50_usize,
            block in 1..16_usize,
        ) {
            parts.push(last);
            let mut blocks = Blocks::with_sizes(Box::new(InParts(text.clone().into(), parts)), block, 16);
            let (mut lines, mut left_out) = (Vec::new(), Vec::new());
            while let Some(piece) = blocks.next_piece().unwrap() {
                match piece {
                    Piece::Lines(block) => {
                        prop_assert!(!block.is_empty());
                        lines.extend_from_slice(block);
                    }
                    Piece::TooLong(offset) => left_out.push(offset),
                }
                prop_assert!(blocks.buffer.len() <= 16);
            }
            let is_too_long = |line: &str| line.len() > 16 || line.len() == 16 && !line.ends_with('\n');
            let expected: String = text.split_inclusive('\n').filter(|line| !is_too_long(line)).collect();
            prop_assert_eq!(String::from_utf8(lines).unwrap(), expected);
            let begin = |line: &str| (line.as_ptr() as usize - text.as_ptr() as usize) as u64;
            let expected: Vec<u64> = text.split_inclusive('\n').filter(|line| is_too_long(line)).map(begin).collect();
            prop_assert_eq!(left_out, expected);
        }
    }
}
