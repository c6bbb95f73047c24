//! The times that --at, --from and --to accept, tested with `txid range`.

use crate::{printed, refusal, txid};
use txid::Txid;

/// The millisecond that `text` is read as.
fn ms(text: &str) -> i64 {
    let bounds = printed(&mut txid(&["range", "--from", text, "--to", "2109-05-15"]));
    bounds.lines().next().unwrap().parse::<Txid>().unwrap().timestamp_ms() as i64
}

fn why_not(text: &str) -> String {
    let said = refusal(&mut txid(&["--at", text]));
    assert!(said.starts_with(&format!("txid: --at '{text}': ")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn rfc_3339_a_date_and_milliseconds() {
    assert_eq!(ms("2018-04-01T01:21:28.552Z"), 1_522_545_688_552);
    assert_eq!(ms("2018-04-01T03:21:28.552+02:00"), 1_522_545_688_552);
    assert_eq!(ms("2018-04-01 01:21:28Z"), 1_522_545_688_000);
    assert_eq!(ms("2018-04-01T01:21:28.552999999Z"), 1_522_545_688_552);
    assert_eq!(ms("2018-04-01"), 1_522_540_800_000);
    assert_eq!(ms("2016-02-29"), 1_456_704_000_000);
    assert_eq!(ms("1522545688552"), 1_522_545_688_552);
    assert_eq!(ms("0"), 0);
    assert_eq!(ms("1970-01-01T00:00:00Z"), 0);
}

#[test]
fn now_and_ago() {
    let now = txid::system_ms();
    for (text, ago) in [
        ("now", 0),
        ("10m ago", 600_000),
        ("10 minutes ago", 600_000),
        ("1h30m ago", 5_400_000),
        ("1h 30m ago", 5_400_000),
        ("2 days ago", 172_800_000),
        ("1 week ago", 604_800_000),
    ] {
        let late = ms(text) - (now - ago);
        assert!((0..30_000).contains(&late), "{text}: {late} ms late");
    }
}

#[test]
fn the_ends_of_the_range() {
    let last = printed(&mut txid(&["range", "--from", "4398046511103", "--to", "2109-05-15T07:35:11.103Z"]));
    assert_eq!(last, "vvvvvvvvo00000000000\nvvvvvvvvvvvvvvvvvvvg\n");
    for text in ["-1", "1969-12-31", "1969-12-31T23:59:59.999999Z", "60 years ago", "-99999999999999999999"] {
        assert!(why_not(text).contains("before 1970-01-01T00:00:00.000Z"), "{text}");
    }
    for text in ["4398046511104", "2109-05-16", "9999-12-31", "99999999999999999999"] {
        assert!(why_not(text).contains("after 2109-05-15T07:35:11.103Z"), "{text}");
    }
}

#[test]
fn an_invalid_time_is_reported_with_a_valid_one() {
    for text in [
        "",
        " ",
        "-",
        "2018-02-30",
        "2018-13-01",
        "2018-04-01T25:00:00Z",
        "2018-04-01T01:21:28",
        "tomorrow",
        "10m",
        "١٢٣",
        "ago",
        "x ago",
        "1 fortnight ago",
    ] {
        assert!(why_not(text).contains("write it as 2018-04-01T01:21:28.552Z"), "{text}");
    }
    for text in ["-10m ago", "99999999999999 years ago", "1e9h ago"] {
        why_not(text);
    }
}
