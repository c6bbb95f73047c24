//! `txid range`.

use crate::{printed, refusal, txid};

const DAY: [&str; 5] = ["range", "--from", "2018-04-01", "--to", "2018-04-01T23:59:59.999Z"];

#[test]
fn the_two_bounds() {
    assert_eq!(printed(&mut txid(&DAY)), "b2fq0eg0000000000000\nb2gejk7vvvvvvvvvvvvg\n");
    let of_5 = printed(&mut txid(&["range", "--from", "5", "--to", "5"]));
    assert_eq!(of_5, "00000001800000000000\n00000001fvvvvvvvvvvg\n");
}

#[test]
fn a_condition_in_sql() {
    let sql = [&DAY[..], &["--sql", "request_id"]].concat();
    let condition = "request_id BETWEEN 'b2fq0eg0000000000000' AND 'b2gejk7vvvvvvvvvvvvg'\n";
    assert_eq!(printed(&mut txid(&sql)), condition);
}

#[test]
fn an_object_in_json() {
    let json = [&DAY[..], &["--json"]].concat();
    assert_eq!(
        printed(&mut txid(&json)),
        concat!(
            r#"{"first":"b2fq0eg0000000000000","last":"b2gejk7vvvvvvvvvvvvg","#,
            r#""from":"2018-04-01T00:00:00.000Z","to":"2018-04-01T23:59:59.999Z"}"#,
            "\n"
        )
    );
    assert!(refusal(&mut txid(&[&json[..], &["--sql", "id"]].concat())).contains("cannot be used with"));
}

#[test]
fn a_range_turned_round_is_refused() {
    assert_eq!(
        refusal(&mut txid(&["range", "--from", "2018-04-02", "--to", "2018-04-01"])),
        "txid: the range is empty: --from is 2018-04-02T00:00:00.000Z, after --to, which is 2018-04-01T00:00:00.000Z\n"
    );
}

#[test]
fn both_ends_are_needed() {
    assert!(refusal(&mut txid(&["range", "--from", "now"])).contains("--to"));
    assert!(refusal(&mut txid(&["range", "--to", "now"])).contains("--from"));
}
