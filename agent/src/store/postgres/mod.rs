//! PostgreSQL: one table.

mod plain;

use std::error::Error as _;
use std::io;

use futures_util::TryStreamExt;
use postgres_protocol::escape::escape_literal as literal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;
use txid_agent_machines::store::{Expected, Numbered, Put, Record, StoreError, Taken, Version};

use self::plain::Plain;
use super::address::Address;
use super::clock::StoreClock;
use super::contract::{Numbers, Show, Store, Tags};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{Listing, PART, Room, record};
use super::numbering::{self, WORKER_NODE};
use super::remote::{Budget, Remote, Wire, causes, tcp};
use super::tls::{IN_CLEAR, Tls};
use super::url::{Host, StoreUrl};
use super::{leaf, sql, tag};

const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";

type Row = Vec<sql::Value>;

pub(super) struct PostgresStore {
    address: Address,
    hosts: Vec<Host>,
    /// Everything but the hosts.
    config: Config,
    tls: Option<Tls>,
    /// Whether a server without TLS gets the password if it asks for it.
    in_clear: bool,
    table: String,
    remote: Remote,
    client: Option<Client>,
    /// Of the client's connection.
    budget: Budget,
    durability: Durability,
    clock: StoreClock,
}

impl PostgresStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["table", "password-in-clear"])?;
        let (user, database) = sql::database(&url)?;
        let address = url.address.clone();
        let mut config = Config::new();
        config
            .user(user)
            .dbname(database)
            .application_name("txid-agent")
            // The server gives up when this client does, so that little is done afterwards.
            .options(format!("-c statement_timeout={}", address.timeout.as_millis()))
            .ssl_mode(if url.tls.is_some() { SslMode::Require } else { SslMode::Disable });
        if let Some(password) = &url.password {
            config.password(password.reveal());
        }
        Ok(Self {
            table: sql::table(&url)?,
            in_clear: url.flag("password-in-clear")?.unwrap_or(false),
            durability: url.durability()?,
            remote: Remote::new(&address)?,
            hosts: url.hosts,
            tls: url.tls,
            address,
            config,
            client: None,
            budget: Budget::default(),
            clock: StoreClock::default(),
        })
    }

    /// Connects to the first host that is not a replica.
    fn connect(&mut self) -> Result<Client, StoreError> {
        let mut hosts = std::mem::take(&mut self.hosts);
        let has_several = hosts.len() > 1;
        let connected = self.remote.connect(&mut hosts, async |host| self.connect_to(host, has_several).await);
        self.hosts = hosts;
        let (client, budget, durability) = connected?;
        self.durability.learn(durability);
        self.budget = budget;
        Ok(client)
    }

    async fn connect_to(&self, host: &Host, has_several: bool) -> Result<(Client, Budget, Durability), StoreError> {
        let budget = Budget::default();
        let client = match &self.tls {
            None if self.in_clear => self.log_in(host, self.wire(host, &budget).await?, NoTls).await?,
            None => self.log_in(host, Plain::new(self.wire(host, &budget).await?), NoTls).await?,
            Some(tls) => {
                let mut connector = MakeRustlsConnect::new(tls.config(&self.address)?);
                let connector = MakeTlsConnect::<Wire<TcpStream>>::make_tls_connect(&mut connector, &host.name);
                let connector = connector.map_err(|error| self.address.misconfigured(error))?;
                self.log_in(host, self.wire(host, &budget).await?, connector).await?
            }
        };
        let settings = format!("SELECT {}, current_setting('transaction_read_only')", settings(&self.table));
        let rows = query(&client, &settings).await.map_err(|trouble| match trouble {
            Trouble::Driver(error) => self.say_no_connection(host, &error),
            Trouble::TooLarge(error) => self.address.damaged(error),
        })?;
        let row = rows.into_iter().next().unwrap_or_default();
        if row.get(SETTINGS).and_then(sql::shown).as_deref() == Some("on") {
            return Err(self.address.unreachable(format_args!("{host} is a replica, but the primary is needed")));
        }
        Ok((client, budget, durability(&row, &self.table, has_several)))
    }

    async fn wire(&self, host: &Host, budget: &Budget) -> Result<Wire<TcpStream>, StoreError> {
        Ok(Wire::new(tcp(&self.address, host).await?, budget.clone(), self.address.sent.clone()))
    }

    async fn log_in<S, T>(&self, host: &Host, wire: S, tls: T) -> Result<Client, StoreError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: TlsConnect<S>,
        T::Stream: Send + 'static,
    {
        let connected = self.config.connect_raw(wire, tls).await;
        let (client, connection) = connected.map_err(|error| self.say_no_connection(host, &error))?;
        // It ends when the client is dropped or the server is gone.
        tokio::spawn(async move { connection.await.ok() });
        Ok(client)
    }

    /// Runs one statement. If the table is missing, makes it first.
    fn run(&mut self, statement: &str) -> Result<Vec<Row>, Failure> {
        let table = self.table.clone();
        if let Some(rows) = self.run_on(&table, statement)? {
            return Ok(rows);
        }
        self.make_table().map_err(Failure::NotDone)?;
        self.run_on(&table, statement)?
            .ok_or_else(|| Failure::NotDone(self.address.misconfigured(format_args!("there is no table {table}"))))
    }

    fn make_table(&mut self) -> Result<(), StoreError> {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, record text NOT NULL, changed timestamptz NOT NULL)",
            self.table
        );
        match self.run_on(&self.table.clone(), &create).map_err(Failure::into_error) {
            Err(StoreError::Refused { why, .. }) => Err(self.address.refused(format_args!(
                "{why}; let a user with the right to do so run this, and grant SELECT, INSERT and UPDATE on it: {create}"
            ))),
            // Another client may have made it at the same time.
            Ok(_) | Err(StoreError::Misconfigured { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Runs a statement on a table. None if there is no such table.
    fn run_on(&mut self, table: &str, statement: &str) -> Result<Option<Vec<Row>>, Failure> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => self.connect().map_err(Failure::NotDone)?,
        };
        self.budget.renew();
        let result = match self.remote.run(query(&client, statement)) {
            None => Err(Failure::Unknown(self.address.timed_out())),
            Some(Ok(rows)) => Ok(Some(rows)),
            Some(Err(Trouble::Driver(error))) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
            Some(Err(Trouble::Driver(error))) => Err(self.say(&error, table)),
            Some(Err(Trouble::TooLarge(error))) => Err(Failure::Unknown(self.address.damaged(error))),
        };
        match &result {
            Ok(_) => self.client = Some(client),
            // The next access begins with another host.
            Err(_) => self.hosts.rotate_left(1),
        }
        result
    }

    /// What a failed connection means.
    fn say_no_connection(&self, host: &Host, error: &Error) -> StoreError {
        let address = &self.address;
        let why = causes(error);
        if let Some(code) = error.code() {
            return match code.code() {
                "28P01" | "28000" => address.refused(format_args!("{why}; {LOGIN}")),
                "08P01" if why.contains("startup parameter") => {
                    address.misconfigured(format_args!("{why}; PgBouncer needs ignore_startup_parameters = options"))
                }
                code if code.starts_with("57P") || code.starts_with("53") => address.unreachable(why),
                _ => address.misconfigured(why),
            };
        }
        if why.contains("password missing") {
            return address.refused(format_args!("it requires a password; {LOGIN}"));
        }
        match error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind) {
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => address.misconfigured(why),
            Some(io::ErrorKind::PermissionDenied) => address.misconfigured(format_args!(
                "{IN_CLEAR}; password-in-clear=1 sends it without, to anybody between the hosts as well"
            )),
            Some(_) => address.unreachable(format_args!("{host}: {why}")),
            None if error.is_closed() => address.unreachable(format_args!("{host}: {why}")),
            None => address.misconfigured(why),
        }
    }

    /// What a failed statement means.
    fn say(&self, error: &Error, table: &str) -> Failure {
        let why = causes(error);
        match error.code() {
            Some(code) => self.say_code(code.code(), why, table),
            None => Failure::Unknown(self.address.unreachable(why)),
        }
    }

    fn say_code(&self, code: &str, why: String, table: &str) -> Failure {
        let address = &self.address;
        match code {
            "42501" => Failure::NotDone(
                address.refused(format_args!("{why}; the user needs SELECT, INSERT and UPDATE on the table {table}")),
            ),
            "25006" => Failure::NotDone(address.unreachable("this server is a replica, but the primary is needed")),
            // Deadlock, serialization failure, lock time-out: rolled back.
            "40P01" | "40001" | "55P03" => Failure::NotDone(address.unreachable(why)),
            // Shutting down, cancelled, out of resources, connection trouble.
            code if ["57", "53", "08", "40"].iter().any(|class| code.starts_with(class)) => {
                Failure::Unknown(address.unreachable(why))
            }
            _ => Failure::NotDone(address.misconfigured(why)),
        }
    }
}

