//! `txid grep`.

use crate::hidden::{KEY, with_key};
use crate::{ALL, NOTHING, directory, gzip, id, printed, refusal, txid};
use assert_cmd::Command;
use flate2::{Compression, write::GzEncoder};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{ChildStdin, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A line for each of these milliseconds.
fn log(times: &[i64]) -> String {
    times.iter().map(|&ms| format!("10.0.0.1 {} GET /{ms}\n", id(ms))).collect()
}

/// From the first time of all, unless a time is given.
pub fn grep(directory: &TempDir, args: &[&str]) -> Command {
    let mut command = txid(&["grep"]);
    if !args.iter().any(|arg| ["--from", "--to", "--since", "--around"].iter().any(|it| arg.starts_with(it))) {
        command.arg(ALL);
    }
    command.current_dir(directory).args(args);
    command
}

#[test]
fn the_lines_of_the_window_come_out_as_they_are() {
    let lines = log(&[999, 1000, 1500, 2000, 2001]);
    let directory = directory(&[("a.log", lines.as_bytes())]);
    let expected: String = lines.lines().skip(1).take(3).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        printed(&mut grep(&directory, &["--from", "0000000001000", "--to", "0000000002001", "a.log"])),
        expected
    );
    assert_eq!(
        printed(txid(&["grep", "--from", "0000000001000", "--to", "0000000002001"]).write_stdin(&*lines)),
        expected
    );
    assert_eq!(
        printed(txid(&["grep", "--from=0000000001000", "--to=0000000002001", "-"]).write_stdin(lines.to_uppercase())),
        expected.to_uppercase()
    );
    assert_eq!(printed(&mut grep(&directory, &["--to", "0000000001000", "a.log"])).lines().count(), 1);
    assert_eq!(printed(&mut grep(&directory, &["--from", "0000000002001", "a.log"])).lines().count(), 1);
    assert_eq!(printed(&mut grep(&directory, &["a.log"])), lines);
}

#[test]
fn since_is_so_long_ago() {
    let now = txid::system_ms();
    let lines = log(&[now - 660_000, now - 540_000, now]);
    for since in ["10m", "10 minutes", "0h10m"] {
        assert_eq!(printed(txid(&["grep", "-c", "--since", since]).write_stdin(&*lines)), "2\n", "{since}");
    }
    assert_eq!(printed(txid(&["grep", "-c", "--since", "10m", "--to", "1m ago"]).write_stdin(&*lines)), "1\n");
    let count = |since: &str| printed(txid(&["grep", "-c", "--since", since]).write_stdin(&*lines));
    assert_eq!(["10m ago", "-10m", "2026", "@0"].map(count), ["2\n", "2\n", "3\n", "3\n"]);
    let said = refusal(&mut txid(&["grep", "--since", "100 years"]));
    assert_eq!(said, "txid: --from '100 years': before 1970-01-01T00:00:00.000Z, the first time that an id can hold\n");
    assert!(refusal(&mut txid(&["grep", "--since", "1m", "--from", "now"])).contains("cannot be used multiple times"));
    assert_eq!(
        refusal(&mut txid(&["grep", "--from", "0000000000005", "--to", "0000000000005"])),
        "txid: the window is empty: --from is 1970-01-01T00:00:00.005Z, and --to is 1970-01-01T00:00:00.005Z\n"
    );
}

#[test]
fn counts_are_printed_for_each_file() {
    let directory = directory(&[("a.log", log(&[1, 2, 3]).as_bytes()), ("b.log", b"nothing\n")]);
    assert_eq!(printed(&mut grep(&directory, &["-c", "a.log"])), "3\n");
    assert_eq!(
        printed(&mut grep(&directory, &["--count", "--from=0000000000002", "a.log", "b.log"])),
        "a.log:2\nb.log:0\n"
    );
    grep(&directory, &["-c", "b.log"]).assert().code(1).stdout("0\n").stderr(NOTHING);
}

