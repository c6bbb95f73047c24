//! The options of `txid grep` that are those of grep.

use crate::{ALL, NOON, directory, id, printed, refusal, txid};
use assert_cmd::Command;
use clap::Parser;
use std::process::{Output, Stdio};
use tempfile::TempDir;
use txid_args::Args;

/// As grep, it takes each line for itself.
fn grep(directory: &TempDir, args: &[&str]) -> Command {
    let mut command = crate::grep::grep(directory, args);
    command.arg("--lines");
    command
}

/// Lines 1 to 9; those with an even number have an id.
fn log() -> String {
    (1..10)
        .map(|number| if number % 2 == 0 { format!("{} {number}\n", id(number)) } else { format!("- {number}\n") })
        .collect()
}

/// What GNU grep prints for the same lines, if the pattern is an id at the beginning of a line, its status, and how much it says.
fn as_grep(directory: &TempDir, args: &[&str]) -> (String, Option<i32>, usize) {
    let mut command = std::process::Command::new("grep");
    ended(command.current_dir(directory).args(["-E", "^[0-9a-v]{19}[0g]"]).args(args).output().unwrap())
}

fn ended(output: Output) -> (String, Option<i32>, usize) {
    let said = String::from_utf8(output.stderr).unwrap();
    // That nothing is in the window.
    let said = said.lines().filter(|line| !line.starts_with("txid: window ")).count();
    (String::from_utf8(output.stdout).unwrap(), output.status.code(), said)
}

#[test]
fn the_output_is_that_of_grep() {
    let log = log();
    let cut = format!("{} 2\n- 3", id(2));
    let b = log.replace('\n', " b\n");
    let files = [("a.log", &*log), ("b.log", &b), ("none", "x\n"), ("cut", &cut)];
    let directory = directory(&files.map(|(name, text)| (name, text.as_bytes())));
    std::fs::create_dir_all(directory.path().join("sub/deep")).unwrap();
    std::fs::write(directory.path().join("sub/deep/c.log"), &log).unwrap();
    let options = [
        "", "-c", "-n", "-o", "-no", "-l", "-L", "-q", "-s", "-v", "-vn", "-vc", "-vl", "-vL", "-m2", "-cm2", "-vm1",
        "-H", "-Hn", "-Hc", "-h", "-hH", "-Hh", "-A1", "-nB1", "-C1", "-vnC1", "-A0", "-nA0", "-oA0", "-onA1", "-oC3",
        "-m2 -A1", "-nm1 -A3", "-om1 -A2", "-m1 -C2", "-nB2 -A1", "-lZ", "-cZ", "-HZ", "-nZA1", "-ov", "-lc", "-Lc",
        "-Ll", "-lL", "-qc", "-ql", "-qs", "-sl", "--silent", "--color", "--colour", "-lH", "-ch", "-vlm1", "-vLm1",
    ];
    let files = ["a.log", "a.log none b.log", "missing cut a.log", "none"];
    let each = options.iter().flat_map(|options| files.map(|files| format!("{options} {files}")));
    let more = [
        "-m 0 a.log",
        "-lm0 a.log",
        "-Lm0 a.log",
        "-qm0 a.log",
        "-om0 a.log",
        "-q a.log missing",
        "-s missing",
        "--colour=never a.log",
        "-r --include=*.log sub",
        "-rl --include=*.lo --include=c* sub",
        "-rl --include=*.log a.log none",
        "-r --include=none .",
        "-r sub",
        "-rh sub",
        "-rc sub",
        "-rl sub",
    ];
    for args in each.chain(more.map(str::to_string)) {
        let args: Vec<&str> = args.split_whitespace().collect();
        let found = ended(grep(&directory, &args).output().unwrap());
        assert_eq!(found, as_grep(&directory, &args), "grep {args:?}: output, status and messages");
        // So is that of the same pattern, whatever the times are.
        let mut by_pattern = txid(&["grep", "--lines", "-e", "^[0-9a-v]{19}[0g]"]);
        let found = ended(by_pattern.current_dir(&directory).args(&args).output().unwrap());
        assert_eq!(found, as_grep(&directory, &args), "grep -e {args:?}: output, status and messages");
    }
    let said = refusal(&mut grep(&directory, &["-r", "--include=["]));
    assert_eq!(said, "txid: --include '[': Pattern syntax error near position 0: invalid range pattern\n");
}

