//! `txid new --format`, and what `txid inspect` recognizes its ids as.

use crate::{printed, refusal, txid};
use serde_json::Value;
use txid::formats::{ALL, Format};

fn inspected(id: &str) -> Value {
    // A Nano ID may begin with "-".
    serde_json::from_str(&printed(&mut txid(&["inspect", "--json", "--", id]))).unwrap()
}

/// The formats that can be made without a file; those with the host's address, if it has one.
fn made() -> impl Iterator<Item = &'static Format> {
    let can_be_made = |options: &[&str]| match options {
        ["address", ..] => txid::system::host_ipv4().is_some(),
        _ => !options.contains(&"state"),
    };
    ALL.iter().copied().filter(move |format| format.make.as_ref().is_some_and(|make| can_be_made(make.options)))
}

#[test]
fn every_format_is_made_and_recognized() {
    assert!(made().count() >= 13);
    for format in made() {
        let name = format.name;
        let title = if name == "strong" { "txid" } else { format.title };
        let ids = printed(&mut txid(&["new", "-n", "3", "--format", name]));
        let ids: std::collections::HashSet<_> = ids.lines().collect();
        assert_eq!(ids.len(), 3, "{name}");
        for id in ids {
            // A random trace id has a small sequence now and then, and nothing tells a host from random bits. One span id of
            // some thousand has only decimal digits.
            let is = inspected(id);
            let is_found = is["format"] == title || is["or_else"].to_string().contains(title);
            let may_be_another = name.contains("trace") || id.bytes().all(|byte| byte.is_ascii_digit());
            assert!(is_found && (is["format"] == title || may_be_another), "{name}: {is}");
        }

        let at = ["new", "--format", name, "--at", "1522545688552"];
        match format.make.as_ref().unwrap().takes_a_time {
            true => {
                // An xid is also a txid of another time.
                let is = inspected(printed(&mut txid(&at)).trim());
                let all = std::iter::once(&is).chain(is["or_else"].as_array().into_iter().flatten());
                let mut all = all.filter(|is| is["format"] == title);
                assert_eq!(all.next().unwrap()["ms"].as_i64().unwrap() / 1000, 1_522_545_688, "{is}");
            }
            false => {
                let why = "txid: --at: ids of this format carry no time, or only the current time\n";
                assert_eq!(refusal(&mut txid(&at)), why);
            }
        }
    }
}

#[test]
fn nano_ids_take_a_length_and_an_alphabet_and_type_ids_a_prefix() {
    let made = |args: [&str; 3]| printed(&mut txid(&[&["new", "--format"], &args[..]].concat()));
    let nano = made(["nanoid", "--length=40", "--alphabet=-0"]);
    assert!(nano.len() == 41 && nano.trim().bytes().all(|byte| b"-0".contains(&byte)), "{nano}");
    let user = inspected(made(["typeid", "--prefix=user", "--at=1522545688552"]).trim());
    assert_eq!((&user["prefix"], &user["ms"]), (&"user".into(), &1_522_545_688_552_u64.into()));
    for (format, option, message) in [
        ("nanoid", "--length=91", "length \"91\" is not a number from 1 to 90"),
        ("nanoid", "--alphabet=aa", "alphabet \"aa\" is not 2 to 94 different characters of ASCII, without spaces"),
        ("typeid", "--prefix=_a", "prefix \"_a\" is not 1 to 63 characters of a-z_, without _ at either end"),
    ] {
        assert_eq!(refusal(&mut txid(&["new", "--format", format, option])), format!("txid: {message}\n"));
    }
}

