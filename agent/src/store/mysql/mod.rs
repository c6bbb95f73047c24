//! MySQL and MariaDB: one table.

mod password;
mod wire;

use std::io;

use self::wire::{Answer, Connection, Error, Login, literal};
use super::address::Address;
use super::clock::StoreClock;
use super::contract::{Numbers, Show, Store, Tags};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{Listing, PART, record};
use super::numbering::{self, WORKER_NODE};
use super::remote::{Remote, Transport, Wire};
use super::tls::{IN_CLEAR, Tls};
use super::url::{Host, Secret, StoreUrl};
use super::{leaf, sql, tag};
use txid_agent_machines::store::{Expected, Numbered, Put, Record, StoreError, Taken, Version};

const NOW_MS: &str = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";
const NO_SUCH_TABLE: u16 = 1146;
const DUPLICATE_KEY: u16 = 1062;
const UNKNOWN_VARIABLE: u16 = 1193;

type Conn = Connection<Wire<Transport>>;

/// When other servers have what one has confirmed.
#[derive(Clone, Copy)]
enum Copies {
    /// Before it is confirmed, as in a cluster.
    Same,
    /// Later: there are several servers in the URL.
    Late,
    /// Later, if there are replicas.
    AsSeen,
}

pub(super) struct MysqlStore {
    address: Address,
    hosts: Vec<Host>,
    user: String,
    password: Option<Secret>,
    database: String,
    tls: Option<Tls>,
    table: String,
    remote: Remote,
    connection: Option<Conn>,
    copies: Copies,
    durability: Durability,
    clock: StoreClock,
}

