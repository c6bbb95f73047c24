//! Redis and Valkey: a hash for each group, whose fields are its records.
//!
//! `HGETALL txid/orders` shows everything. Each access is one script, so it is atomic, returns the server's time as
//! well, and is refused by a replica, which may lag behind.

mod resp;

use std::fmt;
use std::io;
use std::task::{Context, Poll};

use self::resp::{Connection, Reply, command};
use super::address::Address;
use super::clock::{Asked, StoreClock};
use super::contract::{Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{Listing, PART, record};
use super::remote::{Kind, Link, Remote};
use super::tls::Tls;
use super::url::{Host, Secret, StoreUrl};
use super::wire::Wire;
use super::{scheme, tag};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Taken, Version};

/// KEYS: the group. ARGV: the field, the new bytes, and the old ones unless there must be none.
const PUT: &str = "\
local now = redis.call('TIME')
if redis.call('HGET', KEYS[1], ARGV[1]) ~= (ARGV[3] or false) then return {now[1], now[2], 0} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {now[1], now[2], 1}";

/// KEYS: the group. ARGV: the field. The deletion makes a replica refuse the script. With ARGV[2], the record is
/// written again unchanged, so that WAIT then shows whether the replicas have it.
const READ: &str = "\
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], '')
local found = redis.call('HGET', KEYS[1], ARGV[1])
if found and ARGV[2] then redis.call('HSET', KEYS[1], ARGV[1], found) end
return {now[1], now[2], found}";

/// KEYS: the group. ARGV: where to go on, and about how many fields are wanted.
const LIST: &str = "\
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], '')
return {now[1], now[2], redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])}";

/// KEYS: the tag. ARGV: how many numbers, or empty for the tag's own step; and the number it must not be below. Lua has
/// no 64-bit integers, so numbers stay texts here, and HINCRBY adds them. A negative one is only returned.
const TAKE: &str = "\
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], '')
local found = redis.call('HMGET', KEYS[1], 'max_id', 'step')
local number, step = found[1], found[2]
if not number or not step then return {now[1], now[2], {}} end
if (number .. ' ' .. step):find('-', 1, true) then return {now[1], now[2], {number, '0', step}} end
if #number < #ARGV[2] or #number == #ARGV[2] and number < ARGV[2] then return {now[1], now[2], {number}} end
local count = ARGV[1] ~= '' and ARGV[1] or step
redis.call('HINCRBY', KEYS[1], 'max_id', count)
return {now[1], now[2], {redis.call('HGET', KEYS[1], 'max_id'), count, step}}";

/// KEYS: the tag. ARGV: the first number, the step.
const CREATE_TAG: &str = "\
local now = redis.call('TIME')
if redis.call('HEXISTS', KEYS[1], 'max_id') == 0 then
redis.call('HSET', KEYS[1], 'max_id', ARGV[1], 'step', ARGV[2]) end
return {now[1], now[2], false}";

const LOGIN: &str = "the password, or the user, is wrong or missing: give it as redis://USER@HOST and TXID_STORE_PASSWORD, or \
                     ?password-file=FILE";

/// Errors that go away by themselves.
const TRANSIENT: [&str; 6] = ["LOADING", "MASTERDOWN", "BUSY", "OOM", "MISCONF", "NOREPLICAS"];

const CLUSTER: &str = "it is a cluster, whose parts may move: use a server of its own, or Sentinel";

type Conn = Connection<Wire>;

/// A connection, and how durable a write there is.
struct Place {
    connection: Conn,
    durability: Durabilities,
}

/// How durable records are, and numbers of tags: these can wait for all replicas.
#[derive(Clone)]
struct Durabilities {
    records: Durability,
    numbers: Durability,
}

impl Durabilities {
    fn learn(&mut self, told: Self) {
        self.records.learn(told.records);
        self.numbers.learn(told.numbers);
    }
}

impl Link for Place {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.stream_mut().poll_end(cx)
    }
}

#[derive(Clone)]
pub(super) struct RedisStore {
    address: Address,
    /// The name of the master, if the hosts are Sentinels.
    master: Option<String>,
    login: Login,
    tls: Option<Tls>,
    prefix: String,
    /// How many replicas must confirm a write.
    wait: u32,
    remote: Remote<Place>,
    durability: Durabilities,
    clock: StoreClock,
}

#[derive(Clone)]
struct Login {
    user: Option<String>,
    password: Option<Secret>,
    database: u32,
}