/// No process is needed to see what a command line may not say at once.
#[test]
fn options_that_exclude_or_need_each_other_are_told() {
    let is_taken = |words: &str| Args::try_parse_from(format!("txid {words}").split(' ')).is_ok();
    for (command, others) in [
        ("grep --json", "-c -o -l -L -q -v -A1 -B1 -C1"),
        ("grep --histogram=1m", "-c -n -o -l -L -q -v -m1 -A1 -B1 -C1"),
        ("grep --in-flight=now", "--from=0 --to=0 --for=1m --around=0 --late=1m"),
        ("grep --around=0", "--from=0 --to=0 --for=1m"),
        ("inspect --time", "x --json --url=x"),
        ("inspect", "--within=1m"),
        ("range --from=0", "--dialect=mysql"),
        ("range --sql=id", "--json"),
        ("hide --key=a --name=a --uuid", "--digits=6 --letters=6 --check --state=a"),
        ("hide --key=a --name=a --digits=9", "--letters=9"),
        ("-n 5", "inspect range grep sort audit"),
    ] {
        assert!(is_taken(command), "{command}");
        for other in others.split(' ') {
            assert!(!is_taken(&format!("{command} {other}")), "{command} takes {other}");
        }
    }
    // What begins with a dash is a value of these.
    for command in [
        "--at -1m",
        "--format nanoid --alphabet -_",
        "inspect --epoch -1m x",
        "range --from -1m --to -1s",
        "range --around -1m --within -1s",
        "range --from -1m --for -1s",
        "grep --in-flight -1m",
        "grep --from -1m --late -1s",
    ] {
        assert!(is_taken(command), "{command}");
    }
}

/// Groups of lines that do not touch have "--" between them, whichever block of the input they are in.
#[test]
fn lines_around_are_those_of_grep_in_a_long_file_too() {
    let line = |number: i64| match number % 5000 {
        7 | 8 | 11 => format!("{} {number}\n", id(number)),
        _ => format!("- {number} {}\n", "x".repeat(number as usize % 90)),
    };
    let log: String = (0..40_000).map(line).collect();
    let directory = directory(&[("a.log", log.as_bytes())]);
    for args in [&["-n", "-A", "2", "a.log"][..], &["-B", "3", "a.log"], &["-n", "-C", "1", "a.log"], &["-vc", "a.log"]]
    {
        assert!(ended(grep(&directory, args).output().unwrap()) == as_grep(&directory, args), "{args:?}");
    }
}

/// As GNU grep names it, and with its colors around a name, a number and what was found.
#[test]
fn standard_input_and_colors_are_those_of_grep() {
    let log = log();
    for args in [&["-H"][..], &["-c", "-H"], &["-l"], &["-L"], &["-Hn"], &["-c", "-m0"]] {
        let mut command = std::process::Command::new("sh");
        let script = "printf '%s' \"$0\" | grep -E '^[0-9a-v]{19}[0g]' \"$@\"";
        let expected = command.args(["-c", script, &log]).args(args).output().unwrap();
        let found = txid(&[&["grep", "--lines", ALL], args].concat()).write_stdin(&*log).output().unwrap();
        assert_eq!(String::from_utf8(found.stdout), String::from_utf8(expected.stdout), "{args:?}");
        assert_eq!(found.status.code(), expected.status.code(), "{args:?}");
    }
    let colored = printed(txid(&["grep", "--lines", ALL, "--color=always", "-n"]).write_stdin(&*log));
    let plain = printed(txid(&["grep", "--lines", ALL, "--color=never", "-n"]).write_stdin(&*log));
    assert!(colored.contains("\x1b[") && !plain.contains('\x1b'));
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
    let colors = printed(txid(&["grep", "--lines", ALL, "--color=always", "-Hnm1"]).write_stdin(&*log));
    let expected =
        format!("\x1b[35m(standard input)\x1b[0m:\x1b[32m2\x1b[0m:\x1b[1m\x1b[31m{}\x1b[0m 2\n", &log[4..24]);
    assert_eq!(colors, expected, "the colors of a name, of a number and of an id");
    let name = "\x1b[35m(standard input)\x1b[0m";
    for (options, expected) in [
        ("-Hc", format!("{name}:4\n")),
        ("-l", format!("{name}\n")),
        ("-lZ", format!("{name}\0")),
        ("-om1", format!("\x1b[1m\x1b[31m{}\x1b[0m\n", &log[4..24])),
        ("-Hnm1 -A1", format!("{expected}{name}-\x1b[32m3\x1b[0m-- 3\n")),
    ] {
        let found =
            printed(txid(&["grep", "--lines", ALL, "--color=always"]).args(options.split(' ')).write_stdin(&*log));
        assert_eq!(found, expected, "{options}");
    }
    for refused in ["-P", "-E", "-f", "--exclude=a", "-z", "-b", "-T"] {
        let said = refusal(&mut txid(&["grep", "--lines", ALL, refused, "a.log"]));
        assert!(said.starts_with("txid: unexpected argument"), "{said}");
    }
}