/// Why a statement has no rows.
enum Trouble {
    /// The driver or the server says so.
    Driver(Error),
    /// They take too much memory.
    TooLarge(io::Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::TooLarge(error)
    }
}

/// Runs a statement with the simple protocol, in which all values are texts.
///
/// For other protocols, the driver asks the server about each type that it does not know, and about the types of the
/// answer to that: a server could let it ask until the stack ends.
async fn query(client: &Client, statement: &str) -> Result<Vec<Row>, Trouble> {
    let mut messages = std::pin::pin!(client.simple_query_raw(statement).await?);
    let mut rows = Vec::new();
    let mut room = Room::default();
    while let Some(message) = messages.try_next().await? {
        if let SimpleQueryMessage::Row(row) = message {
            room.take(0)?;
            rows.push(values(&row, &mut room)?);
        }
    }
    Ok(rows)
}

const LOGIN: &str =
    "give the user as postgres://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

fn values(row: &SimpleQueryRow, room: &mut Room) -> io::Result<Row> {
    // A text that is not UTF-8, as a database of the encoding SQL_ASCII may have it, is no record of ours.
    let value = |at| {
        let text = row.try_get(at).unwrap_or(Some("(not UTF-8)"));
        room.take(text.map_or(0, str::len))?;
        Ok(text.map(|text| text.as_bytes().to_vec()))
    };
    (0..row.len()).map(value).collect()
}

