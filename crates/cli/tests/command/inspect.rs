//! `txid inspect`.

use crate::{gzip, printed, txid};

const SAMPLE: &str = "b2fr5nvmbtcu7vl9phl0";

/// Xids are in lower case only.
const IN_UPPER_CASE: &str = "\
b2fr5nvmbtcu7vl9phl0
  format  txid
  or      push id of 3649-07-07T04:24:27.927Z; unlikely: its time is more than a day ahead
  time    2018-04-01T01:21:28.537Z
  local   2018-04-01T02:21:28.537+01:00
  age     AGE
  ms      1522545688537
  random  1f59e3fea9cc6a
  hex     589fb2dff65f59e3fea9cc6a
  01011000 10011111 10110010 11011111 11110110 01011111
  |--------------- time, 42 bits ---------------||----|
  01011001 11100011 11111110 10101001 11001100 01101010
  |----------------- random, 54 bits -----------------|
";

const OF_A_NUMBER: &str = "\
1160090501362225152
  format   snowflake, layout discord
  or       snowflake, layout snowflake of 2019-08-10T07:28:23.621Z
  or       snowflake, layout uid of 2017-06-14T10:37:57.000Z
  or       snowflake, layout instagram of 2016-01-11T11:59:46.203Z
  or       snowflake, layout sonyflake of 2036-07-30T02:23:42.410Z; unlikely: its time is more than a day ahead
  or       snowflake, layout mastodon of 2530-12-10T08:30:53.696Z; unlikely: its time is more than a day ahead
  time     2023-10-07T05:45:28.964Z
  local    2023-10-07T05:45:28.964+00:00
  age     AGE
  ms       1696657528964
  node     1
  sequence 0
  hex      1019782a21001000
  00010000 00011001 01111000 00101010 00100001 00000000
  ||-------------- time, 41 bits ---------------||----|
  00010000 00000000
  |--||-----------|
";

const JSON: &str = concat!(
    r#"{"id":"b2fr5nvmbtcu7vl9phl0","format":"txid","time":"2018-04-01T01:21:28.537Z","ms":1522545688537,"#,
    r#""random":"1f59e3fea9cc6a","hex":"589fb2dff65f59e3fea9cc6a","or_else":["#,
    r#"{"id":"b2fr5nvmbtcu7vl9phl0","format":"xid","time":"2017-02-12T00:57:03.000Z","ms":1486861023000,"#,
    r#""machine":"f65f59","pid":"58366","counter":"11127914","hex":"589fb2dff65f59e3fea9cc6a"},"#,
    r#"{"id":"b2fr5nvmbtcu7vl9phl0","format":"push id","unlikely":"its time is more than a day ahead","#,
    r#""time":"7413-05-26T12:09:54.162Z","ms":171777067794162,"random":"9f9a3a23bc4ad6dc41","#,
    r#""hex":"9c3af71b3ef29f9a3a23bc4ad6dc41"}]}"#,
    "\n"
);

