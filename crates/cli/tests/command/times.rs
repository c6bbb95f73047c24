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
    // As nginx logs it.
    for text in ["01/Apr/2018:01:21:28 +0000", "[01/Apr/2018:03:21:28 +0200]", "31/Mar/2018:20:51:28 -0430"] {
        assert_eq!(ms(text), 1_522_545_688_000, "{text}");
    }
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
        ("5d", 432_000_000),
        ("1h30m", 5_400_000),
    ] {
        let late = ms(text) - (now - ago);
        assert!((0..30_000).contains(&late), "{text}: {late} ms late");
    }
}

#[test]
fn local_times_are_of_the_variable_tz() {
    for zone in ["Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"] {
        for (text, expected) in [
            ("2018-03-01 10:00:00", "2018-03-01T09:00:00.000Z"),
            ("2018-04-01", "2018-03-31T22:00:00.000Z"),
            ("2018-03-01T10:00:00+05:30", "2018-03-01T04:30:00.000Z"),
        ] {
            let json = printed(txid(&["range", "--json", "--from", text]).env("TZ", zone));
            assert!(json.contains(&format!("\"from\":\"{expected}\"")), "{zone}: {json}");
        }
    }
}

#[test]
fn a_time_zone_that_does_not_exist_is_an_error() {
    for args in [&["range", "--from", "10:00"][..], &["inspect", "4om9qi54la8ffr4bd9sg"]] {
        let said = refusal(txid(args).env("TZ", "Europe/Berlyn"));
        assert!(said.contains("TZ is 'Europe/Berlyn', which is not a time zone on this system"), "{said}");
    }
    printed(txid(&["range", "--from", "2018-04-01T01:21:28Z"]).env("TZ", "Europe/Berlyn"));
}

#[test]
fn offsets_end_at_23_59() {
    assert_eq!(ms("2018-04-02T01:20:28.552+23:59"), 1_522_545_688_552);
    assert_eq!(ms("2018-03-31T01:22:28.552-23:59"), 1_522_545_688_552);
    for text in ["2018-04-01T01:21:28+24:00", "2018-04-01T01:21:28-25:00", "2018-04-01T01:21:28+99:00"] {
        assert!(why_not(text).contains("offsets are from -23:59 to +23:59"), "{text}");
    }
}

#[test]
fn the_ends_of_the_range() {
    let last = printed(&mut txid(&["range", "--from", "4398046511102", "--to", "2109-05-15T07:35:11.103Z"]));
    assert_eq!(last, "vvvvvvvvg00000000000\nvvvvvvvvnvvvvvvvvvvg\n");
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
        "tomorrow",
        "tuesday",
        "last tuesdays",
        "24:00",
        "25:00:00",
        "10:60",
        "1:00",
        "yesterday 24:00",
        "2018-04-01 24:00",
        "١٢٣",
        "ago",
        "x ago",
        "1 fortnight ago",
    ] {
        assert!(why_not(text).contains("not a time; write it as 2018-04-01T01:21:28.552Z"), "{text}");
    }
    for text in ["-10m ago", "99999999999999 years ago", "1e9h ago"] {
        why_not(text);
    }
}
