//! ZooKeeper 3.6 and later: a znode for each record.
//!
//! ZooKeeper restarts a record's version when it is deleted and made again, so an old version can come back. So each
//! record gets a child with a random name when it is made, and every write checks that the child is there.

mod wire;

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use self::wire::{
    AUTH_FAILED, Access, Answer, BAD_ARGUMENTS, BAD_VERSION, Connection, Error, INVALID_ACL, NO_AUTH, NO_NODE,
    NODE_EXISTS, NOT_READ_ONLY, QUOTA_EXCEEDED, Request, Stat, UNIMPLEMENTED,
};
use super::address::Address;
use super::clock::{Asked, StoreClock};
use super::contract::{Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{Listing, PART, Room, record};
use super::numbering;
use super::remote::{Kind, Link, Remote};
use super::url::{Host, StoreUrl};
use super::wire::Wire;
use txid::Txid;
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, StoreTime, Version};

/// The prefix of that child's name.
const BORN: &str = "born-";

/// A key, and the names below it, the content and the state that are there.
type Found = (String, Vec<String>, Vec<u8>, Stat);

/// A group, `node`, and a number.
const DEEPEST: u8 = 3;

/// What is asked for: longer than the time between two renewals, so that a session needs no pings. Servers may
/// grant less.
const SESSION: Duration = Duration::from_secs(40);

/// A connection, and when it was used last.
struct Session {
    connection: Connection<Wire>,
    used: Instant,
}

impl Link for Session {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // One that may end any moment is not used for a write.
        if self.used.elapsed() >= self.connection.session / 2 {
            return Poll::Ready(());
        }
        self.connection.stream.poll_end(cx)
    }
}

#[derive(Clone)]
pub(super) struct ZookeeperStore {
    address: Address,
    auth: Option<String>,
    root: String,
    durability: Durability,
    remote: Remote<Session>,
    clock: StoreClock,
}

