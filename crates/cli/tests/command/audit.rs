//! `txid audit`, on planted faults of each kind.

use crate::{NOON, directory, gzip, id, printed, refusal, snowflake, txid};
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// A line for each of these milliseconds after noon.
fn log(times: impl IntoIterator<Item = i64>) -> String {
    times.into_iter().map(|ms| format!("{} GET /{ms}\n", id(NOON + ms))).collect()
}

fn audit(directory: &Path, args: &[&str]) -> Command {
    let mut command = txid(&["audit", "--json"]);
    command.current_dir(directory).args(args);
    command
}

fn report(command: &mut Command, status: i32) -> Value {
    let assert = command.assert().code(status).stderr("");
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

/// How many there are of each kind.
fn counts(report: &Value) -> [i64; 6] {
    ["repeats", "steps_back", "shared_nodes", "gaps", "future", "sequences"]
        .map(|kind| report[kind]["count"].as_i64().unwrap())
}

#[test]
fn a_sound_log_has_nothing_to_report() {
    let directory = directory(&[("a.log", log((0..1000).map(|n| n * 50)).as_bytes())]);
    let report = report(&mut audit(directory.path(), &["a.log"]), 0);
    assert_eq!(counts(&report), [0; 6], "{report}");
    assert_eq!((&report["ids"], &report["lines"]), (&1000.into(), &1000.into()));
    let all = &report["rates"][0];
    assert_eq!((&all["host"], &all["average"], &all["most"]), (&Value::Null, &20.0.into(), &20.into()));
    let [first, last] = ["2026-11-24T12:00:00.000Z", "2026-11-24T12:00:49.950Z"].map(Value::from);
    // The first of equal seconds is the one with most.
    assert_eq!((&all["from"], &all["most_at"], &all["to"]), (&first, &first, &last));
    assert_eq!(report["rates"][1]["host"], "a.log");
}

#[test]
fn an_id_that_stands_twice_is_reported_with_its_lines() {
    let lines = log((0..50).map(|n| n * 10));
    let twice = lines.lines().nth(7).unwrap();
    let (a, b) = (format!("{lines}{twice} again\n"), format!("no id\n{}\n", twice.to_uppercase()));
    let directory = directory(&[("a.log", a.as_bytes()), ("b.log.gz", &gzip(b.as_bytes()))]);
    let found = report(&mut audit(directory.path(), &["a.log", "b.log.gz"]), 1);
    assert_eq!(counts(&found)[0], 1);
    let repeat = &found["repeats"]["shown"][0];
    assert_eq!((&repeat["lines"], &repeat["time"]), (&3.into(), &"2026-11-24T12:00:00.070Z".into()));
    let places: Vec<_> = repeat["places"].as_array().unwrap().iter().collect();
    let places: Vec<_> = places
        .iter()
        .map(|it| (it["file"].as_str().unwrap(), it["line"].as_i64().unwrap(), it["text"].as_str().unwrap()))
        .collect();
    let (again, upper) = (format!("{twice} again"), twice.to_uppercase());
    assert_eq!(places, [("a.log", 8, twice), ("a.log", 51, &again), ("b.log.gz", 2, &upper)]);
    // For people, and of what comes in a pipe.
    let assert = txid(&["audit"]).write_stdin(a.clone()).assert().code(1);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(text.contains("repeats       1\n  txid of 2026-11-24T12:00:00.070Z, on 2 lines\n"), "{text}");
    assert!(text.contains(&format!("    (standard input):8: {twice}\n    (standard input):51: {again}\n")), "{text}");
    // The first places are shown of an id that is on every line.
    let found = report(audit(directory.path(), &[]).write_stdin(format!("{twice}\n").repeat(50)), 1);
    let repeat = &found["repeats"]["shown"][0];
    assert_eq!((&repeat["lines"], repeat["places"].as_array().unwrap().len()), (&50.into(), 4));
    for (length, more) in [(240, ""), (241, "...")] {
        let line = format!("{twice:x<length$}");
        let found = report(audit(directory.path(), &[]).write_stdin(format!("{line}\r\n{line}")), 1);
        for place in 0..2 {
            assert_eq!(found["repeats"]["shown"][0]["places"][place]["text"], format!("{}{more}", &line[..240]));
        }
    }
    // Sorted in a file, and shown as far as is wanted.
    let many = a.repeat(40);
    for (args, shown) in [(&["--show", "2"][..], 2), (&["--show", "0"], 0), (&[], 10)] {
        let found = report(audit(directory.path(), args).write_stdin(&*many), 1);
        let repeats = found["repeats"]["shown"].as_array().unwrap();
        assert_eq!((counts(&found)[0], repeats.len()), (50, shown), "{args:?}");
        let places = repeats.iter().flat_map(|it| it["places"].as_array().unwrap());
        assert!(places.into_iter().all(|place| place["text"].is_string()), "{args:?}: {found}");
    }
    // A line that is too long is counted as one.
    let long = format!("{}\n{twice} b\n{}\n{twice} d\n", "x".repeat(9 << 20), "x".repeat(9 << 20));
    std::fs::write(directory.path().join("long"), &long).unwrap();
    for (file, name) in [("long", "long"), ("-", "(standard input)")] {
        let assert = audit(directory.path(), &[file]).write_stdin(&*long).assert().code(2);
        let found: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        let places = found["repeats"]["shown"][0]["places"].as_array().unwrap().iter();
        let places: Vec<_> = places.map(|it| (it["line"].as_i64(), it["text"].as_str().unwrap().len())).collect();
        assert_eq!(
            (places, &found["lines"]),
            (vec![(Some(2), twice.len() + 2), (Some(4), twice.len() + 2)], &4.into())
        );
        let second = long.len() / 2;
        let said =
            [0, second].map(|at| format!("txid: {name}: the line at offset {at} is longer than 8 MiB; skipped\n"));
        assert.stderr(said.concat());
    }
}

#[test]
fn an_id_may_stand_on_several_lines_of_one_request() {
    let one = id(NOON);
    let access = format!("{one} \"GET /a HTTP/1.1\" 200\n");
    let error = format!("[error] {one} request: \"GET /a HTTP/1.1\", host: \"x\"\n{one} of no request\n");
    let other = format!("{one} \"GET /b HTTP/1.1\" 200\n");
    let directory = directory(&[("a", access.as_bytes()), ("e", error.as_bytes()), ("o", other.as_bytes())]);
    let warning = "txid: --per request: 1 lines with an id have no request, and repeat nothing\n";
    audit(directory.path(), &["--per", "request", "a", "e"]).assert().code(0).stderr(warning);
    assert_eq!(counts(&report(&mut audit(directory.path(), &["a", "e"]), 1))[0], 1);
    let found = report(&mut audit(directory.path(), &["--per", "request", "a", "o"]), 1);
    assert_eq!(found["repeats"]["shown"][0]["places"].as_array().unwrap().len(), 2);
    for key in ["2", "status"] {
        let lines = format!("{one} 7 {{\"status\":\"x\"}}\n").repeat(2) + &format!("{one} 8 status=y\n");
        report(audit(directory.path(), &["--per", key]).write_stdin(lines), 1);
        let lines = format!("{one} 7 {{\"status\":\"x\"}}\n{one} 7 status=x\n");
        report(audit(directory.path(), &["--per", key]).write_stdin(lines), 0);
    }
    // A line has the first of two keys that is there.
    let both = |path: &str| {
        format!("{access}{access}{{\"id\":\"{one}\",\"path\":\"/a\"}}\n{{\"id\":\"{one}\",\"path\":\"{path}\"}}\n")
    };
    report(audit(directory.path(), &["--per", "request,path"]).write_stdin(both("/a")), 0);
    report(audit(directory.path(), &["--per", "request", "--per", "path"]).write_stdin(both("/b")), 1);
    for (option, value, why) in [
        ("--per", "0", "not a name, nor a column from 1"),
        ("--host", "", "not a name, nor a column from 1"),
        ("--gap", "1", "not a span of time; write it as 10m, 1h30m or '2 days'"),
        ("--memory", "39M", "at least 40M are needed"),
        ("--memory", "x", "not a size; write it as 256M or 1G"),
        ("--memory", "9999999999999G", "not a size; write it as 256M or 1G"),
    ] {
        let said = refusal(&mut txid(&["audit", &format!("{option}={value}")]));
        assert_eq!(said, format!("txid: {option} '{value}': {why}\n"));
    }
}

#[test]
fn a_clock_that_went_back_is_reported_with_its_host() {
    let back = log((0..50).map(|n| n * 1000)) + &log((0..20).map(|n| 20_000 + n * 1000)) + &log([60_000]);
    let late = log([0, 10_000, 20_000, 5_000, 30_000, 40_000]);
    let directory = directory(&[("back.log", back.as_bytes()), ("late.log", late.as_bytes())]);
    let found = report(&mut audit(directory.path(), &["back.log", "late.log"]), 0);
    assert_eq!(counts(&found)[1], 1, "{found}");
    let expected = serde_json::json!({
        "host": "back.log", "file": "back.log", "line": 51, "from": "2026-11-24T12:00:46.000Z",
        "to": "2026-11-24T12:00:20.000Z", "by_ms": 24_000, "ids": 20,
    });
    assert_eq!(found["steps_back"]["shown"][0], expected);
    let text = printed(txid(&["audit", "back.log", "late.log"]).current_dir(&directory));
    let line =
        "\n  back.log, back.log:51: 24 s, from 2026-11-24T12:00:46.000Z to 2026-11-24T12:00:20.000Z; 20 older ids\n";
    assert!(text.contains(line) && text.contains("; if a file has lines of several hosts, say --host KEY\n"), "{text}");
    // Files of one host are read one after the other, whichever was written first.
    let files = [("a.log", log((100..140).map(|n| n * 1000))), ("a.log.1", log((0..40).map(|n| n * 1000)))];
    let rotated = self::directory(&files.each_ref().map(|(name, text)| (*name, text.as_bytes())));
    assert_eq!(counts(&report(&mut audit(rotated.path(), &["a.log", "a.log.1"]), 0))[1], 0, "a file begins anew");
    // Two hosts in one file are two clocks, also if one follows the other.
    let of = |host: &str, ms: i64| (0..20).map(|n| format!("{} host={host}\n", id(ms + n * 100))).collect::<String>();
    let two = of("a", NOON) + &of("b", NOON - 60_000);
    assert_eq!(counts(&report(audit(directory.path(), &["--host", "host"]).write_stdin(two.clone()), 0))[1], 0);
    // And so are two formats, one after the other.
    let uuids: String = (0..20).map(|n| format!("{}\n", txid::uuid::wrapping_v7_at(NOON - 60_000 + n * 100))).collect();
    let two_formats = log((0..20).map(|n| n * 100)) + &uuids;
    assert_eq!(counts(&report(audit(directory.path(), &["--format", "any"]).write_stdin(two_formats), 0))[1], 0);
    // Where a host is named, and where a KEY is, nothing is said of it.
    let named = txid(&["audit", "--host", "GET", "--per", "GET", "back.log"]).current_dir(&directory).output().unwrap();
    let named = String::from_utf8(named.stdout).unwrap();
    let next = "  next: txid grep --around 2026-11-24T12:00:20.000Z back.log\n";
    assert!(named.contains(next) && !named.contains("say --"), "{named}");
    // One id that is ahead is no clock.
    let one = "x=1\n".to_string() + &log([90_000]) + &two;
    assert_eq!(counts(&report(audit(directory.path(), &["--host", "host"]).write_stdin(one), 0))[1], 0);
}

#[test]
fn a_node_that_two_hosts_use_at_once_is_reported() {
    let line = |host: &str, n: i64, node: i64| format!("{} host={host}\n", snowflake(NOON + n * 1000, node, 0));
    let both: String = (0..30).map(|n| line(if n % 3 == 0 { "pod-a" } else { "pod-b" }, n, 17)).collect();
    // Node 5 goes from one to the other, and node 6 goes back after five minutes.
    let handed: String = (0..30).map(|n| line(if n < 15 { "pod-a" } else { "pod-b" }, n, 5)).collect();
    let back: String = [("pod-a", 0), ("pod-b", 100), ("pod-a", 200)].map(|(host, n)| line(host, n, 6)).concat();
    let directory = directory(&[]);
    let args = ["--format", "snowflake", "--host", "host", "--gap", "1h"];
    let found = report(audit(directory.path(), &args).write_stdin([both, handed, back].concat()), 0);
    assert_eq!(counts(&found)[2], 1, "{found}");
    let shared = &found["shared_nodes"]["shown"][0];
    assert_eq!((&shared["node"], &shared["format"]), (&"17".into(), &"snowflake".into()));
    assert_eq!(shared["hosts"], serde_json::json!(["pod-a", "pod-b"]));
    assert_eq!(shared["from"], "2026-11-24T12:00:00.000Z");
    // A file is a host, but the log before it was rotated is not another one.
    let file = |n: i64| format!("{}\n", snowflake(NOON + n, 9, 0));
    for (name, count) in [("a.log.1", 0), ("b.log", 1)] {
        let other = self::directory(&[("a.log", (file(0) + &file(2)).as_bytes()), (name, file(1).as_bytes())]);
        let found = report(&mut audit(other.path(), &["--format", "snowflake", "a.log", name]), 0);
        assert_eq!(counts(&found)[2], count, "{name}: {found}");
    }
}

#[test]
fn gaps_of_all_and_of_one_host_are_reported() {
    let a = log((0..10).map(|n| n * 1000).chain((300..310).map(|n| n * 1000)));
    let b = log((0..610).filter(|n| *n < 320 || *n > 500).map(|n| n * 1000 + 7));
    let directory = directory(&[("a.log", a.as_bytes()), ("b.log", b.as_bytes())]);
    let found = report(&mut audit(directory.path(), &["a.log", "b.log"]), 0);
    let gaps = |found: &Value| {
        let shown = found["gaps"]["shown"].as_array().unwrap();
        shown
            .iter()
            .map(|gap| (gap["host"].as_str().map(str::to_string), gap["ms"].as_i64().unwrap()))
            .collect::<Vec<_>>()
    };
    let of = |host: &str, ms| (Some(host.to_string()), ms);
    assert_eq!(gaps(&found), [of("a.log", 300_007), of("a.log", 291_000), (None, 182_000)]);
    assert_eq!(found["gaps"]["shown"][0]["is"], "ends early");
    assert_eq!(gaps(&report(&mut audit(directory.path(), &["--gap", "4m", "a.log", "b.log"]), 0)).len(), 2);
}

#[test]
fn ids_of_times_to_come_are_reported() {
    let now = txid::system_ms();
    let uuid = |ms: i64| format!("{} x\n", txid::uuid::wrapping_v7_at(ms));
    let lines = [uuid(now), uuid(now + 30_000), uuid(now + 3_600_000), uuid(now + 7_200_000)].concat();
    let directory = directory(&[("a.log", lines.as_bytes())]);
    let found = report(&mut audit(directory.path(), &["--format", "uuid_v7", "--gap", "1d", "a.log"]), 0);
    assert_eq!(counts(&found), [0, 0, 0, 0, 2, 0], "{found}");
    assert_eq!(
        (&found["future"]["shown"][0]["line"], &found["future"]["shown"][0]["file"]),
        (&3.into(), &"a.log".into())
    );
}

#[test]
fn a_sequence_near_its_end_is_reported() {
    let of = |ms: i64, node: i64, most: i64| {
        (0..most).map(|n| format!("{}\n", snowflake(NOON + ms, node, n))).collect::<String>()
    };
    let directory = directory(&[]);
    let lines = [of(0, 1, 3686), of(1, 1, 3687), of(2, 2, 4096)].concat();
    let found = report(audit(directory.path(), &["--format", "snowflake"]).write_stdin(lines), 0);
    assert_eq!(counts(&found), [0, 0, 0, 0, 0, 2], "{found}");
    let [first, second] = [0, 1].map(|n| &found["sequences"]["shown"][n]);
    assert_eq!((&first["node"], &first["sequence"], &first["of"]), (&"2".into(), &4095.into(), &4096.into()));
    assert_eq!((&second["node"], &second["time"]), (&"1".into(), &"2026-11-24T12:00:00.001Z".into()));
}

#[test]
fn any_mixture_is_audited_in_one_pass() {
    let twice = txid::uuid::wrapping_v7_at(NOON);
    // The first id of each format in a line counts.
    let [one, other, two] = [0, 2, 1].map(|ms| id(NOON + ms));
    let lines = format!("{one} {twice} {other}\n{two} {twice}\n01ARZ3NDEKTSV4RRFFQ69G5FAV x\n");
    let directory = directory(&[]);
    let found = report(audit(directory.path(), &["--format", "any"]).write_stdin(&*lines), 1);
    assert_eq!((&found["ids"], counts(&found)[0]), (&5.into(), 1), "{found}");
    assert_eq!(found["repeats"]["shown"][0]["format"], "uuid_v7");
    assert_eq!(report(audit(directory.path(), &["--format", "txid,ulid"]).write_stdin(&*lines), 0)["ids"], 3);
    let text = txid(&["audit", "--format", "any"]).write_stdin(lines).output().unwrap().stdout;
    assert!(text.starts_with(b"5 ids on 3 lines: 2 txid, 2 uuid_v7, 1 ulid\n"));
    // The same bits in another format are no repeat, and the same id in other letters is one.
    let bits = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n01FWHE4YDGFK1SHH6W1G60EECF\n";
    let found = report(audit(directory.path(), &["--format", "any"]).write_stdin(bits), 0);
    assert_eq!((&found["ids"], counts(&found)[0]), (&2.into(), 0));
    let letters = "C232AB00-9414-11EC-B3C8-9F6BDECED846\nc232ab00-9414-11ec-b3c8-9f6bdeced846\n";
    assert_eq!(counts(&report(audit(directory.path(), &["--format", "uuid_v1"]).write_stdin(letters), 1))[0], 1);
    // At most four formats are audited at once.
    let ids = ["txid", "uuid_v7", "ulid", "ksuid", "flake"].map(|name| printed(&mut txid(&["new", "--format", name])));
    let found = report(audit(directory.path(), &["--format", "any"]).write_stdin(ids.concat().replace('\n', " ")), 0);
    assert_eq!(
        (&found["ids"], &found["rates"][0]["average"]),
        (&4.into(), &4.0.into()),
        "in less than a second: {found}"
    );
}

const FOR_PEOPLE: &str = "\
3721 ids on 3721 lines
shared nodes  1
  node 17 of snowflake: a.log and b.log, from 2026-11-24T12:00:00.000Z to 2026-11-24T12:00:29.000Z; 28 turns
  next: txid grep --around 2026-11-24T12:00:00.000Z --format snowflake a.log b.log
repeats       1
  snowflake of 2026-11-24T12:00:00.000Z, on 2 lines
    a.log:1: 2125197739422715904
    a.log:16: 2125197739422715904 again
  next: txid grep --around 2026-11-24T12:00:00.000Z --format snowflake a.log b.log; if these are lines of one request, say --per KEY
steps back    0
future        0
sequences     1 near their end
  node 3 of snowflake: 3689 of 4096 at 2026-11-24T12:01:30.000Z
gaps          2 longer than 1m
  a.log: 62 s, ends early, from 2026-11-24T12:00:28.000Z to 2026-11-24T12:01:30.000Z
  and 1 more
  next: txid grep --around 2026-11-24T12:00:28.000Z a.log b.log
rates
  all hosts: 3721 ids, 41.3 a second, at most 3690 in the second of 2026-11-24T12:01:30.000Z, from 2026-11-24T12:00:00.000Z to 2026-11-24T12:01:30.000Z
  b.log: 3705 ids, 41.6 a second, at most 3690 in the second of 2026-11-24T12:01:30.000Z, from 2026-11-24T12:00:01.000Z to 2026-11-24T12:01:30.000Z
  and 1 more host
";

/// What `--json` says of these lines.
const FOR_PROGRAMS: &str = r#"{
    "lines": 3721, "ids": 3721, "formats": {"snowflake": 3721}, "hosts": 2,
    "shared_nodes": {"count": 1, "shown": [{"format": "snowflake", "node": "17", "hosts": ["a.log", "b.log"],
        "from": "2026-11-24T12:00:00.000Z", "to": "2026-11-24T12:00:29.000Z", "turns": 28}]},
    "repeats": {"count": 1, "shown": [{"format": "snowflake", "time": "2026-11-24T12:00:00.000Z", "lines": 2, "places": [
        {"file": "a.log", "line": 1, "text": "2125197739422715904"},
        {"file": "a.log", "line": 16, "text": "2125197739422715904 again"}]}]},
    "steps_back": {"count": 0, "shown": []},
    "future": {"count": 0, "shown": []},
    "sequences": {"count": 1, "shown": [{"format": "snowflake", "node": "3", "time": "2026-11-24T12:01:30.000Z",
        "sequence": 3689, "of": 4096}]},
    "layout_ends": null,
    "gaps": {"count": 2, "shown": [{"host": "a.log", "from": "2026-11-24T12:00:28.000Z", "to": "2026-11-24T12:01:30.000Z",
        "ms": 62000, "is": "ends early"}]},
    "outliers": {"count": 0, "shown": []},
    "rates": [
        {"host": null, "ids": 3721, "from": "2026-11-24T12:00:00.000Z", "to": "2026-11-24T12:01:30.000Z", "average": 41.3,
        "most": 3690, "most_at": "2026-11-24T12:01:30.000Z"},
        {"host": "b.log", "files": ["b.log"], "ids": 3705, "from": "2026-11-24T12:00:01.000Z",
        "to": "2026-11-24T12:01:30.000Z", "average": 41.6, "most": 3690, "most_at": "2026-11-24T12:01:30.000Z"}]
}"#;

