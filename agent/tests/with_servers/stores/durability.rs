//! What real servers say about a write that they have confirmed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use txid::segment::Segment;
use txid_agent::store::Durability;
use txid_agent_machines::store::{Expected, Taken};

use super::conformance::{open, wait_for, written};
use crate::failover::cluster;
use crate::fleet::host::{Running, agent};
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD, until};

/// What a store says at its first answer; None if it keeps what it confirms.
pub fn weakness(url: &str) -> Option<String> {
    wait_for(url);
    let mut store = open(url).unwrap();
    assert_eq!(*store.durability(), Durability::Unknown);
    store.read("any/node/1").unwrap();
    match store.durability() {
        Durability::Durable => None,
        Durability::MayLose { why } => Some(why.clone()),
        other => panic!("{other:?}"),
    }
}

/// Several servers have each write; but all may crash at once.
#[test]
fn galera() {
    for (option, why) in [("1", None), ("2", Some("innodb_flush_log_at_trx_commit = 2"))] {
        let options = [format!("--innodb-flush-log-at-trx-commit={option}")];
        let Some(server) = cluster::alone(&[&options[0]]) else { return };
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", server.port, servers::free_port());
        let url = format!("mysql://txid:{MARIADB_PASSWORD}@{hosts}/ids");
        assert_eq!(weakness(&url).as_deref(), why);
    }
}

/// The agent says it once, and then a lease starts only after the margin.
#[test]
fn the_log_says_which_setting_it_is() {
    let server = servers::redis(&["--appendfsync everysec"]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    wait_for(&url);
    for (options, is_said) in [("", true), ("?may-lose-writes=0", false)] {
        let directory = tempfile::tempdir().unwrap();
        let mut command = agent();
        command.args(["run", "--assume-unused-store", "--node", "any=snowflake"]).args([
            "--store",
            &format!("{url}{options}"),
            "--dir",
        ]);
        command.arg(directory.path()).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut agent = Running(command.spawn().unwrap());
        let mut log = String::new();
        for line in BufReader::new(agent.0.stderr.take().unwrap()).lines().map_while(Result::ok) {
            log += &format!("{line}\n");
            if line.contains("took node") {
                break;
            }
        }
        let said =
            log.lines().filter(|line| line.contains("can lose a write that it has confirmed (appendfsync everysec)"));
        assert_eq!(said.count(), usize::from(is_said), "{options:?}: {log}");
    }
}

/// A number has nothing that keeps it apart from the same number of another host, so nothing is taken.
#[test]
fn a_segment_takes_nothing_from_a_store_that_forgets() {
    let server = servers::redis(&["--appendfsync everysec"]);
    let url = format!("redis://127.0.0.1:{}?timeout=60s", server.port);
    wait_for(&url);
    open(&url).unwrap().create_tag("invoices", 10).unwrap();
    let number = || match open(&url).unwrap().take("invoices", Some(0), 0).unwrap() {
        Taken::Range { range, .. } => range.end,
        other => panic!("{other:?}"),
    };
    let first = number();
    let directory = tempfile::tempdir().unwrap();
    let takes = |options: &str| {
        let mut command = agent();
        command.args(["run", "--segment", "invoices", "--store", &format!("{url}{options}"), "--dir"]);
        command.arg(directory.path()).stdin(Stdio::null());
        command
    };

    let mut refused = takes("").stderr(Stdio::piped()).spawn().unwrap();
    until("the agent does not end", || refused.try_wait().unwrap().is_some());
    let ended = refused.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("(appendfsync everysec)") && said.contains("?may-lose-writes=1"), "{said}");
    assert_eq!(number(), first, "it took a range");

    // Somebody who says so knows it.
    for options in ["&may-lose-writes=1", "&may-lose-writes=0"] {
        let before = number();
        let _agent = Running(takes(options).stderr(Stdio::null()).spawn().unwrap());
        let page = directory.path().join("invoices.segment");
        let mut taken = 0;
        until("it takes no range", || {
            taken += Segment::attach(&page).map_or(0, |segment| std::iter::from_fn(|| segment.take().ok()).count());
            number() > before && taken > 0
        });
    }
}

/// What a store says with each range. `change` is what somebody does while the agent is connected.
fn says_with_each_range(url: &str, change: &dyn Fn(&str), cases: &[(&str, Option<&str>)]) {
    let mut tags = open(url).unwrap();
    tags.create_tag("asked", 10).unwrap();
    for (what, wanted) in cases {
        change(what);
        let why = || {
            let taken = tags.take("asked", None, 0).unwrap();
            assert!(matches!(taken, Taken::Range { .. }), "{what}: {taken:?}");
            tags.durability_of_numbers().why().map(str::to_owned)
        };
        // A server reads its files anew after a moment.
        let mut why = why;
        until("it does not say so", || why().as_deref() == *wanted);
    }
}

