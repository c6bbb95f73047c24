//! The least rights that an agent needs, as agent/docs/stores.md has them typed: enough for its group, and for no other.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::conformance::patient;
use super::wait_for;
use crate::fleet::directory::Directory;
use crate::fleet::host::agent;
use crate::servers::{self, run};

/// The lines of a store's section that give rights.
fn typed(section: &str) -> String {
    let page = include_str!("../../../docs/stores.md");
    let (_, text) = page.split_once(&format!("\n## {section}\n")).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let blocks: Vec<_> = text.split("\n\n").filter(|block| block.starts_with("    ")).collect();
    let block = blocks
        .iter()
        .find(|block| ["ACL ", "acl policy", "role add", "GRANT "].iter().any(|word| block.contains(word)));
    block.unwrap_or_else(|| panic!("{section} gives no rights")).to_string()
}

/// Gives a command these lines to read, and returns what it says.
fn reads(command: &mut Command, lines: &str) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && !said(&output).contains("ERR"), "{lines}: {output:?}");
    said(&output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// With these rights, an agent of `orders` works; one of `users` is refused, in the other place if each group has its own.
fn suffices(url: &str, elsewhere: &str) {
    let directory = Directory::new();
    let txid_agent = |store: &str, group: &str, words: &[&str]| {
        let mut command = agent();
        command.args(words).args([
            "--assume-unused-store",
            "--node",
            &format!("{group}=snowflake"),
            "--store",
            &patient(store),
        ]);
        command.env("TXID_STORE_PASSWORD", "PASSWORD").arg("--dir").arg(directory.path("run"));
        if words[0] == "run" {
            command.args(["--", "true"]);
        }
        command.output().unwrap()
    };
    for (words, wanted) in [
        (&["check", "--ask"][..], "orders: the store has no such group yet; this user may write"),
        (&["run"], "orders: gave node"),
        (&["check", "--ask"], "orders: the store has this group, with this layout; this user may write"),
    ] {
        let output = txid_agent(url, "orders", words);
        assert!(output.status.success() && said(&output).contains(wanted), "{url}: {words:?}: {output:?}");
    }
    let refused = txid_agent(elsewhere, "users", &["check", "--ask"]);
    assert!(refused.status.code() == Some(1) && said(&refused).contains("refused"), "{elsewhere}: {refused:?}");
}

#[test]
fn of_redis() {
    let server = servers::redis(&["--appendonly", "yes", "--appendfsync", "always"]);
    let url = format!("redis://orders@127.0.0.1:{}", server.port);
    wait_for(&format!("redis://127.0.0.1:{}", server.port));
    reads(Command::new("redis-cli").args(["-p", &server.port.to_string()]), &typed("Redis, Valkey"));
    suffices(&url, &url);
    let directory = Directory::new();
    let check = |store: &str, more: &[&str]| {
        let mut command = agent();
        command.args(["check", "--ask", "--node", "users=snowflake", "--store", &patient(store)]).args(more);
        let output = command.arg("--dir").arg(directory.path("run")).output().unwrap();
        (output.status.code(), said(&output))
    };
    let store = format!("redis://127.0.0.1:{}", server.port);
    for (url, more, code, wanted) in [
        (&*store, &[][..], 0, "the store keeps what it confirms"),
        (&*store, &["--segment", "invoices"], 1, "invoices: the store has no such tag"),
        ("redis://127.0.0.1:1", &[], 1, "cannot reach redis://127.0.0.1:1"),
    ] {
        let (found, said) = check(url, more);
        assert!(found == Some(code) && said.contains(wanted), "{url} {more:?}: {said}");
    }
}

#[test]
fn of_etcd() {
    let server = servers::etcd(&[]);
    let host = format!("127.0.0.1:{}", server.port);
    wait_for(&format!("etcd://{host}"));
    let script = format!(
        "set -e\netcdctl user add root:root\netcdctl user grant-role root root\n{}\netcdctl auth enable\n",
        typed("etcd")
    );
    let mut shell = Command::new("sh");
    shell.env("ETCDCTL_API", "3").env("ETCDCTL_ENDPOINTS", &host).env("PASSWORD", "PASSWORD");
    reads(&mut shell, &script);
    let url = format!("etcd://orders@{host}/txid");
    suffices(&url, &url);
}

#[test]
fn of_consul() {
    let Some((server, root)) = servers::consul() else { return };
    let host = format!("127.0.0.1:{}", server.port);
    let mut shell = Command::new("sh");
    let said = reads(shell.env("CONSUL_HTTP_ADDR", &host).env("CONSUL_HTTP_TOKEN", root), &typed("Consul"));
    let token = said.lines().find_map(|line| line.strip_prefix("SecretID:")).unwrap().trim();
    let url = format!("consul://:{token}@{host}/txid");
    suffices(&url, &url);
}

/// The directory belongs to one user.
#[test]
fn of_a_directory() {
    if !rustix::process::geteuid().is_root() {
        return crate::skipped("only root can be several users");
    }
    let directory = Directory::new();
    let leases = directory.path("leases").display().to_string();
    let page = include_str!("../../../docs/stores.md");
    let (_, typed) = page.split_once("(`install -d ").unwrap();
    let typed = format!("install -d {}", typed.split('`').next().unwrap());
    run(Command::new("chmod").arg("755").arg(directory.path("")));
    run(Command::new("sh")
        .args(["-c", &typed.replace("-o orders", "-o 4001").replace("/var/lib/txid/orders", &leases)]));
    let check = |user| {
        let mut command = agent();
        command.args(["check", "--ask", "--node", "orders=snowflake", "--store", &format!("file://{leases}")]);
        let output = command.uid(user).output().unwrap();
        (output.status.code(), said(&output))
    };
    for (user, code, wanted) in [(4001, 0, "this user may write"), (4002, 1, "Permission denied")] {
        let (found, said) = check(user);
        assert!(found == Some(code) && said.contains(wanted), "{user}: {said}");
        let enters = Command::new("test").args(["-x", &leases]).uid(user).status().unwrap();
        assert_eq!(enters.success(), code == 0, "{user}");
    }
}

#[test]
fn of_mariadb() {
    let server = servers::mariadb();
    reads(servers::mariadb_client(&server).arg("ids"), &typed("MySQL, MariaDB"));
    let url = |table: &str| format!("mysql://orders@127.0.0.1:{}/ids?may-lose-writes=0&table={table}", server.port);
    run(servers::mariadb_client(&server).args(["ids", "-e", "CREATE TABLE users_lease LIKE orders_lease"]));
    suffices(&url("orders_lease"), &url("users_lease"));
}

#[test]
fn of_postgres() {
    let server = servers::postgres(&[]);
    reads(&mut servers::psql(&server, "ids"), &typed("PostgreSQL"));
    let url = |table: &str| format!("postgres://orders@127.0.0.1:{}/ids?may-lose-writes=0&table={table}", server.port);
    reads(&mut servers::psql(&server, "ids"), "CREATE TABLE users_lease (LIKE orders_lease INCLUDING ALL)");
    suffices(&url("orders_lease"), &url("users_lease"));
}

#[test]
fn of_zookeeper() {
    let server = servers::zookeeper();
    let url = |path: &str| format!("127.0.0.1:{}/txid-{path}", server.port);
    wait_for(&format!("zookeeper://{}", url("other")));
    // Another user has its records there already.
    let mut other = agent();
    other.args(["run", "--assume-unused-store", "--node", "users=snowflake", "--store"]);
    other.arg(format!("zookeeper://users@{}", url("users"))).env("TXID_STORE_PASSWORD", "another");
    let directory = Directory::new();
    assert!(other.arg("--dir").arg(directory.path("run")).args(["--", "true"]).status().unwrap().success());
    suffices(&format!("zookeeper://orders@{}", url("orders")), &format!("zookeeper://orders@{}", url("users")));
}
