//! MySQL and MariaDB: one table.

use std::error::Error as _;
use std::io;

use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable;
use mysql::{ClientIdentity, Conn, DriverError, Error, OptsBuilder, Params, SslOpts, Value};
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Taken, Version};

use super::address::Address;
use super::clock::StoreClock;
use super::numbering::{self, WORKER_NODE};
use super::tls::Tls;
use super::url::{Host, StoreUrl};
use super::{Failure, Store, leaf, sql, tag};

const NOW_MS: &str = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";
const NO_SUCH_TABLE: u16 = 1146;
const DUPLICATE_KEY: u16 = 1062;
const UNKNOWN_VARIABLE: u16 = 1193;

pub(super) struct MysqlStore {
    address: Address,
    hosts: Vec<Host>,
    options: OptsBuilder,
    tls: Option<Tls>,
    table: String,
    may_lose_writes: bool,
    connection: Option<Conn>,
    clock: StoreClock,
}

impl MysqlStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["table"])?;
        let (user, database) = sql::database(&url)?;
        let timeout = Some(url.address.timeout);
        let options = OptsBuilder::new()
            .user(Some(user))
            .pass(url.password.as_ref().map(|password| password.reveal()))
            .db_name(Some(database))
            .prefer_socket(false)
            .tcp_connect_timeout(timeout)
            .read_timeout(timeout)
            .write_timeout(timeout)
            // An UPDATE reports how many rows it found, even if they already have the new value.
            .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS);
        Ok(Self {
            table: sql::table(&url)?,
            // Several hosts are usually a primary and its replicas, which lag behind unless configured otherwise.
            may_lose_writes: url.may_lose_writes(url.hosts.len() > 1)?,
            address: url.address,
            hosts: url.hosts,
            tls: url.tls,
            options,
            connection: None,
            clock: StoreClock::default(),
        })
    }

    fn connect(&self) -> Result<Conn, StoreError> {
        let mut last = self.address.unreachable("there is no host to connect to");
        for host in &self.hosts {
            match self.connect_to(host) {
                Ok(connection) => return Ok(connection),
                Err(error) if error.may_pass() => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn connect_to(&self, host: &Host) -> Result<Conn, StoreError> {
        let ssl = self.tls.as_ref().map(|tls| {
            SslOpts::default()
                .with_root_cert_path(Some(tls.ca.clone()))
                .with_client_identity(tls.identity.clone().map(|(cert, key)| ClientIdentity::new(cert, key)))
        });
        let options = self.options.clone().ip_or_hostname(Some(host.name.clone())).tcp_port(host.port).ssl_opts(ssl);
        let say = |error| self.say_no_connection(host, &error);
        let mut connection = Conn::new(options).map_err(say)?;
        let read_only: Option<i64> = connection.query_first("SELECT @@global.read_only + 0").map_err(say)?;
        if read_only == Some(1) {
            return Err(self.address.unreachable(format_args!("{host} is a replica, but the primary is needed")));
        }
        // A time zone without daylight saving time; and no waiting for a lock after this client has given up.
        let patience = self.address.timeout.as_secs().max(1);
        connection
            .query_drop(format!("SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = {patience}"))
            .map_err(say)?;
        // A Galera node then answers a read only after it has received everything that the other nodes have.
        match connection.query_drop("SET SESSION wsrep_sync_wait = 1") {
            Err(Error::MySqlError(error)) if error.code == UNKNOWN_VARIABLE => {}
            other => other.map_err(say)?,
        }
        Ok(connection)
    }

    /// Runs one statement. If the table is missing, makes it first.
    fn run<T>(&mut self, work: impl Fn(&mut Conn) -> Result<T, Error>) -> Result<T, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().map_err(|error| {
                self.hosts.rotate_left(1);
                Failure::NotDone(error)
            })?,
        };
        let mut result = work(&mut connection);
        if matches!(&result, Err(Error::MySqlError(error)) if error.code == NO_SUCH_TABLE) {
            self.make_table(&mut connection).map_err(Failure::NotDone)?;
            result = work(&mut connection);
        }
        match result {
            Ok(result) => {
                self.connection = Some(connection);
                Ok(result)
            }
            Err(error) => {
                // The next access begins with another host.
                self.hosts.rotate_left(1);
                Err(self.say(&error, &self.table))
            }
        }
    }

    fn run_on_tags<T>(&mut self, work: impl Fn(&mut Conn) -> Result<T, Error>) -> Result<Option<T>, Failure> {
        self.run_on(leaf::TABLE, work)
    }

    /// Runs statements on another system's table. None if there is no such table.
    fn run_on<T>(&mut self, table: &str, work: impl Fn(&mut Conn) -> Result<T, Error>) -> Result<Option<T>, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().map_err(Failure::NotDone)?,
        };
        let result = match work(&mut connection) {
            Err(Error::MySqlError(error)) if error.code == NO_SUCH_TABLE => None,
            Ok(result) => Some(result),
            Err(error) => {
                self.hosts.rotate_left(1);
                return Err(self.say(&error, table));
            }
        };
        self.connection = Some(connection);
        Ok(result)
    }

    fn make_table(&self, connection: &mut Conn) -> Result<(), StoreError> {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {} (name VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, record \
             VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, changed_ms BIGINT NOT NULL) ENGINE=InnoDB",
            self.table
        );
        connection.query_drop(&create).map_err(|error| match self.say(&error, &self.table).into_error() {
            StoreError::Refused { why, .. } => self.address.refused(format_args!(
                "{why}; let a user with the right to do so run this, and grant SELECT, INSERT and UPDATE on it: {create}"
            )),
            other => other,
        })
    }

    fn say_no_connection(&self, host: &Host, error: &Error) -> StoreError {
        let address = &self.address;
        if let Some(error) = io_error(error) {
            return match error.kind() {
                // How rustls reports that it does not accept the other side.
                io::ErrorKind::InvalidData => address.misconfigured(error),
                _ if is_timeout(error) => address.timed_out(),
                _ => address.unreachable(format_args!("{host}: {error}")),
            };
        }
        match error {
            Error::MySqlError(error) if [1044, 1045, 1698].contains(&error.code) => {
                address.refused(format_args!("{}; {LOGIN}", error.message))
            }
            Error::MySqlError(error) if [1049].contains(&error.code) => address.misconfigured(&error.message),
            Error::DriverError(DriverError::ConnectTimeout | DriverError::Timeout) => address.timed_out(),
            Error::DriverError(DriverError::CouldNotConnect(Some((_, why, _)))) => {
                address.unreachable(format_args!("{host}: {why}"))
            }
            Error::DriverError(DriverError::CouldNotConnect(None)) => address.unreachable(host),
            Error::MySqlError(error) => address.unreachable(&error.message),
            Error::TlsError(error) => address.misconfigured(error),
            Error::DriverError(DriverError::TlsNotSupported) => {
                address.misconfigured("this server does not support TLS")
            }
            other => address.misconfigured(format_args!("the server is not MySQL: {other}")),
        }
    }

    fn say(&self, error: &Error, table: &str) -> Failure {
        let address = &self.address;
        match error {
            Error::MySqlError(error) => match error.code {
                1044 | 1142 | 1143 | 1227 | 1370 => Failure::NotDone(address.refused(format_args!(
                    "{}; the user needs SELECT, INSERT and UPDATE on the table {table}",
                    error.message
                ))),
                1290 | 1836 => {
                    Failure::NotDone(address.unreachable("this server is a replica, but the primary is needed"))
                }
                // Lock time-out, deadlock, too many connections, disk full: rolled back.
                1205 | 1213 | 1040 | 1021 | 1114 => Failure::NotDone(address.unreachable(&error.message)),
                1054 | 1064 | 1146 | 1406 => Failure::NotDone(address.misconfigured(&error.message)),
                _ => Failure::Unknown(address.unreachable(&error.message)),
            },
            other if io_error(other).is_some_and(is_timeout) => Failure::Unknown(address.timed_out()),
            other => Failure::Unknown(address.unreachable(other)),
        }
    }
}