#[test]
fn lines_and_histograms_are_objects_on_request() {
    let log = log();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let lines = printed(&mut grep(&directory, &["--json", "-Hn", "-m1", "a.log"]));
    let found: serde_json::Value = serde_json::from_str(&lines).unwrap();
    let one = log.lines().nth(1).unwrap().strip_suffix(" 2").unwrap();
    assert_eq!(
        found,
        serde_json::json!({
            "file": "a.log", "line": 2, "text": format!("{one} 2"),
            "ids": [{ "id": one, "format": "txid", "time": "1970-01-01T00:00:00.002Z" }],
        })
    );
    let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    let both = printed(txid(&["grep", "--lines", ALL, "--json"]).write_stdin(format!("{one} {uuid}\r\n")));
    let found: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(found["text"], format!("{one} {uuid}"), "without the end of the line");
    let second = serde_json::json!({ "id": uuid, "format": "uuid_v7", "time": "2022-02-22T19:22:22.000Z" });
    assert_eq!(found["ids"][1], second, "each id has its own format and time");
    let lines = printed(&mut grep(&directory, &["--json", "-n", "a.log"]));
    let numbers = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["line"].as_u64());
    assert!(numbers.eq([2, 4, 6, 8].map(Some)), "{lines}");
    assert_eq!(printed(&mut grep(&directory, &["--json", "-m2", "a.log"])).lines().count(), 2);
    let spans = printed(&mut grep(&directory, &["--json", "-H", "--histogram", "1m", "a.log", "a.log"]));
    assert_eq!(spans, "{\"file\":\"a.log\",\"from\":\"1970-01-01T00:00:00.000Z\",\"lines\":4}\n".repeat(2));
    let spans = printed(&mut grep(&directory, &["--json", "--histogram", "1m", "a.log", "a.log"]));
    assert_eq!(spans, "{\"from\":\"1970-01-01T00:00:00.000Z\",\"lines\":8}\n");
    let spans = printed(&mut grep(&directory, &["-H", "--histogram", "1m", "a.log"]));
    assert_eq!(spans, "a.log\t1970-01-01T00:00:00.000Z\t4\n");
}

#[test]
fn recursion_begins_here_if_nothing_is_named() {
    let directory = directory(&[("a.log", log().as_bytes())]);
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    std::fs::write(directory.path().join("sub/b.log"), log()).unwrap();
    std::os::unix::fs::symlink("../a.log", directory.path().join("sub/link")).unwrap();
    assert_eq!(printed(&mut grep(&directory, &["-rl"])), "a.log\nsub/b.log\n");
    assert_eq!(printed(&mut grep(&directory, &["-rc"])), "a.log:4\nsub/b.log:4\n");
    // In the order of their names, and not of the directory.
    let names: Vec<_> = ('b'..='z').map(|name| format!("sub/{name}.log")).collect();
    names.iter().rev().for_each(|name| std::fs::write(directory.path().join(name), log()).unwrap());
    assert_eq!(printed(&mut grep(&directory, &["-rl", "sub"])), names.join("\n") + "\n");
}

#[test]
fn around_an_id_are_its_neighbors() {
    let at = |ms: i64| NOON + ms;
    let log: String = [-6000, -4000, 0, 4000, 6000].map(|ms| format!("{} {ms}\n", id(at(ms)))).concat();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let numbers = |args: &[&str]| {
        let lines = printed(&mut grep(&directory, args));
        lines.lines().map(|line| line.split(' ').nth(1).unwrap().to_string()).collect::<Vec<_>>().join(",")
    };
    let one = id(at(0));
    assert_eq!(numbers(&["--around", &one, "a.log"]), "-4000,0,4000");
    assert_eq!(numbers(&["--around", &one, "--within", "6s", "a.log"]), "-6000,-4000,0,4000,6000");
    assert_eq!(numbers(&["--from", &one, "--to", "+5s", "a.log"]), "0,4000");
    assert_eq!(numbers(&["--to", &one, "--for", "5s", "a.log"]), "-4000");
}

