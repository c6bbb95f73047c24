//! `txid range`.

use crate::{printed, refusal, txid};
use test_helpers::vectors::each;

const DAY: [&str; 5] = ["range", "--from", "2018-04-01", "--to", "2018-04-02"];

#[test]
fn the_two_bounds() {
    assert_eq!(printed(&mut txid(&DAY)), "b2fq0eg0000000000000\nb2gejk7vvvvvvvvvvvvg\n");
    let of_5 = printed(&mut txid(&["range", "--from", "0000000000005", "--to", "0000000000006"]));
    assert_eq!(of_5, "00000001800000000000\n00000001fvvvvvvvvvvg\n");
    let around_5 = printed(&mut txid(&["range", "--around", "0000000000005", "--within", "5ms"]));
    assert_eq!(around_5, "00000000000000000000\n00000002nvvvvvvvvvvg\n");
}

#[test]
fn a_condition_in_sql() {
    let sql = [&DAY[..], &["--sql", "request_id"]].concat();
    let condition = "request_id BETWEEN 'b2fq0eg0000000000000' AND 'b2gejk7vvvvvvvvvvvvg'\n";
    assert_eq!(printed(&mut txid(&sql)), condition);
}

#[test]
fn a_condition_in_the_sql_of_each_database() {
    let condition = |format, dialect| {
        let day = [
            "range",
            "--from",
            "0000000000005",
            "--to",
            "0000000000006",
            "--format",
            format,
            "--sql",
            "id",
            "--dialect",
            dialect,
        ];
        printed(&mut txid(&day))
    };
    let txids = ["'00000001800000000000'", "'00000001fvvvvvvvvvvg'"];
    let uuids = ["'00000000-0005-7000-8000-000000000000'", "'00000000-0005-7fff-bfff-ffffffffffff'"];
    for (format, [first, last]) in [("txid", txids), ("uuid_v7", uuids)] {
        let plain = format!("id BETWEEN {first} AND {last}\n");
        let mysql = format!("id BETWEEN _ascii{first} COLLATE ascii_bin AND _ascii{last} COLLATE ascii_bin\n");
        assert_eq!(condition(format, "mysql"), mysql);
        assert_eq!(condition(format, "sqlite"), format!("id COLLATE BINARY BETWEEN {first} AND {last}\n"));
        assert_eq!(condition(format, "duckdb"), plain);
        if format == "txid" {
            assert_eq!(condition(format, "postgresql"), format!("id COLLATE \"C\" BETWEEN {first} AND {last}\n"));
            assert_eq!(condition(format, "clickhouse"), plain);
        } else {
            assert_eq!(condition(format, "postgresql"), plain);
            let numbers = format!("toUInt128(id) BETWEEN toUInt128(toUUID({first})) AND toUInt128(toUUID({last}))\n");
            assert_eq!(condition(format, "clickhouse"), numbers);
        }
    }
    assert!(!condition("uuid_v6", "postgresql").contains("COLLATE"), "a column of UUIDs has none");
    // A number is compared as one, in all of them.
    for dialect in ["postgresql", "mysql", "sqlite", "duckdb", "clickhouse"] {
        let numbers = [&DAY[..], &["--format", "snowflake", "--sql", "id", "--dialect", dialect]].concat();
        let between = "id BETWEEN 980233278059446272 AND 980595665925046271\n";
        assert_eq!(printed(&mut txid(&numbers)), between, "{dialect}");
    }
}

#[test]
fn an_object_in_json() {
    let json = [&DAY[..], &["--json"]].concat();
    assert_eq!(
        printed(&mut txid(&json)),
        concat!(
            r#"{"first":"b2fq0eg0000000000000","last":"b2gejk7vvvvvvvvvvvvg","#,
            r#""from":"2018-04-01T00:00:00.000Z","to":"2018-04-02T00:00:00.000Z"}"#,
            "\n"
        )
    );
}

