//! Real agents that share a table or path with UidGenerator or Leaf. The tests themselves do what those two do, step
//! by step as in their sources.

mod leaf;
mod uid_generator;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use crate::fleet::host::{Running, agent, signal};
use crate::servers::until;
use crate::wait::ended;
use txid::snowflake::LeasePage;

/// Ends an agent, which gives its node back.
fn stop(mut agent: Running) {
    signal(&agent.0, libc::SIGTERM);
    assert!(ended("it does not end", &mut agent.0).success());
}

/// A fleet of hosts on one store.
struct Fleet {
    directory: tempfile::TempDir,
    store: String,
    node: String,
}

impl Fleet {
    /// `node` is as in `--node orders=NODE`.
    fn new(store: &str, node: &str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), store: store.to_owned(), node: node.to_owned() }
    }

    fn path(&self, host: &str) -> PathBuf {
        self.directory.path().join(host)
    }

    fn log(&self, host: &str) -> String {
        fs::read_to_string(self.directory.path().join(format!("{host}.log"))).unwrap_or_default()
    }

    fn start(&self, host: &str) -> Running {
        let log = File::options().create(true).append(true).open(self.directory.path().join(format!("{host}.log")));
        let mut command = agent();
        command.args(["run", "--assume-unused-store", "--host-name", host, "--store", &self.store, "--node"]);
        command.arg(format!("orders={}", self.node)).arg("--dir").arg(self.path(host));
        Running(command.stdin(Stdio::null()).stderr(log.unwrap()).spawn().unwrap())
    }

    /// Waits until a host has a node, and returns it.
    fn node(&self, host: &str) -> u64 {
        let page = self.path(host).join("orders");
        until("there is no lease", || {
            let view = LeasePage::attach(&page).ok().map(|page| page.view());
            view.filter(|view| view.limit_ms.is_some()).map(|view| view.node)
        })
    }

    /// Checks that an agent ends at once, with `wanted` in its log.
    fn fails(&self, host: &str, wanted: &str) {
        let mut agent = self.start(host);
        assert!(!ended("it does not fail", &mut agent.0).success());
        let log = self.log(host);
        assert!(log.contains(wanted), "{wanted:?} is not in {log}");
    }
}

/// Starts all hosts while `old` takes nodes as the other library does. Checks that no node is taken twice, and that
/// the hosts have the same nodes after a restart.
fn everybody_starts(fleet: &Fleet, old: impl Fn(usize) -> u64 + Sync) {
    let hosts: Vec<String> = (0..4).map(|number| format!("web-{number}")).collect();
    let (agents, theirs) = std::thread::scope(|scope| {
        let old = &old;
        let theirs: Vec<_> = (0..3)
            .map(|thread| scope.spawn(move || (0..20).map(|turn| old(20 * thread + turn)).collect::<Vec<_>>()))
            .collect();
        let agents: Vec<Running> = hosts.iter().map(|host| fleet.start(host)).collect();
        let had: Vec<u64> = hosts.iter().map(|host| fleet.node(host)).collect();
        (
            agents.into_iter().zip(had).collect::<Vec<_>>(),
            theirs.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>(),
        )
    });
    let mut all: Vec<u64> = agents.iter().map(|(_, node)| *node).chain(theirs.iter().copied()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a node twice: {all:?}");
    assert_eq!(count, 64);

    // A restart takes no new number. (In the other libraries it does, which uses the numbers up.)
    let had: BTreeSet<u64> = agents.iter().map(|(_, node)| *node).collect();
    for (agent, _) in agents {
        stop(agent);
    }
    let agents: Vec<Running> = hosts.iter().map(|host| fleet.start(host)).collect();
    let has: BTreeSet<u64> = hosts.iter().map(|host| fleet.node(host)).collect();
    assert_eq!(has, had, "the same nodes again");
    let next = old(60);
    assert!(!has.contains(&next) && !theirs.contains(&next), "{next}");
    drop(agents);
}
