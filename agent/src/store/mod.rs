//! What a lease needs of a store, whichever it is.

mod clock;
mod consul;
mod etcd;
mod file;
mod http;
mod leaf;
mod mysql;
mod numbering;
mod postgres;
mod redis;
mod remote;
mod sql;
mod tag;
mod tls;
mod url;
mod zookeeper;

use std::fmt;

use self::url::StoreUrl;

pub use self::numbering::{Numbered, Numbering};
pub use self::tag::{Taken, raise};
pub use self::url::PASSWORD_VARIABLE;

/// The store that `url` names. Nothing is connected to yet: the first access does that, and each one after an outage.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    let url = StoreUrl::parse(url)?;
    Ok(match url.scheme.as_str() {
        "redis" | "rediss" | "valkey" | "redis+sentinel" => Box::new(redis::RedisStore::open(url)?),
        "etcd" | "etcds" => Box::new(etcd::EtcdStore::open(url)?),
        "consul" | "consuls" => Box::new(consul::ConsulStore::open(url)?),
        "mysql" | "mariadb" => Box::new(mysql::MysqlStore::open(url)?),
        "postgres" | "postgresql" => Box::new(postgres::PostgresStore::open(url)?),
        "zookeeper" => Box::new(zookeeper::ZookeeperStore::open(url)?),
        _ => Box::new(file::FileStore::open(url)?),
    })
}

/// A place that keeps small records, which can be compared and set.
///
/// Keys are short paths such as `orders/node/17`, below whatever prefix the store's URL names. A call returns within the
/// store's time-out.
pub trait Store: Send {
    /// The record at `key`, if there is one. It is as new as the last [`Put::Written`] of anybody: a copy that may lag
    /// behind is not read.
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Writes `bytes` at `key` if what is there is what is `expected`, in one atomic step.
    ///
    /// An error means that nothing was written, and that nothing will be. Whenever the request may have reached the store
    /// and its answer did not come, that is [`Put::Unknown`].
    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError>;

    /// All records whose key begins with `prefix`, in no certain order. `prefix` ends with a slash.
    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError>;

    /// The store's own clock in milliseconds since 1970-01-01 UTC, or nothing if it shows none.
    ///
    /// Where answers carry the time, this costs no request: it is the time of the last answer and what has passed since
    /// on this host's monotonic clock.
    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError>;

    /// Whether the store can forget a write that it has confirmed, as when an asynchronous copy takes over.
    fn may_lose_writes(&self) -> bool;

    /// Takes `count` numbers off the tag's, or as many as its own step says, unless it is below `seen`. In one atomic step,
    /// so that nobody else ever has them; with 0 it is only looked at.
    ///
    /// After an error the numbers may be taken all the same. Then they are nobody's.
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        tag::take_from_record(self, tag, count, seen)
    }

    /// Makes a tag, unless there is one.
    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        tag::create_record(self, tag, step)
    }

    /// What somebody has to enter who is to make a tag.
    fn how_to_create(&self, tag: &str, step: u64) -> String {
        format!("txid-agent run --segment {tag}={step} --create")
    }

    /// The number of a new node from somebody's count, for a host with this name. None that is above `last` is taken if that can
    /// be seen beforehand.
    ///
    /// After an error a number may be taken all the same. Then it is nobody's.
    fn number(&mut self, from: Numbering, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        let _ = (group, owner, last);
        Err(StoreError::Misconfigured {
            store: "this store".to_owned(),
            why: format!("it numbers no nodes: {} is elsewhere", from.place()),
        })
    }

    /// The error that the store has something that cannot be.
    fn damaged(&self, what: &str) -> StoreError;
}

/// What a store keeps at a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The content.
    pub bytes: Vec<u8>,
    /// What [`Store::put`] compares.
    pub version: Version,
}

impl Record {
    /// A record of a store that compares what is there with what is expected, byte by byte. As a record holds a random
    /// token, a store that was emptied and filled anew cannot match by chance, as counted versions can.
    fn compared_by_bytes(bytes: Vec<u8>) -> Self {
        Self { version: Version(bytes.clone()), bytes }
    }
}

/// What tells one state of a record from all others it ever had. Only the store that made it knows what it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub Vec<u8>);

/// What must be at a key for [`Store::put`] to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// The record in just this version.
    Version(Version),
}

/// What came of a [`Store::put`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Put {
    /// It is written, and this is its version now.
    Written(Version),
    /// Something else is there. Nothing was written.
    Conflict,
    /// It may or may not have been written, or may be written yet. Reading tells.
    Unknown(StoreError),
}

/// Why a store did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreError {
    /// Nobody answers at the address.
    Unreachable {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What happened.
        why: String,
    },
    /// No answer came in time.
    TimedOut {
        /// The store, as its URL names it but without a password.
        store: String,
        /// How long was waited.
        ms: u64,
    },
    /// The store answers that this user may not.
    Refused {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What it said, and what to do about it.
        why: String,
    },
    /// The URL, or how the store is set up, does not allow it ever.
    Misconfigured {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// The store answers something that cannot be its answer.
    Damaged {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What it is.
        why: String,
    },
}

impl StoreError {
    /// Whether it may pass by itself, so that trying again makes sense. Everything else wants a person.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { store, why } => write!(f, "cannot reach {store}: {why}"),
            Self::TimedOut { store, ms } => write!(f, "{store} did not answer within {ms} ms"),
            Self::Refused { store, why } => write!(f, "{store} refused: {why}"),
            Self::Misconfigured { store, why } => write!(f, "{store} cannot be used: {why}"),
            Self::Damaged { store, why } => write!(f, "{store} answered what cannot be: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Why an access failed, and whether it may still have done something.
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
