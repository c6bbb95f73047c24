//! What tests/vectors/ says about formats and times. tests/vectors/README.md describes the files.

use serde_json::{Map, Value, json};
use std::fmt::Display;
use txid::snowflake::Layout;
use txid::trace::{self, B3, SkyWalking, Sofa, Traceparent};
use txid::uuid::{self, Uuid, Variant};
use txid::{Flake, FormatError, ParseError, Txid, UniqueId, UniqueIdMaker, time_in};

const FORMATS: &str = include_str!("vectors/formats.json");
const TIMES: &str = include_str!("vectors/times.json");

/// Calls `differs` with each case of a section, and fails with everything that it says.
fn each(file: &str, section: &str, differs: impl Fn(&Map<String, Value>) -> Option<String>) {
    let file: Value = serde_json::from_str(file).unwrap();
    let cases = file[section].as_array().unwrap();
    assert!(!cases.is_empty(), "{section} has no cases");
    let wrong: Vec<_> = cases.iter().filter_map(|case| Some((case, differs(case.as_object()?)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.iter().map(|(case, why)| format!("{case}\n    {why}\n")).collect::<String>());
}

fn unless_equal(found: &Value, expected: &Value) -> Option<String> {
    (found != expected).then(|| format!("found {found}"))
}

fn text_of<'a>(case: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    case.get(key)?.as_str()
}

/// A character is a byte.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).unwrap()).collect()
}

/// What a reading function returns, in the words of the vectors.
struct Read {
    written: String,
    ms: Option<String>,
    fields: Value,
    bits: Option<String>,
}

struct Wrong {
    reason: &'static str,
    position: Option<usize>,
    message: String,
}

impl From<FormatError> for Wrong {
    fn from(error: FormatError) -> Self {
        let (reason, position) = match error {
            FormatError::Length { .. } => ("length", None),
            FormatError::Character { position, .. } => ("character", Some(position)),
            FormatError::Value(_) => ("value", None),
        };
        Self { reason, position, message: error.to_string() }
    }
}

