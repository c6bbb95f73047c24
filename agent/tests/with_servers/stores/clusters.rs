//! A cluster of Redis.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use txid_agent_machines::store::{Expected, Taken};

use super::conformance::{basics, list, one_line, open, open_tags, put, text, wait_for, written};
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
            assert_eq!(list(&mut **store, "moving/").expect(when).len(), 1, "{when}");
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

/// A server that answers scripts with `eval`, and has these `nodes`; `PORT` in them is `other`. Returns its port, and all
/// that clients have sent.
fn fake(eval: &str, nodes: &str, other: u16) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sent = Arc::new(Mutex::new(String::new()));
    let seen = sent.clone();
    let [eval, nodes] = [eval, nodes].map(|text| text.replace("PORT", &other.to_string()));
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = client.read(&mut bytes) {
                let said = String::from_utf8_lossy(&bytes[..read]).into_owned();
                seen.lock().unwrap().push_str(&said);
                let answers = [
                    ("AUTH", "+OK\r\n"),
                    ("replication", "$0\r\n\r\n$0\r\n\r\n*0\r\n*0\r\n*0\r\n"),
                    ("NODES", &nodes),
                    ("ASKING", "+OK\r\n"),
                    ("EVAL", &eval),
                ];
                for (word, answer) in answers {
                    if said.contains(word) {
                        client.write_all(answer.as_bytes()).unwrap();
                    }
                }
            }
        }
    });
    (port, sent)
}

/// What a server answers to a script that reads a record which is not there.
const NONE: &str = "*3\r\n:1\r\n:1\r\n$-1\r\n";

/// While a slot moves, each access is redirected.
#[test]
fn what_has_moved_is_asked_for_there_from_then_on() {
    for (redirection, wanted) in [("-MOVED 1 127.0.0.1:PORT\r\n", [1, 3, 1]), ("-ASK 1 127.0.0.1:PORT\r\n", [3, 3, 3])]
    {
        let (other, at_other) = fake(NONE, "", 0);
        let (port, at_first) = fake(redirection, "", other);
        let mut store = open(&format!("redis://:the-password@127.0.0.1:{port},127.0.0.1:{other}")).unwrap();
        (0..3).for_each(|_| assert_eq!(store.read("any/node/1"), Ok(None)));
        let count = |sent: &Mutex<String>, word: &str| sent.lock().unwrap().matches(word).count();
        let found = [count(&at_first, "EVAL"), count(&at_other, "EVAL"), count(&at_other, "AUTH")];
        assert_eq!(found, wanted, "{redirection}: scripts for the first server and for the other, and logins there");
    }
}

/// The password goes to servers of the URL, and to those that the cluster names.
#[test]
fn a_redirection_takes_the_password_to_no_other_host() {
    let nodes = |address: &str, alias: &str| {
        let line = format!(
            "f00 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-16383\nf01 {address}@3{alias} master - 0 0 2 connected\n"
        );
        // The port has five digits.
        format!("${}\r\n{line}\r\n", line.replace("PORT", "12345").len())
    };
    let (named, elsewhere) = (&nodes("127.0.0.1:PORT", ""), &nodes("127.0.0.1:12345", ""));
    let (other_name, alias) = (&nodes("10.9.9.9:PORT", ""), &nodes("10.9.9.9:PORT", ",127.0.0.1"));
    let unknown = "which is neither in the URL nor in its CLUSTER NODES";
    for (redirection, nodes, wanted) in [
        ("-MOVED 1 127.0.0.1:PORT\r\n", named.as_str(), Ok(())),
        ("-MOVED 1 127.0.0.1:PORT\r\n", alias, Ok(())),
        ("-MOVED 1 :PORT\r\n", named, Ok(())),
        ("-MOVED 1 :PORT\r\n", other_name, Ok(())),
        ("-ASK 1 127.0.0.1:PORT\r\n", named, Ok(())),
        ("-MOVED 1 127.0.0.1:PORT\r\n", elsewhere, Err(unknown)),
        ("-ASK 1 127.0.0.1:PORT\r\n", elsewhere, Err(unknown)),
        ("-MOVED 1 127.0.0.1:PORT\r\n", "$0\r\n\r\n", Err(unknown)),
        ("-MOVED 1 :PORT\r\n", elsewhere, Err(unknown)),
        ("-MOVED 1 127.0.0.1:PORT\r\n", "+OK\r\n", Err(unknown)),
        ("-MOVED 1 127.0.0.1:PORT\r\n", "-NOPERM no permissions\r\n", Err("+cluster|nodes")),
    ] {
        let (other, seen) = fake(NONE, "", 0);
        let (port, _) = fake(redirection, nodes, other);
        let found = open(&format!("redis://:the-password@127.0.0.1:{port}")).unwrap().read("any/node/1");
        match wanted {
            Ok(()) => assert!(found.is_ok_and(|record| record.is_none()), "{redirection:?} {nodes:?}"),
            Err(wanted) => one_line(&found.unwrap_err(), wanted),
        }
        assert_eq!(seen.lock().unwrap().contains("the-password"), wanted.is_ok(), "{redirection:?} {nodes:?}");
    }
    // A host of the URL needs nobody's word.
    let (other, _) = fake(NONE, "", 0);
    let (port, _) = fake("-MOVED 1 127.0.0.1:PORT\r\n", "$0\r\n\r\n", other);
    assert!(
        open(&format!("redis://:the-password@127.0.0.1:{port},127.0.0.1:{other}")).unwrap().read("any/key").is_ok()
    );
}
