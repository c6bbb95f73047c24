//! The largest group: each store has 65,536 records of it, and an agent needs little memory and not long to find its node
//! among them. To see the table of stores.md, and to wait for all records:
//! `cargo test --test with_servers largest -- --ignored --nocapture --test-threads=1`

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use txid_agent_machines::lease::{Group, NodeRecord, Rules, Survey};
use zookeeper_client::{Acls, Client, CreateMode};

use super::conformance::{open, wait_for};
use super::consul::StandIn;
use super::worst::peak;
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD, Server, run};

/// More than any part has.
const SOME: u64 = 5000;
const ALL: u64 = 1 << 16;
/// What an agent may need to look at them all: the answer of ZooKeeper has all names.
const MOST: isize = 24 << 20;

/// A node that a host with a name of its own gave back.
fn record(node: &str) -> String {
    let token = format!("{node:0>32}");
    format!("txid-lease 1 generation=1 limit=1700000000000 token={token} released owner=orders-7d9c5b7f4-{node}")
}

fn key(node: u64) -> String {
    Group::node_key("large", node)
}

/// Looks at all `count` records, as an agent does, and takes one of them.
fn looks(store: &str, url: &str, count: u64) {
    let layout = "sonyflake".parse().unwrap();
    let rules = Rules::new("large", "a-new-name", &layout, false);
    let begin = Instant::now();
    let (survey, most) = peak(|| {
        let mut store = open(url).unwrap();
        let mut survey = Survey::new(&rules, 1_800_000_000_000);
        store.list(&survey.prefix(), &mut |key, record| survey.see(key, record)).unwrap();
        survey
    });
    let (ms, kb) = (begin.elapsed().as_millis(), most >> 10);
    println!("| {store} | {count} | {ms} ms | {kb} KB |");
    assert_eq!(survey.count() as u64, count, "{store}");
    assert!(most < MOST, "{store}: {kb} KB");
    let choice = survey.choose(&rules).unwrap();
    assert!(choice.generation == 1 && choice.node < count, "{store}: {choice:?}");
    let mut store = open(url).unwrap();
    let found = store.read(&key(choice.node)).unwrap().unwrap();
    assert_eq!(NodeRecord::parse(&found.bytes).unwrap().owner, format!("orders-7d9c5b7f4-{}", choice.node));
    let taken = store.put(&key(choice.node), &choice.expected, b"another").unwrap();
    assert!(matches!(taken, txid_agent_machines::store::Put::Written(_)), "{taken:?}");
}

/// All stores, with `count` records each. No store is busy for a minute, however slow the host is.
fn with(count: u64) {
    let directory = tempfile::tempdir().unwrap();
    let nodes = directory.path().join("large/node");
    fs::create_dir_all(&nodes).unwrap();
    for node in 0..count {
        fs::write(nodes.join(node.to_string()), record(&node.to_string())).unwrap();
    }
    looks("directory", &format!("file://{}?timeout=60s", directory.path().display()), count);
    drop(directory);

    // There are so many that begin with a 1 that these are read in parts, too, and the key of node 1 alone. All of them are
    // longer than an answer may be.
    let of_consul = count.max(16_000);
    let consul = StandIn::start(None);
    consul.fill((0..of_consul).map(|node| (format!("txid/{}", key(node)), record(&node.to_string()))));
    looks("Consul (stand-in)", &format!("consul://127.0.0.1:{}?timeout=60s", consul.port), of_consul);

    let redis = servers::redis(&[]);
    let script = format!(
        "for node = 0, {count} - 1 do redis.call('HSET', 'txid/large', 'node/' .. node, \
         (ARGV[1]:gsub('@0+', function(zeros) return (('0'):rep(32) .. node):sub(-32) end):gsub('@', node))) end"
    );
    let text = record("@").replace(&format!("{:0>32}", "@"), &format!("@{}", "0".repeat(32)));
    run(Command::new("redis-cli").args(["-p", &redis.port.to_string(), "EVAL", &script, "0", &text]));
    looks("Redis", &format!("redis://127.0.0.1:{}?timeout=60s", redis.port), count);

    let etcd = servers::etcd(&[]);
    fill_etcd(&etcd, count);
    looks("etcd", &format!("etcd://127.0.0.1:{}?timeout=60s", etcd.port), count);

    let postgres = servers::postgres(&[]);
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids?timeout=60s", postgres.port);
    // Makes the table.
    assert_eq!(open(&url).unwrap().read("large/node/0").unwrap(), None);
    let sql = |number: &str, zeros: &str| {
        format!(
            "concat('{}')",
            record("@")
                .replace(&format!("{:0>32}", "@"), &format!("',{zeros},'"))
                .replace('@', &format!("',{number},'"))
        )
    };
    let insert = format!(
        "INSERT INTO txid_lease SELECT 'large/node/' || n, {}, now() FROM generate_series(0, {count} - 1) n",
        sql("n", "lpad(n::text, 32, '0')")
    );
    run(servers::psql(&postgres, "ids").args(["-c", &insert]));
    looks("PostgreSQL", &url, count);

    let mariadb = servers::mariadb();
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids?timeout=60s", mariadb.port);
    assert_eq!(open(&url).unwrap().read("large/node/0").unwrap(), None);
    let insert = format!(
        "INSERT INTO ids.txid_lease SELECT CONCAT('large/node/', seq), {}, 0 FROM seq_0_to_{}",
        sql("seq", "LPAD(seq, 32, '0')"),
        count - 1
    );
    run(servers::mariadb_client(&mariadb).args(["-e", &format!("USE ids; {insert}")]));
    looks("MariaDB", &url, count);

    let zookeeper = servers::zookeeper_with("-Xmx512m");
    let url = format!("zookeeper://127.0.0.1:{}", zookeeper.port);
    wait_for(&url);
    fill_zookeeper(&zookeeper, count);
    looks("ZooKeeper", &format!("{url}?timeout=60s"), count);
}

fn fill_etcd(server: &Server, count: u64) {
    let encode = |text: String| data_encoding::BASE64.encode(text.as_bytes());
    let all: Vec<u64> = (0..count).collect();
    // A transaction has at most 128 operations.
    for nodes in all.chunks(128) {
        let mut puts = String::new();
        for &node in nodes {
            let comma = if puts.is_empty() { "" } else { "," };
            let (key, value) = (encode(format!("/txid/{}", key(node))), encode(record(&node.to_string())));
            write!(puts, "{comma}{{\"request_put\":{{\"key\":\"{key}\",\"value\":\"{value}\"}}}}").unwrap();
        }
        let body = format!("{{\"success\":[{puts}]}}");
        servers::http(server.port, "POST", "/v3/kv/txn", &body).expect("etcd writes them");
    }
}

fn fill_zookeeper(server: &Server, count: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let connector = Client::connector().with_session_timeout(Duration::from_secs(60));
        let client = connector.connect(&format!("127.0.0.1:{}", server.port)).await.unwrap();
        let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
        client.mkdir("/txid/large/node", &options).await.unwrap();
        let all: Vec<u64> = (0..count).collect();
        for nodes in all.chunks(500) {
            let mut writer = client.new_multi_writer();
            for &node in nodes {
                let path = format!("/txid/{}", key(node));
                writer.add_create(&path, record(&node.to_string()).as_bytes(), &options).unwrap();
                writer.add_create(&format!("{path}/born-1"), b"", &options).unwrap();
            }
            writer.commit().await.unwrap();
        }
    });
}

#[test]
fn a_list_in_several_parts_is_whole() {
    with(SOME);
}

#[test]
#[ignore = "writes half a million records"]
fn all_nodes() {
    with(ALL);
}
