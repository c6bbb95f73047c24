//! One table that people can read, in MySQL or PostgreSQL.

use std::task::{Context, Poll};

use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, StoreTime, Taken, Version};

use super::address::Address;
use super::cell::{Value, parse};
use super::clock::{Asked, StoreClock};
use super::contract::{Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{Listing, PART, record};
use super::numbering::{self, WORKER_NODE};
use super::remote::{Kind, Link, Remote};
use super::url::{Host, StoreUrl};
use super::{leaf, tag};

/// The differences between the databases.
pub(super) trait Dialect: Clone + Send + Sized + 'static {
    type Connection: Link + Send + 'static;

    /// The server's clock.
    const NOW_MS: &'static str;
    /// The columns of a new table.
    const COLUMNS: &'static str;
    /// What else a new table says of itself.
    const ENGINE: &'static str;
    /// What an INSERT says where nothing is to happen if the row is there.
    const UNLESS_THERE: &'static str;
    /// What an INSERT into `WORKER_NODE` says to return the number.
    const NUMBER: &'static str;

    /// A connection to a primary, what it says when it is asked for `settings`, and when other servers have a write.
    async fn connect(
        &self,
        host: &Host,
        table: &str,
        has_several: bool,
    ) -> Result<(Self::Connection, Vec<Value>, Copies), StoreError>;

    /// Runs a statement. None if there is no such table; nothing is affected if a row is there already.
    async fn query(
        &self,
        connection: &mut Self::Connection,
        statement: &str,
        table: &str,
    ) -> Result<Option<Answer>, Failure>;

    /// A text in a statement.
    fn literal(text: &str) -> String;

    /// The statements that write a record, and return the server's time as the last id.
    fn insert(table: &str, name: &str, record: &str) -> String;
    fn update(table: &str, name: &str, old: &str, record: &str) -> String;

    /// The statement that takes numbers of a tag, unless its number is below `seen`. Their end is the last id.
    fn take(tag: &str, count: u64, seen: u64) -> String;

    /// The columns that `durability` reads.
    fn settings(table: &str) -> String;
    fn durability(settings: &[Value], table: &str, copies: Copies) -> Durability;
}

/// When other servers have what one has confirmed.
#[derive(Clone, Copy)]
pub(super) enum Copies {
    /// Before it is confirmed, as in a cluster.
    Same,
    /// Later: there are several servers in the URL.
    Late,
    /// Later, if there are replicas.
    AsSeen,
}

/// The result of a statement.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub affected: u64,
    pub last_id: u64,
    /// Each value as text; None is NULL.
    pub rows: Vec<Vec<Value>>,
}

/// A connection, and the answers of its server when it was made.
struct Primary<C> {
    connection: C,
    copies: Copies,
    durability: Durability,
}

impl<C: Link> Link for Primary<C> {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.poll_end(cx)
    }
}

type Primaries<D> = Remote<Primary<<D as Dialect>::Connection>>;

#[derive(Clone)]
pub(super) struct SqlStore<D: Dialect> {
    address: Address,
    dialect: D,
    table: String,
    remote: Primaries<D>,
    /// The answers of the server when the last connection was made.
    copies: Copies,
    shown: Durability,
    durability: Durability,
    clock: StoreClock,
}

impl<D: Dialect> SqlStore<D> {
    pub(super) fn open(url: StoreUrl, dialect: D) -> Result<Self, StoreError> {
        Ok(Self {
            table: table(&url)?,
            durability: url.durability(Durability::Unknown)?,
            remote: Remote::new(&url.address, url.hosts)?,
            address: url.address,
            dialect,
            copies: Copies::AsSeen,
            shown: Durability::Unknown,
            clock: StoreClock::default(),
        })
    }

    async fn connect(&self, host: &Host, has_several: bool) -> Result<Primary<D::Connection>, StoreError> {
        let (connection, settings, copies) = self.dialect.connect(host, &self.table, has_several).await?;
        Ok(Primary { connection, copies, durability: D::durability(&settings, &self.table, copies) })
    }