#[test]
fn a_line_comes_out_once_and_only_for_a_whole_word() {
    let (one, two) = (id(1), id(2));
    let carries = [
        one.clone(),
        format!("[{one}]"),
        format!("id={one}&x"),
        format!("req-{one}_é"),
        format!("{one} {two} {one}"),
        format!("\0é{two}\r"),
    ];
    let not = [
        format!("x{one}"),
        format!("{one}0"),
        one[1..].to_string(),
        format!("{}1", &one[..19]),
        format!("{}z", &one[..19]),
    ];
    for line in carries {
        assert_eq!(printed(txid(&["grep", "-c", ALL]).write_stdin(format!("\n{line}\n\n"))), "1\n", "{line:?}");
    }
    for line in not {
        txid(&["grep", ALL]).write_stdin(line).assert().code(1).stdout("").stderr(NOTHING);
    }
}

#[test]
fn ends_of_lines_stay_as_they_are_and_the_last_gets_one() {
    let lines = format!("{}\r\nno\r\n{}", id(1), id(2));
    assert_eq!(printed(txid(&["grep", "--lines", ALL]).write_stdin(&*lines)), lines.replace("no\r\n", "") + "\n");
    txid(&["grep", ALL]).write_stdin("").assert().code(1).stdout("").stderr("");
}

#[test]
fn gzip_is_read_with_all_its_members() {
    let (one, two) = (log(&[1, 2]), log(&[3]));
    let members = [gzip(one.as_bytes()), gzip(b""), gzip(two.as_bytes())].concat();
    let directory = directory(&[("a.gz", &members), ("named_otherwise", &members)]);
    let both = format!("{one}{two}");
    assert_eq!(printed(&mut grep(&directory, &["a.gz"])), both);
    assert_eq!(printed(&mut grep(&directory, &["named_otherwise"])), both);
    assert_eq!(printed(txid(&["grep", ALL]).write_stdin(members)), both);
}

/// Padding, as tapes and some programs that append to files leave it.
#[test]
fn zeros_after_a_gzip_are_padding() {
    let (one, two) = (log(&[1, 2]), log(&[3]));
    let padded = |zeros| [gzip(one.as_bytes()), vec![0; zeros], gzip(two.as_bytes()), vec![0; zeros]].concat();
    for zeros in [0, 1, 512, 10_240, 100_000] {
        let directory = directory(&[("padded.gz", &padded(zeros)), ("a.log", two.as_bytes())]);
        assert_eq!(
            printed(&mut grep(&directory, &["-h", "padded.gz", "a.log"])),
            format!("{one}{two}{two}"),
            "{zeros}"
        );
        let sorted = printed(txid(&["sort", "padded.gz", "a.log"]).current_dir(&directory));
        assert_eq!(sorted, format!("{one}{two}{two}"), "{zeros}");
    }
}

#[test]
fn data_after_a_gzip_is_reported_after_its_lines() {
    let (one, two) = (log(&[1, 2]), log(&[3]));
    let followed = [&gzip(one.as_bytes())[..], b"\0\0garbage"].concat();
    let directory = directory(&[("a.gz", &followed), ("a.log", two.as_bytes())]);
    let messages = "txid: a.gz: the data after the compressed part is neither gzip nor padding; skipped\n";
    for command in [&["grep", ALL, "-h"][..], &["sort"]] {
        let mut command = txid(&[command, &["a.gz", "a.log"]].concat());
        command.current_dir(&directory).assert().code(2).stdout(format!("{one}{two}")).stderr(messages);
    }
}

#[test]
fn a_damaged_gzip_is_reported_after_its_lines() {
    let lines = log(&(0..20_000).collect::<Vec<_>>());
    let compressed = gzip(lines.as_bytes());
    let directory = directory(&[("cut.gz", &compressed[..compressed.len() / 2]), ("a.log", log(&[7]).as_bytes())]);
    for command in [&["grep", ALL, "-h"][..], &["sort"]] {
        let mut command = txid(&[command, &["cut.gz", "a.log"]].concat());
        let assert = command.current_dir(&directory).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.starts_with("txid: cut.gz: ") && stderr.lines().count() == 1, "{stderr}");
        let stdout = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(stdout.lines().count() > 1000 && stdout.matches(" GET /7\n").count() == 2);
        assert!(stdout.lines().all(|line| line.contains(" GET /")), "no line is cut");
    }
}