#[test]
fn each_range_asks() {
    let server = servers::redis(&[]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    wait_for(&url);
    let set = |what: &str| {
        let mut command = Command::new("redis-cli");
        servers::run(
            command.args(["-p", &server.port.to_string()]).args(what.split(' ').filter(|word| !word.is_empty())),
        );
    };
    let cases = [
        ("PING", None),
        ("CONFIG SET appendonly no", Some("appendonly no")),
        ("CONFIG SET appendonly yes", None),
        ("CONFIG SET appendfsync everysec", Some("appendfsync everysec")),
        ("CONFIG SET appendfsync always", None),
        ("CONFIG SET no-appendfsync-on-rewrite yes", Some("no-appendfsync-on-rewrite yes")),
        ("CONFIG SET no-appendfsync-on-rewrite no", None),
        ("CONFIG SET maxmemory-policy allkeys-lru", None),
        ("CONFIG SET maxmemory 1gb", Some("maxmemory-policy allkeys-lru removes any key when memory is short")),
        ("CONFIG SET maxmemory-policy volatile-lru", None),
    ];
    says_with_each_range(&url, &set, &cases);
    let mut tags = open(&url).unwrap();
    tags.take("asked", None, 0).unwrap();
    assert_eq!(*tags.durability_of_numbers(), Durability::Durable);
    let _replica = servers::redis(&["--replicaof", &format!("127.0.0.1 {}", server.port)]);
    until("a replica that came later is not noticed", || {
        tags.take("asked", None, 0).unwrap();
        tags.durability_of_numbers().why() == Some("connected_slaves:1, and a replica may lag behind")
    });

    // A table that is made takes no other engine.
    let server = servers::mariadb_with(&["--skip-ssl", "--default-storage-engine=MEMORY"]);
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let set = |what: &str| drop(servers::run(servers::mariadb_client(&server).args(["ids", "-e", what])));
    let cases = [
        ("SELECT 1", None),
        ("SET GLOBAL innodb_flush_log_at_trx_commit = 0", Some("innodb_flush_log_at_trx_commit = 0")),
        ("SET GLOBAL innodb_flush_log_at_trx_commit = 1", None),
        ("ALTER TABLE leaf_alloc ENGINE = MEMORY", Some("the table leaf_alloc has the engine MEMORY")),
        ("ALTER TABLE leaf_alloc ENGINE = Aria", Some("the table leaf_alloc has the engine Aria")),
        ("ALTER TABLE leaf_alloc ENGINE = InnoDB", None),
    ];
    says_with_each_range(&url, &set, &cases);
    assert_eq!(weakness(&url), None);
    // Whoever names several hosts has replicas, whatever the one that answers says.
    let two = |host: &str| format!("{host},127.0.0.1:{}", servers::free_port());
    let host = format!("127.0.0.1:{}", server.port);
    assert_eq!(weakness(&url.replace(&host, &two(&host))).as_deref(), Some("it has replicas, which may lag behind"));
    set("ALTER TABLE txid_lease ENGINE = MEMORY");
    assert_eq!(weakness(&url).as_deref(), Some("the table txid_lease has the engine MEMORY"));
    assert_eq!(
        weakness(&format!("{url}?table=ids.txid_lease")).as_deref(),
        Some("the table ids.txid_lease has the engine MEMORY")
    );

    let server = servers::postgres(&["fsync=on"]);
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids", server.port);
    wait_for(&url);
    let host = format!("127.0.0.1:{}", server.port);
    let why = "it has replicas, and synchronous_standby_names is empty";
    assert_eq!(weakness(&url.replace(&host, &two(&host))).as_deref(), Some(why));
    let set = |what: &str| {
        for statement in what.split("; ") {
            servers::run(servers::psql(&server, "ids").args(["-c", statement]));
        }
    };
    let cases = [
        ("SELECT 1", None),
        ("ALTER SYSTEM SET synchronous_commit = off; SELECT pg_reload_conf()", Some("synchronous_commit = off")),
        ("ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf()", None),
        ("ALTER TABLE leaf_alloc SET UNLOGGED", Some("the table leaf_alloc is UNLOGGED")),
        ("ALTER TABLE leaf_alloc SET LOGGED", None),
        ("ALTER TABLE txid_lease SET UNLOGGED", None),
    ];
    says_with_each_range(&url, &set, &cases);
    assert_eq!(weakness(&url).as_deref(), Some("the table txid_lease is UNLOGGED"));
}

/// Others do not see what is not committed, and it is gone when the connection ends.
#[test]
fn a_server_that_commits_nothing_by_itself() {
    let server = servers::mariadb_with(&["--skip-ssl", "--autocommit=0"]);
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    wait_for(&url);
    written(open(&url).unwrap().put("orders/node/1", &Expected::Absent, b"x").unwrap());
    assert_eq!(open(&url).unwrap().read("orders/node/1").unwrap().unwrap().bytes, b"x");
}