impl ZookeeperStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&[])?;
        let address = url.address.clone();
        if url.tls.is_some() {
            return Err(address.misconfigured("TLS to ZooKeeper is not supported: use a tunnel on this host"));
        }
        let auth = url.login()?.map(|(user, password)| format!("{user}:{}", password.reveal()));
        // A majority of the servers has written it to disk.
        let durability = url.durability(Durability::Durable)?;
        Ok(Self {
            auth,
            root: format!("/{}", if url.path.is_empty() { "txid" } else { &url.path }),
            durability,
            remote: Remote::new(&address, url.hosts)?,
            address,
            clock: StoreClock::default(),
        })
    }

    async fn connect(&self, host: &Host) -> Result<Session, StoreError> {
        let wire = Wire::connect(&self.address, host, None).await?;
        let begun = Connection::begin(wire, SESSION, self.auth.as_deref()).await;
        let connection = begun.map_err(|error| match self.meaning(error).into_error() {
            StoreError::Unreachable { why, .. } => self.address.unreachable(format_args!("{host}: {why}")),
            other => other,
        })?;
        Ok(Session { connection, used: Instant::now() })
    }

    /// Sends `requests`, each of which must be answered. If that fails, the next access begins with another host.
    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Result<Answer, Error>>, Failure> {
        self.remote.call(
            Kind::Write,
            async |host| self.connect(host).await,
            async |_, session| {
                session.connection.stream.renew();
                let answers = session.connection.ask(requests).await.map_err(|error| self.meaning(error))?;
                session.used = Instant::now();
                Ok(answers)
            },
        )
    }

    /// Sends one request. None if the answer is one of `expected`.
    fn ask_one(&mut self, request: Request, expected: &[i32]) -> Result<Option<Answer>, Failure> {
        match self.ask(&[request])?.pop() {
            Some(Ok(answer)) => Ok(Some(answer)),
            Some(Err(Error::Server(code))) if expected.contains(&code) => Ok(None),
            Some(Err(error)) => Err(self.meaning(error)),
            None => Err(Failure::Unknown(self.address.damaged("no answer"))),
        }
    }

    /// The meaning of an error.
    fn meaning(&self, error: Error) -> Failure {
        let address = &self.address;
        let code = match error {
            Error::Server(code) => code,
            Error::Io(error) => return Failure::Unknown(address.broken(&error)),
        };
        match code {
            NO_AUTH | INVALID_ACL | AUTH_FAILED => Failure::NotDone(address.refused(format_args!(
                "error {code}; what lies below {} belongs to another user: give yours as zookeeper://USER@HOST, and \
                 TXID_STORE_PASSWORD or ?password-file=FILE",
                self.root
            ))),
            QUOTA_EXCEEDED => Failure::NotDone(address.misconfigured("the quota is used up")),
            UNIMPLEMENTED | BAD_ARGUMENTS => {
                Failure::NotDone(address.misconfigured(format_args!("it does not know a request (error {code})")))
            }
            NOT_READ_ONLY => Failure::NotDone(address.unreachable("this server has lost contact with the others")),
            _ => Failure::Unknown(address.unreachable(format_args!("error {code}"))),
        }
    }

    /// If there is a user, only that user may access a new record.
    fn access(&self) -> Access {
        if self.auth.is_some() { Access::Creator } else { Access::Anyone }
    }

    /// What is at these keys, except where it was deleted in the meantime, by one request.
    fn look_at(&mut self, keys: &[String]) -> Result<Vec<Found>, StoreError> {
        let both = |key: &String| {
            let path = self.path(key);
            [Request::children(&path), Request::data(&path)]
        };
        let requests: Vec<_> = keys.iter().flat_map(both).collect();
        let answer = self.ask_one(Request::reads(&requests), &[]).map_err(Failure::into_error)?;
        let mut answer = answer.ok_or_else(|| self.address.damaged("no answer"))?;
        let mut found = Vec::new();
        for key in keys {
            let children = answer.next_read().and_then(Answer::texts);
            let data = answer.next_read().and_then(Answer::record);
            match (children, data) {
                (Ok(children), Ok((bytes, stat))) => found.push((key.clone(), children, bytes, stat)),
                (Err(Error::Server(NO_NODE)), _) | (_, Err(Error::Server(NO_NODE))) => {}
                (Err(error), _) | (_, Err(error)) => return Err(self.meaning(error).into_error()),
            }
        }
        Ok(found)
    }

    fn path(&self, key: &str) -> String {
        format!("{}/{}", self.root, key.trim_end_matches('/'))
    }

    /// Does all of `requests`, or none.
    fn ask_all(&mut self, requests: Request) -> Result<Result<Option<Stat>, Error>, Failure> {
        let answer = self.ask(&[requests])?.pop();
        let answer = answer.ok_or_else(|| Failure::Unknown(self.address.damaged("no answer")))?;
        Ok(answer.and_then(|mut answer| answer.all()))
    }

    /// Makes a record, and what lies above it.
    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<Option<Version>, Failure> {
        let born = format!("{BORN}{}", Txid::now());
        for _ in 0..2 {
            let create = |path: &str, bytes| Request::create(path, bytes, self.access(), false);
            let both = Request::all(&[create(path, bytes), create(&format!("{path}/{born}"), b"")]);
            match self.ask_all(both)? {
                Err(Error::Server(NO_NODE)) => {
                    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
                    self.make(&parent)?;
                }
                Err(Error::Server(NODE_EXISTS)) => return Ok(None),
                other => return other.map(|_| Some(version(0, &born))).map_err(|error| self.meaning(error)),
            }
        }
        Ok(None)
    }

    /// Makes an empty record at `path`, and what lies above it, where there is none.
    fn make(&mut self, path: &str) -> Result<(), Failure> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let requests: Vec<_> = ends.map(|end| Request::create(&path[..end], b"", self.access(), false)).collect();
        for answer in self.ask(&requests)? {
            match answer {
                Ok(_) | Err(Error::Server(NODE_EXISTS)) => {}
                Err(error) => return Err(self.meaning(error)),
            }
        }
        Ok(())
    }
}

