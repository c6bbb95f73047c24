//! Files and standard input, plain or compressed, and the progress bar over them.

use crate::blocks::{self, Blocks, Piece};
use crate::errors::complain;
use crate::gzip;
use crate::read_ahead::ReadAhead;
use anyhow::{Context, Error, Result, anyhow, bail};
use glob::Pattern;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, IsTerminal, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What takes no longer needs no bar.
const BEFORE_A_BAR: Duration = Duration::from_secs(1);

/// The sources that `files` names: standard input for -, or if there are none.
pub(crate) fn sources(files: &[PathBuf]) -> Vec<Source<'_>> {
    if files.is_empty() {
        return vec![Source::Stdin];
    }
    files
        .iter()
        .map(|file| if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file.as_path().into()) })
        .collect()
}

/// The sources of the files, and of all files in directories whose names match one of these patterns, if there are any.
pub(crate) fn sources_below<'a>(files: &'a [PathBuf], include: &[String]) -> Result<Vec<Source<'a>>> {
    let pattern = |text: &String| Pattern::new(text).with_context(|| format!("--include '{text}'"));
    let patterns = include.iter().map(pattern).collect::<Result<Vec<_>>>()?;
    let is_wanted = |source: &Source| match source {
        Source::File(path) if !patterns.is_empty() => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            patterns.iter().any(|pattern| pattern.matches(&name))
        }
        _ => true,
    };
    let mut found = Vec::new();
    if files.is_empty() {
        add_below(Path::new(""), &mut found);
    }
    for source in if files.is_empty() { Vec::new() } else { sources(files) } {
        match source {
            Source::File(path) if path.is_dir() => add_below(&path, &mut found),
            other => found.push(other),
        }
    }
    found.retain(is_wanted);
    Ok(found)
}

/// In the order of their names. As in grep -r, links below a directory are not followed, and what is no file is left out.
fn add_below(directory: &Path, found: &mut Vec<Source<'_>>) {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = fs::read_dir(here) else {
        // Opening it will say why.
        found.push(Source::File(here.to_path_buf().into()));
        return;
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = directory.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => add_below(&path, found),
            Ok(kind) if kind.is_file() => found.push(Source::File(path.into())),
            _ => {}
        }
    }
}

/// What is to be read.
pub(crate) enum Part {
    All,
    /// Whole lines of a file.
    Of(File, Range<u64>),
}

pub(crate) enum Source<'a> {
    Stdin,
    File(Cow<'a, Path>),
}

impl Source<'_> {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "(standard input)".to_string(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Starts to read, and to move `bar`. Something that is not a file, such as a directory, is an error at once.
    pub(crate) fn open(&self, bar: &ProgressBar) -> Result<Blocks> {
        self.open_file(self.file()?, bar)
    }

    /// To be read by `open_file`.
    pub(crate) fn file(&self) -> Result<File> {
        let file = match self {
            // Not through the buffer of the standard library.
            Self::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Self::File(path) => File::open(path),
        };
        file.with_context(|| self.name())
    }

    pub(crate) fn open_file(&self, file: File, bar: &ProgressBar) -> Result<Blocks> {
        let open = || {
            check(&file.metadata()?)?;
            match self {
                Self::Stdin => decompressed(file),
                Self::File(_) => decompressed(bar.wrap_read(file)),
            }
        };
        open().map(Blocks::new).with_context(|| self.name())
    }

    /// Opens a part of the source.
    pub(crate) fn open_part(&self, part: Part, bar: &ProgressBar) -> Result<Blocks> {
        let Part::Of(mut file, range) = part else { return self.open(bar) };
        let open = || {
            check(&file.metadata()?)?;
            file.seek(SeekFrom::Start(range.start))?;
            anyhow::Ok(bar.wrap_read(file).take(range.end - range.start))
        };
        open().map(|input| Blocks::new(Box::new(input))).with_context(|| self.name())
    }

    /// Passes each block of lines to `each`, until that wants no more; an empty one stands for a line that is too long.
    /// Input that cannot be read is reported and skipped, and the result is false; an error comes only from `each`.
    pub(crate) fn each(
        &self,
        mut blocks: Blocks,
        bar: &ProgressBar,
        mut each: impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<bool> {
        let tell = |error: Error| bar.suspend(|| complain(&error.context(self.name())));
        let mut all = true;
        loop {
            if bar.is_hidden() && bar.length().is_some() && bar.elapsed() > BEFORE_A_BAR {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            match blocks.next_piece() {
                Ok(None) => return Ok(all),
                Ok(Some(Piece::Lines(block))) => {
                    if each(block)?.is_break() {
                        return Ok(all);
                    }
                }
                Ok(Some(Piece::TooLong(offset))) => {
                    all = false;
                    tell(anyhow!(blocks::too_long(offset)));
                    if each(b"")?.is_break() {
                        return Ok(all);
                    }
                }
                Err(error) => {
                    tell(error.into());
                    return Ok(false);
                }
            }
        }
    }

    /// Whether it can be read a second time.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => path.metadata().is_ok_and(|metadata| metadata.is_file()),
        }
    }

    /// When it was last changed; now for what is no file.
    pub(crate) fn changed_ms(&self) -> i64 {
        let metadata = match self {
            Self::Stdin => metadata(io::stdin()),
            Self::File(path) => path.metadata(),
        };
        let of_file = metadata.ok().filter(Metadata::is_file);
        of_file.map_or_else(txid::system_ms, |file| file.mtime() * 1000 + file.mtime_nsec() / 1_000_000)
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
    // Reading and writing the same file may never end.
    let out = metadata(io::stdout())?;
    if input.is_file() && (input.dev(), input.ino()) == (out.dev(), out.ino()) {
        bail!("is also the output");
    }
    Ok(())
}

