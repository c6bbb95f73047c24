//! Stores, by their URLs.

mod address;
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

use txid_agent_machines::store::StoreError;

use self::scheme::Kind;
use self::url::StoreUrl;

pub use self::contract::{Room, Show, Store};
pub use self::durability::Durability;
pub use self::keys::bind;
pub use self::scheme::schemes;
pub use self::url::{PASSWORD_VARIABLE, STORE_VARIABLE, has_password, hide_secrets, secret, secrets};

/// The store of `url`. This does not connect: the first access does, and each one after an outage.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    share(url).map(|open| open())
}

/// Opens the store of `url` for several, which share the connections to it.
pub fn share(url: &str) -> Result<Box<dyn Fn() -> Box<dyn Store>>, StoreError> {
    fn each(store: impl Store + Clone + 'static) -> Box<dyn Fn() -> Box<dyn Store>> {
        Box::new(move || Box::new(store.clone()))
    }
    let url = StoreUrl::parse(url)?;
    Ok(match url.scheme.kind {
        Kind::Redis => each(redis::RedisStore::open(url)?),
        Kind::Etcd => each(etcd::EtcdStore::open(url)?),
        Kind::Consul => each(consul::ConsulStore::open(url)?),
        Kind::Mysql => each(mysql::open(url)?),
        Kind::Postgres => each(postgres::open(url)?),
        Kind::Zookeeper => each(zookeeper::ZookeeperStore::open(url)?),
        Kind::File => each(file::FileStore::open(url)?),
    })
}
