//! MySQL and MariaDB.

mod password;
mod wire;

use std::io;
use std::task::{Context, Poll};

use self::wire::{Connection, Error, Login};
use super::address::Address;
use super::cell;
use super::durability::Durability;
use super::failure::Failure;
use super::remote::Link;
use super::sql::{self, Answer, Copies, Dialect, SqlStore};
use super::tls::{IN_CLEAR, Tls};
use super::url::{Host, Secret, StoreUrl};
use super::wire::Wire;
use txid_agent_machines::store::StoreError;

const NOW_MS: &str = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";
const NO_SUCH_TABLE: u16 = 1146;
const DUPLICATE_KEY: u16 = 1062;
const UNKNOWN_VARIABLE: u16 = 1193;

pub(super) struct Conn(Connection<Wire>);

impl Link for Conn {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.stream.poll_end(cx)
    }
}

/// How to log in.
#[derive(Clone)]
pub(super) struct Mysql {
    address: Address,
    user: String,
    password: Option<Secret>,
    database: String,
    tls: Option<Tls>,
}

pub(super) fn open(url: StoreUrl) -> Result<SqlStore<Mysql>, StoreError> {
    url.knows_only(&["table", "password-in-clear"])?;
    let has_password = url.password.as_ref().is_some_and(|password| !password.reveal().is_empty());
    let may_be_seen = url.tls.is_none() && !url.hosts.iter().all(Host::is_this_one);
    if has_password && may_be_seen && url.flag("password-in-clear")? != Some(true) {
        return Err(url.address.misconfigured(PROOF_IN_CLEAR));
    }
    let mysql = Mysql::new(&url)?;
    SqlStore::open(url, mysql)
}

impl Mysql {
    fn new(url: &StoreUrl) -> Result<Self, StoreError> {
        let (user, database) = sql::database(url)?;
        Ok(Self {
            user: user.to_owned(),
            database: database.to_owned(),
            address: url.address.clone(),
            password: url.password.clone(),
            tls: url.tls.clone(),
        })
    }

    fn why_no_connection(&self, host: &Host, error: Error) -> StoreError {
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

    fn meaning(&self, error: Error, table: &str) -> Failure {
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
            Error::Io(error) => Failure::Unknown(address.broken(&error)),
        }
    }
}

/// Each kind of proof is a hash that is computed millions of times in a second.
const PROOF_IN_CLEAR: &str = "without TLS, anybody between the hosts can ask for a proof of the password, and try passwords at \
                              leisure: add ?tls=1 to the URL, or ?ca=FILE if the system does not trust who signed the \
                              server's certificate; password-in-clear=1 logs in without";

const LOGIN: &str = "give the user as mysql://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

impl Dialect for Mysql {
    type Connection = Conn;

    const NOW_MS: &'static str = NOW_MS;
    const COLUMNS: &'static str = "name VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, record VARCHAR(1000) \
                                   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, changed_ms BIGINT NOT NULL";
    const ENGINE: &'static str = " ENGINE=InnoDB";
    const UNLESS_THERE: &'static str = "";
    const NUMBER: &'static str = "";

