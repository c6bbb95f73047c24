//! Processes that the cgroup freezer stops, as `docker pause` does.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use txid::snowflake::{Generator, State};

use super::TWO_NODES;
use super::host::{Host, agent, kill, signal};
use super::hosted::send;
use crate::servers::{self, until};

/// A cgroup. Its processes end with it.
struct Freezer {
    path: PathBuf,
    is_version_2: bool,
}

impl Freezer {
    /// If this user may make one.
    fn new(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let mut mounts: Vec<Vec<_>> = mounts.lines().map(|line| line.split(' ').collect()).collect();
        mounts.sort_by_key(|columns| columns[2] != "cgroup2");
        mounts.iter().find_map(|columns| {
            let is_version_2 = columns[2] == "cgroup2";
            let is_version_1 = columns[2] == "cgroup" && columns[3].split(',').any(|option| option == "freezer");
            if !is_version_2 && !is_version_1 {
                return None;
            }
            let path = PathBuf::from(columns[1]).join(format!("txid-{name}-{}", std::process::id()));
            fs::create_dir(&path).ok()?;
            let freezer = Self { path, is_version_2 };
            freezer.path.join(if is_version_2 { "cgroup.freeze" } else { "freezer.state" }).exists().then_some(freezer)
        })
    }

    fn add(&self, process: &Child) {
        fs::write(self.path.join("cgroup.procs"), process.id().to_string()).unwrap();
    }

    fn freeze(&self) {
        let (file, word, state, frozen) = if self.is_version_2 {
            ("cgroup.freeze", "1", "cgroup.events", "frozen 1")
        } else {
            ("freezer.state", "FROZEN", "freezer.state", "FROZEN")
        };
        fs::write(self.path.join(file), word).unwrap();
        until("it does not freeze", || fs::read_to_string(self.path.join(state)).unwrap().contains(frozen));
    }

    fn thaw(&self) {
        let (file, word) = if self.is_version_2 { ("cgroup.freeze", "0") } else { ("freezer.state", "THAWED") };
        fs::write(self.path.join(file), word).unwrap();
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        for process in fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default().lines() {
            send(process.parse().unwrap(), libc::SIGKILL);
        }
        // In version 1, a process that is frozen does not end.
        self.thaw();
        until("its processes do not end", || fs::remove_dir(&self.path).is_ok());
    }
}

/// A host is frozen until another has its node. Then its processes that make ids go on first, and its agent later.
#[test]
fn a_frozen_host() {
    let server = servers::redis(&[]);
    let url = |port| format!("redis://127.0.0.1:{port}?may-lose-writes=0");
    let mut hosts = ["frozen", "other", "heir"].map(|name| Host::new(name, server.port, url, TWO_NODES));
    let (Some(agents), Some(workers)) = (Freezer::new("agents"), Freezer::new("workers")) else {
        return crate::skipped("this user may not make a cgroup that can be frozen");
    };
    let options = ["--assume-unused-store", "--lease-time", "3s"];
    for host in &mut hosts[..2] {
        host.start_agent(&options);
        (0..2).for_each(|_| host.start_worker());
        until("there are no ids", || host.ids().len() > 1000);
    }
    let [frozen, other, heir] = &mut hosts;
    agents.add(frozen.agent.as_ref().unwrap());
    frozen.workers.iter().for_each(|worker| workers.add(worker));
    agents.freeze();
    workers.freeze();

    // A process that is not frozen is refused at the limit.
    let layout = TWO_NODES.parse().unwrap();
    let open = Generator::new(State::leased(&frozen.path("run").join("orders"), &layout).unwrap());
    let mut last = 0;
    until("ids go on without the agent", || {
        for _ in 0..1000 {
            last = open.generate().unwrap_or(last);
        }
        open.generate().is_err()
    });
    let refused = open.generate().unwrap_err().to_string();
    assert!(refused.contains("ended at"), "{refused}");

    let node = frozen.view().node;
    servers::run(agent().args(["release", "--store", &url(server.port), "orders", &node.to_string()]));
    heir.start_agent(&options);
    (0..2).for_each(|_| heir.start_worker());
    until("the heir makes no ids", || heir.ids().len() > 1000);
    assert_eq!(heir.view().node, node);

    workers.thaw();
    let of_heir = heir.ids().len();
    until("the heir does not go on", || heir.ids().len() > of_heir + 1000);
    let end = frozen.ids();
    last = last.max(*end.iter().max().unwrap());
    assert!(last < *heir.ids().iter().min().unwrap(), "an id was made after the node had passed to the heir");
    assert!(!frozen.is_live());

    agents.thaw();
    frozen.says(&format!("lost node {node}"));
    signal(other.agent.as_ref().unwrap(), libc::SIGTERM);
    until("it takes no other node", || frozen.ids().len() > end.len() + 1000);
    assert_ne!(frozen.view().node, node);
    let mut all = Vec::new();
    for host in &mut hosts {
        host.workers.iter_mut().for_each(kill);
        all.extend(host.ids());
    }
    println!("{} ids, with {}", all.len(), agents.path.display());
    all.sort_unstable();
    assert!(all.is_sorted_by(|one, other| one < other), "an id twice");
}
