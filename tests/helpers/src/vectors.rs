//! The files of tests/vectors/.

use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// A section of `tests/vectors/FILE.json`.
pub fn section(file: &str, name: &str) -> Value {
    let path = format!("{}/../vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut sections: Value = serde_json::from_str(&text).unwrap();
    sections[name].take()
}

/// The cases of a section.
pub fn cases(file: &str, name: &str) -> Vec<Value> {
    let Value::Array(cases) = section(file, name) else { panic!("{file} has no {name}") };
    assert!(!cases.is_empty());
    cases
}

/// Calls `differs` with each case of a section, and fails with everything that it says. A case in which it panics is named, too.
pub fn each(file: &str, section: &str, differs: impl Fn(&Value) -> Option<String>) {
    let panicked = |_| Some("panics, as said above".to_string());
    let differs = |case: &Value| catch_unwind(AssertUnwindSafe(|| differs(case))).unwrap_or_else(panicked);
    let wrong = |case: Value| Some(format!("{case}\n    {}\n", differs(&case)?));
    let wrong: String = cases(file, section).into_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

/// The bytes of a text, in which a character is a byte.
pub fn bytes(text: &Value) -> Vec<u8> {
    let characters = text.as_str().unwrap().chars();
    characters.map(|character| u8::try_from(character).expect("a character above U+00FF")).collect()
}

/// The names, in lower case, and the values of the headers in the lines of a case of traces.json.
pub fn headers(case: &Value) -> Vec<(String, Vec<u8>)> {
    let header = |line: &Value| {
        let (name, value) = line.as_str()?.split_once(':')?;
        Some((name.to_lowercase(), bytes(&value.trim_matches(' ').into())))
    };
    case["lines"].as_array().unwrap().iter().map(|line| header(line).unwrap()).collect()
}

/// `text` with this hop's span as SPAN, and with TRACE, or SORTED if it has the time, for a trace that does not come from the lines of
/// the case, also in decimal, with a dash, and for its upper half among tags.
pub fn masked(case: &Value, text: &str, trace_id: &str, span_id: &str) -> String {
    let decimal = |digits: &str| u64::from_str_radix(digits, 16).unwrap().to_string();
    let text = text.replace(span_id, "SPAN").replace(&decimal(span_id), "SPAN");
    let lines = case["lines"].to_string().to_lowercase();
    let (upper, lower) = trace_id.split_at(16);
    if lines.contains(lower.trim_start_matches('0')) || lines.contains(&decimal(lower)) {
        return text;
    }
    let root = format!("{}-{}", &trace_id[..8], &trace_id[8..]);
    // The time of one that sorts, since the epoch that its name says.
    let ms = (u128::from_str_radix(trace_id, 16).unwrap() >> 87) as u64;
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let is_now = |(_, epoch_ms): &(&str, u64)| (ms + epoch_ms).abs_diff(now_ms) < 60_000;
    let name = [("SORTED", 0), ("SORTED2020", 1_577_836_800_000)].into_iter().find(is_now).map_or("TRACE", |it| it.0);
    let text = text.replace(trace_id, name).replace(&root, "TRACE").replace(&decimal(lower), "TRACE");
    text.replace(&format!("tid={upper}"), "tid=TRACE")
}
