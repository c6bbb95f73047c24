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
    use super::super::contract::Store as _;
    use super::super::remote::beside;
    use super::*;
    use tokio::io::AsyncWriteExt;
    use txid_agent_machines::store::{Expected, Put};

    /// What the driver makes of a server that answers with this.
    fn error(answer: &[u8]) -> Error {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(4096);
            theirs.write_all(answer).await.unwrap();
            theirs.shutdown().await.unwrap();
            match Config::new().user("txid").connect_raw(Plain::new(ours), NoTls).await {
                Err(error) => error,
                Ok(_) => panic!("that is a login"),
            }
        })
    }

    fn server(code: &str, message: &str) -> Error {
        let fields = format!("SERROR\0C{code}\0M{message}\0\0");
        error(&[b"E", &(fields.len() as u32 + 4).to_be_bytes()[..], fields.as_bytes()].concat())
    }

    #[test]
    fn statements_in_the_words_of_postgresql() {
        const NOW: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";
        assert_eq!(Postgres::literal("a'\\"), " E'a''\\\\'");
        // An operator sees in the table when a record was written last.
        assert_eq!(
            Postgres::insert("t", "'n'", "'r'"),
            format!(
                "INSERT INTO t (name, record, changed) VALUES ('n', 'r', clock_timestamp()) ON CONFLICT DO NOTHING RETURNING {NOW}"
            )
        );
        assert_eq!(
            Postgres::update("t", "'n'", "'o'", "'r'"),
            format!(
                "UPDATE t SET record = 'r', changed = clock_timestamp() WHERE name = 'n' AND record = 'o' RETURNING {NOW}"
            )
        );
        // A look has taken none if the number went down. If it was raised again since, this takes them.
        assert_eq!(
            Postgres::take("'a'", 5, 3),
            "UPDATE leaf_alloc SET max_id = max_id + 5, update_time = now() WHERE biz_tag = 'a' AND max_id >= 3 RETURNING max_id"
        );
        assert_eq!(
            Postgres::settings("s.t"),
            "current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
             (SELECT count(*) FROM pg_stat_replication), (SELECT relpersistence FROM pg_class WHERE oid = to_regclass('s.t'))"
        );
        let table = "name text PRIMARY KEY, record text NOT NULL, changed timestamptz NOT NULL";
        assert_eq!((Postgres::COLUMNS, Postgres::ENGINE, Postgres::NOW_MS), (table, "", NOW));
        assert_eq!((Postgres::UNLESS_THERE, Postgres::NUMBER), (" ON CONFLICT DO NOTHING", " RETURNING ID"));
    }

    /// The server gives up when this client does.
    #[test]
    fn a_login_asks_for_a_time_out_of_statements() {
        let url =
            |rest: &str| StoreUrl::parse(&format!("postgres://u:word@127.0.0.1/ids?timeout=1500ms{rest}")).unwrap();
        let store = Postgres::new(&url("")).unwrap();
        let Postgres { config, in_clear, tls, .. } = &store;
        assert_eq!((config.get_user(), config.get_dbname()), (Some("u"), Some("ids")));
        assert_eq!((config.get_application_name(), config.get_password()), (Some("txid-agent"), Some(&b"word"[..])));
        assert_eq!(
            (config.get_options(), config.get_ssl_mode()),
            (Some("-c statement_timeout=1500"), SslMode::Disable)
        );
        assert!(!in_clear && tls.is_none());
        assert!(Postgres::new(&url("&password-in-clear=1")).unwrap().in_clear);
        assert_eq!(Postgres::new(&url("&tls=1")).unwrap().config.get_ssl_mode(), SslMode::Require);
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
    }

    fn columns(count: u8) -> Vec<u8> {
        let column = [&b"c\0"[..], &[0; 6], &25_u32.to_be_bytes(), &[0xff; 6], &[0; 2]].concat();
        message(b'T', &[&[0, count][..], &column.repeat(count.into())].concat())
    }

    fn row(values: &[Option<&str>]) -> Vec<u8> {
        let count = values.len() as u8;
        let value = |value: &Option<&str>| match value {
            None => vec![0xff; 4],
            Some(text) => [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat(),
        };
        let values: Vec<u8> = values.iter().flat_map(value).collect();
        let values = message(b'D', &[&[0, count][..], &values].concat());
        [columns(count), values, message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat()
    }

    fn failed(code: &str) -> Vec<u8> {
        [message(b'E', format!("SERROR\0C{code}\0Mit says so\0\0").as_bytes()), message(b'Z', b"I")].concat()
    }

    /// The statements among what a server has heard.
    fn statements(heard: &[u8]) -> Vec<String> {
        let login = u32::from_be_bytes(heard[..4].try_into().unwrap()) as usize;
        let (mut statements, mut rest) = (Vec::new(), &heard[login..]);
        while let [kind, a, b, c, d, after @ ..] = rest {
            let (text, after) = after.split_at(u32::from_be_bytes([*a, *b, *c, *d]) as usize - 4);
            let text = String::from_utf8_lossy(text);
            statements.extend((*kind == b'Q').then(|| text.trim_end_matches('\0').to_owned()));
            rest = after;
        }
        statements
    }

    /// What is asked before a connection is used, and what its answers mean.
    #[test]
    fn a_connection_is_to_a_primary_whose_settings_are_known() {
        let login = || vec![vec![], [message(b'R', &[0; 4]), message(b'Z', b"I")].concat()];
        let select = format!("SELECT {}, current_setting('transaction_read_only')", Postgres::settings("txid_lease"));
        let read = format!(
            "SELECT {NOW_MS}, name, record FROM (SELECT 1) one LEFT JOIN txid_lease ON name = {}",
            literal("a")
        );
        let settings = |read_only| row(&[Some("on"), Some("on"), Some(""), Some("0"), None, Some(read_only)]);
        let record = |record| row(&[Some("1700000000000"), Some("a"), Some(record)]);
        let mut latin = record("r");
        let at = latin.windows(5).position(|five| five == b"\0\0\0\x01r").unwrap();
        latin[at + 4] = 0xe9;
        let replica = "cannot reach STORE: 127.0.0.1:PORT is a replica, but the primary is needed";
        for (answers, asked, wanted) in [
            (vec![settings("off"), record("r")], vec![&*select, &read], "r durable"),
            (vec![settings("off"), record("\u{e9}")], vec![&*select, &read], "\u{e9} durable"),
            (vec![settings("off"), latin], vec![&*select, &read], "(not UTF-8) durable"),
            (vec![settings("on")], vec![&*select], replica),
            (vec![failed("57P03")], vec![&*select], "cannot reach STORE: 127.0.0.1:PORT: db error: ERROR: it says so"),
            (
                vec![settings("off"), failed("57P01")],
                vec![&*select, &read],
                "cannot reach STORE: db error: ERROR: it says so",
            ),
            (vec![settings("off"), vec![]], vec![&*select, &read], "cannot reach STORE: connection closed"),
            (
                vec![settings("off"), [columns(1), message(b'D', &[0, 1, 0, 0, 0, 0]).repeat(160_000)].concat()],
                vec![&*select, &read],
                "STORE gave an invalid answer: an answer is larger than 4 MB, or has too many parts",
            ),
        ] {
            let (said, heard) = beside(&[login(), answers].concat(), |port| {
                let url = format!("postgres://txid@127.0.0.1:{port}/ids");
                let mut store = StoreUrl::parse(&format!("{url}?timeout=60s")).and_then(open).unwrap();
                match store.read("a") {
                    Ok(record) => {
                        let bytes = record.unwrap().bytes;
                        format!(
                            "{} {}",
                            String::from_utf8(bytes).unwrap(),
                            store.durability().why().unwrap_or("durable")
                        )
                    }
                    Err(error) => error.to_string().replace(&url, "STORE").replace(&port.to_string(), "PORT"),
                }
            });
            assert_eq!(said, wanted);
            assert_eq!(statements(&heard), asked);
        }
        // A table that is missing is made, and a row that is there is a conflict.
        let made = || [message(b'C', b"INSERT 0 0\0"), message(b'Z', b"I")].concat();
        let texts = [login(), vec![settings("off"), failed("42P01"), made(), made()]].concat();
        let (put, heard) = beside(&texts, |port| {
            let url = format!("postgres://txid@127.0.0.1:{port}/ids?timeout=60s");
            StoreUrl::parse(&url).and_then(open).unwrap().put("a", &Expected::Absent, b"r")
        });
        assert_eq!(put, Ok(Put::Conflict));
        let insert = Postgres::insert("txid_lease", &literal("a"), &literal("r"));
        let create = format!("CREATE TABLE IF NOT EXISTS txid_lease ({})", Postgres::COLUMNS);
        assert_eq!(statements(&heard)[1..], [insert.clone(), create, insert]);
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        const RIGHTS: &str = "refused: why; the user needs SELECT, INSERT and UPDATE on the table leases";
        const REPLICA: &str = "cannot reach: this server is a replica, but the primary is needed";
        let store = Postgres::new(&StoreUrl::parse("postgres://user@127.0.0.1/ids").unwrap()).unwrap();
        for (codes, is_not_done, wanted) in [
            (&["42501"][..], true, RIGHTS),
            (&["25006"][..], true, REPLICA),
            (&["40P01", "40001", "55P03"][..], true, "cannot reach: why"),
            (&["22001", "22021", "23514", "42703", "42P01", "0A000"][..], true, "cannot be used: why"),
            // 40003 leaves the completion of a statement unknown; a server that shuts down, is full, or lost
            // the connection may have committed.
            (&["40003", "57014", "57P01", "53100", "53200", "08006"][..], false, "cannot reach: why"),
        ] {
            for code in codes {
                let failure = store.meaning_of_code(code, "why".to_owned(), "leases");
                assert_eq!(matches!(failure, Failure::NotDone(_)), is_not_done, "{code}");
                let said = failure.into_error().to_string().replace(" postgres://user@127.0.0.1/ids:", ":");
                assert_eq!(said.trim_start_matches("postgres://user@127.0.0.1/ids "), wanted, "{code}");
            }
        }
        let failure = store.meaning(&error(b""), "leases");
        assert!(matches!(failure, Failure::Unknown(StoreError::Unreachable { .. })), "{}", failure.into_error());
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
        const LOGIN: &str =
            "; give the user as postgres://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";
        const REFUSED: &str = "postgres://txid@10.0.0.5/ids refused: ";
        const NOT: &str = "postgres://txid@10.0.0.5/ids cannot be used: ";
        const HOST: &str = "cannot reach postgres://txid@10.0.0.5/ids: 10.0.0.5:5432: ";
        let url = StoreUrl::parse("postgres://txid@10.0.0.5/ids").unwrap();
        let store = Postgres::new(&url).unwrap();
        for (code, message, start, end) in [
            ("28P01", "it says so", REFUSED, LOGIN),
            ("28000", "it says so", REFUSED, LOGIN),
            (
                "08P01",
                "unsupported startup parameter: options",
                NOT,
                "; PgBouncer needs ignore_startup_parameters = options",
            ),
            ("08P01", "no such database: ids", NOT, ""),
            ("08P01", "bouncer config error", NOT, ""),
            ("08P01", "SASL authentication failed", REFUSED, LOGIN),
            // What passes: PgBouncer's server is away, or starts.
            ("08P01", "pgbouncer cannot connect to server", HOST, ""),
            ("08P01", "server login has been failing, try again later", HOST, ""),
            ("08006", "it says so", HOST, ""),
            ("57P03", "it says so", HOST, ""),
            ("53300", "it says so", HOST, ""),
            ("3D000", "it says so", NOT, ""),
            ("57014", "it says so", NOT, ""),
        ] {
            let said = store.why_no_connection(&url.hosts[0], &server(code, message)).to_string();
            assert_eq!(said, format!("{start}db error: ERROR: {message}{end}"), "{code}");
        }
        const IN_CLEAR: &str = "it asks for the whole password, which only goes over TLS: add ?tls=1 to the URL, or ?ca=FILE if the \
                                system does not trust who signed its certificate; password-in-clear=1 sends it without, to \
                                anybody between the hosts as well";
        for (error, start, end) in [
            // A password of the kind SCRAM-SHA-256, and none is known.
            (error(b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"), REFUSED, &*format!("it requires a password{LOGIN}")),
            (error(b"R\0\0\0\x08\0\0\0\x03"), NOT, IN_CLEAR),
            (error(b""), HOST, "connection closed"),
            // No message of PostgreSQL, and one that has no place there.
            (error(b"~\0\0\0\x04"), NOT, "error communicating with the server: unknown message tag `126`"),
            (error(b"Z\0\0\0\x05I"), NOT, "unexpected message from server"),
        ] {
            let said = store.why_no_connection(&url.hosts[0], &error).to_string();
            assert_eq!(said, format!("{start}{end}"));
        }
    }
}
