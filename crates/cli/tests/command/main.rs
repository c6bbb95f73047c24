//! The command through its real binary, as a shell would run it.

mod audit;
mod formats;
mod grep;
mod habits;
mod help;
mod hidden;
mod inspect;
mod make;
mod mixture;
mod night;
mod range;
mod records;
mod seek;
mod segment;
mod snowflake;
mod soak;
mod sort;
mod terminal;
mod text;
mod times;
mod vectors;

use assert_cmd::Command;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The path in TXID_COMMAND, or the command of this build.
fn program() -> &'static str {
    static PROGRAM: LazyLock<String> =
        LazyLock::new(|| std::env::var("TXID_COMMAND").unwrap_or(env!("CARGO_BIN_EXE_txid").to_string()));
    &PROGRAM
}

fn txid(args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args).env("TZ", "UTC").timeout(std::time::Duration::from_secs(60));
    command
}

/// From the first time of all.
const ALL: &str = "--from=0";

/// What is said of files without a time if the window is of all times.
const NOTHING: &str = "txid: window from 1970-01-01T00:00:00Z; nothing here has a time or an id with one\n";

/// The output of a command that succeeds without a complaint.
fn printed(command: &mut Command) -> String {
    let assert = command.assert().success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// The message of a command that ends with status 2 before it prints anything.
fn refusal(command: &mut Command) -> String {
    let assert = command.assert().code(2).stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

/// A new directory with files of these names and contents.
fn directory(files: &[(&str, &[u8])]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// An id of this millisecond.
fn id(ms: i64) -> String {
    txid::Txid::wrapping_at(ms).to_string()
}

/// 2026-11-24T12:00:00Z.
const NOON: i64 = 1_795_521_600_000;

/// An id in the layout of that name.
fn snowflake(ms: i64, node: i64, sequence: i64) -> i64 {
    (ms - 1_288_834_974_657) << 22 | node << 12 | sequence
}
