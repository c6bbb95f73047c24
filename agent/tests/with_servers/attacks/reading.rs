//! An agent that reads its configuration again.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::fleet::directory::Directory;
use crate::fleet::host::{agent, kill, signal};
use crate::servers::until;
use crate::wait::{each, ended, says_again};

const ORDERS: &str = "nodes.orders = 'snowflake'\n";
const USERS: &str = "nodes.users = 'snowflake'\n";
const DONE: &str = "SIGHUP: goes by the file as it is now";

/// An agent with a file.
struct Reader {
    directory: Directory,
    agent: Child,
}

impl Reader {
    fn start() -> Self {
        let directory = Directory::new();
        let agent = Self::agent(&directory);
        let mut it = Self { directory, agent };
        it.is_live("orders");
        it
    }

    fn agent(directory: &Directory) -> Child {
        Self::write(directory, &Self::file(directory, ORDERS));
        let log = File::options().create(true).append(true).open(directory.path("log")).unwrap();
        let mut command = agent();
        command.args(["run", "--assume-unused-store", "--config"]).arg(directory.path("agent.toml"));
        command.stdin(Stdio::null()).stderr(log).spawn().unwrap()
    }

    fn file(directory: &Directory, rest: &str) -> String {
        format!("store = '{}'\ndir = '{}'\n{rest}", directory.store(), directory.path("run").display())
    }

    fn write(directory: &Directory, text: &str) {
        fs::write(directory.path("new"), text).unwrap();
        fs::rename(directory.path("new"), directory.path("agent.toml")).unwrap();
    }

    fn state(&self, group: &str) -> Option<u64> {
        let page = txid::snowflake::LeasePage::attach(&self.directory.path("run").join(group)).ok()?;
        page.view().limit_ms.map(|_| page.view().node)
    }

    fn is_live(&mut self, group: &str) -> u64 {
        until(&format!("{group} has no node"), || self.state(group))
    }

