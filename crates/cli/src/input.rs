//! Files and standard input, plain or compressed, and the progress bar over them.

use crate::blocks::{self, Blocks, Piece};
use crate::gzip;
use crate::trouble::complain;
use crate::zstd;
use anyhow::{Context, Error, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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

/// The same, with all files in directories.
pub(crate) fn sources_below(files: &[PathBuf]) -> Vec<Source<'_>> {
    if files.is_empty() {
        let mut found = Vec::new();
        add_below(Path::new(""), &mut found);
        return found;
    }
    let mut found = Vec::new();
    for source in sources(files) {
        match source {
            Source::File(path) if path.is_dir() => add_below(&path, &mut found),
            other => found.push(other),
        }
    }
    found
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

pub(crate) enum Source<'a> {
    Stdin,
    File(Cow<'a, Path>),
}

impl Source<'_> {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_string(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Starts to read, and to move `bar`. Something that is not a file, such as a directory, is an error at once.
    pub(crate) fn open(&self, bar: &ProgressBar) -> Result<Blocks> {
        self.decompressed(bar).map(Blocks::new).with_context(|| self.name())
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

fn decompressed(mut input: impl Read + 'static) -> Result<Box<dyn Read>> {
    let mut head = Vec::with_capacity(HEAD);
    input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let is_other = |magic: &[u8]| head.starts_with(magic) && (magic != b"BZh" || head.ends_with(BZIP2_BLOCK));
    if let Some((_, program)) = OTHERS.iter().find(|(magic, _)| is_other(magic)) {
        bail!("is compressed with {program}; decompress it first: {program} -dc FILE | txid ...");
    }
    let (is_gzip, is_zstd) = (head.starts_with(&gzip::MAGIC), head.starts_with(&zstd::MAGIC));
    let whole = io::Cursor::new(head).chain(input);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(gzip::Members::new(BufReader::new(whole))),
        (_, true) => Box::new(zstd::Frames::new(BufReader::new(whole))),
        _ => Box::new(whole),
    })
}

/// A progress bar over the bytes of all files, shown only on a terminal.
pub(crate) fn bar(sources: &[Source]) -> ProgressBar {
    let total = sources.iter().map(Source::len).sum();
    if total == 0 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