impl RedisStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["prefix", "wait"])?;
        let address = url.address.clone();
        let (master, database) = if url.scheme.name == scheme::SENTINEL {
            let (master, database) = url.path.split_once('/').unwrap_or((&url.path, ""));
            if master.is_empty() {
                return Err(
                    address.misconfigured("the name of the master is missing: redis+sentinel://HOST:26379/MASTER")
                );
            }
            (Some(master.to_owned()), database)
        } else {
            (None, url.path.as_str())
        };
        let database = if database.is_empty() { Ok(0) } else { database.parse() };
        let database = database.map_err(|_| {
            address.misconfigured("the path must be the number of a database; for a prefix, give ?prefix=NAME")
        })?;
        let wait = url.option("wait").unwrap_or("0");
        let wait = wait.parse().map_err(|_| {
            address.misconfigured(format_args!("wait={wait} is not a number of replicas that must confirm a write"))
        })?;
        let durability = url.durability(Durability::Unknown)?;
        Ok(Self {
            durability: Durabilities { records: durability.clone(), numbers: durability },
            prefix: url.option("prefix").unwrap_or("txid").to_owned(),
            login: Login { user: url.user.clone(), password: url.password.clone(), database },
            remote: Remote::new(&address, url.hosts)?,
            tls: url.tls,
            address,
            master,
            wait,
            clock: StoreClock::default(),
        })
    }

    /// Connects to the host, or to the master that it names if it is a Sentinel.
    async fn connect(&self, host: &Host) -> Result<Place, StoreError> {
        let host = match &self.master {
            Some(master) => self.ask_sentinel(host, master).await?,
            None => host.clone(),
        };
        self.connect_to(host).await
    }

    async fn ask_sentinel(&self, sentinel: &Host, master: &str) -> Result<Host, StoreError> {
        // A Sentinel has its own passwords.
        let mut connection = self.open_connection(sentinel).await?;
        let question = command(&[b"SENTINEL", b"get-master-addr-by-name", master.as_bytes()]);
        let found = self.ask(&mut connection, &[question]).await.map_err(Failure::into_error)?;
        let found = match &found[0] {
            Reply::List(found) => found,
            Reply::Error(error) => return Err(self.meaning(error)),
            _ => {
                return Err(self
                    .address
                    .misconfigured(format_args!("the Sentinel at {sentinel} knows no master {master}")));
            }
        };
        match &found[..] {
            [Reply::Text(name), port @ Reply::Text(_)] => {
                let port = integer(port).and_then(|port| u16::try_from(port).ok());
                let name = String::from_utf8(name.clone()).ok();
                name.zip(port).map(|(name, port)| Host::new(&name, port))
            }
            _ => None,
        }
        .ok_or_else(|| self.address.damaged(format_args!("the Sentinel at {sentinel} named the master {found:?}")))
    }

    async fn open_connection(&self, host: &Host) -> Result<Conn, StoreError> {
        Ok(Connection::new(Wire::connect(&self.address, host, self.tls.as_ref()).await?))
    }

    /// Connects, logs in, and asks how durable a write is.
    async fn connect_to(&self, host: Host) -> Result<Place, StoreError> {
        let mut connection = self.open_connection(&host).await?;
        let mut commands = Vec::new();
        let Login { user, password, database } = &self.login;
        if let Some(password) = password.as_ref().map(|password| password.reveal().as_bytes()) {
            commands.push(match user {
                Some(user) => command(&[b"AUTH", user.as_bytes(), password]),
                None => command(&[b"AUTH", password]),
            });
        }
        if *database != 0 {
            commands.push(command(&[b"SELECT", database.to_string().as_bytes()]));
        }
        let logins = commands.len();
        commands.extend(settings());
        let at_host = |error| match error {
            StoreError::Unreachable { why, .. } => self.address.unreachable(format_args!("{host}: {why}")),
            other => other,
        };
        let replies = self.ask(&mut connection, &commands).await.map_err(|failure| at_host(failure.into_error()))?;
        let (_, settings) = replies.split_at(logins);
        for (at, reply) in replies.iter().enumerate() {
            // Without a login, all is refused; without permission, only the settings stay unknown.
            match reply {
                Reply::Error(error) if at < logins || error.starts_with("NOAUTH") => {
                    return Err(at_host(self.meaning(error)));
                }
                _ => {}
            }
        }
        if matches!(settings, [_, Reply::Text(info), ..] if String::from_utf8_lossy(info).contains("cluster_enabled:1"))
        {
            return Err(self.address.misconfigured(CLUSTER));
        }
        Ok(Place { connection, durability: self.kept(settings) })
    }

    fn kept(&self, settings: &[Reply]) -> Durabilities {
        let replaces = match self.master {
            Some(_) => Some("Sentinels replace the master by a replica, which may lag behind"),
            None => self
                .remote
                .has_several()
                .then_some("one of the hosts in its URL may take the place of another, and lag behind"),
        };
        let [records, numbers] = [0, self.wait].map(|wait| durability(settings, replaces, wait));
        Durabilities { records, numbers }
    }

    /// Sends commands, and returns the answer to each.
    async fn ask(&self, connection: &mut Conn, commands: &[Vec<u8>]) -> Result<Vec<Reply>, Failure> {
        connection.stream().renew();
        connection.ask(commands).await.map_err(|error| self.meaning_of_io(&error))
    }

    /// Runs a script for `group`, and waits for the replicas if required. Sends `questions` in the same round trip, and returns
    /// their answers as well. If that fails, the next access begins with another host.
    fn run(
        &mut self,
        script: &str,
        group: &str,
        args: &[&[u8]],
        copies: u32,
        questions: &[Vec<u8>],
    ) -> Result<(Reply, Vec<Reply>), Failure> {
        let key = format!("{}/{group}", self.prefix);
        let mut words = vec![b"EVAL".as_slice(), script.as_bytes(), b"1", key.as_bytes()];
        words.extend(args);
        let mut commands = vec![command(&words)];
        if copies > 0 {
            let patience = (self.address.timeout / 2).as_millis();
            commands.push(command(&[b"WAIT", copies.to_string().as_bytes(), patience.to_string().as_bytes()]));
        }
        let answers_begin = commands.len();
        commands.extend_from_slice(questions);
        let asked_at = Asked::now();
        let done = self.remote.call(
            Kind::Write,
            async |host| self.connect(host).await,
            async |_, place| {
                let mut replies = self.ask(&mut place.connection, &commands).await?;
                let answers = replies.split_off(answers_begin);
                Ok((self.answer(replies, copies)?, answers, place.durability.clone()))
            },
        );
        let ((seconds, micros, answer), answers, durability) = done?;
        self.durability.learn(durability);
        self.clock.saw(asked_at.shows(seconds.saturating_mul(1000).saturating_add(micros / 1000), 1));
        Ok((answer, answers))
    }

    /// The answer of a script, and perhaps that of a wait.
    fn answer(&self, mut replies: Vec<Reply>, copies: u32) -> Result<Clocked, Failure> {
        let answer = clocked(replies.swap_remove(0)).map_err(|reply| match reply {
            Reply::Error(error) => Failure::NotDone(self.meaning(&error)),
            other => Failure::Unknown(self.not_redis(format_args!("{other:?}"))),
        })?;
        match replies.pop() {
            None => Ok(answer),
            Some(Reply::Error(error)) => Err(Failure::Unknown(self.meaning(&error))),
            Some(reply) => match integer(&reply).unwrap_or(0) {
                confirmed if confirmed < i64::from(copies) => {
                    Err(Failure::Unknown(self.address.unreachable(format_args!(
                        "{confirmed} of its replicas confirmed the write, but wait={copies} requires {copies}"
                    ))))
                }
                _ => Ok(answer),
            },
        }
    }

    fn meaning_of_io(&self, error: &io::Error) -> Failure {
        Failure::Unknown(match error.kind() {
            io::ErrorKind::InvalidData => self.not_redis(error),
            _ => self.address.broken(error),
        })
    }

    fn not_redis(&self, why: impl fmt::Display) -> StoreError {
        self.address.damaged(format_args!("the server is not Redis: {why}"))
    }

    /// The meaning of an error of the server. The connection that it came from is not used again.
    fn meaning(&self, error: &str) -> StoreError {
        let address = &self.address;
        // The script's own errors contain the error of a command.
        let tells = |code: &str| error.contains(code);
        if tells("WRONGPASS") || tells("NOAUTH") || tells("called without any password configured") {
            address.refused(LOGIN)
        } else if tells("NOPERM") || tells("no permissions") || tells("can't run this command") {
            address.refused(format_args!(
                "{error}; the user needs +eval +time +hget +hset +hdel +hscan (+hmget +hincrby +hexists for segments, +wait for wait=, +select for another database) on ~{}/GROUP",
                self.prefix
            ))
        } else if ["MOVED ", "ASK ", "CROSSSLOT", "CLUSTERDOWN", "TRYAGAIN"].into_iter().any(tells) {
            address.misconfigured(CLUSTER)
        } else if tells("READONLY") {
            address.unreachable("this server is a replica, but the master is needed")
        } else if TRANSIENT.iter().any(|code| tells(code)) {
            address.unreachable(error)
        } else {
            address.misconfigured(error)
        }
    }

    /// A number of a tag, which people may have set.
    fn field(&self, tag: &str, name: &str, reply: &Reply) -> Result<u64, StoreError> {
        let found = integer(reply).and_then(|number| u64::try_from(number).ok());
        found.ok_or_else(|| {
            let shown = match reply {
                Reply::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                other => format!("{other:?}"),
            };
            self.address.misconfigured(format_args!("{}/{tag} has {name} = {shown}: it must be 1 or more", self.prefix))
        })
    }
}