impl Store for ZookeeperStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.remote.begin();
        let path = self.path(key);
        // A server may lag behind the leader until it has synced. The three requests are sent together.
        let requests = [Request::sync(&self.root), Request::children(&path), Request::data(&path)];
        let answers = self.ask(&requests).map_err(Failure::into_error)?;
        let Ok([sync, children, data]) = <[_; 3]>::try_from(answers) else {
            return Err(self.address.damaged("three requests did not get three answers"));
        };
        match sync {
            Ok(_) | Err(Error::Server(NO_NODE)) => {}
            Err(error) => return Err(self.meaning(error).into_error()),
        }
        let found = match (children, data) {
            (Err(Error::Server(NO_NODE)), _) | (_, Err(Error::Server(NO_NODE))) => return Ok(None),
            (Ok(mut children), Ok(mut data)) => children.texts().and_then(|children| Ok((children, data.record()?))),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        let (children, (bytes, stat)) = found.map_err(|error| self.meaning(error).into_error())?;
        let version = version_of(&children, &stat).ok_or_else(|| {
            self.address.damaged(format_args!("{path} has no child {BORN}..., so it is not a record of txid-agent"))
        })?;
        Ok(Some(Record { version, ..record(&self.address, key, bytes)? }))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.remote.begin();
        let path = self.path(key);
        let written = match expected {
            Expected::Absent => self.create(&path, bytes),
            Expected::Version(old) => {
                let (number, born) = parts(old).ok_or_else(|| {
                    self.address.damaged(format_args!("{old:?} is not a version of a record in ZooKeeper"))
                })?;
                let all = [Request::check(&format!("{path}/{born}"), 0), Request::set_data(&path, bytes, number)];
                let born = born.to_owned();
                let asked_at = Asked::now();
                match self.ask_all(Request::all(&all)) {
                    Ok(Ok(Some(stat))) => {
                        self.clock.saw(asked_at.shows(stat.mtime, 1));
                        Ok(Some(version(stat.version, &born)))
                    }
                    Ok(Ok(None)) => Err(Failure::Unknown(self.address.damaged("a write without a version"))),
                    Ok(Err(Error::Server(NO_NODE | BAD_VERSION))) => Ok(None),
                    Ok(Err(error)) => Err(self.meaning(error)),
                    Err(failure) => Err(failure),
                }
            }
        };
        match written {
            Ok(Some(version)) => Ok(Put::Written(version)),
            Ok(None) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    /// The names of all children are one answer; the records are read in parts.
    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let mut listing = Listing::begin();
        self.remote.begin();
        let root = self.root.clone();
        self.ask_one(Request::sync(&root), &[NO_NODE]).map_err(Failure::into_error)?;
        let mut room = Room::default();
        let mut level = vec![prefix.trim_end_matches('/').to_owned()];
        for depth in 0.. {
            if level.is_empty() {
                break;
            }
            if depth == DEEPEST {
                return Err(self.address.damaged(format_args!("{prefix} has records below records")));
            }
            let mut next = Vec::new();
            for part in level.chunks(PART) {
                self.remote.begin();
                listing.add(&self.address, part.len())?;
                for (key, children, bytes, stat) in self.look_at(part)? {
                    match version_of(&children, &stat) {
                        Some(version) => show(&key, Record { bytes, version }),
                        None => {
                            for child in children {
                                room.take(key.len() + child.len()).map_err(|error| self.address.damaged(error))?;
                                next.push(format!("{key}/{child}"));
                            }
                        }
                    }
                }
            }
            level = next;
        }
        Ok(())
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        if self.clock.now().is_none() {
            self.remote.begin();
            // Only a write shows the time.
            let root = self.root.clone();
            self.make(&root).map_err(Failure::into_error)?;
            let asked_at = Asked::now();
            let answer = self.ask_one(Request::set_data(&root, b"", -1), &[]).map_err(Failure::into_error)?;
            let stat = answer.map(|mut answer| answer.stat()).transpose();
            if let Some(stat) = stat.map_err(|error| self.meaning(error).into_error())? {
                self.clock.saw(asked_at.shows(stat.mtime, 1));
            }
        }
        Ok(self.clock.now())
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }

    fn numbering(&self) -> Numbering {
        Numbering::LeafForever
    }

    fn number(&mut self, _: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        self.remote.begin();
        let forever = format!("{}/forever", self.root);
        let child = format!("{forever}/{}", numbering::leaf_child(owner));
        let content = numbering::leaf_content(owner, txid::system_ms());
        let none = self.address.misconfigured(format_args!(
            "there is no {forever}: write zookeeper://HOST/snowflake/NAME, with the leaf.name of Leaf's servers"
        ));
        let children = self.ask_one(Request::children(&forever), &[NO_NODE]).map_err(Failure::into_error)?;
        let children = children.ok_or(none)?.texts().map_err(|error| self.meaning(error).into_error())?;
        if children.iter().filter_map(|child| numbering::leaf_number(child)).any(|number| number >= last) {
            return Ok(Numbered::UsedUp);
        }
        let create = Request::create(&child, content.as_bytes(), self.access(), true);
        let made = self.ask_one(create, &[]).map_err(Failure::into_error)?;
        let path = made.map_or(Ok(String::new()), |mut made| made.text());
        let path = path.map_err(|error| self.meaning(error).into_error())?;
        let node = numbering::leaf_number(&path).filter(|node| *node <= last);
        Ok(node.map_or(Numbered::UsedUp, Numbered::Node))
    }
}

