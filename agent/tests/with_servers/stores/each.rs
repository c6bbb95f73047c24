//! A server of each store.

use super::conformance::wait_for;
use super::consul::StandIn;
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD};

/// All others are other names of these, but a directory.
pub const STORES: [&str; 6] = ["redis", "etcd", "consul", "mysql", "postgres", "zookeeper"];

/// The URL of a store with these hosts.
pub fn url(store: &str, hosts: &str, timeout_ms: u64) -> String {
    let more = format!("timeout={timeout_ms}ms");
    match store {
        "redis" => format!("redis://{hosts}?{more}"),
        // Some names of hosts are not known to be of this one.
        "mysql" => format!("mysql://txid:{MARIADB_PASSWORD}@{hosts}/ids?password-in-clear=1&{more}"),
        "postgres" => format!("postgres://txid:{POSTGRES_PASSWORD}@{hosts}/ids?{more}"),
        _ => format!("{store}://{hosts}/txid?{more}"),
    }
}

/// The URL of each store with these hosts.
pub fn urls(timeout_ms: u64, mut hosts: impl FnMut(&str) -> String) -> Vec<String> {
    STORES.iter().map(|store| url(store, &hosts(store), timeout_ms)).collect()
}

/// A server of each kind. Returns the port of each by its name.
pub fn all() -> impl Fn(&str) -> u16 {
    let real =
        [servers::redis(&[]), servers::etcd(&[]), servers::mariadb(), servers::postgres(&[]), servers::zookeeper()];
    let consul = StandIn::start(None);
    let port = move |name: &str| {
        let ([redis, etcd, mariadb, postgres, zookeeper], consul) = (&real, &consul);
        match name {
            "redis" => redis.port,
            "etcd" => etcd.port,
            "consul" => consul.port,
            "mysql" => mariadb.port,
            "postgres" => postgres.port,
            _ => zookeeper.port,
        }
    };
    for url in urls(1000, |name| format!("127.0.0.1:{}", port(name))) {
        wait_for(&url);
    }
    port
}
