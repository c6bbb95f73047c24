//! `txid grep --late`: only what has the window is read.

use crate::{NOON, directory, id, printed, txid};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A line every millisecond for ten minutes, each up to `late` milliseconds after its id: 90 MB.
fn log(late: i64) -> String {
    (0..600_000_i64).map(|n| format!("{} GET /{n:0>120}\n", id(NOON + n - n * 7919 % late))).collect()
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
    shell.args(["-c", &command, env!("CARGO_BIN_EXE_txid")]).current_dir(directory);
    std::process::Command::new("strace").arg("-V").output().ok()?;
    shell.assert().success();
    let calls = std::fs::read_to_string(directory.join("calls")).unwrap();
    let sizes: Vec<u64> = calls.lines().filter_map(|line| line.rsplit_once(" = ")?.1.parse().ok()).collect();
    Some((sizes.len(), sizes.iter().sum()))
}

const WINDOW: [&str; 4] = ["--from", "2026-11-24T12:05:00Z", "--for", "2s"];

#[test]
fn a_window_is_found_by_few_reads() {
    let log = log(1000);
    let directory = directory(&[("a.log", log.as_bytes())]);
    let directory = directory.path();
    let (all, said) = found(directory, &[&WINDOW[..], &["a.log"]].concat());
    assert_eq!((all.lines().count() > 1900, said.as_str()), (true, ""));
    let (few, said) = found(directory, &[&WINDOW[..], &["--late", "2s", "a.log"]].concat());
    assert!(few == all);
    assert!(said.contains(" were read, in ") && said.contains("lines later than 2s are not found"), "{said}");
    // Of 90 MB.
    if let Some((count, bytes)) = reads(directory, "--from 2026-11-24T12:05:00Z --for 2s --late 2s a.log") {
        assert!(count < 150 && bytes < 12_000_000, "{count} reads of {bytes} bytes");
    }
    // All windows, also at the ends.
    for second in [0, 1, 150, 597, 599] {
        let from = (NOON + second * 1000).to_string();
        let window = ["--from", &from, "--for", "1500ms", "-c", "a.log"];
        assert_eq!(
            found(directory, &[&window[..], &["--late", "2s"]].concat()).0,
            found(directory, &window).0,
            "{second}"
        );
    }
    let (none, said) = found(directory, &["--from", "2026-11-25", "--late", "2s", "a.log"]);
    assert!(none.is_empty() && said.contains("; 1 file is outside the window; lines"), "{said}");
    let (_, said) = found(directory, &["--from", "2026-11-25", "--late", "2s", "a.log", "a.log"]);
    assert!(said.contains("; 2 files are outside the window; lines"), "{said}");
    let (_, said) = found(directory, &["--from", "2026-11-25", "--late", "2s", "a.log", "missing"]);
    assert!(said.ends_with("missing: No such file or directory (os error 2)\n"), "nothing is promised: {said}");
    // A line that is nearly as late as was said.
    let (_, said) = found(directory, &[&WINDOW[..], &["--late", "1500ms", "-c", "a.log"]].concat());
    assert!(said.contains("after its id; --late may be too short"), "{said}");
}

#[test]
fn where_the_promise_is_of_no_use_all_is_read_and_it_is_said() {
    let log = log(1);
    let (mut back, without) = (log.clone(), format!("{log}{}", "no id\n".repeat(20_000)));
    back.push_str(&log[..log.len() / 4]);
    let small = &log[..1_000_000];
    let files = [("back.log", back.as_bytes()), ("without.log", without.as_bytes()), ("small.log", small.as_bytes())];
    let directory = directory(&files);
    let directory = directory.path();
    std::process::Command::new("gzip").args(["-k1", "small.log"]).current_dir(directory).status().unwrap();
    let expected = found(directory, &[&WINDOW[..], &["back.log"]].concat()).0;
    assert_eq!(expected.lines().count(), 2000);
    for (args, why, is_there) in [
        (&["back.log"][..], "ids are older than before, by more than that", true),
        (&["without.log"], "is no id", true),
        (&["small.log"], "it is small", false),
        (&["small.log.gz"], "it is compressed", false),
        (&["-n", "back.log"], "-n counts all lines", true),
        (&["-v", "small.log"], "-v prints what is outside", true),
        (&["-L", "small.log"], "-L must see all lines", true),
    ] {
        let (lines, said) = found(directory, &[&WINDOW[..], &["--late", "2s"], args].concat());
        assert!(said.contains("--late: all is read: ") && said.contains(why), "{args:?}: {said}");
        assert_eq!(!lines.is_empty(), is_there, "{args:?}");
        assert!(!["back.log", "without.log"].contains(&args[0]) || lines == expected, "{args:?}");
    }
    let piped = txid(&["grep", "--from", "2026-11-24", "--late", "2s"]).write_stdin(small).assert().success();
    assert!(String::from_utf8_lossy(&piped.get_output().stderr).contains("all is read: it is no file"));
    assert!(printed(txid(&["grep", "--from", "2026-11-24"]).write_stdin(small)).len() > 999_000);
}

#[test]
fn a_file_that_grows_is_read_whole() {
    let log: String = log(1).split_inclusive('\n').take(150_000).collect();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let directory = directory.path();
    let mut file = std::fs::OpenOptions::new().append(true).open(directory.join("a.log")).unwrap();
    let last = log.lines().last().unwrap().to_string() + "\n";
    let is_done = AtomicBool::new(false);
    let grows = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                file.write_all(last.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        // It may be read between two lines.
        let mut rounds =
            (0..100).map(|_| found(directory, &["--from", "2026-11-24T12:02:00Z", "--late", "2s", "a.log"]));
        let grows = rounds.find(|(_, said)| said.contains("all is read: it grows"));
        is_done.store(true, Ordering::Relaxed);
        grows
    });
    let (lines, said) = grows.expect("it was seen to grow");
    assert!(lines.lines().count() > 30_000 && !said.contains("were read"), "{said}");
}
