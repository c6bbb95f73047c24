//! A cluster of etcd whose leader is cut off from the others, with a host that reaches only this leader.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use super::TWO_NODES;
use super::host::{Host, agent, kill, signal};
use crate::proxy::{Mode, Proxy};
use crate::servers::{self, Server, until};

/// What is between the servers of a cluster: a proxy in front of each.
#[derive(Default)]
struct Wall {
    /// The server that is cut off: its place in the cluster, and the name that it gives the others.
    alone: Option<(usize, String)>,
    open: Vec<(Call, [TcpStream; 2])>,
}

/// A connection between two servers.
struct Call {
    to: usize,
    /// The name of the server that calls. A server that only asks for the version gives none.
    from: Option<String>,
}

impl Wall {
    /// The port of a proxy to a server.
    fn before(wall: &Arc<Mutex<Self>>, to: usize, server: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let wall = wall.clone();
        thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let wall = wall.clone();
                // Whoever ends a connection early is none of the wall's business.
                thread::spawn(move || _ = Self::connect(&wall, to, server, caller));
            }
        });
        port
    }

    fn connect(wall: &Mutex<Self>, to: usize, server: u16, mut caller: TcpStream) -> io::Result<()> {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match caller.read(&mut buffer)? {
                0 => return Ok(()),
                read => request.extend_from_slice(&buffer[..read]),
            }
        }
        let text = String::from_utf8_lossy(&request);
        let from = text.lines().find_map(|line| line.strip_prefix("X-Server-From: ")).map(str::to_owned);
        let mut server = TcpStream::connect(("127.0.0.1", server))?;
        let ends = [caller.try_clone()?, server.try_clone()?];
        {
            let mut wall = wall.lock().unwrap();
            let call = Call { to, from };
            if wall.stops(&call) {
                return Ok(());
            }
            wall.open.push((call, ends));
        }
        server.write_all(&request)?;
        let (mut from_server, mut to_caller) = (server.try_clone()?, caller.try_clone()?);
        thread::spawn(move || {
            _ = io::copy(&mut from_server, &mut to_caller);
            _ = to_caller.shutdown(Shutdown::Both);
        });
        _ = io::copy(&mut caller, &mut server);
        server.shutdown(Shutdown::Both)
    }

    fn stops(&self, call: &Call) -> bool {
        self.alone.as_ref().is_some_and(|(at, name)| call.to == *at || call.from.as_ref() == Some(name))
    }

    fn cut_off(&mut self, at: usize, name: &str) {
        self.alone = Some((at, name.to_owned()));
        for (_, ends) in self.open.iter().filter(|(call, _)| self.stops(call)) {
            ends.iter().for_each(|end| _ = end.shutdown(Shutdown::Both));
        }
    }
}

/// The place and the name of the server that leads.
fn leader(servers: &[Server]) -> Option<(usize, String)> {
    servers.iter().enumerate().find_map(|(at, server)| {
        let mut ask = Command::new("etcdctl");
        ask.env("ETCDCTL_API", "3").args(["--endpoints", &format!("127.0.0.1:{}", server.port), "endpoint", "status"]);
        let said = String::from_utf8(ask.output().unwrap().stdout).unwrap();
        // The address, the name, the version, the size, whether it leads.
        let columns: Vec<_> = said.trim().split(", ").collect();
        (columns.get(4) == Some(&"true")).then(|| (at, columns[1].to_owned()))
    })
}

/// One host reaches only the leader that was cut off; it has no ids after its limit. Another reaches all of them, the
/// leader first, and goes on. A third takes the node of the first from the majority. Then all is well again.
#[test]
fn a_leader_without_its_cluster() {
    let wall = Arc::new(Mutex::new(Wall::default()));
    let listens = [(); 3].map(|()| servers::free_port());
    let peers: Vec<_> = listens.iter().enumerate().map(|(at, &port)| (port, Wall::before(&wall, at, port))).collect();
    let cluster = servers::etcd_cluster(&peers);
    let (at, name) = until("nobody leads", || leader(&cluster.servers));
    let first = cluster.servers[at].port;
    let others: Vec<_> = cluster.servers.iter().map(|server| server.port).filter(|port| *port != first).collect();
    let ways = [others[0], others[1]].map(Proxy::to);
    let hosts = |ports: &[u16]| {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("etcd://{}/txid?timeout=1s", hosts.join(","))
    };
    let majority = hosts(&others);
    let mut cut = Host::new("cut", first, |port| hosts(&[port, ways[0].port, ways[1].port]), TWO_NODES);
    let mut sees_all = Host::new("sees-all", first, |port| hosts(&[port, others[0], others[1]]), TWO_NODES);
    let mut heir = Host::new("heir", others[0], |port| hosts(&[port, others[1]]), TWO_NODES);
    let options = ["--assume-unused-store", "--lease-time", "5s"];
    for host in [&mut cut, &mut sees_all] {
        host.start_agent(&options);
        host.start_worker();
        until("there is no lease", || host.is_live());
    }

    wall.lock().unwrap().cut_off(at, &name);
    // One server is out of reach for it, and one is silent.
    ways[0].set(Mode::Refuse);
    ways[1].set(Mode::SwallowReplies);
    until("it goes on without a majority", || !cut.is_live());
    until("the next host of the URL does not serve", || sees_all.is_live());
    let node = cut.view().node;
    let others_lead = || leader(&cluster.servers).is_some_and(|(which, _)| which != at);
    until("the majority has no leader", others_lead);
    let patient = majority.replace("timeout=1s", "timeout=60s");
    servers::run(agent().args(["release", "--store", &patient, "orders", &node.to_string()]));
    heir.start_agent(&options);
    heir.start_worker();
    until("the heir makes no ids", || heir.ids().len() > 1000);
    assert_eq!(heir.view().node, node);
    assert!(!cut.is_live());
    until("the next host of the URL does not serve", || sees_all.is_live());

    wall.lock().unwrap().alone = None;
    ways.iter().for_each(|way| way.set(Mode::Pass));
    cut.says(&format!("lost node {node}"));
    let before = cut.ids().len();
    signal(sees_all.agent.as_ref().unwrap(), libc::SIGTERM);
    until("it takes no other node", || cut.ids().len() > before + 1000);
    assert_ne!(cut.view().node, node);
    let all = [&mut cut, &mut sees_all, &mut heir].map(|host| {
        host.workers.iter_mut().for_each(kill);
        host.ids()
    });
    let [first, second, third] = &all;
    println!("ids of each host: {} {} {}", first.len(), second.len(), third.len());
    assert!(first[..before].iter().max() < third.iter().min(), "the heir starts where the old lease ends");
    let different: HashSet<_> = all.iter().flatten().collect();
    assert_eq!(different.len(), first.len() + second.len() + third.len(), "an id twice");
}
