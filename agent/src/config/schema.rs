//! packaging/agent/agent.schema.json says of a file what the code says.

use super::File;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(format!("{TREE}/packaging/agent/agent.schema.json")).unwrap()).unwrap()
}

/// Why a file is not of the schema: a key that it does not have, a wrong type, or a number out of range.
fn wrong(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let is_of_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("array") => {
            value.as_array().is_some_and(|all| all.iter().all(|it| wrong(&schema["items"], it, at).is_none()))
        }
        other => panic!("{at}: this test knows no type {other:?}"),
    };
    if !is_of_type {
        return Some(format!("{at}: {value} is no {}", schema["type"]));
    }
    let is_beyond = |limit: &str, is_beyond: fn(i64, i64) -> bool| {
        let both = value.as_i64().zip(schema[limit].as_i64());
        both.is_some_and(|(value, limit)| is_beyond(value, limit))
    };
    if is_beyond("minimum", |value, least| value < least) || is_beyond("maximum", |value, most| value > most) {
        return Some(format!("{at}: {value} is out of range"));
    }
    value.as_object().unwrap_or(&Map::new()).iter().find_map(|(key, value)| {
        let at = format!("{at}.{key}");
        match (schema["properties"].get(key), &schema["additionalProperties"]) {
            (Some(of_key), _) => wrong(of_key, value, &at),
            (None, Value::Object(_)) => wrong(&schema["additionalProperties"], value, &at),
            (None, _) => Some(format!("{at}: there is no such key")),
        }
    })
}

/// Whether the code reads it, and whether the schema allows it.
fn both(text: &str) -> (bool, bool) {
    let value: Value = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let read = toml::from_str::<File>(text);
    (read.is_ok(), wrong(&schema(), &value, "").is_none())
}

/// The keys that serde names when it meets another one.
fn keys_of_the_code(text: &str) -> BTreeSet<String> {
    let error = toml::from_str::<File>(text).err().expect("the code refuses an unknown key");
    let message = error.message();
    let (_, expected) = message.split_once("expected").unwrap_or_else(|| panic!("{message}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_schema_has_the_keys_of_the_code() {
    let schema = schema();
    let keys = |of: &Value| of["properties"].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&schema), keys_of_the_code("nonsense = 1"));
    let segment = &schema["properties"]["segments"]["additionalProperties"];
    assert_eq!(keys(segment), keys_of_the_code("segments.invoices.nonsense = 1"));
}

#[test]
fn the_schema_has_the_types_of_the_code() {
    let schema = schema();
    let keys = schema["properties"].as_object().unwrap().keys().map(String::as_str);
    let inner = [
        "nodes.orders",
        "segments.invoices",
        "segments.invoices.step",
        "segments.invoices.key-checks",
        "segments.invoices.nonsense",
        "nonsense",
    ];
    for key in keys.chain(inner) {
        let string = if key == "listen" { "'unix:60s'" } else { "'60s'" };
        for value in [string, "1000", "{}", "[]", "true"] {
            let text = format!("{key} = {value}");
            let (code, schema) = both(&text);
            assert_eq!(code, schema, "{text}: the code reads it: {code}, the schema allows it: {schema}");
        }
    }
}

#[test]
fn the_schema_refuses_counts_that_the_code_refuses() {
    for count in [0, 1, i64::from(i32::MAX), i64::from(i32::MAX) + 1] {
        for key in [json!({ "max-step": count }), json!({ "segments": { "invoices": { "step": count } } })] {
            let code = crate::args::count(&count.to_string()).is_ok();
            assert_eq!(code, wrong(&schema(), &key, "").is_none(), "{key}");
        }
    }
}

#[test]
fn the_files_that_people_see_are_right_with_each_line_in_use() {
    let packed = fs::read_to_string(format!("{TREE}/packaging/agent/agent.toml")).unwrap();
    assert_eq!(both(&packed), (true, true));
    // Some lines are alternatives: each one alone, below the heading that it stands under.
    let mut heading = "";
    let mut settings = 0;
    for line in packed.lines() {
        if line.starts_with('[') {
            heading = line;
        }
        let setting = line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', ':']));
        if let Some(setting) = setting {
            assert_eq!(both(&format!("{heading}\n{setting}")), (true, true), "{setting}");
            settings += 1;
        }
    }
    assert!(settings > 8, "the file shows {settings} settings");

    let text = fs::read_to_string(format!("{TREE}/agent/docs/leases.md")).unwrap();
    let (_, block) = text.split_once("```toml\n").expect("agent/docs/leases.md has the file");
    let (block, _) = block.split_once("```").unwrap();
    assert_eq!(both(block), (true, true));
    let shown: Value = toml::from_str(block).unwrap();
    let shown: BTreeSet<String> = shown.as_object().unwrap().keys().cloned().collect();
    assert_eq!(shown, keys_of_the_code("nonsense = 1"), "agent/docs/leases.md shows all keys");
}
