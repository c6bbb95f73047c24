//! A host of a fleet: an agent, its connection to the store, and processes that make ids.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;
use txid::snowflake::{Generator, Layout, LeasePage, LeaseView, State};

use crate::failure;
use crate::proxy::Proxy;
use crate::servers::{self, until};
use crate::wait;

/// Set for a process that makes ids: the lease, the layout, and the file that the ids are written to.
const WORKER: &str = "TXID_TEST_WORKER";

pub struct Host {
    pub name: String,
    pub directory: TempDir,
    pub proxy: Proxy,
    store: String,
    layout: String,
    /// The agent's variables.
    pub environment: Vec<(&'static str, String)>,
    pub agent: Option<Child>,
    pub workers: Vec<Child>,
    files: Vec<PathBuf>,
}

/// The agent of this build, or the one that is to be measured.
pub fn agent() -> Command {
    let built = || env!("CARGO_BIN_EXE_txid-agent").into();
    let mut command = Command::new(std::env::var_os("TXID_AGENT").unwrap_or_else(built));
    servers::end_with_the_test(&mut command);
    command
}

pub fn signal(child: &Child, signal: i32) {
    servers::send(child.id() as i32, signal);
}

/// Kills and reaps.
pub fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A process that is killed with its owner, at the latest.
pub struct Running(pub Child);

impl Running {
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Host {
    /// `store` makes the store's URL from a port: here, the proxy's.
    pub fn new(name: &str, server: u16, store: impl Fn(u16) -> String, layout: &str) -> Self {
        let proxy = Proxy::to(server);
        let store = store(proxy.port);
        let directory = tempfile::Builder::new().prefix("txid-host").tempdir().unwrap();
        Self {
            name: name.to_owned(),
            directory,
            proxy,
            store,
            layout: layout.to_owned(),
            environment: Vec::new(),
            agent: None,
            workers: Vec::new(),
            files: Vec::new(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn says(&self, text: &str) {
        wait::says(&self.path("log"), text);
    }

    /// Waits until the log contains a text after so many bytes.
    pub fn says_after(&self, from: usize, text: &str) {
        wait::says_again(&self.path("log"), from, text);
    }

    pub fn start_agent(&mut self, options: &[&str]) {
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut command = agent();
        command
            .args(["run", "--store", &self.store, "--host-name", &self.name])
            .args(["--node", &format!("orders={}", self.layout)]);
        command.arg("--dir").arg(self.path("run")).args(options).envs(self.environment.iter().cloned());
        self.agent = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    }

    pub fn start_worker(&mut self) {
        let ids = self.path(&format!("ids-{}", self.files.len()));
        let lease = self.path("run").join("orders");
        let mut command = Command::new(std::env::current_exe().unwrap());
        servers::end_with_the_test(&mut command);
        command.args(["--exact", "fleet::host::worker"]).stdin(Stdio::null()).stdout(Stdio::null());
        command.env(WORKER, format!("{}\n{}\n{}", lease.display(), self.layout, ids.display()));
        self.workers.push(command.spawn().unwrap());
        self.files.push(ids);
    }

    /// The contents of its page.
    pub fn view(&self) -> LeaseView {
        LeasePage::attach(&self.path("run").join("orders")).unwrap().view()
    }

    pub fn is_live(&self) -> bool {
        agent().arg("status").arg(self.path("run").join("orders")).output().unwrap().status.success()
    }

    /// All ids that were made so far.
    pub fn ids(&self) -> Vec<u64> {
        let mut ids = Vec::new();
        for file in &self.files {
            let bytes = fs::read(file).unwrap_or_default();
            ids.extend(bytes.chunks_exact(8).map(|id| u64::from_ne_bytes(id.try_into().unwrap())));
        }
        ids
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if std::thread::panicking() {
            failure::show(&format!("the agent of {} on port {}", self.name, self.proxy.port), &self.path("log"));
        }
        for child in self.agent.iter_mut().chain(&mut self.workers) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Not a test: the code of the processes that make ids.
#[test]
fn worker() {
    let Ok(orders) = std::env::var(WORKER) else { return };
    let mut orders = orders.split('\n');
    let (lease, layout, ids) = (orders.next().unwrap(), orders.next().unwrap(), orders.next().unwrap());
    let layout: Layout = layout.parse().unwrap();
    let mut file = File::create(ids).unwrap();
    let generator = Generator::new(until("there is no lease", || State::leased(Path::new(lease), &layout)));
    // Written data survives a kill.
    let mut batch = Vec::with_capacity(32 * 8);
    // The kernel ends it with its parent.
    loop {
        while batch.len() < 32 * 8 {
            match generator.generate() {
                Ok(id) => batch.extend_from_slice(&id.to_ne_bytes()),
                Err(_) => break,
            }
        }
        file.write_all(&batch).unwrap();
        batch.clear();
        // Whoever makes ids without a pause takes a processor from the agents.
        sleep(Duration::from_millis(1));
    }
}