const LOGIN: &str = "give the user as mysql://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

/// The underlying error, if it is one of the network.
fn io_error(error: &Error) -> Option<&io::Error> {
    match error {
        Error::IoError(error) => Some(error),
        Error::CodecError(error) => error.source()?.downcast_ref(),
        _ => None,
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

impl Store for MysqlStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let select = format!("SELECT {NOW_MS}, (SELECT record FROM {} WHERE name = ?)", self.table);
        let row: Option<(i64, Option<Vec<u8>>)> =
            self.run(|connection| connection.exec_first(&select, (key,))).map_err(Failure::into_error)?;
        let (now_ms, record) = row.ok_or_else(|| self.address.damaged("no row"))?;
        self.clock.saw(now_ms);
        Ok(record.map(Record::compared_by_bytes))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        // LAST_INSERT_ID(ms) returns the server's time with the answer to an UPDATE.
        let insert =
            format!("INSERT INTO {} SET name = ?, record = ?, changed_ms = LAST_INSERT_ID({NOW_MS})", self.table);
        let update = format!(
            "UPDATE {} SET record = ?, changed_ms = LAST_INSERT_ID({NOW_MS}) WHERE name = ? AND BINARY record = BINARY ?",
            self.table
        );
        let prepared = sql::text(&self.address, bytes).and_then(|new| {
            Ok(match expected {
                Expected::Absent => (insert, vec![Value::from(key), Value::from(new)]),
                Expected::Version(old) => {
                    let old = sql::text(&self.address, &old.0)?;
                    (update, vec![Value::from(new), Value::from(key), Value::from(old)])
                }
            })
        });
        let written = prepared.and_then(|(statement, args)| {
            self.run(|connection| {
                match connection.exec_drop(&statement, Params::Positional(args.clone())) {
                    Err(Error::MySqlError(error)) if error.code == DUPLICATE_KEY => return Ok(None),
                    other => other?,
                }
                Ok((connection.affected_rows() > 0).then(|| connection.last_insert_id()))
            })
        });
        match written {
            Ok(Some(now_ms)) => {
                self.clock.saw(now_ms as i64);
                Ok(Put::Written(Version(bytes.to_vec())))
            }
            Ok(None) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let select = format!("SELECT name, record FROM {} WHERE LEFT(name, CHAR_LENGTH(?)) = ?", self.table);
        let rows: Vec<(String, Vec<u8>)> =
            self.run(|connection| connection.exec(&select, (prefix, prefix))).map_err(Failure::into_error)?;
        Ok(rows.into_iter().map(|(name, record)| (name, Record::compared_by_bytes(record))).collect())
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.clock.now_ms().is_none() {
            self.read("clock")?;
        }
        Ok(self.clock.now_ms())
    }

    fn may_lose_writes(&self) -> bool {
        self.may_lose_writes
    }

    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        // One statement takes the numbers and returns their end: no transaction stays open, and nothing is read in
        // between.
        let update = "UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + ?) WHERE biz_tag = ? AND max_id >= ?";
        let found: Option<(i64, i64)> = self
            .run_on_tags(|connection| {
                connection.exec_first("SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?", (tag,))
            })
            .map_err(Failure::into_error)?
            .flatten();
        let Some((number, step)) = found else { return Ok(Taken::NoTag) };
        let number = leaf::number(&self.address, "max_id", number).map_err(Failure::into_error)?;
        let step = leaf::number(&self.address, "step", step).map_err(Failure::into_error)?;
        let count = match tag::count(number, step, count, seen) {
            Ok(count) => count,
            Err(taken) => return Ok(taken),
        };
        let end = self
            .run_on_tags(|connection| {
                connection.exec_drop(update, (count, tag, seen))?;
                Ok((connection.affected_rows() > 0).then(|| connection.last_insert_id()))
            })
            .map_err(Failure::into_error)?
            .flatten();
        Ok(end.map_or(Taken::WentDown { number }, |end| Taken::below(end, count, step)))
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        let insert = leaf::insert(tag, step);
        let made = self.run_on_tags(|connection| {
            connection.query_drop(leaf::CREATE)?;
            match connection.query_drop(&insert) {
                Err(Error::MySqlError(error)) if error.code == DUPLICATE_KEY => Ok(()),
                other => other,
            }
        });
        made.map(drop).map_err(Failure::into_error)
    }

    fn number(&mut self, from: Numbering, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        if from != Numbering::WorkerNode {
            return Err(self.address.misconfigured(format_args!("{} is not in MySQL", from.place())));
        }
        let (insert, columns) = (numbering::insert("?", "?"), numbering::host_and_port(owner, group));
        let given = self.run_on(WORKER_NODE, |connection| {
            let highest: Option<Option<u64>> = connection.query_first("SELECT MAX(ID) FROM WORKER_NODE")?;
            if highest.flatten().is_some_and(|highest| highest >= last) {
                return Ok(None);
            }
            connection.exec_drop(&insert, columns.clone())?;
            Ok(Some(connection.last_insert_id()))
        });
        let given = given.map_err(Failure::into_error)?.ok_or_else(|| numbering::no_table(&self.address))?;
        Ok(given.filter(|node| *node <= last).map_or(Numbered::UsedUp, Numbered::Node))
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        leaf::how_to_create(tag, step)
    }

    fn damaged(&self, what: &str) -> StoreError {
        self.address.damaged(what)
    }
}