impl MysqlStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["table"])?;
        let (user, database) = sql::database(&url)?;
        Ok(Self {
            user: user.to_owned(),
            database: database.to_owned(),
            table: sql::table(&url)?,
            durability: url.durability()?,
            remote: Remote::new(&url.address)?,
            address: url.address,
            hosts: url.hosts,
            password: url.password,
            tls: url.tls,
            connection: None,
            copies: Copies::AsSeen,
            clock: StoreClock::default(),
        })
    }

    fn connect(&mut self) -> Result<Conn, StoreError> {
        let mut hosts = std::mem::take(&mut self.hosts);
        let has_several = hosts.len() > 1;
        let connected = self.remote.connect(&mut hosts, async |host| self.connect_to(host, has_several).await);
        self.hosts = hosts;
        let (connection, durability, copies) = connected?;
        self.durability.learn(durability);
        self.copies = copies;
        Ok(connection)
    }

    async fn connect_to(&self, host: &Host, has_several: bool) -> Result<(Conn, Durability, Copies), StoreError> {
        let address = &self.address;
        let say = |error| self.say_no_connection(host, error);
        let mut connection = Connection::new(Wire::connect(address, host, None).await?);
        let greeting = connection.greeting().await.map_err(say)?;
        if let Some(tls) = &self.tls {
            if !connection.ask_for_tls(&greeting).await.map_err(say)? {
                return Err(address.misconfigured("this server does not support TLS"));
            }
            connection = connection.over(async |wire: Wire<_>| wire.secure(address, host, tls).await).await?;
        }
        let password = self.password.as_ref().map_or("", Secret::reveal);
        let login = Login { user: &self.user, password, database: &self.database };
        connection.log_in(&greeting, &login, self.tls.is_some()).await.map_err(say)?;
        // A time zone without daylight saving time; no waiting for a lock after this client has given up; and an error
        // instead of another value where a column is too small.
        let patience = address.timeout.as_secs().max(1);
        let set = format!(
            "SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = {patience}, \
             sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')"
        );
        connection.query(&set).await.map_err(say)?;
        let settings = format!("SELECT {}, @@global.read_only + 0", settings(&self.table));
        let settings = connection.query(&settings).await.map_err(say)?.rows.into_iter().next().unwrap_or_default();
        if sql::parse(settings.get(SETTINGS)) == Some(1) {
            return Err(address.unreachable(format_args!("{host} is a replica, but the primary is needed")));
        }
        let mut has_cluster = false;
        for (name, sets) in [
            // A Galera node then answers a read only after it has received everything that the other nodes have.
            ("wsrep_on", Some("SET SESSION wsrep_sync_wait = 1")),
            ("group_replication_group_name", None),
        ] {
            let value = match connection.query(&format!("SELECT @@global.{name}")).await {
                Err(Error::Server { code: UNKNOWN_VARIABLE, .. }) => continue,
                other => other.map_err(say)?,
            };
            let value = value.rows.first().and_then(|row| row.first()).and_then(sql::shown).unwrap_or_default();
            if !["", "0", "OFF"].contains(&value.as_str()) {
                has_cluster = true;
                if let Some(sets) = sets {
                    connection.query(sets).await.map_err(say)?;
                }
            }
        }
        let copies = match has_cluster {
            true => Copies::Same,
            false if has_several => Copies::Late,
            false => Copies::AsSeen,
        };
        Ok((connection, durability(&settings, &self.table, copies), copies))
    }

    /// Runs one statement. If the table is missing, makes it first.
    fn run(&mut self, statement: &str) -> Result<Answer, Failure> {
        match self.run_on(&self.table.clone(), statement)? {
            Some(answer) => Ok(answer),
            None => {
                self.make_table().map_err(Failure::NotDone)?;
                self.run_on(&self.table.clone(), statement)?.ok_or_else(|| {
                    Failure::NotDone(self.address.misconfigured(format_args!("there is no table {}", self.table)))
                })
            }
        }
    }

    /// Runs a statement on a table. None if there is no such table. If a statement fails, the next access begins with
    /// another host.
    fn run_on(&mut self, table: &str, statement: &str) -> Result<Option<Answer>, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().map_err(Failure::NotDone)?,
        };
        connection.stream.renew();
        let result = match self.remote.run(connection.query(statement)) {
            None => Err(Failure::Unknown(self.address.timed_out())),
            Some(Err(Error::Server { code: NO_SUCH_TABLE, .. })) => Ok(None),
            // Its own kind of error, because a statement may expect it.
            Some(Err(Error::Server { code: DUPLICATE_KEY, .. })) => Ok(Some(Answer::default())),
            Some(Ok(answer)) => Ok(Some(answer)),
            Some(Err(error)) => Err(self.say(error, table)),
        };
        match &result {
            Ok(_) => self.connection = Some(connection),
            Err(_) => self.hosts.rotate_left(1),
        }
        result
    }

    fn make_table(&mut self) -> Result<(), StoreError> {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {} (name VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, record \
             VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, changed_ms BIGINT NOT NULL) ENGINE=InnoDB",
            self.table
        );
        self.run_on(&self.table.clone(), &create).map(drop).map_err(|failure| match failure.into_error() {
            StoreError::Refused { why, .. } => self.address.refused(format_args!(
                "{why}; let a user with the right to do so run this, and grant SELECT, INSERT and UPDATE on it: {create}"
            )),
            other => other,
        })
    }

    fn say_no_connection(&self, host: &Host, error: Error) -> StoreError {
        let address = &self.address;
        match error {
            Error::Server { code: 1044 | 1045 | 1698, message } => address.refused(format_args!("{message}; {LOGIN}")),
            Error::Server { code: 1049, message } => address.misconfigured(message),
            Error::InClear => address.misconfigured(IN_CLEAR),
            Error::Server { message, .. } => address.unreachable(format_args!("{host}: {message}")),
            Error::Io(error) => match error.kind() {
                io::ErrorKind::InvalidData => address.misconfigured(format_args!("the server is not MySQL: {error}")),
                io::ErrorKind::Unsupported => address.misconfigured(error),
                io::ErrorKind::UnexpectedEof => address.unreachable(format_args!("{host}: it closed the connection")),
                _ => address.unreachable(format_args!("{host}: {error}")),
            },
        }
    }

    fn say(&self, error: Error, table: &str) -> Failure {
        let address = &self.address;
        match error {
            Error::Server { code, message } => {
                match code {
                    1044 | 1142 | 1143 | 1227 | 1370 => Failure::NotDone(address.refused(format_args!(
                        "{message}; the user needs SELECT, INSERT and UPDATE on the table {table}"
                    ))),
                    1290 | 1836 => {
                        Failure::NotDone(address.unreachable("this server is a replica, but the primary is needed"))
                    }
                    // Lock time-out, deadlock, too many connections, disk full: rolled back.
                    1205 | 1213 | 1040 | 1021 | 1114 => Failure::NotDone(address.unreachable(message)),
                    // A value that the column cannot hold.
                    1264 | 1265 | 1366 | 1406 => {
                        Failure::NotDone(address.misconfigured(format_args!("the table {table}: {message}")))
                    }
                    1054 | 1064 | 1146 => Failure::NotDone(address.misconfigured(message)),
                    _ => Failure::Unknown(address.unreachable(message)),
                }
            }
            Error::InClear => Failure::NotDone(address.misconfigured(IN_CLEAR)),
            Error::Io(error) => Failure::Unknown(match error.kind() {
                io::ErrorKind::InvalidData => address.damaged(error),
                io::ErrorKind::UnexpectedEof => address.unreachable("it closed the connection"),
                _ => address.unreachable(error),
            }),
        }
    }
}

