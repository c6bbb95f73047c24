//! Reads input on another thread, so that it is decompressed beside the search.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

/// How much is read at once, and how many such parts may wait.
const PART: usize = 128 << 10;
const WAITING: usize = 4;

pub(crate) struct ReadAhead {
    parts: Receiver<io::Result<Vec<u8>>>,
    /// Parts that were used go back to be filled again.
    used: Sender<Vec<u8>>,
    part: Vec<u8>,
    at: usize,
}

impl ReadAhead {
    pub(crate) fn new(mut input: impl Read + Send + 'static) -> io::Result<Self> {
        let (to_here, parts) = sync_channel(WAITING);
        let (used, free) = channel();
        thread::Builder::new().spawn(move || {
            loop {
                let mut part: Vec<u8> = free.try_recv().unwrap_or_default();
                part.resize(PART, 0);
                let read = match input.read(&mut part) {
                    Ok(0) => return,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read.map(|count| {
                        part.truncate(count);
                        part
                    }),
                };
                let is_over = read.is_err();
                if to_here.send(read).is_err() || is_over {
                    return;
                }
            }
        })?;
        Ok(Self { parts, used, part: Vec::new(), at: 0 })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.part.len() {
            let Ok(part) = self.parts.recv() else { return Ok(0) };
            // Nobody wants it back after the last part.
            _ = self.used.send(std::mem::replace(&mut self.part, part?));
            self.at = 0;
        }
        let count = buffer.len().min(self.part.len() - self.at);
        buffer[..count].copy_from_slice(&self.part[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these, one after the other.
    struct Answers(Vec<io::Result<&'static [u8]>>);

    impl Read for Answers {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = if self.0.is_empty() { Ok(&b""[..]) } else { self.0.remove(0) }?;
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn all_comes_and_then_the_error() {
        let answers = vec![
            Ok(&b"long"[..]),
            Err(ErrorKind::Interrupted.into()),
            Ok(b"er"),
            Err(ErrorKind::InvalidData.into()),
            Ok(b"x"),
        ];
        let mut text = String::new();
        let error = ReadAhead::new(Answers(answers)).unwrap().read_to_string(&mut text).unwrap_err();
        assert_eq!((&*text, error.kind()), ("longer", ErrorKind::InvalidData));
    }
}
