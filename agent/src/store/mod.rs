//! Stores, by their URLs.

mod address;
mod caught;
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
mod sent;
mod sql;
mod tag;
mod tls;
mod url;
mod zookeeper;

use txid_agent_machines::store::{Numbering, StoreError};

use self::caught::Caught;
use self::scheme::Kind;
use self::url::StoreUrl;

pub use self::contract::{Numbers, Show, Store, Tags};
pub use self::durability::Durability;
pub use self::keys::bind;
pub use self::scheme::schemes;
pub use self::tag::raise;
pub use self::url::{PASSWORD_VARIABLE, has_password};

/// The store of `url`. This does not connect: the first access does, and each one after an outage.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(Caught::new(url, records)?))
}

/// The tags in the store of `url`. This does not connect either.
pub fn open_tags(url: &str) -> Result<Box<dyn Tags>, StoreError> {
    Ok(Box::new(Caught::new(url, tags)?))
}

/// The store of `url`, if its nodes can be numbered like that. This does not connect either.
pub fn open_numbers(url: &str, from: Numbering) -> Result<Box<dyn Numbers>, StoreError> {
    Ok(Box::new(Caught::new(url, move |url| numbers(url, from))?))
}

fn records(url: StoreUrl) -> Result<Box<dyn Store>, StoreError> {
    Ok(match url.scheme.kind {
        Kind::Redis => Box::new(redis::RedisStore::open(url)?),
        Kind::Etcd => Box::new(etcd::EtcdStore::open(url)?),
        Kind::Consul => Box::new(consul::ConsulStore::open(url)?),
        Kind::Mysql => Box::new(mysql::MysqlStore::open(url)?),
        Kind::Postgres => Box::new(postgres::PostgresStore::open(url)?),
        Kind::Zookeeper => Box::new(zookeeper::ZookeeperStore::open(url)?),
        Kind::File => Box::new(file::FileStore::open(url)?),
    })
}

fn tags(url: StoreUrl) -> Result<Box<dyn Tags>, StoreError> {
    Ok(match url.scheme.kind {
        Kind::Redis => Box::new(redis::RedisStore::open(url)?),
        Kind::Mysql => Box::new(mysql::MysqlStore::open(url)?),
        Kind::Postgres => Box::new(postgres::PostgresStore::open(url)?),
        Kind::Etcd | Kind::Consul | Kind::Zookeeper | Kind::File => {
            Box::new(tag::InRecords { address: url.address.clone(), store: records(url)? })
        }
    })
}

fn numbers(url: StoreUrl, from: Numbering) -> Result<Box<dyn Numbers>, StoreError> {
    Ok(match (from, url.scheme.kind) {
        (Numbering::WorkerNode, Kind::Mysql) => Box::new(mysql::MysqlStore::open(url)?),
        (Numbering::WorkerNode, Kind::Postgres) => Box::new(postgres::PostgresStore::open(url)?),
        (Numbering::LeafForever, Kind::Zookeeper) => Box::new(zookeeper::ZookeeperStore::open(url)?),
        _ => return Err(url.address.misconfigured(format_args!("{} is not in this kind of store", from.place()))),
    })
}