/// Seconds, microseconds, and the answer itself.
type Clocked = (i64, i64, Reply);

/// The parts of a script's answer.
fn clocked(reply: Reply) -> Result<Clocked, Reply> {
    let Reply::List(mut parts) = reply else { return Err(reply) };
    match (&parts[..], parts.first().and_then(integer), parts.get(1).and_then(integer)) {
        ([_, _, _], Some(seconds), Some(micros)) => Ok((seconds, micros, parts.swap_remove(2))),
        _ => Err(Reply::List(parts)),
    }
}

fn integer(reply: &Reply) -> Option<i64> {
    match reply {
        Reply::Integer(number) => Some(*number),
        Reply::Text(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        _ => None,
    }
}

/// The commands whose answers `durability` reads.
fn settings() -> Vec<Vec<u8>> {
    let config = |pattern: &'static [u8]| [b"CONFIG".as_slice(), b"GET", pattern];
    let [append, rewrite, memory] = [&b"append*"[..], b"no-appendfsync-on-rewrite", b"maxmemory*"].map(config);
    [&[b"INFO".as_slice(), b"replication"][..], &[b"INFO", b"cluster"], &append, &rewrite, &memory]
        .map(command)
        .to_vec()
}

/// How durable a server with these answers to `settings` is, if a write waits for so many replicas. Without permission for them,
/// that is not known.
fn durability(settings: &[Reply], replaces: Option<&str>, wait: u32) -> Durability {
    let [Reply::Text(info), Reply::Text(_), Reply::List(append), Reply::List(rewrite), Reply::List(memory)] = settings
    else {
        return Durability::may_lose("the user may not ask for its settings (+info +config|get)");
    };
    let config = [&append[..], rewrite, memory].concat();
    let text = |reply: &Reply| match reply {
        Reply::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    let setting = |name: &str| config.chunks_exact(2).find(|pair| text(&pair[0]) == name).map(|pair| text(&pair[1]));
    let policy = setting("maxmemory-policy").unwrap_or_default();
    let disk = match (setting("appendonly").as_deref(), setting("appendfsync").as_deref()) {
        // The other policies leave keys alone that have no time to live.
        _ if policy.starts_with("allkeys") && setting("maxmemory").as_deref() != Some("0") => {
            Some(format!("maxmemory-policy {policy} removes any key when memory is short"))
        }
        (Some("yes"), Some("always")) if setting("no-appendfsync-on-rewrite").as_deref() == Some("yes") => {
            Some("no-appendfsync-on-rewrite yes".to_owned())
        }
        (Some("yes"), Some("always")) => None,
        (Some("yes"), fsync) => Some(format!("appendfsync {}", fsync.unwrap_or("?"))),
        (appendonly, _) => Some(format!("appendonly {}", appendonly.unwrap_or("?"))),
    };
    let why = disk.or_else(|| why_replaced(&String::from_utf8_lossy(info), replaces, wait));
    why.map_or(Durability::Durable, |why| Durability::may_lose(&why))
}

/// Why a server that lacks some of this one's writes may take its place.
fn why_replaced(info: &str, replaces: Option<&str>, wait: u32) -> Option<String> {
    let say = |name: &str| info.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or("?");
    let replicas = say("connected_slaves:");
    if wait > 0 {
        // All that are there confirm each write, so each of them may take over.
        let all_confirm = replicas.parse::<u32>().is_ok_and(|replicas| replicas <= wait);
        return (!all_confirm).then(|| format!("connected_slaves:{replicas}, but wait={wait}"));
    }
    if let Some(why) = replaces {
        return Some(why.to_owned());
    }
    if replicas != "0" {
        return Some(format!("connected_slaves:{replicas}, and a replica may lag behind"));
    }
    let offset = say("second_repl_offset:");
    if !["-1", "?"].contains(&offset) {
        return Some(format!("second_repl_offset:{offset}: it has taken the place of another, which may still run"));
    }
    // That is left for an hour of a replica that is cut off. It may have been put in this one's place.
    let had_replica = say("repl_backlog_active:") == "1";
    had_replica.then(|| "repl_backlog_active:1: it has a replica, which may lag behind".to_owned())
}

impl Store for RedisStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.remote.begin();
        let (group, field) = split(key);
        let again: &[&[u8]] = &[field.as_bytes(), b"1"];
        let args = if self.wait > 0 { again } else { &again[..1] };
        match self.run(READ, group, args, self.wait, &[]).map_err(Failure::into_error)?.0 {
            Reply::Nil => Ok(None),
            Reply::Text(bytes) => record(&self.address, key, bytes).map(Some),
            other => Err(self.not_redis(format_args!("{key} is {other:?}"))),
        }
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.remote.begin();
        let (group, field) = split(key);
        let mut args = vec![field.as_bytes(), bytes];
        if let Expected::Version(old) = expected {
            args.push(&old.0);
        }
        match self.run(PUT, group, &args, self.wait, &[]).map(|(answer, _)| answer) {
            Ok(Reply::Integer(1)) => Ok(Put::Written(Version(bytes.to_vec()))),
            Ok(Reply::Integer(0)) => Ok(Put::Conflict),
            Ok(other) => Ok(Put::Unknown(self.not_redis(format_args!("a write returned {other:?}")))),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let (group, field) = split(prefix);
        let mut listing = Listing::begin();
        let wanted = PART.to_string();
        let mut cursor = b"0".to_vec();
        loop {
            self.remote.begin();
            let args: [&[u8]; 2] = [&cursor, wanted.as_bytes()];
            let mut part = match self.run(LIST, group, &args, 0, &[]).map_err(Failure::into_error)?.0 {
                Reply::List(part) => part.into_iter(),
                other => return Err(self.not_redis(format_args!("{group} is {other:?}"))),
            };
            let (Some(Reply::Text(next)), Some(Reply::List(words))) = (part.next(), part.next()) else {
                return Err(self.not_redis(format_args!("{group} is not read in parts")));
            };
            listing.add(&self.address, words.len() / 2)?;
            let mut words = words.into_iter();
            while let (Some(name), Some(bytes)) = (words.next(), words.next()) {
                let (Reply::Text(name), Reply::Text(bytes)) = (name, bytes) else {
                    return Err(self.not_redis(format_args!("{group} has a field that is no text")));
                };
                let name = String::from_utf8_lossy(&name);
                if name.starts_with(field) {
                    show(&format!("{group}/{name}"), Record::compared_by_bytes(bytes));
                }
            }
            if next == b"0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        if self.clock.now().is_none() {
            self.read("clock/")?;
        }
        Ok(self.clock.now())
    }

    fn durability(&self) -> &Durability {
        &self.durability.records
    }

    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        self.remote.begin();
        let (count, seen) = (count.map_or(String::new(), |count| count.to_string()), seen.to_string());
        let args: [&[u8]; 2] = [count.as_bytes(), seen.as_bytes()];
        let taken = self.run(TAKE, tag, &args, self.wait, &settings()).map_err(Failure::into_error)?;
        let found = match taken {
            (Reply::List(found), answers) => {
                self.durability.learn(self.kept(&answers));
                found
            }
            (other, _) => return Err(self.not_redis(format_args!("{tag} is {other:?}"))),
        };
        match &found[..] {
            [end, count, step] => {
                let end = self.field(tag, "max_id", end)?;
                let (count, step) = (self.field(tag, "step", count)?, self.field(tag, "step", step)?);
                tag::taken(&self.address, tag, end, count, step)
            }
            [number] => Ok(Taken::WentDown { number: self.field(tag, "max_id", number)? }),
            [] => Ok(Taken::NoTag),
            other => Err(self.not_redis(format_args!("{tag} is {other:?}"))),
        }
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.remote.begin();
        let (first, step) = (tag::FIRST.to_string(), step.to_string());
        let args: [&[u8]; 2] = [first.as_bytes(), step.as_bytes()];
        self.run(CREATE_TAG, tag, &args, self.wait, &[]).map(drop).map_err(Failure::into_error)
    }

    fn durability_of_numbers(&self) -> &Durability {
        &self.durability.numbers
    }
}

