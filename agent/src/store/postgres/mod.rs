//! PostgreSQL.

mod plain;

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::{TryFutureExt, TryStreamExt};
use postgres_protocol::escape::escape_literal as literal;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, Error, NoTls, SimpleQueryMessage, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;
use txid_agent_machines::store::StoreError;

use self::plain::Plain;
use super::address::Address;
use super::cell;
use super::durability::Durability;
use super::failure::Failure;
use super::limits::Room;
use super::remote::{Driver, Link, causes};
use super::sql::{self, Answer, Copies, Dialect, SqlStore};
use super::tls::Tls;
use super::url::{Host, StoreUrl};
use super::wire::{Budget, Wire};

const NOW_MS: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";

type Row = Vec<cell::Value>;

/// How to log in.
#[derive(Clone)]
pub(super) struct Postgres {
    address: Address,
    /// Everything but the hosts.
    config: Arc<Config>,
    tls: Option<Tls>,
    /// Whether a server without TLS gets the password if it asks for it.
    in_clear: bool,
}

/// A client with its connection.
pub(super) struct Client {
    client: tokio_postgres::Client,
    driver: Driver,
    budget: Budget,
}

impl Link for Client {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.driver.poll_end(cx)
    }
}

pub(super) fn open(url: StoreUrl) -> Result<SqlStore<Postgres>, StoreError> {
    url.knows_only(&["table", "password-in-clear"])?;
    let postgres = Postgres::new(&url)?;
    SqlStore::open(url, postgres)
}

