//! A cluster of MariaDB with Galera: three servers, each of which takes writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::servers::{self, Server, free_port, mariadb_client, mariadbd, run, until};

const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";

/// A server that starts has the position of its data, and gets what comes after it from another's cache.
const STATE_TRANSFER: &str = r#"#!/bin/sh
case "$*" in
    *joiner*)
        echo "ready 127.0.0.1"
        echo "$POSITION"
        ;;
    *--bypass*)
        while [ "$1" != --gtid ]; do shift; done
        echo "done $2"
        ;;
    *) exit 1 ;;
esac
"#;

pub struct Galera {
    pub nodes: Vec<Server>,
    /// Whether there is a cluster that a server can join.
    is_founded: Arc<AtomicBool>,
}

impl Galera {
    /// Starts it with these options, if it is installed.
    pub fn start(options: &[&str]) -> Option<Self> {
        let mut founder = alone(&[])?;
        founder.end();
        // They name the server that it was.
        for name in ["gvwstate.dat", "galera.cache"] {
            _ = fs::remove_file(founder.path(&format!("data/{name}")));
        }
        let peers = [(); 3].map(|()| free_port());
        let mut galera = Self { nodes: Vec::new(), is_founded: Arc::default() };
        for peer in peers {
            let all = peers.map(|peer| format!("127.0.0.1:{peer}")).join(",");
            let (is_founded, ist) = (galera.is_founded.clone(), free_port());
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            let node = Server::start(
                |directory| {
                    run(Command::new("cp").arg("-a").arg(founder.path("data")).arg(directory));
                    let script = directory.join("wsrep_sst_position");
                    fs::write(&script, STATE_TRANSFER).unwrap();
                    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
                },
                move |directory, port| {
                    // The first server founds the cluster, and joins it if it is started again.
                    let cluster = if is_founded.swap(true, Ordering::SeqCst) { all.as_str() } else { "" };
                    let position = position(directory);
                    let mut command =
                        mariadbd(directory, port, &[with_provider(cluster, peer, ist), options.clone()].concat());
                    command.args(["--wsrep-sst-method=position", &format!("--wsrep-start-position={position}")]);
                    command.env("POSITION", position);
                    let path = std::env::var("PATH").unwrap_or_default();
                    command.env("PATH", format!("{}:{path}", directory.display()));
                    command
                },
            );
            galera.nodes.push(node);
            galera.wait_for(galera.nodes.len() - 1);
        }
        Some(galera)
    }

    /// Starts a server again that was killed.
    pub fn restart(&mut self, at: usize) {
        self.nodes[at].restart();
        self.wait_for(at);
    }

    /// All servers crash at once. This one founds the cluster again.
    pub fn crash(&mut self, founder: usize) {
        self.nodes.iter().for_each(|node| node.signal(libc::SIGSTOP));
        self.nodes.iter_mut().for_each(Server::kill);
        self.is_founded.store(false, Ordering::SeqCst);
        // As an operator does who has compared the servers.
        let state = self.nodes[founder].path("data/grastate.dat");
        let text = fs::read_to_string(&state).unwrap().replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1");
        fs::write(state, text).unwrap();
        self.restart(founder);
    }

    /// Waits until a server has all that the others have.
    pub fn wait_for(&self, at: usize) {
        until("a server does not join the others", || self.status(at, "wsrep_local_state_comment") == "Synced");
    }

    /// What a server says about itself.
    pub fn status(&self, at: usize, variable: &str) -> String {
        let show = format!("SHOW STATUS LIKE '{variable}'");
        let output = mariadb_client(&self.nodes[at]).args(["-Ne", &show]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        said.split_whitespace().nth(1).unwrap_or_default().to_owned()
    }

    /// Cuts a server off the others, or lets it come back.
    pub fn isolate(&self, at: usize, is_alone: bool) {
        let set = format!("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={}'", u8::from(is_alone));
        run(mariadb_client(&self.nodes[at]).args(["-e", &set]));
    }
}

/// A cluster of one server, with these options, if Galera is installed.
pub fn alone(options: &[&str]) -> Option<Server> {
    if !Path::new(PROVIDER).exists() {
        crate::skipped(format_args!("{PROVIDER} is missing; scripts/need.sh stores installs it"));
        return None;
    }
    let provider = with_provider("", free_port(), free_port());
    let provider: Vec<&str> = provider.iter().map(String::as_str).collect();
    Some(servers::mariadb_with(&[&provider, options].concat()))
}

/// The options of a member of the cluster that has these members, or of one that founds it.
fn with_provider(cluster: &str, peer: u16, ist: u16) -> Vec<String> {
    // A server that is gone is noticed within 2 s.
    let provider = format!(
        "gmcast.listen_addr=tcp://127.0.0.1:{peer};ist.recv_addr=127.0.0.1:{ist};gcache.size=16M;\
         evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;evs.suspect_timeout=PT2S;\
         evs.inactive_timeout=PT4S;evs.install_timeout=PT3S"
    );
    let mut options = vec![
        format!("--wsrep-provider={PROVIDER}"),
        format!("--wsrep-cluster-address=gcomm://{cluster}"),
        format!("--wsrep-node-address=127.0.0.1:{peer}"),
        format!("--wsrep-provider-options={provider}"),
    ];
    for option in ["--skip-ssl", "--wsrep-on=ON", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2"] {
        options.push(option.to_owned());
    }
    options
}

/// The last write that a directory has: the cluster and a number.
fn position(directory: &Path) -> String {
    let mut recover = mariadbd(directory, 0, &with_provider("", 0, 0));
    let output = recover.arg("--wsrep-recover").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = said.lines().find_map(|line| line.split_once("Recovered position: ")).expect(&said);
    found.1.trim().to_owned()
}