    /// Runs one statement. If the table is missing, makes it first.
    fn run(&mut self, statement: &str) -> Result<Answer, Failure> {
        let table = self.table.clone();
        let answer = self.run_on(&table, statement)?;
        self.durability.learn(self.shown.clone());
        if let Some(answer) = answer {
            return Ok(answer);
        }
        let why = match self.make_table() {
            Ok(()) => self.address.misconfigured(format_args!("there is no table {table}")),
            // Another client may have made it at the same time.
            Err(error @ StoreError::Misconfigured { .. }) => error,
            Err(error) => return Err(Failure::NotDone(error)),
        };
        self.run_on(&table, statement)?.ok_or(Failure::NotDone(why))
    }

    /// Runs a statement on a table. None if there is no such table. If a statement fails, the next access begins with
    /// another host.
    fn run_on(&mut self, table: &str, statement: &str) -> Result<Option<Answer>, Failure> {
        let (answer, copies, shown) = self.remote.call(
            Kind::Write,
            async |host| self.connect(host, self.remote.has_several()).await,
            async |_, primary| {
                let answer = self.dialect.query(&mut primary.connection, statement, table).await?;
                Ok((answer, primary.copies, primary.durability.clone()))
            },
        )?;
        (self.copies, self.shown) = (copies, shown);
        Ok(answer)
    }

    /// The number of a tag and its step, which a statement returns with the settings; None if it returns no row.
    fn ask_tag(&mut self, tag: &str, statement: &str) -> Result<Option<(u64, u64)>, StoreError> {
        let answer = self.run_on(leaf::TABLE, statement).map_err(Failure::into_error)?;
        let Some(row) = answer.and_then(|answer| answer.rows.into_iter().next()) else { return Ok(None) };
        self.durability.learn(D::durability(row.get(3..).unwrap_or_default(), leaf::TABLE, self.copies));
        leaf::same(&self.address, tag, row.get(2))?;
        leaf::numbers(&self.address, tag, &row).map(Some)
    }

    fn make_table(&mut self) -> Result<(), StoreError> {
        let create = format!("CREATE TABLE IF NOT EXISTS {} ({}){}", self.table, D::COLUMNS, D::ENGINE);
        self.run_on(&self.table.clone(), &create).map(drop).map_err(|failure| match failure.into_error() {
            StoreError::Refused { why, .. } => self.address.refused(format_args!(
                "{why}; let a user with the right to do so run this, and grant SELECT, INSERT and UPDATE on it: {create}"
            )),
            other => other,
        })
    }
}

