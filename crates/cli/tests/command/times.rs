//! The times that --at, --from and --to accept, tested with `txid range`.

use crate::{printed, refusal, txid};
use txid::Txid;

/// The millisecond that `text` is read as.
fn ms(text: &str) -> i64 {
    let bounds = printed(&mut txid(&["range", "--from", text, "--to", "2109-05-15"]));
    bounds.lines().next().unwrap().parse::<Txid>().unwrap().timestamp_ms()
}

/// Why a text is no time.
fn why_not(text: &str) -> String {
    let said = refusal(&mut txid(&["--at", text]));
    let why = said.strip_prefix(&format!("txid: --at '{text}': ")).and_then(|why| why.strip_suffix('\n'));
    why.unwrap_or_else(|| panic!("{said}")).to_string()
}

const NOT_A_TIME: &str = "not a time; write it as 2018-04-01T01:21:28.552Z, '2018-04-01 01:21', 2018-04-01, 10:00, 2:10am, \
                          10:00Z, yesterday, 'last tuesday', 10m or '10m ago', @1522545688, 1522545688552 or now";
const NOT_A_SPAN: &str = "not a span of time; write it as 10m, 1h30m or '2 days'";
const TOO_LATE: &str = "after 2109-05-15T07:35:11.103Z, the last time that an id can hold";

#[test]
fn rfc_3339_a_date_and_milliseconds() {
    assert_eq!(ms("2018-04-01T01:21:28.552Z"), 1_522_545_688_552);
    assert_eq!(ms("2018-04-01T03:21:28.552+02:00"), 1_522_545_688_552);
    assert_eq!(ms("2018-03-31T20:51:28.552-04:30"), 1_522_545_688_552);
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
    let why =
        "TZ is 'Europe/Berlyn', which is not a time zone on this system; set it as in TZ=Europe/Berlin, or unset it\n";
    for (args, option) in
        [(&["range", "--from", "10:00"][..], "--from '10:00': "), (&["inspect", "4om9qi54la8ffr4bd9sg"], "")]
    {
        assert_eq!(refusal(txid(args).env("TZ", "Europe/Berlyn")), format!("txid: {option}{why}"));
    }
    printed(txid(&["range", "--from", "2018-04-01T01:21:28Z"]).env("TZ", "Europe/Berlyn"));
}

#[test]
fn offsets_end_at_23_59() {
    assert_eq!(ms("2018-04-02T01:20:28.552+23:59"), 1_522_545_688_552);
    assert_eq!(ms("2018-03-31T01:22:28.552-23:59"), 1_522_545_688_552);
    for text in ["2018-04-01T01:21:28+24:00", "2018-04-01T01:21:28-25:00", "2018-04-01T01:21:28+99:00"] {
        assert_eq!(why_not(text), "the offset is too large; offsets are from -23:59 to +23:59", "{text}");
    }
}

#[test]
fn the_ends_of_the_range() {
    let last = printed(&mut txid(&["range", "--from", "4398046511102", "--to", "2109-05-15T07:35:11.103Z"]));
    assert_eq!(last, "vvvvvvvvg00000000000\nvvvvvvvvnvvvvvvvvvvg\n");
    for text in
        ["-1", "1969-12-31", "1969-12-31T23:59:59.999999Z", "60 years ago", "9999 years ago", "-99999999999999999999"]
    {
        assert_eq!(why_not(text), "before 1970-01-01T00:00:00.000Z, the first time that an id can hold", "{text}");
    }
    for text in [
        "4398046511104",
        "2109-05-16",
        "9999-12-31",
        "99999999999999999999",
        "+100 years",
        "+9999 years",
        "@99999999999",
    ] {
        assert_eq!(why_not(text), TOO_LATE, "{text}");
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
        "-10m ago",
        "99999999999999 years ago",
        "1e9h ago",
        "+",
        "+10",
        "@",
        "@1.",
        "@x",
        "@1.5.5",
        "0m",
    ] {
        assert_eq!(why_not(text), NOT_A_TIME, "{text}");
    }
}

/// A number is what it looks like, or refused with what it might be.
#[test]
fn a_number_says_by_its_length_what_it_is() {
    for (text, same) in [
        ("1795521600", "2026-11-24T12:00:00Z"),
        ("20261124", "2026-11-24"),
        ("2026", "2026-01-01"),
        ("@1795521600", "2026-11-24T12:00:00Z"),
        ("@5", "1970-01-01T00:00:05Z"),
        ("01/Apr/2018:01:21:28", "2018-04-01T01:21:28Z"),
    ] {
        assert_eq!(ms(text), ms(same), "{text}");
    }
    for text in ["5", "1000", "1969", "2110", "123456", "20261324", "20260230", "123456789"] {
        let digits = if text.len() == 1 { "1 digit".to_string() } else { format!("{} digits", text.len()) };
        let why = format!(
            "a number of {digits} is no time; write seconds since 1970 as @{text} or with 10 digits, milliseconds with 13, \
             a day as 2018-04-01 or 20180401, a year as 2018"
        );
        assert_eq!(why_not(text), why);
    }
    for (text, unit) in [("1795521600000000", "microseconds"), ("1795521600000000000", "nanoseconds")] {
        assert_eq!(why_not(text), format!("{TOO_LATE}; {unit}? milliseconds are the first 13 digits"));
    }
    assert_eq!(why_not("17955216000000000"), TOO_LATE);
}