impl From<ParseError> for Wrong {
    fn from(error: ParseError) -> Self {
        let (reason, position) = match error {
            ParseError::Length(_) => ("length", None),
            ParseError::Character { position, .. } => ("character", Some(position)),
            ParseError::LastCharacter(_) => ("last_character", Some(Txid::LEN)),
        };
        Self { reason, position, message: error.to_string() }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(case: &Map<String, Value>) -> Result<Read, Wrong> {
    let text = bytes_of(text_of(case, "text").unwrap());
    let epoch_ms: i64 = text_of(case, "epoch").map_or(0, |epoch| epoch.parse().unwrap());
    let number = |number: &dyn Display| Value::String(number.to_string());
    match text_of(case, "format").unwrap() {
        "txid" => {
            let id = Txid::from_text(&text)?;
            let bits = hex(&<[u8; 12]>::from(id));
            let random = u64::from_str_radix(&bits[8..], 16).unwrap() & ((1 << 54) - 1);
            Ok(Read {
                written: id.to_string(),
                ms: Some(id.timestamp_ms().to_string()),
                fields: json!({ "random": format!("{random:014x}") }),
                bits: Some(bits),
            })
        }
        "uuid" | "uuid_v1" | "uuid_v4" | "uuid_v6" | "uuid_v7" => {
            let parts = uuid::read_ascii(&text)?;
            let id = Uuid::try_parse_ascii(&text).unwrap();
            let variant = match parts.variant {
                Variant::NCS => "ncs",
                Variant::RFC4122 => "rfc9562",
                Variant::Microsoft => "microsoft",
                _ => "future",
            };
            Ok(Read {
                written: id.to_string(),
                ms: parts.ms.map(|ms| ms.to_string()),
                fields: json!({ "version": parts.version.to_string(), "variant": variant }),
                bits: Some(hex(id.as_bytes())),
            })
        }
        "flake" => {
            let id = Flake::from_text(&text)?;
            let node = id.node().map(|byte| format!("{byte:02x}")).join(":");
            Ok(Read {
                written: id.to_string(),
                ms: Some(id.timestamp_ms().to_string()),
                fields: json!({ "node": node, "sequence": number(&id.sequence()) }),
                bits: Some(format!("{:032x}", id.0)),
            })
        }
        "unique_id" | "unique_id_short" => {
            let id = UniqueId::from_text(&text)?;
            let end = [&id.counter.to_be_bytes()[..], &id.thread.to_be_bytes()].concat();
            let (middle, mut fields) = match id.maker {
                UniqueIdMaker::Short { address, pid } => (
                    [&address.octets()[..], &pid.to_be_bytes()].concat(),
                    json!({ "address": number(&address), "pid": number(&pid) }),
                ),
                UniqueIdMaker::Long { random } => (random.to_vec(), json!({ "random": hex(&random) })),
            };
            fields["counter"] = number(&id.counter);
            fields["thread"] = number(&id.thread);
            Ok(Read {
                written: id.to_string(),
                ms: Some((u64::from(id.seconds) * 1000).to_string()),
                fields,
                bits: Some(hex(&[&id.seconds.to_be_bytes()[..], &middle, &end].concat())),
            })
        }
        format @ ("trace_id" | "trace_host_id") => {
            let id = trace::read_id_ascii(&text)?;
            let bits = (u128::from(id.ms) << 23 | u128::from(id.sequence)) << 64 | u128::from(id.random);
            let fields = if format == "trace_id" {
                json!({ "sequence": number(&id.sequence), "random": format!("{:016x}", id.random) })
            } else {
                let id = trace::read_host_id(std::str::from_utf8(&text).unwrap())?;
                let (host, random) = (std::net::Ipv4Addr::from(id.host), format!("{:08x}", id.random));
                json!({ "sequence": number(&id.sequence), "host": number(&host), "random": random })
            };
            let written = format!("{bits:032x}");
            let ms = Some((id.ms as i64 + epoch_ms).to_string());
            Ok(Read { written: written.clone(), ms, fields, bits: Some(written) })
        }
        "sofa" => {
            let id = Sofa::from_text(&text)?;
            let fields = json!({
                "address": number(&id.address), "sequence": number(&id.sequence), "pid": number(&id.pid),
            });
            Ok(Read { written: id.to_string(), ms: Some(id.ms.to_string()), fields, bits: None })
        }
        "skywalking" => {
            let id = SkyWalking::from_text(&text)?;
            let fields = json!({
                "instance": format!("{:032x}", id.instance),
                "thread": number(&id.thread),
                "sequence": number(&id.sequence),
            });
            Ok(Read { written: id.to_string(), ms: Some(id.ms.to_string()), fields, bits: None })
        }
        "traceparent" => {
            let id = Traceparent::from_text(&text)?;
            let fields = json!({
                "trace_id": number(&id.trace_id),
                "span_id": number(&id.span_id),
                "sampled": id.sampled,
                "random": id.random,
            });
            Ok(Read { written: id.to_string(), ms: None, fields, bits: None })
        }
        "b3" => {
            let id = B3::from_text(&text)?;
            let mut fields = json!({});
            if let Some(ids) = id.ids {
                let trace_id = ids.trace_id.to_string();
                fields["trace_id"] = number(&&trace_id[if ids.short { 16 } else { 0 }..]);
                fields["span_id"] = number(&ids.span_id);
                if let Some(parent) = ids.parent_span_id {
                    fields["parent_span_id"] = number(&parent);
                }
            }
            if let Some(sampled) = id.sampled {
                fields["sampled"] = number(&sampled.letter());
            }
            Ok(Read { written: id.to_string(), ms: None, fields, bits: None })
        }
        format => panic!("{format} has no reader here"),
    }
}

/// Formats without a reader in the library: `txid inspect` reads them.
fn is_read_elsewhere(case: &Map<String, Value>) -> bool {
    matches!(text_of(case, "format"), Some("otel_trace_id" | "span_id" | "snowflake"))
}

#[test]
fn valid_texts_are_read_and_written() {
    each(FORMATS, "valid", |case| {
        if is_read_elsewhere(case) {
            return None;
        }
        let found = match read(case) {
            Ok(found) => found,
            Err(wrong) => return Some(wrong.message),
        };
        let mut expected = case.clone();
        let written = expected.remove("written").unwrap_or(case["text"].clone());
        let found = json!({
            "written": found.written, "ms": found.ms, "fields": found.fields, "bits": found.bits,
        });
        let expected = json!({
            "written": written,
            "ms": expected.remove("ms"),
            "fields": expected.remove("fields"),
            "bits": expected.remove("bits"),
        });
        unless_equal(&found, &expected)
    });
}

#[test]
fn invalid_texts_are_refused_with_the_reason() {
    each(FORMATS, "invalid", |case| {
        if is_read_elsewhere(case) {
            return None;
        }
        let Err(wrong) = read(case) else {
            return Some("it was read".to_string());
        };
        let position = wrong.position.map(|position| position.to_string());
        let found = json!({ "reason": wrong.reason, "position": position, "message": wrong.message });
        let expected =
            json!({ "reason": case["reason"], "position": case.get("position"), "message": case["message"] });
        unless_equal(&found, &expected)
    });
}

#[test]
fn snowflakes_are_read() {
    let parse = |case: &Map<String, Value>| {
        let layout: Layout = text_of(case, "layout").unwrap().parse().unwrap();
        let text = text_of(case, "text").unwrap();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number).and_then(|id: u64| Some((id, layout.decode(id)?)))
    };
    let is_one = |case: &Map<String, Value>| text_of(case, "format") == Some("snowflake");
    each(FORMATS, "valid", |case| {
        let Some((id, parts)) = is_one(case).then(|| parse(case))? else {
            return Some("it was not read".to_string());
        };
        let found = json!({
            "ms": parts.ms.to_string(),
            "fields": { "node": parts.node.to_string(), "sequence": parts.sequence.to_string() },
            "bits": format!("{id:016x}"),
        });
        unless_equal(&found, &json!({ "ms": case["ms"], "fields": case["fields"], "bits": case["bits"] }))
    });
    each(FORMATS, "invalid", |case| (is_one(case) && parse(case).is_some()).then(|| "it was read".to_string()));
}

#[test]
fn text_sorts_as_the_bits_do() {
    each(FORMATS, "order", |order| {
        let bits_of = |text: &Value| {
            let case = json!({ "format": order["format"], "text": text });
            read(case.as_object().unwrap()).ok().and_then(|read| read.bits)
        };
        let texts: Vec<_> =
            order["texts"].as_array().unwrap().iter().map(|text| (text.as_str(), bits_of(text))).collect();
        let wrong = texts.windows(2).find(|pair| pair[0].0 >= pair[1].0 || pair[0].1 >= pair[1].1)?;
        Some(format!("{wrong:?}"))
    });
}

#[test]
fn times_are_written_in_rfc_3339() {
    each(TIMES, "calendar", |case| {
        let written = time_in::rfc3339(case["ms"].as_str()?.parse().unwrap());
        let written = written.map(|text| String::from_utf8(text.to_vec()).unwrap());
        unless_equal(&json!(written), &json!(case.get("time")))
    });
}

#[test]
fn bounds_contain_their_millisecond_and_no_other() {
    each(TIMES, "bounds", |case| {
        let ms: i64 = case["ms"].as_str()?.parse().unwrap();
        if case["format"] == "txid" {
            let found = json!([Txid::first_of(ms).to_string(), Txid::last_of(ms).to_string()]);
            return unless_equal(&found, &json!([case["first"], case["last"]]));
        }
        let read_ms = |key: &str| {
            if let Some(layout) = text_of(case, "layout") {
                let layout: Layout = layout.parse().unwrap();
                return layout.decode(text_of(case, key)?.parse().ok()?).map(|parts| parts.ms);
            }
            let case = json!({ "format": case["format"], "text": case[key] });
            read(case.as_object()?).ok()?.ms?.parse().ok()
        };
        let found = [read_ms("first"), read_ms("last")];
        (found != [Some(ms), Some(ms)]).then(|| format!("found {found:?}"))
    });
}
