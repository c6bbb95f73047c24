//! What tests/vectors/ says about formats and times, read by a C program.

#![cfg(target_os = "linux")]

use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use test_helpers::{library, vectors};

/// Compiles read.c and gives it these lines. Returns its output, a map of names and values for each line.
fn read(lines: &[String]) -> Vec<Map<String, Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("read");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
        .arg(root.join("capi/tests/vectors/read.c"))
        .arg("-I")
        .arg(root.join("include"))
        .arg(library::path().with_extension("a"))
        .args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(compiled.success());

    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = lines.concat();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());

    let output = String::from_utf8(output.stdout).unwrap();
    let pairs = |line: &str| {
        let pairs = line.split('\t').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_string(), value.into())).collect()
    };
    let read: Vec<_> = output.lines().map(pairs).collect();
    assert_eq!(read.len(), lines.len());
    read
}

/// The cases that C has a function for. `txid inspect` reads the others.
fn section(name: &str) -> Vec<Value> {
    let mut cases = vectors::cases("formats", name);
    cases.retain(|case| case["format"] != "otel_trace_id" && case["format"] != "span_id");
    cases
}

fn line(case: &Value) -> String {
    let text: String = vectors::bytes(&case["text"]).iter().map(|byte| format!("{byte:02x}")).collect();
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
    let cases = section("valid");
    let found = read(&cases.iter().map(line).collect::<Vec<_>>());
    compare(&cases, found, |case, found| {
        let mut expected = case["fields"].clone();
        for value in expected.as_object_mut().unwrap().values_mut().filter(|value| value.is_boolean()) {
            *value = value.to_string().into();
        }
        if let Some(ms) = case["ms"].as_str() {
            // C returns the time without its epoch.
            let epoch_ms = case["epoch"].as_str().map_or(0, |epoch| epoch.parse::<i128>().unwrap());
            expected["ms"] = (ms.parse::<i128>().unwrap() - epoch_ms).to_string().into();
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
    let cases = section("invalid");
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