    /// Has it read this, and returns what the log then says.
    fn read(&mut self, text: &str) -> String {
        Self::write(&self.directory, text);
        let before = self.directory.log().len();
        signal(&self.agent, libc::SIGHUP);
        says_again(&self.directory.path("log"), before, "SIGHUP: goes ");
        self.directory.log()[before..].to_owned()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Its leases go on, on their nodes. One whose line is gone is given back; so it is free at once.
#[test]
fn what_is_new_is_taken_up_and_what_is_gone_is_given_back() {
    let mut it = Reader::start();
    let file = |rest: &str| Reader::file(&it.directory, rest);
    let [both, users, again] =
        [[ORDERS, USERS].concat(), USERS.to_owned(), ["lease-time = '90s'\n", ORDERS, USERS].concat()]
            .map(|rest| file(&rest));
    let orders = it.is_live("orders");
    assert!(it.read(&both).contains(DONE));
    let node = it.is_live("users");
    assert!(it.read(&users).contains(DONE));
    it.directory.says(&format!("orders: gave node {orders} back"));
    assert_eq!((it.state("orders"), it.state("users")), (None, Some(node)));
    assert!(it.read(&again).contains(DONE));
    it.is_live("orders");
    until("no renewal is by the new file", || {
        let page = txid::snowflake::LeasePage::attach(&it.directory.path("run/users")).unwrap();
        page.view().limit_ms.is_some_and(|limit_ms| limit_ms > txid::system_ms() + 70_000)
    });
    signal(&it.agent, libc::SIGTERM);
    assert_eq!(ended("the agent does not end", &mut it.agent).code(), Some(0));
    assert!(it.directory.log().contains(&format!("users: gave node {node} back")), "{}", it.directory.log());
}

/// Each of these files is right for `check`, or looks right, and none can be gone by.
#[test]
fn a_file_that_cannot_be_gone_by_changes_nothing() {
    let mut it = Reader::start();
    let node = it.is_live("orders");
    let (path, store) = (|name: &str| it.directory.path(name).display().to_string(), it.directory.store());
    fs::write(it.directory.path("plain"), "").unwrap();
    fs::create_dir_all(it.directory.path("run/blocked")).unwrap();
    fs::create_dir_all(it.directory.path("leases/others")).unwrap();
    fs::write(
        it.directory.path("leases/others/meta"),
        "txid-group 1 floor=0 made=0 id=00000000000000000000000000000001 layout=uid",
    )
    .unwrap();
    let line = |store: &str, dir: &str, rest: &str| format!("store = '{store}'\ndir = '{dir}'\n{rest}");
    let here = |rest: &str| line(&store, &path("run"), rest);
    let cases: Vec<(String, &str)> = vec![
        (here("nodes.orders = 'snowfake'"), "nodes: orders: "),
        (here(&format!("{ORDERS}segments.invoices = {{}}")), "invoices: the store has no such tag; make it with "),
        (here(&format!("{USERS}segments.invoices = {{}}")), "invoices: the store has no such tag; make it with "),
        (here("nodes.orders = 'sonyflake'"), "orders: the store has it with the layout "),
        (here(&format!("{ORDERS}nodes.others = 'snowflake'")), "others: the store has it with the layout uid"),
        (here("nodes.orders = 'leaf_forever:snowflake'"), "the node orders: Leaf's path is not in this kind of store"),
        (
            here(&format!("{ORDERS}nodes.others = 'leaf_forever'")),
            "the node others: Leaf's path is not in this kind of store",
        ),
        (line(&store, &path("elsewhere"), ORDERS), "another dir needs a restart"),
        (line(&store, "/proc/txid", ORDERS), "another dir needs a restart"),
        (here(&format!("{ORDERS}{USERS}nodes.blocked = 'snowflake'")), "blocked"),
        (
            line(&format!("file://{}", path("others")), &path("run"), ORDERS),
            "orders: it does not have the lease of node ",
        ),
        (line(&format!("file://{}/x", path("plain")), &path("run"), ORDERS), "orders: "),
        (line("redis://127.0.0.1:1", &path("run"), ORDERS), "orders: cannot reach redis://127.0.0.1:1"),
        (line("etcd://127.0.0.1:1?password-file=/nowhere", &path("run"), ORDERS), "password-file=/nowhere"),
    ];
    let log = it.directory.log().len();
    each(
        cases,
        |(text, _)| text.clone(),
        |(text, wanted)| {
            let said = it.read(&text);
            assert!(said.contains("SIGHUP: goes on as before: ") && said.contains(wanted), "{wanted}: {said}");
            assert_eq!(it.agent.try_wait().unwrap(), None, "the agent has ended");
            let files = fs::read_dir(it.directory.path("run")).unwrap().map(|file| file.unwrap().file_name());
            let files: Vec<_> = files.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
            assert!(files.iter().all(|name| name == "orders" || name == "blocked"), "{files:?}");
        },
    );
    let before = fs::read(it.directory.path(&format!("leases/orders/node/{node}"))).unwrap();
    until("the lease is not renewed", || {
        fs::read(it.directory.path(&format!("leases/orders/node/{node}"))).unwrap() != before
    });
    assert!(!it.directory.log()[log..].contains("gave node"), "{}", it.directory.log());
    assert_eq!(it.is_live("orders"), node);
}

/// TXID_TEST_PAIRS says how many pairs of signals there are, at random gaps.
#[test]
fn no_signal_is_lost() {
    let pairs: usize = std::env::var("TXID_TEST_PAIRS").map_or(20, |pairs| pairs.parse().unwrap());
    let gap = || sleep(Duration::from_micros((txid_agent::keeper::random() % 20_000) as u64));
    let directory = Directory::new();
    let said = |text: &str| directory.log().matches(text).count();
    for round in 1..=pairs.div_ceil(2) {
        let mut agent = Reader::agent(&directory);
        until("there is no lease", || said("orders: took node") == round);
        for rest in [ORDERS.to_owned(), [ORDERS, USERS].concat()] {
            Reader::write(&directory, &Reader::file(&directory, &rest));
            signal(&agent, libc::SIGHUP);
            gap();
        }
        until("the second one is lost", || {
            assert_eq!(agent.try_wait().unwrap(), None, "it has ended in round {round}");
            said("users: took node") == round
        });
        signal(&agent, libc::SIGHUP);
        gap();
        signal(&agent, libc::SIGTERM);
        assert_eq!(ended("SIGTERM is lost", &mut agent).code(), Some(0), "in round {round}");
        assert_eq!(said("orders: gave node"), round, "{}", directory.log());
        assert_eq!(said("users: gave node"), round, "{}", directory.log());
    }
}

/// A pipe, and a file that is too long to be one.
#[test]
fn only_a_file_of_a_reasonable_size_is_read() {
    let directory = Directory::new();
    let [pipe, long, device]: [PathBuf; 3] = [directory.path("pipe"), directory.path("long"), "/dev/zero".into()];
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    File::create(&long).unwrap().set_len(2 << 30).unwrap();
    for file in [pipe, long, device] {
        let mut it = agent().args(["check", "--config"]).arg(&file).stderr(Stdio::piped()).spawn().unwrap();
        if ended("it waits", &mut it).code() != Some(1) {
            kill(&mut it);
        }
        let said = String::from_utf8(it.wait_with_output().unwrap().stderr).unwrap();
        assert!(said.contains(&format!("{}: this is not a regular file of at most 1 MiB", file.display())), "{said}");
    }
}
