//! What an operator sees in Prometheus, and what wakes one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::servers::{end_with_the_test, until};

/// A host with an agent that keeps a lease and a segment.
struct Host {
    directory: TempDir,
    agent: Child,
}

impl Host {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_txid-agent"));
        command.args(["run", "--new", "--create", "--node", "orders=snowflake", "--segment", "invoices"]);
        command.args(["--store", &format!("file://{}/leases", directory.path().display())]);
        command.arg("--dir").arg(directory.path().join("run")).stdin(Stdio::null()).stderr(Stdio::null());
        end_with_the_test(&mut command);
        let host = Self { agent: command.spawn().unwrap(), directory };
        until("no lease and numbers", || host.status().status.success());
        host
    }

    fn status(&self) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_txid-agent"));
        command.args(["status", "--prometheus", "--dir"]).arg(self.directory.path().join("run"));
        command.output().unwrap()
    }

    fn metrics(&self) -> String {
        String::from_utf8(self.status().stdout).unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.agent.kill().unwrap();
        self.agent.wait().unwrap();
    }
}

/// A file of the project.
fn contents(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The word in backquotes at the beginning of a cell.
fn quoted(cell: &str) -> Option<&str> {
    cell.trim().strip_prefix('`')?.split('`').next()
}

#[test]
fn the_documents_have_each_metric_with_its_type_and_states() {
    let host = Host::new();
    let metrics = host.metrics();
    let types = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let mut printed: BTreeMap<&str, (&str, Vec<&str>)> = types.map(|(name, kind)| (name, (kind, vec![]))).collect();
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, labels) = line.split_once('{').unwrap();
        let state = labels.split("state=\"").nth(1).and_then(|rest| rest.split('"').next());
        printed.get_mut(name).expect("a sample of a family").1.extend(state);
    }

    let text = contents("docs/metrics.md");
    let mut documented = BTreeMap::new();
    for row in text.lines().filter_map(|line| line.strip_prefix("| `txid_")) {
        let cells: Vec<_> = row.split('|').collect();
        let [name, kind, meaning] = cells[..3] else { panic!("{row}") };
        let states = meaning.split("`state`: ").nth(1).unwrap_or("");
        let states = states.split(',').filter_map(quoted).collect();
        if ["gauge", "counter"].contains(&kind.trim()) {
            documented.insert(format!("txid_{}", name.trim().trim_end_matches('`')), (kind.trim(), states));
        }
    }
    let printed: BTreeMap<_, _> = printed.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    assert_eq!(printed, documented);
}
