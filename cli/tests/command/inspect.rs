//! `txid inspect`.

use crate::{gzip, printed, txid};

const SAMPLE: &str = "4om9qi54la8ffr4bd9sg";

const BLOCK: &str = "\
4om9qi54la8ffr4bd9sg
  format  txid
  time    1990-10-13T14:44:10.002Z
  local   1990-10-13T15:44:10.002+01:00
  age     AGE
  ms      655829050002
  random  2a90f7ec8b6a79
  hex     262c9d48a4aa90f7ec8b6a79
  00100110 00101100 10011101 01001000 10100100 10101010
  |--------------- time, 42 bits ---------------||----|
  10010000 11110111 11101100 10001011 01101010 01111001
  |----------------- random, 54 bits -----------------|
";

const JSON: &str = concat!(
    r#"{"id":"4om9qi54la8ffr4bd9sg","format":"txid","time":"1990-10-13T14:44:10.002Z","ms":655829050002,"#,
    r#""random":"2a90f7ec8b6a79","hex":"262c9d48a4aa90f7ec8b6a79"}"#,
    "\n"
);

/// Replaces what changes with time.
fn ageless(block: &str) -> String {
    let lines = block.lines().map(|line| if line.starts_with("  age ") { "  age     AGE" } else { line });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_id_is_shown_in_either_case() {
    for id in [SAMPLE, &SAMPLE.to_uppercase()] {
        let block = printed(txid(&["inspect", id]).env("TZ", "CET-1"));
        assert_eq!(ageless(&block), BLOCK);
    }
}

#[test]
fn the_age_has_two_units() {
    let now = txid::system_ms();
    // Each with tolerance for a command that starts late.
    for (ago, age) in [
        (-900, "now"),
        (10_000, "1"),
        (90_500, "1 minute 3"),
        (2 * 3_600_000 + 80_000, "2 hours 1 minute ago"),
        (86_400_000 + 3_600_000 + 300_000, "1 day 1 hour ago"),
        (45 * 86_400_000 + 3_600_000, "1 month 1"),
        (400 * 86_400_000, "1 year 1 month ago"),
        (-3_600_000 * 50 - 59_000, "in 2 days 2 hours"),
    ] {
        let block = printed(&mut txid(&["inspect", &crate::id(now - ago)]));
        let line = block.lines().find(|line| line.contains("age")).unwrap();
        assert!(line.trim_start_matches("  age     ").starts_with(age), "{ago}: {line}");
        // The name, two numbers, two units, and "in" or "ago".
        assert!(line.split_whitespace().count() <= 6, "{ago}: {line}");
    }
}

#[test]
fn json_is_one_object_a_line() {
    assert_eq!(printed(&mut txid(&["inspect", "--json", SAMPLE, SAMPLE])), JSON.repeat(2));
    let object: serde_json::Value = serde_json::from_str(JSON).unwrap();
    assert_eq!(object["ms"], 655_829_050_002_u64);
}

/// The end of a `traceparent` of a later version may be anything.
const LATER: &str = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-\x1b]0;\u{7f}\u{9b}é";

#[test]
fn json_has_every_character_of_an_id() {
    let line = printed(&mut txid(&["inspect", "--json", LATER]));
    assert!(line.contains(r#"-01-\u001b]0;\u007f\u009bé""#), "{line:?}");
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(object["id"], LATER);
}

#[test]
fn control_characters_of_an_id_are_shown() {
    let block = printed(&mut txid(&["inspect", LATER]));
    assert!(block.contains("-01-\\x1b]0;\\x7f\\x9bé\n"), "{block:?}");
}

#[test]
fn ids_come_on_standard_input_too() {
    let lines = format!("{SAMPLE}\r\n\n  {SAMPLE}\t{SAMPLE}");
    assert_eq!(printed(txid(&["inspect", "--json"]).write_stdin(&*lines)), JSON.repeat(3));
    assert_eq!(printed(txid(&["inspect", "--json"]).write_stdin(gzip(lines.as_bytes()))), JSON.repeat(3));
    assert_eq!(printed(txid(&["inspect"]).write_stdin("")), "");
}

/// What is said of a text that no format has the length of.
fn unknown(what: &str) -> String {
    let read = "txid, uuid-v1, uuid-v4, uuid-v6, uuid-v7, uuid, flake, unique-id, unique-id-short, trace-id, \
                trace-host-id, otel-trace-id, span-id, traceparent, sofa, skywalking, b3, snowflake";
    format!("not an id of a known format ({what}); these are read: {read}")
}

fn refusal_of(text: &str) -> String {
    let assert = txid(&["inspect", text]).assert().code(1).stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_text_that_looks_like_something_else_is_named() {
    for (text, what) in [
        ("5", "1 character"),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "26 characters: a ULID?"),
        ("V1StGXR8_Z5jdHi6B-myT", "21 characters: a Nano ID?"),
        ("1522545688552", "13 characters: milliseconds since 1970?"),
        ("1522545688", "10 characters: seconds since 1970?"),
        ("{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "38 characters: a UUID in braces?"),
        ("0AWE5HZP3SKTK", "13 characters: a TSID?"),
        ("cjld2cjxh0000qzrmn831i7rn", "25 characters: a CUID?"),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "40 characters: a SHA-1?"),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "64 characters: a SHA-256?"),
    ] {
        let shown = if text.len() > 60 { format!("{}...", &text[..60]) } else { text.to_owned() };
        txid(&["inspect", text]).assert().code(1).stderr(format!("txid: '{shown}': {}\n", unknown(what)));
    }
    for almost in [
        "15225456x8",
        "0AWE5HZP3SKTI",
        "V1StGXR8_Z5jdHi6B.myT",
        "djld2cjxh0000qzrmn831i7rn",
        "cjld2cjxh0000qzrmn831i7r-",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f)",
        "(017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
        "ga39a3ee5e6b4b0d3255bfef95601890afd80709",
        "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ] {
        let said = refusal_of(almost);
        assert!(!said.contains("?)"), "{said}");
    }
}

#[test]
fn an_invalid_id_is_reported_and_the_others_are_printed() {
    let messages = format!(
        "txid: '4om9qi5zla8ffr4bd9sg': character 8 is 'z', not base32hex\ntxid: '': {}\n",
        unknown("0 characters")
    );
    let args = ["inspect", "--json", SAMPLE, "4om9qi5zla8ffr4bd9sg", "", SAMPLE];
    txid(&args).assert().code(1).stdout(JSON.repeat(2)).stderr(messages);
    let message = format!("txid: 'a\\x00\\xff': {}\n", unknown("3 characters"));
    txid(&["inspect", "--json"]).write_stdin(format!("{SAMPLE} ").into_bytes()).assert().code(0);
    txid(&["inspect"]).write_stdin(b"a\0\xff".to_vec()).assert().code(1).stdout("").stderr(message);
}

#[test]
fn a_long_word_is_not_repeated() {
    let message = format!("txid: '{}': character 1 is 'x', not lower-case hexadecimal\n", "x".repeat(60));
    txid(&["inspect", &"x".repeat(60)]).assert().code(1).stdout("").stderr(message);
    let message = format!("txid: '{}...': {}\n", "x".repeat(60), unknown("3000000 characters"));
    txid(&["inspect"]).write_stdin("x".repeat(3_000_000)).assert().code(1).stdout("").stderr(message);
}
