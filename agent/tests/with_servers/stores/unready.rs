//! Servers that accept clients, but no writes, because another server is to take them or because they have no majority. An
//! agent waits for such a server, and goes on with the next one of the URL.

use std::io::{self, Write};
use std::net::TcpStream;
use std::process::Command;

use txid_agent_machines::store::{Expected, Put};

use super::conformance::{one_line, open, wait_for, written};
use crate::failover::cluster;
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD, run, until};

/// Checks that nothing is read or written at the server of `alone`, and that the next one of `both` serves.
fn next_one_serves(alone: &str, both: &str, wanted: &str) {
    let mut store = open(alone).unwrap();
    let error = store.read("orders/node/1").unwrap_err();
    assert!(error.may_pass(), "{error:?}");
    one_line(&error, wanted);
    match store.put("orders/node/1", &Expected::Absent, b"x") {
        Err(error) | Ok(Put::Unknown(error)) => assert!(error.may_pass(), "{error:?}"),
        other => panic!("{other:?}"),
    }
    let mut store = open(both).unwrap();
    until(both, || store.read("orders/node/1").is_ok_and(|found| found.is_none()));
    written(store.put("orders/node/1", &Expected::Absent, b"confirmed").unwrap());
    assert_eq!(store.read("orders/node/1").unwrap().unwrap().bytes, b"confirmed");
}

#[test]
fn a_hot_standby_of_postgres() {
    let mut primary = servers::postgres(&[]);
    let standby = servers::hot_standby(&primary);
    let url = |hosts: &str| format!("postgres://txid:{POSTGRES_PASSWORD}@{hosts}/ids");
    let both = url(&format!("127.0.0.1:{},127.0.0.1:{}", standby.port, primary.port));
    next_one_serves(&url(&format!("127.0.0.1:{}", standby.port)), &both, "the primary is needed");
    // It takes the primary's place, and has what was confirmed.
    let ask = |statement: &str| run(servers::psql(&standby, "ids").args(["-c", statement]));
    until("it does not follow", || ask("SELECT to_regclass('txid_lease')").contains("txid_lease"));
    until("it does not follow", || ask("SELECT count(*) FROM txid_lease").trim() == "1");
    primary.kill();
    ask("SELECT pg_promote()");
    let mut store = open(&both).unwrap();
    until("it does not serve", || store.read("orders/node/1").is_ok());
    let found = store.read("orders/node/1").unwrap().unwrap();
    assert_eq!(found.bytes, b"confirmed");
    written(store.put("orders/node/1", &Expected::Version(found.version), b"later").unwrap());
}

/// As a server that has lost the others, or gets its data from one of them. SET is answered all the same.
#[test]
fn a_galera_server_that_is_not_ready() {
    let Some(unready) = cluster::alone(&[]) else { return };
    let ready = servers::mariadb();
    let set = |reject: &str| {
        let set = format!("SET GLOBAL wsrep_reject_queries = {reject}");
        run(servers::mariadb_client(&unready).args(["-e", &set]));
    };
    let url = |hosts: &str| format!("mysql://txid:{MARIADB_PASSWORD}@{hosts}/ids");
    let alone = url(&format!("127.0.0.1:{}", unready.port));
    wait_for(&alone);
    // One connection is there already.
    let mut store = open(&alone).unwrap();
    assert_eq!(store.read("orders/node/1"), Ok(None));
    set("ALL");
    let error = store.read("orders/node/1").unwrap_err();
    assert!(error.may_pass(), "{error:?}");
    one_line(&error, "WSREP has not yet prepared node for application use");
    let both = url(&format!("127.0.0.1:{},127.0.0.1:{}", unready.port, ready.port));
    next_one_serves(&alone, &both, "WSREP has not yet prepared node for application use");
    set("NONE");
    until("it does not come back", || store.read("orders/node/1").is_ok());
}

#[test]
fn a_zookeeper_that_only_reads() {
    let (without, with) = (servers::zookeeper_without_a_majority(), servers::zookeeper());
    let url = |hosts: &str| format!("zookeeper://{hosts}/txid");
    wait_for(&url(&format!("127.0.0.1:{}", with.port)));
    until("it does not serve those that only read", || {
        let mut client = TcpStream::connect(("127.0.0.1", without.port)).ok()?;
        client.write_all(b"isro").ok()?;
        io::read_to_string(client).ok().filter(|answer| answer == "ro")
    });
    let both = url(&format!("127.0.0.1:{},127.0.0.1:{}", without.port, with.port));
    next_one_serves(&url(&format!("127.0.0.1:{}", without.port)), &both, "it closed the connection");
}

/// A server that joins, and is to get all records before it counts.
#[test]
fn a_learner_of_etcd() {
    let peers = [(); 2].map(|()| format!("http://127.0.0.1:{}", servers::free_port()));
    let of = |name: &str, peer: &str, all: &str, state: &str| {
        servers::etcd(&[
            &format!("--name={name}"),
            &format!("--listen-peer-urls={peer}"),
            &format!("--initial-advertise-peer-urls={peer}"),
            &format!("--initial-cluster={all}"),
            &format!("--initial-cluster-state={state}"),
        ])
    };
    let leader = of("m0", &peers[0], &format!("m0={}", peers[0]), "new");
    let url = |hosts: &str| format!("etcd://{hosts}/txid");
    wait_for(&url(&format!("127.0.0.1:{}", leader.port)));
    run(Command::new("etcdctl")
        .env("ETCDCTL_API", "3")
        .args(["--endpoints", &format!("127.0.0.1:{}", leader.port)])
        .args(["member", "add", "m1", "--learner", &format!("--peer-urls={}", peers[1])]));
    let learner = of("m1", &peers[1], &format!("m0={},m1={}", peers[0], peers[1]), "existing");
    let alone = url(&format!("127.0.0.1:{}", learner.port));
    let mut store = open(&alone).unwrap();
    // At first, it knows no leader.
    until("it does not follow", || {
        store.read("orders/node/1").is_err_and(|error| error.to_string().contains("rpc not supported for learner"))
    });
    let both = url(&format!("127.0.0.1:{},127.0.0.1:{}", learner.port, leader.port));
    next_one_serves(&alone, &both, "rpc not supported for learner");
}