#[test]
fn a_minus_is_before_now_and_a_plus_after() {
    let now = txid::system_ms();
    for (text, ahead) in [("-10m", -600_000), ("-1h30m", -5_400_000), ("+10m", 600_000)] {
        let late = ms(text) - (now + ahead);
        assert!((0..30_000).contains(&late), "{text}: {late} ms late");
    }
}

/// The window that options name, as the first and the last millisecond.
fn window(args: &[&str]) -> [String; 2] {
    let bounds = printed(&mut txid(&[&["range", "--json"], args].concat()));
    let bounds: serde_json::Value = serde_json::from_str(&bounds).unwrap();
    ["from", "to"].map(|end| bounds[end].as_str().unwrap().to_string())
}

#[test]
fn a_window_means_what_it_says() {
    let noon = "2026-11-24T12:00:00.000Z";
    let [id, uuid] = ["txid", "uuid_v7"].map(|format| {
        let id = printed(&mut txid(&["new", "--format", format, "--at", noon]));
        id.trim().to_string()
    });
    for (args, expected) in [
        (&["--from", noon, "--to", "+10m"][..], [noon, "2026-11-24T12:10:00.000Z"]),
        (&["--from", noon, "--for", "1ms"], [noon, "2026-11-24T12:00:00.001Z"]),
        (&["--to", noon, "--for", "10m"], ["2026-11-24T11:50:00.000Z", noon]),
        (&["--around", noon, "--within", "1m"], ["2026-11-24T11:59:00.000Z", "2026-11-24T12:01:00.001Z"]),
        (&["--around", &id], ["2026-11-24T11:59:55.000Z", "2026-11-24T12:00:05.001Z"]),
        (&["--from", &id, "--to", "+1s"], [noon, "2026-11-24T12:00:01.000Z"]),
        (&["--from", &uuid, "--to", "+1s"], [noon, "2026-11-24T12:00:01.000Z"]),
        (&["--from", "2026-11-24", "--to", &id], ["2026-11-24T00:00:00.000Z", noon]),
        (
            &["--layout", "discord", "--from", "1439530262794464807", "--for", "1s"],
            ["2025-11-16T08:19:19.829Z", "2025-11-16T08:19:20.829Z"],
        ),
    ] {
        assert_eq!(window(args), expected, "{args:?}");
    }
    for (args, why) in [
        (&["--to", "+10m"][..], "--to '+10m' is after --from, which is missing"),
        (
            &["--from", noon, "--to", "2026-11-25", "--for", "1h"],
            "--for says how long the window is, and so do the start and the end; leave one out",
        ),
        (
            &["--for", "1h"],
            "--for says how long the window is; say where with --from or --to; with --around, --within says how long",
        ),
        (&["--from", noon, "--within", "1h"], "--within says how long before and after --around, which is missing"),
        (
            &["--from", noon, "--for", "1 month"],
            "--for '1 month': a month or a year is not always as long; give it in days or less",
        ),
        (&["--from", noon, "--for", "0.1ms"], "--for '0.1ms': less than a millisecond"),
        (&["--to", noon, "--for", "60000 days"], "--for '60000 days': longer than the times that an id can hold"),
        (&["--from", noon, "--for", "10"], &format!("--for '10': {NOT_A_SPAN}")),
        (&["--from", noon, "--to", "+10"], &format!("--to '10': {NOT_A_SPAN}")),
        (&["--around", noon, "--within", "10"], &format!("--within '10': {NOT_A_SPAN}")),
        (&["--around", "x"], &format!("--around 'x': {NOT_A_TIME}")),
        (&["--from", noon, "--to", "x"], &format!("--to 'x': {NOT_A_TIME}")),
        (
            &["--from", "919108f7-52d1-4320-9bac-f847db4148a8"],
            "--from '919108f7-52d1-4320-9bac-f847db4148a8': a UUID version 4, which holds no time",
        ),
        (&["--format", "any", "--from", noon], "--format: a window has a first and a last id of one format; give one"),
        (&["--to", noon], "--from or --around is missing"),
        (
            &["--format", "uuid_v7", "--from", "b2fr5nvmbtcu7vl9phl0"],
            "--from 'b2fr5nvmbtcu7vl9phl0': an id, which may be a txid or xid; give its time, as txid inspect shows it",
        ),
        // As a txid, it would be of a time before there were any.
        (&["--from", "9m4e2mr0ui3e8a215n4g"], &format!("--from '9m4e2mr0ui3e8a215n4g': {NOT_A_TIME}")),
    ] {
        assert_eq!(refusal(&mut txid(&[&["range"], args].concat())), format!("txid: {why}\n"), "{args:?}");
    }
}
