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
    use super::*;
    use std::io;

    fn store() -> ZookeeperStore {
        ZookeeperStore::open(StoreUrl::parse("zookeeper://127.0.0.1").unwrap()).unwrap()
    }

    #[test]
    fn a_majority_has_written_it_to_disk() {
        assert!(matches!(store().durability(), Durability::Durable));
    }

    #[test]
    fn what_may_have_been_written_is_not_said_to_be_not_done() {
        let store = store();
        let of = |code| store.meaning(Error::Server(code));
        for code in [NO_AUTH, INVALID_ACL, AUTH_FAILED] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Refused { .. })), "{code}");
        }
        for code in [QUOTA_EXCEEDED, UNIMPLEMENTED, BAD_ARGUMENTS] {
            assert!(matches!(of(code), Failure::NotDone(StoreError::Misconfigured { .. })), "{code}");
        }
        assert!(matches!(of(NOT_READ_ONLY), Failure::NotDone(StoreError::Unreachable { .. })));
        let io = |kind| store.meaning(Error::Io(io::Error::new(kind, "why")));
        assert!(matches!(io(io::ErrorKind::InvalidData), Failure::Unknown(StoreError::Damaged { .. })));
        for kind in [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset] {
            assert!(matches!(io(kind), Failure::Unknown(StoreError::Unreachable { .. })), "{kind}");
        }
        assert!(io(io::ErrorKind::UnexpectedEof).into_error().to_string().contains("it closed the connection"));
        // A connection or a session was lost, or a request took too long.
        for code in [-4, -7, -112, -118] {
            assert!(matches!(of(code), Failure::Unknown(StoreError::Unreachable { .. })), "{code}");
        }
    }
}
