//! Passwords, permissions, TLS, and the errors when they are wrong.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::Duration;

use txid_agent::store::{Durability, schemes};
use txid_agent_machines::store::{Expected, Put};

use super::certificates;
use super::conformance::{list, one_line, open, wait_for, wants_a_person, written};
use super::each;
use crate::fleet::directory::Directory;
use crate::fleet::host::{Running, agent};
use crate::proxy::join;
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD, run, until};
use crate::wait;

const PASSWORD: &str = "the-password/of:the@store";
const IN_URL: &str = "the-password%2Fof%3Athe%40store";
const WRONG: &str = "the-wrong-one";

/// Writes and reads once.
fn works(url: &str) {
    let mut store = open(url).unwrap();
    written(store.put("works/node/1", &Expected::Absent, b"it works").unwrap());
    assert_eq!(store.read("works/node/1").unwrap().unwrap().bytes, b"it works");
}

fn certificates() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let directory = tempfile::tempdir().unwrap();
    certificates::write(directory.path());
    // PostgreSQL's user must be able to read it.
    run(Command::new("chmod").arg("755").arg(directory.path()));
    let path = directory.path().to_owned();
    (directory, move |name: &str| path.join(name).to_str().unwrap().to_owned())
}

/// The list in the code is the only one; people read the others.
#[test]
fn every_scheme_is_documented() {
    let help = run(Command::new(env!("CARGO_BIN_EXE_txid-agent")).arg("--help"));
    let document = include_str!("../../../docs/stores.md");
    let refused = open("memcached://10.0.0.5").err().unwrap().to_string();
    for scheme in schemes() {
        let shown = format!("{scheme}://");
        assert!(
            help.contains(&shown) && document.contains(&shown),
            "{shown} is not in the help or in agent/docs/stores.md"
        );
        assert!(refused.contains(scheme), "{scheme} is not in: {refused}");
    }
}

#[test]
fn redis_passwords() {
    let server = servers::redis(&[
        "--requirepass",
        PASSWORD,
        &format!("--user fleet on >{PASSWORD} ~txid/* +eval +time +hget +hset +hdel +hscan"),
        &format!("--user reader on >{PASSWORD} ~txid/* +eval +time +hget"),
    ]);
    let host = format!("127.0.0.1:{}", server.port);
    wait_for(&format!("redis://:{IN_URL}@{host}"));
    works(&format!("redis://fleet:{IN_URL}@{host}"));
    let file = server.path("password");
    fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    run(Command::new("chmod").args(["600", &file]));
    let file_url = format!("redis://fleet@{host}?password-file={file}&prefix=txid/b");
    works(&file_url);
    wants_a_person(&format!("redis://fleet:{IN_URL}@{host}/1"), "+select");
    wants_a_person(&format!("redis://{host}"), "the password, or the user, is wrong or missing");
    wants_a_person(&format!("redis://:{WRONG}@{host}"), "the password, or the user, is wrong or missing");
    wants_a_person(&format!("redis://fleet:{WRONG}@{host}"), "the password, or the user, is wrong or missing");
    wants_a_person(&format!("redis://reader:{IN_URL}@{host}"), "+hset");
    wants_a_person(&format!("redis://fleet:{IN_URL}@{host}?prefix=other"), "~other/GROUP");
    wants_a_person(&format!("redis://:{IN_URL}@{host}/99"), "DB index is out of range");
}

#[test]
fn redis_tls() {
    let (_directory, file) = certificates();
    let server = servers::redis(&[
        "--tls-port",
        "PORT",
        "--port",
        "0",
        "--requirepass",
        PASSWORD,
        "--tls-cert-file",
        &file("server.pem"),
        "--tls-key-file",
        &file("server.key"),
        "--tls-ca-cert-file",
        &file("ca.pem"),
    ]);
    let url = |ca: &str, more: &str| format!("rediss://:{IN_URL}@127.0.0.1:{}?ca={}{more}", server.port, file(ca));
    let identity = format!("&cert={}&key={}", file("client.pem"), file("client.key"));
    wait_for(&url("ca.pem", &identity));
    works(&url("ca.pem", &identity));
    wants_a_person(&url("other-ca.pem", &identity), "certificate");
    let error = open(&url("ca.pem", "")).unwrap().read("any/key").unwrap_err();
    one_line(&error, "rediss://127.0.0.1");
}

