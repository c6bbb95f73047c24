//! Files and standard input, plain or compressed, and the progress bar over them.

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};
use memchr::memrchr;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const BLOCK: usize = 256 * 1024;
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// What `files` stand for: - and no file at all are standard input.
pub fn sources(files: &[PathBuf]) -> Vec<Source<'_>> {
    if files.is_empty() {
        return vec![Source::Stdin];
    }
    files.iter().map(|file| if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file) }).collect()
}

pub enum Source<'a> {
    Stdin,
    File(&'a Path),
}

impl Source<'_> {
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_string(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Begins to read, and to move `bar`. A file that only looks like one, such as a directory, is told at once.
    pub fn open(&self, bar: &ProgressBar) -> Result<Box<dyn Read>> {
        self.decompressed(bar).with_context(|| self.name())
    }

    fn decompressed(&self, bar: &ProgressBar) -> Result<Box<dyn Read>> {
        Ok(match self {
            Self::Stdin => {
                let stdin = io::stdin().lock();
                check(&metadata(&stdin)?)?;
                decompressed(stdin)?
            }
            Self::File(path) => {
                let file = File::open(path)?;
                check(&file.metadata()?)?;
                decompressed(bar.wrap_read(file))?
            }
        })
    }

    fn len(&self) -> u64 {
        match self {
            Self::Stdin => 0,
            Self::File(path) => path.metadata().map_or(0, |metadata| metadata.len()),
        }
    }
}

fn check(input: &Metadata) -> Result<()> {
    if input.is_dir() {
        bail!("is a directory");
    }
    // What is read and written at once may never end.
    let out = metadata(io::stdout())?;
    if input.is_file() && (input.dev(), input.ino()) == (out.dev(), out.ino()) {
        bail!("is also the output");
    }
    Ok(())
}

fn metadata(open: impl AsFd) -> io::Result<Metadata> {
    File::from(open.as_fd().try_clone_to_owned()?).metadata()
}

fn decompressed(mut input: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::with_capacity(GZIP.len());
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut head)?;
    let compressed = head == GZIP;
    let whole = io::Cursor::new(head).chain(input);
    Ok(if compressed { Box::new(MultiGzDecoder::new(BufReader::new(whole))) } else { Box::new(whole) })
}

/// A bar over the bytes of all files, which shows itself on a terminal only.
pub fn bar(sources: &[Source]) -> ProgressBar {
    let total = sources.iter().map(Source::len).sum();
    if total == 0 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// An input in blocks of whole lines. Only a line that is longer than a block makes the block grow.
pub struct Blocks {
    input: Box<dyn Read>,
    buffer: Vec<u8>,
    filled: usize,
    /// How much of what is filled was handed out.
    given: usize,
}

impl Blocks {
    pub fn new(input: Box<dyn Read>) -> Self {
        Self { input, buffer: vec![0; BLOCK], filled: 0, given: 0 }
    }

    /// The next lines, as many as have come; only the last one of all may lack its newline.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.copy_within(self.given..self.filled, 0);
        self.filled -= self.given;
        self.given = 0;
        loop {
            if self.filled == self.buffer.len() {
                self.buffer.resize(2 * self.filled, 0);
            }
            let read = match self.input.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            // What was there before has no newline, or it would have been handed out.
            let newline = memrchr(b'\n', &self.buffer[self.filled..self.filled + read]);
            self.given = newline.map_or(0, |place| self.filled + place + 1);
            self.filled += read;
            if read == 0 {
                self.given = self.filled;
            }
            if self.given > 0 || read == 0 {
                return Ok((self.given > 0).then(|| &self.buffer[..self.given]));
            }
        }
    }
}
