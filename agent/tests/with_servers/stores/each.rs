//! A server of each store.

use super::conformance::wait_for;
use super::consul::StandIn;
use crate::servers::{self, Cluster, MARIADB_PASSWORD, POSTGRES_PASSWORD};

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
    let real = ["redis", "etcd", "mysql", "postgres", "zookeeper"];
    let cluster = Cluster::start(real.len(), move |at| match real[at] {
        "redis" => servers::redis(&[]),
        "etcd" => servers::etcd(&[]),
        "mysql" => servers::mariadb(),
        "postgres" => servers::postgres(&[]),
        _ => servers::zookeeper(),
    });
    let consul = StandIn::start(None);
    let port = move |name: &str| {
        // Both as a whole: a part of them would not keep the servers.
        let (cluster, consul) = (&cluster, &consul);
        let at = real.iter().position(|store| *store == name);
        at.map_or(consul.port, |at| cluster.servers[at].port)
    };
    for url in urls(1000, |name| format!("127.0.0.1:{}", port(name))) {
        wait_for(&url);
    }
    port
}