#[test]
fn a_histogram_counts_lines_by_their_time() {
    let at = |seconds: i64| NOON + seconds * 1000;
    let log: String = [0, 5, 59, 60, 180, 181].map(|seconds| format!("{} x\nno id\n", id(at(seconds)))).concat();
    let histogram = |args: &[&str]| printed(txid(&[&["grep", "--histogram"], args].concat()).write_stdin(&*log));
    assert_eq!(
        histogram(&["1m"]),
        "2026-11-24T12:00:00.000Z\t3\n2026-11-24T12:01:00.000Z\t1\n2026-11-24T12:02:00.000Z\t0\n\
         2026-11-24T12:03:00.000Z\t2\n"
    );
    assert_eq!(histogram(&["1h", "--from", "2026-11-24T12:01:00Z"]), "2026-11-24T12:00:00.000Z\t3\n");
    let of_1965 = "be17f400-82f5-11ac-8001-020000000001\n";
    assert_eq!(
        printed(txid(&["grep", "--histogram", "1h", "--format", "uuid_v1"]).write_stdin(of_1965)),
        "1965-01-01T00:00:00.000Z\t1\n"
    );
    txid(&["grep", "--histogram", "1m"]).write_stdin("nothing\n").assert().code(1).stdout("");
    let directory = directory(&[("a", id(at(0)).as_bytes()), ("b", id(at(120)).as_bytes())]);
    let by_file = printed(&mut grep(&directory, &["-H", "--histogram", "1m", "a", "b"]));
    assert_eq!(by_file, "a\t2026-11-24T12:00:00.000Z\t1\nb\t2026-11-24T12:02:00.000Z\t1\n");
    for (span, why) in [
        ("0s", "not a span of time; write it as 10m, 1h30m or '2 days'"),
        ("1 month", "a month or a year is not always as long; give it in days or less"),
    ] {
        let said = refusal(&mut txid(&["grep", "--histogram", span]));
        assert_eq!(said, format!("txid: --histogram '{span}': {why}\n"));
    }
    let apart = |seconds| {
        printed(txid(&["grep", "--histogram", "1s"]).write_stdin(format!("{}\n{}\n", id(at(0)), id(at(seconds)))))
    };
    assert_eq!(
        [apart(1000), apart(1001)].map(|text| text.lines().count()),
        [1001, 2],
        "999 spans without a line are shown, and 1,000 are not"
    );
    let many: String = (0..100_001).map(|second| id(at(second)) + "\n").collect();
    let all_but_one = printed(txid(&["grep", "--histogram", "1s"]).write_stdin(&many[many.find('\n').unwrap() + 1..]));
    assert_eq!(all_but_one.lines().count(), 100_000);
    let said = refusal(txid(&["grep", "--histogram", "1s"]).write_stdin(many));
    let why = "the lines are of more than 100000 spans; give a longer one, or a window";
    assert_eq!(said, format!("txid: --histogram: {why}\n"));
}

/// Files of zstd are read, in any number of frames, and damage is reported.
#[test]
fn zstd_is_read_as_gzip_is() {
    let log = log().repeat(5000);
    let pack = |text: &str| {
        let mut zstd = std::process::Command::new("zstd");
        let child = zstd.args(["-q", "-c", "--check"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("zstd is installed");
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        child.wait_with_output().unwrap().stdout
    };
    let packed = pack(&log);
    // A frame that says how long it is, and is to be skipped.
    let skipped = [&[0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let twice = [&packed[..], &skipped, &pack("no id\n"), &packed].concat();
    let mut damaged = packed.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let files = [
        ("one.zst", &packed[..]),
        ("two", &twice),
        ("damaged.zst", &damaged),
        ("cut.zst", &packed[..packed.len() / 2]),
    ];
    let directory = directory(&files);
    assert_eq!(printed(&mut grep(&directory, &["-c", "one.zst"])), "20000\n");
    assert_eq!(printed(&mut grep(&directory, &["-c", "two"])), "40000\n");
    let first = [&skipped[..], &packed].concat();
    assert_eq!(printed(txid(&["grep", "-c", ALL]).write_stdin(first)), "20000\n", "a frame to be skipped comes first");
    assert_eq!(printed(txid(&["grep", "-c", ALL]).write_stdin(packed.clone())), "20000\n");
    for (file, why) in [("damaged.zst", "checksum"), ("cut.zst", "")] {
        let assert = grep(&directory, &["-c", file]).assert().code(2);
        let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(
            said.starts_with(&format!("txid: {file}: ")) && said.contains(why) && said.lines().count() == 1,
            "{said}"
        );
    }
    let trailing = [&packed[..], b"garbage"].concat();
    let said = txid(&["grep", "-c", ALL]).write_stdin(trailing).assert().code(2);
    said.stderr("txid: (standard input): Unknown frame descriptor\n");
}

#[test]
fn help_is_long_where_h_is_taken() {
    let help = printed(&mut txid(&["grep", "--help"]));
    assert!(help.contains("-h, --no-filename") && help.contains("tail -f access.log | txid grep --from now"));
}
