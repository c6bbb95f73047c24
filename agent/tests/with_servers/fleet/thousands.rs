//! Thousands of agents that start at once, on more nodes than there are, and on fewer. They are threads of one process, with
//! a store, a page and connections of their own each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use txid::snowflake::{Generator, Layout, State};
use txid_agent::keeper::{HostClock, ManagedLease, Terms, keep};
use txid_agent::store::{Durability, Show, Store, open};
use txid_agent_machines::lease::Rules;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime};

use crate::servers::{self, POSTGRES_PASSWORD};
use crate::stores::wait_for;

/// Calls of all agents.
#[derive(Default)]
struct Calls {
    reads: AtomicUsize,
    writes: AtomicUsize,
    lists: AtomicUsize,
    failed: AtomicUsize,
}

impl Calls {
    fn now(&self) -> [usize; 4] {
        [&self.reads, &self.writes, &self.lists, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }
}

struct Counted(Box<dyn Store>, Arc<Calls>);

impl Counted {
    fn call<T>(&self, count: &AtomicUsize, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        count.fetch_add(1, Ordering::Relaxed);
        self.1.failed.fetch_add(usize::from(answer.is_err()), Ordering::Relaxed);
        answer
    }
}

impl Store for Counted {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let answer = self.0.read(key);
        self.call(&self.1.reads, answer)
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let answer = self.0.put(key, expected, bytes);
        self.call(&self.1.writes, answer)
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let answer = self.0.list(prefix, show);
        self.call(&self.1.lists, answer)
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        self.0.clock()
    }

    fn durability(&self) -> &Durability {
        self.0.durability()
    }
}

/// Keeps a lease until it is told to stop.
fn agent(path: &Path, layout: &Layout, url: &str, calls: Arc<Calls>, stop: &Receiver<Terms>) {
    let store = Counted(open(url).unwrap(), calls);
    let (group, name) = (layout.last_node().to_string(), path.file_name().unwrap().to_str().unwrap());
    let rules = Rules { new: true, ..Rules::new(&group, name, layout, false) };
    let mut lease = ManagedLease::open(path, layout, rules, Box::new(store)).unwrap();
    keep(&mut lease, &HostClock::new(stop), |_| {}).unwrap();
}

/// All nodes are live, or all agents, and who has a node does not lose it.
fn thousands(store: &str, url: &str) {
    wait_for(url);
    // For a smaller machine: TXID_THOUSANDS=300 is 300 agents on a thousand nodes, and on 256.
    let sizes = match std::env::var("TXID_THOUSANDS") {
        Ok(agents) => [(agents.parse().unwrap(), 10), (agents.parse().unwrap(), 8)],
        Err(_) => [(3_000, 12), (1_300, 10)],
    };
    for (agents, node_bits) in sizes {
        let layout = format!("time_bits=41,node_bits={node_bits},sequence_bits=10,unit_ms=1,epoch=1288834974657");
        let layout: Layout = layout.parse().unwrap();
        let wanted = agents.min(layout.last_node() as usize + 1);
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let calls = Arc::new(Calls::default());
        let begin = Instant::now();
        let start = |number: usize| {
            let (stop, is_told) = channel();
            let (path, url, calls) = (directory.path().join(format!("host-{number}")), url.to_owned(), calls.clone());
            let work = move || agent(&path, &layout, &url, calls, &is_told);
            (stop, thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap())
        };
        let (stops, threads): (Vec<_>, Vec<_>) = (0..agents).map(start).unzip();
        let mut hosts: Vec<(Option<Generator>, bool)> = (0..agents).map(|_| (None, false)).collect();
        let mut losses = 0;
        let mut look = || {
            for (number, (generator, was_live)) in hosts.iter_mut().enumerate() {
                if generator.is_none() {
                    let state = State::leased(&directory.path().join(format!("host-{number}")), &layout);
                    *generator = state.ok().map(Generator::new);
                }
                let is_live = generator.as_ref().is_some_and(|it| it.refusal_at(txid::system_ms()).is_none());
                losses += usize::from(*was_live && !is_live);
                *was_live = is_live;
            }
            (hosts.iter().filter(|(_, is_live)| *is_live).count(), losses)
        };
        let mut last = (0, 0);
        while last.0 < wanted && begin.elapsed() < Duration::from_secs(180) {
            thread::sleep(Duration::from_millis(200));
            last = look();
        }
        let (took, live, [reads, writes, lists, failed]) = (begin.elapsed(), last.0, calls.now());
        let minute = Instant::now();
        while minute.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(200));
            last = look();
        }
        let after = calls.now();
        println!(
            "| {store} | {agents} on {} | {live} live after {took:.1?} | {reads} | {writes} | {lists} | {failed} | in the next minute: \
             {} reads, {} writes, {} lists, {} failed | {} live, {} lost |",
            layout.last_node() + 1,
            after[0] - reads,
            after[1] - writes,
            after[2] - lists,
            after[3] - failed,
            last.0,
            last.1,
        );
        assert_eq!(last, (wanted, 0), "{store}: live, and lost");
        drop(stops);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
#[ignore = "minutes of 3,000 agents; make soak"]
fn thousands_on_redis() {
    let server = servers::redis(&["--maxclients", "10000"]);
    let url = format!("redis://127.0.0.1:{}?may-lose-writes=0", server.port);
    thousands("Redis", &url);
}

#[test]
#[ignore = "minutes of 3,000 agents; make soak"]
fn thousands_on_etcd() {
    let server = servers::etcd(&["--auto-compaction-retention", "1h"]);
    let url = format!("etcd://127.0.0.1:{}/txid", server.port);
    thousands("etcd", &url);
}

#[test]
#[ignore = "minutes of 3,000 agents; make soak"]
fn thousands_on_postgres() {
    let server = servers::postgres(&["max_connections=5000"]);
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids?may-lose-writes=0", server.port);
    thousands("PostgreSQL", &url);
}

#[test]
#[ignore = "minutes of 3,000 agents; make soak"]
fn thousands_on_zookeeper() {
    let server = servers::zookeeper();
    let url = format!("zookeeper://127.0.0.1:{}/txid", server.port);
    thousands("ZooKeeper", &url);
}
