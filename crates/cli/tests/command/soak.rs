//! Tests that need gigabytes on disk: `make soak` runs them on the release binary, and they print what they measured.

use flate2::{Compression, write::GzEncoder};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use txid::Txid;

const GIGABYTE: u64 = 1_000_000_000;
const FIRST_MS: i64 = 1_795_200_000_000;

/// Writes an access log of a gigabyte with ids in any order, and returns its number of lines.
fn log(path: &Path) -> u64 {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let (mut bytes, mut lines) = (0, 0_u64);
    while bytes < GIGABYTE {
        let id = Txid::wrapping_at(FIRST_MS + (lines.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42) as i64 * 137);
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let build = ["build", "--release", "--locked"];
    assert!(Command::new(env!("CARGO")).args(build).current_dir(&root).status().unwrap().success());
    root.join("target/release/txid")
});

fn txid(args: &[&str]) -> Command {
    let mut command = Command::new(&*BINARY);
    command.args(args);
    command
}

/// The peak memory of the command, in MB. The kernel's figure at its end would include what this process had when it
/// started the command.
fn peak_mb(command: &mut Command) -> (ExitStatus, u64) {
    let mut child = command.spawn().unwrap();
    let mut peak_kb = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak_kb = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(peak_kb);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(peak_kb > 0);
    (child.wait().unwrap(), peak_kb * 1024 / 1_000_000)
}

#[test]
#[ignore = "needs a gigabyte"]
fn sort_takes_a_gigabyte_in_128_mb() {
    let directory = TempDir::new().unwrap();
    let (path, sorted) = (directory.path().join("access.log"), directory.path().join("sorted.log"));
    let lines = log(&path);
    let start = Instant::now();
    let out = File::create(&sorted).unwrap();
    let (status, peak) = peak_mb(txid(&["sort", path.to_str().unwrap()]).env("TMPDIR", directory.path()).stdout(out));
    println!("sort: {:.1} s, at most {peak} MB", start.elapsed().as_secs_f64());
    assert!(status.success() && peak <= 128);

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
#[ignore = "needs a gigabyte"]
fn audit_takes_a_gigabyte_in_less_than_three_times_the_time_of_sort() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("access.log");
    let lines = log(&path);
    let timed = |command: &mut Command| {
        let start = Instant::now();
        let (status, peak) = peak_mb(command.env("TMPDIR", directory.path()).stdout(Stdio::null()));
        assert!(status.success());
        (start.elapsed().as_secs_f64(), peak)
    };
    // In turn, and the middle of three.
    let mut rounds: Vec<_> = (0..3)
        .map(|_| {
            let (sort, _) = timed(&mut txid(&["sort", path.to_str().unwrap()]));
            let (audit, peak) = timed(&mut txid(&["audit", path.to_str().unwrap()]));
            (audit / sort, peak)
        })
        .collect();
    rounds.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("audit of {lines} lines: {:.2} times as long as sort, at most {} MB", rounds[1].0, rounds[1].1);
    assert!(rounds[1].1 <= 280, "--memory is 256 MiB");
}

/// With the least memory, so that most of them are in a file.
#[test]
#[ignore = "needs a gigabyte"]
fn audit_takes_ten_million_ids_in_bounded_memory() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ids");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    (0..10_000_000_i64).for_each(|n| writeln!(out, "{}", Txid::wrapping_at(FIRST_MS + n)).unwrap());
    out.flush().unwrap();
    for (memory, most) in [("40M", 48), ("256M", 280)] {
        let mut run = txid(&["audit", "--memory", memory, path.to_str().unwrap()]);
        let (status, peak) = peak_mb(run.env("TMPDIR", directory.path()).stdout(Stdio::null()));
        println!("audit of ten million ids, --memory {memory}: at most {peak} MB");
        assert!(status.success() && peak <= most);
    }
}

/// A line of a gigabyte, plain and as the 8.7 MB that gzip makes of it.
#[test]
#[ignore = "needs a gigabyte"]
fn a_line_of_a_gigabyte_takes_no_more_memory() {
    let directory = TempDir::new().unwrap();
    let (plain, packed) = (directory.path().join("long.log"), directory.path().join("long.log.gz"));
    let line = |ms| format!("{}\n", Txid::wrapping_bounds_of(ms)[0]);
    let out = BufWriter::new(File::create(&packed).unwrap());
    let outs: [Box<dyn Write>; 2] =
        [Box::new(File::create(&plain).unwrap()), Box::new(GzEncoder::new(out, Compression::fast()))];
    for mut out in outs {
        out.write_all(line(2).as_bytes()).unwrap();
        let part = vec![b'x'; 1_000_000];
        (0..1000).for_each(|_| out.write_all(&part).unwrap());
        out.write_all(format!("\n{}", line(1)).as_bytes()).unwrap();
    }
    for path in [plain, packed] {
        for (command, most, expected) in [("grep", 32, [line(2), line(1)]), ("sort", 128, [line(1), line(2)])] {
            let (out, messages) = (directory.path().join("out"), directory.path().join("messages"));
            let mut run = txid(&[command, path.to_str().unwrap()]);
            let (status, peak) =
                peak_mb(run.stdout(File::create(&out).unwrap()).stderr(File::create(&messages).unwrap()));
            let name = path.file_name().unwrap().to_string_lossy();
            println!("{command} {name}: at most {peak} MB");
            assert!(status.code() == Some(2) && peak <= most);
            assert_eq!(fs::read_to_string(&out).unwrap(), expected.concat());
            let expected = format!(
                "txid: {}: the line at offset {} is longer than 8 MiB; skipped\n",
                path.display(),
                line(2).len()
            );
            assert_eq!(fs::read_to_string(&messages).unwrap(), expected);
        }
    }
}

/// The longest lines allowed, and the shortest, which have the most notes.
#[test]
#[ignore = "needs two gigabytes"]
fn sort_takes_the_longest_and_the_shortest_lines_in_128_mb() {
    let directory = TempDir::new().unwrap();
    let (path, out) = (directory.path().join("a.log"), directory.path().join("out"));
    for len in [(8 << 20) - 22, 0] {
        let mut log = BufWriter::new(File::create(&path).unwrap());
        let (rest, lines) = ("x".repeat(len), (GIGABYTE / (len as u64 + 22)).min(20_000_000));
        (0..lines).for_each(|ms| writeln!(log, "{} {rest}", Txid::wrapping_bounds_of(ms as i64)[0]).unwrap());
        log.flush().unwrap();
        let mut run = txid(&["sort", path.to_str().unwrap()]);
        let (status, peak) = peak_mb(run.env("TMPDIR", directory.path()).stdout(File::create(&out).unwrap()));
        println!("sort {lines} lines of {} bytes: at most {peak} MB", len + 22);
        assert!(status.success() && peak <= 128);
        assert_eq!(out.metadata().unwrap().len(), path.metadata().unwrap().len());
    }
}
