//! More agents than nodes. They start at once, their store goes away for longer than a lease, and comes back.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use txid::snowflake::{Generator, Layout, State};

use super::host::{Host, signal};
use crate::servers::{self, POSTGRES_PASSWORD, Server};

const NODES: usize = 128;
const LAYOUT: &str = "time_bits=41,node_bits=7,sequence_bits=12,unit_ms=1,epoch=1288834974657";
const AHEAD: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(100);
/// So many of the agents that have a node end, and others take it.
const ENDS: usize = 20;

#[test]
#[ignore = "two minutes of 200 agents"]
fn crowd_on_redis() {
    crowd("Redis", servers::redis(&[]), 10, |port| format!("redis://127.0.0.1:{port}?may-lose-writes=0"));
}

#[test]
#[ignore = "two minutes of 200 agents"]
fn crowd_on_etcd() {
    crowd("etcd", servers::etcd(&[]), 10, |port| format!("etcd://127.0.0.1:{port}"));
}

#[test]
#[ignore = "two minutes of 200 agents"]
fn crowd_on_postgres() {
    let server = servers::postgres(&["max_connections=500"]);
    // Four round trips more for each connection: the login, and what its settings are.
    crowd("PostgreSQL", server, 18, |port| {
        format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{port}/ids?may-lose-writes=0")
    });
}

struct Member {
    host: Host,
    generator: Option<Generator>,
    ids: Vec<u64>,
    /// Whether the last tick brought ids.
    is_live: bool,
    /// The requests and the lines of the log at each tick.
    requests: Vec<usize>,
    lines: Vec<usize>,
}

impl Member {
    fn new(host: Host) -> Self {
        Self { host, generator: None, ids: Vec::new(), is_live: false, requests: Vec::new(), lines: Vec::new() }
    }

    fn tick(&mut self) {
        if self.generator.is_none() {
            let state = State::leased(&self.host.path("run").join("orders"), &LAYOUT.parse().unwrap());
            self.generator = state.ok().map(Generator::new);
        }
        let before = self.ids.len();
        let made = self.generator.iter().flat_map(|generator| (0..8).map_while(|_| generator.next().ok()));
        self.ids.extend(made);
        self.is_live = self.ids.len() > before;
        self.requests.push(self.host.proxy.trips());
        self.lines.push(self.host.log().lines().count());
    }
}

/// The most that was counted within ten seconds.
fn most_in_ten_seconds(counts: &[usize], times: &[Duration]) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (last, time) in times.iter().enumerate() {
        while *time - times[first] > Duration::from_secs(10) {
            first += 1;
        }
        most = most.max(counts[last] - counts[first]);
    }
    most
}

struct Crowd {
    members: Vec<Member>,
    start: Instant,
    times: Vec<Duration>,
}

