//! An etcd that is restored from a snapshot, under agents that go on.

use std::process::Command;

use super::TWO_NODES;
use super::host::{Host, agent};
use crate::servers::{self, until};

/// One lease is older in the snapshot than the store has confirmed since, and the other is missing. The floor that somebody sets
/// then keeps a new host away until both are there again.
#[test]
fn a_floor_holds_while_living_agents_write_their_leases_again() {
    let mut server = servers::etcd(&[]);
    let url = |port: u16| format!("etcd://127.0.0.1:{port}?timeout=10s");
    let start = |name: &str, options: &[&str]| {
        let mut host = Host::new(name, server.port, url, TWO_NODES);
        host.start_agent(options);
        host.start_worker();
        host
    };
    let has_ids = |host: &Host| {
        let before = host.ids().len();
        until("it makes no ids", || host.ids().len() > before);
    };
    let first = start("first", &["--assume-unused-store"]);
    has_ids(&first);
    let snapshot = server.directory.path().join("snapshot");
    let client = || {
        let mut etcdctl = Command::new("etcdctl");
        etcdctl.env("ETCDCTL_API", "3").args(["--endpoints", &format!("127.0.0.1:{}", server.port), "snapshot"]);
        etcdctl
    };
    servers::run(client().arg("save").arg(&snapshot));
    let renewals = first.view().renewals;
    until("the lease is not renewed", || first.view().renewals > renewals);
    let second = start("second", &[]);
    has_ids(&second);

    let data = server.directory.path().join("data");
    let mut restore = client();
    restore.arg("restore").arg(&snapshot).arg("--data-dir").arg(&data);
    server.kill();
    std::fs::remove_dir_all(&data).unwrap();
    servers::run(&mut restore);
    server.restart();
    servers::run(agent().args(["set-floor", "--store", &url(server.port), "orders"]));
    let mut third = Host::new("third", server.port, url, TWO_NODES);
    third.start_agent(&[]);
    let says = "no lease can be taken before";
    until("it does not wait", || third.log().contains(says) || third.log().contains("took node"));
    let before = [&first, &second].map(|host| host.view().renewals);
    until("they do not go on", || {
        [&first, &second].into_iter().zip(before).all(|(host, before)| host.view().renewals > before)
    });
    [&first, &second].into_iter().for_each(has_ids);
    for host in [&first, &second] {
        ["has lost a confirmed write", "writing it again"].iter().for_each(|text| host.says(text));
        assert_eq!(host.log().matches("took node").count(), 1, "{}", host.log());
    }
    assert!(third.log().contains(says) && !third.log().contains("took node"), "{}", third.log());
    let mut ids = [first.ids(), second.ids()].concat();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids come twice");
}
