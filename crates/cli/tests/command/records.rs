//! Records of any log: by their own times, with the lines below them, with a text in them.

use crate::{NOON, directory, gzip, id, printed, refusal, txid};
use assert_cmd::Command;
use std::path::Path;
use txid_args::Args;

/// The log of a service whose lines have a time and a trace id, but for the first, and the frames of its errors.
const LOG: &str = "\tat com.acme.Old(Old.java:1)
2026-11-28T02:09:59.999Z INFO 4bf92f3577b34da6a3ce929d0e0e4737 early
2026-11-28T02:10:00.000Z ERROR 4bf92f3577b34da6a3ce929d0e0e4737 failed
\tat com.acme.Order(Order.java:41)
Caused by: java.io.IOException: Timed out

2026-11-28T02:12:00.000Z INFO dd.trace_id=11803532876627986231
2026-11-28T02:14:59.999Z ERROR 4BF92F35-77B3-4DA6-A3CE-929D0E0E4737 b3=a3ce929d0e0e4737-00f067aa0ba902b7
\tat com.acme.Pay(Pay.java:7)
2026-11-28T02:15:00.000Z INFO late
";

const SPAN: &str = "{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4737\",\"startTimeUnixNano\":\"1795831800000000000\"}\n";

fn in_log(log: &str, args: &[&str]) -> Command {
    let mut command = txid(&["grep"]);
    command.args(args).write_stdin(log);
    command
}

