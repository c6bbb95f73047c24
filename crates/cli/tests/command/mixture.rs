//! Several formats at once.

use crate::{ALL, id, printed, refusal, txid};

/// A line with an id of each of these formats, of consecutive seconds after noon, the last first.
fn mixed(formats: &[&str]) -> String {
    let line = |(second, format): (usize, &&str)| {
        let at = format!("2026-11-24T12:00:{second:02}Z");
        let id = printed(&mut txid(&["new", "--format", format, "--at", &at]));
        format!("{second} id={}, \"GET /\"\n", id.trim())
    };
    formats.iter().enumerate().map(line).rev().collect()
}

const FORMATS: [&str; 8] = ["txid", "uuid_v7", "ulid", "ksuid", "xid", "flake", "txid", "unique_id"];

#[test]
fn a_mixture_is_searched_and_sorted_in_one_pass() {
    let log = mixed(&FORMATS);
    let sorted: String = { log.lines().rev().map(|line| format!("{line}\n")).collect() };
    for format in ["any", "txid,uuid_v7,ulid,ksuid,xid,flake,unique_id"] {
        let window = ["grep", "--format", format, "--from", "2026-11-24T12:00:02Z", "--to", "2026-11-24T12:00:06Z"];
        let found = printed(txid(&window).write_stdin(&*log));
        let expected: String = log.lines().skip(2).take(4).map(|line| format!("{line}\n")).collect();
        assert_eq!(found, expected, "{format}");
        assert_eq!(printed(txid(&["sort", "--format", format]).write_stdin(&*log)), sorted, "{format}");
        let ids = printed(txid(&["grep", ALL, "-o", "--format", format]).write_stdin(&*log));
        assert_eq!(ids.lines().count(), FORMATS.len(), "{ids}");
    }
    let some = printed(txid(&["grep", ALL, "-c", "--format", "ulid", "--format", "flake"]).write_stdin(&*log));
    assert_eq!(some, "2\n");
}

/// Any number could be an id, in any layout.
#[test]
fn numbers_are_ids_where_a_layout_says_so() {
    let log = "1439530262794464807 bot\n1522545688552000 us\n980253782132654080 x\n";
    txid(&["grep", ALL, "--format", "any"]).write_stdin(log).assert().code(1).stdout("");
    let (one, two) = ("1439530262794464807", id(1));
    let found = txid(&["grep", ALL, "-o"]).write_stdin(format!("{one} {two} {one}\n")).assert().success();
    found.stdout(format!("{two}\n"));
    let found = printed(txid(&["grep", "--format", "any", "--layout", "discord", "--from", "2025"]).write_stdin(log));
    assert_eq!(found, "1439530262794464807 bot\n");
    let found = printed(txid(&["grep", "--format", "txid,snowflake", "--to", "2019", "-o"]).write_stdin(log));
    assert!(found.contains("980253782132654080"), "{found}");
    let said = refusal(&mut txid(&["grep", ALL, "--format", "txid,flake", "--layout", "discord"]));
    assert_eq!(said, "txid: --layout is for --format snowflake, not txid,flake\n");
}
