//! What would mislead somebody at night: mixed logs, hosts that die, pipes, damaged files.

use crate::{ALL, NOON, directory, gzip, id, printed, refusal, snowflake, txid};
use serde_json::Value;
use std::path::Path;

fn audit(directory: &Path, args: &[&str]) -> (Value, String, Option<i32>) {
    let output = txid(&["audit", "--json"]).current_dir(directory).args(args).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (report, String::from_utf8(output.stderr).unwrap(), output.status.code())
}

/// Half of the lines have ids of another format, and a third kind are numbers.
#[test]
fn every_line_of_a_window_is_found_whichever_format_its_id_has() {
    let line = |n: i64| match n % 3 {
        0 => format!("{} {n}\n", id(NOON + n)),
        1 => format!("{} {n}\n", txid::uuid::wrapping_v7_at(NOON + n)),
        _ => format!("{n} {}\n", snowflake(NOON + n, 5, 0)),
    };
    let lines: Vec<_> = (0..3000).map(line).collect();
    let line = |n: i64| lines[n as usize].clone();
    let log = lines.concat();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let window = ["grep", "--lines", "--from", "2026-11-24T12:00:01Z", "--for", "1s", "a.log"];
    let output = txid(&window).current_dir(&directory).output().unwrap();
    let expected: String = (1000..2000).filter(|n| n % 3 < 2).map(line).collect();
    assert!(output.stdout == expected.as_bytes());
    let said = String::from_utf8(output.stderr).unwrap();
    let command = "txid grep --format any --layout snowflake --lines --from 2026-11-24T12:00:01Z --for 1s a.log";
    assert!(
        said.starts_with("txid: 333 numbers passed over may be ids, in the layout snowflake from 2026-11-24T12:00:01")
    );
    assert!(said.ends_with(&format!("; {command}\n")) && said.lines().count() == 1, "{said}");
    let all: Vec<_> = command.split(' ').skip(1).collect();
    assert!(printed(txid(&all).current_dir(&directory)) == (1000..2000).map(line).collect::<String>());

    // Sorted by their times, but for the numbers, which are said.
    let (even, odd): (Vec<_>, Vec<_>) = (0..3000).filter(|n| n % 3 < 2).partition(|n| n % 2 == 0);
    let [even, odd] = [even, odd].map(|numbers: Vec<i64>| numbers.into_iter().map(line).collect::<String>());
    let sorted = printed(txid(&["sort"]).write_stdin(odd + &even));
    assert!(sorted == (0..3000).filter(|n| n % 3 < 2).map(line).collect::<String>());
    let output = txid(&["sort", "a.log"]).current_dir(&directory).output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("txid: 1000 numbers passed over may be ids, in the layout")
    );

    let (report, said, status) = audit(directory.path(), &["a.log"]);
    assert_eq!((&report["ids"], status), (&1000.into(), Some(0)));
    let others =
        "txid: lines without a txid have other ids, passed over: 1000 uuid_v7; txid audit --format any --json a.log\n";
    assert!(said.starts_with(others), "{said}");
    let (report, said, _) = audit(directory.path(), &["--format", "any", "a.log"]);
    assert_eq!(report["formats"], serde_json::json!({ "txid": 1000, "uuid_v7": 1000 }));
    assert!(
        said.starts_with("txid: 1000 numbers passed over may be ids, in the layout snowflake from 2026-11-24T12:00")
    );
    assert!(said.ends_with("txid audit --format any --layout snowflake --json a.log\n"), "{said}");
    let (report, said, _) = audit(directory.path(), &["--format", "any", "--layout", "snowflake", "a.log"]);
    assert_eq!((&report["ids"], said.as_str()), (&3000.into(), ""));
}

