//! Every store with a real server; Consul, which Debian 12 does not have, also with a stand-in.

mod access;
pub mod certificates;
mod clusters;
mod conformance;
mod consul;
mod durability;
mod each;
mod largest;
mod pgbouncer;
mod rights;
mod tags;
mod unready;
mod values;
mod worst;

use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD};
pub use conformance::wait_for;
use conformance::{all, basics, open, put, races, text, wants_a_person, written};
use std::fs;
use std::process::Command;
use txid_agent_machines::store::Expected;

#[test]
fn file() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file://{}/leases", directory.path().display());
    basics(&mut *open(&url).unwrap(), false);
    // Eight threads that never pause wait for each other at one lock, and for the disk: who is last may wait for long.
    races(&format!("{url}?timeout=60s"));
    tags::tags(&url);
}

/// A record is never half written, whenever the agent is killed.
#[test]
fn a_record_in_a_directory_is_replaced_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let leases = directory.path().join("leases");
    let mut store = open(&format!("file://{}", leases.display())).unwrap();
    let before = written(put(&mut *store, "any/key", Expected::Absent, "before"));
    let opened = fs::File::open(leases.join("any/key")).unwrap();
    // What an agent leaves that is killed while it writes.
    fs::write(leases.join(".new"), "half of a very long rec").unwrap();
    written(put(&mut *store, "any/key", before, "after"));
    assert_eq!(std::io::read_to_string(opened).unwrap(), "before");
    assert_eq!(text(&store.read("any/key").unwrap()), Some("after"));
}

/// The stand-in, not Consul itself.
#[test]
fn consul_stand_in() {
    let mut server = consul::StandIn::start(None);
    all(|port, options| format!("consul://127.0.0.1:{port}/fleet?{options}"), &mut server, true);
    let server = consul::StandIn::start(Some("the-password"));
    let host = format!("127.0.0.1:{}", server.port);
    wants_a_person(&format!("consul://{host}"), "key_prefix \"txid/GROUP/\"");
    wants_a_person(&format!("consul://:the-wrong-one@{host}"), "key_prefix \"txid/GROUP/\"");
    basics(&mut *open(&format!("consul://:the-password@{host}")).unwrap(), true);
}

#[test]
fn consul_itself() {
    let Some((mut server, token)) = servers::consul() else { return };
    all(|port, options| format!("consul://:{token}@127.0.0.1:{port}/fleet?{options}"), &mut server, true);
}

#[test]
fn redis() {
    let mut server = servers::redis(&[]);
    all(|port, options| format!("redis://127.0.0.1:{port}?{options}"), &mut server, true);
    let control =
        |args: &[&str]| servers::run(Command::new("redis-cli").args(["-p", &server.port.to_string()]).args(args));
    tags::negative_numbers(
        &format!("redis://127.0.0.1:{}", server.port),
        |field, value| _ = control(&["HSET", "txid/wrong", field, &value.to_string()]),
        |field| control(&["HGET", "txid/wrong", field]).trim().to_owned(),
    );
    tags::made_by_hand(&format!("redis://127.0.0.1:{}", server.port), "HSET ", |command| {
        control(&command.split(' ').collect::<Vec<_>>());
    });
}

#[test]
fn etcd() {
    let mut server = servers::etcd(&[]);
    all(|port, options| format!("etcd://127.0.0.1:{port}/fleet?{options}"), &mut server, true);
}

#[test]
fn postgres() {
    let mut server = servers::postgres(&[]);
    let login = format!("txid:{POSTGRES_PASSWORD}");
    all(|port, options| format!("postgres://{login}@127.0.0.1:{port}/ids?{options}"), &mut server, true);
    let ask = |statement: String| servers::run(servers::psql(&server, "ids").args(["-c", &statement]));
    tags::negative_numbers(
        &format!("postgres://{login}@127.0.0.1:{}/ids", server.port),
        |column, value| _ = ask(format!("UPDATE leaf_alloc SET {column} = {value} WHERE biz_tag = 'wrong'")),
        |column| ask(format!("SELECT {column} FROM leaf_alloc WHERE biz_tag = 'wrong'")).trim().to_owned(),
    );
    let url = format!("postgres://{login}@127.0.0.1:{}/ids", server.port);
    tags::made_by_hand(&url, "INSERT ", |statement| drop(ask(statement.to_owned())));
}

#[test]
fn mariadb() {
    let mut server = servers::mariadb();
    let login = format!("txid:{MARIADB_PASSWORD}");
    all(|port, options| format!("mysql://{login}@127.0.0.1:{port}/ids?{options}"), &mut server, true);
    let ask = |statement: &str| drop(servers::run(servers::mariadb_client(&server).args(["ids", "-e", statement])));
    tags::made_by_hand(&format!("mysql://{login}@127.0.0.1:{}/ids", server.port), "INSERT ", ask);
}

#[test]
fn mariadb_with_leaf_on_it() {
    let server = servers::mariadb();
    tags::beside_leaf(&server, &format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port));
    tags::without_permission(&server);
    tags::in_another_case(&format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port));
}

/// Modes of a server that would change what statements mean.
#[test]
fn mariadb_in_other_modes() {
    let modes =
        "EMPTY_STRING_IS_NULL,NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH,IGNORE_BAD_TABLE_OPTIONS";
    let server = servers::mariadb_with(&["--skip-ssl", &format!("--sql-mode={modes}")]);
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    conformance::wait_for(&url);
    let mut store = open(&url).unwrap();
    basics(&mut *store, true);
    let empty = written(put(&mut *store, "any/empty", Expected::Absent, ""));
    assert_eq!(text(&store.read("any/empty").unwrap()), Some(""));
    written(put(&mut *store, "any/empty", empty, "no more"));
    tags::tags(&url);
}

#[test]
fn zookeeper() {
    let mut server = servers::zookeeper();
    all(|port, options| format!("zookeeper://127.0.0.1:{port}/fleet?{options}"), &mut server, true);
}
