//! What tests/vectors/ says about formats.

use crate::{printed, refusal, txid};
use serde_json::{Map, Value, json};
use test_helpers::vectors::{bytes, each};

/// What `inspect` calls a format.
fn shown_format(case: &Value) -> &'static str {
    let name = case["format"].as_str().unwrap();
    txid::formats::named(name).unwrap_or_else(|| panic!("{name} is not a format")).title
}

/// What `inspect --json` prints, or None if it refuses the text.
fn inspected(case: &Value) -> Option<Map<String, Value>> {
    let text = bytes(&case["text"]);
    let mut command = txid(&["inspect", "--json"]);
    if let Some(layout) = case["layout"].as_str() {
        command.args(["--layout", layout]);
    }
    match std::str::from_utf8(&text) {
        Ok(text) if !text.contains('\0') => command.args(["--", text]),
        // No argument can contain these.
        _ => command.write_stdin(text),
    };
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    assert!(code == 0 || code == 1 && output.stdout.is_empty(), "{case}: {output:?}");
    serde_json::from_slice(&output.stdout).ok()
}

/// The reading as the format of the case, of all that the text can be.
fn as_its_format<'a>(case: &Value, found: &'a Value) -> Option<&'a Value> {
    let others = found["or_else"].as_array().map_or(&[][..], Vec::as_slice);
    std::iter::once(found).chain(others).find(|it| it["format"] == shown_format(case))
}

#[test]
fn valid_texts_are_inspected() {
    each("formats", "valid", |case| {
        let found = inspected(case);
        let Some(found) = found.map(Value::Object) else {
            return Some("refused".to_string());
        };
        let Some(found) = as_its_format(case, &found) else {
            return Some(found.to_string());
        };
        let epoch_ms = case["epoch"].as_str().map_or(0, |epoch| epoch.parse::<i64>().unwrap());
        let ms: Option<i128> = case["ms"].as_str().map(|ms| ms.parse().unwrap());
        let id = case.get("written").unwrap_or(&case["text"]);
        let ms = ms.map_or(Value::Null, |ms| (ms - i128::from(epoch_ms)).to_string().parse().unwrap());
        let mut expected = vec![("id", id.clone()), ("ms", ms)];
        expected.extend(case.get("bits").map(|bits| ("hex", bits.clone())));
        let fields = case["fields"].as_object().unwrap().iter();
        expected.extend(
            fields
                .map(|(name, value)| (name.as_str(), value.as_str().map_or(value.to_string(), str::to_string).into())),
        );
        let wrong = expected.iter().find(|(name, value)| found[name] != *value)?;
        Some(format!("{wrong:?} in {found}"))
    });
}

#[test]
fn invalid_texts_are_not_taken_for_the_format() {
    each("formats", "invalid", |case| {
        let found = json!(inspected(case)?);
        let text = String::from_utf8_lossy(&bytes(&case["text"])).into_owned();
        // A part of the text may be an id; the text is none.
        let is_part = |id: &str| text != id && text.contains(id);
        as_its_format(case, &found).filter(|it| !is_part(it["id"].as_str().unwrap())).map(|_| found.to_string())
    });
}

#[test]
fn layouts_are_read_or_refused() {
    let inspect = |layout: &Value| txid(&["inspect", "--layout", layout.as_str().unwrap(), "0"]);
    each("formats", "layouts", |case| {
        let [found, expected] = ["layout", "written"].map(|key| printed(inspect(&case[key]).arg("--json")));
        (found != expected).then_some(found)
    });
    each("formats", "invalid_layouts", |case| {
        let said = refusal(&mut inspect(&case["layout"]));
        (!said.starts_with("txid: layout ")).then_some(said)
    });
}
