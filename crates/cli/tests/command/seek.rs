//! `txid grep --late`: only what has the window is read.

use crate::{ALL, NOON, directory, id, printed, refusal, txid};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// When the id of a line was made, `n` milliseconds after noon or up to `late` earlier.
fn made(n: i64, late: i64) -> i64 {
    NOON + n - n * 7919 % late
}

/// A line every millisecond, of 147 bytes.
fn log(lines: Range<i64>, late: i64) -> String {
    lines.map(|n| format!("{} GET /{n:0>120}\n", id(made(n, late)))).collect()
}

/// The lines that are found in a window, and what is said.
fn found(directory: &Path, args: &[&str]) -> (String, String) {
    let output = txid(&["grep"]).current_dir(directory).args(args).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The reads of files, counted by strace: how many, and how many bytes.
fn reads(directory: &Path, args: &str) -> Option<(usize, u64)> {
    let command = format!("strace -f -e trace=read,pread64 -o calls \"$0\" grep {args} > out 2> said");
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", &command, crate::program()]).current_dir(directory);
    std::process::Command::new("strace").arg("-V").output().ok()?;
    shell.assert().success();
    let calls = std::fs::read_to_string(directory.join("calls")).unwrap();
    let sizes: Vec<u64> = calls.lines().filter_map(|line| line.rsplit_once(" = ")?.1.parse().ok()).collect();
    Some((sizes.len(), sizes.iter().sum()))
}

const WINDOW: [&str; 4] = ["--from", "2026-11-24T12:05:00Z", "--for", "2s"];

#[test]
fn a_window_is_found_by_few_reads() {
    let log = log(0..600_000, 1000);
    let directory = directory(&[("a.log", log.as_bytes())]);
    let directory = directory.path();
    let is_in = |n: i64, from: i64, span: i64| (from..from + span).contains(&(made(n, 1000) - NOON));
    let all: String =
        (0..).zip(log.split_inclusive('\n')).filter(|(n, _)| is_in(*n, 300_000, 2000)).map(|(_, line)| line).collect();
    let (few, said) = found(directory, &[&WINDOW[..], &["--late", "2s", "a.log"]].concat());
    assert!(few == all);
    let read = |parts: &str| format!("txid: --late: {parts} are not found\n");
    assert_eq!(said, read("5.47 MiB of 84.11 MiB were read, in 76 parts; lines later than 2s"));
    // The file has 90 MB.
    if let Some((count, bytes)) = reads(directory, "--from 2026-11-24T12:05:00Z --for 2s --late 2s a.log") {
        assert!(count < 150 && bytes < 12_000_000, "{count} reads of {bytes} bytes");
    }
    // All windows, also at the ends.
    for second in [0, 1, 150, 597, 599] {
        let from = (NOON + second * 1000).to_string();
        let few = found(directory, &["--from", &from, "--for", "1500ms", "-c", "--late", "2s", "a.log"]).0;
        let all = (0..600_000).filter(|n| is_in(*n, second * 1000, 1500)).count();
        assert_eq!(few, format!("{all}\n"), "{second}");
    }
    let (none, said) = found(directory, &["-s", "--from", "2026-11-25", "--late", "2s", "a.log"]);
    let outside = "4.19 MiB of 84.11 MiB were read, in 67 parts; lines later than 2s";
    assert_eq!((none.as_str(), said), ("", read(outside)));
    let (_, said) = found(directory, &["-s", "--from", "2026-11-25", "--late", "2s", "a.log", "a.log"]);
    let outside = "8.37 MiB of 168.23 MiB were read, in 134 parts; lines later than 2s";
    assert_eq!(said, read(outside));
    let (_, said) = found(directory, &["--from", "2026-11-25", "--late", "2s", "a.log", "missing"]);
    let missing =
        "txid: missing: --late: all is read: it is no file\ntxid: missing: No such file or directory (os error 2)\n";
    assert!(said.starts_with(missing), "nothing is promised: {said}");
    // A line that is nearly as late as was said.
    let (_, said) = found(directory, &[&WINDOW[..], &["--late", "1500ms", "-c", "a.log"]].concat());
    let late = "txid: --late: a line came 934ms after its id; --late may be too short\n";
    assert_eq!(said, read("5.31 MiB of 84.11 MiB were read, in 75 parts; lines later than 1s 500ms") + late);
}

/// A line that is as late as was promised before or after all others, the half minute before and after a change of logs at
/// midnight, and the last lines after an hour of silence.
#[test]
fn no_line_is_missed_that_is_as_late_as_promised() {
    let line = |ms: i64| format!("{} GET /{ms:0>175}\n", id(ms));
    let day = |n: i64| (0..86_400).map(|second| line(NOON + n * DAY_MS + second * 1000)).collect::<String>();
    let silent = day(0) + &(0..80).map(|n| line(NOON + DAY_MS + HOUR_MS + n * 1000)).collect::<String>();
    let same = |ms: i64| line(NOON + ms).repeat(100_000);
    let files = [
        ("late.log", line(NOON) + &same(-1000)),
        ("early.log", same(1000) + &line(NOON)),
        ("a.log", day(0)),
        ("b.log", day(1)),
        ("silent.log", silent),
    ];
    let directory = directory(&files.each_ref().map(|(name, log)| (*name, log.as_bytes())));
    for (names, from, span, late, count) in [
        (&["late.log"][..], 0, "1ms", "1s", 1),
        (&["early.log"], 0, "1ms", "1s", 1),
        (&["a.log", "b.log"], DAY_MS - 30_000, "61s", "5m", 61),
        (&["silent.log"], DAY_MS + HOUR_MS, "80s", "5m", 80),
    ] {
        let from = (NOON + from).to_string();
        let (found, said) =
            found(directory.path(), &[&["--from", &from, "--for", span, "--late", late, "-h"], names].concat());
        assert_eq!((found.lines().count(), said.matches("all is read").count()), (count, 0), "{names:?}: {said}");
    }
}

/// Five minutes of a log were in a queue for half an hour, and stand where only halving looks. What is before them is not
/// missed.
#[test]
fn a_block_of_older_ids_is_seen() {
    let lines = |seconds: Range<i64>| {
        seconds.map(|second| format!("{} GET /{second:0>475}\n", id(NOON + second * 1000))).collect::<String>()
    };
    let log = lines(6000..24_660) + &lines(22_860..23_160) + &lines(24_660..60_000);
    let directory = directory(&[("a.log", log.as_bytes())]);
    let from = (NOON + 24_560_000).to_string();
    let (found, said) = found(directory.path(), &["--from", &from, "--for", "100s", "--late", "1m", "a.log"]);
    assert_eq!((found.lines().count(), said.matches("are older than before").count()), (100, 1), "{said}");
}

#[test]
fn where_the_promise_is_of_no_use_all_is_read_and_it_is_said() {
    let log = log(200_000..360_000, 1);
    let (mut back, without) = (log.clone(), format!("{log}{}", "no id\n".repeat(20_000)));
    back.push_str(&log[..log.len() / 4]);
    let small = &log[..1_000_000];
    let files = [("back.log", back.as_bytes()), ("without.log", without.as_bytes()), ("small.log", small.as_bytes())];
    let directory = directory(&files);
    let directory = directory.path();
    for (program, options) in [("gzip", "-k1"), ("zstd", "-q1")] {
        std::process::Command::new(program).args([options, "small.log"]).current_dir(directory).status().unwrap();
    }
    let expected = found(directory, &[&WINDOW[..], &["back.log"]].concat()).0;
    assert_eq!(expected.lines().count(), 2000);
    for (args, why, is_there) in [
        (
            &["back.log"][..],
            "back.log: --late: all is read: near its byte 23918847 ids or times are older than before, by more than that",
            true,
        ),
        (&["without.log"], "without.log: --late: all is read: near its byte 23574464 is no id and no time", true),
        (&["small.log"], "small.log: --late: all is read: it is small, less than 16.50 MiB", false),
        (&["small.log.gz"], "small.log.gz: --late: all is read: it is compressed", false),
        (&["small.log.zst"], "small.log.zst: --late: all is read: it is compressed", false),
        (&["-n", "back.log"], "--late: all is read: -n counts all lines", true),
        (&["-v", "small.log"], "--late: all is read: -v prints what is outside the window", true),
        (&["-L", "small.log"], "--late: all is read: -L must see all lines", true),
        (&["-C1", "small.log"], "--late: all is read: -A, -B and -C print what is outside the window", false),
    ] {
        let (lines, said) = found(directory, &[&WINDOW[..], &["--late", "2s"], args].concat());
        assert_eq!(said.lines().next(), Some(&*format!("txid: {why}")), "{args:?}");
        assert_eq!(!lines.is_empty(), is_there, "{args:?}");
        assert!(!["back.log", "without.log"].contains(&args[0]) || lines == expected, "{args:?}");
    }
    let piped = txid(&["grep", "--from", "2026-11-24", "--late", "2s"]).write_stdin(small).assert().success();
    piped.stderr("txid: (standard input): --late: all is read: it is no file\n");
    assert_eq!(
        refusal(&mut txid(&["grep", ALL, "--late", "x"])),
        "txid: --late 'x': not a span of time; write it as 10m, 1h30m or '2 days'\n"
    );
    assert!(printed(txid(&["grep", "--from", "2026-11-24"]).write_stdin(small)).len() > 999_000);
}

/// All that is there is found, and what comes meanwhile is no reason to read all.
#[test]
fn a_file_may_grow() {
    let log = log(0..150_000, 1);
    let directory = directory(&[("a.log", log.as_bytes())]);
    let directory = directory.path();
    let mut file = std::fs::OpenOptions::new().append(true).open(directory.join("a.log")).unwrap();
    let last = log.lines().last().unwrap().to_string() + "\n";
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                file.write_all(last.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        for _ in 0..3 {
            let (lines, said) = found(directory, &["--from", "2026-11-24T12:02:29Z", "--late", "2s", "a.log"]);
            assert!(lines.lines().count() >= 1000 && !said.contains("all is read"), "{said}");
        }
        is_done.store(true, Ordering::Relaxed);
    });
}
