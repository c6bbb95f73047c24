//! Redis with Sentinel: a replica takes the master's place, with all that was confirmed or without it.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{User, go_on, unique};
use crate::fleet::host::agent;
use crate::fleet::{LAYOUT, TWO_NODES};
use crate::servers::{self, Server, run, until};

/// A master with a replica, and a Sentinel.
struct Pair {
    servers: [Server; 2],
    sentinel: Server,
}

impl Pair {
    fn start() -> Self {
        let at_once = ["--repl-diskless-sync-delay", "0"];
        let master = servers::redis(&at_once);
        let follow = format!("127.0.0.1 {}", master.port);
        let replica = servers::redis(&[&at_once[..], &["--replicaof", &follow]].concat());
        let sentinel = servers::sentinel(master.port);
        let pair = Self { servers: [master, replica], sentinel };
        until("Sentinel does not see the replica", || pair.sentinel_says("num-slaves") == "1");
        pair.wait_for_replica(0);
        pair
    }

    fn url(&self, options: &str) -> String {
        format!("redis+sentinel://127.0.0.1:{}/fleet?timeout=1s{options}", self.sentinel.port)
    }

    fn sentinel_says(&self, what: &str) -> String {
        let said = ask(self.sentinel.port, &["SENTINEL", "master", "fleet"]);
        said.lines().skip_while(|line| *line != what).nth(1).unwrap_or_default().to_owned()
    }

    /// Waits until this master's replica has all that the master has.
    fn wait_for_replica(&self, master: usize) {
        until("the replica does not follow", || {
            let said = ask(self.servers[master].port, &["INFO", "replication"]);
            said.contains("role:master") && said.contains("state=online")
        });
    }

    /// The replica gets nothing more, until it goes on. An open connection would keep what comes in the meantime.
    fn cut_off(&self, replica: usize) {
        self.servers[replica].signal(libc::SIGSTOP);
        ask(self.servers[1 - replica].port, &["CLIENT", "KILL", "TYPE", "replica"]);
    }

    fn wait_for_master(&self, master: usize) {
        let port = self.servers[master].port.to_string();
        until("the replica does not become the master", || self.sentinel_says("port") == port);
    }
}

fn ask(port: u16, question: &[&str]) -> String {
    run(Command::new("redis-cli").args(["-p", &port.to_string()]).args(question))
}

const OPTIONS: [&str; 8] =
    ["--assume-unused-store", "--lease-time", "5s", "--segment", "invoices=20", "--max-step", "2000", "--create"];

/// Each write counts only when the replica has it, so nothing is lost with the master. Both servers are killed in turn,
/// while the other one lacks the last writes.
#[test]
#[ignore = "20 s; make soak"]
fn what_a_replica_has_confirmed_is_not_lost_with_the_master() {
    let mut pair = Pair::start();
    let url = pair.url("&wait=1");
    let mut users: Vec<User> = (0..2).map(|at| User::new(&format!("host-{at}"), &url, LAYOUT, &OPTIONS)).collect();
    until("a host has no lease", || users.iter().all(|user| user.host.is_live()));
    users.iter_mut().for_each(User::start_taker);
    for master in [0, 1] {
        go_on("a host does not go on", &users);
        pair.cut_off(1 - master);
        // An agent waits for a replica for half of its time-out, and tries again.
        sleep(Duration::from_millis(700));
        pair.servers[master].kill();
        pair.servers[1 - master].signal(libc::SIGCONT);
        pair.wait_for_master(1 - master);
        // It follows the new master, which confirms nothing alone.
        pair.servers[master].restart();
        pair.wait_for_replica(1 - master);
    }
    go_on("a host does not go on", &users);
    users.iter_mut().for_each(User::end);
    let (ids, numbers) = unique(&users);
    println!("{ids} ids and {numbers} numbers, none of them twice");
}

/// The replica was cut off before: seconds of renewals and ranges are gone.
#[test]
#[ignore = "20 s; make soak"]
fn what_the_master_alone_had_is_kept_apart() {
    let mut pair = Pair::start();
    // Without being told that this is known, nothing is taken.
    let url = pair.url("");
    let directory = tempfile::tempdir().unwrap();
    let mut refused = agent();
    refused.args(["run", "--store", &url, "--segment", "invoices", "--create", "--dir"]).arg(directory.path());
    let refused = refused.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("Sentinels replace the master by a replica, which may lag behind"), "{said}");

    let known = pair.url("&may-lose-writes=1");
    let mut users = vec![User::new("old", &known, TWO_NODES, &OPTIONS)];
    until("there is no lease", || users[0].host.is_live());
    users[0].start_taker();
    go_on("the host does not begin", &users);
    let found = users[0].host.view();
    pair.cut_off(1);
    go_on("the host does not go on without the replica", &users);
    until("it renews no lease", || users[0].host.view().confirmed_ms > found.confirmed_ms + 2_000);
    let lost = users[0].host.view();
    pair.servers[0].kill();
    pair.servers[1].signal(libc::SIGCONT);
    pair.wait_for_master(1);

    // The host takes no number that it had before; nobody else may have them, either. It has logged so much since it
    // began that this line waits for room.
    until("there is no alarm", || users[0].host.log().contains("ALARM: the store's number is "));
    let granted = granted(&users[0]);
    assert!(users[0].numbers().iter().all(|number| *number < granted));
    run(agent().args(["raise-number", "--store", &known, "invoices", &granted.to_string()]));
    // It has lost its node. The limit that is left is not the last one, so the node is free a minute after that.
    run(agent().args(["release", "--store", &known, "orders", &found.node.to_string()]));
    users.push(User::new("new", &known, TWO_NODES, &OPTIONS));
    users[1].start_taker();
    until("nobody takes numbers", || users.iter().all(|user| user.numbers().iter().any(|number| *number > granted)));
    let free = format!("free next: node {} at ", found.node);
    until("no node is free", || users[1].host.log().contains(&free));
    let log = users[1].host.log();
    let free = log.split_once(&free).unwrap().1.split([',', '\n']).next().unwrap();
    let free_ms = free.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert!((lost.confirmed_ms..lost.confirmed_ms + 60_000).contains(&free_ms), "{free_ms} {}", lost.confirmed_ms);
    users.iter_mut().for_each(User::end);
    unique(&users);
}

/// The end of the numbers that a host was granted.
fn granted(user: &User) -> u64 {
    let output = agent().args(["status", "--json", "--dir"]).arg(user.host.path("run")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter_map(|line| line["granted"].as_u64()).next().expect(&text)
}
