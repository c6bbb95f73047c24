//! What every store must do.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Barrier;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use txid_agent::store::Store;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

use super::consul::StandIn;
use crate::fleet::host::agent;
use crate::proxy::{Mode, Proxy};
use crate::servers::{Server, until};

/// A server that can be killed and restarted with its data.
pub trait Kill {
    fn port(&self) -> u16;
    fn kill(&mut self);
    fn restart(&mut self);
}

impl Kill for Server {
    fn port(&self) -> u16 {
        self.port
    }

    fn kill(&mut self) {
        Self::kill(self);
    }

    fn restart(&mut self) {
        Self::restart(self);
    }
}

impl Kill for StandIn {
    fn port(&self) -> u16 {
        self.port
    }

    fn kill(&mut self) {
        Self::kill(self);
    }

    fn restart(&mut self) {
        Self::restart(self);
    }
}

/// A store. A test that is not about time-outs has one that no busy machine reaches.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    txid_agent::store::open(&patient(url))
}

/// A store's URL with a time-out that no busy machine reaches.
pub fn patient(url: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    if url.contains("timeout=") { url.to_owned() } else { format!("{url}{separator}timeout=60s") }
}

/// `url` makes a URL from a port and further options, which begin with `&`.
pub fn all(url: impl Fn(u16, &str) -> String + Sync, server: &mut impl Kill, has_clock: bool) {
    let port = server.port();
    wait_for(&url(port, ""));
    basics(&mut *open(&url(port, "")).unwrap(), has_clock);
    races(&url(port, ""));
    super::tags::tags(&url(port, ""));
    lost_replies(&url, port);
    trips(&url, port);
    outage(&url, server);
}

pub fn wait_for(url: &str) {
    until("the store does not answer", || {
        let answer = open(url).unwrap().read("any/key");
        assert!(answer.as_ref().err().is_none_or(StoreError::may_pass), "{answer:?}");
        answer
    });
}

pub fn put(store: &mut dyn Store, key: &str, expected: Expected, text: &str) -> Put {
    store.put(key, &expected, text.as_bytes()).unwrap()
}

pub fn written(put: Put) -> Expected {
    match put {
        Put::Written(version) => Expected::Version(version),
        other => panic!("{other:?}"),
    }
}

pub fn text(record: &Option<Record>) -> Option<&str> {
    record.as_ref().map(|record| std::str::from_utf8(&record.bytes).unwrap())
}

/// The records that a store shows, in the order of their keys.
pub fn list(store: &mut dyn Store, prefix: &str) -> Result<BTreeMap<String, Record>, StoreError> {
    let mut records = BTreeMap::new();
    store.list(prefix, &mut |key, record| _ = records.insert(key.to_owned(), record))?;
    Ok(records)
}

pub fn basics(store: &mut dyn Store, has_clock: bool) {
    // The store is empty.
    assert_eq!(store.read("orders/node/1").unwrap(), None);
    assert_eq!(store.clock().unwrap().is_some(), has_clock, "before anything is written");
    assert_eq!(list(store, "orders/").unwrap(), BTreeMap::new());

    // A record is created only if there is none.
    let first = written(put(store, "orders/node/1", Expected::Absent, "one 1"));
    assert_eq!(put(store, "orders/node/1", Expected::Absent, "another 1"), Put::Conflict);
    let read = store.read("orders/node/1").unwrap();
    assert_eq!(text(&read), Some("one 1"));
    assert_eq!(Expected::Version(read.unwrap().version), first, "a write and a read return the same version");

    // A record is changed only if the version is the current one.
    let second = written(put(store, "orders/node/1", first.clone(), "two 2"));
    assert_eq!(put(store, "orders/node/1", first.clone(), "three 3"), Put::Conflict);
    assert_eq!(put(store, "orders/node/2", first, "three 3"), Put::Conflict, "not there at all");
    assert_eq!(store.read("orders/node/2").unwrap(), None);
    assert_eq!(text(&store.read("orders/node/1").unwrap()), Some("two 2"));
    let same = written(put(store, "orders/node/1", second, "two 2"));

    // Texts that differ only in blanks or case are different.
    for other in ["two 2 ", "TWO 2", "two  2"] {
        let expected = Expected::Version(written_version(&same, other));
        if Expected::Version(written_version(&same, "two 2")) == same {
            assert_eq!(put(store, "orders/node/1", expected, "four 4"), Put::Conflict, "{other:?}");
        }
    }

    // A list does not contain keys whose prefix merely begins alike.
    written(put(store, "orders/node/10", Expected::Absent, "ten"));
    written(put(store, "orders/meta", Expected::Absent, "meta"));
    written(put(store, "orders2/node/1", Expected::Absent, "of another group"));
    let listed: Vec<(String, String)> = list(store, "orders/node/")
        .unwrap()
        .into_iter()
        .map(|(key, record)| (key, String::from_utf8(record.bytes).unwrap()))
        .collect();
    let wanted = [("orders/node/1", "two 2"), ("orders/node/10", "ten")];
    assert_eq!(listed, wanted.map(|(key, text)| (key.to_owned(), text.to_owned())));
    let keys: Vec<String> = list(store, "orders/").unwrap().into_keys().collect();
    assert_eq!(keys, ["orders/meta", "orders/node/1", "orders/node/10"]);

    // A version from a list works as well.
    let (key, record) = list(store, "orders/node/").unwrap().into_iter().find(|(key, _)| key.ends_with("10")).unwrap();
    written(put(store, &key, Expected::Version(record.version), "eleven"));

    // The longest possible record.
    let long = "x".repeat(900);
    written(put(store, "orders/node/3", Expected::Absent, &long));
    assert_eq!(text(&store.read("orders/node/3").unwrap()), Some(long.as_str()));

    // In this test the store runs on this host, and so has its clock.
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let before = now();
    if let Some(clock) = store.clock().unwrap() {
        assert!(before <= clock.latest_ms && clock.earliest_ms <= now(), "{before} {clock:?}");
    }
}

