//! Real agents on real servers, four processes on each host that make ids, and everything that can go wrong.

mod agent;
mod ahead;
mod child;
pub mod directory;
mod expired;
mod frozen;
pub mod host;
pub mod hosted;
mod inherited;
mod late;
mod left;
mod stopped;
mod terminal;
mod thousands;

use crate::proxy::Mode;
use crate::servers::{self, Server};
use host::{Host, agent, kill, signal};

/// Three hosts on four nodes, so that nodes soon move between hosts.
pub const LAYOUT: &str = "time_bits=41,node_bits=2,sequence_bits=12,unit_ms=1,epoch=1288834974657";
/// So that a third host can only have a node that another has had.
pub const TWO_NODES: &str = "time_bits=41,node_bits=1,sequence_bits=12,unit_ms=1,epoch=1288834974657";
const HOSTS: usize = 3;
const WORKERS: usize = 4;

/// xorshift. It decides the order of the faults; a test prints its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Waits until each of these hosts has made more ids.
fn go_on(hosts: &[Host]) {
    for host in hosts {
        let before = host.ids().len();
        servers::until(&format!("{} makes no ids", host.name), || host.ids().len() > before + 1000);
    }
}

/// Checks that no id was made twice.
fn unique(hosts: &[Host]) {
    let made = hosts.iter().map(|host| host.ids().len()).collect::<Vec<_>>();
    let mut all: Vec<(u64, usize)> = Vec::with_capacity(made.iter().sum());
    for (which, host) in hosts.iter().enumerate() {
        all.extend(host.ids().into_iter().map(|id| (id, which)));
    }
    all.sort_unstable();
    if let Some(pair) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let ((id, one), (_, other)) = (pair[0], pair[1]);
        let logs: String = hosts.iter().map(|host| format!("== {}\n{}", host.name, host.log())).collect();
        panic!("{id} was made by host-{one} and by host-{other}\n{logs}");
    }
    println!("ids of each host: {made:?}");
    assert!(made.iter().all(|made| *made > 1000), "{made:?}");
}

#[test]
fn each_fault_on_redis() {
    each_fault(servers::redis(&[]), |port| format!("redis://127.0.0.1:{port}?may-lose-writes=0&timeout=60s"));
}

#[test]
fn each_fault_on_etcd() {
    each_fault(servers::etcd(&[]), |port| format!("etcd://127.0.0.1:{port}/fleet?timeout=60s"));
}

/// Each fault: it is undone when it has shown, however long that takes.
fn each_fault(mut server: Server, url: impl Fn(u16) -> String + Copy) {
    let mut hosts: Vec<Host> =
        (0..HOSTS).map(|number| Host::new(&format!("host-{number}"), server.port, url, LAYOUT)).collect();
    // So that a busy machine ends no lease.
    let options = ["--assume-unused-store", "--lease-time", "30s"];
    for host in &mut hosts {
        host.start_agent(&options);
        (0..2).for_each(|_| host.start_worker());
    }
    go_on(&hosts);

    // An agent and a worker are killed.
    kill(hosts[0].agent.as_mut().unwrap());
    hosts[0].start_agent(&options);
    hosts[0].says(": continues with node ");
    hosts[0].start_worker();
    kill(&mut hosts[0].workers.swap_remove(0));
    // An agent and a worker are stopped for a while. The others go on.
    signal(hosts[1].agent.as_ref().unwrap(), libc::SIGSTOP);
    signal(&hosts[1].workers[0], libc::SIGSTOP);
    go_on(&hosts);
    signal(hosts[1].agent.as_ref().unwrap(), libc::SIGCONT);
    signal(&hosts[1].workers[0], libc::SIGCONT);
    // The network ends connections, and the server is killed.
    let before = hosts[2].log().len();
    hosts[2].proxy.set(Mode::Refuse);
    hosts[2].says_after(before, "orders: cannot reach ");
    let before = hosts[2].log().len();
    hosts[2].proxy.set(Mode::Pass);
    hosts[2].says_after(before, "orders: the store answers again");
    let before: Vec<_> = hosts.iter().map(|host| host.log().len()).collect();
    let all_say = |text: &str| hosts.iter().zip(&before).for_each(|(host, before)| host.says_after(*before, text));
    server.kill();
    all_say("orders: cannot reach ");
    server.restart();
    all_say("orders: the store answers again");
    // An operator releases a node while its host makes ids. That host takes another one.
    let node = hosts[0].view().node;
    servers::run(agent().args(["release", "--store", &url(server.port), "orders", &node.to_string()]));
    hosts[0].says(&format!("lost node {node}"));
    go_on(&hosts);
    assert_ne!(hosts[0].view().node, node);

    for host in &mut hosts {
        host.workers.iter_mut().for_each(kill);
    }
    unique(&hosts);
}

/// A node is released while its host still makes ids, because the agent there hangs. Another host takes the node: its
/// ids must begin where the old lease ends.
#[test]
fn a_node_that_is_taken_away() {
    let server = servers::redis(&[]);
    let url = |port| format!("redis://127.0.0.1:{port}?may-lose-writes=0");
    let mut hosts = ["old", "other", "new"].map(|name| Host::new(name, server.port, url, TWO_NODES));
    let options = ["--assume-unused-store", "--lease-time", "5s"];
    for host in &mut hosts[..2] {
        host.start_agent(&options);
        (0..WORKERS).for_each(|_| host.start_worker());
        servers::until("there are few ids", || host.ids().len() > 10_000);
    }
    signal(hosts[0].agent.as_ref().unwrap(), libc::SIGSTOP);
    let node = hosts[0].view().node;
    servers::run(agent().args(["release", "--store", &url(server.port), "orders", &node.to_string()]));
    hosts[2].start_agent(&options);
    (0..WORKERS).for_each(|_| hosts[2].start_worker());

    servers::until("the new host makes no ids", || hosts[2].ids().len() > 10_000);
    assert_eq!(hosts[2].view().node, node);
    for host in &mut hosts {
        host.workers.iter_mut().for_each(kill);
    }
    let (old, new) = (hosts[0].ids(), hosts[2].ids());
    assert!(old.iter().max() < new.iter().min(), "the new host starts where the old one's lease ends");
}