impl<D: Dialect> Store for SqlStore<D> {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.remote.begin();
        let select = format!(
            "SELECT {}, name, record FROM (SELECT 1) one LEFT JOIN {} ON name = {}",
            D::NOW_MS,
            self.table,
            D::literal(key)
        );
        let asked_at = Asked::now();
        let answer = self.run(&select).map_err(Failure::into_error)?;
        let row = answer.rows.into_iter().next().unwrap_or_default();
        let now_ms = parse(row.first()).ok_or_else(|| self.address.damaged("it does not tell its time"))?;
        self.clock.saw(asked_at.shows(now_ms, 1));
        found(&self.address, &self.table, key, row)?.map(|bytes| record(&self.address, key, bytes)).transpose()
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.remote.begin();
        let name = D::literal(key);
        let prepared = text(&self.address, bytes).and_then(|new| {
            let new = D::literal(new);
            Ok(match expected {
                Expected::Absent => D::insert(&self.table, &name, &new),
                Expected::Version(old) => {
                    D::update(&self.table, &name, &D::literal(text(&self.address, &old.0)?), &new)
                }
            })
        });
        let asked_at = Asked::now();
        match prepared.and_then(|statement| self.run(&statement)) {
            Ok(Answer { affected: 0, .. }) => Ok(Put::Conflict),
            Ok(Answer { last_id, .. }) => {
                self.clock.saw(asked_at.shows(i64::try_from(last_id).unwrap_or(0), 1));
                Ok(Put::Written(Version(bytes.to_vec())))
            }
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let mut listing = Listing::begin();
        let prefix = D::literal(prefix);
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
            let Some(last) = listed(&self.address, &self.table, rows, show)? else { return Ok(()) };
            after = format!(" AND name > {}", D::literal(&last));
        }
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        if self.clock.now().is_none() {
            self.read("clock")?;
        }
        Ok(self.clock.now())
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }

    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        self.remote.begin();
        let name = D::literal(tag);
        let settings = D::settings(leaf::TABLE);
        let select = format!("SELECT max_id, step, biz_tag, {settings} FROM leaf_alloc WHERE biz_tag = {name}");
        let Some((number, step)) = self.ask_tag(tag, &select)? else { return Ok(Taken::NoTag) };
        let count = match tag::count(number, step, count, seen) {
            Ok(count) => count,
            Err(taken) => return Ok(taken),
        };
        // One statement takes the numbers and returns their end: no transaction stays open, and nothing is read in
        // between.
        match self.run_on(leaf::TABLE, &D::take(&name, count, seen)).map_err(Failure::into_error)? {
            None => Ok(Taken::NoTag),
            Some(Answer { affected: 0, .. }) => Ok(Taken::WentDown { number }),
            Some(Answer { last_id, .. }) => tag::taken(&self.address, tag, last_id, count, step),
        }
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.remote.begin();
        // By default, the engine may be one that forgets.
        let create = format!("{}{}", leaf::CREATE, D::ENGINE);
        for statement in [create, format!("{}{}", leaf::insert(tag, step), D::UNLESS_THERE)] {
            self.run_on(leaf::TABLE, &statement).map_err(Failure::into_error)?;
        }
        Ok(())
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        leaf::how_to_create(tag, step, D::ENGINE)
    }

    fn numbering(&self) -> Numbering {
        Numbering::WorkerNode
    }

    fn number(&mut self, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        self.remote.begin();
        let (host, port) = numbering::host_and_port(owner, group);
        let address = self.address.clone();
        let mut run = |statement: &str| -> Result<Answer, StoreError> {
            let answer = self.run_on(WORKER_NODE, statement).map_err(Failure::into_error)?;
            answer.ok_or_else(|| numbering::no_table(&address))
        };
        let highest = run("SELECT MAX(ID) FROM WORKER_NODE")?;
        let highest: Option<u64> = parse(highest.rows.first().and_then(|row| row.first()));
        if highest.is_some_and(|highest| highest >= last) {
            return Ok(Numbered::UsedUp);
        }
        let insert = numbering::insert(&D::literal(&host), &D::literal(&port));
        let given = run(&format!("{insert}{}", D::NUMBER))?.last_id;
        Ok(Some(given).filter(|node| *node <= last).map_or(Numbered::UsedUp, Numbered::Node))
    }
}

/// The table's name, from the URL.
fn table(url: &StoreUrl) -> Result<String, StoreError> {
    let table = url.option("table").unwrap_or("txid_lease");
    if table.is_empty() || !table.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.') {
        return Err(url
            .address
            .misconfigured(format_args!("table={table} is not the name of a table: use letters, digits, _ and .")));
    }
    Ok(table.to_owned())
}

/// The database and its user, from the URL.
pub(super) fn database(url: &StoreUrl) -> Result<(&str, &str), StoreError> {
    let user = url.user.as_deref().ok_or_else(|| {
        url.address.misconfigured(format_args!("it names no user: write {}://USER@HOST/DATABASE", url.scheme.name))
    })?;
    if url.path.is_empty() || url.path.contains('/') {
        return Err(url.address.misconfigured(format_args!(
            "it names no database: write {}://USER@HOST/DATABASE, and ?table=NAME for another table than txid_lease",
            url.scheme.name
        )));
    }
    Ok((user, &url.path))
}

/// The columns hold text, so that people can read them.
fn text<'a>(address: &Address, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Failure::NotDone(address.misconfigured("a record in a SQL store is text, and these bytes are not"))),
    }
}

