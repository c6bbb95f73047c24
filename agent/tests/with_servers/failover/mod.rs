//! Leases and segments while the servers of a store replace each other.

pub mod cluster;
mod galera;
mod sentinel;

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use txid::segment::Segment;

use crate::fleet::host::{Host, kill};
use crate::segments::kills;
use crate::servers::until;

/// A host with a lease and a segment, and processes that use them.
struct User {
    host: Host,
    takers: Vec<Child>,
    files: Vec<PathBuf>,
}

impl User {
    fn new(name: &str, url: &str, layout: &str, options: &[&str]) -> Self {
        // No test here needs the proxy.
        let mut host = Host::new(name, 0, |_| url.to_owned(), layout);
        host.start_agent(options);
        host.start_worker();
        Self { host, takers: Vec::new(), files: Vec::new() }
    }

    fn start_taker(&mut self) {
        let file = self.host.path(&format!("numbers-{}", self.files.len()));
        let segment = self.host.path("run").join("invoices.segment");
        until("there is no segment", || Segment::attach(&segment).is_ok());
        self.takers.push(kills::start_worker(&segment, &file));
        self.files.push(file);
    }

    fn numbers(&self) -> Vec<u64> {
        let bytes = self.files.iter().flat_map(|file| fs::read(file).unwrap_or_default()).collect::<Vec<_>>();
        bytes.chunks_exact(8).map(|number| u64::from_ne_bytes(number.try_into().unwrap())).collect()
    }

    /// How many ids and numbers there are.
    fn made(&self) -> (usize, usize) {
        (self.host.ids().len(), self.numbers().len())
    }

    fn end(&mut self) {
        self.host.workers.drain(..).chain(self.takers.drain(..)).for_each(|mut process| kill(&mut process));
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.takers.iter_mut().for_each(|taker| drop((taker.kill(), taker.wait())));
    }
}

/// Waits until each of these has made more.
fn go_on(what: &str, users: &[User]) {
    let before: Vec<_> = users.iter().map(User::made).collect();
    until(what, || {
        users.iter().zip(&before).all(|(user, before)| {
            let (ids, numbers) = user.made();
            ids > before.0 + 1000 && numbers > before.1 + 1000
        })
    });
}

/// How many ids and numbers there are in all, if none is there twice.
fn unique(users: &[User]) -> (usize, usize) {
    let count = |mut all: Vec<u64>, what: &str| {
        let count = all.len();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "{} {what} of {count} are there twice, such as {}", twice.len(), twice[0]);
        count
    };
    let ids = users.iter().flat_map(|user| user.host.ids()).collect();
    let numbers = users.iter().flat_map(User::numbers).collect();
    (count(ids, "ids"), count(numbers, "numbers"))
}