#[test]
fn redis_copies() {
    let server = servers::redis(&[]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    wait_for(&url);
    let master = server.port.to_string();
    let copy = servers::redis(&["--replicaof", &format!("127.0.0.1 {master}"), "--repl-diskless-sync-delay", "0"]);
    let waits = format!("{url}?wait=1&timeout=4s");
    until("the copy does not follow", || {
        let mut store = open(&waits).unwrap();
        let Ok(last) = store.read("wait/node/0") else { return false };
        let expected = last.map_or(Expected::Absent, |record| Expected::Version(record.version));
        matches!(
            store.put("wait/node/0", &expected, format!("{expected:?}").len().to_string().as_bytes()),
            Ok(Put::Written(_))
        )
    });

    // A replica, which may lag behind, is neither read nor written.
    let mut store = open(&format!("redis://127.0.0.1:{}", copy.port)).unwrap();
    for error in [
        store.read("any/key").unwrap_err(),
        list(&mut *store, "any/").unwrap_err(),
        store.put("any/key", &Expected::Absent, b"x").unwrap_err(),
    ] {
        assert!(error.may_pass(), "it may become the master: {error:?}");
        one_line(&error, "is a replica");
    }

    // Without the replica, a write is not known to be safe, and reading it does not change that.
    written(open(&format!("{url}?wait=1")).unwrap().put("wait/node/1", &Expected::Absent, b"one").unwrap());
    // WAIT is promised only for what the same connection wrote, so a read with wait=1 writes, and no other does.
    let writes = || {
        let said = run(Command::new("redis-cli").args(["-p", &master, "INFO", "persistence"]));
        said.lines().find(|line| line.starts_with("rdb_changes_since_last_save")).unwrap().to_owned()
    };
    let before = writes();
    assert!(open(&url).unwrap().read("wait/node/1").unwrap().is_some());
    assert_eq!(writes(), before);
    _ = open(&waits).unwrap().read("wait/node/1");
    assert_ne!(writes(), before);
    drop(copy);
    let mut store = open(&waits).unwrap();
    let lost = store.put("wait/node/2", &Expected::Absent, b"two").unwrap();
    assert!(matches!(&lost, Put::Unknown(error) if error.to_string().contains("wait=1 requires 1")), "{lost:?}");
    one_line(&store.read("wait/node/2").unwrap_err(), "0 of its replicas confirmed the write");
}

#[test]
fn redis_sentinel() {
    let server = servers::redis(&[]);
    let sentinel = servers::sentinel(server.port);
    let url = format!("redis+sentinel://127.0.0.1:{},127.0.0.1:{}/fleet", servers::free_port(), sentinel.port);
    wait_for(&url);
    works(&url);
    wants_a_person(&format!("redis+sentinel://127.0.0.1:{}/other", sentinel.port), "knows no master other");
}

/// Redis's master is gone, and Sentinel makes a replica the master.
#[test]
fn redis_sentinel_replaces_the_master() {
    let mut master = servers::redis(&[]);
    let port = master.port;
    let replica = servers::redis(&["--replicaof", &format!("127.0.0.1 {port}"), "--repl-diskless-sync-delay", "0"]);
    let sentinel = servers::sentinel(port);
    let url = format!("redis+sentinel://127.0.0.1:{}/fleet?wait=1&timeout=1s", sentinel.port);
    let sees = |wanted: &str| {
        let ask = ["-p", &sentinel.port.to_string(), "SENTINEL", "master", "fleet"];
        let said = run(Command::new("redis-cli").args(ask));
        said.lines().skip_while(|line| *line != "num-slaves").nth(1) == Some(wanted)
    };
    until("Sentinel does not see the replica", || sees("1"));
    let mut store = open(&url).unwrap();
    let mut version = Expected::Absent;
    // WAIT shows that the replica has it. Before, a write may be there without the replica.
    until("the replica does not follow", || {
        let put = store.put("orders/node/1", &version, b"before");
        if let Ok(Some(found)) = store.read("orders/node/1") {
            version = Expected::Version(found.version);
        }
        matches!(put, Ok(Put::Written(_)))
    });
    let Durability::MayLose { why } = store.durability() else { panic!("{:?}", store.durability()) };
    assert!(why.contains("Sentinels"), "{why}");
    master.kill();
    let mut store = open(&url.replace("wait=1&", "")).unwrap();
    // An answer may be lost.
    until("the replica does not become the master", || {
        let found = store.read("orders/node/1").ok()?.unwrap();
        assert!([&b"before"[..], b"after"].contains(&&*found.bytes), "{found:?}");
        let put = store.put("orders/node/1", &Expected::Version(found.version), b"after");
        matches!(put, Ok(Put::Written(_))).then_some(())
    });
    assert_eq!(store.read("orders/node/1").unwrap().unwrap().bytes, b"after");
    drop(replica);
}

#[test]
fn etcd_passwords() {
    let server = servers::etcd(&[]);
    let host = format!("127.0.0.1:{}", server.port);
    wait_for(&format!("etcd://{host}"));
    let control = |args: &[&str]| {
        run(Command::new("etcdctl").env("ETCDCTL_API", "3").args(["--endpoints", &host]).args(args));
    };
    // A user and a password are harmless if the server does not ask for them.
    works(&format!("etcd://fleet:{IN_URL}@{host}/before"));
    control(&["user", "add", &format!("root:{PASSWORD}")]);
    control(&["user", "add", &format!("fleet:{PASSWORD}")]);
    control(&["role", "add", "txid"]);
    control(&["role", "grant-permission", "txid", "--prefix=true", "readwrite", "/txid/"]);
    control(&["user", "grant-role", "fleet", "txid"]);
    control(&["user", "grant-role", "root", "root"]);
    control(&["auth", "enable"]);
    works(&format!("etcd://fleet:{IN_URL}@{host}/txid"));
    wants_a_person(&format!("etcd://fleet:{IN_URL}@{host}/other"), "readwrite on the prefix /other/GROUP/");
    wants_a_person(&format!("etcd://{host}/txid"), "give the user as etcd://USER@HOST");
    wants_a_person(&format!("etcd://fleet:{WRONG}@{host}/txid"), "give the user as etcd://USER@HOST");
}

#[test]
fn etcd_forgets_its_tokens() {
    let mut server = servers::etcd(&["--auth-token-ttl", "1"]);
    let host = format!("127.0.0.1:{}", server.port);
    wait_for(&format!("etcd://{host}"));
    let control = |args: &[&str]| {
        run(Command::new("etcdctl").env("ETCDCTL_API", "3").args(["--endpoints", &host]).args(args));
    };
    control(&["user", "add", &format!("root:{PASSWORD}")]);
    control(&["user", "grant-role", "root", "root"]);
    control(&["auth", "enable"]);
    let mut store = open(&format!("etcd://root:{IN_URL}@{host}")).unwrap();
    let version = written(store.put("token/node/1", &Expected::Absent, b"one").unwrap());
    // A token that nobody uses for a second expires. This one is younger than the agent's.
    let login = format!("{{\"name\": \"root\", \"password\": \"{PASSWORD}\"}}");
    let said = servers::http(server.port, "POST", "/v3/auth/authenticate", &login).unwrap();
    let token = said.split('"').skip_while(|word| *word != "token").nth(2).unwrap().to_owned();
    until("it does not expire", || {
        sleep(Duration::from_secs(3));
        let ask = ["-s", "-H", &format!("Authorization: {token}"), "-d", "{\"key\": \"dHhpZA==\"}"];
        run(Command::new("curl").args(ask).arg(format!("http://{host}/v3/kv/range"))).contains("invalid auth token")
    });
    let version = written(store.put("token/node/1", &version, b"after an hour").unwrap());
    server.kill();
    server.restart();
    let other = || open(&format!("etcd://root:{IN_URL}@{host}")).unwrap().read("token/node/1");
    until("it does not come back", || other().is_ok());
    // It no longer knows this one's token.
    written(store.put("token/node/1", &version, b"two").unwrap());
}

/// Its quota is raised, or what is old is removed: an agent waits for that.
#[test]
fn an_etcd_at_its_quota() {
    let server = servers::etcd(&["--quota-backend-bytes=100000"]);
    let url = format!("etcd://127.0.0.1:{}", server.port);
    wait_for(&url);
    let mut store = open(&url).unwrap();
    let mut number = 0;
    let error = loop {
        number += 1;
        assert!(number < 10_000, "it has no end");
        match store.put(&format!("quota/node/{number}"), &Expected::Absent, &[b'x'; 900]) {
            Err(error) => break error,
            Ok(Put::Written(_)) => {}
            other => panic!("{other:?}"),
        }
    };
    one_line(&error, "database space exceeded");
    assert!(error.may_pass(), "{error:?}");
}

#[test]
fn etcd_tls() {
    let (_directory, file) = certificates();
    let server = servers::etcd(&[
        &format!("--cert-file={}", file("server.pem")),
        &format!("--key-file={}", file("server.key")),
        &format!("--trusted-ca-file={}", file("ca.pem")),
        "--client-cert-auth",
    ]);
    let url = |ca: &str, more: &str| format!("etcds://127.0.0.1:{}/txid?ca={}{more}", server.port, file(ca));
    let identity = format!("&cert={}&key={}", file("client.pem"), file("client.key"));
    wait_for(&url("ca.pem", &identity));
    works(&url("ca.pem", &identity));
    wants_a_person(&url("other-ca.pem", &identity), "certificate");
    for url in [format!("etcd://127.0.0.1:{}/txid", server.port), url("ca.pem", "")] {
        let error = open(&url).unwrap().read("any/key").unwrap_err();
        one_line(&error, "://127.0.0.1");
    }
}

/// The first addresses of a name accept connections, and say nothing.
#[test]
fn each_address_of_a_name_is_asked() {
    if !rustix::process::geteuid().is_root() {
        return crate::skipped("only root may give a name other addresses");
    }
    let port = each::all();
    thread::scope(|scope| {
        for store in each::STORES {
            let server = port(store);
            scope.spawn(move || the_third_address_is_reached(store, server));
        }
    });
}

fn the_third_address_is_reached(store: &str, server: u16) {
    // In the order in which they are tried.
    let port = servers::free_port();
    let _silent = ["127.0.0.1", "127.0.0.2"].map(|address| TcpListener::bind((address, port)).unwrap());
    let listener = TcpListener::bind(("127.0.0.3", port)).unwrap();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            join(client, TcpStream::connect(("127.0.0.1", server)).unwrap());
        }
    });
    let directory = Directory::new();
    let path = |name: &str| directory.path(name).to_str().unwrap().to_owned();
    let names = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|address| format!("{address} store.example\n")).concat();
    fs::write(path("hosts"), names).unwrap();
    let url = each::url(store, &format!("store.example:{port}"), 3000);
    let url = format!("{url}&may-lose-writes=0");
    let script = "mount --bind $0 /etc/hosts && exec $@";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, &path("hosts")]).arg(agent().get_program());
    command.args(["run", "--assume-unused-store", "--node", "orders=snowflake", "--store", &url, "--dir"]);
    command.args([&path("run"), "--", "true"]).stdin(Stdio::null()).stderr(fs::File::create(path("log")).unwrap());
    servers::end_with_the_test(&mut command);
    let mut agent = Running(command.spawn().unwrap());
    let status = wait::ended(&format!("there is no lease in {store}"), &mut agent.0);
    assert!(status.success(), "{store}: {}", directory.log());
}