/// The number of columns of `settings`.
const SETTINGS: usize = 5;

/// The columns that `durability` reads. A table that does not exist is of no kind.
fn settings(table: &str) -> String {
    format!(
        "current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
         (SELECT count(*) FROM pg_stat_replication), (SELECT relpersistence FROM pg_class WHERE oid = \
         to_regclass('{table}'))"
    )
}

fn durability(settings: &[sql::Value], table: &str, has_several: bool) -> Durability {
    let [fsync, commit, standby, replicas, kind] =
        [0, 1, 2, 3, 4].map(|at| settings.get(at).and_then(sql::shown).unwrap_or_default());
    match (fsync.as_str(), commit.as_str(), standby.as_str(), replicas.as_str()) {
        _ if kind == "u" => Durability::may_lose(&format!("the table {table} is UNLOGGED")),
        ("on", "off", ..) => Durability::may_lose("synchronous_commit = off"),
        ("on", _, "", "0") if !has_several => Durability::Kept,
        ("on", _, "", _) => Durability::may_lose("it has replicas, and synchronous_standby_names is empty"),
        ("on", "local", ..) => Durability::may_lose("synchronous_commit = local, and it has replicas"),
        ("on", ..) => Durability::Kept,
        (fsync, ..) => Durability::may_lose(&format!("fsync = {fsync}")),
    }
}

