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
    use super::super::cell::shown;
    use super::*;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    type Said = Result<Option<Answer>, Failure>;

    /// A database that answers as it is told, and notes what it is asked.
    #[derive(Clone)]
    struct Told(Arc<Mutex<VecDeque<Said>>>, Arc<Mutex<Vec<String>>>);

    struct Open;

    impl Link for Open {
        fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }

    impl Dialect for Told {
        type Connection = Open;

        const NOW_MS: &'static str = "NOW";
        const COLUMNS: &'static str = "COLUMNS";
        const ENGINE: &'static str = " ENGINE";
        const UNLESS_THERE: &'static str = " UNLESS THERE";
        const NUMBER: &'static str = " NUMBER";

        async fn connect(&self, _: &Host, table: &str, _: bool) -> Result<(Open, Vec<Value>, Copies), StoreError> {
            Ok((Open, vec![Some(format!("connected for {table}").into_bytes())], Copies::Same))
        }

        async fn query(&self, _: &mut Open, statement: &str, table: &str) -> Result<Option<Answer>, Failure> {
            self.1.lock().unwrap().push(format!("{table}: {statement}"));
            self.0.lock().unwrap().pop_front().unwrap_or_else(|| panic!("nobody expects {statement}"))
        }

        fn literal(text: &str) -> String {
            format!("<{text}>")
        }

        fn insert(table: &str, name: &str, record: &str) -> String {
            format!("INSERT {table} {name} {record}")
        }

        fn update(table: &str, name: &str, old: &str, record: &str) -> String {
            format!("UPDATE {table} {name} {old} {record}")
        }

        fn take(tag: &str, count: u64, seen: u64) -> String {
            format!("TAKE {tag} {count} {seen}")
        }

        fn settings(table: &str) -> String {
            format!("SETTINGS {table}")
        }

        fn durability(settings: &[Value], table: &str, copies: Copies) -> Durability {
            let settings: Vec<_> = settings.iter().filter_map(shown).collect();
            let same = if matches!(copies, Copies::Same) { " same" } else { "" };
            Durability::may_lose(&format!("{table}: {}{same}", settings.join(" ")))
        }
    }

    fn value(text: &str) -> Value {
        Some(text.as_bytes().to_vec())
    }

    fn rows(rows: &[&[&str]]) -> Said {
        let rows = rows.iter().map(|row| row.iter().map(|text| value(text).filter(|_| *text != "NULL")).collect());
        Ok(Some(Answer { rows: rows.collect(), ..Answer::default() }))
    }

    fn done(affected: u64, last_id: u64) -> Said {
        Ok(Some(Answer { affected, last_id, rows: Vec::new() }))
    }

    fn not_done(error: fn(&Address, &'static str) -> StoreError, why: &'static str) -> Said {
        Err(Failure::NotDone(error(&Address::new("here".to_owned()), why)))
    }

    fn unknown() -> Said {
        Err(Failure::Unknown(Address::new("here".to_owned()).unreachable("it is gone")))
    }

    /// The statements of a call with these answers, and its result.
    fn calls<T: std::fmt::Debug>(
        answers: Vec<Said>,
        call: impl FnOnce(&mut SqlStore<Told>) -> Result<T, StoreError>,
    ) -> (Vec<String>, String, SqlStore<Told>) {
        let told = Told(Arc::new(Mutex::new(answers.into())), Arc::default());
        let url = StoreUrl::parse("mysql://u@127.0.0.1/d").unwrap();
        let mut store = SqlStore::open(url, told.clone()).unwrap();
        let result = call(&mut store).map_or_else(|error| error.to_string(), |done| format!("{done:?}"));
        assert!(told.0.lock().unwrap().is_empty(), "it asks no more: {result}");
        let asked = std::mem::take(&mut *told.1.lock().unwrap());
        (asked, result, store)
    }

    const SELECT: &str =
        "txid_lease: SELECT NOW, name, record FROM (SELECT 1) one LEFT JOIN txid_lease ON name = <a/b>";
    const MAKE: &str = "txid_lease: CREATE TABLE IF NOT EXISTS txid_lease (COLUMNS) ENGINE";

    #[test]
    fn a_table_that_is_missing_is_made() {
        const REFUSED: &str = "mysql://u@127.0.0.1/d refused: no; let a user with the right to do so run this, and grant \
                               SELECT, INSERT and UPDATE on it: CREATE TABLE IF NOT EXISTS txid_lease (COLUMNS) ENGINE";
        let row = || rows(&[&["5000", "NULL", "NULL"]]);
        for (answers, asked, wanted) in [
            (vec![row()], 1, "None"),
            (vec![Ok(None), done(0, 0), row()], 3, "None"),
            (
                vec![Ok(None), done(0, 0), Ok(None)],
                3,
                "mysql://u@127.0.0.1/d cannot be used: there is no table txid_lease",
            ),
            (vec![Ok(None), not_done(|here, why| here.refused(why), "no")], 2, REFUSED),
            (vec![Ok(None), not_done(|here, why| here.unreachable(why), "full")], 2, "cannot reach here: full"),
            // Another client may have made it.
            (vec![Ok(None), not_done(|here, why| here.misconfigured(why), "it is there"), row()], 3, "None"),
            (
                vec![Ok(None), not_done(|here, why| here.misconfigured(why), "bad"), Ok(None)],
                3,
                "here cannot be used: bad",
            ),
            (vec![unknown()], 1, "cannot reach here: it is gone"),
        ] {
            let (statements, said, _) = calls(answers, |store| store.read("a/b"));
            assert_eq!(statements, [SELECT, MAKE, SELECT][..asked]);
            assert_eq!(said, wanted);
        }
        // A record for a table that was not made is not written.
        let put = |answers| calls(answers, |store| store.put("a/b", &Expected::Absent, b"r"));
        let (_, said, _) = put(vec![Ok(None), unknown()]);
        assert_eq!(said, "cannot reach here: it is gone");
    }

    #[test]
    fn a_record_is_read_with_the_servers_time_and_settings() {
        let (_, said, mut store) = calls(vec![rows(&[&["5000", "a/b", "r"]])], |store| store.read("a/b"));
        assert_eq!(said, format!("{:?}", Some(Record::compared_by_bytes(b"r".to_vec()))));
        assert!(store.clock().unwrap().is_some_and(|time| time.earliest_ms >= 5_000), "nobody is asked again");
        assert_eq!(store.durability().why(), Some("txid_lease: connected for txid_lease same"));
        for (row, wanted) in [
            (&["NULL", "a/b", "r"][..], "it does not tell its time"),
            (&[][..], "it does not tell its time"),
            (&["5000", "a/b", "NULL"][..], "txid_lease has record = NULL for name = 'a/b'"),
            (&["5000", "a/b"][..], "it returned 2 columns for a/b"),
        ] {
            let (_, said, _) = calls(vec![rows(&[row])], |store| store.read("a/b"));
            assert_eq!(said, format!("mysql://u@127.0.0.1/d gave an invalid answer: {wanted}"));
        }
        let (asked, _, _) = calls(vec![rows(&[&["5000", "NULL", "NULL"]])], |store| store.clock());
        assert!(asked[0].ends_with("name = <clock>"), "{asked:?}");
    }

    #[test]
    fn a_record_is_written_by_one_statement() {
        let old = Expected::Version(Version(b"o".to_vec()));
        let written = format!("{:?}", Put::Written(Version(b"r".to_vec())));
        let lost = format!("{:?}", Put::Unknown(Address::new("here".to_owned()).unreachable("it is gone")));
        for (answer, wanted) in [
            (done(1, 5_000), written.as_str()),
            (done(0, 0), "Conflict"),
            (unknown(), lost.as_str()),
            (not_done(|here, why| here.unreachable(why), "full"), "cannot reach here: full"),
        ] {
            let (statements, said, _) = calls(vec![answer], |store| store.put("a/b", &Expected::Absent, b"r"));
            assert_eq!((&*statements[0], &*said), ("txid_lease: INSERT txid_lease <a/b> <r>", wanted));
        }
        let (statements, said, mut store) = calls(vec![done(1, 5_000)], |store| store.put("a/b", &old, b"r"));
        assert_eq!((&*statements[0], said), ("txid_lease: UPDATE txid_lease <a/b> <o> <r>", written));
        assert!(store.clock().unwrap().is_some_and(|time| time.earliest_ms >= 5_000), "nobody is asked again");
        for (old, new) in [(&old, &b"\0"[..]), (&Expected::Version(Version(b"\xff".to_vec())), &b"r"[..])] {
            let (statements, said, _) = calls(vec![], |store| store.put("a/b", old, new));
            assert!(statements.is_empty() && said.ends_with("is text, and these bytes are not"), "{said}");
        }
    }

    #[test]
    fn a_list_is_read_in_parts() {
        let names: Vec<String> = (0..PART).map(|at| format!("a/{at:04}")).collect();
        let full: Vec<_> = names.iter().map(|name| [name.as_str(), "r"]).collect();
        let full: Vec<&[&str]> = full.iter().map(|row| &row[..]).collect();
        let mut shown = 0;
        let answers = vec![rows(&full), rows(&[&["a/9", "r"]])];
        let (statements, said, _) = calls(answers, |store| store.list("a/", &mut |_, _| shown += 1));
        assert_eq!((said.as_str(), shown), ("()", PART + 1));
        const FIRST: &str =
            "txid_lease: SELECT name, record FROM txid_lease WHERE LEFT(name, CHAR_LENGTH(<a/>)) = <a/>";
        const END: &str = " ORDER BY name LIMIT 2048";
        assert_eq!(statements, [format!("{FIRST}{END}"), format!("{FIRST} AND name > <a/2047>{END}")]);
        for (row, why) in [(["NULL", "r"], "a row without a name"), (["a/1", "NULL"], "record = NULL for name = 'a/1'")]
        {
            let (_, said, _) = calls(vec![rows(&[&row])], |store| store.list("a/", &mut |_, _| {}));
            assert_eq!(said, format!("mysql://u@127.0.0.1/d gave an invalid answer: txid_lease has {why}"));
        }
    }

    #[test]
    fn numbers_of_a_tag_are_taken_after_a_look_at_it() {
        const LOOK: &str =
            "leaf_alloc: SELECT max_id, step, biz_tag, SETTINGS leaf_alloc FROM leaf_alloc WHERE biz_tag = <a>";
        let row = |number: &'static str, tag: &'static str| rows(&[&[number, "20", tag, "on", "off"]]);
        for (answers, count, taken, wanted) in [
            (vec![rows(&[])], None, None, "NoTag"),
            (vec![Ok(None)], None, None, "NoTag"),
            (vec![row("7", "a"), done(1, 27)], None, Some("20 7"), "Range { range: 7..27, step: 20 }"),
            (vec![row("8", "a"), done(1, 13)], Some(5), Some("5 7"), "Range { range: 8..13, step: 20 }"),
            // It went down before the look, or after it.
            (vec![row("6", "a")], None, None, "WentDown { number: 6 }"),
            (vec![row("7", "a"), done(0, 0)], None, Some("20 7"), "WentDown { number: 7 }"),
            (vec![row("7", "a"), Ok(None)], None, Some("20 7"), "NoTag"),
            (vec![row("9223372036854775800", "a")], None, None, "Ended"),
            (vec![row("7", "a"), unknown()], None, Some("20 7"), "cannot reach here: it is gone"),
            (vec![unknown()], None, None, "cannot reach here: it is gone"),
            (
                vec![row("7", "A")],
                None,
                None,
                "mysql://u@127.0.0.1/d cannot be used: leaf_alloc has biz_tag = 'A' in place of 'a', and does not tell them \
                 apart; use one of them only, as it is written there",
            ),
            (
                vec![row("NULL", "a")],
                None,
                None,
                "mysql://u@127.0.0.1/d cannot be used: leaf_alloc has max_id = NULL for biz_tag = 'a': it must be a whole \
                 number from 1 to 9223372036854775807",
            ),
        ] {
            let (statements, said, _) = calls(answers, |store| store.take("a", count, 7));
            let take = taken.map(|of| format!("leaf_alloc: TAKE <a> {of}"));
            assert_eq!(statements, [LOOK.to_owned()].into_iter().chain(take).collect::<Vec<_>>());
            assert_eq!(said, wanted);
        }
        let (_, _, store) = calls(vec![row("6", "a")], |store| store.take("a", None, 7));
        assert_eq!(store.durability().why(), Some("leaf_alloc: on off same"));
    }

    #[test]
    fn a_tag_is_made_in_a_table_that_may_be_missing() {
        let insert = "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('a', 1, 20)";
        let create = format!("{} ENGINE", leaf::CREATE);
        let wanted = [format!("leaf_alloc: {create}"), format!("leaf_alloc: {insert} UNLESS THERE")];
        let (statements, said, _) = calls(vec![done(0, 0), done(1, 0)], |store| store.create_tag("a", 20));
        assert_eq!((&statements[..], said.as_str()), (&wanted[..], "()"));
        let (statements, said, _) = calls(vec![unknown()], |store| store.create_tag("a", 20));
        assert_eq!((&statements[..], said.as_str()), (&wanted[..1], "cannot reach here: it is gone"));
    }

    #[test]
    fn a_node_is_numbered_by_a_row_of_its_own() {
        const NONE: &str = "mysql://u@127.0.0.1/d cannot be used: it has no table WORKER_NODE: name the database that \
                            UidGenerator uses, or make the table as its WORKER_NODE.sql does";
        let insert = "WORKER_NODE: INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES \
                      (<here>, <txid-orders>, 2, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP) NUMBER";
        for (answers, asked, wanted) in [
            (vec![rows(&[&["9"]]), done(1, 10)], 2, "Node(10)"),
            (vec![rows(&[&["NULL"]]), done(1, 1)], 2, "Node(1)"),
            (vec![rows(&[&["10"]])], 1, "UsedUp"),
            // Others have taken some meanwhile.
            (vec![rows(&[&["9"]]), done(1, 11)], 2, "UsedUp"),
            (vec![Ok(None)], 1, NONE),
            (vec![rows(&[&["9"]]), Ok(None)], 2, NONE),
            (vec![unknown()], 1, "cannot reach here: it is gone"),
        ] {
            let (statements, said, store) = calls(answers, |store| store.number("orders", "here", 10));
            assert_eq!(statements, ["WORKER_NODE: SELECT MAX(ID) FROM WORKER_NODE", insert][..asked]);
            assert_eq!(said, wanted);
            assert_eq!(store.numbering(), Numbering::WorkerNode);
        }
    }

    #[test]
    fn only_text_without_zeros_is_a_record() {
        let address = Address::new("here".to_owned());
        assert!(text(&address, "owner=caf\u{e9}".as_bytes()).is_ok_and(|text| text == "owner=caf\u{e9}"));
        for bytes in [&b"with\0a zero"[..], b"\0", b"caf\xe9"] {
            let Err(Failure::NotDone(error)) = text(&address, bytes) else { panic!("{}", bytes.escape_ascii()) };
            let why = "here cannot be used: a record in a SQL store is text, and these bytes are not";
            assert_eq!(error.to_string(), why);
        }
    }

    #[test]
    fn a_url_names_a_table_a_user_and_a_database() {
        let parse = |rest: &str| StoreUrl::parse(&format!("mysql://{rest}")).unwrap();
        let name = |rest: &str| table(&parse(rest)).ok();
        let names = ["u@h/d", "u@h/d?table=a.b_1", "u@h/d?table=", "u@h/d?table=a-b", "u@h/d?table=a%3Bb"].map(name);
        assert_eq!(names, [Some("txid_lease".to_owned()), Some("a.b_1".to_owned()), None, None, None]);
        assert_eq!(database(&parse("u@h/d")), Ok(("u", "d")));
        const NO_USER: &str = "it names no user: write mysql://USER@HOST/DATABASE";
        const NO_DATABASE: &str = "it names no database: write mysql://USER@HOST/DATABASE, and ?table=NAME for another table than \
                                   txid_lease";
        for (rest, why) in [("h/d", NO_USER), ("u@h", NO_DATABASE), ("u@h/d/e", NO_DATABASE)] {
            let error = database(&parse(rest)).unwrap_err().to_string();
            assert_eq!(error, format!("mysql://{rest} cannot be used: {why}"));
        }
        let error = table(&parse("u@h/d?table=a-b")).unwrap_err().to_string();
        let why = "table=a-b is not the name of a table: use letters, digits, _ and .";
        assert_eq!(error, format!("mysql://u@h/d cannot be used: {why}"));
    }
}