/// Two of three servers are frozen: the third has no majority. Nothing is confirmed, and nothing is lost.
#[test]
fn etcd_without_a_majority() {
    let peers = [(); 3].map(|()| servers::free_port()).map(|port| (port, port));
    let cluster = servers::etcd_cluster(&peers);
    let servers = &cluster.servers;
    let hosts: Vec<_> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
    let url = format!("etcd://{}/txid?timeout=1s", hosts.join(","));
    wait_for(&url);
    let mut patient = open(&url.replace("timeout=1s", "timeout=60s")).unwrap();
    let before = written(patient.put("orders/node/1", &Expected::Absent, b"before").unwrap());
    let mut store = open(&url).unwrap();
    for server in &servers[1..] {
        server.signal(libc::SIGSTOP);
    }
    for _ in 0..3 {
        match store.put("orders/node/1", &before, b"during") {
            Err(error) | Ok(Put::Unknown(error)) => assert!(error.may_pass(), "{error:?}"),
            other => panic!("{other:?}"),
        }
        assert!(store.read("orders/node/1").is_err(), "a server without a majority may have old records");
    }
    for server in &servers[1..] {
        server.signal(libc::SIGCONT);
    }
    // A write without a confirmation may come even now, between a look and a write.
    until("it does not come back", || {
        let Ok(record) = store.read("orders/node/1") else { return false };
        let record = record.unwrap();
        assert!([b"before".as_slice(), b"during", b"after"].contains(&&*record.bytes), "{record:?}");
        *record.bytes == *b"after"
            || matches!(store.put("orders/node/1", &Expected::Version(record.version), b"after"), Ok(Put::Written(_)))
    });
}