const LOGIN: &str = "give the user as mysql://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

/// The number of columns of `settings`.
const SETTINGS: usize = 5;

/// The columns that `durability` reads. A table that does not exist has no engine.
fn settings(table: &str) -> String {
    let (schema, name) = match table.split_once('.') {
        Some((schema, name)) => (format!("'{schema}'"), name),
        None => ("DATABASE()".to_owned(), table),
    };
    format!(
        "@@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog, (SELECT COUNT(*) FROM \
         information_schema.processlist WHERE command LIKE 'Binlog Dump%'), (SELECT engine FROM \
         information_schema.tables WHERE table_schema = {schema} AND table_name = '{name}')"
    )
}

fn durability(settings: &[sql::Value], table: &str, copies: Copies) -> Durability {
    let setting = |at: usize| settings.get(at).and_then(sql::shown);
    let [flush, log, sync, replicas] = [0, 1, 2, 3].map(|at| setting(at).unwrap_or_default());
    // The servers of a cluster may all crash at once, and then what each has written counts.
    match (setting(4), copies) {
        (Some(engine), _) if !engine.eq_ignore_ascii_case("InnoDB") => {
            Durability::may_lose(&format!("the table {table} has the engine {engine}"))
        }
        _ if flush != "1" => Durability::may_lose(&format!("innodb_flush_log_at_trx_commit = {flush}")),
        _ if log == "1" && sync != "1" => Durability::may_lose(&format!("sync_binlog = {sync}")),
        (_, Copies::Late) => Durability::may_lose(LATE),
        (_, Copies::AsSeen) if replicas != "0" => Durability::may_lose(LATE),
        _ => Durability::Kept,
    }
}

const LATE: &str = "it has replicas, which may lag behind";

