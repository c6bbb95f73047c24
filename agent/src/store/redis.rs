//! Redis and Valkey: a hash for each group, whose fields are its records.
//!
//! `HGETALL txid/orders` shows everything. Each access is one script, so it is atomic, returns the server's time as
//! well, and is refused by a replica, which may lag behind.

use std::collections::BTreeMap;

use redis::{Client, ClientTlsConfig, Connection, ConnectionAddr, ErrorKind, FromRedisValue, IntoConnectionInfo};
use redis::{RedisConnectionInfo, RedisError, TlsCertificates};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Taken, Version};

use super::address::Address;
use super::clock::StoreClock;
use super::tls::Tls;
use super::url::{Host, StoreUrl};
use super::{Failure, Store, scheme, tag};

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

/// KEYS: the group.
const LIST: &str = "\
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], '')
return {now[1], now[2], redis.call('HGETALL', KEYS[1])}";

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
const TRANSIENT: [&str; 9] =
    ["LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "ASK", "BUSY", "OOM", "MISCONF", "NOREPLICAS"];

pub(super) struct RedisStore {
    address: Address,
    hosts: Vec<Host>,
    /// The name of the master, if the hosts are Sentinels.
    master: Option<String>,
    login: RedisConnectionInfo,
    tls: Option<Tls>,
    prefix: String,
    /// How many replicas must confirm a write.
    wait: u32,
    may_lose_writes: bool,
    connection: Option<Connection>,
    clock: StoreClock,
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
        let database = if database.is_empty() { Ok(0) } else { database.parse::<i64>() };
        let database = database.map_err(|_| {
            address.misconfigured("the path must be the number of a database; for a prefix, give ?prefix=NAME")
        })?;
        let wait = url.option("wait").unwrap_or("0");
        let wait = wait.parse().map_err(|_| {
            address.misconfigured(format_args!("wait={wait} is not a number of replicas that must confirm a write"))
        })?;
        let mut login = RedisConnectionInfo::default().set_db(database);
        if let Some(user) = &url.user {
            login = login.set_username(user);
        }
        if let Some(password) = &url.password {
            login = login.set_password(password.reveal());
        }
        Ok(Self {
            may_lose_writes: url.may_lose_writes(true)?,
            prefix: url.option("prefix").unwrap_or("txid").to_owned(),
            hosts: url.hosts,
            tls: url.tls,
            address,
            master,
            login,
            wait,
            connection: None,
            clock: StoreClock::default(),
        })
    }

    /// Connects to the first host that answers, or to the master that a Sentinel names.
    fn connect(&mut self) -> Result<Connection, StoreError> {
        let mut last = self.address.unreachable("there is no host to connect to");
        for host in self.hosts.clone() {
            let connected = match &self.master {
                None => self.connect_to(&host, self.login.clone()),
                Some(master) => {
                    self.ask_sentinel(&host, master).and_then(|host| self.connect_to(&host, self.login.clone()))
                }
            };
            match connected {
                Ok(connection) => return Ok(connection),
                Err(error) if error.may_pass() => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn ask_sentinel(&self, sentinel: &Host, master: &str) -> Result<Host, StoreError> {
        // A Sentinel has no databases, and its own passwords.
        let mut connection = self.connect_to(sentinel, RedisConnectionInfo::default())?;
        let found: Option<(String, u16)> = redis::cmd("SENTINEL")
            .arg("get-master-addr-by-name")
            .arg(master)
            .query(&mut connection)
            .map_err(|error| self.say(&error).into_error())?;
        let (name, port) = found.ok_or_else(|| {
            self.address.misconfigured(format_args!("the Sentinel at {sentinel} knows no master {master}"))
        })?;
        Ok(Host { name, port })
    }

    fn connect_to(&self, host: &Host, login: RedisConnectionInfo) -> Result<Connection, StoreError> {
        let address = match self.tls {
            None => ConnectionAddr::Tcp(host.name.clone(), host.port),
            Some(_) => {
                ConnectionAddr::TcpTls { host: host.name.clone(), port: host.port, insecure: false, tls_params: None }
            }
        };
        let info = address.into_connection_info().map_err(|error| self.say(&error).into_error())?;
        let info = info.set_redis_settings(login);
        let client = match &self.tls {
            None => Client::open(info),
            Some(tls) => {
                let client_tls = match &tls.identity {
                    None => None,
                    Some((cert, key)) => Some(ClientTlsConfig {
                        client_cert: Tls::pem(&self.address, cert)?,
                        client_key: Tls::pem(&self.address, key)?,
                    }),
                };
                let root_cert = Some(Tls::pem(&self.address, &tls.ca)?);
                Client::build_with_tls(info, TlsCertificates { client_tls, root_cert })
            }
        };
        let timeout = Some(self.address.timeout);
        client
            .and_then(|client| client.get_connection_with_timeout(self.address.timeout))
            .and_then(|connection| {
                connection.set_read_timeout(timeout)?;
                connection.set_write_timeout(timeout)?;
                Ok(connection)
            })
            .map_err(|error| match self.say(&error).into_error() {
                StoreError::Unreachable { .. } => self.address.unreachable(format_args!("{host}: {}", cause(&error))),
                said => said,
            })
    }

    /// Runs a script for `group`. If that fails, the next access begins with another host.
    fn run<T: FromRedisValue>(&mut self, script: &str, group: &str, args: &[&[u8]], copies: u32) -> Result<T, Failure> {
        let result = self.try_run(script, group, args, copies);
        if result.is_err() {
            self.hosts.rotate_left(1);
        }
        result
    }

    /// Runs a script for `group`, and waits for the replicas if required.
    fn try_run<T: FromRedisValue>(
        &mut self,
        script: &str,
        group: &str,
        args: &[&[u8]],
        copies: u32,
    ) -> Result<T, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().map_err(Failure::NotDone)?,
        };
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(1).arg(format!("{}/{group}", self.prefix)).arg(args);
        let mut answer = command.query(&mut connection);
        if let Some((name, port)) = answer.as_ref().err().and_then(RedisError::redirect_node) {
            let node = Host { name: name.to_owned(), port };
            connection = self.connect_to(&node, self.login.clone()).map_err(Failure::NotDone)?;
            answer = command.query(&mut connection);
        }
        let (seconds, micros, answer): (i64, i64, T) = answer.map_err(|error| self.say(&error))?;
        if copies > 0 {
            let patience = (self.address.timeout / 2).as_millis() as u64;
            let confirmed: u32 = redis::cmd("WAIT")
                .arg(copies)
                .arg(patience)
                .query(&mut connection)
                .map_err(|error| Failure::Unknown(self.say(&error).into_error()))?;
            if confirmed < copies {
                return Err(Failure::Unknown(self.address.unreachable(format_args!(
                    "{confirmed} of its replicas confirmed the write, but wait={copies} requires {copies}"
                ))));
            }
        }
        self.connection = Some(connection);
        self.clock.saw(seconds * 1000 + micros / 1000);
        Ok(answer)
    }

    /// What an error means. The connection it came from is not used again.
    fn say(&self, error: &RedisError) -> Failure {
        let address = &self.address;
        // The script's own errors contain the error of a command.
        let text = error.to_string();
        let tells = |code: &str| error.code() == Some(code) || text.contains(code);
        if error.is_timeout() {
            return Failure::Unknown(address.timed_out());
        }
        if text.contains("certificate") {
            return Failure::NotDone(address.misconfigured(cause(error)));
        }
        if error.is_io_error() || error.is_connection_dropped() {
            return Failure::Unknown(address.unreachable(cause(error)));
        }
        Failure::NotDone(match error.kind() {
            ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
                return Failure::Unknown(
                    address.misconfigured(format_args!("the server is not Redis: {}", cause(error))),
                );
            }
            ErrorKind::AuthenticationFailed => address.refused(LOGIN),
            _ if tells("WRONGPASS") || tells("NOAUTH") => address.refused(LOGIN),
            _ if tells("NOPERM") || text.contains("no permissions") || text.contains("can't run this command") => address.refused(format_args!(
                "{}; the user needs +eval +time +hget +hset +hdel +hgetall (+hmget +hincrby +hexists for segments, +wait for wait=, +select for another database) on ~{}/*",
                cause(error),
                self.prefix
            )),
            _ if tells("READONLY") => address.unreachable("this server is a replica, but the master is needed"),
            _ if TRANSIENT.iter().any(|code| tells(code)) => address.unreachable(cause(error)),
            _ => address.misconfigured(cause(error)),
        })
    }
}