#[test]
fn people_get_sentences() {
    let of = |seconds: std::ops::Range<i64>| seconds.step_by(2).map(|n| snowflake(NOON + n * 1000, 17, 0));
    let lines = |ids: &mut dyn Iterator<Item = i64>| ids.map(|id| format!("{id}\n")).collect::<String>();
    let a = lines(&mut of(0..30)) + &format!("{} again\n", snowflake(NOON, 17, 0));
    let b = lines(&mut of(1..30).chain((0..3690).map(|sequence| snowflake(NOON + 90_000, 3, sequence))));
    let directory = directory(&[("a.log", a.as_bytes()), ("b.log", b.as_bytes())]);
    let audit = ["audit", "--format", "snowflake", "--show", "1", "a.log", "b.log"];
    txid(&audit).current_dir(&directory).assert().code(1).stdout(FOR_PEOPLE).stderr("");
    let json = txid(&audit).arg("--json").current_dir(&directory).assert().code(1).stderr("");
    let found: Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!(found, serde_json::from_str::<Value>(FOR_PROGRAMS).unwrap());
    let with_a_layout = txid(&["audit", "--layout", "discord", "a.log"]).current_dir(&directory).assert().code(1);
    let text = String::from_utf8_lossy(&with_a_layout.get_output().stdout).into_owned();
    assert!(
        text.contains("\n  next: txid grep --around 2031-01-21T10:17:05.343Z --layout discord a.log; if"),
        "{text}"
    );
}