/// The version that a store which compares bytes has for `text`.
fn written_version(like: &Expected, text: &str) -> Version {
    let Expected::Version(version) = like else { panic!() };
    let mut version = version.clone();
    version.0 = text.as_bytes().to_vec();
    version
}

/// Eight threads increment one record: each success must be one step.
pub fn races(url: &str) {
    const STEPS: u32 = 25;
    const THREADS: u32 = 8;
    let start = Barrier::new(THREADS as usize);
    let made: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let start = &start;
                scope.spawn(move || {
                    let mut store = open(url).unwrap();
                    store.read("race/node/0").unwrap();
                    start.wait();
                    let made = matches!(put(&mut *store, "race/node/0", Expected::Absent, "0 -"), Put::Written(_));
                    let mut steps = 0;
                    while steps < STEPS {
                        let record = store.read("race/node/0").unwrap().unwrap();
                        let text = String::from_utf8(record.bytes).unwrap();
                        let count: u32 = text.split_once(' ').unwrap().0.parse().unwrap();
                        let next = format!("{} {thread}.{steps}", count + 1);
                        match put(&mut *store, "race/node/0", Expected::Version(record.version), &next) {
                            Put::Written(_) => steps += 1,
                            Put::Conflict => {}
                            Put::Unknown(error) => panic!("{error}"),
                        }
                    }
                    u32::from(made)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, 1, "one of them makes the record");
    let end = open(url).unwrap().read("race/node/0").unwrap();
    assert!(text(&end).unwrap().starts_with(&format!("{} ", THREADS * STEPS)), "{end:?}");
}

/// A write whose answer is lost is reported as unknown within the time-out. Reading shows whether it happened.
fn lost_replies(to: &impl Fn(u16, &str) -> String, port: u16) {
    let proxy = Proxy::to(port);
    let mut patient = open(&to(proxy.port, "")).unwrap();
    let first = written(put(&mut *patient, "lost/node/1", Expected::Absent, "first"));
    let mut store = open(&to(proxy.port, "&timeout=2s")).unwrap();
    until("it does not connect", || store.read("lost/node/1").is_ok());

    proxy.set(Mode::SwallowReplies);
    let lost = store.put("lost/node/1", &first, b"second");
    assert!(matches!(lost, Ok(Put::Unknown(_))), "{lost:?}");
    // A new connection gets no answer either.
    let error = store.read("lost/node/1").unwrap_err();
    assert!(error.may_pass(), "{error:?}");

    proxy.set(Mode::Pass);
    until("it does not come back", || store.read("lost/node/1").is_ok());
    let mut patient = open(&to(proxy.port, "")).unwrap();
    let record = patient.read("lost/node/1").unwrap();
    assert_eq!(text(&record), Some("second"), "the server had it");
    assert_eq!(put(&mut *patient, "lost/node/1", first, "third"), Put::Conflict);

    // Without a connection, a write fails or its result is unknown; it never succeeds.
    proxy.set(Mode::Refuse);
    let before = Expected::Version(record.unwrap().version);
    for _ in 0..3 {
        match store.put("lost/node/1", &before, b"fourth") {
            Err(error) | Ok(Put::Unknown(error)) => assert!(error.may_pass(), "{error:?}"),
            other => panic!("{other:?}"),
        }
    }
    proxy.set(Mode::Pass);
    until("it does not come back", || store.read("lost/node/1").is_ok());
}

/// The server dies, and comes back with its data.
fn outage(url: &impl Fn(u16, &str) -> String, server: &mut impl Kill) {
    let mut patient = open(&url(server.port(), "")).unwrap();
    let before = written(put(&mut *patient, "outage/node/1", Expected::Absent, "before"));
    let mut store = open(&url(server.port(), "&timeout=1s")).unwrap();
    server.kill();
    let mut may_be_written = false;
    for _ in 0..3 {
        match store.put("outage/node/1", &before, b"during") {
            Err(error) => assert!(error.may_pass(), "{error:?}"),
            Ok(Put::Unknown(error)) => {
                assert!(error.may_pass(), "{error:?}");
                may_be_written = true;
            }
            other => panic!("{other:?}"),
        }
    }
    let error = store.put("outage/node/1", &before, b"during").unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. } | StoreError::TimedOut { .. }), "{error:?}");
    server.restart();
    until("it does not come back", || store.read("outage/node/1").is_ok());
    // A client that reconnects by itself may still send an earlier write.
    until("it does not come back", || patient.read("outage/node/1").is_ok());
    let record = patient.read("outage/node/1").unwrap().unwrap();
    assert!(record.bytes == b"before" || may_be_written && record.bytes == b"during", "{record:?}");
    written(put(&mut *patient, "outage/node/1", Expected::Version(record.version), "after"));
}