/// The record of a row with a time, a name and a record. Without a name, there is no record.
fn found(address: &Address, table: &str, key: &str, row: Vec<Value>) -> Result<Value, StoreError> {
    match <[Value; 3]>::try_from(row) {
        Ok([_, None, _]) => Ok(None),
        Ok([_, Some(_), Some(bytes)]) => Ok(Some(bytes)),
        Ok([_, Some(_), None]) => Err(null(address, table, key)),
        Err(row) => Err(address.damaged(format_args!("it returned {} columns for {key}", row.len()))),
    }
}

/// Shows the records of rows with a name and a record. Returns the last name if there may be more than this part of the
/// table.
fn listed(address: &Address, table: &str, rows: Vec<Vec<Value>>, show: Show) -> Result<Option<String>, StoreError> {
    let is_full = rows.len() >= PART;
    let mut last = None;
    for row in rows {
        let Ok([Some(name), record]) = <[Value; 2]>::try_from(row) else {
            return Err(address.damaged(format_args!("{table} has a row without a name")));
        };
        let name = String::from_utf8_lossy(&name).into_owned();
        let record = record.ok_or_else(|| null(address, table, &name))?;
        show(&name, Record::compared_by_bytes(record));
        last = Some(name);
    }
    Ok(last.filter(|_| is_full))
}

/// The error for a record that somebody has made NULL.
fn null(address: &Address, table: &str, key: &str) -> StoreError {
    address.damaged(format_args!("{table} has record = NULL for name = '{key}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_without_zeros_is_a_record() {
        let address = Address::new("here".to_owned());
        assert!(text(&address, "owner=caf\u{e9}".as_bytes()).is_ok_and(|text| text == "owner=caf\u{e9}"));
        for bytes in [&b"with\0a zero"[..], b"\0", b"caf\xe9"] {
            let Err(Failure::NotDone(error)) = text(&address, bytes) else { panic!("{}", bytes.escape_ascii()) };
            assert!(error.to_string().contains("a record in a SQL store is text"), "{error}");
        }
    }

    #[test]
    fn a_url_names_a_table_a_user_and_a_database() {
        let parse = |rest: &str| StoreUrl::parse(&format!("mysql://{rest}")).unwrap();
        let name = |rest: &str| table(&parse(rest)).ok();
        let names = ["u@h/d", "u@h/d?table=a.b_1", "u@h/d?table=", "u@h/d?table=a-b", "u@h/d?table=a%3Bb"].map(name);
        assert_eq!(names, [Some("txid_lease".to_owned()), Some("a.b_1".to_owned()), None, None, None]);
        assert_eq!(database(&parse("u@h/d")), Ok(("u", "d")));
        for (rest, why) in
            [("h/d", "it names no user"), ("u@h", "it names no database"), ("u@h/d/e", "it names no database")]
        {
            let error = database(&parse(rest)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_row_without_a_name_is_no_record_and_one_without_a_record_is_damaged() {
        let address = Address::new("here".to_owned());
        let value = |text: &str| Some(text.as_bytes().to_vec());
        let of = |row| found(&address, "t", "k", row);
        assert_eq!(of(vec![value("1"), None, None]), Ok(None));
        assert_eq!(of(vec![value("1"), value("k"), value("r")]), Ok(value("r")));
        assert!(of(vec![value("1"), value("k"), None]).is_err() && of(vec![value("1")]).is_err());

        let list = |rows: Vec<Vec<Value>>| {
            let mut names = Vec::new();
            listed(&address, "t", rows, &mut |name, _| names.push(name.to_owned())).map(|last| (names, last))
        };
        let rows = |count| (0..count).map(|at| vec![value(&format!("{at:03}")), value("r")]).collect();
        assert_eq!(list(rows(2)), Ok((vec!["000".to_owned(), "001".to_owned()], None)));
        // There may be more.
        assert_eq!(list(rows(PART)).unwrap().1, Some(format!("{:03}", PART - 1)));
        assert!(list(vec![vec![None, value("r")]]).is_err() && list(vec![vec![value("a"), None]]).is_err());
    }
}