/// Hashes in hexadecimal digits and base64, hexadecimal digits of all lengths, and words: none is of these ten minutes. A line
/// with an object in its path still counts by its own id, and what is indented stays where it is.
#[test]
fn what_is_no_id_is_none() {
    let mut random = 1_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 32
    };
    let mut word = |alphabet: &[u8], length: usize| -> String {
        (0..length).map(|_| char::from(alphabet[next() as usize % alphabet.len()])).collect()
    };
    let hex = b"0123456789abcdef";
    let base64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut log = String::new();
    for n in 0..1_000_000_usize {
        let one = match n % 5 {
            0 => word(hex, [32, 40, 64, 8][n / 5 % 4]),
            1 => word(hex, 1 + n / 5 % 40),
            2 => word(base64, [22, 27, 43][n / 5 % 3]) + "=",
            3 => word(&hex[10..], 8) + "-" + &word(b"abcdefghijklmnopqrstuvwxyz", 3 + n / 5 % 28),
            _ => word(b"0123456789", 1 + n / 5 % 24),
        };
        log += &format!("GET /{one} 200\n");
    }
    let directory = directory(&[("a.log", log.as_bytes())]);
    let window = ["grep", "-c", "--around", "2026-11-24T12:00:00Z", "--within", "5m", "a.log"];
    let output = txid(&window).current_dir(&directory).output().unwrap();
    assert_eq!((output.stdout, output.status.code()), (b"0\n".to_vec(), Some(1)));

    let object = txid::uuid::wrapping_v7_at(NOON - 9_000_000);
    let lines = [
        format!("GET /orders/{object} {}\n\tat {object}\n", id(NOON + 1)),
        format!("GET / {}\n  of {object}\n", id(NOON + 2)),
    ];
    let reversed = [&*lines[1], &*lines[0]].concat();
    assert_eq!(printed(txid(&["sort"]).write_stdin(reversed)), lines.concat());
}

