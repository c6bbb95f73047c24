//! A cluster of Redis.

use std::process::Command;

use txid_agent::store::{open, open_tags};
use txid_agent_machines::store::{Expected, Taken};

use super::conformance::{basics, put, text, wait_for, written};
use super::{durability, tags};
use crate::servers::{self, Server, until};

fn ask(server: &Server, question: &[&str]) -> String {
    servers::run(Command::new("redis-cli").args(["-p", &server.port.to_string()]).args(question)).trim().to_owned()
}

/// Two servers, the first of which has all slots.
fn cluster() -> [Server; 2] {
    let [first, second] = [(); 2].map(|()| {
        let bus = format!("--cluster-port {}", servers::free_port());
        servers::redis(&["--cluster-enabled yes", &bus])
    });
    ask(&first, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    let nodes = ask(&first, &["CLUSTER", "NODES"]);
    let bus = nodes.split(['@', ',', ' ']).nth(2).unwrap();
    ask(&second, &["CLUSTER", "MEET", "127.0.0.1", &first.port.to_string(), bus]);
    until("the servers do not meet", || {
        [&first, &second].iter().all(|server| ask(server, &["CLUSTER", "INFO"]).contains("cluster_state:ok"))
    });
    [first, second]
}

#[test]
fn redis_moves_a_slot() {
    let [first, second] = cluster();
    let [from, to] = [&first, &second].map(|server| ask(server, &["CLUSTER", "MYID"]));
    let url = |server: &Server| format!("redis://127.0.0.1:{}", server.port);
    let weakness = durability::weakness(&url(&second));
    assert_eq!(weakness.unwrap(), "a cluster replaces a master by a replica, which may lag behind");

    // This server has no slots.
    wait_for(&url(&second));
    basics(&mut *open(&url(&second)).unwrap(), true);
    tags::tags(&url(&second));

    let slot = ask(&first, &["CLUSTER", "KEYSLOT", "txid/moving"]);
    let mut stores = [&first, &second].map(|server| open(&url(server)).unwrap());
    let mut version = written(put(&mut *stores[0], "moving/node/1", Expected::Absent, "0"));
    let mut count = 0;
    let mut use_it = |when: &str| {
        for store in &mut stores {
            let before = text(&store.read("moving/node/1").expect(when)).map(str::to_owned);
            assert_eq!(before, Some(count.to_string()), "{when}");
            count += 1;
            version = written(put(&mut **store, "moving/node/1", version.clone(), &count.to_string()));
            assert_eq!(store.list("moving/").expect(when).len(), 1, "{when}");
        }
    };
    use_it("before");
    ask(&second, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from]);
    ask(&first, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to]);
    use_it("while the slot moves");
    ask(&first, &["MIGRATE", "127.0.0.1", &second.port.to_string(), "txid/moving", "0", "5000"]);
    use_it("when the hash has moved");
    for server in [&second, &first] {
        ask(server, &["CLUSTER", "SETSLOT", &slot, "NODE", &to]);
    }
    use_it("when the slot has moved");
    let mut tags = open_tags(&url(&first)).unwrap();
    tags.create_tag("moving", 10).unwrap();
    assert!(matches!(tags.take("moving", None, 0).unwrap(), Taken::Range { .. }));
}
