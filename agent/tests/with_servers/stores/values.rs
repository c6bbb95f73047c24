//! What people and other programs may leave in a store: each value that cannot be one is an error that names it, and
//! the next call works.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use mysql::prelude::Queryable;
use txid_agent_machines::store::{Expected, Taken};

use super::conformance::{list, one_line, open, text, wait_for, written};
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD, run};

/// Sets a column of Leaf's table by `set`, and checks the error for taking a range.
fn refuses(url: &str, mut set: impl FnMut(&str), cases: &[(&str, &str)]) {
    for (statement, wanted) in cases {
        set(statement);
        for count in [None, Some(10)] {
            let error = open(url).unwrap().take("wrong", count, 0).unwrap_err();
            assert!(!error.may_pass(), "{error:?}");
            one_line(&error, wanted);
            one_line(&error, "biz_tag = 'wrong'");
        }
    }
}

#[test]
fn in_mariadb() {
    // In this mode, MariaDB stores another value than the one that it returns, if a column is too small.
    let server = servers::mariadb_with(&["--skip-ssl", "--sql-mode="]);
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let tags = &mut *open(&url).unwrap();
    tags.create_tag("wrong", 20).unwrap();
    tags.create_tag("right", 20).unwrap();
    let mut client = mysql::Conn::new(mysql::Opts::from_url(&(url.clone() + "?prefer_socket=false")).unwrap()).unwrap();
    let mut set = |statements: &str| {
        for statement in statements.split(';') {
            client.query_drop(statement).unwrap();
        }
    };
    set("ALTER TABLE leaf_alloc MODIFY max_id bigint NULL, MODIFY step int NULL");
    let wrong = "UPDATE leaf_alloc SET step = 20, max_id = 1 WHERE biz_tag = 'wrong'; UPDATE leaf_alloc SET ";
    let cases = [
        ("max_id = NULL WHERE biz_tag = 'wrong'", "leaf_alloc has max_id = NULL"),
        ("step = NULL WHERE biz_tag = 'wrong'", "leaf_alloc has step = NULL"),
        ("step = -7 WHERE biz_tag = 'wrong'", "leaf_alloc has step = -7"),
        ("max_id = -5 WHERE biz_tag = 'wrong'", "leaf_alloc has max_id = -5"),
    ];
    for (change, wanted) in cases {
        refuses(&url, &mut set, &[(&format!("{wrong}{change}"), wanted)]);
        assert!(matches!(tags.take("right", None, 0), Ok(Taken::Range { .. })), "the other tags go on");
    }
    let of_type = |kind: &str, value: &str| {
        format!("{wrong} max_id = 1; ALTER TABLE leaf_alloc MODIFY max_id {kind} NULL; {wrong} max_id = {value}")
    };
    refuses(
        &url,
        &mut set,
        &[
            (&of_type("bigint unsigned", "18446744073709551615"), "max_id = 18446744073709551615"),
            (&of_type("double", "1e30"), "max_id = 1e30"),
            (&of_type("varchar(20)", "'many'"), "max_id = many"),
            (&of_type("decimal(20,2)", "1.5"), "max_id = 1.50"),
        ],
    );

    set("DELETE FROM leaf_alloc WHERE biz_tag = 'wrong'; ALTER TABLE leaf_alloc MODIFY max_id int");
    let tags = &mut *open(&url).unwrap();
    tags.create_tag("small", 10).unwrap();
    set("UPDATE leaf_alloc SET max_id = 2147483640 WHERE biz_tag = 'small'");
    one_line(&tags.take("small", None, 0).unwrap_err(), "the table leaf_alloc: Out of range value for column 'max_id'");
    let Ok(Taken::Range { range, .. }) = tags.take("small", Some(5), 0) else { panic!("there is room for these") };
    assert_eq!(range, 2_147_483_640..2_147_483_645);

    let store = &mut *open(&url).unwrap();
    // A record that is NULL, and one in another character set.
    let first = written(store.put("orders/node/1", &Expected::Absent, b"one").unwrap());
    set("ALTER TABLE txid_lease MODIFY record VARCHAR(1000) CHARACTER SET latin1 NULL");
    let first = written(store.put("orders/node/1", &first, "owner=caf\u{e9}-1".as_bytes()).unwrap());
    written(store.put("orders/node/1", &first, "owner=caf\u{e9}-2".as_bytes()).unwrap());
    assert_eq!(text(&store.read("orders/node/1").unwrap()), Some("owner=caf\u{e9}-2"));
    let error = store.put("orders/node/2", &Expected::Absent, "owner=\u{4e2d}".as_bytes()).unwrap_err();
    one_line(&error, "the table txid_lease: Incorrect string value");
    set("UPDATE txid_lease SET record = NULL");
    one_line(&store.read("orders/node/1").unwrap_err(), "txid_lease has record = NULL for name = 'orders/node/1'");
    one_line(&list(&mut *store, "orders/").unwrap_err(), "txid_lease has record = NULL for name = 'orders/node/1'");
}