#[test]
fn etcd_without_gateway() {
    let server = servers::etcd(&["--enable-grpc-gateway=false"]);
    wants_a_person(&format!("etcd://127.0.0.1:{}", server.port), "enable-grpc-gateway: true");
}

#[test]
fn postgres_access() {
    let (_directory, file) = certificates();
    run(Command::new("chown").arg("postgres").arg(file("server.key")));
    run(Command::new("chmod").arg("600").arg(file("server.key")));
    let server = servers::postgres(&[
        "ssl=on",
        &format!("ssl_cert_file={}", file("server.pem")),
        &format!("ssl_key_file={}", file("server.key")),
    ]);
    let host = format!("127.0.0.1:{}", server.port);
    wants_a_person(
        &format!("postgres://nobody:{POSTGRES_PASSWORD}@{host}/ids"),
        "CREATE TABLE IF NOT EXISTS txid_lease",
    );
    works(&format!("postgres://txid:{POSTGRES_PASSWORD}@{host}/ids"));
    works(&format!("postgres://txid:{POSTGRES_PASSWORD}@{host}/ids?table=other&ca={}", file("ca.pem")));
    wants_a_person(&format!("postgres://nobody:{POSTGRES_PASSWORD}@{host}/ids"), "SELECT, INSERT and UPDATE");
    wants_a_person(&format!("postgres://txid:{WRONG}@{host}/ids"), "give the user as postgres://USER@HOST");
    wants_a_person(&format!("postgres://txid@{host}/ids"), "it requires a password");
    wants_a_person(&format!("postgres://txid:{POSTGRES_PASSWORD}@{host}/none"), "\"none\" does not exist");
    let other = format!("postgres://txid:{POSTGRES_PASSWORD}@{host}/ids?ca={}", file("other-ca.pem"));
    wants_a_person(&other, "certificate");
    // The password as it is, as for LDAP.
    let rules = server.path("data/pg_hba.conf");
    fs::write(&rules, "local all all trust\nhost all all all password\n").unwrap();
    run(servers::psql(&server, "ids").args(["-c", "SELECT pg_reload_conf()"]));
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@{host}/ids");
    until("the rules are not read", || open(&url).unwrap().read("any/key").is_err());
    wants_a_person(&url, "which only goes over TLS: add ?tls=1 to the URL");
    works(&format!("{url}?password-in-clear=1&table=in_clear"));
    works(&format!("{url}?table=over_tls&ca={}", file("ca.pem")));
}