/// The message for people: one line with the expected text, and without passwords.
pub fn one_line(error: &StoreError, wanted: &str) {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() < 700, "{text}");
    assert!(!text.contains("the-password") && !text.contains("the-wrong"), "{text}");
    assert!(text.contains(wanted), "{wanted:?} is not in: {text}");
    println!("{text}");
}

/// Checks that an error which only a person can mend is reported at the first access, is not retried, and ends the
/// agent.
pub fn wants_a_person(url: &str, wanted: &str) -> StoreError {
    let error = match open(url) {
        Err(error) => error,
        Ok(mut store) => match store.read("any/key") {
            Err(error) => error,
            Ok(_) => store.put("any/key", &Expected::Absent, b"x").expect_err(url),
        },
    };
    assert!(!error.may_pass(), "{error:?}");
    one_line(&error, wanted);
    agent_ends(url, wanted);
    error
}

/// Checks that the agent ends at its start with status 1 and one line that contains `wanted` and no password.
fn agent_ends(url: &str, wanted: &str) {
    let url = &patient(url);
    let directory = tempfile::tempdir().unwrap();
    let mut agent = agent()
        .args(["run", "--assume-unused-store", "--node", "any=snowflake", "--store", url, "--dir"])
        .arg(directory.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until(&format!("the agent of {url} does not end"), || agent.try_wait().unwrap().is_some());
    let output = agent.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(wanted) && said.contains("txid-agent: "), "{wanted:?} is not in: {said}");
    assert!(!said.contains("the-password") && !said.contains("the-wrong"), "{said}");
}

/// Counts round trips. Renewing a lease takes one; reading the store's clock takes none more.
fn trips(url: &impl Fn(u16, &str) -> String, port: u16) {
    let proxy = Proxy::to(port);
    let mut store = open(&url(proxy.port, "")).unwrap();
    let mut tags = open(&url(proxy.port, "")).unwrap();
    tags.create_tag("trips", 10).unwrap();
    let mut version = written(put(&mut *store, "trips/node/1", Expected::Absent, "0"));
    let of_a_range = match url(port, "").split("://").next().unwrap() {
        "redis" => 1,
        // One to read the number or the record first.
        "mysql" | "postgres" | "etcd" | "consul" => 2,
        // One more to make a server that lags catch up, which may share a packet with the read.
        "zookeeper" => 3,
        other => panic!("{other}"),
    };
    for turn in 0..4 {
        let before = proxy.trips();
        tags.take("trips", None, 0).unwrap();
        let after = proxy.trips();
        version = written(put(&mut *store, "trips/node/1", version, &turn.to_string()));
        store.clock().unwrap();
        let at_last = proxy.trips();
        // In the first turn, statements are prepared.
        if turn > 0 {
            let (range, renewal) = (after - before, at_last - after);
            assert!(range <= of_a_range && renewal <= 1, "{range} for a range, {renewal} to renew a lease");
        }
    }
}
