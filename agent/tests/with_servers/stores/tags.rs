//! Ranges of numbers: no number is taken twice, and none is below a number that was seen before.

use std::ops::Range;
use std::thread;
use std::time::Duration;

use mysql::prelude::Queryable;
use txid_agent_machines::store::{StoreError, Taken};

use super::conformance::open;
use crate::servers::{MARIADB_PASSWORD, Server};

fn range(taken: Taken) -> (Range<u64>, u64) {
    match taken {
        Taken::Range { range, step } => (range, step),
        other => panic!("{other:?}"),
    }
}

/// Checks that no two ranges overlap.
fn assert_apart(mut ranges: Vec<Range<u64>>) {
    ranges.sort_by_key(|range| range.start);
    for pair in ranges.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
}

/// What every store must do.
pub fn tags(url: &str) {
    let mut tags = open(url).unwrap();
    let tags = &mut *tags;
    assert_eq!(tags.take("invoices", None, 0).unwrap(), Taken::NoTag);
    assert_eq!(tags.raise("invoices", 5).unwrap(), None);
    tags.create_tag("invoices", 20).unwrap();
    tags.create_tag("invoices", 50).unwrap();
    assert_eq!(range(tags.take("invoices", None, 0).unwrap()), (1..21, 20), "by the tag's own step");
    assert_eq!(range(tags.take("invoices", Some(100), 21).unwrap()), (21..121, 20));
    assert_eq!(range(tags.take("invoices", Some(0), 121).unwrap()), (121..121, 20), "only a look");

    // Below a number seen before, nothing is taken.
    assert_eq!(tags.take("invoices", None, 122).unwrap(), Taken::WentDown { number: 121 });
    assert_eq!(tags.take("invoices", None, 1 << 62).unwrap(), Taken::WentDown { number: 121 });
    assert_eq!(tags.raise("invoices", 9_000_000_000_000_000_001).unwrap(), Some(121));
    assert_eq!(tags.raise("invoices", 7).unwrap(), Some(9_000_000_000_000_000_001), "never down");
    let (last, _) = range(tags.take("invoices", None, 9_000_000_000_000_000_001).unwrap());
    assert_eq!(last, 9_000_000_000_000_000_001..9_000_000_000_000_000_021);

    assert_eq!(tags.take("other", None, 0).unwrap(), Taken::NoTag);
    tags.create_tag("race", 10).unwrap();
    let taken = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| take(url, "race", 20))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(taken.iter().map(|range| range.end).max(), Some(1 + 4 * 20 * 10), "and none is left out");
    assert_apart(taken);
}

/// An invalid number or step, as people may set it, is an error and changes nothing. A negative step would lead back to
/// numbers that were taken.
pub fn negative_numbers(url: &str, set: impl Fn(&str, i64), get: impl Fn(&str) -> String) {
    let mut tags = open(url).unwrap();
    tags.create_tag("wrong", 20).unwrap();
    for (max_id, step, expected) in [(1000, -20, "step = -20"), (-5, 20, "max_id = -5"), (-5, -20, "max_id = -5")] {
        set("max_id", max_id);
        set("step", step);
        for count in [None, Some(10)] {
            let error = tags.take("wrong", count, 0).unwrap_err();
            assert!(!error.may_pass() && error.to_string().contains(expected), "{error}");
            assert_eq!((get("max_id"), get("step")), (max_id.to_string(), step.to_string()));
        }
    }
}

/// What docs/segments.md says makes a tag does; it begins with `word`. `run` is what a person has for it.
pub fn made_by_hand(url: &str, word: &str, run: impl Fn(&str)) {
    let page = include_str!("../../../../docs/segments.md");
    let statement = page.lines().find_map(|line| line.trim_start().strip_prefix(word)).unwrap();
    run(&format!("{word}{}", statement.replace("invoices", "by-hand")));
    assert_eq!(range(open(url).unwrap().take("by-hand", None, 0).unwrap()), (1..1001, 1000), "{statement}");
}

fn take(url: &str, tag: &str, times: usize) -> Vec<Range<u64>> {
    let mut tags = open(url).unwrap();
    let mut take = || {
        loop {
            match tags.take(tag, None, 0) {
                Err(StoreError::Contended { .. }) => thread::sleep(Duration::from_millis(1)),
                taken => return range(taken.unwrap()).0,
            }
        }
    };
    (0..times).map(|_| take()).collect()
}