/// The hash and the field of a key.
fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or((key, ""))
}

#[cfg(test)]
mod tests {
    use super::super::remote::beside;
    use super::*;

    const MOVES: &str = "cannot be used: it is a cluster, whose parts may move: use a server of its own, or Sentinel";

    /// Versions differ in what they say.
    #[test]
    fn what_a_person_must_mend_is_told_from_what_passes() {
        const LOGIN: &str = "refused: the password, or the user, is wrong or missing: give it as redis://USER@HOST and \
                             TXID_STORE_PASSWORD, or ?password-file=FILE";
        let store = RedisStore::open(StoreUrl::parse("redis://127.0.0.1?prefix=ours").unwrap()).unwrap();
        let said = |error: StoreError| {
            let said = error.to_string().replace("cannot reach redis://127.0.0.1:", "cannot reach:");
            said.trim_start_matches("redis://127.0.0.1 ").to_owned()
        };
        let rights = |error: &str| {
            format!(
                "refused: {error}; the user needs +eval +time +hget +hset +hdel +hscan (+hmget +hincrby +hexists for segments, +wait \
                 for wait=, +select for another database) on ~ours/GROUP"
            )
        };
        for error in [
            "WRONGPASS invalid username-password pair or user is disabled.",
            "NOAUTH Authentication required.",
            "ERR AUTH <password> called without any password configured for it.",
        ] {
            assert_eq!(said(store.meaning(error)), LOGIN);
        }
        for error in [
            "NOPERM this user may not run the 'eval' command",
            "ERR The user executing the script can't run this command",
            "ERR This user has no permissions to access the key",
        ] {
            assert_eq!(said(store.meaning(error)), rights(error));
        }
        for error in ["MOVED 7 10.0.0.6:6379", "ASK 7 10.0.0.6:6379", "CROSSSLOT", "CLUSTERDOWN", "TRYAGAIN"] {
            assert_eq!(said(store.meaning(error)), MOVES);
        }
        let replica = "cannot reach: this server is a replica, but the master is needed";
        assert_eq!(said(store.meaning("ERR READONLY You can't write against a read only replica.")), replica);
        for code in ["LOADING", "MASTERDOWN", "BUSY", "OOM", "MISCONF", "NOREPLICAS"] {
            assert_eq!(
                said(store.meaning(&format!("ERR {code} it says"))),
                format!("cannot reach: ERR {code} it says")
            );
        }
        assert_eq!(said(store.meaning("ERR DB index is out of range")), "cannot be used: ERR DB index is out of range");
        for (kind, wanted) in [
            (io::ErrorKind::InvalidData, "gave an invalid answer: the server is not Redis: it says so"),
            (io::ErrorKind::UnexpectedEof, "cannot reach: it closed the connection"),
            (io::ErrorKind::ConnectionReset, "cannot reach: it says so"),
        ] {
            let failure = store.meaning_of_io(&io::Error::new(kind, "it says so"));
            assert!(matches!(failure, Failure::Unknown(_)), "the script may have run");
            assert_eq!(said(failure.into_error()), wanted);
        }
    }