#[test]
fn unreadable_files_are_reported_and_the_others_are_read() {
    let lines = log(&[1]);
    let directory = directory(&[("a.log", lines.as_bytes())]);
    let messages = "txid: missing: No such file or directory (os error 2)\ntxid: .: is a directory\n";
    for command in [&["grep", ALL, "-h"][..], &["sort"]] {
        let mut command = txid(&[command, &["missing", ".", "a.log"]].concat());
        command.current_dir(&directory).assert().code(2).stdout(lines.clone()).stderr(messages);
    }

    let of_a_directory = "txid: (standard input): is a directory\n";
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" grep --from=0 < .", crate::program()]).current_dir(&directory);
    shell.assert().code(2).stdout("").stderr(of_a_directory);
    let unreadable = directory.path().join("unreadable");
    std::os::unix::fs::symlink("unreadable", unreadable).unwrap();
    let loops = "txid: unreadable: Too many levels of symbolic links (os error 40)\n";
    assert_eq!(refusal(&mut grep(&directory, &["unreadable"])), loops);
    // Reading unmapped memory fails when it is read, not when it is opened.
    let said = refusal(&mut txid(&["grep", ALL, "/proc/self/mem"]));
    assert_eq!(said, "txid: /proc/self/mem: Input/output error (os error 5)\n");
    // Nor may root read this directory, without the right to read all.
    let closed = directory.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let command =
        "setpriv --bounding-set=-dac_override,-dac_read_search true 2> /dev/null || exec \"$0\" grep -r --from=0
                   exec setpriv --bounding-set=-dac_override,-dac_read_search \"$0\" grep -r --from=0";
    let mut shell = Command::new("sh");
    shell.args(["-c", command, crate::program()]).current_dir(&directory);
    let message = "txid: closed: Permission denied (os error 13)\n";
    shell.assert().code(2).stdout(format!("a.log:{lines}")).stderr(message);
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// It would find its own output, forever.
#[test]
fn the_output_is_not_searched() {
    let lines = log(&[1, 2]);
    let directory = directory(&[("a.log", lines.as_bytes())]);
    for (command, name) in [
        ("grep --from=0 a.log", "a.log"),
        ("grep --from=0 <a.log", "(standard input)"),
        ("inspect <a.log", "(standard input)"),
    ] {
        let command = format!("exec \"$0\" {command} >>a.log");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command, crate::program()]).current_dir(&directory);
        let messages = format!("txid: {name}: is also the output\n");
        shell.timeout(Duration::from_secs(60)).assert().code(2).stdout("").stderr(messages);
        assert_eq!(std::fs::read_to_string(directory.path().join("a.log")).unwrap(), lines);
    }
}

#[test]
fn a_binary_file_only_tells_that_it_matches() {
    let binary = format!("\0\x01 {}\nmore\n", id(1));
    let directory = directory(&[("a.bin", binary.as_bytes()), ("b.bin", b"\0\n"), ("a.log", log(&[2]).as_bytes())]);
    let messages = "txid: a.bin: binary file matches\n";
    grep(&directory, &["-h", "a.bin", "b.bin", "a.log"])
        .assert()
        .code(0)
        .stdout(printed(&mut grep(&directory, &["a.log"])))
        .stderr(messages);
    assert_eq!(printed(&mut grep(&directory, &["-c", "a.bin"])), "1\n");
    grep(&directory, &["b.bin"]).assert().code(1).stdout("").stderr(NOTHING);
    txid(&["grep", ALL]).write_stdin(vec![0; 1_000_000]).assert().code(1).stdout("").stderr(NOTHING);
}

