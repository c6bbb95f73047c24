//! What tests/vectors/ says, asked by C programs.

#![cfg(target_os = "linux")]

use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use test_helpers::{library, vectors};

/// Compiles a program and gives it these lines. Returns its output, a map of names and values for each line.
fn run(program: &str, lines: &[String]) -> Vec<Map<String, Value>> {
    let directory = tempfile::tempdir().unwrap();
    let source = format!("crates/capi/tests/vectors/{program}");
    let program = directory.path().join("program");
    library::compile(&source, &program);

    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = lines.concat();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(
        output.status.success(),
        "{source}: {}, after {} lines",
        output.status,
        output.stdout.split(|byte| *byte == b'\n').count() - 1
    );

    let output = String::from_utf8(output.stdout).unwrap();
    let pairs = |line: &str| {
        let pairs = line.split('\t').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_string(), value.into())).collect()
    };
    output.lines().map(pairs).collect()
}

/// What read.c reads in each case, or line.
fn read(lines: &[String]) -> Vec<Map<String, Value>> {
    let read = run("read.c", lines);
    assert_eq!(read.len(), lines.len());
    read
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn line(case: &Value) -> String {
    let text = hex(&vectors::bytes(&case["text"]));
    format!("{}\t{text}\t{}\n", case["format"].as_str().unwrap(), case["layout"].as_str().unwrap_or_default())
}

fn compare(cases: &[Value], found: Vec<Map<String, Value>>, expected: impl Fn(&Value, &Map<String, Value>) -> Value) {
    let wrong: String = cases
        .iter()
        .zip(found)
        .filter(|(case, found)| expected(case, found) != json!(found))
        .map(|(case, found)| format!("{case}\n    found {}\n", json!(found)))
        .collect();
    assert!(wrong.is_empty() && !cases.is_empty(), "{wrong}");
}

#[test]
fn valid_texts_are_read() {
    let cases = vectors::cases("formats", "valid");
    let found = read(&cases.iter().map(line).collect::<Vec<_>>());
    compare(&cases, found, |case, found| {
        let mut expected = case["fields"].clone();
        // As in the output of read.c: without parts that are empty.
        expected.as_object_mut().unwrap().retain(|_, value| value != "");
        for value in expected.as_object_mut().unwrap().values_mut().filter(|value| value.is_boolean()) {
            *value = value.to_string().into();
        }
        if let Some(ms) = case["ms"].as_str() {
            // C returns the time without its epoch, and all after the year 292,278,994 as one.
            let epoch_ms = case["epoch"].as_str().map_or(0, |epoch| epoch.parse::<i128>().unwrap());
            expected["ms"] = (ms.parse::<i128>().unwrap() - epoch_ms).min(i64::MAX.into()).to_string().into();
        }
        if found.contains_key("bits") {
            expected["bits"] = case["bits"].clone();
            expected["written"] = case.get("written").unwrap_or(&case["text"]).clone();
        }
        expected
    });
}

#[test]
fn invalid_texts_are_refused_with_the_reason() {
    let cases = vectors::cases("formats", "invalid");
    let found = read(&cases.iter().map(line).collect::<Vec<_>>());
    compare(&cases, found, |case, _| {
        if case["format"] == "snowflake" {
            return json!({ "code": "-38" });
        }
        let code = match case["reason"].as_str().unwrap() {
            "length" => "-1",
            "character" => "-2",
            "last_character" => "-3",
            "value" => "-10",
            reason => panic!("{reason} has no code"),
        };
        json!({ "code": code, "message": case["message"] })
    });
}

#[test]
fn bounds_are_those_of_the_millisecond() {
    let mut cases = vectors::cases("times", "bounds");
    cases.retain(|case| case["format"] == "txid");
    let found =
        read(&cases.iter().map(|case| format!("bounds\t{}\n", case["ms"].as_str().unwrap())).collect::<Vec<_>>());
    compare(&cases, found, |case, _| json!({ "first": case["first"], "last": case["last"] }));
}

/// A request for decide.c.
#[derive(Default)]
struct Request(String);

impl Request {
    fn option(mut self, name: &str, words: &[&str]) -> Self {
        let words: String = words.iter().map(|word| format!("\t{}", hex(word.as_bytes()))).collect();
        self.0 += &format!("option\t{}{words}\n", hex(name.as_bytes()));
        self
    }

    fn field(mut self, name: &str, value: &[u8]) -> Self {
        self.0 += &format!("field\t{}\t{}\n", hex(name.as_bytes()), hex(value));
        self
    }

    fn from(self, peer: &[u8]) -> String {
        format!("{}peer\t{}\n", self.0, hex(peer))
    }
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn peers_in_a_network_are_trusted() {
    let (mut asked, mut lines) = (Vec::new(), Vec::new());
    for case in vectors::cases("trust", "networks") {
        for (peers, verdict) in [("inside", "accepted"), ("outside", "new")] {
            for peer in case[peers].as_array().unwrap() {
                asked.push(json!({ "name": case["name"], "peer": peer, "verdict": verdict }));
                let request = Request::default().option("accept", &words(&case["networks"]));
                lines.push(request.field("x-request-id", b"7f3a").from(&vectors::bytes(peer)));
            }
        }
    }
    let found = run("decide.c", &lines);
    assert_eq!(found.len(), asked.len());
    for (asked, found) in asked.iter().zip(found) {
        assert_eq!(found["verdict"], asked["verdict"], "{asked}");
    }
}

#[test]
fn lists_of_networks_that_are_wrong_are_refused() {
    let cases = vectors::cases("trust", "invalid");
    let ask = |case: &Value| Request::default().option("accept", &words(&case["networks"])).from(b"127.0.0.1");
    let found = run("decide.c", &cases.iter().map(ask).collect::<Vec<_>>());
    assert_eq!(found.len(), cases.len());
    for (case, found) in cases.iter().zip(found) {
        let says = match case["reason"].as_str().unwrap() {
            "not_a_network" => "is not an address",
            "mapped" => "write it as an IPv4 network",
            _ => "cannot be combined",
        };
        let message = found["message"].as_str().unwrap_or_default();
        let entry = format!("\"{}\" ", case["entry"].as_str().unwrap());
        assert!(message.starts_with(&entry) && message.contains(says), "{case}: {found:?}");
    }
}

#[test]
fn ids_of_clients_are_valid_or_not() {
    let cases = vectors::cases("validity", "values");
    let ask = |case: &Value| {
        let request = Request::default().option("accept", &["all"]);
        request.field("x-request-id", &vectors::bytes(&case["value"])).from(b"127.0.0.1")
    };
    let found = run("decide.c", &cases.iter().map(ask).collect::<Vec<_>>());
    assert_eq!(found.len(), cases.len());
    for (case, found) in cases.iter().zip(found) {
        let verdict = if case["valid"] == true { "accepted" } else { "invalid" };
        assert_eq!(found["verdict"], verdict, "{case}");
    }
}

/// nginx passes on the other headers of a client, `tracestate`, and Datadog's tags and origin: t/request/trace.t and t/native/traces.t see them.
#[test]
fn traces_are_continued() {
    let cases = vectors::cases("traces", "requests");
    let ask = |case: &Value| {
        let accept = if case["accepted"] == true { "all" } else { "10.0.0.0/8" };
        let mut request = Request::default().option("accept", &[accept]).option("trace", &words(&case["kinds"]));
        if let Some(name) = case["trace_id_header"].as_str() {
            request = request.option("trace_id_header", &[name]);
        }
        let fields = vectors::headers(case);
        fields.iter().fold(request, |request, (name, value)| request.field(name, value)).from(b"127.0.0.1")
    };
    let found = run("decide.c", &cases.iter().map(ask).collect::<Vec<_>>());
    assert_eq!(found.len(), cases.len());
    for (case, found) in cases.iter().zip(found) {
        let text = |name: &str| {
            found.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{case}: no {name} in {found:?}"))
        };
        let kinds = words(&case["kinds"]);
        let is_sent = |name: &str| {
            let kind = match name {
                "b3" => "b3_single",
                "x-amzn-trace-id" => "aws",
                "x-cloud-trace-context" => "gcp",
                "uber-trace-id" => "jaeger",
                _ if name.starts_with("x-datadog-") => "datadog",
                _ => name.get(..4).filter(|start| *start == "x-b3").map_or(name, |_| "b3"),
            };
            kinds.contains(&kind)
        };
        let mut sent: Map<_, _> = found.clone().into_iter().filter(|(name, _)| is_sent(name)).collect();
        if let Some(name) = case["trace_id_header"].as_str() {
            sent.insert(name.to_lowercase(), found["x-b3-traceid"].clone());
        }
        let mut expected = case["sent"].as_object().unwrap().clone();
        let passed_on = expected.remove("tracestate").is_some();
        if found["passes_datadog"] == "true" {
            expected.remove("x-datadog-tags");
            expected.remove("x-datadog-origin");
        }
        expected.retain(|name, _| {
            is_sent(name) || case["trace_id_header"].as_str().is_some_and(|other| other.to_lowercase() == *name)
        });
        let sent = vectors::masked(case, &json!(sent).to_string(), text("x-b3-traceid"), text("x-b3-spanid"));
        assert_eq!(sent, json!(expected).to_string(), "{case}");
        assert!(found["continued"] == "true" || !passed_on, "{case}");
    }
}

/// A line for hidden.c, and the file of its keys.
fn of_hidden(case: &Value, action: &str, text: &str) -> (tempfile::NamedTempFile, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for line in case["keys"].as_array().unwrap() {
        writeln!(file, "{}", line.as_str().unwrap()).unwrap();
    }
    let options = case["options"].as_array().unwrap().iter().map(vectors::bytes);
    let key = format!("key={}", file.path().display()).into_bytes();
    let words = [action.into(), vectors::bytes(&case[text]), key].into_iter().chain(options);
    let line = words.map(|word| hex(&word)).collect::<Vec<_>>().join("\t") + "\n";
    (file, line)
}

#[test]
fn numbers_and_uuids_are_hidden_and_revealed() {
    for (section, action, text) in
        [("valid", "hide", "inside"), ("valid", "reveal", "shown"), ("invalid", "reveal", "shown")]
    {
        let cases = vectors::cases("hidden", section);
        // The files are there until the program has read them.
        let (_files, lines): (Vec<_>, Vec<_>) = cases.iter().map(|case| of_hidden(case, action, text)).unzip();
        let found = run("hidden.c", &lines);
        assert_eq!(found.len(), cases.len());
        compare(&cases, found, |case, _| match case["reason"].as_str() {
            Some(reason) => {
                let codes = [
                    ("length", -1),
                    ("character", -2),
                    ("value", -10),
                    ("number", -62),
                    ("check", -63),
                    ("period", -64),
                ];
                let code = codes.iter().find(|(name, _)| *name == reason);
                json!({ "code": code.unwrap_or_else(|| panic!("{reason} has no code: {case}")).1.to_string() })
            }
            None => json!({ "text": case[if action == "hide" { "shown" } else { "inside" }] }),
        });
    }
}