#[test]
fn other_formats_that_fit_are_listed() {
    let trace_id = inspected("b13f65bff40000010123456789abcdef");
    assert_eq!(trace_id["format"], "time-ordered trace id");
    assert_eq!(trace_id["ms"], 1_522_545_688_552_u64);
    let others: Vec<_> = trace_id["or_else"].as_array().unwrap().iter().map(|it| it["format"].as_str()).collect();
    let titles = ["OpenTelemetry trace id", "time-ordered trace id with a host", "X-Ray trace id"];
    assert_eq!(others, titles.map(Some));
    assert_eq!(trace_id["or_else"][1]["ms"], 1_522_545_688_552_u64);
    let random = inspected("4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!((&random["format"], &random["ms"]), (&"OpenTelemetry trace id".into(), &Value::Null));
    let block = printed(&mut txid(&["inspect", "4bf92f3577b34da6a3ce929d0e0e4736"]));
    let line = "\n  or      time-ordered trace id of 1990-09-06T07:32:15.727Z; unlikely: its time is before such ids existed\n";
    assert!(block.contains(line), "{block}");
}

/// OpenTelemetry forbids both.
#[test]
fn zeros_are_no_random_id() {
    for (zeros, format) in [("0".repeat(32), "time-ordered trace id"), ("0".repeat(16), "snowflake")] {
        let object = inspected(&zeros);
        assert_eq!(object["format"], format);
        assert!(!object["or_else"].to_string().contains("OpenTelemetry"), "{object}");
        assert!(!object["or_else"].to_string().contains("span"), "{object}");
    }
}

const SPAN: &str = concat!(
    r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","#,
    r#""parentSpanId":"a3ce929d0e0e4736","startTimeUnixNano":"1795521840123000000","endTimeUnixNano":"1795521840124567891"}]}]}]}"#
);

#[test]
fn the_samples_are_recognized() {
    for (id, format, name, value) in [
        ("0ad1348f1403169275002100356696", "SOFATracer id", "address", "10.209.52.143"),
        ("b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042", "SkyWalking id", "thread", "57"),
        ("awFqxtNirgRaFaBf17HW_gAAAEQ", "Apache UNIQUE_ID", "random", "d362ae045a15a05fd7b1"),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "W3C traceparent", "span_id", "00f067aa0ba902b7"),
        ("64fe8b2a57d3eff7-e457b5a2e4d86bd1-d-05e3ac9a4f6e3b90", "b3", "parent_span_id", "05e3ac9a4f6e3b90"),
        (SPAN, "OpenTelemetry trace id", "id", "4bf92f3577b34da6a3ce929d0e0e4736"),
        (SPAN, "OpenTelemetry trace id", "time", "2026-11-24T12:04:00.123Z"),
        (SPAN, "OpenTelemetry trace id", "parent_span_id", "a3ce929d0e0e4736"),
        (SPAN, "OpenTelemetry trace id", "duration", "1.567891ms"),
        ("C232AB00-9414-11EC-B3C8-9F6BDECED846", "UUID version 1", "time", "2022-02-22T19:22:22.000Z"),
        ("00000000-0000-0000-0000-000000000000", "UUID", "variant", "ncs"),
    ] {
        let object = inspected(id);
        assert_eq!((object["format"].as_str(), object[name].as_str()), (Some(format), Some(value)), "{object}");
    }
}

/// Random text can hold such a time, too.
#[test]
fn a_time_outside_the_calendar_is_shown_in_milliseconds_only() {
    for (id, ms) in [
        ("1n42DGM5Tflk9n8mt7Fhc6", "4241228278813657531"),
        ("ffffffff-ffff-7fff-bfff-ffffffffffff", "281474976710655"),
        ("b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.18446744073709551615", "1844674407370955"),
    ] {
        let object = inspected(id);
        assert_eq!((&object["time"], object["ms"].to_string().as_str()), (&Value::Null, ms), "{id}");
        let block = printed(&mut txid(&["inspect", id]));
        assert!(block.contains(ms), "{block}");
        assert!(["time", "local", "age"].iter().all(|row| !block.contains(&format!("\n  {row} "))), "{block}");
    }
    let block = printed(&mut txid(&["inspect", "vvvvvvvvvvvvvvvvvvvg"]));
    assert!(
        block.contains("\n  or      push id of 263603549617915; unlikely: its time is more than a day ahead\n"),
        "{block}"
    );
}

#[test]
fn errors_are_those_of_the_format_that_was_meant() {
    for (id, message) in [
        ("4bf92f3577b34da6a3ce929d0e0e473G", "character 32 is 'G', not lower-case hexadecimal"),
        ("919108f7-52d1-4320-9bac-f847db4148ag", "character 36 is 'g', not hexadecimal"),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "version ff is not valid"),
        ("zzzzzzzzzzzzzzzzzzzzzz", "its value has more than 128 bits"),
    ] {
        txid(&["inspect", id]).assert().code(1).stdout("").stderr(format!("txid: '{id}': {message}\n"));
    }
}

#[test]
fn the_help_lists_every_format_that_is_made() {
    let help = printed(&mut txid(&["new", "--help"]));
    let takes = |name| match name {
        "nanoid" => "; takes --length, --alphabet",
        "typeid" => "; takes --prefix",
        "snowflake" => "; takes --node, --state, --layout",
        "segment" => "; takes --state",
        _ => "",
    };
    let mut lines = String::new();
    for format in ALL.iter().filter(|format| format.make.is_some()) {
        lines += &format!("  {:<16} {}{}\n", format.name, format.about, takes(format.name));
    }
    assert!(help.contains(&format!("A NAME is one of:\n{lines}\n")), "{lines}{help}");
}