#[test]
fn mariadb_access() {
    let server = servers::mariadb();
    let host = format!("127.0.0.1:{}", server.port);
    wants_a_person(&format!("mysql://nobody:{MARIADB_PASSWORD}@{host}/ids"), "CREATE TABLE IF NOT EXISTS txid_lease");
    works(&format!("mysql://txid:{MARIADB_PASSWORD}@{host}/ids"));
    wants_a_person(&format!("mysql://nobody:{MARIADB_PASSWORD}@{host}/ids"), "SELECT, INSERT and UPDATE");
    wants_a_person(&format!("mysql://txid:{WRONG}@{host}/ids"), "give the user as mysql://USER@HOST");
    wants_a_person(&format!("mysql://txid:{MARIADB_PASSWORD}@{host}/none"), "none");
    wants_a_person(&format!("mysql://txid:{MARIADB_PASSWORD}@{host}/ids?tls=1"), "does not support TLS");
}

#[test]
fn mariadb_tls() {
    let (_directory, file) = certificates();
    let server = servers::mariadb_with(&[
        &format!("--ssl-cert={}", file("server.pem")),
        &format!("--ssl-key={}", file("server.key")),
        &format!("--ssl-ca={}", file("ca.pem")),
    ]);
    let url = |ca: &str| format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids?ca={}", server.port, file(ca));
    works(&url("ca.pem"));
    wants_a_person(&url("other-ca.pem"), "certificate");
}