impl Store for PostgresStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.remote.begin();
        let (table, name) = (&self.table, literal(key));
        let select = format!("SELECT {NOW_MS}, name, record FROM (SELECT 1) one LEFT JOIN {table} ON name = {name}");
        let row = self.run(&select).map_err(Failure::into_error)?.into_iter().next().unwrap_or_default();
        let now_ms = sql::parse(row.first()).ok_or_else(|| self.address.damaged("it does not tell its time"))?;
        self.clock.saw(now_ms);
        sql::found(&self.address, &self.table, key, row)?.map(|bytes| record(&self.address, key, bytes)).transpose()
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.remote.begin();
        let (table, name) = (&self.table, literal(key));
        let prepared = sql::text(&self.address, bytes).and_then(|new| {
            let new = literal(new);
            Ok(match expected {
                Expected::Absent => format!(
                    "INSERT INTO {table} (name, record, changed) VALUES ({name}, {new}, clock_timestamp()) ON CONFLICT DO \
                     NOTHING RETURNING {NOW_MS}"
                ),
                Expected::Version(old) => format!(
                    "UPDATE {table} SET record = {new}, changed = clock_timestamp() WHERE name = {name} AND record = {} \
                     RETURNING {NOW_MS}",
                    literal(sql::text(&self.address, &old.0)?)
                ),
            })
        });
        match prepared.and_then(|statement| self.run(&statement)) {
            Ok(rows) => Ok(match rows.first() {
                Some(row) => {
                    self.clock.saw(sql::parse(row.first()).unwrap_or(0));
                    Put::Written(Version(bytes.to_vec()))
                }
                None => Put::Conflict,
            }),
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
                "SELECT name, record FROM {} WHERE starts_with(name, {prefix}){after} ORDER BY name LIMIT {PART}",
                self.table
            );
            let rows = self.run(&select).map_err(Failure::into_error)?;
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