impl Store for RedisStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let (group, field) = split(key);
        let again: &[&[u8]] = &[field.as_bytes(), b"1"];
        let args = if self.wait > 0 { again } else { &again[..1] };
        let found: Option<Vec<u8>> = self.run(READ, group, args, self.wait).map_err(Failure::into_error)?;
        Ok(found.map(Record::compared_by_bytes))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let (group, field) = split(key);
        let mut args = vec![field.as_bytes(), bytes];
        if let Expected::Version(old) = expected {
            args.push(&old.0);
        }
        match self.run::<bool>(PUT, group, &args, self.wait) {
            Ok(true) => Ok(Put::Written(Version(bytes.to_vec()))),
            Ok(false) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let (group, field) = split(prefix);
        let found: BTreeMap<String, Vec<u8>> = self.run(LIST, group, &[], 0).map_err(Failure::into_error)?;
        Ok(found
            .into_iter()
            .filter(|(name, _)| name.starts_with(field))
            .map(|(name, bytes)| (format!("{group}/{name}"), Record::compared_by_bytes(bytes)))
            .collect())
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.clock.now_ms().is_none() {
            self.read("clock/")?;
        }
        Ok(self.clock.now_ms())
    }

    fn may_lose_writes(&self) -> bool {
        self.may_lose_writes
    }

    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        let (count, seen) = (count.map_or(String::new(), |count| count.to_string()), seen.to_string());
        let args: [&[u8]; 2] = [count.as_bytes(), seen.as_bytes()];
        let found: Vec<i64> = self.run(TAKE, tag, &args, self.wait).map_err(Failure::into_error)?;
        let number = |field, value: i64| {
            u64::try_from(value).map_err(|_| {
                self.address
                    .misconfigured(format_args!("{}/{tag} has {field} = {value}: it must be 1 or more", self.prefix))
            })
        };
        Ok(match found[..] {
            [end, count, step] => Taken::below(number("max_id", end)?, number("step", count)?, number("step", step)?),
            [found] => Taken::WentDown { number: number("max_id", found)? },
            _ => Taken::NoTag,
        })
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        let (first, step) = (tag::FIRST.to_string(), step.to_string());
        let args: [&[u8]; 2] = [first.as_bytes(), step.as_bytes()];
        let _: Option<bool> = self.run(CREATE_TAG, tag, &args, self.wait).map_err(Failure::into_error)?;
        Ok(())
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        format!("HSET {}/{tag} max_id {} step {step}", self.prefix, tag::FIRST)
    }

    fn damaged(&self, what: &str) -> StoreError {
        self.address.damaged(what)
    }
}

/// The hash and the field of a key.
fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or((key, ""))
}

/// The error without the headings of the redis crate.
fn cause(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    }
}