impl Store for MysqlStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.remote.begin();
        let select = format!(
            "SELECT {NOW_MS}, name, record FROM (SELECT 1) one LEFT JOIN {} ON name = {}",
            self.table,
            literal(key)
        );
        let answer = self.run(&select).map_err(Failure::into_error)?;
        let row = answer.rows.into_iter().next().unwrap_or_default();
        let now_ms = sql::parse(row.first()).ok_or_else(|| self.address.damaged("it does not tell its time"))?;
        self.clock.saw(now_ms);
        sql::found(&self.address, &self.table, key, row)?.map(|bytes| record(&self.address, key, bytes)).transpose()
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.remote.begin();
        let (table, name) = (&self.table, literal(key));
        // LAST_INSERT_ID(ms) returns the server's time with the answer to an UPDATE.
        let prepared = sql::text(&self.address, bytes).and_then(|new| {
            let new = literal(new);
            Ok(match expected {
                Expected::Absent => {
                    format!(
                        "INSERT INTO {table} SET name = {name}, record = {new}, changed_ms = LAST_INSERT_ID({NOW_MS})"
                    )
                }
                // The bytes are those that reading returned, whatever the column's character set is.
                Expected::Version(old) => format!(
                    "UPDATE {table} SET record = {new}, changed_ms = LAST_INSERT_ID({NOW_MS}) WHERE name = {name} AND \
                     CAST(CONVERT(record USING utf8mb4) AS BINARY) = CAST({} AS BINARY)",
                    literal(sql::text(&self.address, &old.0)?)
                ),
            })
        });
        match prepared.and_then(|statement| self.run(&statement)) {
            Ok(Answer { affected: 0, .. }) => Ok(Put::Conflict),
            Ok(Answer { last_id, .. }) => {
                self.clock.saw(i64::try_from(last_id).unwrap_or(0));
                Ok(Put::Written(Version(bytes.to_vec())))
            }
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let mut listing = Listing::begin();
        let prefix = literal(prefix);
        let mut after = String::new();
        loop {
            self.remote.begin();
            let select = format!(
                "SELECT name, record FROM {} WHERE LEFT(name, CHAR_LENGTH({prefix})) = {prefix}{after} ORDER BY name LIMIT \
                 {PART}",
                self.table
            );
            let rows = self.run(&select).map_err(Failure::into_error)?.rows;
            listing.add(&self.address, rows.len())?;
            let Some(last) = sql::listed(&self.address, &self.table, rows, show)? else { return Ok(()) };
            after = format!(" AND name > {}", literal(&last));
        }
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.clock.now_ms().is_none() {
            self.read("clock")?;
        }
        Ok(self.clock.now_ms())
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

impl Tags for MysqlStore {
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        self.remote.begin();
        let settings = settings(leaf::TABLE);
        let select = format!("SELECT max_id, step, {settings} FROM leaf_alloc WHERE biz_tag = {}", literal(tag));
        let found = self.run_on(leaf::TABLE, &select).map_err(Failure::into_error)?;
        let Some(row) = found.and_then(|answer| answer.rows.into_iter().next()) else { return Ok(Taken::NoTag) };
        self.durability.learn(durability(row.get(2..).unwrap_or_default(), leaf::TABLE, self.copies));
        let (number, step) = leaf::numbers(&self.address, tag, &row)?;
        let count = match tag::count(number, step, count, seen) {
            Ok(count) => count,
            Err(taken) => return Ok(taken),
        };
        // One statement takes the numbers and returns their end: no transaction stays open, and nothing is read in
        // between.
        let update = format!(
            "UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + {count}) WHERE biz_tag = {} AND max_id >= {seen}",
            literal(tag)
        );
        match self.run_on(leaf::TABLE, &update).map_err(Failure::into_error)? {
            None => Ok(Taken::NoTag),
            Some(Answer { affected: 0, .. }) => Ok(Taken::WentDown { number }),
            Some(Answer { last_id, .. }) => tag::taken(&self.address, tag, last_id, count, step),
        }
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.remote.begin();
        // By default, the engine may be one that forgets.
        for statement in [format!("{} ENGINE=InnoDB", leaf::CREATE), leaf::insert(tag, step)] {
            self.run_on(leaf::TABLE, &statement).map_err(Failure::into_error)?;
        }
        Ok(())
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        leaf::how_to_create(tag, step, " ENGINE=InnoDB")
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

impl Numbers for MysqlStore {
    fn number(&mut self, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        self.remote.begin();
        let (host, port) = numbering::host_and_port(owner, group);
        let address = self.address.clone();
        let mut run = |statement: &str| -> Result<Answer, StoreError> {
            let answer = self.run_on(WORKER_NODE, statement).map_err(Failure::into_error)?;
            answer.ok_or_else(|| numbering::no_table(&address))
        };
        let highest = run("SELECT MAX(ID) FROM WORKER_NODE")?;
        let highest: Option<u64> = sql::parse(highest.rows.first().and_then(|row| row.first()));
        if highest.is_some_and(|highest| highest >= last) {
            return Ok(Numbered::UsedUp);
        }
        let given = run(&numbering::insert(&literal(&host), &literal(&port)))?.last_id;
        Ok(Some(given).filter(|node| *node <= last).map_or(Numbered::UsedUp, Numbered::Node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(kind: io::ErrorKind) -> Error {
        Error::Io(io::Error::new(kind, "it says so"))
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = MysqlStore::open(StoreUrl::parse("mysql://user@127.0.0.1/ids").unwrap()).unwrap();
        let of = |code| store.say(Error::Server { code, message: "why".to_owned() }, "leases");
        for code in [1044, 1142, 1143, 1227, 1370] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Refused { .. })), "{code}");
        }
        // Read-only servers and transactions, and what passes.
        for code in [1290, 1836, 1205, 1213, 1040, 1021, 1114] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Unreachable { .. })), "{code}");
        }
        // Values that do not fit, and tables that are not ours.
        for code in [1264, 1265, 1366, 1406, 1054, 1064, 1146] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Misconfigured { .. })), "{code}");
        }
        // It was ended, or shuts down; a disk or the engine fails.
        for code in [1317, 1053, 1927, 1030, 1180] {
            assert!(matches!(of(code), Failure::Unknown(StoreError::Unreachable { .. })), "{code}");
        }
        for (kind, wanted) in [
            (io::ErrorKind::InvalidData, "gave an invalid answer: it says so"),
            (io::ErrorKind::UnexpectedEof, "it closed the connection"),
            (io::ErrorKind::ConnectionReset, "cannot reach mysql://user@127.0.0.1/ids: it says so"),
        ] {
            let failure = store.say(io(kind), "leases");
            assert!(matches!(failure, Failure::Unknown(_)), "{kind}");
            let said = failure.into_error().to_string();
            assert!(said.contains(wanted), "{said}");
        }
        assert!(of(1290).into_error().to_string().contains("the primary is needed"));
        assert!(
            of(1142).into_error().to_string().contains("the user needs SELECT, INSERT and UPDATE on the table leases")
        );
    }

    #[test]
    fn what_keeps_a_connection_from_being_made() {
        const HOST: &str = "cannot reach mysql://txid@10.0.0.5/ids: 10.0.0.5:3306: ";
        let server = |code| Error::Server { code, message: "it says so".to_owned() };
        let store = MysqlStore::open(StoreUrl::parse("mysql://txid@10.0.0.5/ids").unwrap()).unwrap();
        for (error, start, end) in [
            (server(1045), "refused", LOGIN),
            (server(1044), "refused", LOGIN),
            (server(1698), "refused", LOGIN),
            (server(1049), "cannot be used", ": it says so"),
            (server(1040), HOST, ": it says so"),
            (Error::InClear, "cannot be used", IN_CLEAR),
            (io(io::ErrorKind::InvalidData), "cannot be used", ": the server is not MySQL: it says so"),
            (io(io::ErrorKind::Unsupported), "cannot be used: it says so", ""),
            (io(io::ErrorKind::UnexpectedEof), HOST, ": it closed the connection"),
            (io(io::ErrorKind::ConnectionReset), HOST, ": it says so"),
        ] {
            let said = store.say_no_connection(&store.hosts[0], error).to_string();
            assert!(said.contains(start) && said.ends_with(end), "{said}");
        }
    }

    #[test]
    fn which_settings_lose_writes() {
        use Copies::{AsSeen, Late, Same};
        for (settings, engine, copies, wanted) in [
            (["1", "0", "0", "0"], Some("InnoDB"), AsSeen, None),
            (["1", "0", "0", "0"], Some("innodb"), Same, None),
            (["1", "1", "1", "0"], None, AsSeen, None),
            (["1", "1", "1", "2"], None, Same, None),
            (["1", "0", "0", "0"], None, Late, Some(LATE)),
            (["1", "0", "0", "2"], None, AsSeen, Some(LATE)),
            (["1", "0", "0", "0"], Some("Aria"), Same, Some("the table t has the engine Aria")),
            (["2", "0", "0", "0"], None, Same, Some("innodb_flush_log_at_trx_commit = 2")),
            (["1", "1", "0", "0"], None, Same, Some("sync_binlog = 0")),
        ] {
            let mut row: Vec<_> = settings.map(|text| Some(text.as_bytes().to_vec())).to_vec();
            row.push(engine.map(|name| name.as_bytes().to_vec()));
            assert_eq!(durability(&row, "t", copies).why(), wanted, "{settings:?} {engine:?}");
        }
        assert!(durability(&[], "t", AsSeen).may_lose_writes());
    }
}
