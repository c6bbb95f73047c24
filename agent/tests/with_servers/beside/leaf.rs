//! Leaf's SnowflakeZookeeperHolder.

use std::collections::HashMap;
use std::time::Duration;

use tokio::runtime::Runtime;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::{Fleet, everybody_starts};
use crate::servers;

const FOREVER: &str = "/snowflake/com.sankuai.leaf.opensource.test/forever";

struct Holder {
    runtime: Runtime,
    client: Client,
}

impl Holder {
    fn connect(port: u16) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        // The server accepts connections before it answers.
        let client = servers::until("ZooKeeper does not answer", || {
            let connector = Client::connector().with_session_timeout(Duration::from_secs(60));
            let connector = connector.with_connection_timeout(Duration::from_secs(60));
            runtime.block_on(connector.connect(&format!("127.0.0.1:{port}")))
        });
        Self { runtime, client }
    }

    /// Leaf's `init`: `checkExists`, reading all names, and `createNode`.
    fn init(&self, ip: &str, port: u16) -> u64 {
        let listen_address = format!("{ip}:{port}");
        self.runtime.block_on(async {
            let acls = Acls::anyone_all();
            if self.client.check_stat(FOREVER).await.unwrap().is_none() {
                self.client.mkdir(FOREVER, &CreateMode::Persistent.with_acls(acls)).await.unwrap();
            }
            let mut nodes: HashMap<String, i32> = HashMap::new();
            for key in self.client.list_children(FOREVER).await.unwrap() {
                let parts: Vec<&str> = key.split('-').collect();
                nodes.insert(parts[0].to_owned(), parts[1].parse().expect("a name that Leaf cannot read"));
            }
            if let Some(worker_id) = nodes.get(&listen_address) {
                return *worker_id as u64;
            }
            let data = format!("{{\"ip\":\"{ip}\",\"port\":\"{port}\",\"timestamp\":{}}}", txid::system_ms());
            let options = CreateMode::PersistentSequential.with_acls(acls);
            let path = format!("{FOREVER}/{listen_address}-");
            let (_, sequence) = self.client.create(&path, data.as_bytes(), &options).await.unwrap();
            sequence.into_i64() as u64
        })
    }

    fn run(&self, work: impl AsyncFnOnce(&Client) -> Result<(), Error>) {
        self.runtime.block_on(work(&self.client)).unwrap();
    }
}

#[test]
fn on_zookeeper() {
    let server = servers::zookeeper();
    let holder = Holder::connect(server.port);
    let store = format!("zookeeper://127.0.0.1:{}/snowflake/com.sankuai.leaf.opensource.test", server.port);
    let fleet = Fleet::new(&store, "leaf_forever");
    fleet.fails(
        "early",
        "there is no /snowflake/com.sankuai.leaf.opensource.test/forever: write zookeeper://HOST/snowflake/NAME",
    );

    assert_eq!(holder.init("10.0.0.1", 8080), 0, "the first server of all makes the path");
    everybody_starts(&fleet, |turn| Holder::connect(server.port).init("10.0.0.2", turn as u16));
    assert_eq!(holder.init("10.0.0.1", 8080), 0, "a server of Leaf's finds its own again");

    // The data is for people to read, and Leaf can parse it.
    holder.run(async |client| {
        let children = client.list_children(FOREVER).await?;
        let ours = children.iter().find(|name| name.starts_with("web_2:txid-")).expect("no child for web-2");
        let (data, _) = client.get_data(&format!("{FOREVER}/{ours}")).await?;
        let data: serde_json::Value = serde_json::from_slice(&data).unwrap();
        assert_eq!((&data["ip"], &data["port"], data["timestamp"].is_i64()), (&"web-2".into(), &"txid".into(), true));
        assert_eq!(data.as_object().unwrap().len(), 3, "Leaf accepts no other field");
        Ok(())
    });

    // Uses up the last number.
    holder.run(async |client| {
        let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
        client.create(&format!("{FOREVER}/10.0.0.3:8080-0000001023"), b"", &options).await.map(drop)
    });
    let _agents: Vec<_> = (0..4).map(|number| fleet.start(&format!("web-{number}"))).collect();
    (0..4).for_each(|number| assert!(fleet.node(&format!("web-{number}")) < 1023));
    let _agent = fleet.start("too-late");
    servers::until("it does not say so", || fleet.log("too-late").contains("all 1024 nodes are taken"));
    let log = fleet.log("too-late");
    assert!(log.contains("Leaf's path has used up the numbers of the layout"), "{log}");
}

#[test]
fn mistakes_are_reported_at_once() {
    let says = |store: &str, node: &str, wanted: &str| Fleet::new(store, node).fails("host", wanted);
    says(
        "mysql://app@127.0.0.1/ids",
        "worker_node",
        "the layout of the node orders has ids from 2016-05-19T16:00:00Z to 2024-11-20",
    );
    says("redis://127.0.0.1", "leaf_forever", "the node orders: Leaf's path is not in this kind of store");
    says("zookeeper://127.0.0.1", "worker_node:snowflake", "the table WORKER_NODE is not in this kind of store");
    says("mysql://app@127.0.0.1/ids", "worker_node:snowfake", "layout 'snowfake' is not one of");
}
