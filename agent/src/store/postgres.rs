//! PostgreSQL: one table.

use std::error::Error as _;
use std::io;

use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Taken, Version};

use super::address::Address;
use super::clock::StoreClock;
use super::numbering::{self, WORKER_NODE};
use super::remote::{Remote, causes};
use super::tls::Tls;
use super::url::{Host, StoreUrl};
use super::{Failure, Store, leaf, sql};

const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";

pub(super) struct PostgresStore {
    address: Address,
    hosts: Vec<Host>,
    /// Everything but the hosts.
    config: Config,
    tls: Option<Tls>,
    table: String,
    may_lose_writes: bool,
    client: Option<Client>,
    remote: Remote,
    clock: StoreClock,
}

impl PostgresStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["table"])?;
        let (user, database) = sql::database(&url)?;
        let address = url.address.clone();
        let mut config = Config::new();
        config
            .user(user)
            .dbname(database)
            .application_name("txid-agent")
            .connect_timeout(address.timeout)
            .tcp_user_timeout(address.timeout)
            // The server gives up when this client does, so that little is done afterwards.
            .options(format!("-c statement_timeout={}", address.timeout.as_millis()))
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .ssl_mode(if url.tls.is_some() { SslMode::Require } else { SslMode::Disable });
        if let Some(password) = &url.password {
            config.password(password.reveal());
        }
        Ok(Self {
            table: sql::table(&url)?,
            // Several hosts are usually a primary and its replicas, which lag behind unless configured otherwise.
            may_lose_writes: url.may_lose_writes(url.hosts.len() > 1)?,
            remote: Remote::new(&address)?,
            hosts: url.hosts,
            tls: url.tls,
            address,
            config,
            client: None,
            clock: StoreClock::default(),
        })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        match &self.tls {
            None => self.connect_by(NoTls),
            Some(tls) => self.connect_by(MakeRustlsConnect::new(tls.config(&self.address)?)),
        }
    }

    /// Connects to the first host that is not a replica.
    fn connect_by<T>(&self, tls: T) -> Result<Client, StoreError>
    where
        T: MakeTlsConnect<Socket> + Send + 'static,
        T::Stream: Send + 'static,
    {
        let mut config = self.config.clone();
        for host in &self.hosts {
            config.host(&host.name).port(host.port);
        }
        let connected = self.remote.run(async {
            let (client, connection) = config.connect(tls).await?;
            // It ends when the client is dropped or the server is gone.
            tokio::spawn(async move { connection.await.ok() });
            Ok(client)
        });
        connected.ok_or_else(|| self.address.timed_out())?.map_err(|error| self.say_no_connection(&error))
    }

    /// Runs one statement. If the table is missing, makes it first.
    fn run(&mut self, statement: &str, args: &[&str]) -> Result<Vec<Row>, Failure> {
        let table = self.table.clone();
        match self.try_run(statement, args, &table) {
            Err(Tried::NoTable) => {
                self.make_table().map_err(Failure::NotDone)?;
                self.try_run(statement, args, &table)
            }
            other => other,
        }
        .map_err(|tried| match tried {
            Tried::NoTable => {
                Failure::NotDone(self.address.misconfigured(format_args!("there is no table {}", self.table)))
            }
            Tried::Failed(failure) => failure,
        })
    }

    /// Runs a statement on the table of tags. If there is no such table, there are no rows.
    fn run_on_tags(&mut self, statement: &str, args: &[&str]) -> Result<Vec<Row>, StoreError> {
        match self.try_run(statement, args, leaf::TABLE) {
            Ok(rows) => Ok(rows),
            Err(Tried::NoTable) => Ok(Vec::new()),
            Err(Tried::Failed(failure)) => Err(failure.into_error()),
        }
    }

    fn make_table(&mut self) -> Result<(), StoreError> {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, record text NOT NULL, changed timestamptz NOT NULL)",
            self.table
        );
        let table = self.table.clone();
        match self.try_run(&create, &[], &table) {
            Err(Tried::Failed(failure)) => match failure.into_error() {
                StoreError::Refused { why, .. } => Err(self.address.refused(format_args!(
                    "{why}; let a user with the right to do so run this, and grant SELECT, INSERT and UPDATE on it: {create}"
                ))),
                // Another client may have made it at the same time.
                StoreError::Misconfigured { .. } => Ok(()),
                other => Err(other),
            },
            _ => Ok(()),
        }
    }

    fn try_run(&mut self, statement: &str, args: &[&str], table: &str) -> Result<Vec<Row>, Tried> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => self.connect().map_err(|error| {
                // The next access begins with another host.
                self.hosts.rotate_left(1);
                Tried::Failed(Failure::NotDone(error))
            })?,
        };
        let args: Vec<(&(dyn ToSql + Sync), Type)> =
            args.iter().map(|arg| (arg as &(dyn ToSql + Sync), Type::TEXT)).collect();
        match self.remote.run(client.query_typed(statement, &args)) {
            None => Err(Tried::Failed(Failure::Unknown(self.address.timed_out()))),
            Some(Ok(rows)) => {
                self.client = Some(client);
                Ok(rows)
            }
            Some(Err(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
                self.client = Some(client);
                Err(Tried::NoTable)
            }
            Some(Err(error)) => Err(Tried::Failed(self.say(&error, table))),
        }
    }

    /// What a failed connection means.
    fn say_no_connection(&self, error: &Error) -> StoreError {
        let address = &self.address;
        let why = causes(error);
        if let Some(code) = error.code() {
            return match code.code() {
                "28P01" | "28000" => address.refused(format_args!("{why}; {LOGIN}")),
                code if code.starts_with("57P") || code.starts_with("53") => address.unreachable(why),
                _ => address.misconfigured(why),
            };
        }
        if why.contains("password missing") {
            return address.refused(format_args!("it requires a password; {LOGIN}"));
        }
        match error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind) {
            Some(io::ErrorKind::TimedOut) => address.timed_out(),
            Some(io::ErrorKind::PermissionDenied) => {
                address.unreachable("all servers are replicas, but the primary is needed")
            }
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => address.misconfigured(why),
            Some(_) => address.unreachable(why),
            None if error.is_closed() => address.unreachable(why),
            None => address.misconfigured(why),
        }
    }

    /// What a failed statement means.
    fn say(&self, error: &Error, table: &str) -> Failure {
        let address = &self.address;
        let why = causes(error);
        let Some(code) = error.code() else { return Failure::Unknown(address.unreachable(why)) };
        match code.code() {
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

/// The result of one try.
enum Tried {
    NoTable,
    Failed(Failure),
}

const LOGIN: &str =
    "give the user as postgres://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

impl Store for PostgresStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let select = format!("SELECT {NOW_MS}, (SELECT record FROM {} WHERE name = $1)", self.table);
        let rows = self.run(&select, &[key]).map_err(Failure::into_error)?;
        let row = rows.first().ok_or_else(|| self.address.damaged("no row"))?;
        self.clock.saw(row.get(0));
        Ok(row.get::<_, Option<String>>(1).map(|text| Record::compared_by_bytes(text.into_bytes())))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let table = &self.table;
        let insert = format!(
            "INSERT INTO {table} (name, record, changed) VALUES ($1, $2, clock_timestamp()) ON CONFLICT DO NOTHING RETURNING \
             {NOW_MS}"
        );
        let update = format!(
            "UPDATE {table} SET record = $2, changed = clock_timestamp() WHERE name = $1 AND record = $3 RETURNING {NOW_MS}"
        );
        let written = sql::text(&self.address, bytes).and_then(|new| match expected {
            Expected::Absent => self.run(&insert, &[key, new]),
            Expected::Version(old) => {
                let old = sql::text(&self.address, &old.0)?.to_owned();
                self.run(&update, &[key, new, &old])
            }
        });
        match written {
            Ok(rows) => Ok(match rows.first() {
                Some(row) => {
                    self.clock.saw(row.get(0));
                    Put::Written(Version(bytes.to_vec()))
                }
                None => Put::Conflict,
            }),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let select = format!("SELECT name, record FROM {} WHERE starts_with(name, $1)", self.table);
        let rows = self.run(&select, &[prefix]).map_err(Failure::into_error)?;
        let record = |row: &Row| (row.get(0), Record::compared_by_bytes(row.get::<_, String>(1).into_bytes()));
        Ok(rows.iter().map(record).collect())
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
        let update = "UPDATE leaf_alloc SET max_id = max_id + coalesce(nullif($2, '')::int8, step), update_time = now() \
                      WHERE biz_tag = $1 AND max_id >= $3::int8 AND step >= 0 \
                      RETURNING max_id::int8, coalesce(nullif($2, '')::int8, step)::int8, step::int8";
        let count = count.map_or(String::new(), |count| count.to_string());
        let rows = self.run_on_tags(update, &[tag, &count, &seen.to_string()])?;
        let address = self.address.clone();
        let number = |row: &Row, at: usize, column: &str| {
            leaf::number(&address, column, row.get(at)).map_err(Failure::into_error)
        };
        if let Some(row) = rows.first() {
            let (end, count, step) = (number(row, 0, "max_id")?, number(row, 1, "step")?, number(row, 2, "step")?);
            return Ok(Taken::below(end, count, step));
        }
        let rows = self.run_on_tags("SELECT max_id::int8, step::int8 FROM leaf_alloc WHERE biz_tag = $1", &[tag])?;
        let Some(row) = rows.first() else { return Ok(Taken::NoTag) };
        let (found, _) = (number(row, 0, "max_id")?, number(row, 1, "step")?);
        Ok(Taken::WentDown { number: found })
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.run_on_tags(leaf::CREATE, &[])?;
        self.run_on_tags(&format!("{} ON CONFLICT DO NOTHING", leaf::insert(tag, step)), &[]).map(drop)
    }

    fn number(&mut self, from: Numbering, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        if from != Numbering::WorkerNode {
            return Err(self.address.misconfigured(format_args!("{} is not in PostgreSQL", from.place())));
        }
        let (host, port) = numbering::host_and_port(owner, group);
        let insert = format!("{} RETURNING ID::int8", numbering::insert("$1", "$2"));
        let mut run = |statement: &str, args: &[&str]| match self.try_run(statement, args, WORKER_NODE) {
            Ok(rows) => Ok(rows.first().and_then(|row| row.get::<_, Option<i64>>(0))),
            Err(Tried::NoTable) => Err(numbering::no_table(&self.address)),
            Err(Tried::Failed(failure)) => Err(failure.into_error()),
        };
        let is_last = |node: i64| u64::try_from(node).is_ok_and(|node| node >= last);
        if run("SELECT max(ID)::int8 FROM WORKER_NODE", &[])?.is_some_and(is_last) {
            return Ok(Numbered::UsedUp);
        }
        let given = run(&insert, &[&host, &port])?.and_then(|node| u64::try_from(node).ok());
        Ok(given.filter(|node| *node <= last).map_or(Numbered::UsedUp, Numbered::Node))
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        leaf::how_to_create(tag, step)
    }

    fn damaged(&self, what: &str) -> StoreError {
        self.address.damaged(what)
    }
}
