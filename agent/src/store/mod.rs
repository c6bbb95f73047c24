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
pub use self::url::{PASSWORD_VARIABLE, STORE_VARIABLE, has_password, hide_secrets, secret};

/// The store of `url`. This does not connect: the first access does, and each one after an outage.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    share(url).map(|open| open())
}

/// What `url` is in messages: without its password and its options.
pub fn shown(url: &str) -> Result<String, StoreError> {
    StoreUrl::parse(url).map(|url| url.address.label)
}

/// Opens one store for each that calls it.
pub type Open = Box<dyn Fn() -> Box<dyn Store> + Send>;

/// Opens the store of `url` for several, which share the connections to it.
pub fn share(url: &str) -> Result<Open, StoreError> {
    fn each(store: impl Store + Clone + 'static) -> Open {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_wrong_is_an_error_that_says_how_it_is_right() {
        const NO_URL: &str = "the store cannot be used: a store is a URL such as etcd://10.0.0.5:2379/txid or \
                              file:///var/lib/txid/leases";
        const KINDS: &str = "there is no store of the kind memcached; there are redis, rediss, valkey, redis+sentinel, etcd, etcds, \
                             mysql, mariadb, postgres, postgresql, zookeeper, consul, consuls, file";
        const COMMON: &str = "timeout, tls, ca, cert, key, password-file, may-lose-writes";
        const ESCAPES: &str = "in its user and password, write / as %2F, ? as %3F, : as %3A and @ as %40";
        const REPLICAS: &str = "wait=many is not a number of replicas that must confirm a write";
        const DATABASE: &str = "the path must be the number of a database; for a prefix, give ?prefix=NAME";
        const MASTER: &str = "the name of the master is missing: redis+sentinel://HOST:26379/MASTER";
        const NO_TIME: &str = "is not a time between 10ms and 60s, such as 3s";
        const NO_PASSWORD: &str = "the user u has no password: set TXID_STORE_PASSWORD, or give ?password-file=FILE";
        const TOKENS: &str =
            "Consul has tokens, and no users: give the token as TXID_STORE_PASSWORD or ?password-file=FILE";
        const NO_USER: &str = "it names no user: write postgres://USER@HOST/DATABASE";
        const SLASHES: &str = "a directory's URL has three slashes: file:///var/lib/txid/leases";
        for (url, label, why) in [
            ("10.0.0.5:2379", "", NO_URL),
            ("memcached://10.0.0.5", "memcached://10.0.0.5", KINDS),
            ("etcd://", "etcd://", "\"\" is not HOST or HOST:PORT"),
            ("etcd://a:2379,:2379", "etcd://a:2379,:2379", "\":2379\" is not HOST or HOST:PORT"),
            ("etcd://a:port", "etcd://a:port", "\"a:port\" is not HOST or HOST:PORT"),
            ("etcd://a:70000", "etcd://a:70000", "\"a:70000\" is not HOST or HOST:PORT"),
            ("etcd://a:0", "etcd://a:0", "\"a:0\" is not HOST or HOST:PORT"),
            ("etcd://[::1]2", "etcd://[::1]2", "\"[::1]2\" is not HOST or HOST:PORT"),
            ("etcd://a?prefix=x", "etcd://a", &*format!("it has no option prefix; its options are {COMMON}")),
            ("consul://a?wait=x", "consul://a", &*format!("it has no option wait; its options are dc, {COMMON}")),
            ("file:///a?wait=x", "file:///a", &*format!("it has no option wait; its options are {COMMON}")),
            ("zookeeper://a?wait=x", "zookeeper://a", &*format!("it has no option wait; its options are {COMMON}")),
            (
                "redis://a?table=x",
                "redis://a",
                &*format!("it has no option table; its options are prefix, wait, {COMMON}"),
            ),
            (
                "mysql://u@a/b?wait=x",
                "mysql://u@a/b",
                &*format!("it has no option wait; its options are table, password-in-clear, {COMMON}"),
            ),
            (
                "postgres://u@a/b?wait=x",
                "postgres://u@a/b",
                &*format!("it has no option wait; its options are table, password-in-clear, {COMMON}"),
            ),
            ("redis://a?wait=1&wait=2", "redis://a", "the option wait was given twice"),
            ("redis://a?tls=0&timeout=1s&tls=1", "redis://a", "the option tls was given twice"),
            ("redis://a?wait=many", "redis://a", REPLICAS),
            ("redis://a/txid", "redis://a/txid", DATABASE),
            ("redis+sentinel://a/m/x", "redis+sentinel://a/m/x", DATABASE),
            ("redis+sentinel://a", "redis+sentinel://a", MASTER),
            ("redis://a?timeout=soon", "redis://a", &*format!("timeout=soon {NO_TIME}")),
            ("redis://a?timeout=9ms", "redis://a", &*format!("timeout=9ms {NO_TIME}")),
            ("redis://a?timeout=60001ms", "redis://a", &*format!("timeout=60001ms {NO_TIME}")),
            ("redis://a?timeout=-1s", "redis://a", &*format!("timeout=-1s {NO_TIME}")),
            ("redis://a?tls=2", "redis://a", "tls=2 is neither tls=1 nor tls=0"),
            (
                "redis://a?may-lose-writes=no",
                "redis://a",
                "may-lose-writes=no is neither may-lose-writes=1 nor may-lose-writes=0",
            ),
            (
                "rediss://a?ca=/nowhere/a",
                "rediss://a",
                "ca=/nowhere/a: I/O error: No such file or directory (os error 2)",
            ),
            ("redis://a?ca=/dev/null", "redis://a", "ca=/dev/null: it contains no certificate"),
            ("rediss://a?cert=/etc/cert.pem", "rediss://a", "cert= and key= go together"),
            ("rediss://a?cert=/dev/null&key=/dev/null", "rediss://a", "key=/dev/null: no items found"),
            (
                "rediss://a?cert=/nowhere/a&key=/dev/null",
                "rediss://a",
                "cert=/nowhere/a: I/O error: No such file or directory (os error 2)",
            ),
            ("rediss://a?key=/etc/key.pem", "rediss://a", "cert= and key= go together"),
            ("etcd://u@a", "etcd://u@a", NO_PASSWORD),
            ("zookeeper://u@a", "zookeeper://u@a", NO_PASSWORD),
            ("postgres://a/ids", "postgres://a/ids", NO_USER),
            ("consul://u@a", "consul://u@a", TOKENS),
            ("zookeeper://a?tls=1", "zookeeper://a", "TLS to ZooKeeper is not supported: use a tunnel on this host"),
            ("file://var/lib/txid", "file://var/lib/txid", SLASHES),
            ("file:///", "file:///", "it names no directory: write file:///var/lib/txid/leases"),
            (
                "redis://a?password-file=/nowhere/a",
                "redis://a",
                "password-file=/nowhere/a: No such file or directory (os error 2)",
            ),
            (
                "redis://a?password-file=/dev/zero",
                "redis://a",
                "password-file=/dev/zero: this is not a regular file of at most 1 MiB",
            ),
            ("redis://u:the-password%ff@a", "redis://u@a", "a %-escape in it is not UTF-8"),
            ("mysql://root:the-password/1@a/ids", "mysql://...", ESCAPES),
            ("mysql://root:1/the-password@a/ids", "mysql://...", ESCAPES),
            ("mysql://root:the-password?1@a/ids", "mysql://...", ESCAPES),
            ("mysql://root:1?the-password=2@a/ids", "mysql://...", ESCAPES),
        ] {
            let said = open(url).err().map(|error| error.to_string());
            let wanted = if label.is_empty() { why.to_owned() } else { format!("{label} cannot be used: {why}") };
            assert_eq!(said, Some(wanted), "{url}");
        }
    }

    #[test]
    fn a_url_that_is_right_opens_its_store() {
        const UNKNOWN: Durability = Durability::Unknown;
        const NO: Durability = Durability::Said { may_lose: false };
        for (url, known) in [
            ("redis://[::1]:6379/2?prefix=x", UNKNOWN),
            ("redis://a?timeout=10ms", UNKNOWN),
            ("redis+sentinel://a,b/main/2?wait=1&timeout=60s", UNKNOWN),
            ("valkey://a?may-lose-writes=0", NO),
            ("mariadb://u@a/ids?table=leases&password-in-clear=1", UNKNOWN),
            ("mysql://u@a/ids?may-lose-writes=0", NO),
            ("postgresql://u@a/ids", UNKNOWN),
            ("postgres://u@a/ids?may-lose-writes=0", NO),
            ("etcd://a,b:2380,c/deep/prefix", Durability::Durable),
            ("etcd://a?may-lose-writes=1", Durability::Said { may_lose: true }),
            ("consul://a?dc=eu", Durability::Durable),
            ("consul://a?may-lose-writes=0", NO),
            ("zookeeper://a", Durability::Durable),
            ("zookeeper://a?may-lose-writes=0", NO),
            ("file:///var/lib/txid/leases", Durability::Durable),
            ("file:///var/lib/txid/leases?may-lose-writes=0", NO),
        ] {
            assert_eq!(open(url).map(|store| store.durability().clone()), Ok(known), "{url}");
        }
    }
}