impl Crowd {
    /// Lets all make ids until this is so for the number of hosts that have some, and returns how long that took.
    fn until(&mut self, what: &str, is_so: impl Fn(usize) -> bool) -> Duration {
        let start = Instant::now();
        loop {
            let tick = Instant::now();
            self.times.push(self.start.elapsed());
            self.members.iter_mut().for_each(Member::tick);
            let live = self.members.iter().filter(|member| member.is_live).count();
            assert!(live <= NODES, "{live} hosts on {NODES} nodes");
            if is_so(live) {
                return start.elapsed();
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{what}: {live} hosts have ids");
            sleep(TICK.saturating_sub(tick.elapsed()));
        }
    }

    fn requests(&self) -> usize {
        self.members.iter().map(|member| member.host.proxy.trips()).sum()
    }

    fn last_ms(&self) -> i64 {
        let layout: Layout = LAYOUT.parse().unwrap();
        let last = self.members.iter().filter_map(|member| member.ids.last()).max().unwrap();
        layout.decode(*last).unwrap().ms
    }

    /// The nodes that the newest id of each live host has.
    fn nodes(&self) -> BTreeSet<u64> {
        let layout: Layout = LAYOUT.parse().unwrap();
        let live = self.members.iter().filter(|member| member.is_live);
        live.map(|member| layout.decode(*member.ids.last().unwrap()).unwrap().node).collect()
    }
}

/// `most` limits the round trips of an agent in ten seconds.
fn crowd(store: &str, mut server: Server, most: usize, url: impl Fn(u16) -> String + Copy) {
    let agents = std::env::var("TXID_CROWD_AGENTS").map_or(200, |agents| agents.parse().unwrap());
    assert!(agents >= NODES + ENDS, "TXID_CROWD_AGENTS={agents}: more than {NODES} and {ENDS} show something");
    let hosts = (0..agents).map(|number| Host::new(&format!("host-{number}"), server.port, url, LAYOUT));
    let mut crowd = Crowd { members: hosts.map(Member::new).collect(), start: Instant::now(), times: Vec::new() };
    let ahead = format!("{}s", AHEAD.as_secs());
    for member in &mut crowd.members {
        member.host.start_agent(&["--assume-unused-store", "--lease-time", &ahead]);
    }
    let spawned = crowd.start.elapsed();
    crowd.until("not all nodes are used", |live| live == NODES);
    let served = crowd.start.elapsed() - spawned;
    assert_eq!(crowd.nodes().len(), NODES);
    let begin = Instant::now();
    crowd.until("never", |_| begin.elapsed() > 2 * AHEAD);

    server.kill();
    let (outage, latest_ms) = (Instant::now(), txid::system_ms() + AHEAD.as_millis() as i64);
    crowd.until("a lease goes on without its store", |live| live == 0);
    assert!(crowd.last_ms() < latest_ms, "an id has a time that no lease can have");
    crowd.until("never", |_| outage.elapsed() > 2 * AHEAD);
    let before = crowd.requests();
    server.restart();
    let back = crowd.until("not all nodes are used again", |live| live == NODES);
    let in_return = crowd.requests() - before;
    assert_eq!(crowd.nodes().len(), NODES);

    let live = crowd.members.iter().filter(|member| member.is_live);
    live.take(ENDS).for_each(|member| signal(member.host.agent.as_ref().unwrap(), libc::SIGTERM));
    crowd.until("an agent does not end", |live| live < NODES);
    let passed_on = crowd.until("nobody takes the nodes that were given back", |live| live == NODES);
    assert_eq!(crowd.nodes().len(), NODES);

    let highest = |counts: fn(&Member) -> &Vec<usize>| {
        let each = crowd.members.iter().map(|member| most_in_ten_seconds(counts(member), &crowd.times));
        each.max().unwrap()
    };
    let (requests, lines) = (highest(|member| &member.requests), highest(|member| &member.lines));
    let all_lines: usize = crowd.members.iter().map(|member| *member.lines.last().unwrap()).sum();
    let mut ids: Vec<u64> = crowd.members.iter().flat_map(|member| member.ids.iter().copied()).collect();
    println!(
        "{store}: {agents} agents were started within {spawned:.1?}; all of {NODES} nodes were in use {served:.1?} later, again \
         {back:.1?} after an outage of {:.0?}, and {passed_on:.1?} after {ENDS} agents had ended. {} round trips in {:.0?}, \
         {in_return} of them in the return; at most {requests} by one agent within 10 s. {all_lines} lines in all logs; at most \
         {lines} of one agent within 10 s. {} ids.",
        2 * AHEAD,
        crowd.requests(),
        crowd.start.elapsed(),
        ids.len()
    );
    assert!(ids.len() > 100_000, "{} ids are too few to tell", ids.len());
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|one, other| one < other), "an id twice");
    assert!(requests <= most, "{requests} requests of one agent within ten seconds");
    assert!(lines <= 10, "{lines} lines of one agent within ten seconds");
}