impl Tags for PostgresStore {
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        self.remote.begin();
        let name = literal(tag);
        let step = count.map_or("step".to_owned(), |count| count.to_string());
        let update = format!(
            "UPDATE leaf_alloc SET max_id = max_id + {step}, update_time = now() WHERE biz_tag = {name} AND max_id >= {seen} \
             AND step >= 0 RETURNING max_id, step, {step}, {}",
            settings(leaf::TABLE)
        );
        let rows = self.run_on(leaf::TABLE, &update).map_err(Failure::into_error)?;
        if let Some(row) = rows.and_then(|rows| rows.into_iter().next()) {
            let (end, step) = leaf::numbers(&self.address, tag, &row)?;
            let count = leaf::number(&self.address, tag, "step", row.get(2))?;
            let has_several = self.hosts.len() > 1;
            self.durability.learn(durability(row.get(3..).unwrap_or_default(), leaf::TABLE, has_several));
            return tag::taken(&self.address, tag, end, count, step);
        }
        let select = format!("SELECT max_id, step FROM leaf_alloc WHERE biz_tag = {name}");
        let rows = self.run_on(leaf::TABLE, &select).map_err(Failure::into_error)?;
        let Some(row) = rows.and_then(|rows| rows.into_iter().next()) else { return Ok(Taken::NoTag) };
        let (number, _) = leaf::numbers(&self.address, tag, &row)?;
        Ok(Taken::WentDown { number })
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.remote.begin();
        for statement in [leaf::CREATE.to_owned(), format!("{} ON CONFLICT DO NOTHING", leaf::insert(tag, step))] {
            self.run_on(leaf::TABLE, &statement).map_err(Failure::into_error)?;
        }
        Ok(())
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        leaf::how_to_create(tag, step, "")
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

impl Numbers for PostgresStore {
    fn number(&mut self, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        self.remote.begin();
        let (host, port) = numbering::host_and_port(owner, group);
        let insert = format!("{} RETURNING ID", numbering::insert(&literal(&host), &literal(&port)));
        let address = self.address.clone();
        let mut run = |statement: &str| -> Result<Option<u64>, StoreError> {
            let rows = self.run_on(WORKER_NODE, statement).map_err(Failure::into_error)?;
            let rows = rows.ok_or_else(|| numbering::no_table(&address))?;
            Ok(sql::parse(rows.first().and_then(|row| row.first())))
        };
        if run("SELECT max(ID) FROM WORKER_NODE")?.is_some_and(|highest| highest >= last) {
            return Ok(Numbered::UsedUp);
        }
        Ok(run(&insert)?.filter(|node| *node <= last).map_or(Numbered::UsedUp, Numbered::Node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    /// What the driver makes of a server that answers with this.
    fn error(answer: &[u8]) -> Error {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(4096);
            theirs.write_all(answer).await.unwrap();
            theirs.shutdown().await.unwrap();
            match Config::new().user("txid").connect_raw(ours, NoTls).await {
                Err(error) => error,
                Ok(_) => panic!("that is a login"),
            }
        })
    }

    fn server(code: &str, message: &str) -> Error {
        let fields = format!("SERROR\0C{code}\0M{message}\0\0");
        error(&[b"E", &(fields.len() as u32 + 4).to_be_bytes()[..], fields.as_bytes()].concat())
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = PostgresStore::open(StoreUrl::parse("postgres://user@127.0.0.1/ids").unwrap()).unwrap();
        let of = |code| store.say_code(code, "why".to_owned(), "leases");
        assert!(matches!(of("42501"), Failure::NotDone(StoreError::Refused { .. })));
        for code in ["25006", "40P01", "40001", "55P03"] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Unreachable { .. })), "{code}");
        }
        for code in ["22001", "22021", "23514", "42703"] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Misconfigured { .. })), "{code}");
        }
        // Of the class of deadlocks, the completion of a statement is unknown; a server that shuts down, is full, or lost
        // the connection may have committed.
        for code in ["40003", "57014", "57P01", "53100", "53200", "08006"] {
            assert!(matches!(of(code), Failure::Unknown(StoreError::Unreachable { .. })), "{code}");
        }
        assert!(of("25006").into_error().to_string().contains("the primary is needed"));
    }

    #[test]
    fn a_store_keeps_what_the_replicas_have_before_it_is_confirmed() {
        let why = |settings: [&str; 5], has_several| {
            let settings = settings.map(|value| Some(value.as_bytes().to_vec()));
            durability(&settings, "leases", has_several).why().map(str::to_owned)
        };
        let empty = "it has replicas, and synchronous_standby_names is empty";
        let local = "synchronous_commit = local, and it has replicas";
        // fsync, synchronous_commit, synchronous_standby_names, the number of replicas, and the kind of the table.
        for (settings, has_several, wanted) in [
            (["on", "on", "", "0", "p"], false, None),
            (["on", "local", "", "0", "p"], false, None),
            (["on", "on", "", "0", "p"], true, Some(empty)),
            (["on", "on", "", "1", "p"], false, Some(empty)),
            (["on", "on", "ANY 1 (a, b)", "2", "p"], false, None),
            (["on", "remote_apply", "a", "1", "p"], true, None),
            (["on", "local", "a", "1", "p"], true, Some(local)),
            (["on", "off", "a", "1", "p"], true, Some("synchronous_commit = off")),
            (["off", "on", "a", "1", "p"], true, Some("fsync = off")),
            (["on", "on", "a", "1", "u"], true, Some("the table leases is UNLOGGED")),
        ] {
            assert_eq!(why(settings, has_several).as_deref(), wanted, "{settings:?} {has_several}");
        }
    }

    #[test]
    fn what_keeps_a_connection_from_being_made() {
        const HOST: &str = "cannot reach postgres://txid@10.0.0.5/ids: 10.0.0.5:5432: ";
        let store = PostgresStore::open(StoreUrl::parse("postgres://txid@10.0.0.5/ids").unwrap()).unwrap();
        for (error, start, end) in [
            (server("28P01", "it says so"), "refused", LOGIN),
            (server("28000", "it says so"), "refused", LOGIN),
            (
                server("08P01", "unsupported startup parameter: options"),
                "cannot be used",
                "ignore_startup_parameters = options",
            ),
            (server("08P01", "it says so"), "cannot be used", "it says so"),
            (server("3D000", "it says so"), "cannot be used", "it says so"),
            (server("57P03", "it says so"), "cannot reach", "it says so"),
            (server("53300", "it says so"), "cannot reach", "it says so"),
            // A password of the kind SCRAM-SHA-256, and none is known.
            (error(b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"), "refused", LOGIN),
            (error(b""), HOST, ""),
            // No message of PostgreSQL, and one that has no place there.
            (error(b"~\0\0\0\x04"), "cannot be used", "unknown message tag `126`"),
            (error(b"Z\0\0\0\x05I"), "cannot be used", "unexpected message from server"),
        ] {
            let said = store.say_no_connection(&store.hosts[0], &error).to_string();
            assert!(said.contains(start) && said.ends_with(end), "{said}");
        }
    }
}