/// What is printed, and said.
fn found(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

const WINDOW: [&str; 2] = ["--from=2026-11-28T02:10:00Z", "--to=2026-11-28T02:15:00Z"];

/// The numbers of the lines that are printed, and how many records that are.
#[test]
fn a_window_of_a_log_without_ids_has_its_records() {
    for (args, lines, count) in [
        (&[][..], "3 4 5 6 7 8 9", "3"),
        (&["--lines"], "3 7 8", "3"),
        (&["--by=line"], "3 4 5 6 7 8 9", "3"),
        (&["--by=id"], "", "0"),
        (&["-v"], "1 2 10", "3"),
        (&["-e", "Timed"], "3 4 5 6", "1"),
        (&["-i", "--regexp", "timed", "-e", "PAY"], "3 4 5 6 8 9", "2"),
        (&["-F", "-e", "Order.java:41)"], "3 4 5 6", "1"),
        (&["-v", "-e", "ERROR"], "7", "1"),
        (&["-w", "-e", "Pa"], "", "0"),
        (&["-w", "-e", "Pay"], "8 9", "1"),
        (&["-x", "-e", "Caused by: .*"], "3 4 5 6", "1"),
        (&["-x", "-e", "Caused"], "", "0"),
        (&["--lines", "-e", "Timed"], "", "0"),
        (&["-m1"], "3 4 5 6", "1"),
        (&["-e", "failed\\n\\tat"], "3 4 5 6", "1"),
    ] {
        let args = [&WINDOW[..], args].concat();
        let (text, _) = found(in_log(LOG, &args).arg("-n"));
        let numbers: Vec<_> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(numbers.join(" "), lines, "{args:?}");
        assert_eq!(found(in_log(LOG, &args).arg("-c")).0, format!("{count}\n"), "{args:?}");
        // As they are, also from blocks that end within a record.
        let plain = found(&mut in_log(LOG, &args)).0;
        let expected: String = text.lines().map(|line| line.split_once(':').unwrap().1.to_string() + "\n").collect();
        assert_eq!(plain, expected, "{args:?}");
    }
    let both = [LOG, &format!("{} x\n\tat y\n", id(NOON + 308_000_000))].concat();
    let (text, said) = found(&mut in_log(&both, &["--from=2026-11-28", "-c"]));
    assert_eq!((&*text, &*said), ("6\n", "txid: 5 by their own time, 1 by an id\n"));
    let spans = found(&mut in_log(&both, &["--histogram=5m", WINDOW[0]])).0;
    assert!(spans.starts_with("2026-11-28T02:10:00.000Z\t3\n2026-11-28T02:15:00.000Z\t1\n"), "{spans}");
    let json = found(in_log(LOG, &WINDOW).args(["--json", "-e", "Timed"])).0;
    let one: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(one["time"], "2026-11-28T02:10:00.000Z");
    assert!(one["text"].as_str().unwrap().contains("failed\n\tat com.acme.Order(Order.java:41)\nCaused"), "{json}");
    let colored = found(in_log(LOG, &WINDOW).args(["--color=always", "-e", "Timed out"])).0;
    assert!(colored.contains("IOException: \x1b[1m\x1b[31mTimed out\x1b[0m\n"), "{colored}");
}

/// An indented line belongs to the one before, whatever is in it, unless it begins with its time.
#[test]
fn indented_lines_stay_with_the_line_before() {
    let log = "2026-11-28 02:10:00 LOG: x\n\tWHERE t > '2026-01-01 00:00:00'\n  2026-11-28 02:16:00 y\n";
    assert_eq!(found(&mut in_log(log, &WINDOW)).0.lines().count(), 2);
    let object = "{\n  \"time\": \"2026-11-28T02:10:00Z\",\n  \"id\": \"x\"\n}\n";
    assert_eq!(found(&mut in_log(object, &WINDOW)).0.lines().count(), 3);
    let reversed = "2026-11-28 02:16:00 y\n\tat y\n2026-11-28 02:10:00 x\n\tWHERE t > '2026-01-01 00:00:00'\n";
    let sorted = printed(txid(&["sort"]).write_stdin(reversed));
    assert!(sorted.starts_with("2026-11-28 02:10:00 x\n\tWHERE") && sorted.ends_with("y\n\tat y\n"), "{sorted}");
}

/// A record over several blocks, of which only the last lines have the text.
#[test]
fn a_text_is_found_at_the_end_of_a_long_record() {
    let frames = "\tat com.acme.Frame(Frame.java:1)\n".repeat(30_000);
    let record = format!("2026-11-28T02:10:00Z x\n{frames}needle\n");
    let log = format!("{LOG}{record}{}", LOG.split_once('\n').unwrap().1);
    for args in [&["-e", "needle"][..], &["-e", "needle", WINDOW[0], WINDOW[1]], &["-e", "needle|\\n\\n\\n"]] {
        assert!(found(&mut in_log(&log, args)).0 == record, "{args:?}");
    }
    let rest = found(&mut in_log(&log, &["-v", "-e", "needle", "-c"])).0;
    assert_eq!(rest, "11\n", "a line before all records is one");
    assert_eq!(found(&mut in_log("a\nb\nc\n", &["-e", "b"])).0, "b\n", "so is each of a text without times");
}

#[test]
fn a_trace_is_found_in_each_spelling() {
    for id in [
        "4bf92f3577b34da6a3ce929d0e0e4737",
        "4bf92f35-77b3-4da6-a3ce-929d0e0e4737",
        "1-4bf92f35-77b34da6a3ce929d0e0e4737",
        "00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-01",
        "4BF92F3577B34DA6A3CE929D0E0E4737",
        "a3ce929d0e0e4737",
        "11803532876627986231",
    ] {
        assert_eq!(found(in_log(LOG, &["--id", id]).arg("-c")).0, "4\n", "{id}");
        for line in ["X-Amzn-Trace-Id: Root=1-4bf92f35-77b34da6a3ce929d0e0e4737\n", SPAN] {
            assert_eq!(found(&mut in_log(line, &["--id", id])).0, line, "{id}");
        }
    }
    for (id, log) in
        [("d21lobmf444gq3hnigp0", "x D21LOBMF444GQ3HNIGP0 y"), ("7", "uber-trace-id: 0000000000000007:1:0:1")]
    {
        assert_eq!(found(&mut in_log(log, &["--id", id])).0, format!("{log}\n"));
    }
    assert_eq!(found(&mut in_log("18 77 7a\n", &["--id", "7"])).0, "");
}

/// The window and the times of the files, which would be of another zone, say.
#[test]
fn where_nothing_matches_the_window_is_said() {
    let said = |args: &[&str]| found(&mut in_log(LOG, args)).1;
    let window = ["--from=2026-11-28T01:10:00Z", "--for=5m"];
    let times = "times here run from 02:09:59.999Z to 02:15:00Z\n";
    assert_eq!(said(&window), format!("txid: window 01:10:00Z to 01:15:00Z; {times}"));
    let other = said(&["--to=2026-11-27T01:10:00Z"]);
    assert!(
        other.starts_with("txid: window to 2026-11-27T01:10:00Z; times here run from 2026-11-28T02:09:59"),
        "{other}"
    );
    for quiet in ["-q", "-s"] {
        assert_eq!(said(&[&window[..], &[quiet]].concat()), "");
    }
}

#[test]
fn a_window_over_midnight_is_the_last_night() {
    let json = txid(&["range", "--json", "--from", "23:50", "--to", "00:10"]).output().unwrap();
    let bounds: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let [from, to] = ["from", "to"].map(|end| bounds[end].as_str().unwrap().parse::<jiff::Timestamp>().unwrap());
    assert_eq!(to.as_second() - from.as_second(), 1200);
    assert!((0..=86_400).contains(&(txid::system_ms() / 1000 - from.as_second())), "{bounds}");
    let said = String::from_utf8(json.stderr).unwrap();
    let [from, to] = ["from", "to"].map(|end| bounds[end].as_str().unwrap());
    assert_eq!(said, format!("txid: --from is before midnight: the window is {from} to {to}\n"));
}

/// The commands that errors and sentences name, as a shell would take them.
fn advice(said: &str) -> Vec<String> {
    let is_command = |rest: &&str| ["txid grep", "txid sort", "txid audit"].iter().any(|name| rest.starts_with(name));
    let starts = said.match_indices("txid ").map(|(at, _)| &said[at..]).filter(is_command);
    let ends = [" finds it", " what was near it", "\n", ", and "];
    starts.map(|rest| rest[..ends.iter().filter_map(|end| rest.find(end)).min().unwrap()].to_string()).collect()
}

/// Each is typed.
#[test]
fn what_errors_say_to_type_works() {
    let uuid = printed(&mut txid(&["new", "--format", "uuid_v7", "--at", "2026-11-28T02:12:00Z"]));
    let numbers = format!("{}\n{}\n", crate::snowflake(NOON, 1, 0), id(NOON));
    let one = id(NOON);
    let ids = format!("{one}\n{uuid}");
    let files = [("a.log", LOG.as_bytes()), ("ids.log", ids.as_bytes()), ("numbers.log", numbers.as_bytes())];
    let directory = directory(&files);
    for (command, expected) in [
        (format!("grep {one} ids.log"), 2),
        ("grep 4bf92f3577b34da6a3ce929d0e0e4737 a.log".to_string(), 1),
        ("grep --format flake --from 2026 ids.log".to_string(), 1),
        ("grep --from 2026 numbers.log".to_string(), 1),
        ("sort numbers.log".to_string(), 1),
        ("audit ids.log".to_string(), 1),
    ] {
        let said = found(txid(&command.split(' ').collect::<Vec<_>>()).current_dir(&directory)).1;
        let advice = advice(&said);
        assert_eq!(advice.len(), expected, "{command}: {said}");
        for typed in advice {
            let output = in_shell(directory.path(), &typed);
            assert_eq!(output.status.code(), Some(0), "{command}: {typed}: {output:?}");
            assert!(!output.stdout.is_empty(), "{typed}");
        }
    }
    // Options that errors name, and a time as each of them is written.
    let why = refusal(txid(&["grep", "a.log"]).current_dir(&directory));
    for options in ["--from 10m", "--to now", &format!("--around {one}"), "--in-flight now", "-e x", "--id x"] {
        assert!(why.contains(options.split(' ').next().unwrap()), "{why}");
        let words = format!("txid grep {options} a.log");
        assert!(in_shell(directory.path(), &words).status.code() < Some(2), "{words}");
    }
    let why = refusal(&mut txid(&["--at", "x"]));
    let times = why.split_once("write it as ").unwrap().1.trim_end().replace(" or ", ", ");
    for time in times.split(", ") {
        let words = format!("txid range --to 2109 --from {time}");
        assert_eq!(in_shell(directory.path(), &words).status.code(), Some(0), "{words}");
    }
    let why = refusal(&mut txid(&["grep", "--form", "any"]));
    assert!(why.contains("'--format'"), "{why}");
    assert!(<Args as clap::Parser>::try_parse_from(["txid", "grep", "--until", "now"]).is_ok());
    assert!(refusal(&mut txid(&["grep", "-e", "x("])).contains("-F looks for the text"));
    assert_eq!(found(&mut in_log("x(y\n", &["-F", "-e", "x("])).0, "x(y\n");
}

fn in_shell(directory: &Path, words: &str) -> std::process::Output {
    let script = words.replacen("txid", "\"$0\"", 1);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script, crate::program()]).current_dir(directory).env("TZ", "UTC").output().unwrap()
}

