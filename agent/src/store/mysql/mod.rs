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
    use super::super::contract::Store as _;
    use super::super::remote::beside;
    use super::*;
    use txid_agent_machines::store::{Expected, Put};

    fn io(kind: io::ErrorKind) -> Error {
        Error::Io(io::Error::new(kind, "it says so"))
    }

    /// Only what is sure to have been rolled back, or was never begun, is not done.
    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        const RIGHTS: &str = "refused: why; the user needs SELECT, INSERT and UPDATE on the table leases";
        const REPLICA: &str = "cannot reach: this server is a replica, but the primary is needed";
        const PASSES: &str = "cannot reach: why";
        const IN_CLEAR: &str = "cannot be used: it asks for the whole password, which only goes over TLS: add ?tls=1 to the URL, or \
                                ?ca=FILE if the system does not trust who signed its certificate";
        let store = Mysql::new(&StoreUrl::parse("mysql://user@127.0.0.1/ids").unwrap()).unwrap();
        let codes = |codes: &[u16], is_not_done, wanted| {
            let of = |&code| (Error::Server { code, message: "why".to_owned() }, is_not_done, wanted);
            codes.iter().map(of).collect::<Vec<_>>()
        };
        let others = vec![
            (Error::InClear, true, IN_CLEAR),
            (io(io::ErrorKind::InvalidData), false, "gave an invalid answer: it says so"),
            (io(io::ErrorKind::UnexpectedEof), false, "cannot reach: it closed the connection"),
            (io(io::ErrorKind::ConnectionReset), false, "cannot reach: it says so"),
        ];
        for (error, is_not_done, wanted) in [
            codes(&[1044, 1142, 1143, 1227, 1370], true, RIGHTS),
            // Read-only servers and transactions, and what passes.
            codes(&[1290, 1836], true, REPLICA),
            codes(&[1205, 1213, 1040, 1021, 1114], true, PASSES),
            // Values that do not fit, and tables that are not ours.
            codes(&[1264, 1265, 1366, 1406], true, "cannot be used: the table leases: why"),
            codes(&[1054, 1064, 1146], true, "cannot be used: why"),
            // It was ended, or shuts down; a disk or the engine fails.
            codes(&[1317, 1053, 1927, 1030, 1180], false, PASSES),
            others,
        ]
        .into_iter()
        .flatten()
        {
            let shown = format!("{error:?}");
            let failure = store.meaning(error, "leases");
            assert_eq!(matches!(failure, Failure::NotDone(_)), is_not_done, "{shown}");
            let said = failure.into_error().to_string().replace(" mysql://user@127.0.0.1/ids:", ":");
            assert_eq!(said.trim_start_matches("mysql://user@127.0.0.1/ids "), wanted, "{shown}");
        }
    }

    #[test]
    fn what_keeps_a_connection_from_being_made() {
        const LOGIN: &str = "mysql://txid@10.0.0.5/ids refused: it says so; give the user as mysql://USER@HOST and the password as \
                             TXID_STORE_PASSWORD or ?password-file=FILE";
        const NOT: &str = "mysql://txid@10.0.0.5/ids cannot be used: ";
        const HOST: &str = "cannot reach mysql://txid@10.0.0.5/ids: 10.0.0.5:3306: ";
        let server = |code| Error::Server { code, message: "it says so".to_owned() };
        let url = StoreUrl::parse("mysql://txid@10.0.0.5/ids").unwrap();
        let store = Mysql::new(&url).unwrap();
        for (error, start, end) in [
            (server(1045), LOGIN, ""),
            (server(1044), LOGIN, ""),
            (server(1698), LOGIN, ""),
            (server(1049), NOT, "it says so"),
            (server(1040), HOST, "it says so"),
            (Error::InClear, NOT, IN_CLEAR),
            (io(io::ErrorKind::InvalidData), NOT, "the server is not MySQL: it says so"),
            (io(io::ErrorKind::Unsupported), NOT, "it says so"),
            (io(io::ErrorKind::UnexpectedEof), HOST, "it closed the connection"),
            (io(io::ErrorKind::ConnectionReset), HOST, "it says so"),
        ] {
            let said = store.why_no_connection(&url.hosts[0], error).to_string();
            assert_eq!(said, format!("{start}{end}"));
        }
    }

    #[test]
    fn a_proof_of_a_password_goes_over_tls_or_stays_on_this_host() {
        const WHY: &str = "cannot be used: without TLS, anybody between the hosts can ask for a proof of the password, and try \
                           passwords at leisure: add ?tls=1 to the URL, or ?ca=FILE if the system does not trust who signed the \
                           server's certificate; password-in-clear=1 logs in without";
        let opens = |rest: &str| StoreUrl::parse(&format!("mysql://{rest}")).and_then(open).map(|_| ());
        for seen in ["u:word@10.0.0.5/ids", "u:word@db/ids?password-in-clear=0", "u:word@127.0.0.1,10.0.0.5/ids"] {
            let why = opens(seen).unwrap_err().to_string();
            assert!(why.ends_with(WHY) && !why.contains("word@"), "{seen}: {why}");
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
    fn statements_in_the_words_of_mysql() {
        const NOW: &str = "LAST_INSERT_ID(FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000))";
        assert_eq!(Mysql::literal("a'\u{e9}"), "_utf8mb4 x'6127c3a9'");
        assert_eq!(
            Mysql::insert("t", "'n'", "'r'"),
            format!("INSERT INTO t SET name = 'n', record = 'r', changed_ms = {NOW}")
        );
        assert_eq!(
            Mysql::update("t", "'n'", "'o'", "'r'"),
            format!(
                "UPDATE t SET record = 'r', changed_ms = {NOW} WHERE name = 'n' AND CAST(CONVERT(record USING utf8mb4) AS BINARY) = \
                 CAST('o' AS BINARY)"
            )
        );
        assert_eq!(
            Mysql::take("'a'", 5, 3),
            "UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + 5) WHERE biz_tag = 'a' AND max_id >= 3"
        );
        let settings = |schema| {
            format!(
                "@@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog, (SELECT COUNT(*) FROM \
                 information_schema.processlist WHERE command LIKE 'Binlog Dump%'), (SELECT engine FROM \
                 information_schema.tables WHERE table_schema = {schema} AND table_name = 't')"
            )
        };
        assert_eq!(["t", "d.t"].map(Mysql::settings), ["DATABASE()", "'d'"].map(settings));
        let table = "name VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, record VARCHAR(1000) CHARACTER SET \
                     utf8mb4 COLLATE utf8mb4_bin NOT NULL, changed_ms BIGINT NOT NULL";
        assert_eq!((Mysql::COLUMNS, Mysql::ENGINE, Mysql::UNLESS_THERE), (table, " ENGINE=InnoDB", ""));
        assert_eq!((Mysql::NUMBER, Mysql::NOW_MS), ("", "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)"));
    }

    fn packet(payload: &[u8]) -> Vec<u8> {
        [&(payload.len() as u32).to_le_bytes()[..3], &[0], payload].concat()
    }

    fn row(values: &[&str]) -> Vec<u8> {
        let end = packet(&[0xfe, 0, 0, 0, 0]);
        let value = |text: &&str| [&[text.len() as u8][..], text.as_bytes()].concat();
        let row: Vec<u8> = values.iter().flat_map(value).collect();
        [packet(&[values.len() as u8]), packet(b"column").repeat(values.len()), end.clone(), packet(&row), end].concat()
    }

    fn failed(code: u16) -> Vec<u8> {
        packet(&[&[0xff][..], &code.to_le_bytes(), b"#HY000it says so"].concat())
    }

    const GREETING: [u8; 74] =
        *b"\x0a8.0.36\0\x01\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\xff\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0\
                                mysql_native_password\0";

    /// The statements among what a server has heard.
    fn statements(heard: &[u8]) -> Vec<String> {
        let (mut statements, mut rest) = (Vec::new(), heard);
        while let [a, b, c, _, packet @ ..] = rest {
            let (packet, after) = packet.split_at(u32::from_le_bytes([*a, *b, *c, 0]) as usize);
            statements.extend(packet.strip_prefix(b"\x03").map(|text| String::from_utf8_lossy(text).into_owned()));
            rest = after;
        }
        statements
    }

    /// What is asked before a connection is used, and what its answers mean.
    #[test]
    fn a_connection_is_to_a_primary_whose_settings_are_known() {
        const SET: &str = "SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = 60, sql_mode = \
                           'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";
        const WSREP: [&str; 2] = ["SELECT @@global.wsrep_on", "SET SESSION wsrep_sync_wait = 1"];
        const GROUP: &str = "SELECT @@global.group_replication_group_name";
        let done = || packet(&[0, 1, 0, 2, 0, 0, 0]);
        let settings = |read_only| row(&["1", "0", "0", "2", "InnoDB", read_only]);
        let select = format!("SELECT {}, @@global.read_only + 0", Mysql::settings("txid_lease"));
        let read = format!(
            "SELECT {NOW_MS}, name, record FROM (SELECT 1) one LEFT JOIN txid_lease ON name = {}",
            Mysql::literal("a")
        );
        let answer = || row(&["1700000000000", "a", "r"]);
        let none = || failed(1193);
        const HOST: &str = "cannot reach mysql://txid@127.0.0.1:PORT/ids: 127.0.0.1:PORT: it says so";
        let replica =
            "cannot reach mysql://txid@127.0.0.1:PORT/ids: 127.0.0.1:PORT is a replica, but the primary is needed";
        for (answers, asked, wanted) in [
            (
                vec![done(), done(), settings("0"), none(), none(), answer()],
                vec![SET, &select, WSREP[0], GROUP, &read],
                LATE,
            ),
            (
                vec![done(), done(), settings("0"), row(&["OFF"]), row(&[""]), answer()],
                vec![SET, &select, WSREP[0], GROUP, &read],
                LATE,
            ),
            (
                vec![done(), done(), settings("0"), row(&["1"]), done(), none(), answer()],
                vec![SET, &select, WSREP[0], WSREP[1], GROUP, &read],
                "durable",
            ),
            (
                vec![done(), done(), settings("0"), row(&["0"]), row(&["0a1b"]), answer()],
                vec![SET, &select, WSREP[0], GROUP, &read],
                "durable",
            ),
            (vec![done(), done(), settings("1")], vec![SET, &select], replica),
            (vec![failed(1040)], vec![], HOST),
            (vec![done(), failed(1040)], vec![SET], HOST),
            (vec![done(), done(), failed(1040)], vec![SET, &select], HOST),
            (vec![done(), done(), settings("0"), failed(1040)], vec![SET, &select, WSREP[0]], HOST),
            (
                vec![done(), done(), settings("0"), row(&["1"]), failed(1040)],
                vec![SET, &select, WSREP[0], WSREP[1]],
                HOST,
            ),
        ] {
            let texts = [vec![packet(&GREETING)], answers].concat();
            let (said, heard) = beside(&texts, |port| {
                let url = format!("mysql://txid@127.0.0.1:{port}/ids?timeout=60s");
                let mut store = StoreUrl::parse(&url).and_then(open).unwrap();
                let read = store.read("a").map(|record| record.map(|record| record.bytes));
                match read {
                    Ok(read) => {
                        assert_eq!(read.as_deref(), Some(&b"r"[..]));
                        store.durability().why().unwrap_or("durable").to_owned()
                    }
                    Err(error) => error.to_string().replace(&port.to_string(), "PORT"),
                }
            });
            assert_eq!(said, wanted);
            assert_eq!(statements(&heard), asked);
        }
        // A table that is missing is made, and a row that is there is a conflict.
        let before = [done(), done(), settings("0"), none(), none()];
        let texts = [&[packet(&GREETING)][..], &before, &[failed(1146), done(), failed(1062)]].concat();
        let (put, heard) = beside(&texts, |port| {
            let url = format!("mysql://txid@127.0.0.1:{port}/ids?timeout=60s");
            StoreUrl::parse(&url).and_then(open).unwrap().put("a", &Expected::Absent, b"r")
        });
        assert_eq!(put, Ok(Put::Conflict));
        let insert = Mysql::insert("txid_lease", &Mysql::literal("a"), &Mysql::literal("r"));
        let create = format!("CREATE TABLE IF NOT EXISTS txid_lease ({}) ENGINE=InnoDB", Mysql::COLUMNS);
        assert_eq!(statements(&heard)[4..], [insert.clone(), create, insert]);
    }

    #[test]
    fn a_server_without_tls_is_not_used_with_it() {
        let mut greeting = packet(&GREETING);
        // The second byte of its flags, after the head of a packet.
        assert_eq!(std::mem::replace(&mut greeting[4 + 22], 0xf7), 0xff);
        let (error, heard) = beside(&[greeting], |port| {
            let url = format!("mysql://txid@127.0.0.1:{port}/ids?tls=1&timeout=60s");
            StoreUrl::parse(&url).and_then(open).unwrap().read("a").unwrap_err()
        });
        assert!(heard.is_empty(), "{error}");
        assert!(error.to_string().ends_with("/ids cannot be used: this server does not support TLS"), "{error}");
    }

    #[test]
    fn a_server_without_tls_that_asks_for_the_password_does_not_get_it() {
        for asks in [&b"\xfemysql_clear_password\0"[..], b"\xfesha256_password\0abcdefghijklmnopqrst\0", &[1, 4]] {
            let (error, heard) = beside(&[packet(&GREETING), packet(asks)], |port| {
                let url = format!("mysql://txid:the-word@127.0.0.1:{port}/ids?timeout=60s");
                StoreUrl::parse(&url).and_then(open).unwrap().read("a").unwrap_err()
            });
            assert!(!heard.windows(8).any(|part| part == b"the-word"), "{}", heard.escape_ascii());
            assert!(error.to_string().contains("which only goes over TLS: add ?tls=1 to the URL"), "{error}");
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