#[test]
fn in_postgres() {
    let server = servers::postgres(&[]);
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let store = &mut *open(&url).unwrap();
    store.create_tag("wrong", 20).unwrap();
    let set = |statement: &str| drop(run(servers::psql(&server, "ids").args(["-c", statement])));
    set("ALTER TABLE leaf_alloc ALTER max_id DROP NOT NULL, ALTER step DROP NOT NULL");
    refuses(
        &url,
        set,
        &[
            ("UPDATE leaf_alloc SET max_id = NULL", "leaf_alloc has max_id = NULL"),
            ("UPDATE leaf_alloc SET max_id = 1, step = NULL", "leaf_alloc has step = NULL"),
            ("UPDATE leaf_alloc SET step = -7", "leaf_alloc has step = -7"),
            (
                "ALTER TABLE leaf_alloc ALTER max_id TYPE float8; UPDATE leaf_alloc SET max_id = 1e30, step = 1",
                "= 1e+30",
            ),
        ],
    );
    store.put("orders/node/1", &Expected::Absent, b"one").unwrap();
    set("ALTER TABLE txid_lease ALTER record DROP NOT NULL; UPDATE txid_lease SET record = NULL");
    one_line(&store.read("orders/node/1").unwrap_err(), "txid_lease has record = NULL for name = 'orders/node/1'");
    one_line(&list(&mut *store, "orders/").unwrap_err(), "txid_lease has record = NULL for name = 'orders/node/1'");
    set("UPDATE txid_lease SET record = repeat('x', 2000)");
    one_line(&store.read("orders/node/1").unwrap_err(), "orders/node/1 is longer than any record");
}

#[test]
fn in_redis() {
    let server = servers::redis(&[]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    wait_for(&url);
    let store = &mut *open(&url).unwrap();
    let set = |args: &[&str]| drop(run(Command::new("redis-cli").args(["-p", &server.port.to_string()]).args(args)));
    for (max_id, step, wanted) in [
        ("many", "20", "hash value is not an integer"),
        ("1", "some", "value is not an integer"),
        ("1", "1.5", "value is not an integer"),
        ("-5", "20", "txid/wrong has max_id = -5"),
        ("9223372036854775807", "20", "would overflow"),
        ("99999999999999999999", "20", "hash value is not an integer"),
    ] {
        set(&["HSET", "txid/wrong", "max_id", max_id, "step", step]);
        let error = open(&url).unwrap().take("wrong", None, 0).unwrap_err();
        assert!(!error.may_pass(), "{error:?}");
        one_line(&error, wanted);
    }
    set(&["HSET", "txid/orders", "node/1", &"x".repeat(2000)]);
    one_line(&store.read("orders/node/1").unwrap_err(), "orders/node/1 is longer than any record");
    set(&["SET", "txid/text", "no hash"]);
    one_line(&store.read("text/node/1").unwrap_err(), "WRONGTYPE");
    assert!(store.read("others/node/1").unwrap().is_none(), "the next call works");
    // A fleet has 65,536 nodes, and there may be as many others.
    let fill = "for n = 1, ARGV[1] do redis.call('HSET', 'txid/many', 'node/' .. n, 'x') end";
    set(&["EVAL", fill, "0", "33000"]);
    assert_eq!(list(&mut *store, "many/").unwrap().len(), 33_000);
    set(&["EVAL", fill, "0", "131100"]);
    one_line(&list(&mut *store, "many/").unwrap_err(), "131072");
    // Its time, to the millisecond.
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    for _ in 0..3 {
        let before = now();
        let clock = open(&url).unwrap().clock().unwrap().unwrap();
        assert!(before <= clock.latest_ms && clock.earliest_ms <= now(), "{before} {clock:?}");
    }
}
