//! The table of logs: `txid grep` and `txid sort` next to grep, ripgrep, wc, zstd and sort, on a gigabyte.

use crate::table::cell;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use txid::Txid;

const GIGABYTE: usize = 1_000_000_000;
const FIRST_MS: i64 = 1_795_200_000_000;
const MS_A_LINE: i64 = 137;
/// The first second of the 20th of November 2026.
const FIRST_OF_DAY_S: i64 = 67_200;
const ROUNDS: usize = 7;

/// A row: what it does, how the program beside it is called, its arguments after its name, and those of txid.
type Row = (String, &'static str, Vec<String>, Vec<String>);

/// The table, of the command at `txid`. Its files are in the directory while it is made.
pub fn table(txid: &str, directory: &Path) -> String {
    let log = directory.join("access.log");
    let path = log.to_str().unwrap();
    let mut table = format!("{ROUNDS} rounds.\n\n");
    table += "| | beside it | its seconds | txid's seconds | times as long |\n|---|---|--:|--:|--:|\n";
    let formats = [("txid", some_txid as fn(i64) -> String), ("any", some_txid), ("uuid_v7", some_uuid)];
    for (format, of) in formats {
        let lines = write(&log, of, false);
        let rows = searches(txid, format, path, lines, &of(FIRST_MS)[..2]);
        table += &rows.iter().map(|row| measured(row, txid, directory)).collect::<String>();
        if format == "any" {
            table += &measured(&of_zstd(txid, path), txid, directory);
        }
    }
    for (id, of) in [(no_id as fn(i64) -> String, ""), (trace_id, " with trace ids")] {
        write(&log, id, false);
        table += &of_own_times(path, of).iter().map(|row| measured(row, txid, directory)).collect::<String>();
    }
    for (id, what) in [(some_txid as fn(i64) -> String, "ids"), (no_id, "lines without ids")] {
        write(&log, id, true);
        let sort = (format!("`sort` of {what} in any order"), "sort", words(&["sort", path]), words(&["sort", path]));
        table += &measured(&sort, txid, directory);
    }
    fs::remove_file(directory.join("access.log.zst")).unwrap();
    fs::remove_file(log).unwrap();
    table
}

fn some_txid(ms: i64) -> String {
    Txid::wrapping_at(ms).to_string()
}

fn no_id(_: i64) -> String {
    "-".to_string()
}

fn trace_id(_: i64) -> String {
    let version_4 = txid::uuid::v4().to_string();
    version_4.replace('-', "")
}

fn some_uuid(ms: i64) -> String {
    txid::uuid::wrapping_v7_at(ms).to_string()
}

/// Writes an access log of a few requests a second, and returns its number of lines. They are slightly out of order, as in
/// practice, or `shuffled`.
fn write(log: &Path, id: fn(i64) -> String, shuffled: bool) -> i64 {
    let mut out = BufWriter::new(File::create(log).unwrap());
    let (mut bytes, mut lines) = (0, 0);
    while bytes < GIGABYTE {
        let order = if shuffled { (lines as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42 } else { lines as u64 };
        let id = id(FIRST_MS + order as i64 * MS_A_LINE + lines * 7919 % 1000);
        let of_day_s = FIRST_OF_DAY_S + order as i64 * MS_A_LINE / 1000;
        let line = format!(
            "{id} 10.{}.{}.7 - - [{:02}/Nov/2026:{:02}:{:02}:{:02} +0000] \"GET /v1/items/{}?page={} HTTP/1.1\" 200 {} \"-\" \
             \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36\"\n",
            lines % 256,
            lines % 13,
            20 + of_day_s / 86_400,
            of_day_s / 3600 % 24,
            of_day_s / 60 % 60,
            of_day_s % 60,
            lines * 31,
            lines % 9,
            lines % 50_000,
        );
        out.write_all(line.as_bytes()).unwrap();
        bytes += line.len();
        lines += 1;
    }
    out.flush().unwrap();
    lines
}

/// The searches next to those of `grep -F`: for one id, and for what each line has.
fn searches(txid: &str, format: &str, path: &str, lines: i64, prefix: &str) -> Vec<Row> {
    let grep = ["grep", "--format", format];
    let middle_ms = FIRST_MS + lines / 2 * MS_A_LINE;
    let (from, to) = (middle_ms.to_string(), (middle_ms + 600_000).to_string());
    let window = [&grep[..], &["--from", &from, "--to", &to, path]].concat();
    let found = Command::new(txid).args(&window).output().unwrap().stdout;
    let id = String::from_utf8(found).unwrap().split(' ').next().unwrap().to_string();
    let every = [&grep[..], &["--from", "0", path]].concat();
    let counting = [&grep[..], &["--from", "0", "-c", path]].concat();
    [
        ("ten minutes of days", "grep -F", &["grep", "-F", &id, path][..], &window),
        ("ten minutes of days", "rg -F", &["rg", "-F", &id, path], &window),
        ("every line", "grep -F", &["grep", "-F", prefix, path], &every),
        ("counting every line", "grep -c -F", &["grep", "-c", "-F", prefix, path], &counting),
        ("counting every line", "wc -l", &["wc", "-l", path], &counting),
    ]
    .map(|(name, beside, theirs, ours)| {
        (format!("`grep --format {format}`, {name}"), beside, words(theirs), words(ours))
    })
    .into()
}

/// Searches of a log `of` lines without an id that has a time, next to ripgrep, and where it is installed, to what reads times as well.
fn of_own_times(path: &str, of: &str) -> Vec<Row> {
    let text = "/v1/items/31000?";
    let (from, to) = ("2026-11-23T12:00:00Z", "2026-11-23T12:10:00Z");
    let count = words(&["rg", "-F", "-c", text, path]);
    let window = words(&["grep", "-c", "--from", from, "--to", to, path]);
    let of_text = words(&["grep", "-c", "-e", text, path]);
    let name = format!("`grep`, ten minutes by times of lines{of}");
    let mut rows = vec![
        (name.clone(), "rg -F -c", count.clone(), window.clone()),
        (format!("`grep -e` of a text{of}"), "rg -F -c", count, of_text),
    ];
    if Command::new("hl").arg("--version").output().is_ok() {
        let theirs = words(&["hl", "--since", from, "--until", to, path]);
        rows.push((name, "hl", theirs, window));
    }
    rows
}

/// The log packed with zstd, and unpacked by the command or before it.
fn of_zstd(txid: &str, path: &str) -> Row {
    let packed = format!("{path}.zst");
    assert!(Command::new("zstd").args(["-q", "-f", path, "-o", &packed]).status().unwrap().success());
    let pipe = format!("zstd -dcq {packed} | {txid} grep --from 0 -c");
    let ours = words(&["grep", "--from", "0", "-c", &packed]);
    ("`grep` of zstd, counting every line".to_string(), "zstd -dc \\| txid grep", words(&["sh", "-c", &pipe]), ours)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn measured((name, beside, theirs, ours): &Row, txid: &str, directory: &Path) -> String {
    let seconds = |program: &str, arguments: &[String]| {
        // Not /dev/null: grep detects it, and ends at the first match.
        let out = File::create(directory.join("out.log")).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).env("LC_ALL", "C").env("TMPDIR", directory).stdout(out);
        let before = of_children();
        assert!(command.status().unwrap().success(), "{command:?}");
        of_children() - before
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| (seconds(&theirs[0], &theirs[1..]), seconds(txid, ours))).collect();
    fs::remove_file(directory.join("out.log")).unwrap();
    format!(
        "| {name} | `{beside}` | {} | {} | {} |\n",
        cell(rounds.iter().map(|round| round.0).collect(), 2),
        cell(rounds.iter().map(|round| round.1).collect(), 2),
        cell(rounds.iter().map(|round| round.1 / round.0).collect(), 2),
    )
}

/// The processor time of all programs that were waited for, in seconds.
fn of_children() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is our own, and zeros are a valid value of it.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    [usage.ru_utime, usage.ru_stime].map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6).iter().sum()
}