/// MySQL 8 makes certificates for itself, which name no host. The page has the commands that make one that does.
#[test]
fn mysql_with_an_authority_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let openssl = |line: &str| {
        run(Command::new("sh").args(["-ec", line]).current_dir(directory.path()));
    };
    let name = "/CN=MySQL_Server_8.4.3_Auto_Generated";
    openssl(&format!("openssl req -x509 -newkey rsa:2048 -nodes -keyout ca-key.pem -subj {name}_CA -out ca.pem"));
    openssl(&format!("openssl req -newkey rsa:2048 -nodes -keyout server-key.pem -subj {name} -out server.csr"));
    openssl("openssl x509 -req -in server.csr -CA ca.pem -CAkey ca-key.pem -out server-cert.pem");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let try_it = |check: &dyn Fn(&str)| {
        let server = servers::mariadb_with(&[
            &format!("--ssl-cert={}", path("server-cert.pem")),
            &format!("--ssl-key={}", path("server-key.pem")),
        ]);
        let ca = path("ca.pem");
        check(&format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids?ca={ca}", server.port));
    };
    try_it(&|url| drop(wants_a_person(url, "certificate")));
    let page = include_str!("../../../docs/stores.md");
    let lines: Vec<_> = page.lines().filter_map(|line| line.trim().strip_prefix("openssl ")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    lines.iter().for_each(|line| openssl(&format!("openssl {line}").replace("10.0.0.5", "127.0.0.1")));
    try_it(&|url| works(url));
}

#[test]
fn zookeeper_access() {
    let server = servers::zookeeper();
    let host = format!("127.0.0.1:{}", server.port);
    wait_for(&format!("zookeeper://fleet:{IN_URL}@{host}/locked"));
    works(&format!("zookeeper://fleet:{IN_URL}@{host}/locked"));
    wants_a_person(&format!("zookeeper://{host}/locked"), "belongs to another user");
    let listed = list(&mut *open(&format!("zookeeper://{host}/locked")).unwrap(), "works/");
    one_line(&listed.unwrap_err(), "belongs to another user");
    let clock = open(&format!("zookeeper://{host}/locked")).unwrap().clock();
    one_line(&clock.unwrap_err(), "belongs to another user");
    wants_a_person(&format!("zookeeper://fleet:{WRONG}@{host}/locked"), "belongs to another user");
    wants_a_person(&format!("zookeeper://fleet@{host}"), "has no password");
}

#[test]
fn expired_certificates() {
    let (_directory, file) = certificates();
    run(Command::new("chown").arg("postgres").arg(file("expired.key")));
    run(Command::new("chmod").arg("600").arg(file("expired.key")));
    let option = |name: &str, value: &str| format!("{name}={}", file(value));
    let (certificate, key, ca) = (file("expired.pem"), file("expired.key"), file("ca.pem"));
    let redis = servers::redis(&[
        "--tls-port",
        "PORT",
        "--port",
        "0",
        &format!("--tls-cert-file {certificate}"),
        &format!("--tls-key-file {key}"),
        &format!("--tls-ca-cert-file {ca}"),
        "--tls-auth-clients no",
    ]);
    let etcd = servers::etcd(&[&option("--cert-file", "expired.pem"), &option("--key-file", "expired.key")]);
    let mariadb = servers::mariadb_with(&[&option("--ssl-cert", "expired.pem"), &option("--ssl-key", "expired.key")]);
    let postgres =
        servers::postgres(&["ssl=on", &option("ssl_cert_file", "expired.pem"), &option("ssl_key_file", "expired.key")]);
    for url in [
        format!("rediss://127.0.0.1:{}?ca={ca}", redis.port),
        format!("etcds://127.0.0.1:{}/txid?ca={ca}", etcd.port),
        format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids?ca={ca}", mariadb.port),
        format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids?ca={ca}", postgres.port),
    ] {
        wants_a_person(&url, "certificate expired");
    }
    // One expired certificate does not keep the others from serving.
    let good = servers::etcd(&[&option("--cert-file", "server.pem"), &option("--key-file", "server.key")]);
    let both = format!("etcds://127.0.0.1:{},127.0.0.1:{}/txid?ca={ca}", etcd.port, good.port);
    wait_for(&format!("etcds://127.0.0.1:{}/txid?ca={ca}", good.port));
    works(&both);
    let good = servers::mariadb_with(&[&option("--ssl-cert", "server.pem"), &option("--ssl-key", "server.key")]);
    works(&format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{},127.0.0.1:{}/ids?ca={ca}", mariadb.port, good.port));
}

/// A record that is deleted and made again starts with version 0 again. A version of the old record must not match.
#[test]
fn zookeeper_records_made_anew() {
    let server = servers::zookeeper();
    let mut store = open(&format!("zookeeper://127.0.0.1:{}", server.port)).unwrap();
    wait_for(&format!("zookeeper://127.0.0.1:{}", server.port));
    let old = written(store.put("orders/node/1", &Expected::Absent, b"of the first").unwrap());
    let old = written(store.put("orders/node/1", &old, b"of the first, later").unwrap());

    let host = format!("127.0.0.1:{}", server.port);
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let client = zookeeper_client::Client::connect(&host).await.unwrap();
        for child in client.list_children("/txid/orders/node/1").await.unwrap() {
            client.delete(&format!("/txid/orders/node/1/{child}"), None).await.unwrap();
        }
        client.delete("/txid/orders/node/1", None).await.unwrap();
    });
    assert_eq!(store.put("orders/node/1", &old, b"x").unwrap(), Put::Conflict);

    let new = written(store.put("orders/node/1", &Expected::Absent, b"of the second").unwrap());
    written(store.put("orders/node/1", &new, b"of the second, later").unwrap());
    assert_eq!(store.put("orders/node/1", &old, b"of the first, late").unwrap(), Put::Conflict);
    assert_eq!(store.read("orders/node/1").unwrap().unwrap().bytes, b"of the second, later");
}