#[test]
fn hosts_with_numbers_in_their_names_are_several() {
    let line = |n: i64| format!("{}\n", snowflake(NOON + n, 9, 0));
    let (a, b) = (line(0) + &line(2), line(1));
    let directory = directory(&[("10.0.0.1", a.as_bytes()), ("10.0.0.2", b.as_bytes())]);
    let (report, ..) = audit(directory.path(), &["--format", "snowflake", "10.0.0.1", "10.0.0.2"]);
    assert_eq!((&report["hosts"], &report["shared_nodes"]["count"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(report["shared_nodes"]["shown"][0]["hosts"], serde_json::json!(["10.0.0.1", "10.0.0.2"]));
    // Rotated files are one, and the report says so.
    let text = |n: i64| format!("{}\n", id(NOON + n));
    let rotated = crate::directory(&[("a.log", text(2).as_bytes()), ("a.log.1", text(1).as_bytes())]);
    let text = printed(txid(&["audit", "a.log", "a.log.1"]).current_dir(&rotated));
    assert!(text.contains("\n  a.log (a.log, a.log.1): 2 ids, "), "{text}");
    let text = txid(&["audit", "a.log", "a.log"]).current_dir(&rotated).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\n  a.log: 2 ids, "), "a file that is named twice is one: {text}");
}

#[test]
fn a_host_that_dies_or_comes_late_has_a_gap() {
    let log = |seconds: std::ops::Range<i64>| seconds.map(|n| id(NOON + n * 1000) + "\n").collect::<String>();
    let (a, b, c) = (log(0..600), log(0..100), log(500..600));
    let files = [("a.log", a.as_bytes()), ("b.log", b.as_bytes()), ("c.log", c.as_bytes())];
    let directory = directory(&files);
    let (report, ..) = audit(directory.path(), &["a.log", "b.log", "c.log"]);
    let gaps = report["gaps"]["shown"].as_array().unwrap().iter();
    let gaps: Vec<_> =
        gaps.map(|gap| (gap["host"].as_str(), gap["is"].as_str().unwrap(), gap["ms"].as_i64())).collect();
    let expected = [(Some("b.log"), "ends early", Some(500_000)), (Some("c.log"), "begins late", Some(500_000))];
    assert_eq!(gaps, expected);
}

/// An old id, and one of a year to come.
#[test]
fn ids_that_are_far_from_all_others_make_no_gap_and_no_average() {
    let log: String = (0..1000).map(|n| id(NOON + n * 100) + "\n").collect();
    // As an xid, it is of a time to come as well.
    let ahead_ms = txid::system_ms() + 86_400_000 * 900;
    let far = format!("{log}{} old\n{} new\n", id(NOON - 86_400_000 * 900), id(ahead_ms));
    let directory = directory(&[("a.log", far.as_bytes())]);
    let (report, ..) = audit(directory.path(), &["a.log"]);
    assert_eq!(report["gaps"]["count"], 0, "{report}");
    assert_eq!(report["rates"][0]["average"], 10.0);
    assert_eq!((&report["ids"], &report["outliers"]["count"]), (&1002.into(), &2.into()));
    assert_eq!(report["outliers"]["shown"][1]["line"], 1002);
    let text = printed(txid(&["audit", "a.log"]).current_dir(&directory));
    let last = far.lines().last().unwrap();
    let ahead = jiff::Timestamp::from_millisecond(ahead_ms).unwrap().strftime("%Y-%m-%dT%H:%M:%S.%3fZ");
    let line = format!("  a.log, {ahead}: a.log:1002: {last}\n");
    assert!(text.contains(&format!("future        1\n{line}")), "{text}");
    let begin =
        "outliers      2 far from all others, in no gap and no rate\n  a.log, 2024-06-07T12:00:00.000Z: a.log:1001: ";
    assert!(text.contains(begin) && text.contains(&format!(" old\n{line}rates\n")), "{text}");
    assert_eq!(report["future"]["count"], 1);
    // As of a job that runs each hour.
    let hourly = format!("{log}{}\n", id(NOON + 99_900 + 3_600_000));
    let (report, ..) = audit(crate::directory(&[("a.log", hourly.as_bytes())]).path(), &["a.log"]);
    assert_eq!(report["outliers"]["count"], 0, "{report}");
}

/// What is said of so many ids of one file that another has, too.
fn copies(count: usize, of: &str, are_in: &str) -> String {
    format!(
        "txid: {count} ids of {of} are in {are_in}, too: leave out one if it is a copy; if both tell of the same requests, \
         say --per file\n"
    )
}

/// The gateway and the application log the ids of the same node.
#[test]
fn an_id_in_two_files_makes_no_shared_node() {
    let line = |n: i64| format!("{}\n", snowflake(NOON + n * 1000, 17, 0));
    let some: String = (0..50).filter(|n| n % 3 > 0).map(line).collect();
    let all: String = (0..50).map(line).collect();
    let directory = directory(&[("app.log", some.as_bytes()), ("gateway.log", all.as_bytes())]);
    for files in [["app.log", "gateway.log"], ["gateway.log", "app.log"]] {
        let (report, said, _) = audit(directory.path(), &["--format", "snowflake", files[0], files[1]]);
        assert_eq!(
            (&report["shared_nodes"]["count"], &report["repeats"]["count"]),
            (&0.into(), &33.into()),
            "{report}"
        );
        assert_eq!(said, copies(33, files[1], files[0]));
        let once = ["--format", "snowflake", "--per", "file", files[0], files[1]];
        let (report, said, _) = audit(directory.path(), &once);
        assert_eq!((&report["shared_nodes"]["count"], &report["repeats"]["count"], &*said), (&0.into(), &0.into(), ""));
    }
}

/// Ten ids, and more than half of all that repeat.
#[test]
fn few_ids_in_two_files_are_no_copy() {
    let ids: Vec<_> = (0..40).map(|n| id(NOON + n)).collect();
    for (both, twice, is_said) in [(9, 0, false), (10, 0, true), (10, 9, true), (10, 10, false)] {
        let twice = &ids[20..20 + twice];
        let (a, b) = (ids[..both].join("\n"), [&ids[..both], twice, twice].concat().join("\n"));
        let directory = directory(&[("a.log", a.as_bytes()), ("b.log", b.as_bytes())]);
        let (_, said, _) = audit(directory.path(), &["a.log", "b.log"]);
        assert_eq!(said, if is_said { copies(both, "b.log", "a.log") } else { String::new() });
    }
}

/// It cannot be opened a second time to show its lines.
#[test]
fn a_pipe_is_read_once() {
    let one = id(NOON);
    let lines = format!("{one} a\n{one} b\n");
    let directory = directory(&[("a.log", lines.as_bytes()), ("b.gz", &gzip(lines.as_bytes()))]);
    for command in ["mkfifo pipe && (cat a.log > pipe &) && \"$0\" audit pipe", "zcat b.gz | \"$0\" audit /dev/stdin"] {
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-c", command, crate::program()]).current_dir(&directory);
        let output = shell.timeout(std::time::Duration::from_secs(60)).assert().code(1);
        let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert!(text.contains(&format!(":1: {one} a\n")) && !text.contains("null"), "{command}: {text}");
    }
}

/// Whatever happened to the file meanwhile: to a small one, and to another while it is there.
#[test]
fn lines_are_shown_as_they_were_read() {
    let again = format!("{} small\n", id(NOON)).repeat(2);
    let large = again.replace("small", "large") + &"x\n".repeat(600_000);
    for (log, change, shown) in [
        (&again, "mv a.log b.log; echo other > a.log", "small"),
        (&again, ": > a.log", "small"),
        (&large, "mv a.log b.log; echo other > a.log", "large"),
        (&large, "echo other > a.log", "the file has this line no more"),
    ] {
        let directory = directory(&[("a.log", log.as_bytes())]);
        // The pipe can be written to when all before it was read.
        let script = format!("mkfifo pipe; (exec 3> pipe; {change}) & \"$0\" audit a.log pipe");
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-c", &script, crate::program()]).current_dir(&directory);
        let output = shell.timeout(std::time::Duration::from_secs(60)).assert().code(1);
        let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert_eq!(text.matches(&format!("{shown}\n")).count(), 2, "{change}: {text}");
    }
}

/// Random trace ids of W3C, of which a few look as if they had a time.
#[test]
fn a_format_by_chance_is_left_out() {
    let made = |name: &str, count: &str| printed(&mut txid(&["new", "--format", name, "-n", count]));
    let random = made("otel_trace_id", "50000");
    let directory = directory(&[("a.log", (random.clone() + &made("txid", "100")).as_bytes())]);
    let (report, said, _) = audit(directory.path(), &["--format", "any", "a.log"]);
    assert_eq!(
        (&report["ids"], &report["formats"], &report["gaps"]["count"]),
        (&100.into(), &serde_json::json!({ "txid": 100 }), &0.into())
    );
    assert!(
        said.ends_with(" ids of trace_id are no more than chance makes: left out without --format trace_id\n"),
        "{said}"
    );
    // Some are.
    std::fs::write(directory.path().join("a.log"), random + &made("trace_id", "100")).unwrap();
    let (report, ..) = audit(directory.path(), &["--format", "any", "a.log"]);
    assert!(report["formats"]["trace_id"].as_u64() >= Some(100), "{report}");
}

#[test]
fn the_sequence_of_flakes_runs_on() {
    let flakes = printed(&mut txid(&["new", "--format", "flake", "-n", "70000"]));
    let output = txid(&["audit", "--format", "flake", "--json"]).write_stdin(flakes).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["ids"], &report["sequences"]["count"]), (&70_000.into(), &0.into()));
}

#[test]
fn a_damaged_zstd_gives_all_lines_that_zstd_gives() {
    let log: String = (0..100_000).map(|n| format!("{} GET /{n}\n", id(NOON + n))).collect();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let script =
        "zstd -q a.log && head -c $(($(wc -c < a.log.zst) / 2)) a.log.zst > cut.zst && zstd -dcq cut.zst | grep -c GET";
    let output = std::process::Command::new("sh").args(["-c", script]).current_dir(&directory).output().unwrap();
    let lines: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let assert = txid(&["grep", "-c", ALL, "cut.zst"]).current_dir(&directory).assert().code(2);
    let count: u64 = String::from_utf8_lossy(&assert.get_output().stdout).trim().parse().unwrap();
    // The last may be cut.
    assert!(lines > 10_000 && (lines - 1..=lines).contains(&count), "{count} of {lines}");
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(said.starts_with("txid: cut.zst: "), "{said}");
}

#[test]
fn a_search_without_a_window_says_what_to_type() {
    let one = id(txid::system_ms() - 1000);
    let directory = directory(&[("a.log", format!("{one}\n{}\n", id(1)).as_bytes())]);
    for args in [&[&one[..], "a.log"][..], &["--since", "1h", &one, "a.log"], &["-r", &one, "a.log"]] {
        let said = refusal(txid(&["grep"]).args(args).current_dir(&directory));
        let why = format!(
            "txid: {one}: no file has this name; that is an id: txid grep --id {one} a.log finds it, and txid grep \
             --around {one} a.log what was near it\n"
        );
        assert_eq!(said, why);
    }
    let said = refusal(txid(&["grep", "a.log"]).current_dir(&directory));
    let options =
        "--from, --to, --around or --in-flight, as in --from 10m or --around ID; or a text with -e, or an id with --id";
    assert_eq!(said, format!("txid: which time? Say {options}\n"));
}

/// What began long before and still ran, and not what had ended.
#[test]
fn what_was_in_flight_is_told_by_the_time_of_its_line() {
    let at = |text: &str| printed(&mut txid(&["--at", text])).trim().to_string();
    let ids = ["2026-11-24T11:00:00Z", "2026-11-24T12:03:59Z", "2026-11-24T12:03:59Z", "2026-11-24T12:04:01Z"].map(at);
    let lines = [
        format!("{} [24/Nov/2026:12:30:00 +0000] long\n", ids[0]),
        format!("[24/Nov/2026:14:03:59 +0200] {} ended\n", ids[1]),
        format!("{{\"time\":\"2026-11-24T12:04:00.250Z\",\"id\":\"{}\"}}\n", ids[2]),
        format!(
            "{{\"startTimeUnixNano\":\"1795521839000000000\",\"endTimeUnixNano\":\"1795521840250000000\",\"id\":\"{}\"}}\n",
            ids[2]
        ),
        format!("[24/Nov/2026:12:04:02 +0000] {} later\n", ids[3]),
        format!("[24/Nov/2026:12:04:03 +0000] /orders/{} {} later\n", txid::uuid::wrapping_v7_at(NOON), ids[3]),
        // The last word of this UNIQUE_ID of 2018 has the characters of a txid.
        "Ws@-WAoAAAcAAAAqAAEAAAAg [24/Nov/2026:12:30:00 +0000] long\n".to_string(),
        // Without a txid, the first id counts.
        format!(
            "[24/Nov/2026:12:30:00 +0000] {} of {}\n",
            txid::uuid::wrapping_v7_at(NOON),
            txid::uuid::wrapping_v7_at(NOON + 900_000)
        ),
        format!("{} untimed\n", ids[0]),
    ];
    let found = printed(txid(&["grep", "--in-flight", "2026-11-24T12:04:00.100Z"]).write_stdin(lines.concat()));
    assert_eq!(found, [&*lines[0], &lines[2], &lines[3], &lines[6], &lines[7]].concat());
    // Begun before that millisecond, and written in or after it.
    for (began, written, count) in [(-1, 0, 1), (0, 1, 0), (-1, -1, 0), (-2, 1, 1)] {
        let written = printed(&mut txid(&["inspect", "--json", &id(NOON + written)]));
        let line = format!("{} {}\n", written.split('"').nth(11).unwrap(), id(NOON + began));
        let found = txid(&["grep", "-c", "--in-flight", "2026-11-24T12:00:00Z"]).write_stdin(line).output().unwrap();
        let [found, said] = [found.stdout, found.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!((found, &*said), (format!("{count}\n"), ""), "begun {began}, written {written}");
    }
    let without =
        txid(&["grep", "--in-flight", "2026-11-24T12:04:00Z"]).write_stdin(format!("{} x\n", ids[0])).assert().code(1);
    without.stderr(
        "txid: --in-flight: no line has a time of its own, such as 24/Nov/2026:12:04:00 +0000 or 2026-11-24T12:04:00Z; \
         --around finds what began near a time\n",
    );
    let said = refusal(&mut txid(&["grep", "--in-flight", "x"]));
    assert!(said.starts_with("txid: --in-flight 'x': not a time; "), "{said}");
}

#[test]
fn names_are_read_as_what_they_mean() {
    for name in ["uuidv7", "uuid7", "UUIDv7", "uuid_v7", "uuid-v7"] {
        assert_eq!(printed(&mut txid(&["new", "--format", name])).len(), 37, "{name}");
        let found =
            printed(txid(&["grep", ALL, "-c", "--format", name]).write_stdin("017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n"));
        assert_eq!(found, "1\n");
    }
    let versions = "C232AB00-9414-11EC-B3C8-9F6BDECED846\n1EC9414C-232A-6B00-B3C8-9F6BDECED846\n017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n";
    assert_eq!(printed(txid(&["grep", ALL, "-c", "--format", "uuid"]).write_stdin(versions)), "3\n");
    assert_eq!(printed(&mut txid(&["new", "--format", "uuid"])).as_bytes()[14], b'4');
    assert_eq!(printed(&mut txid(&["new", "--format", "nanoid(length=10)"])).len(), 11);
    assert_eq!(printed(&mut txid(&["new", "--format", "nanoid( length=10,,alphabet=01)"])).len(), 11);
    for (name, why) in [
        ("uuidv3", "no such format; did you mean uuid_v7?"),
        ("snowflak", "no such format; did you mean snowflake?"),
        ("bogus", "no such format; --help lists them"),
        ("nanoid(10)", "'10' is no option, such as length=10"),
        ("objectid", "ids of this format can be decoded, but not generated"),
    ] {
        let said = refusal(&mut txid(&["new", "--format", name]));
        assert_eq!(said, format!("txid: invalid value '{name}' for '--format <NAME>': {why}\n"));
    }
}

/// By another program, which knows the tables of docs/formats.md.
#[test]
fn ids_of_every_format_are_found_by_their_times() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/any_format.py");
    let output = std::process::Command::new("python3").arg(program).arg(crate::program()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("formats are found, sorted and counted\n"), "{}", String::from_utf8_lossy(&output.stderr));
}
