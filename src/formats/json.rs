//! The table as JSON, for readers in other languages: readers/formats.json, and the same as a module of JavaScript, which browsers
//! and all versions of Node can import. TXID_BLESS=1 writes both.

use super::row::{Clock, Digits, End, Field, Fields, Kind, Number, Part, Text, Word};
use super::row::{Format, Texts};
use super::table::{ALL, TXID};
use crate::snowflake::Layout;
use serde_json::{Map, Value, json};

/// An object without the members that are null.
fn object(members: Value) -> Value {
    match members {
        Value::Object(members) => {
            members.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

fn format(format: &Format) -> Value {
    object(json!({
        "name": format.name,
        "title": format.title,
        "length": format.length,
        "usual": format.usual,
        "since": format.has_a_time().then(|| format.since_ms.to_string()),
        "sorts": format.sorts.map(|texts| match texts {
            Texts::Unsorted => "unsorted",
            Texts::AsTheyAre => "as_they_are",
            Texts::InOneCase => "in_one_case",
        }),
        // Any time has bounds: only its low bits count.
        "wraps": (format.name == TXID.name).then_some(true),
        "takes_epoch": format.make.is_some_and(|make| make.options.contains(&"epoch")).then_some(true),
        "rule": format.rule.map(|rule| format!("{rule:?}").to_lowercase()),
        "texts": format.texts.iter().map(text).collect::<Vec<_>>(),
    }))
}

fn text(text: &Text) -> Value {
    object(json!({
        "weight": text.weight,
        "lengths": lengths(text.least, text.most),
        "is_another": text.is_another.then_some(true),
        "parts": text.parts.iter().zip(text.ends).map(|(it, end)| part_until(it, end)).collect::<Vec<_>>(),
    }))
}

fn lengths(least: usize, most: usize) -> Value {
    json!([least, (most < usize::MAX).then_some(most)])
}

/// A part with its end, if its length does not say it.
fn part_until(part: &Part, end: End) -> Value {
    let mut members = self::part(part);
    match end {
        End::After(_) => {}
        End::Before(rest) => members["ends_before"] = json!(rest),
        End::At(byte) => members["ends_at"] = json!(char::from(byte).to_string()),
    }
    members
}

fn part(part: &Part) -> Value {
    match part {
        Part::Literal(byte) => json!({ "pattern": char::from(*byte).to_string(), "lengths": [1, 1] }),
        Part::Number(it) => number(it),
        Part::Word(Word { name, digits, least, most, not_around }) => object(json!({
            "word": name.unwrap_or_default(),
            "digits": digits.name,
            "lengths": lengths(*least, *most),
            "not_around": not_around.map(|(byte, error)| json!([char::from(byte).to_string(), error])),
        })),
        Part::Rest => json!({ "pattern": "-", "lengths": [0, null], "rest": true }),
    }
}

fn number(number: &Number) -> Value {
    let Number { digits, least, most, bits, too_large, nonzero, fields, no_fields, .. } = number;
    object(json!({
        "digits": digits.name,
        "lengths": lengths(*least, *most),
        "pattern": number.pattern.map(|pattern| pattern.text),
        "bits": bits,
        "too_large": too_large,
        "pad": (number.pad > 0).then(|| json!([number.pad, number.padded])),
        "nonzero": nonzero,
        "no_fields": (!no_fields.is_empty()).then_some(no_fields),
        "fields": fields.iter().map(list).collect::<Vec<_>>(),
    }))
}

fn list(fields: &Fields) -> Value {
    object(json!({
        "clock": fields.clock.map(|Clock { unit_ms, per_unit, rest, epoch_ms }| object(json!({
            "unit_ms": unit_ms,
            "per_unit": (per_unit > 1).then_some(per_unit),
            "rest": rest,
            "epoch": (epoch_ms != 0).then(|| epoch_ms.to_string()),
        }))),
        "more": fields.more.filter(|more| *more > 0),
        "is_elsewhere": fields.more.is_none().then_some(true),
        "list": fields.list.iter().map(field).collect::<Vec<_>>(),
        "shown": (!fields.shown.is_empty())
            .then(|| fields.shown.iter().map(|(place, it)| json!([place, field(it)])).collect::<Vec<_>>()),
    }))
}

fn field(field: &Field) -> Value {
    let mut row = vec![json!(field.name), json!(field.bits)];
    // As in `Time(0)`.
    let kind = format!("{:?}", field.kind).to_lowercase();
    let (low, constant) = match field.kind {
        Kind::Time(low) => (Some(low).filter(|low| *low > 0), None),
        Kind::Is(value) => (None, Some(value)),
        _ => (None, None),
    };
    row.push(json!(kind.split('(').next()));
    let more = object(json!({
        "low": low,
        "constant": constant,
        "node": field.is_node.then_some(true),
        "sequence": field.is_sequence.then_some(true),
        "range": field.range,
        "rarely_above": field.rarely_above,
    }));
    if more.as_object().is_some_and(|more| !more.is_empty()) {
        row.push(more);
    }
    row.into()
}

/// The alphabets that parts name.
fn digits() -> Map<String, Value> {
    fn add(digits: &Digits, all: &mut Map<String, Value>) {
        if let Some((_, other)) = digits.other {
            add(other, all);
        }
        let alphabet = object(json!({
            "alphabet": String::from_utf8_lossy(digits.alphabet),
            "both_cases": digits.has_both_cases.then_some(true),
            "expected": digits.expected,
            "other": digits.other.map(|(byte, other)| json!([char::from(byte).to_string(), other.name])),
        }));
        let before = all.insert(digits.name.to_string(), alphabet.clone());
        assert!(before.is_none_or(|before| before == alphabet), "two alphabets are called {}", digits.name);
    }
    let mut all = Map::new();
    for part in ALL.iter().flat_map(|format| format.texts).flat_map(|text| text.parts) {
        match part {
            Part::Number(Number { digits, .. }) | Part::Word(Word { digits, .. }) => add(digits, &mut all),
            Part::Literal(_) | Part::Rest => {}
        }
    }
    all
}

fn lines(name: &str, rows: impl IntoIterator<Item = String>) -> String {
    format!("\"{name}\": [\n{}\n]", rows.into_iter().collect::<Vec<_>>().join(",\n"))
}

/// A line a format, an alphabet and a layout.
fn table() -> String {
    let of_digits = digits().into_iter().map(|(name, digits)| format!("\"{name}\": {digits}")).collect::<Vec<_>>();
    let layouts = Layout::PRESETS.map(|(name, layout)| format!("\"{name}\": {}", json!(layout.to_string())));
    let formats = ALL.iter().filter(|it| it.is_read()).map(|it| format(it).to_string());
    format!(
        "{{\n\"digits\": {{\n{}\n}},\n\"layouts\": {{\n{}\n}},\n{}\n}}\n",
        of_digits.join(",\n"),
        layouts.join(",\n"),
        lines("formats", formats)
    )
}

#[test]
fn readers_in_other_languages_have_this_table() {
    let table = table();
    serde_json::from_str::<Value>(&table).unwrap();
    let in_a_line = table.replace('\n', "");
    let module = format!("// formats.json, as src/formats/json.rs writes it.\nexport default {in_a_line};\n");
    for (name, text) in [("formats.json", &table), ("js/formats.js", &module)] {
        let path = format!("{}/readers/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("TXID_BLESS").is_some() {
            std::fs::write(path, text).unwrap();
            continue;
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        let differs = text.lines().zip(there.lines()).find(|(new, old)| new != old);
        assert!(*text == there, "readers/{name} is another table; TXID_BLESS=1 writes it: {differs:?}");
    }
}
