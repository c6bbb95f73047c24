//! Agents of two versions: what the first one with leases left in a store and on a host, beside what this one does.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

use txid::snowflake::{Generator, LeasePage, State};
use txid_agent::store::open;
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::store::{Expected, Put};

use super::directory::Directory;
use super::host::{agent, kill, signal};
use crate::servers::until;
use crate::wait::ended;

/// Two nodes, as the first version wrote the layout.
const LAYOUT: &str = "time_bits=41,node_bits=1,sequence_bits=12,unit_ms=1,epoch=1288834974657";

struct Site(Directory);

impl Site {
    fn new() -> Self {
        Self(Directory::new())
    }

    fn write(&self, key: &str, text: &str) {
        let put = open(&self.0.store()).unwrap().put(key, &Expected::Absent, text.as_bytes()).unwrap();
        assert!(matches!(put, Put::Written(_)), "{put:?}");
    }

    fn read(&self, key: &str) -> String {
        String::from_utf8(open(&self.0.store()).unwrap().read(key).unwrap().unwrap().bytes).unwrap()
    }

    fn page(&self) -> std::path::PathBuf {
        self.0.path("run/orders")
    }

    fn start(&self, name: &str) -> Child {
        let mut command: Command = agent();
        command
            .args(["run", "--store", &self.0.store(), "--host-name", name, "--node", &format!("orders={LAYOUT}")])
            .args(["--dir"]);
        command.arg(self.0.path("run")).args(["--assume-unused-store", "--lease-time", "5s"]).stdin(Stdio::null());
        let log = OpenOptions::new().create(true).append(true).open(self.0.path("log")).unwrap();
        command.stderr(log).spawn().unwrap()
    }
}

/// An agent of the first version renews node 1, and has given node 0 back.
#[test]
fn the_records_of_the_first_version_are_those_of_this_one() {
    let site = Site::new();
    let now_ms = txid::system_ms();
    let group = format!("txid-group 1 floor=0 made=1763719200000 id=0123456789abcdef0123456789abcdef layout={LAYOUT}");
    let theirs = format!(
        "txid-lease 1 generation=3 limit={} token=000102030405060708090a0b0c0d0e0f held owner=an older host",
        now_ms + 600_000
    );
    let free = format!(
        "txid-lease 1 generation=7 limit={} token=ffeeddccbbaa99887766554433221100 released owner=another",
        now_ms - 1000
    );
    site.write("orders/meta", &group);
    site.write("orders/node/1", &theirs);
    site.write("orders/node/0", &free);
    let mut child = site.start("a newer host");
    site.0.says("took node 0, generation 8");
    let ours = site.read("orders/node/0");
    signal(&child, libc::SIGTERM);
    assert_eq!(ended("it does not end", &mut child).code(), Some(0), "{}", site.0.log());
    assert_eq!(site.read("orders/meta"), group);
    assert_eq!(site.read("orders/node/1"), theirs);

    // What the first version reads: these fields in this order, and nothing else.
    for (text, state) in [(ours, "held"), (site.read("orders/node/0"), "released")] {
        let words: Vec<&str> = text.splitn(7, ' ').collect();
        let [kind, one, generation, limit, token, found, owner] = words[..] else { panic!("{text}") };
        assert_eq!((kind, one, generation, found), ("txid-lease", "1", "generation=8", state), "{text}");
        let limit = limit.strip_prefix("limit=").unwrap();
        assert!(limit.len() == 13 && limit.bytes().all(|digit| digit.is_ascii_digit()), "{text}");
        let token = token.strip_prefix("token=").unwrap();
        assert!(token.len() == 32 && token.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{text}");
        assert_eq!(owner, "owner=a newer host", "{text}");
    }
    let made = Group::parse(group.as_bytes()).unwrap();
    assert_eq!((made.layout.as_str(), made.floor_ms), (LAYOUT, 0));
}

/// A page of the first version did not have the time at which its file was made. It may have been copied away and back, so
/// the lease is not continued; but the node has this host's name, and starts at the old limit.
#[test]
fn a_page_of_the_first_version_is_replaced() {
    const BORN_AT: usize = 72;
    const CHECKSUM_AT: usize = 120;
    let site = Site::new();
    let mut child = site.start("the host");
    site.0.says("took node ");
    kill(&mut child);
    let path = site.page();
    let mut page = fs::read(&path).unwrap();
    if page[BORN_AT..BORN_AT + 8] == [0; 8] {
        return crate::skipped("the file system does not tell when a file was made");
    }
    page[BORN_AT..BORN_AT + 8].fill(0);
    let checksum = page[..CHECKSUM_AT]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    page[CHECKSUM_AT..CHECKSUM_AT + 8].copy_from_slice(&checksum.to_ne_bytes());
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&page[..128], 0).unwrap();
    let node = LeasePage::attach(&path).map(|page| page.view().node);
    assert!(node.is_err(), "it is this version's: {node:?}");
    let record = |node: u64| NodeRecord::parse(site.read(&format!("orders/node/{node}")).as_bytes()).unwrap();
    let old = [0, 1].into_iter().find(|node| site.0.path(&format!("leases/orders/node/{node}")).exists()).unwrap();
    let limit_ms = record(old).limit_ms;
    // Until then, it may be of another host that has this name.
    until("its lease does not end", || txid::system_ms() > limit_ms);

    let mut child = site.start("the host");
    site.0.says(&format!("took node {old}, generation 2"));
    let layout = LAYOUT.parse().unwrap();
    let generator = Generator::new(State::leased(&path, &layout).unwrap());
    until("it makes no id", || generator.next().is_ok());
    let made = layout.decode(generator.next().unwrap()).unwrap();
    assert!(made.node == old && made.ms >= limit_ms, "{made:?} {limit_ms}");
    signal(&child, libc::SIGTERM);
    assert_eq!(ended("it does not end", &mut child).code(), Some(0), "{}", site.0.log());
}
