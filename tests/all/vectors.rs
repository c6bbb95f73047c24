//! What tests/vectors/ says about formats and times. tests/vectors/README.md describes the files.

use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use test_helpers::vectors::{bytes, cases, each, headers, masked, section};
use txid::formats::find::Finder;
use txid::formats::{self, Numbers, Unlikely};
use txid::request::{
    Came, HeaderNameError, NetworkError, Networks, Open, Outgoing, PLACES, Peer, Policy, Ratio, Verdict,
    check_header_name, is_valid_id,
};
use txid::snowflake::Layout;
use txid::{FormatError, FormatErrorKind, Txid, time_in};

fn unless_equal(found: &Value, expected: &Value) -> Option<String> {
    (found != expected).then(|| format!("found {found}"))
}

/// The result of a reading function, in the form of the vectors.
struct Read {
    written: String,
    ms: Option<String>,
    fields: Value,
    bits: Option<String>,
    /// What begins the bits, and how many bits the parts have together.
    begins_with: Option<&'static str>,
    width: usize,
}

struct Wrong {
    reason: &'static str,
    position: Option<usize>,
    message: String,
}

impl From<FormatError> for Wrong {
    fn from(error: FormatError) -> Self {
        let reason = match error.kind() {
            FormatErrorKind::Length => "length",
            FormatErrorKind::Character => "character",
            FormatErrorKind::LastCharacter => "last_character",
            _ => "value",
        };
        Self { reason, position: error.position(), message: error.to_string() }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(case: &Value) -> Result<Read, Wrong> {
    let name = case["format"].as_str().unwrap();
    let read = formats::read(name, &bytes(&case["text"]), &numbers(case));
    let id = read.unwrap_or_else(|| panic!("{name} is not a format"))?;
    let epoch_ms: i64 = case["epoch"].as_str().map_or(0, |epoch| epoch.parse().unwrap());
    let value = |value: formats::Value| match value {
        formats::Value::Flag(flag) => Value::Bool(flag),
        other => Value::String(other.to_string()),
    };
    Ok(Read {
        written: id.text,
        ms: id.far_ms.map(|ms| ms.to_string()).or(id.ms.map(|ms| (ms + epoch_ms).to_string())),
        fields: id.parts.into_iter().map(|(name, part)| (name.to_string(), value(part))).collect(),
        bits: Some(hex(&id.bytes)).filter(|bits| !bits.is_empty()),
        begins_with: id.fields.first().map(|(name, _)| *name),
        width: id.fields.iter().map(|(_, bits)| bits).sum(),
    })
}

#[test]
fn valid_texts_are_read_and_written() {
    each("formats", "valid", |case| {
        let found = match read(case) {
            Ok(found) => found,
            Err(wrong) => return Some(wrong.message),
        };
        let bits = case["bits"].as_str().unwrap_or_default();
        // UUIDs of versions 6 and 7 begin with the time.
        let has_time_first = bits.get(12..13).is_some_and(|version| "67".contains(version));
        if case["format"] == "typeid" && (found.begins_with == Some("time")) != has_time_first {
            return Some(format!("it begins with {:?}", found.begins_with));
        }
        let found = json!([found.written, found.ms, found.fields, found.bits, found.width]);
        let written = case.get("written").unwrap_or(&case["text"]);
        let expected = json!([written, case["ms"], case["fields"], case["bits"], 4 * bits.len()]);
        unless_equal(&found, &expected)
    });
}

#[test]
fn invalid_texts_are_refused_with_the_reason() {
    each("formats", "invalid", |case| {
        let Err(wrong) = read(case) else {
            return Some("it was read".to_string());
        };
        let position = wrong.position.map(|position| position.to_string());
        // The messages about numbers differ: one is about a layout, another about all of them.
        let message = (case["format"] != "snowflake").then_some(wrong.message);
        let found = json!([wrong.reason, position, message]);
        let expected = json!([case["reason"], case["position"], case["message"]]);
        unless_equal(&found, &expected)
    });
}

#[test]
fn layouts_are_read_or_refused() {
    let layout = |case: &Value| case["layout"].as_str().unwrap().parse::<Layout>();
    each("formats", "layouts", |case| unless_equal(&json!(layout(case).unwrap().to_string()), &case["written"]));
    each("formats", "invalid_layouts", |case| layout(case).ok().map(|found| found.to_string()));
}

#[test]
fn text_sorts_as_the_bits_do() {
    each("formats", "order", |order| {
        let format = formats::named(order["format"].as_str()?)?;
        let bits_of = |text: &Value| format.order(&bytes(text), &numbers(order)).unwrap();
        let texts: Vec<_> =
            order["texts"].as_array().unwrap().iter().map(|text| (text.as_str(), bits_of(text))).collect();
        let wrong = texts.windows(2).find(|pair| pair[0].0 >= pair[1].0 || pair[0].1 >= pair[1].1)?;
        Some(format!("{wrong:?}"))
    });
}

#[test]
fn times_are_written_in_rfc_3339() {
    each("times", "calendar", |case| {
        let written = time_in::rfc3339(case["ms"].as_str()?.parse().unwrap());
        let written = written.map(|text| String::from_utf8(text.to_vec()).unwrap());
        unless_equal(&json!(written), &case["time"])
    });
}

#[test]
fn bounds_are_those_of_the_millisecond() {
    each("times", "bounds", |case| {
        let ms = case["ms"].as_str()?.parse().unwrap();
        let found = match case["format"].as_str()? {
            // Any time has bounds: only its low bits count.
            "txid" => Txid::wrapping_bounds_of(ms).map(|id| id.to_string()),
            format => formats::named(format)?.bounds(ms..=ms, &numbers(case)).unwrap(),
        };
        unless_equal(&json!(found), &json!([case["first"], case["last"]]))
    });
}

#[test]
fn networks_contain_their_peers_and_no_others() {
    let networks = |case: &Value| {
        let list = case["networks"].as_array().unwrap().iter();
        Networks::parse(list.map(|network| network.as_str().unwrap()))
    };
    each("trust", "networks", |case| {
        let networks = networks(case).unwrap();
        let wrong = |peers: &str, expected| {
            let peers = case[peers].as_array().unwrap().iter();
            peers.map(bytes).find(|peer| networks.contain(Peer::parse(peer)) != expected)
        };
        let peer = wrong("inside", true).or_else(|| wrong("outside", false))?;
        Some(peer.escape_ascii().to_string())
    });
    each("trust", "invalid", |case| {
        let found = match networks(case) {
            Err(NetworkError::NotANetwork(entry)) => json!([entry, "not_a_network"]),
            Err(NetworkError::Mapped(entry)) => json!([entry, "mapped"]),
            Err(NetworkError::OffWithOthers) => json!(["off", "off"]),
            other => json!(format!("{other:?}")),
        };
        unless_equal(&found, &json!([case["entry"], case["reason"]]))
    });
}

#[test]
fn ids_of_clients_are_valid_or_not() {
    each("validity", "values", |case| {
        let found = is_valid_id(&bytes(&case["value"]));
        unless_equal(&json!(found), &case["valid"])
    });
}

/// How to read a case's text.
fn numbers(case: &Value) -> Numbers {
    match case["layout"].as_str() {
        Some(layout) => Numbers { layout: layout.parse().unwrap(), is_chosen: true },
        None => Numbers::UNKNOWN,
    }
}

#[test]
fn every_reading_is_there_and_the_likeliest_first() {
    each("formats", "readings", |case| {
        let now_ms = case["now"].as_str()?.parse().unwrap();
        let found = formats::Readings::of(&bytes(&case["text"]), &Numbers::UNKNOWN, now_ms);
        let found: Vec<_> = found
            .iter()
            .map(|it| {
                let mut reading = json!({ "format": it.name() });
                if let Some(layout) = it.layout {
                    reading["layout"] = layout.into();
                }
                if let Some(ms) = it.ms {
                    reading["ms"] = ms.to_string().into();
                }
                if let Some(why) = it.unlikely {
                    reading["unlikely"] = match why {
                        Unlikely::TooEarly => "too_early",
                        Unlikely::TooLate => "too_late",
                        Unlikely::ByChance => "by_chance",
                    }
                    .into();
                }
                reading
            })
            .collect();
        // The time of a flake may be more than fits.
        let expected = case["readings"].to_string().replace("18446744073709551615", &i64::MAX.to_string());
        let found = json!(found).to_string();
        (found != expected).then_some(found)
    });
}

#[test]
fn ids_are_found_in_other_text() {
    each("formats", "found", |case| {
        let (text, mut found) = (bytes(&case["text"]), Vec::new());
        Finder::of_all(Numbers::UNKNOWN).each(&text, |id| {
            found.push(json!({ "format": id.format.name, "text": String::from_utf8_lossy(&text[id.range]) }));
            ControlFlow::Continue(())
        });
        unless_equal(&json!(found), &case["found"])
    });
}

fn recognized(case: &Value) -> Vec<&'static str> {
    let found = formats::recognize(&bytes(&case["text"]), &numbers(case), txid::system_ms()).unwrap_or_default();
    found.into_iter().map(|(reading, _)| reading.name()).collect()
}

#[test]
fn every_format_that_is_read_has_vectors() {
    for section in ["valid", "invalid"] {
        let cases = cases("formats", section);
        for format in formats::ALL.iter().copied().filter(|format| format.is_read()) {
            let name = format.name;
            assert!(cases.iter().any(|case| case["format"] == name), "{name} has no {section} vectors");
        }
    }
}

#[test]
fn texts_are_recognized_as_their_format_only() {
    each("formats", "valid", |case| {
        let found = recognized(case);
        let name = case["format"].as_str()?;
        let text = bytes(&case["text"]);
        let ms = formats::named(name)?.ms(&text, &numbers(case));
        let epoch_ms = case["epoch"].as_str().map_or(0, |epoch| epoch.parse().unwrap());
        // It may be more than fits a flake.
        let ms_in = |text: &str| text.parse::<i128>().unwrap().min(i64::MAX.into()) as i64;
        let expected = case["ms"].as_str().map(|ms| ms_in(ms) - epoch_ms);
        (!found.contains(&name) || ms != expected).then(|| format!("found {found:?} of {ms:?}"))
    });
    each("formats", "invalid", |case| {
        let found = recognized(case);
        found.contains(&case["format"].as_str()?).then(|| format!("found {found:?}"))
    });
}

#[test]
fn names_of_headers_are_valid_or_not() {
    each("validity", "names", |case| {
        let says = match check_header_name(case["name"].as_str()?) {
            Ok(()) => json!({ "valid": true }),
            Err(HeaderNameError::NoName(_)) => json!({ "valid": false, "reason": "not_a_name" }),
            Err(HeaderNameError::Underscore(_)) => json!({ "valid": false, "reason": "underscore" }),
            Err(HeaderNameError::Reserved(_)) => json!({ "valid": false, "reason": "reserved" }),
            Err(other) => json!(format!("{other:?}")),
        };
        (says["valid"] != case["valid"] || says["reason"] != case["reason"]).then(|| says.to_string())
    });
}

/// What is decided about a request, under these options: what goes on, or what is wrong with its ids.
fn decided(options: &Value, peer: &str, case: &Value) -> Value {
    let mut policy = Policy::default();
    for (name, value) in options.as_object().unwrap() {
        let words: Vec<&str> = match value {
            Value::Array(words) => words.iter().map(|word| word.as_str().unwrap()).collect(),
            Value::Bool(is_on) => vec![if *is_on { "on" } else { "off" }],
            word => vec![word.as_str().unwrap()],
        };
        if !matches!(name.as_str(), "is_function" | "format") && !words.concat().starts_with('$') {
            policy.set(name, &words).unwrap();
        }
    }
    let head = headers(case);
    let (mut came, mut repeated, mut values) = (0, 0, [&b""[..]; PLACES]);
    for (name, value) in &head {
        if let Some(place) = policy.place_of(name.as_bytes()) {
            repeated |= came & 1 << place;
            came |= 1 << place;
            values[place] = value;
        }
    }
    let is_trusted = policy.trusts(Peer::parse(peer.as_bytes()));
    let request = Came { is_trusted, came, repeated, value: |place: usize| values[place] };
    let is_valid = |_, value: &[u8]| is_valid_id(value);
    let (verdict, about, id) = request.id(is_valid);
    if verdict == Verdict::Invalid && policy.rejects() {
        return json!({ "log": policy.name_at(about.unwrap()) });
    }
    let mut span = request.span(&policy, txid::system_ms());
    let share = head.iter().find(|(name, _)| name == "x-share").and_then(|(_, value)| Ratio::parse(value));
    if let Some(ratio) = policy.sample().or(share) {
        span.decide(ratio);
    }
    let trace_id = span.trace_id.to_string();
    let id = match id {
        b"" if options["format"] == "same_as_trace" => trace_id.as_bytes(),
        b"" => b"ID",
        id => id,
    };
    let mut sent = Map::new();
    for (name, value) in head.iter().filter(|(name, _)| !matches!(name.as_str(), "a" | "x-real-ip" | "x-share")) {
        let before = sent.get(name).and_then(Value::as_str).map(|before| format!("{before},"));
        sent.insert(name.clone(), format!("{}{}", before.unwrap_or_default(), value.escape_ascii()).into());
    }
    let texts = span.texts();
    let outgoing = Outgoing {
        traceparent: &texts.traceparent,
        parent_span_id: texts.parent_span_id.as_ref(),
        b3: &texts.b3[..texts.b3_len],
        sampled: span.sampled,
        is_continued: span.is_continued,
        is_datadog: span.is_datadog,
        priority: span.priority,
        ratio: span.ratio,
        random_value: span.random_value().filter(|_| span.open == Open::ByValue),
    };
    let outgoing = (!policy.kinds().is_empty()).then_some(outgoing);
    request.changes(&policy, id, outgoing, is_valid, |place, value| {
        let name = policy.name_at(place).to_lowercase();
        match value {
            Some(value) => _ = sent.insert(name, value.escape_ascii().to_string().into()),
            None => _ = sent.remove(&name),
        }
    });
    let text = masked(case, &json!({ "sent": sent }).to_string(), &trace_id, &span.span_id.to_string());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn requests_are_decided() {
    let policies = section("decisions", "policies");
    each("decisions", "requests", |case| {
        let options = &policies[case["policy"].as_str()?];
        if options["valid"] != Value::Null {
            return None;
        }
        let key = if case["log"] == Value::Null { "sent" } else { "log" };
        unless_equal(&decided(options, case["peer"].as_str()?, case), &json!({ key: case[key] }))
    });
    each("traces", "requests", |case| {
        let options = json!({
            "accept": if case["accepted"] == true { "all" } else { "off" },
            "trace": case["kinds"],
            "trace_id_header": case["trace_id_header"].as_str().unwrap_or("off"),
        });
        let mut expected = case["sent"].clone();
        expected["x-request-id"] = "ID".into();
        unless_equal(&decided(&options, "10.0.0.1", case), &json!({ "sent": expected }))
    });
}