    fn text(text: &str) -> Reply {
        Reply::Text(text.as_bytes().to_vec())
    }

    /// The script has run, unless it says that it has not.
    #[test]
    fn a_write_that_too_few_have_confirmed_may_be_done() {
        let store = RedisStore::open(StoreUrl::parse("redis://127.0.0.1").unwrap()).unwrap();
        let of = |replies| match store.answer(replies, 2) {
            Ok(answer) => format!("{answer:?}"),
            Err(Failure::NotDone(error)) => format!("not done: {error}"),
            Err(Failure::Unknown(error)) => error.to_string(),
        };
        let script = || Reply::List(vec![text("5"), text("6"), Reply::Integer(1)]);
        let few = |found| {
            format!(
                "cannot reach redis://127.0.0.1: {found} of its replicas confirmed the write, but wait=2 requires 2"
            )
        };
        let error = |code: &str| Reply::Error(code.to_owned());
        for (replies, wanted) in [
            (vec![script()], "(5, 6, Integer(1))".to_owned()),
            (vec![script(), Reply::Integer(2)], "(5, 6, Integer(1))".to_owned()),
            (vec![script(), Reply::Integer(1)], few(1)),
            (vec![script(), Reply::Nil], few(0)),
            (vec![script(), error("BUSY")], "cannot reach redis://127.0.0.1: BUSY".to_owned()),
            (vec![error("BUSY")], "not done: cannot reach redis://127.0.0.1: BUSY".to_owned()),
            (
                vec![Reply::List(vec![text("5"), text("6")])],
                "redis://127.0.0.1 gave an invalid answer: the server is not Redis: List([Text([53]), Text([54])])"
                    .to_owned(),
            ),
        ] {
            assert_eq!(of(replies), wanted);
        }
    }