/// As after a power cut: fewer than one in a hundred of the first 64 KiB.
#[test]
fn text_with_few_zeros_is_text() {
    let lines = log(&(1..=3000).collect::<Vec<_>>());
    for (zeros, at, is_text) in [(1, 0, true), (655, 0, true), (656, 0, false), (4096, 65_536, true)] {
        let input = [&lines.as_bytes()[..at], &vec![0; zeros], &lines.as_bytes()[at..]].concat();
        let output = txid(&["grep", ALL]).write_stdin(&*input).output().unwrap();
        let said = if is_text { "" } else { "txid: (standard input): binary file matches\n" };
        assert_eq!(String::from_utf8_lossy(&output.stderr), said, "{zeros} from {at} on");
        assert_eq!(output.stdout.len(), if is_text { input.len() } else { 0 }, "{zeros} from {at} on");
    }
}

#[test]
fn lines_that_are_too_long_are_reported_and_the_others_are_searched() {
    let long = format!("{} {}\n", id(5), "x".repeat(8 << 20));
    let (one, nine) = (log(&[1]), log(&[9]));
    let input = format!("{one}{long}{nine}{long}");
    let directory = directory(&[("a.gz", &gzip(input.as_bytes())), ("a.log", input.as_bytes())]);
    let (key, _) = with_key(KEY);
    for file in ["a.log", "a.gz"] {
        let messages = [one.len(), one.len() + long.len() + nine.len()]
            .map(|offset| format!("txid: {file}: the line at offset {offset} is longer than 8 MiB; skipped\n"));
        grep(&directory, &[file]).assert().code(2).stdout(format!("{one}{nine}")).stderr(messages.concat());
        let numbered = grep(&directory, &["-n", file]).assert().code(2).get_output().stdout.clone();
        assert_eq!(String::from_utf8(numbered).unwrap(), format!("1:{one}3:{nine}"), "it is counted as a line");
    }
    let near = txid(&["grep", ALL, "-nB1"]).write_stdin(format!("- a\n{long}{nine}")).assert().code(2);
    near.stdout(format!("3:{nine}"));
    let messages = "txid: (standard input): the line at offset 0 is longer than 8 MiB; skipped\n";
    for command in ["inspect", "inspect --time", "hide --key key --name a --digits 6"] {
        let mut command = txid(&command.split(' ').collect::<Vec<_>>());
        command.current_dir(&key).write_stdin(&*long).assert().code(2).stdout("").stderr(messages);
    }
}

#[test]
fn a_line_longer_than_any_block_is_found_whole() {
    let line = format!("{} {} {}\n", "x ".repeat(2_000_000), id(5), "é".repeat(1_000_000));
    let input = format!("{}{line}{}", log(&[1]), log(&[9]));
    let found = printed(txid(&["grep", "--from=0000000000005", "--to=0000000000006"]).write_stdin(input));
    assert!(found == line, "{} bytes", found.len());
}

#[test]
fn every_line_is_seen_wherever_blocks_end() {
    // Lines of growing length move the end of a block through all positions of an id.
    let lines: String = (0..20_000).map(|ms| format!("{} {}\n", "-".repeat(ms as usize % 97), id(ms))).collect();
    assert!(printed(txid(&["grep", ALL]).write_stdin(&*lines)) == lines);
    assert_eq!(
        printed(txid(&["grep", "-c", "--from=0000000000100", "--to=0000000019000"]).write_stdin(lines)),
        "18900\n"
    );
}

/// Compressed files are decompressed beside the search.
#[test]
fn lines_come_out_while_the_input_goes_on() {
    come_out_at_once(|input| input);
    come_out_at_once(|input| GzEncoder::new(input, Compression::fast()));
}

