//! What leases and segments need of any store.

mod address;
mod caught;
mod clock;
mod consul;
mod durability;
mod etcd;
mod file;
mod http;
mod leaf;
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
mod zookeeper;

use self::address::Address;
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Taken};

use self::scheme::Kind;
use self::url::StoreUrl;

pub use self::durability::Durability;
pub use self::scheme::{can_number, schemes};
pub use self::tag::raise;
pub use self::url::PASSWORD_VARIABLE;

/// The longest answer that is read: a list of 10,000 nodes is about as long in etcd's JSON, and 30,000 in SQL.
const LARGEST_ANSWER: usize = 4 << 20;

/// The longest record. Ours have at most 500 bytes.
const LARGEST_RECORD: usize = 1000;

/// The records of the largest fleet.
const MOST_RECORDS: usize = 1 << 16;

/// The store of `url`. This does not connect: the first access does, and each one after an outage.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    let url = url.to_owned();
    Ok(Box::new(caught::Caught::new(move || open_uncaught(&url))?))
}

fn open_uncaught(url: &str) -> Result<Box<dyn Store>, StoreError> {
    let url = StoreUrl::parse(url)?;
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

/// A place for small records, with compare-and-set.
///
/// Keys are short paths such as `orders/node/17`, below the prefix in the store's URL. Calls return within the store's
/// time-out.
pub trait Store: Send {
    /// The record at `key`, if there is one. It is as new as the last [`Put::Written`] of any client: replicas that may
    /// lag behind are not read.
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Writes `bytes` at `key` if the record there is the `expected` one, in one atomic step.
    ///
    /// An error means that nothing was written, and that nothing will be. If the request may have reached the store
    /// without an answer, the result is [`Put::Unknown`].
    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError>;

    /// All records whose key begins with `prefix`, in any order. `prefix` ends with a slash.
    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError>;

    /// The store's own clock in milliseconds since 1970-01-01 UTC; None if it shows none.
    ///
    /// If answers carry the time, this needs no request: it is the time of the last answer, plus what has passed since
    /// then on this host's monotonic clock.
    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError>;

    /// Whether the store can lose a write that it has confirmed, for example when an asynchronous replica takes over.
    /// Each new connection asks the server again, if it can be asked.
    fn durability(&self) -> &Durability;

    /// Takes `count` numbers of the tag, or as many as its own step, unless its number is below `seen`. This is one
    /// atomic step, so nobody else ever gets them. A count of 0 only reads.
    ///
    /// After an error, the numbers may have been taken. Then nobody uses them.
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        tag::take_from_record(self, tag, count, seen)
    }

    /// Makes a tag, unless it exists.
    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        tag::create_record(self, tag, step)
    }

    /// The command that makes a tag, for an error message.
    fn how_to_create(&self, tag: &str, step: u64) -> String {
        format!("txid-agent run --segment {tag}={step} --create")
    }

    /// The number of a new node for a host with this name, from the counter of another system. Takes no number above
    /// `last`, if that can be checked before.
    ///
    /// After an error, a number may have been taken. Then nobody uses it.
    fn number(&mut self, from: Numbering, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        let _ = (group, owner, last);
        Err(StoreError::Misconfigured {
            store: "this store".to_owned(),
            why: format!("it does not number nodes: {} is elsewhere", from.place()),
        })
    }

    /// The error for a value in the store that is not valid.
    fn damaged(&self, what: &str) -> StoreError;

    /// The error for a record that another client changed at the same moment.
    fn contended(&self, key: &str) -> StoreError {
        match self.damaged("") {
            StoreError::Damaged { store, .. } => StoreError::Contended { store, key: key.to_owned() },
            other => other,
        }
    }
}

/// Why an access failed, and whether it may still have had an effect.
enum Failure {
    /// Nothing was done, and nothing will be.
    NotDone(StoreError),
    /// The request may have reached the store.
    Unknown(StoreError),
}

impl Failure {
    fn into_error(self) -> StoreError {
        match self {
            Self::NotDone(error) | Self::Unknown(error) => error,
        }
    }

    fn of_put(self) -> Result<Put, StoreError> {
        match self {
            Self::NotDone(error) => Err(error),
            Self::Unknown(error) => Ok(Put::Unknown(error)),
        }
    }
}

/// The record at `key`, unless it is too long to be one.
fn record(address: &Address, key: &str, bytes: Vec<u8>) -> Result<Record, StoreError> {
    if bytes.len() > LARGEST_RECORD {
        let start = bytes[..100].escape_ascii();
        return Err(address.damaged(format_args!(
            "{key} is longer than any record, which has at most {LARGEST_RECORD} bytes; it begins with {start}"
        )));
    }
    Ok(Record::compared_by_bytes(bytes))
}
