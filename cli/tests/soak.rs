//! What takes a gigabyte on disk: `make soak` runs these on the release binary, and they print what they measured.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use txid::Txid;

const GIGABYTE: u64 = 1_000_000_000;
const FIRST_MS: i64 = 1_795_200_000_000;

/// An access log of a gigabyte, a few requests a second, and how many lines it has. Lines are out of order as they are in
/// life and, `shuffled`, as they never are.
fn log(path: &Path, shuffled: bool) -> u64 {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let (mut bytes, mut lines) = (0, 0_u64);
    while bytes < GIGABYTE {
        let order = if shuffled { lines.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42 } else { lines };
        let id = Txid::at(FIRST_MS + order as i64 * 137 + (lines * 7919 % 1000) as i64);
        let line = format!(
            "{id} 10.{}.{}.7 - - [21/Nov/2026:10:{:02}:{:02} +0000] \"GET /v1/items/{}?q=a%20b&page={} HTTP/1.1\" 200 {} \"-\" \
             \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36\"\n",
            lines % 256,
            lines % 13,
            lines / 60 % 60,
            lines % 60,
            lines * 31,
            lines % 9,
            lines % 50_000,
        );
        out.write_all(line.as_bytes()).unwrap();
        bytes += line.len() as u64;
        lines += 1;
    }
    out.flush().unwrap();
    lines
}

static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let build = ["build", "--release", "--locked"];
    assert!(Command::new(env!("CARGO")).args(build).current_dir(&root).status().unwrap().success());
    root.join("target/release/txid")
});

fn txid(args: &[&str]) -> Command {
    let mut command = Command::new(&*BINARY);
    command.args(args);
    command
}

/// With its output in a file: grep sees when it goes to /dev/null, and ends at the first line that it finds.
fn time(command: &mut Command, out: &Path) -> Duration {
    command.stdout(File::create(out).unwrap());
    let start = Instant::now();
    assert!(command.status().unwrap().success());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// The most memory that the command had at once, in MB. The kernel's account at its end would count what this process had
/// when it started the command.
fn peak_mb(command: &mut Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let mut peak_kb = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak_kb = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(peak_kb);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success() && peak_kb > 0);
    peak_kb * 1024 / 1_000_000
}

#[test]
#[ignore = "needs a gigabyte"]
fn grep_is_at_least_half_as_fast_as_grep_f() {
    let directory = TempDir::new().unwrap();
    let (path, out) = (directory.path().join("access.log"), directory.path().join("out.log"));
    let middle = log(&path, false) as i64 / 2;
    let path = path.to_str().unwrap();

    let middle_ms = FIRST_MS + middle * 137;
    let (from, to) = (middle_ms.to_string(), (middle_ms + 600_000).to_string());
    let window = txid(&["grep", "--from", &from, "--to", &to, path]).output().unwrap();
    let some_id = String::from_utf8(window.stdout[..20].to_vec()).unwrap();
    let prefix = &Txid::first_of(FIRST_MS).to_string()[..2];

    for (name, theirs, ours) in [
        ("ten minutes of a week", &["-F", &some_id, path][..], &["grep", "--from", &from, "--to", &to, path][..]),
        ("every line", &["-F", prefix, path], &["grep", path]),
        ("counting every line", &["-c", "-F", prefix, path], &["grep", "-c", path]),
    ] {
        let (mut grep, mut own) = (Vec::new(), Vec::new());
        for _ in 0..7 {
            grep.push(time(Command::new("grep").args(theirs), &out));
            own.push(time(&mut txid(ours), &out));
        }
        let (grep, own) = (median(grep), median(own));
        println!("{name}: grep -F {grep:.3} s, txid grep {own:.3} s: {:.2} times as fast", grep / own);
        assert!(own <= 2.0 * grep, "{name}");
    }
}

#[test]
#[ignore = "needs a gigabyte"]
fn sort_takes_a_gigabyte_in_256_mb() {
    let directory = TempDir::new().unwrap();
    let (path, sorted) = (directory.path().join("access.log"), directory.path().join("sorted.log"));
    let lines = log(&path, true);
    let start = Instant::now();
    let out = File::create(&sorted).unwrap();
    let peak = peak_mb(txid(&["sort", path.to_str().unwrap()]).env("TMPDIR", directory.path()).stdout(out));
    println!("sort: {:.1} s, at most {peak} MB", start.elapsed().as_secs_f64());
    assert!(peak <= 256);

    let mut count = 0;
    let mut before = String::new();
    for line in BufReader::new(File::open(&sorted).unwrap()).lines() {
        let line = line.unwrap();
        assert!(before[..before.len().min(20)] <= line[..20], "{before}\n{line}");
        before = line;
        count += 1;
    }
    assert_eq!(count, lines);
    assert_eq!(sorted.metadata().unwrap().len(), path.metadata().unwrap().len());
}

#[test]
#[ignore = "needs 400 MB"]
fn lines_of_100_mb_are_found_and_sorted() {
    let directory = TempDir::new().unwrap();
    let (path, out) = (directory.path().join("long.log"), directory.path().join("out.log"));
    let line = |ms| format!("{} {}\n", "-".repeat(100_000_000), Txid::first_of(ms));
    fs::write(&path, [line(2), line(1)].concat()).unwrap();
    let path = path.to_str().unwrap();

    let found = txid(&["grep", "--from", "1", "--to", "1", path]).output().unwrap();
    assert!(found.stdout == line(1).as_bytes());

    let peak = peak_mb(txid(&["sort", path]).stdout(File::create(&out).unwrap()));
    println!("sort of 100 MB lines: at most {peak} MB");
    let mut sorted = String::new();
    File::open(&out).unwrap().read_to_string(&mut sorted).unwrap();
    assert!(sorted == [line(1), line(2)].concat());
}
