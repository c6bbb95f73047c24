//! Several servers of Redis.

use std::process::Command;

use txid_agent::store::Store;
use txid_agent_machines::store::Taken;

use super::conformance::{one_line, open, wait_for};
use super::durability::weakness;
use crate::servers::{self, Server, until};

fn ask(server: &Server, question: &[&str]) -> String {
    servers::run(Command::new("redis-cli").args(["-p", &server.port.to_string()]).args(question)).trim().to_owned()
}

/// One whose keys move is asked nowhere else: whoever gets a connection gets the password.
#[test]
fn a_cluster_of_redis_is_refused() {
    let bus = format!("--cluster-port {}", servers::free_port());
    let server = servers::redis(&["--cluster-enabled yes", &bus]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    until("it is not refused", || {
        let error = open(&url).unwrap().read("any/node/1").unwrap_err();
        // It may not listen yet.
        (!error.may_pass()).then(|| one_line(&error, "it is a cluster, whose parts may move"))
    });
}

/// The replica is put in the master's place while they are cut off from each other. Each says that it has no replica.
#[test]
fn of_two_masters_no_number_comes_twice() {
    let at_once = ["--repl-diskless-sync-delay", "0"];
    let master = servers::redis(&at_once);
    let follow = format!("127.0.0.1 {}", master.port);
    let replica = servers::redis(&[&at_once[..], &["--replicaof", &follow]].concat());
    let all = [&master, &replica];
    let alone = |at: usize, options: &str| format!("redis://127.0.0.1:{}{options}", all[at].port);
    let both = |options: &str| format!("redis://127.0.0.1:{},127.0.0.1:{}{options}", master.port, replica.port);
    let waits_for_it = "?wait=1&timeout=1s";
    until("the replica does not follow", || ask(&master, &["INFO", "replication"]).contains("state=online"));
    wait_for(&both(""));
    open(&both("")).unwrap().create_tag("invoices", 10).unwrap();
    let take = |tags: &mut dyn Store| match tags.take("invoices", Some(500), 0) {
        Ok(Taken::Range { range, .. }) if tags.durability_of_numbers().why().is_none() => Some(range),
        Ok(_) | Err(_) => None,
    };
    // Stores that wait for the replica give numbers, and go on only while it has each of them.
    let mut waits = [(); 2].map(|()| open(&both(waits_for_it)).unwrap());
    for tags in &mut waits {
        // On a busy machine, the replica may need longer for its first answers than half a second.
        until("no numbers while the replica follows", || take(&mut **tags).is_some());
    }

    ask(&replica, &["REPLICAOF", "NO", "ONE"]);
    until("they are not alone", || {
        all.iter().all(|server| ask(server, &["INFO", "replication"]).contains("connected_slaves:0"))
    });
    for (at, why) in [(0, "repl_backlog_active:1: "), (1, "second_repl_offset:")] {
        assert!(weakness(&alone(at, "")).is_some_and(|found| found.starts_with(why)), "{why}");
        assert!(weakness(&both("")).is_some());
        let after = [alone(at, ""), alone(at, waits_for_it), both(""), both(waits_for_it)]
            .map(|url| take(&mut *open(&url).unwrap()));
        assert_eq!(after, [None, None, None, None], "{at}");
        assert_eq!(take(&mut *waits[at]), None);
    }
}