fn come_out_at_once<W: Write>(written: impl FnOnce(ChildStdin) -> W) {
    let mut child = std::process::Command::new(crate::program())
        .args(["grep", ALL])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = written(child.stdin.take().unwrap());
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for ms in 0..3 {
        let line = log(&[ms]);
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
        let mut found = String::new();
        output.read_line(&mut found).unwrap();
        assert_eq!(found, line);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A file that is compressed in a way that is not read here, or in UTF-16, has no lines, and no id is found in it.
#[test]
fn other_files_are_named_and_not_searched() {
    let decompress =
        |program| format!("is compressed with {program}; decompress it first: {program} -dc FILE | txid ...");
    let convert = "is UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE | txid ...".to_string();
    for (head, said) in [
        (&b"\xfd7zXZ\0\0\x04"[..], decompress("xz")),
        (b"BZh91AY&SY\x11", decompress("bzip2")),
        (b"\x04\x22\x4d\x18\x64", decompress("lz4")),
        (b"\xff\xfei\0d\0", convert.clone()),
        (b"\xfe\xff\0i\0d", convert.clone()),
        (b"i\0d\0", convert.clone()),
        (b"\0i\0d", convert),
    ] {
        let directory = directory(&[("a.log", head)]);
        for command in [&["grep", ALL][..], &["sort"]] {
            txid(&[command, &["a.log"]].concat())
                .current_dir(&directory)
                .assert()
                .code(2)
                .stdout("")
                .stderr(format!("txid: a.log: {said}\n"));
            txid(command).write_stdin(head).assert().code(2).stderr(format!("txid: (standard input): {said}\n"));
        }
    }
    let line = format!("BZh9 is no bzip2 {}\n", id(5));
    assert_eq!(printed(txid(&["grep", ALL]).write_stdin(&*line)), line);
}

#[test]
fn another_format_that_is_there_is_named_with_its_command() {
    let uuids = printed(&mut txid(&["new", "--format", "uuid_v7", "-n", "9"]));
    let directory = directory(&[("it's.log", uuids.as_bytes()), ("empty.log", b"nothing\n")]);
    txid(&["grep", "--format", "flake", "--from", "2018-03-01 10:00", "it's.log"])
        .current_dir(&directory)
        .assert()
        .code(1)
        .stdout("")
        .stderr(
            "txid: window from 2018-03-01T10:00:00Z; nothing here has a time or an id with one\n\
             txid: lines without a flake have other ids, passed over: 9 uuid_v7; \
             txid grep --format any --from '2018-03-01 10:00' 'it'\\''s.log'\n",
        );
    // Nothing is there, or ids of the format are, though none in the window.
    txid(&["grep", ALL, "empty.log"]).current_dir(&directory).assert().code(1).stderr(NOTHING);
    let inverted = txid(&["grep", "-v", "--format", "flake", ALL]).write_stdin(&*uuids).assert().success();
    inverted.stdout(uuids.clone()).stderr("");
    // Only the first 256 KiB are looked at.
    for (before, said) in [(256 << 10, 0), ((256 << 10) - uuids.len(), 1)] {
        let late = "x".repeat(before - 1) + "\n" + &uuids;
        let command = txid(&["grep", "-s", "--format", "flake", ALL]).write_stdin(late).assert().code(1);
        let stderr = String::from_utf8(command.get_output().stderr.clone()).unwrap();
        assert_eq!(stderr.lines().count(), said, "other ids after {before} bytes: {stderr}");
    }
    let first = format!("b2fr5nvmbtcu7vl9phl0\n{}{uuids}", "x\n".repeat(100_000));
    txid(&["grep", "-s", "--format", "txid", "--since", "1h"]).write_stdin(first).assert().code(1).stderr("");
    let both = uuids + "b2fr5nvmbtcu7vl9phl0\n";
    txid(&["grep", "-s", "--format", "txid", "--since", "1h"]).write_stdin(both).assert().code(1).stderr("");
    // An xid of today would be a txid of 2028.
    let now_s = txid::system_ms() as u64 / 1000;
    let xid = txid::Txid::wrapping_at((now_s << 10) as i64).to_string() + "\n";
    let found = txid(&["grep", "--since", "1h", "--to", "now"]).write_stdin(&*xid).assert().success();
    found.stdout(xid.clone()).stderr("");
    let audited = txid(&["audit"]).write_stdin(xid).assert().success();
    audited.stderr("txid: lines without a txid have other ids, passed over: 1 xid; txid audit --format any\n");
}

#[test]
fn a_binary_file_is_printed_as_text_on_request() {
    let binary = format!("\0\x01 {}\n", id(1));
    let directory = directory(&[("a.bin", binary.as_bytes())]);
    for text in ["-a", "--text"] {
        assert_eq!(printed(&mut grep(&directory, &[text, "a.bin"])), binary);
    }
}
