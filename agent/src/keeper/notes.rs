//! What an agent knows besides a page, for `txid-agent status`: a small file for each thing, beside the page.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How much of its quota the store has used.
pub const ROOM: &str = "room";
/// The store, as its URL names it, without a password.
pub const STORE: &str = "store";

/// Writes what is known of a kind. Nobody's link is followed.
pub fn write(page: &Path, kind: &str, text: &str) -> io::Result<()> {
    let file = file(page, kind);
    let aside = file.with_extension("new");
    let _ = fs::remove_file(&aside);
    File::create_new(&aside)?.write_all(format!("{text}\n").as_bytes())?;
    fs::rename(aside, file)
}

/// What was written of a kind.
pub fn read(page: &Path, kind: &str) -> Option<String> {
    Some(fs::read_to_string(file(page, kind)).ok()?.trim_end().to_owned())
}

/// `status` takes no file with a leading dot for a page.
fn file(page: &Path, kind: &str) -> PathBuf {
    page.with_file_name(format!(".{}.{kind}", page.file_name().unwrap_or_default().to_string_lossy()))
}