impl Postgres {
    fn new(url: &StoreUrl) -> Result<Self, StoreError> {
        let (user, database) = sql::database(url)?;
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
            in_clear: url.flag("password-in-clear")?.unwrap_or(false),
            tls: url.tls.clone(),
            address,
            config: Arc::new(config),
        })
    }

    async fn log_in<T>(&self, host: &Host, wire: Wire, tls: T) -> Result<Client, StoreError>
    where
        T: TlsConnect<Wire>,
        T::Stream: Send + 'static,
    {
        let budget = wire.budget();
        let connected = self.config.connect_raw(wire, tls).await;
        let (client, connection) = connected.map_err(|error| self.why_no_connection(host, &error))?;
        Ok(Client { client, driver: Driver::new(connection.unwrap_or_else(drop)), budget })
    }

    /// The meaning of a failed connection.
    fn why_no_connection(&self, host: &Host, error: &Error) -> StoreError {
        let address = &self.address;
        let why = causes(error);
        if let Some(code) = error.code() {
            return match code.code() {
                "28P01" | "28000" => address.refused(format_args!("{why}; {LOGIN}")),
                "08P01" if why.contains("startup parameter") => {
                    address.misconfigured(format_args!("{why}; PgBouncer needs ignore_startup_parameters = options"))
                }
                // PgBouncer says all with this one code: mostly that its server cannot be reached.
                "08P01" if ["no such", "config error"].iter().any(|what| why.contains(what)) => {
                    address.misconfigured(why)
                }
                "08P01" if why.contains("auth") => address.refused(format_args!("{why}; {LOGIN}")),
                code if ["57P", "53", "08"].iter().any(|class| code.starts_with(class)) => {
                    address.unreachable(format_args!("{host}: {why}"))
                }
                _ => address.misconfigured(why),
            };
        }
        if why.contains("password missing") {
            return address.refused(format_args!("it requires a password; {LOGIN}"));
        }
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        match io.map(|io| (io.kind(), io)) {
            Some((io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput, _)) => address.misconfigured(why),
            Some((io::ErrorKind::PermissionDenied, io)) => address.misconfigured(format_args!(
                "{io}; password-in-clear=1 sends it without, to anybody between the hosts as well"
            )),
            Some(_) => address.unreachable(format_args!("{host}: {why}")),
            None if error.is_closed() => address.unreachable(format_args!("{host}: {why}")),
            None => address.misconfigured(why),
        }
    }

    /// The meaning of a failed statement.
    fn meaning(&self, error: &Error, table: &str) -> Failure {
        let why = causes(error);
        match error.code() {
            Some(code) => self.meaning_of_code(code.code(), why, table),
            None => Failure::Unknown(self.address.unreachable(why)),
        }
    }

    fn meaning_of_code(&self, code: &str, why: String, table: &str) -> Failure {
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

impl Dialect for Postgres {
    type Connection = Client;

    const NOW_MS: &'static str = NOW_MS;
    const COLUMNS: &'static str = "name text PRIMARY KEY, record text NOT NULL, changed timestamptz NOT NULL";
    const ENGINE: &'static str = "";
    const UNLESS_THERE: &'static str = " ON CONFLICT DO NOTHING";
    const NUMBER: &'static str = " RETURNING ID";

    async fn connect(
        &self,
        host: &Host,
        table: &str,
        has_several: bool,
    ) -> Result<(Client, Vec<cell::Value>, Copies), StoreError> {
        let wire = Wire::connect(&self.address, host, None).await?;
        let mut client = match &self.tls {
            None if self.in_clear => self.log_in(host, wire, NoTls).await?,
            None => self.log_in(host, wire.within(Plain::new), NoTls).await?,
            Some(tls) => {
                let mut connector = MakeRustlsConnect::new(tls.config(&self.address)?);
                let connector = MakeTlsConnect::<Wire>::make_tls_connect(&mut connector, &host.name);
                let connector = connector.map_err(|error| self.address.misconfigured(error))?;
                self.log_in(host, wire, connector).await?
            }
        };
        let settings = format!("SELECT {}, current_setting('transaction_read_only')", Self::settings(table));
        let rows = client.query(&settings).await.map_err(|trouble| match trouble {
            Trouble::Driver(error) => self.why_no_connection(host, &error),
            Trouble::TooLarge(error) => self.address.damaged(error),
        })?;
        let row = rows.into_iter().next().unwrap_or_default();
        if row.get(SETTINGS).and_then(cell::shown).as_deref() == Some("on") {
            return Err(self.address.unreachable(format_args!("{host} is a replica, but the primary is needed")));
        }
        Ok((client, row, if has_several { Copies::Late } else { Copies::AsSeen }))
    }

    async fn query(&self, client: &mut Client, statement: &str, table: &str) -> Result<Option<Answer>, Failure> {
        client.budget.renew();
        match client.query(statement).await {
            Ok(rows) => {
                let last_id = cell::parse(rows.first().and_then(|row| row.first())).unwrap_or(0);
                Ok(Some(Answer { affected: rows.len() as u64, last_id, rows }))
            }
            Err(Trouble::Driver(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
            Err(Trouble::Driver(error)) => Err(self.meaning(&error, table)),
            Err(Trouble::TooLarge(error)) => Err(Failure::Unknown(self.address.damaged(error))),
        }
    }

    fn literal(text: &str) -> String {
        literal(text)
    }

    fn insert(table: &str, name: &str, record: &str) -> String {
        format!(
            "INSERT INTO {table} (name, record, changed) VALUES ({name}, {record}, clock_timestamp()) ON CONFLICT DO NOTHING \
             RETURNING {NOW_MS}"
        )
    }

    fn update(table: &str, name: &str, old: &str, record: &str) -> String {
        format!(
            "UPDATE {table} SET record = {record}, changed = clock_timestamp() WHERE name = {name} AND record = {old} \
             RETURNING {NOW_MS}"
        )
    }

    fn take(tag: &str, count: u64, seen: u64) -> String {
        format!(
            "UPDATE leaf_alloc SET max_id = max_id + {count}, update_time = now() WHERE biz_tag = {tag} AND max_id >= {seen} \
             RETURNING max_id"
        )
    }

    /// A table that does not exist is of no kind.
    fn settings(table: &str) -> String {
        format!(
            "current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
             (SELECT count(*) FROM pg_stat_replication), (SELECT relpersistence FROM pg_class WHERE oid = \
             to_regclass('{table}'))"
        )
    }

    fn durability(settings: &[cell::Value], table: &str, copies: Copies) -> Durability {
        let [fsync, commit, standby, replicas, kind] =
            [0, 1, 2, 3, 4].map(|at| settings.get(at).and_then(cell::shown).unwrap_or_default());
        match (fsync.as_str(), commit.as_str(), standby.as_str(), replicas.as_str()) {
            _ if kind == "u" => Durability::may_lose(&format!("the table {table} is UNLOGGED")),
            ("on", "off", ..) => Durability::may_lose("synchronous_commit = off"),
            ("on", _, "", "0") if matches!(copies, Copies::AsSeen) => Durability::Durable,
            ("on", _, "", _) => Durability::may_lose("it has replicas, and synchronous_standby_names is empty"),
            ("on", "local", ..) => Durability::may_lose("synchronous_commit = local, and it has replicas"),
            ("on", ..) => Durability::Durable,
            (fsync, ..) => Durability::may_lose(&format!("fsync = {fsync}")),
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

impl Client {
    /// Runs a statement with the simple protocol, in which all values are texts.
    ///
    /// For other protocols, the driver asks the server about each type that it does not know, and about the types of the
    /// answer to that: a server could let it ask until the stack ends.
    async fn query(&mut self, statement: &str) -> Result<Vec<Row>, Trouble> {
        let Self { client, driver, .. } = self;
        let rows = async {
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
        };
        driver.drive(rows).await
    }
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

    /// The first statement takes none if the number went down. If it was raised again since, this one takes them.
    #[test]
    fn numbers_are_taken_unless_the_number_went_down() {
        assert_eq!(
            Postgres::take("'a'", 5, 3),
            "UPDATE leaf_alloc SET max_id = max_id + 5, update_time = now() WHERE biz_tag = 'a' AND max_id >= 3 RETURNING max_id"
        );
    }

    /// An operator sees in the table when a record was written last.
    #[test]
    fn each_write_of_a_record_notes_its_time() {
        let statements = [Postgres::insert("t", "'n'", "'r'"), Postgres::update("t", "'n'", "'o'", "'r'")];
        assert!(
            statements.iter().all(|it| it.contains("changed") && it.contains("clock_timestamp()")),
            "{statements:?}"
        );
        assert!(
            statements[1].contains("SET record = 'r', changed = clock_timestamp() WHERE name = 'n' AND record = 'o' ")
        );
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = Postgres::new(&StoreUrl::parse("postgres://user@127.0.0.1/ids").unwrap()).unwrap();
        let of = |code| store.meaning_of_code(code, "why".to_owned(), "leases");
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
            Postgres::durability(&settings, "leases", if has_several { Copies::Late } else { Copies::AsSeen })
                .why()
                .map(str::to_owned)
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
        let url = StoreUrl::parse("postgres://txid@10.0.0.5/ids").unwrap();
        let store = Postgres::new(&url).unwrap();
        for (error, start, end) in [
            (server("28P01", "it says so"), "refused", LOGIN),
            (server("28000", "it says so"), "refused", LOGIN),
            (
                server("08P01", "unsupported startup parameter: options"),
                "cannot be used",
                "ignore_startup_parameters = options",
            ),
            (server("08P01", "no such database: ids"), "cannot be used", "no such database: ids"),
            (server("08P01", "bouncer config error"), "cannot be used", "bouncer config error"),
            (server("08P01", "SASL authentication failed"), "refused", LOGIN),
            // What passes: PgBouncer's server is away, or starts.
            (server("08P01", "pgbouncer cannot connect to server"), HOST, "pgbouncer cannot connect to server"),
            (server("08P01", "server login has been failing, try again later"), HOST, "try again later"),
            (server("08006", "it says so"), HOST, "it says so"),
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
            let said = store.why_no_connection(&url.hosts[0], &error).to_string();
            assert!(said.contains(start) && said.ends_with(end), "{said}");
        }
    }
}