#[test]
fn the_bounds_of_every_format_that_sorts() {
    each("times", "bounds", |case| {
        let format = case["format"].as_str().unwrap().replace('_', "-");
        let ms = case["ms"].as_str().unwrap();
        // The last millisecond of a txid is before no time that can be given.
        if !(0..(1 << 42) - 1).contains(&ms.parse::<i64>().unwrap()) {
            return None;
        }
        let [from, to] = [0, 1].map(|more| format!("{:013}", ms.parse::<i64>().unwrap() + more));
        let layout = case["layout"].as_str().map_or(vec![], |layout| vec!["--layout", layout]);
        let found =
            printed(&mut txid(&[&["range", "--from", &from, "--to", &to, "--format", &format], &layout[..]].concat()));
        let expected = format!("{}\n{}\n", case["first"].as_str().unwrap(), case["last"].as_str().unwrap());
        (found != expected).then_some(found)
    });
}

#[test]
fn ids_that_do_not_sort_and_times_that_they_cannot_hold_are_refused() {
    for (args, why) in [
        (&["--format", "uuid_v1"][..], "ids of uuid_v1 do not sort by time, so a window has no first and last id"),
        (&["--format", "unique_id"], "ids of unique_id do not sort by time, so a window has no first and last id"),
        (&["--format", "sofa"], "ids of sofa do not sort by time, so a window has no first and last id"),
        (&["--format", "skywalking"], "ids of skywalking do not sort by time, so a window has no first and last id"),
        (
            &["--layout", "sonyflake"],
            "ids of snowflake have times from 2014-09-01T00:00:00.000Z to 2188-11-16T03:28:58.879Z",
        ),
        (&["--format", "flake", "--layout", "uid"], "--layout is for --format snowflake, not flake"),
        (
            &["--format", "uuid_v4"],
            "invalid value 'uuid_v4' for '--format <NAME>': ids of this format contain no timestamp",
        ),
    ] {
        let said = refusal(&mut txid(&[&["range", "--from", "2001-01-01", "--to", "2001-01-02"], args].concat()));
        assert_eq!(said, format!("txid: {why}\n"));
    }
    let numbers = printed(&mut txid(&[
        "range",
        "--from",
        "0000000000005",
        "--to",
        "2018-04-01",
        "--format",
        "snowflake",
        "--sql",
        "id",
    ]));
    assert_eq!(numbers, "id BETWEEN 0 AND 980233278059446271\n");
}

#[test]
fn a_range_without_a_time_is_refused() {
    for from in ["2018-04-02", "2018-04-01"] {
        let said = format!(
            "txid: the window is empty: --from is {from}T00:00:00.000Z, and --to is 2018-04-01T00:00:00.000Z\n"
        );
        assert_eq!(refusal(&mut txid(&["range", "--from", from, "--to", "2018-04-01"])), said);
    }
}

/// The end of one day is the beginning of the next one, and no id is of both.
#[test]
fn ranges_that_follow_each_other_have_no_id_in_common() {
    let days = ["2018-04-01", "2018-04-02", "2018-04-03"];
    let bounds = |from, to| printed(&mut txid(&["range", "--from", from, "--to", to]));
    let (first, second) = (bounds(days[0], days[1]), bounds(days[1], days[2]));
    let [last, next] = [first.lines().nth(1).unwrap(), second.lines().next().unwrap()];
    assert!(last < next, "{last} {next}");
    let noon = format!("{next}\n");
    let found = |from, to| {
        txid(&["grep", "-c", "--from", from, "--to", to]).write_stdin(&*noon).assert().get_output().stdout.clone()
    };
    assert_eq!([found(days[0], days[1]), found(days[1], days[2])], [b"0\n", b"1\n"]);
}

#[test]
fn the_end_is_now_if_none_is_given() {
    for first in [["--from", "1h ago"], ["--since", "1h"]] {
        let bounds = printed(&mut txid(&["range", "--json", first[0], first[1]]));
        let bounds: serde_json::Value = serde_json::from_str(&bounds).unwrap();
        let ms = |id: &str| bounds[id].as_str().unwrap().parse::<txid::Txid>().unwrap().timestamp_ms();
        assert!((-1..30_000).contains(&(ms("last") - ms("first") - 3_600_000)), "{bounds}");
        assert!((0..30_000).contains(&(txid::system_ms() - ms("last"))), "{bounds}");
    }
}
