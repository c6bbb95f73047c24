//! Stores, by their URLs.

mod address;
mod caught;
mod cell;
mod clock;
mod consul;
mod contract;
mod durability;
mod etcd;
mod failure;
mod file;
mod http;
mod keys;
mod leaf;
mod limits;
mod mysql;
mod numbering;
mod postgres;
mod redis;
mod remote;
mod scheme;
mod sql;
mod tag;
mod tls;
mod url;
mod wire;
mod zookeeper;

use txid_agent_machines::store::{Numbering, StoreError};

use self::address::Address;
use self::caught::Caught;
use self::scheme::Kind;
use self::url::StoreUrl;

pub use self::contract::{Numbers, Room, Show, Store, Tags};
pub use self::durability::Durability;
pub use self::keys::bind;
pub use self::scheme::schemes;
pub use self::tag::raise;
pub use self::url::{PASSWORD_VARIABLE, STORE_VARIABLE, has_password, hide_secrets, secret, secrets};

/// The records of the store of `url`.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    Ok(OpenStore::new(url)?.records())
}

/// The tags in the store of `url`.
pub fn open_tags(url: &str) -> Result<Box<dyn Tags>, StoreError> {
    Ok(OpenStore::new(url)?.tags())
}

/// A store, and the connections to it that all who use it share.
pub struct OpenStore {
    address: Address,
    client: Client,
}

#[derive(Clone)]
enum Client {
    Redis(redis::RedisStore),
    Etcd(etcd::EtcdStore),
    Consul(consul::ConsulStore),
    Mysql(sql::SqlStore<mysql::Mysql>),
    Postgres(sql::SqlStore<postgres::Postgres>),
    Zookeeper(zookeeper::ZookeeperStore),
    File(file::FileStore),
}

impl OpenStore {
    /// The store of `url`. This does not connect: the first access does, and each one after an outage.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let url = StoreUrl::parse(url)?;
        let address = url.address.clone();
        let client = match url.scheme.kind {
            Kind::Redis => Client::Redis(redis::RedisStore::open(url)?),
            Kind::Etcd => Client::Etcd(etcd::EtcdStore::open(url)?),
            Kind::Consul => Client::Consul(consul::ConsulStore::open(url)?),
            Kind::Mysql => Client::Mysql(mysql::open(url)?),
            Kind::Postgres => Client::Postgres(postgres::open(url)?),
            Kind::Zookeeper => Client::Zookeeper(zookeeper::ZookeeperStore::open(url)?),
            Kind::File => Client::File(file::FileStore::open(url)?),
        };
        Ok(Self { address, client })
    }

    /// Its records.
    pub fn records(&self) -> Box<dyn Store> {
        let client = self.client.clone();
        Box::new(Caught::new(self.address.clone(), move || client.clone().records()))
    }

    /// Its tags.
    pub fn tags(&self) -> Box<dyn Tags> {
        let (address, client) = (self.address.clone(), self.client.clone());
        Box::new(Caught::new(address.clone(), move || client.clone().tags(&address)))
    }

    /// Its records, if its nodes can be numbered like that.
    pub fn numbers(&self, from: Numbering) -> Result<Box<dyn Numbers>, StoreError> {
        let client = self.client.clone();
        let none = || self.address.misconfigured(format_args!("{} is not in this kind of store", from.place()));
        let numbers: Box<dyn Fn() -> Box<dyn Numbers> + Send> = match (from, client) {
            (Numbering::WorkerNode, Client::Mysql(store)) => Box::new(move || Box::new(store.clone())),
            (Numbering::WorkerNode, Client::Postgres(store)) => Box::new(move || Box::new(store.clone())),
            (Numbering::LeafForever, Client::Zookeeper(store)) => Box::new(move || Box::new(store.clone())),
            _ => return Err(none()),
        };
        Ok(Box::new(Caught::new(self.address.clone(), numbers)))
    }
}

impl Client {
    fn records(self) -> Box<dyn Store> {
        match self {
            Self::Redis(store) => Box::new(store),
            Self::Etcd(store) => Box::new(store),
            Self::Consul(store) => Box::new(store),
            Self::Mysql(store) => Box::new(store),
            Self::Postgres(store) => Box::new(store),
            Self::Zookeeper(store) => Box::new(store),
            Self::File(store) => Box::new(store),
        }
    }

    fn tags(self, address: &Address) -> Box<dyn Tags> {
        match self {
            Self::Redis(store) => Box::new(store),
            Self::Mysql(store) => Box::new(store),
            Self::Postgres(store) => Box::new(store),
            other @ (Self::Etcd(_) | Self::Consul(_) | Self::Zookeeper(_) | Self::File(_)) => {
                Box::new(tag::InRecords { address: address.clone(), store: other.records() })
            }
        }
    }
}