/// Only if there are numbers of it.
#[test]
fn a_layout_that_ends_is_reported() {
    let directory = directory(&[]);
    let end =
        "the layout ended at 2024-11-20T13:24:15.999Z, and there are no ids after that: choose another one in time";
    let number = "1160090501362225152\n";
    let found = report(audit(directory.path(), &["--layout", "uid"]).write_stdin(number), 0);
    assert_eq!(found["layout_ends"], end);
    let text = printed(txid(&["audit", "--layout", "uid"]).write_stdin(number));
    assert!(text.contains(&format!("\ngaps          0 longer than 1m\nlayout        {end}\nrates\n")), "{text}");
    let args = ["--layout", "uid", "--format", "txid,snowflake"];
    assert_eq!(report(audit(directory.path(), &args).write_stdin(id(NOON)), 0)["layout_ends"], Value::Null);
}

#[test]
fn more_nodes_than_are_told_apart_are_said() {
    let said = "txid: too many nodes to tell them all apart: only the first were looked at for hosts that share one\n";
    // Half of the memory that ids and nodes have.
    for (nodes, said) in [((4 << 20) / 250, said), ((4 << 20) / 250 - 1, "")] {
        let lines: String = (0..nodes).map(|node| format!("c232ab00-9414-11ec-b3c8-{node:012x}\n")).collect();
        let args = ["audit", "--format", "uuid_v1", "--memory", "40M"];
        txid(&args).write_stdin(lines).assert().code(0).stderr(said);
    }
}