/// Another kind of server at the port: nothing hangs, and the error says so.
#[test]
fn another_kind_of_server() {
    let server = servers::redis(&[]);
    let port = server.port;
    wait_for(&format!("redis://127.0.0.1:{port}"));
    for url in [
        format!("etcd://127.0.0.1:{port}?timeout=1s"),
        format!("consul://127.0.0.1:{port}?timeout=1s"),
        format!("mysql://user:{WRONG}@127.0.0.1:{port}/ids?timeout=1s"),
        format!("postgres://user:{WRONG}@127.0.0.1:{port}/ids?timeout=1s"),
        format!("zookeeper://127.0.0.1:{port}?timeout=1s"),
    ] {
        let error = open(&url).unwrap().read("any/key").unwrap_err();
        one_line(&error, "127.0.0.1");
    }
    let etcd = servers::etcd(&[]);
    let error = open(&format!("redis://127.0.0.1:{}?timeout=1s", etcd.port)).unwrap().read("any/key").unwrap_err();
    one_line(&error, "127.0.0.1");
    // What a MySQL says first, and what it says at the port of its other protocol, 33060.
    let [mysql, mysqlx] = [&b"\x4a\0\0\0\x0a8.4.3\0"[..], b"\x05\0\0\0\x0b\x08\x05\x1a\0"].map(|greeting| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                _ = client.write_all(greeting);
                _ = client.read_to_end(&mut Vec::new());
            }
        });
        port
    });
    wants_a_person(&format!("redis://127.0.0.1:{mysql}"), "the server is not Redis: it does not speak the protocol");
    wants_a_person(
        &format!("mysql://user:{WRONG}@127.0.0.1:{mysqlx}/ids"),
        "the server is not MySQL: its greeting is not one",
    );
}

