//! The kinds of stores, and the schemes of their URLs: the only list of them.

/// A kind of store. Each has one file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Redis,
    Etcd,
    Mysql,
    Postgres,
    Zookeeper,
    Consul,
    File,
}

/// The part of a URL before `://`.
pub(super) struct Scheme {
    pub name: &'static str,
    pub kind: Kind,
    pub port: u16,
    /// Whether it means TLS.
    pub is_tls: bool,
}

const fn scheme(name: &'static str, kind: Kind, port: u16, is_tls: bool) -> Scheme {
    Scheme { name, kind, port, is_tls }
}

/// The hosts of this scheme are Sentinels, which know the store's host.
pub(super) const SENTINEL: &str = "redis+sentinel";

/// In the order of the documents.
pub(super) const SCHEMES: [Scheme; 14] = [
    scheme("redis", Kind::Redis, 6379, false),
    scheme("rediss", Kind::Redis, 6379, true),
    scheme("valkey", Kind::Redis, 6379, false),
    scheme(SENTINEL, Kind::Redis, 26379, false),
    scheme("etcd", Kind::Etcd, 2379, false),
    scheme("etcds", Kind::Etcd, 2379, true),
    scheme("mysql", Kind::Mysql, 3306, false),
    scheme("mariadb", Kind::Mysql, 3306, false),
    scheme("postgres", Kind::Postgres, 5432, false),
    scheme("postgresql", Kind::Postgres, 5432, false),
    scheme("zookeeper", Kind::Zookeeper, 2181, false),
    scheme("consul", Kind::Consul, 8500, false),
    scheme("consuls", Kind::Consul, 8501, true),
    scheme("file", Kind::File, 0, false),
];

/// The scheme with this name.
pub(super) fn find(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// The names of all schemes, for documents and messages.
pub fn schemes() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|scheme| scheme.name)
}