    async fn connect(
        &self,
        host: &Host,
        table: &str,
        has_several: bool,
    ) -> Result<(Conn, Vec<cell::Value>, Copies), StoreError> {
        let address = &self.address;
        let why = |error| self.why_no_connection(host, error);
        let mut connection = Connection::new(Wire::connect(address, host, None).await?);
        let greeting = connection.greeting().await.map_err(why)?;
        if let Some(tls) = &self.tls {
            if !connection.ask_for_tls(&greeting).await.map_err(why)? {
                return Err(address.misconfigured("this server does not support TLS"));
            }
            connection = connection.over(async |wire: Wire| wire.secure(address, host, tls).await).await?;
        }
        let password = self.password.as_ref().map_or("", Secret::reveal);
        let login = Login { user: &self.user, password, database: &self.database };
        connection.log_in(&greeting, &login, self.tls.is_some()).await.map_err(why)?;
        // A time zone without daylight saving time; no waiting for a lock after this client has given up. The server's own
        // modes may take an empty text for NULL, or a table of another engine; this one makes it an error where a column is
        // too small.
        let patience = address.timeout.as_secs().max(1);
        let set = format!(
            "SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = {patience}, \
             sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
        );
        connection.query(&set).await.map_err(why)?;
        let settings = format!("SELECT {}, @@global.read_only + 0", Self::settings(table));
        let settings = connection.query(&settings).await.map_err(why)?.rows.into_iter().next().unwrap_or_default();
        if cell::parse(settings.get(SETTINGS)) == Some(1) {
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
                other => other.map_err(why)?,
            };
            let value = value.rows.first().and_then(|row| row.first()).and_then(cell::shown).unwrap_or_default();
            if !["", "0", "OFF"].contains(&value.as_str()) {
                has_cluster = true;
                if let Some(sets) = sets {
                    connection.query(sets).await.map_err(why)?;
                }
            }
        }
        let copies = match has_cluster {
            true => Copies::Same,
            false if has_several => Copies::Late,
            false => Copies::AsSeen,
        };
        Ok((Conn(connection), settings, copies))
    }

    async fn query(&self, connection: &mut Conn, statement: &str, table: &str) -> Result<Option<Answer>, Failure> {
        connection.0.stream.renew();
        match connection.0.query(statement).await {
            Err(Error::Server { code: NO_SUCH_TABLE, .. }) => Ok(None),
            // Its own kind of error, because a statement may expect it.
            Err(Error::Server { code: DUPLICATE_KEY, .. }) => Ok(Some(Answer::default())),
            Ok(answer) => Ok(Some(answer)),
            Err(error) => Err(self.meaning(error, table)),
        }
    }

    fn literal(text: &str) -> String {
        wire::literal(text)
    }

    /// LAST_INSERT_ID(ms) returns the time with the answer.
    fn insert(table: &str, name: &str, record: &str) -> String {
        format!("INSERT INTO {table} SET name = {name}, record = {record}, changed_ms = LAST_INSERT_ID({NOW_MS})")
    }

    /// The bytes are those that reading returned, whatever the column's character set is.
    fn update(table: &str, name: &str, old: &str, record: &str) -> String {
        format!(
            "UPDATE {table} SET record = {record}, changed_ms = LAST_INSERT_ID({NOW_MS}) WHERE name = {name} AND \
             CAST(CONVERT(record USING utf8mb4) AS BINARY) = CAST({old} AS BINARY)"
        )
    }

    fn take(tag: &str, count: u64, seen: u64) -> String {
        format!(
            "UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + {count}) WHERE biz_tag = {tag} AND max_id >= {seen}"
        )
    }

    /// A table that does not exist has no engine.
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

    fn durability(settings: &[cell::Value], table: &str, copies: Copies) -> Durability {
        let setting = |at: usize| settings.get(at).and_then(cell::shown);
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
            _ => Durability::Durable,
        }
    }
}

/// The number of columns of `settings`.
const SETTINGS: usize = 5;

const LATE: &str = "it has replicas, which may lag behind";

#[cfg(test)]
mod tests {
    use super::*;

    fn io(kind: io::ErrorKind) -> Error {
        Error::Io(io::Error::new(kind, "it says so"))
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = Mysql::new(&StoreUrl::parse("mysql://user@127.0.0.1/ids").unwrap()).unwrap();
        let of = |code| store.meaning(Error::Server { code, message: "why".to_owned() }, "leases");
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
            let failure = store.meaning(io(kind), "leases");
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
        let url = StoreUrl::parse("mysql://txid@10.0.0.5/ids").unwrap();
        let store = Mysql::new(&url).unwrap();
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
            let said = store.why_no_connection(&url.hosts[0], error).to_string();
            assert!(said.contains(start) && said.ends_with(end), "{said}");
        }
    }

    #[test]
    fn a_proof_of_a_password_goes_over_tls_or_stays_on_this_host() {
        let opens = |rest: &str| StoreUrl::parse(&format!("mysql://{rest}")).and_then(open).map(|_| ());
        for seen in ["u:word@10.0.0.5/ids", "u:word@db/ids?password-in-clear=0", "u:word@127.0.0.1,10.0.0.5/ids"] {
            let why = opens(seen).unwrap_err().to_string();
            assert!(why.contains(PROOF_IN_CLEAR) && !why.contains("word@"), "{seen}: {why}");
        }
        for unseen in [
            "u@10.0.0.5/ids",
            "u:@10.0.0.5/ids",
            "u:word@127.0.0.1,[::1],localhost/ids",
            "u:word@10.0.0.5/ids?tls=1",
            "u:word@10.0.0.5/ids?password-in-clear=1",
        ] {
            assert_eq!(opens(unseen), Ok(()), "{unseen}");
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
            assert_eq!(Mysql::durability(&row, "t", copies).why(), wanted, "{settings:?} {engine:?}");
        }
        assert!(Mysql::durability(&[], "t", AsSeen).may_lose_writes());
    }
}