/// The version of a record; None if it is none of ours. The children are read first: if the record is made again in
/// between, no write matches the pair.
fn version_of(children: &[String], stat: &Stat) -> Option<Version> {
    children.iter().find(|child| child.starts_with(BORN)).map(|born| version(stat.version, born))
}

fn version(number: i32, born: &str) -> Version {
    Version(format!("{number} {born}").into_bytes())
}

fn parts(version: &Version) -> Option<(i32, &str)> {
    let (number, born) = std::str::from_utf8(&version.0).ok()?.split_once(' ')?;
    Some((number.parse().ok()?, born))
}

#[cfg(test)]
mod tests {
    use super::super::remote::beside;
    use super::*;
    use std::io;

    fn store() -> ZookeeperStore {
        ZookeeperStore::open(StoreUrl::parse("zookeeper://127.0.0.1").unwrap()).unwrap()
    }

    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = store();
        let said = |failure: Failure| {
            let not_done = if matches!(failure, Failure::NotDone(_)) { "not done: " } else { "" };
            let said = failure.into_error().to_string().replace("cannot reach zookeeper://127.0.0.1:", "cannot reach:");
            format!("{not_done}{}", said.trim_start_matches("zookeeper://127.0.0.1 "))
        };
        let of = |code| said(store.meaning(Error::Server(code)));
        for code in [NO_AUTH, INVALID_ACL, AUTH_FAILED] {
            let why = "what lies below /txid belongs to another user: give yours as zookeeper://USER@HOST, and TXID_STORE_PASSWORD \
                       or ?password-file=FILE";
            assert_eq!(of(code), format!("not done: refused: error {code}; {why}"));
        }
        for code in [UNIMPLEMENTED, BAD_ARGUMENTS] {
            assert_eq!(of(code), format!("not done: cannot be used: it does not know a request (error {code})"));
        }
        assert_eq!(of(QUOTA_EXCEEDED), "not done: cannot be used: the quota is used up");
        assert_eq!(of(NOT_READ_ONLY), "not done: cannot reach: this server has lost contact with the others");
        // A connection or a session was lost, or a request took too long.
        for code in [-4, -7, -112, -118] {
            assert_eq!(of(code), format!("cannot reach: error {code}"));
        }
        for (kind, wanted) in [
            (io::ErrorKind::InvalidData, "gave an invalid answer: why"),
            (io::ErrorKind::UnexpectedEof, "cannot reach: it closed the connection"),
            (io::ErrorKind::ConnectionReset, "cannot reach: why"),
        ] {
            assert_eq!(said(store.meaning(Error::Io(io::Error::new(kind, "why")))), wanted);
        }
    }

    fn packet(parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        [&(body.len() as u32).to_be_bytes()[..], &body].concat()
    }

    fn greeting() -> Vec<u8> {
        packet(&[&[0; 4], &40_000_u32.to_be_bytes(), &[0; 8], &16_u32.to_be_bytes(), &[0; 16]])
    }

    /// A write on a session that may end any moment is not sent: whether it was done would not be known.
    #[test]
    fn a_session_of_which_half_is_over_is_not_used() {
        for (passed_ms, is_over) in [(0, false), (10_000, false), (20_000, true)] {
            let (found, _) = super::super::remote::in_virtual_time(async {
                let (ours, mut theirs) = tokio::io::duplex(1 << 10);
                tokio::io::AsyncWriteExt::write_all(&mut theirs, &greeting()).await.unwrap();
                let connection = Connection::begin(Wire::new(ours), SESSION, None).await.ok().unwrap();
                let used = Instant::now() - Duration::from_millis(passed_ms);
                let mut session = Session { connection, used };
                std::future::poll_fn(|cx| Poll::Ready(session.poll_end(cx).is_ready())).await
            });
            assert_eq!(found, is_over, "{passed_ms}");
        }
    }

    fn answer(number: i32, code: i32, parts: &[&[u8]]) -> Vec<u8> {
        packet(&[&number.to_be_bytes(), &[0; 8], &code.to_be_bytes(), &parts.concat()])
    }

    fn texts(texts: &[&str]) -> Vec<u8> {
        let each = texts.iter().map(|text| packet(&[text.as_bytes()]));
        [(texts.len() as u32).to_be_bytes().to_vec(), each.collect::<Vec<_>>().concat()].concat()
    }

    fn stat(version: i32) -> Vec<u8> {
        [&[0; 24][..], &1_700_000_000_000_i64.to_be_bytes(), &version.to_be_bytes(), &[0; 32]].concat()
    }

    /// A part of an answer to several requests.
    fn part(operation: i32, body: &[u8]) -> Vec<u8> {
        [&operation.to_be_bytes()[..], &[0; 5], body].concat()
    }

    fn failed(code: i32) -> Vec<u8> {
        [part(-1, &[]), code.to_be_bytes().to_vec()].concat()
    }

    fn all(number: i32, parts: &[Vec<u8>]) -> Vec<u8> {
        answer(number, 0, &[&parts.concat(), &[255, 255, 255, 255, 1, 255, 255, 255, 255]])
    }

    type Call = fn(&mut ZookeeperStore) -> Result<String, StoreError>;

    /// What a call of a store says, and the numbers of the operations that a server hears that answers so.
    fn call(answers: Vec<Vec<u8>>, call: Call) -> (String, Vec<i32>) {
        let texts = [vec![vec![], greeting()], answers].concat();
        let (said, heard) = beside(&texts, |port| {
            let url = format!("zookeeper://127.0.0.1:{port}");
            let mut store = ZookeeperStore::open(StoreUrl::parse(&format!("{url}?timeout=60s")).unwrap()).unwrap();
            let said = call(&mut store).unwrap_or_else(|error| error.to_string());
            said.replace(&url, "STORE").replace(&port.to_string(), "PORT")
        });
        let (mut operations, mut rest) = (Vec::new(), &heard[..]);
        while let Some((length, after)) = rest.split_first_chunk() {
            let (request, after) = after.split_at(u32::from_be_bytes(*length) as usize);
            operations.extend(request[4..].first_chunk().map(|operation| i32::from_be_bytes(*operation)));
            rest = after;
        }
        // The first packet begins the session, and asks for one of 40 s.
        assert_eq!(heard[16..20], 40_000_u32.to_be_bytes());
        (said, operations[1..].to_vec())
    }

    #[test]
    fn a_record_is_read_with_what_was_born_with_it() {
        const REFUSED: &str = "STORE refused: error -102; what lies below /txid belongs to another user: give yours as \
                               zookeeper://USER@HOST, and TXID_STORE_PASSWORD or ?password-file=FILE";
        let read: Call = |store| {
            let shown = |record: Record| format!("{} {}", record.bytes.escape_ascii(), record.version.0.escape_ascii());
            store.read("a/b").map(|found| found.map_or("none".to_owned(), shown))
        };
        let sync = |code| answer(1, code, &[&texts(&[])[4..]]);
        let children = |names: &[&str]| answer(2, 0, &[&texts(names)]);
        let data = || answer(3, 0, &[&packet(&[b"r"]), &stat(7)]);
        let none = |number| answer(number, NO_NODE, &[]);
        for (answers, wanted) in [
            ([sync(0), children(&["x", "born-y"]), data()], "r 7 born-y"),
            ([sync(NO_NODE), none(2), none(3)], "none"),
            ([sync(0), children(&["born-y"]), none(3)], "none"),
            ([sync(-7), children(&["born-y"]), data()], "cannot reach STORE: error -7"),
            ([sync(0), answer(2, NO_AUTH, &[]), data()], REFUSED),
            ([sync(0), children(&["born-y"]), answer(3, NO_AUTH, &[])], REFUSED),
            (
                [sync(0), children(&["x"]), data()],
                "STORE gave an invalid answer: /txid/a/b has no child born-..., so it is not a record of txid-agent",
            ),
        ] {
            assert_eq!(call(vec![answers.concat()], read), (wanted.to_owned(), vec![9, 8, 4]));
        }
        let (said, _) = call(vec![vec![]], read);
        assert_eq!(said, "cannot reach STORE: it closed the connection");
        let (said, _) = beside(&[], |port| {
            let url = format!("zookeeper://127.0.0.1:{port}?timeout=60s");
            let store = ZookeeperStore::open(StoreUrl::parse(&url).unwrap());
            store.unwrap().read("a").unwrap_err().to_string().replace(&port.to_string(), "PORT")
        });
        assert_eq!(said, "cannot reach zookeeper://127.0.0.1:PORT: 127.0.0.1:PORT: it closed the connection");
    }

    #[test]
    fn a_write_checks_that_the_record_is_the_same() {
        const UNKNOWN: &str = "unknown: cannot reach STORE: error -7";
        let put: Call = |store| {
            let put = store.put("a/b", &Expected::Version(version(7, "born-y")), b"r")?;
            Ok(match put {
                Put::Written(version) => {
                    let ms = store.clock.now().map_or(0, |time| time.earliest_ms / 100_000);
                    format!("written {} {ms}", version.0.escape_ascii())
                }
                Put::Conflict => "conflict".to_owned(),
                Put::Unknown(error) => format!("unknown: {error}"),
            })
        };
        let checked = || part(13, &[]);
        for (parts, wanted) in [
            (vec![checked(), part(5, &stat(8))], "written 8 born-y 17000000"),
            (vec![failed(0), failed(BAD_VERSION)], "conflict"),
            (vec![failed(NO_NODE), failed(-2)], "conflict"),
            (vec![failed(0), failed(QUOTA_EXCEEDED)], "STORE cannot be used: the quota is used up"),
            (vec![failed(0), failed(-7)], UNKNOWN),
            (vec![checked()], "unknown: STORE gave an invalid answer: a write without a version"),
        ] {
            assert_eq!(call(vec![all(1, &parts)], put), (wanted.to_owned(), vec![14]));
        }
        let other: Call =
            |store| store.put("a", &Expected::Version(Version(b"7".to_vec())), b"r").map(|_| String::new());
        let why = other(&mut store()).unwrap_err().to_string();
        assert!(why.ends_with("Version([55]) is not a version of a record in ZooKeeper"), "{why}");

        let create: Call = |store| {
            Ok(match store.put("a/b", &Expected::Absent, b"r")? {
                Put::Written(version) => version.0.escape_ascii().to_string()[..7].to_owned(),
                Put::Conflict => "conflict".to_owned(),
                Put::Unknown(error) => format!("unknown: {error}"),
            })
        };
        let made = |number| all(number, &[part(1, &texts(&["/"])[4..]), part(1, &texts(&["/"])[4..])]);
        let nothing = |number| all(number, &[failed(NO_NODE), failed(-2)]);
        let above = |from, codes: [i32; 2]| [answer(from, codes[0], &[]), answer(from + 1, codes[1], &[])].concat();
        for (answers, asked, wanted) in [
            (vec![made(1)], vec![14], "0 born-"),
            (vec![all(1, &[failed(NODE_EXISTS), failed(-2)])], vec![14], "conflict"),
            (vec![all(1, &[failed(-7), failed(-2)])], vec![14], UNKNOWN),
            // What lies above it is made.
            (vec![nothing(1), above(2, [0, 0]), made(4)], vec![14, 1, 1, 14], "0 born-"),
            (vec![nothing(1), above(2, [NODE_EXISTS, 0]), made(4)], vec![14, 1, 1, 14], "0 born-"),
            (vec![nothing(1), above(2, [0, -7])], vec![14, 1, 1], UNKNOWN),
            // Somebody deletes that meanwhile.
            (vec![nothing(1), above(2, [0, 0]), nothing(4), above(5, [0, 0])], vec![14, 1, 1, 14, 1, 1], "conflict"),
        ] {
            assert_eq!(call(answers, create), (wanted.to_owned(), asked));
        }
    }

    #[test]
    fn a_list_goes_down_to_records() {
        let list: Call = |store| {
            let mut names = Vec::new();
            store.list("a/", &mut |name, record| names.push(format!("{name} {}", record.version.0.escape_ascii())))?;
            Ok(names.join(", "))
        };
        let found =
            |children: &[&str]| [part(8, &texts(children)), part(4, &[packet(&[b"r"]), stat(7)].concat())].concat();
        let gone = || [failed(NO_NODE), failed(NO_NODE)].concat();
        let sync = || answer(1, 0, &[&texts(&[])[4..]]);
        let deep = || vec![sync(), all(2, &[found(&["node"])]), all(3, &[found(&["8", "7"])])];
        let records = |first: Vec<u8>| [deep(), vec![all(4, &[first, found(&["born-y"])])]].concat();
        for (answers, asked, wanted) in [
            (vec![sync(), all(2, &[gone()])], vec![9, 22], ""),
            (records(found(&["born-x"])), vec![9, 22, 22, 22], "a/node/8 7 born-x, a/node/7 7 born-y"),
            (records(gone()), vec![9, 22, 22, 22], "a/node/7 7 born-y"),
            (records(found(&["x"])), vec![9, 22, 22, 22], "STORE gave an invalid answer: a/ has records below records"),
            (records([failed(-7), failed(-7)].concat()), vec![9, 22, 22, 22], "cannot reach STORE: error -7"),
            (vec![answer(1, -7, &[])], vec![9], "cannot reach STORE: error -7"),
        ] {
            assert_eq!(call(answers, list), (wanted.to_owned(), asked));
        }
    }

    #[test]
    fn a_node_is_numbered_below_leafs_path() {
        let number: Call = |store| store.number("orders", "web-1", 12).map(|number| format!("{number:?}"));
        let children = |names: &[&str]| answer(1, 0, &[&texts(names)]);
        let made = |number: u32| answer(2, 0, &[&texts(&[&format!("/txid/forever/web_1:txid-{number:010}")])[4..]]);
        for (answers, asked, wanted) in [
            (vec![children(&["a:1-0000000011", "other"]), made(12)], vec![8, 1], "Node(12)"),
            (vec![children(&[]), made(13)], vec![8, 1], "UsedUp"),
            (vec![children(&["a:1-0000000012"])], vec![8], "UsedUp"),
            (vec![children(&[]), answer(2, -7, &[])], vec![8, 1], "cannot reach STORE: error -7"),
            (
                vec![answer(1, NO_NODE, &[])],
                vec![8],
                "STORE cannot be used: there is no /txid/forever: write zookeeper://HOST/snowflake/NAME, with the leaf.name of \
                 Leaf's servers",
            ),
        ] {
            assert_eq!(call(answers, number), (wanted.to_owned(), asked));
        }
        assert_eq!(store().numbering(), Numbering::LeafForever);
    }

    #[test]
    fn a_write_shows_the_time() {
        let clock: Call = |store| Ok(store.clock()?.map_or(0, |time| time.earliest_ms / 100_000).to_string());
        for (made, answers, asked, wanted) in [
            (0, vec![answer(2, 0, &[&stat(1)])], vec![1, 5], "17000000"),
            (NODE_EXISTS, vec![answer(2, 0, &[&stat(1)])], vec![1, 5], "17000000"),
            (0, vec![answer(2, -7, &[])], vec![1, 5], "cannot reach STORE: error -7"),
            (-7, vec![], vec![1], "cannot reach STORE: error -7"),
        ] {
            let answers = [vec![answer(1, made, &[])], answers].concat();
            assert_eq!(call(answers, clock), (wanted.to_owned(), asked));
        }
    }
}