/// More than fit into the memory, with the faults far apart.
#[test]
fn what_does_not_fit_into_memory_is_audited_alike() {
    let directory = directory(&[]);
    let lines: String = (0..200_000_i64).map(|n| id(NOON + n * 7_919 % 200_000) + "\n").collect();
    let twice = &lines[..21];
    let input = format!("{lines}{twice}");
    let run = |memory: &str| {
        let mut command = audit(directory.path(), &["--memory", memory]);
        let output = command.env("TMPDIR", directory.path()).write_stdin(input.as_bytes()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        output.stdout
    };
    let small = run("40M");
    assert!(small == run("1G"));
    let found: Value = serde_json::from_slice(&small).unwrap();
    assert_eq!((counts(&found)[0], found["repeats"]["shown"][0]["places"][1]["line"].as_i64()), (1, Some(200_001)));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    let said = refusal(txid(&["audit"]).env("TMPDIR", directory.path().join("missing")).write_stdin(input.as_bytes()));
    assert!(said.starts_with("txid: temporary file: No such file or directory (os error 2)"), "{said}");
}

/// As many hosts as a large fleet has, each with two ids.
#[test]
fn many_hosts_and_nodes_stay_within_the_memory() {
    let line = |n: i64| format!("{} host=gateway-{:05}.eu-west-1.example.com\n", id(NOON + n), n % 60_000);
    let log: String = (0..120_000).map(line).collect();
    let directory = directory(&[("a.log", log.as_bytes())]);
    // The address space has the program, too.
    let command = "ulimit -v 49152 && exec \"$0\" audit --memory 40M --host host a.log";
    let mut shell = Command::new("sh");
    let assert = shell.args(["-c", command, crate::program()]).current_dir(&directory).assert().success();
    assert!(assert.get_output().stdout.starts_with(b"120000 ids on 120000 lines\n"));
    // And as many nodes as there are ids.
    let log: String = (0..200_000).map(|node| format!("c232ab00-9414-11ec-b3c8-{node:012x}\n")).collect();
    std::fs::write(directory.path().join("a.log"), log).unwrap();
    let mut shell = Command::new("sh");
    let assert = shell.args(["-c", &command.replace("--host host", "--format uuid_v1"), crate::program()]);
    let assert = assert.current_dir(&directory).assert().success();
    assert!(assert.get_output().stdout.starts_with(b"200000 ids on 200000 lines\n"));
}

#[test]
fn what_cannot_be_read_is_reported_and_the_others_are_audited() {
    let directory = directory(&[("a.log", log([0, 1]).as_bytes())]);
    let assert = audit(directory.path(), &["missing", "a.log"]).assert().code(2);
    let output = assert.get_output();
    let missing = "txid: missing: No such file or directory (os error 2)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), missing);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["ids"], 2);
    audit(directory.path(), &["missing"]).assert().code(2).stderr(missing);
    for (format, none) in [("any", "id"), ("txid,flake", "txid or flake")] {
        let said = format!("txid: there is no {none} on 2 lines, so there is nothing to report\n");
        txid(&["audit", "--format", format]).write_stdin("no id\nno id\n").assert().code(2).stderr(said);
    }
    let (uuid, flake) = ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n", printed(&mut txid(&["new", "--format", "flake"])));
    let said = "txid: lines without a flake have other ids, passed over: 1 uuid_v7; txid audit --format any --json\n\
                txid: there is no flake on 1 lines, so there is nothing to report\n";
    audit(directory.path(), &["--format", "flake"]).write_stdin(uuid).assert().code(2).stderr(said);
    report(audit(directory.path(), &["--format", "flake"]).write_stdin(uuid.to_string() + &flake), 0);
    let nothing = txid(&["audit"]).write_stdin("no id\n").assert().code(2);
    let output = nothing.get_output();
    let report = "shared nodes  0\nrepeats       0\nsteps back    0\nfuture        0\nsequences     0 near their end\n";
    let expected = format!("0 ids on 1 line\n{report}gaps          0 longer than 1m\nrates\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "txid: there is no txid on 1 lines, so there is nothing to report\n");
}
