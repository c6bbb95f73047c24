//! A directory with a store in files, and what the agent of one host keeps.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::host::agent;
use crate::servers::until;
use crate::wait;

pub struct Directory(pub tempfile::TempDir);

impl Directory {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn store(&self) -> String {
        format!("file://{}?timeout=60s", self.path("leases").display())
    }

    /// The arguments of an agent that keeps a lease here.
    pub fn line(&self, more: &[&str]) -> Vec<String> {
        let run = self.path("run").display().to_string();
        let line =
            ["run", "--store", &self.store(), "--node", "orders=snowflake", "--assume-unused-store", "--dir", &run];
        line.iter().chain(more).map(|&word| word.to_owned()).collect()
    }

    pub fn run(&self, more: &[&str]) -> Command {
        let mut command = agent();
        command.args(self.line(more)).stdin(Stdio::null());
        command
    }

    /// Starts an agent and waits until all that it keeps is live.
    pub fn start(&self, more: &[&str]) -> Child {
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let child = self.run(more).stderr(log).spawn().unwrap();
        until("no lease", || self.status(&[]).status.success());
        child
    }

    pub fn status(&self, more: &[&str]) -> Output {
        agent().arg("status").arg("--dir").arg(self.path("run")).args(more).output().unwrap()
    }

    pub fn of_store(&self, args: &[&str]) -> Output {
        agent().args([args[0], "--store", &self.store()]).args(&args[1..]).output().unwrap()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    pub fn says(&self, text: &str) {
        wait::says(&self.path("log"), text);
    }
}