    fn bytes(reply: &Reply) -> Vec<u8> {
        match reply {
            Reply::Nil => b"$-1\r\n".to_vec(),
            Reply::Integer(number) => format!(":{number}\r\n").into_bytes(),
            Reply::Text(text) => [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat(),
            Reply::List(list) => {
                [format!("*{}\r\n", list.len()).into_bytes(), list.iter().flat_map(bytes).collect()].concat()
            }
            Reply::Error(error) => format!("-{error}\r\n").into_bytes(),
        }
    }

    /// The words of all commands, but for scripts.
    fn words(heard: &[u8]) -> Vec<String> {
        let text = String::from_utf8(heard.to_vec()).unwrap();
        let mut lines = text.split("\r\n");
        let mut commands = Vec::new();
        while let Some(count) = lines.next().and_then(|line| line.strip_prefix('*')) {
            let words = (0..count.parse().unwrap()).map(|_| lines.nth(1).unwrap()).filter(|word| !word.contains('\n'));
            commands.push(words.collect::<Vec<_>>().join(" "));
        }
        commands
    }

    /// Answers to `settings`, of a server that loses nothing.
    fn kept() -> Vec<Reply> {
        let list = |words: &str| Reply::List(words.split(' ').map(text).collect());
        vec![
            text(
                "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:0\r\n",
            ),
            text("# Cluster\r\ncluster_enabled:0\r\n"),
            list("appendonly yes appendfsync always"),
            list("no-appendfsync-on-rewrite no"),
            list("maxmemory 0 maxmemory-policy noeviction"),
        ]
    }

    const SETTINGS: [&str; 5] = [
        "INFO replication",
        "INFO cluster",
        "CONFIG GET append*",
        "CONFIG GET no-appendfsync-on-rewrite",
        "CONFIG GET maxmemory*",
    ];

    type Call = fn(&mut RedisStore) -> Result<String, StoreError>;

    /// What a call of a store says, and what a server hears that answers so.
    fn call(url: &str, answers: &[Vec<Reply>], call: Call) -> (String, Vec<String>) {
        let text = |replies: &Vec<Reply>| replies.iter().flat_map(bytes).collect();
        let texts: Vec<Vec<u8>> = [vec![vec![]], answers.iter().map(text).collect()].concat();
        let (said, heard) = beside(&texts, |port| {
            let url = url.replace("HERE", &format!("127.0.0.1:{port}"));
            let time = if url.contains('?') { "&timeout=60s" } else { "?timeout=60s" };
            let mut store = RedisStore::open(StoreUrl::parse(&(url + time)).unwrap()).unwrap();
            let said = match call(&mut store) {
                Ok(said) => format!("{said}; {}", store.durability().why().unwrap_or("durable")),
                Err(error) => error.to_string(),
            };
            said.replace(&port.to_string(), "PORT")
        });
        (said, words(&heard))
    }

    fn read(store: &mut RedisStore) -> Result<String, StoreError> {
        store.read("a/b").map(|found| found.map_or("none".to_owned(), |record| record.bytes.escape_ascii().to_string()))
    }

    fn script(answer: Reply) -> Vec<Reply> {
        vec![Reply::List(vec![text("1700000000"), text("123999"), answer])]
    }

    #[test]
    fn a_connection_begins_with_a_login_and_a_look_at_its_settings() {
        const DENIED: &str = "the user may not ask for its settings (+info +config|get)";
        const LOGIN: &str = "redis://127.0.0.1:PORT refused: the password, or the user, is wrong or missing: give it as \
                             redis://USER@HOST and TXID_STORE_PASSWORD, or ?password-file=FILE";
        let ok = || vec![text("OK")];
        let with = |at: usize, reply: Reply| {
            let mut all = kept();
            all[at] = reply;
            all
        };
        let error = |error: &str| Reply::Error(error.to_owned());
        let found = || script(text("r"));
        for (url, login, answers, settings, wanted) in [
            ("redis://HERE", vec![], vec![], kept(), "r; durable".to_owned()),
            ("redis://u:word@HERE", vec!["AUTH u word"], ok(), kept(), "r; durable".to_owned()),
            (
                "redis://:word@HERE/2",
                vec!["AUTH word", "SELECT 2"],
                [ok(), ok()].concat(),
                kept(),
                "r; durable".to_owned(),
            ),
            ("redis://HERE/0", vec![], vec![], with(3, error("NOPERM")), format!("r; {DENIED}")),
            (
                "redis://HERE,HERE",
                vec![],
                vec![],
                kept(),
                "r; one of the hosts in its URL may take the place of another, and lag behind".to_owned(),
            ),
            ("redis://:word@HERE", vec!["AUTH word"], vec![error("WRONGPASS")], kept(), LOGIN.to_owned()),
            ("redis://HERE", vec![], vec![], with(0, error("NOAUTH")), LOGIN.to_owned()),
            (
                "redis://HERE/99",
                vec!["SELECT 99"],
                vec![error("ERR DB index is out of range")],
                kept(),
                "redis://127.0.0.1:PORT/99 cannot be used: ERR DB index is out of range".to_owned(),
            ),
            (
                "redis://HERE/2",
                vec!["SELECT 2"],
                vec![error("LOADING")],
                kept(),
                "cannot reach redis://127.0.0.1:PORT/2: 127.0.0.1:PORT: LOADING".to_owned(),
            ),
            (
                "redis://HERE",
                vec![],
                vec![],
                with(1, text("# Cluster\r\ncluster_enabled:1\r\n")),
                format!("redis://127.0.0.1:PORT {MOVES}"),
            ),
        ] {
            let (said, heard) = call(url, &[[answers, settings].concat(), found()], read);
            assert_eq!(said, wanted, "{url}");
            let evals = if wanted.starts_with("r; ") { &["EVAL 1 txid/a b"][..] } else { &[] };
            assert_eq!(heard, [&login[..], &SETTINGS, evals].concat(), "{url}");
        }
        let (said, _) = call("redis://HERE", &[vec![]], read);
        assert_eq!(said, "cannot reach redis://127.0.0.1:PORT: 127.0.0.1:PORT: it closed the connection");
    }

    #[test]
    fn a_call_is_one_script_for_its_group() {
        let old: Call = |store| {
            let put = store.put("a/b", &Expected::Version(Version(b"o".to_vec())), b"r")?;
            Ok(format!("{put:?} {}", store.clock.now().unwrap().earliest_ms / 100_000))
        };
        let take: Call = |store| store.take("a", Some(5), 7).map(|taken| format!("{taken:?}"));
        let step: Call = |store| store.take("a", None, 7).map(|taken| format!("{taken:?}"));
        let create: Call = |store| store.create_tag("a", 20).map(|()| String::new());
        let read: Call = read;
        let list: Call = |store| {
            let mut names = Vec::new();
            store.list("a/b", &mut |name, _| names.push(name.to_owned())).map(|()| names.join(" "))
        };
        const STORE: &str = "redis://127.0.0.1:PORT gave an invalid answer: the server is not Redis: ";
        let numbers = |words: &str| Reply::List(words.split_whitespace().map(text).collect());
        let segment = |answer| [script(answer), kept()].concat();
        let part = |next: &str, words: &str| script(Reply::List(vec![text(next), numbers(words)]));
        let no_text = Reply::List(vec![text("0"), Reply::List(vec![text("b"), Reply::Nil])]);
        let (written, conflict) =
            (format!("{:?}", Put::Written(Version(b"r".to_vec()))), format!("{:?}", Put::Conflict));
        let taken = format!("{:?}", Taken::Range { range: 7..12, step: 20 });
        let asked = SETTINGS.join("\n");
        for (url, call_of, answer, sent, wanted) in [
            ("redis://HERE?prefix=p/q", read, script(Reply::Nil), "EVAL 1 p/q/a b", "none; durable".to_owned()),
            (
                "redis://HERE?wait=2",
                read,
                [script(text("r")), vec![Reply::Integer(2)]].concat(),
                "EVAL 1 txid/a b 1\nWAIT 2 30000",
                "r; durable".to_owned(),
            ),
            ("redis://HERE", read, script(Reply::Integer(5)), "EVAL 1 txid/a b", format!("{STORE}a/b is Integer(5)")),
            (
                "redis://HERE",
                old,
                script(Reply::Integer(1)),
                "EVAL 1 txid/a b r o",
                format!("{written} 17000000; durable"),
            ),
            (
                "redis://HERE",
                old,
                script(Reply::Integer(0)),
                "EVAL 1 txid/a b r o",
                format!("{conflict} 17000000; durable"),
            ),
            ("redis://HERE", list, part("0", "bc 1 d 2 b 3"), "EVAL 1 txid/a 0 2048", "a/bc a/b; durable".to_owned()),
            ("redis://HERE", list, script(Reply::Nil), "EVAL 1 txid/a 0 2048", format!("{STORE}a is Nil")),
            (
                "redis://HERE",
                list,
                script(numbers("0")),
                "EVAL 1 txid/a 0 2048",
                format!("{STORE}a is not read in parts"),
            ),
            (
                "redis://HERE",
                list,
                script(no_text),
                "EVAL 1 txid/a 0 2048",
                format!("{STORE}a has a field that is no text"),
            ),
            ("redis://HERE", take, segment(numbers("12 5 20")), "EVAL 1 txid/a 5 7", format!("{taken}; durable")),
            (
                "redis://HERE",
                step,
                segment(numbers("6")),
                "EVAL 1 txid/a  7",
                "WentDown { number: 6 }; durable".to_owned(),
            ),
            ("redis://HERE", step, segment(numbers("")), "EVAL 1 txid/a  7", "NoTag; durable".to_owned()),
            (
                "redis://HERE",
                step,
                segment(numbers("1 2")),
                "EVAL 1 txid/a  7",
                format!("{STORE}a is [Text([49]), Text([50])]"),
            ),
            ("redis://HERE", step, segment(Reply::Nil), "EVAL 1 txid/a  7", format!("{STORE}a is Nil")),
            (
                "redis://HERE",
                step,
                segment(numbers("12 5 some")),
                "EVAL 1 txid/a  7",
                "redis://127.0.0.1:PORT cannot be used: txid/a has step = some: it must be 1 or more".to_owned(),
            ),
            (
                "redis://HERE",
                step,
                segment(numbers("-1")),
                "EVAL 1 txid/a  7",
                "redis://127.0.0.1:PORT cannot be used: txid/a has max_id = -1: it must be 1 or more".to_owned(),
            ),
            ("redis://HERE", create, script(Reply::Nil), "EVAL 1 txid/a 1 20", "; durable".to_owned()),
        ] {
            let (said, heard) = call(url, &[kept(), answer], call_of);
            assert_eq!(said, wanted, "{sent}");
            let is_take = sent.contains(" 7");
            let sent = if is_take { format!("{sent}\n{asked}") } else { sent.to_owned() };
            assert_eq!(heard, [&SETTINGS[..], &sent.split('\n').collect::<Vec<_>>()].concat());
        }
        // What a write that may be done says, and a list of two parts.
        let put: Call = |store| store.put("a/b", &Expected::Absent, b"r").map(|put| format!("{put:?}"));
        let (said, heard) = call("redis://HERE", &[kept(), script(Reply::Nil)], put);
        assert!(said.starts_with("Unknown(") && said.contains("not Redis: a write returned Nil"), "{said}");
        assert_eq!(heard.last().unwrap(), "EVAL 1 txid/a b r");
        let (said, heard) = call("redis://HERE", &[kept(), part("17", "b 1"), part("0", "bd 2")], list);
        assert_eq!((&*said, &**heard.last().unwrap()), ("a/b a/bd; durable", "EVAL 1 txid/a 17 2048"));
        let clock: Call = |store| store.clock().map(|time| (time.unwrap().earliest_ms / 100_000).to_string());
        let (said, heard) = call("redis://HERE", &[kept(), script(Reply::Nil)], clock);
        assert_eq!((&*said, &**heard.last().unwrap()), ("17000000; durable", "EVAL 1 txid/clock "));
    }

    #[test]
    fn a_sentinel_names_the_master() {
        let store = "redis+sentinel://127.0.0.1:PORT/main";
        for (answer, wanted) in [
            (Reply::Nil, format!("{store} cannot be used: the Sentinel at 127.0.0.1:PORT knows no master main")),
            (Reply::Error("LOADING".to_owned()), format!("cannot reach {store}: LOADING")),
            (
                Reply::List(vec![text("h"), text("65536")]),
                format!(
                    "{store} gave an invalid answer: the Sentinel at 127.0.0.1:PORT named the master [Text([104]), Text([54, 53, 53, 51, 54])]"
                ),
            ),
            (
                Reply::List(vec![text("h")]),
                format!(
                    "{store} gave an invalid answer: the Sentinel at 127.0.0.1:PORT named the master [Text([104])]"
                ),
            ),
        ] {
            let (said, heard) = call("redis+sentinel://HERE/main", &[vec![answer]], read);
            assert_eq!(said, wanted);
            assert_eq!(heard, ["SENTINEL get-master-addr-by-name main"]);
        }
        let why = |url: &str| {
            let store = RedisStore::open(StoreUrl::parse(url).unwrap()).unwrap();
            store.kept(&kept()).records.why().map(str::to_owned)
        };
        let replace = "Sentinels replace the master by a replica, which may lag behind";
        assert_eq!(why("redis+sentinel://127.0.0.1/main").as_deref(), Some(replace));
        assert_eq!(why("redis://127.0.0.1"), None);
        // Numbers of tags wait for the replicas.
        let store = RedisStore::open(StoreUrl::parse("redis://127.0.0.1?wait=1").unwrap()).unwrap();
        let mut settings = kept();
        settings[0] = text("connected_slaves:1\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:1\r\n");
        let Durabilities { records, numbers } = store.kept(&settings);
        let why = "connected_slaves:1, and a replica may lag behind";
        assert_eq!((records.why(), numbers), (Some(why), Durability::Durable));
    }

    #[test]
    fn what_shows_that_a_server_may_be_replaced() {
        for (replicas, offset, backlog, replaces, wait, wanted) in [
            ("0", "-1", "0", None, 0, None),
            ("2", "-1", "1", None, 0, Some("connected_slaves:2, and a replica may lag behind")),
            ("0", "-1", "1", None, 0, Some("repl_backlog_active:1: it has a replica, which may lag behind")),
            (
                "0",
                "77",
                "0",
                None,
                0,
                Some("second_repl_offset:77: it has taken the place of another, which may still run"),
            ),
            ("0", "-1", "0", Some("Sentinels"), 0, Some("Sentinels")),
            ("?", "-1", "0", None, 0, Some("connected_slaves:?, and a replica may lag behind")),
            ("0", "77", "1", Some("Sentinels"), 1, None),
            ("1", "77", "1", Some("Sentinels"), 1, None),
            ("2", "-1", "1", None, 1, Some("connected_slaves:2, but wait=1")),
            ("?", "-1", "1", None, 1, Some("connected_slaves:?, but wait=1")),
        ] {
            let info = format!(
                "# Replication\r\nrole:master\r\nconnected_slaves:{replicas}\r\nsecond_repl_offset:{offset}\r\n\
                 repl_backlog_active:{backlog}\r\n"
            );
            assert_eq!(why_replaced(&info, replaces, wait).as_deref(), wanted);
        }
    }

    #[test]
    fn which_settings_lose_writes() {
        let pairs = |words: &str| Reply::List(words.split_whitespace().map(text).collect());
        let asked = |config: &str| {
            let of = |name: &str| {
                let mut words = config.split_whitespace();
                let mut found = String::new();
                while let (Some(key), Some(value)) = (words.next(), words.next()) {
                    if key.starts_with(name) {
                        found += &format!("{key} {value} ");
                    }
                }
                pairs(&found)
            };
            [of("append"), of("no-append"), of("maxmemory")]
        };
        const KEPT: &str = "appendonly yes appenddirname aof appendfsync always no-appendfsync-on-rewrite no \
                            maxmemory 1000 maxmemory-policy noeviction ";
        let but = |name: &str, value: &str| {
            let mut words: Vec<&str> = KEPT.split_whitespace().collect();
            let at = words.iter().position(|word| *word == name).unwrap();
            words[at + 1] = value;
            asked(&words.join(" "))
        };
        let evicts = "maxmemory-policy allkeys-lru removes any key when memory is short";
        for (config, wanted) in [
            (asked(KEPT), None),
            (but("appendfsync", "everysec"), Some("appendfsync everysec")),
            (but("appendonly", "no"), Some("appendonly no")),
            (asked(""), Some("appendonly ?")),
            (but("no-appendfsync-on-rewrite", "yes"), Some("no-appendfsync-on-rewrite yes")),
            (but("maxmemory-policy", "allkeys-lru"), Some(evicts)),
            (but("maxmemory-policy", "volatile-lru"), None),
            (asked(&KEPT.replace("1000", "0").replace("noeviction", "allkeys-lru")), None),
        ] {
            let [append, rewrite, memory] = config;
            let info = text("role:master\r\nconnected_slaves:0\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:0\r\n");
            for wait in [0, 1] {
                let replies = [info.clone(), text(""), append.clone(), rewrite.clone(), memory.clone()];
                let found = durability(&replies, None, wait);
                assert_eq!(found.why(), wanted);
                assert_eq!(found.may_lose_writes(), wanted.is_some());
            }
        }
        for denied in 0..settings().len() {
            let mut replies =
                [text(""), text(""), asked(KEPT)[0].clone(), asked(KEPT)[1].clone(), asked(KEPT)[2].clone()];
            replies[denied] = Reply::Error("NOPERM".to_owned());
            let found = durability(&replies, None, 0);
            assert_eq!(found.why(), Some("the user may not ask for its settings (+info +config|get)"));
        }
    }
}