fn metadata(open: impl AsFd) -> io::Result<Metadata> {
    File::from(open.as_fd().try_clone_to_owned()?).metadata()
}

/// The first bytes of what is compressed in another way, and the program that reads it.
const OTHERS: [(&[u8], &str); 3] = [(b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"\x04\x22\x4d\x18", "lz4")];
/// What follows in bzip2 after its magic and a digit; nobody begins a line of a log with that.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";
const HEAD: usize = 10;

/// The first bytes of a zstd frame, and all but the first of one that is to be skipped.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&ZSTD) || head.get(1..4) == Some(&SKIPPED) && head[0] & 0xf0 == 0x50
}

/// Text with a byte order mark, or each second byte of which is zero.
fn is_utf16(head: &[u8]) -> bool {
    let is_text = |text: u8| text != 0 && text.is_ascii();
    let all = |[low, high]: [usize; 2]| head.chunks_exact(2).all(|unit| is_text(unit[low]) && unit[high] == 0);
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || head.len() > 3 && (all([0, 1]) || all([1, 0]))
}

/// The program that reads it, if that is needed.
fn other_program(head: &[u8]) -> Option<&'static str> {
    let is_other = |magic: &[u8]| head.starts_with(magic) && (magic != b"BZh" || head.ends_with(BZIP2_BLOCK));
    OTHERS.iter().find(|(magic, _)| is_other(magic)).map(|(_, program)| *program)
}

/// Whether these first bytes are those of a compressed file.
pub(crate) fn is_compressed(head: &[u8; HEAD]) -> bool {
    head.starts_with(&gzip::MAGIC) || is_zstd(head) || other_program(head).is_some()
}

fn decompressed(mut input: impl Read + Send + 'static) -> Result<Box<dyn Read>> {
    let mut head = Vec::with_capacity(HEAD);
    input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    if let Some(program) = other_program(&head) {
        bail!("is compressed with {program}; decompress it first: {program} -dc FILE | txid ...");
    }
    if is_utf16(&head) {
        bail!("is UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE | txid ...");
    }
    let (is_gzip, is_zstd) = (head.starts_with(&gzip::MAGIC), is_zstd(&head));
    let whole = io::Cursor::new(head).chain(input);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(ReadAhead::new(gzip::Members::new(BufReader::new(whole)))?),
        (_, true) => Box::new(ReadAhead::new(zstd::Decoder::new(whole)?)?),
        _ => Box::new(whole),
    })
}

/// A progress bar over the bytes of all files, shown only on a terminal, after a second.
pub(crate) fn bar(sources: &[Source]) -> ProgressBar {
    let total = sources.iter().map(Source::len).sum();
    if total == 0 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