/// Numbers of users, as a chat has them, beside lines of today.
#[test]
fn a_layout_is_offered_only_near_the_times_of_the_lines() {
    let log = "2026-11-28T02:10:00Z user 440000000000000000\n2026-11-28T02:11:00Z user 441000000000000001\n";
    for command in [&["sort"][..], &["grep", "--from=2015"], &["audit"], &["audit", "--format=any"]] {
        let said = found(txid(command).write_stdin(log)).1;
        assert!(!said.contains("layout"), "{command:?}: {said}");
    }
    let orders: String = (0..9).map(|n| format!("{}\n{}\n", id(NOON + n), crate::snowflake(NOON + n, 1, n))).collect();
    for command in [&["sort"][..], &["grep", "-c", "--from=2015"], &["audit", "--format=any"]] {
        let said = found(txid(command).write_stdin(&*orders)).1;
        let layouts = ", in the layout snowflake from 2026-11-24T12:00:00.000Z to 2026-11-24T12:00:00.008Z; txid ";
        assert!(said.contains(layouts), "{command:?}: {said}");
    }
}

/// Python reads the same logs: 25 of them here, and any number by an argument.
#[test]
fn another_make_finds_the_same_records() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/line_times.py");
    let output = std::process::Command::new("python3").arg(program).args([crate::program(), "25", "8"]).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("logs are the same\n"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// A year that is missing is the last one before the file was changed, also of a file that is compressed.
#[test]
fn the_year_is_that_of_the_change_of_the_file() {
    let log = "Dec 31 23:59:59 web-1 x\nJan  1 00:00:01 web-1 x\n";
    let directory = directory(&[("a.log.gz", &gzip(log.as_bytes()))]);
    let file = std::fs::File::options().write(true).open(directory.path().join("a.log.gz")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_704_067_202)).unwrap();
    let window = ["grep", "-c", "--from=2023-12-31T23:59:59Z", "--to=2024-01-01T00:00:02Z", "a.log.gz"];
    let (text, _) = found(txid(&window).current_dir(&directory));
    assert_eq!(text, "2\n");
}