/// Replaces what changes with time.
fn ageless(block: &str) -> String {
    let lines = block.lines().map(|line| if line.starts_with("  age ") { "  age     AGE" } else { line });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_id_is_shown_in_either_case() {
    let block = |id: &str| ageless(&printed(txid(&["inspect", id]).env("TZ", "CET-1")));
    assert_eq!(block(&SAMPLE.to_uppercase()), IN_UPPER_CASE);
    let xid = "\n  or      xid of 2017-02-12T00:57:03.000Z\n  or      push id of 7413-05-26T12:09:54.162Z; ";
    assert_eq!(block(SAMPLE), IN_UPPER_CASE.replace("\n  or      push id of 3649-07-07T04:24:27.927Z; ", xid));
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
        // An id of a format that nothing else looks like, also if it is of times to come.
        let block = printed(&mut txid(&["inspect", &txid::uuid::wrapping_v7_at(now - ago).to_string()]));
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
    assert_eq!(object["ms"], 1_522_545_688_537_u64);
}

/// The end of a `traceparent` of a later version may be anything, and is not written.
#[test]
fn an_id_is_shown_as_it_is_written_here() {
    for (id, written) in [
        (
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-\x1b]0;\u{7f}\u{9b}é",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ),
        ("01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("0ad1348f14031692750021003000056696", "0ad1348f1403169275002100356696"),
        ("00000001160090501362225152", "1160090501362225152"),
    ] {
        let line = printed(&mut txid(&["inspect", "--json", id]));
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(object["id"], written);
        let block = printed(&mut txid(&["inspect", id]));
        assert_eq!(block.contains(", the only reading\n"), object["or_else"].is_null(), "{block}");
        assert!(block.starts_with(&format!("{written}\n")), "{block}");
    }
}

/// A number may have any zeros before it, and then looks like something else as well.
#[test]
fn a_padded_number_is_a_number_as_well() {
    let line = printed(&mut txid(&["inspect", "--json", "--layout", "snowflake", "0001160090501362225152"]));
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    let [first, second] = [&object, &object["or_else"][0]].map(|it| (&it["format"], &it["id"], &it["ms"]));
    assert_eq!(first, (&"snowflake".into(), &"1160090501362225152".into(), &1_565_422_103_621_u64.into()));
    assert_eq!((second.0, second.1), (&"flake".into(), &"0001160090501362225152".into()));
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
    format!("not an id of a known format ({what}); txid help grep names them")
}

fn refusal_of(text: &str) -> String {
    let assert = txid(&["inspect", text]).assert().code(1).stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_text_that_looks_like_something_else_is_named() {
    for (text, what) in [
        ("5", "1 character"),
        ("1522545688552", "13 characters: milliseconds since 1970?"),
        ("1522545688", "10 characters: seconds since 1970?"),
        ("0AWE5HZP3SKTK", "13 characters: a TSID?"),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "40 characters: a SHA-1?"),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "64 characters: a SHA-256?"),
    ] {
        let shown = if text.len() > 60 { format!("{}...", &text[..60]) } else { text.to_owned() };
        txid(&["inspect", text]).assert().code(1).stderr(format!("txid: '{shown}': {}\n", unknown(what)));
    }
    let as_long_as_a_tsid = "iloILOuU".chars().map(|other| format!("0AWE5HZP3SKT{other}"));
    for almost in [
        "15225456x8",
        "ga39a3ee5e6b4b0d3255bfef95601890afd80709",
        "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ]
    .map(str::to_string)
    .into_iter()
    .chain(as_long_as_a_tsid)
    {
        let said = refusal_of(&almost);
        assert!(!said.contains("?)"), "{said}");
    }
}

/// In each layout that there is; the likeliest has the last time that has come.
#[test]
fn a_number_is_shown_in_each_layout() {
    let block = ageless(&printed(&mut txid(&["inspect", "1160090501362225152"])));
    assert_eq!(block, OF_A_NUMBER);
    let line = printed(&mut txid(&["inspect", "--json", "1160090501362225152"]));
    let begin = "{\"id\":\"1160090501362225152\",\"format\":\"snowflake\",\"layout\":\"discord\",\"time\":\"2023-10-07";
    assert!(line.starts_with(begin), "{line}");
}

#[test]
fn an_invalid_id_is_reported_and_the_others_are_printed() {
    let messages = format!(
        "txid: 'b2fr5n.mbtcu7vl9phl0': character 7 is '.', not base32hex\ntxid: '': {}\n",
        unknown("0 characters")
    );
    let args = ["inspect", "--json", SAMPLE, "b2fr5n.mbtcu7vl9phl0", "", SAMPLE];
    txid(&args).assert().code(1).stdout(JSON.repeat(2)).stderr(messages);
    // What is printed and what is said come in the order of the lines.
    let mut both = assert_cmd::Command::new("sh");
    both.args(["-c", "exec \"$0\" inspect --json 2>&1", crate::program()]);
    let said = format!("{JSON}txid: '-': {}\n{JSON}", unknown("1 character"));
    both.write_stdin(format!("{SAMPLE}\n-\n{SAMPLE}\n")).assert().code(1).stdout(said);
    let message = format!("txid: 'a\\x00\\xff': {}\n", unknown("3 characters"));
    txid(&["inspect", "--json"]).write_stdin(format!("{SAMPLE} ").into_bytes()).assert().code(0);
    txid(&["inspect"]).write_stdin(b"a\0\xff".to_vec()).assert().code(1).stdout("").stderr(message);
}

#[test]
fn a_txid_without_a_character_is_seen_as_one() {
    txid(&["inspect", &SAMPLE[1..]])
        .assert()
        .code(1)
        .stderr(format!("txid: '{}': one character short of a txid\n", &SAMPLE[1..]));
}

#[test]
fn a_long_word_is_not_repeated() {
    let message = format!("txid: '{}': character 1 is 'x', not lower-case hexadecimal\n", "x".repeat(60));
    txid(&["inspect", &"x".repeat(60)]).assert().code(1).stdout("").stderr(message);
    let message =
        format!("txid: '{}...': a b3 header has 1, 33, 35, 49, 51, 52 or 68 characters, not 61\n", "x".repeat(60));
    txid(&["inspect", &"x".repeat(61)]).assert().code(1).stdout("").stderr(message);
    let message = format!("txid: '{}...': {}\n", "x".repeat(60), unknown("3000000 characters"));
    txid(&["inspect"]).write_stdin("x".repeat(3_000_000)).assert().code(1).stdout("").stderr(message);
}