/// Leaf's own SQL, from its IDAllocMapper and IDAllocDaoImpl: an UPDATE and a SELECT in one transaction.
struct Leaf(mysql::Conn);

impl Leaf {
    fn connect(port: u16) -> Self {
        let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{port}/ids?prefer_socket=false");
        Self(mysql::Conn::new(mysql::Opts::from_url(&url).unwrap()).unwrap())
    }

    fn take(&mut self, tag: &str) -> Range<u64> {
        let mut transaction = self.0.start_transaction(mysql::TxOpts::default()).unwrap();
        transaction.exec_drop("UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?", (tag,)).unwrap();
        let row: Option<(String, u64, u64)> =
            transaction.exec_first("SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = ?", (tag,)).unwrap();
        transaction.commit().unwrap();
        let (_, max_id, step) = row.unwrap();
        max_id - step..max_id
    }
}

/// A table that Leaf's own scripts made, and that Leaf's servers still use.
pub fn beside_leaf(server: &Server, url: &str) {
    let port = server.port;
    let mut leaf = Leaf::connect(port);
    leaf.0.query_drop("DROP TABLE IF EXISTS leaf_alloc").unwrap();
    leaf.0
        .query_drop(
            "CREATE TABLE `leaf_alloc` (`biz_tag` varchar(128) NOT NULL DEFAULT '', `max_id` bigint(20) NOT NULL DEFAULT \
             '1', `step` int(11) NOT NULL, `description` varchar(256) DEFAULT NULL, `update_time` timestamp NOT NULL \
             DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (`biz_tag`)) ENGINE=InnoDB",
        )
        .unwrap();
    assert_eq!(open(url).unwrap().take("leaf-segment-test", None, 0).unwrap(), Taken::NoTag);
    leaf.0
        .query_drop(
            "insert into leaf_alloc(biz_tag, max_id, step, description) values('leaf-segment-test', 1, 2000, 'Test leaf \
             Segment Mode Get Id')",
        )
        .unwrap();
    let taken = thread::scope(|scope| {
        let ours: Vec<_> = (0..2).map(|_| scope.spawn(|| take(url, "leaf-segment-test", 50))).collect();
        let theirs = scope.spawn(move || {
            let mut leaf = Leaf::connect(port);
            (0..50).map(|_| leaf.take("leaf-segment-test")).collect::<Vec<_>>()
        });
        let taken: Vec<_> = ours.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        [taken, theirs.join().unwrap()].concat()
    });
    assert_eq!(taken.len(), 150);
    assert_eq!(taken.iter().map(|range| range.end).max(), Some(1 + 150 * 2000));
    assert_apart(taken);

    // The step in the table applies from the next range on.
    leaf.0.query_drop("UPDATE leaf_alloc SET step = 7").unwrap();
    assert_eq!(range(open(url).unwrap().take("leaf-segment-test", None, 0).unwrap()), (300_001..300_008, 7));
    // Errors that people must fix.
    leaf.0.query_drop("UPDATE leaf_alloc SET step = -7").unwrap();
    let error = open(url).unwrap().take("leaf-segment-test", None, 0).unwrap_err();
    assert!(error.to_string().contains("leaf_alloc has step = -7"), "{error}");
    leaf.0.query_drop("UPDATE leaf_alloc SET step = 7, max_id = 9223372036854775806").unwrap();
    assert_eq!(open(url).unwrap().take("leaf-segment-test", None, 0).unwrap(), Taken::Ended);
}

/// By default, MySQL's columns ignore case. Then two tags would be one, and each host would think that it is alone.
pub fn in_another_case(url: &str) {
    let mut tags = open(url).unwrap();
    tags.create_tag("Upper", 10).unwrap();
    assert_eq!(range(tags.take("Upper", None, 0).unwrap()).1, 10);
    for create in [false, true] {
        if create {
            tags.create_tag("upper", 10).unwrap();
        }
        let error = tags.take("upper", None, 0).unwrap_err();
        assert!(!error.may_pass(), "{error}");
        assert!(error.to_string().contains("biz_tag = 'Upper' in place of 'upper'"), "{error}");
    }
}

/// A user with read access only.
pub fn without_permission(server: &Server) {
    let url = format!("mysql://nobody:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let error = open(&url).unwrap().take("leaf-segment-test", Some(1), 0).unwrap_err();
    let text = error.to_string();
    assert!(!error.may_pass() && text.contains("UPDATE on the table leaf_alloc"), "{text}");
}