/// Old revisions fill an etcd that compacts nothing. Then it refuses all writes.
#[test]
fn an_etcd_that_has_used_half_of_its_quota_is_said_and_shown() {
    let server = servers::etcd(&["--quota-backend-bytes", "3000000"]);
    let directory = Directory::new();
    let run = directory.path("run");
    let store = format!("etcd://127.0.0.1:{}/txid", server.port);
    let mut command = agent();
    command.args(["run", "--store", &store, "--node", "orders=snowflake", "--assume-unused-store", "--dir"]).arg(&run);
    let log = fs::File::create(directory.path("log")).unwrap();
    let _agent = Running(command.stdin(Stdio::null()).stderr(log).spawn().unwrap());
    let used = || {
        let metrics = String::from_utf8(directory.status(&["--prometheus"]).stdout).unwrap();
        let value = metrics
            .split_once("\ntxid_agent_lease_store_used_ratio{")
            .and_then(|(_, rest)| rest.split_once("} "))
            .unwrap()
            .1;
        value.lines().next().unwrap().parse::<f64>().unwrap()
    };
    directory.says("node ");
    until("it is not asked at the start", || used() > 0.0);
    assert!(used() < 0.1 && !directory.log().contains("quota"), "{}", directory.log());
    // A tenth of a megabyte a revision of one key.
    let body = format!(r#"{{"key":"a2V5","value":"{}"}}"#, "eHh4".repeat(35_000));
    (0..16).for_each(|_| drop(servers::http(server.port, "POST", "/v3/kv/put", &body).unwrap()));
    directory.says("of the 3000000 bytes of its quota; when all are used, no lease is renewed");
    until("the metric does not say so", || used() > 0.5);
}

/// A name that nobody knows, and then one that serves. Without a name server, the system's resolver takes its time.
#[test]
fn a_name_without_an_address() {
    let server = servers::redis(&[]);
    wait_for(&format!("redis://127.0.0.1:{}", server.port));
    thread::scope(|scope| {
        for url in each::urls(1000, |_| "host.invalid".to_owned()) {
            scope.spawn(move || {
                let mut store = open(&url).unwrap();
                for _ in 0..3 {
                    let error = store.read("any/node/1").unwrap_err();
                    assert!(error.may_pass(), "{url}: {error}");
                }
            });
        }
    });
    let url = format!("redis://host.invalid,127.0.0.1:{}?timeout=60s", server.port);
    open(&url).unwrap().read("any/node/1").unwrap();
}
