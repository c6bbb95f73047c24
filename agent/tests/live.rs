//! Each change of whether there are ids is reported, on every way that leads to a lease: the child waits for that. With the
//! real machine, keeper and page, and a store in this process.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use txid::snowflake::{Generator, Layout, LeasePage};
use txid_agent::keeper::{Kept, keep};
use txid_agent_machines::lease::page::{look, say, write};
use txid_agent_machines::lease::{Answer, Event, Failure, Lease, PageView, Reply, Request, Rules, Write};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

const AHEAD: Duration = Duration::from_millis(400);

/// What the store does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Answers,
    /// It does nothing.
    IsAway,
    /// It does what it is asked, and the answer is lost.
    LosesAnswers,
    /// It refuses each write.
    Refuses,
}

struct Store {
    mood: Mood,
    records: BTreeMap<String, (Vec<u8>, u64)>,
    writes: u64,
}

impl Store {
    fn read(&self, key: &str) -> Option<Record> {
        let (bytes, version) = self.records.get(key)?;
        Some(Record { bytes: bytes.clone(), version: Version(version.to_string().into_bytes()) })
    }

    fn put(&mut self, key: String, expected: &Expected, bytes: Vec<u8>) -> Put {
        let is_there = match (self.read(&key), expected) {
            (None, Expected::Absent) => true,
            (Some(record), Expected::Version(version)) => record.version == *version,
            _ => false,
        };
        if !is_there || self.mood == Mood::Refuses {
            return Put::Conflict;
        }
        self.writes += 1;
        self.records.insert(key, (bytes, self.writes));
        Put::Written(Version(self.writes.to_string().into_bytes()))
    }

    fn away() -> StoreError {
        StoreError::Unreachable { store: "the store".to_owned(), why: "it is away".to_owned() }
    }

    fn answer(&mut self, request: Request) -> Reply {
        if self.mood == Mood::IsAway {
            return match request {
                Request::Read { .. } => Reply::Read(Err(Self::away())),
                Request::Put { .. } => Reply::Put(Err(Self::away())),
                Request::List(_) => Reply::List(Err(Self::away())),
                Request::Number => Reply::Number(Err(Self::away())),
            };
        }
        let is_lost = self.mood == Mood::LosesAnswers;
        match request {
            Request::Read { key } => Reply::Read(if is_lost { Err(Self::away()) } else { Ok(self.read(&key)) }),
            Request::Put { key, expected, bytes } => {
                let put = self.put(key, &expected, bytes);
                Reply::Put(Ok(if is_lost { Put::Unknown(Self::away()) } else { put }))
            }
            Request::List(mut survey) => {
                self.records.keys().for_each(|key| survey.see(key, self.read(key).unwrap()));
                Reply::List(Ok(survey))
            }
            Request::Number => unreachable!("the agents number the nodes"),
        }
    }
}

/// A lease, as the agent has it.
struct Kit {
    rules: Rules,
    page: LeasePage,
    store: Arc<Mutex<Store>>,
    /// The next write to the page takes so long, as if the process was stopped.
    stop: Arc<Mutex<Duration>>,
}

impl Kept for Kit {
    type Machine = Lease;

    fn machine(&self) -> Lease {
        Lease::new(&self.look())
    }

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn look(&self) -> PageView {
        look(&self.page)
    }

    fn write(&mut self, it: Write) {
        write(&self.page, it);
        sleep(std::mem::take(&mut *self.stop.lock().unwrap()));
    }

    fn ask(&mut self, request: Request) -> Answer {
        Answer { reply: self.store.lock().unwrap().answer(request), store_ms: Some(txid::system_ms()) }
    }

    fn learn(&mut self) -> Option<String> {
        None
    }

    fn note(&self, event: &Event) {
        say(&self.page, event);
    }

    fn refusal(&self) -> Option<String> {
        Generator::new(self.page.state()).refusal_at(txid::system_ms()).map(|why| why.to_string())
    }

    fn unreturned(&self) -> Box<dyn Fn() -> Option<String>> {
        Box::new(|| None)
    }

    fn explain(&self, failure: Failure) -> String {
        failure.to_string()
    }
}

/// A host with its store. The page stays when the agent is killed.
struct Host {
    page: LeasePage,
    store: Arc<Mutex<Store>>,
    stop: Arc<Mutex<Duration>>,
    /// What was told last, by the agent that runs.
    told: Arc<Mutex<Option<bool>>>,
    log: Arc<Mutex<Vec<String>>>,
    agent: Option<(Sender<()>, thread::JoinHandle<()>)>,
    /// The jumps that the machine notices, in milliseconds.
    jump_ms: u64,
}

impl Host {
    fn new(number: u64) -> Self {
        let store = Store { mood: Mood::Answers, records: BTreeMap::new(), writes: 0 };
        Self {
            page: LeasePage::in_memory(&Layout::SNOWFLAKE, number).unwrap(),
            store: Arc::new(Mutex::new(store)),
            stop: Arc::default(),
            told: Arc::default(),
            log: Arc::default(),
            agent: None,
            jump_ms: 10_000,
        }
    }

    fn start(&mut self) {
        let rules = Rules {
            new: true,
            ahead_ms: AHEAD.as_millis() as u64,
            renew_ms: 50,
            retry_ms: (20, 100),
            most_requests: 10_000,
            jump_ms: self.jump_ms,
            ..Rules::new("orders", "here", &Layout::SNOWFLAKE, false)
        };
        let mut kit = Kit { rules, page: self.page, store: self.store.clone(), stop: self.stop.clone() };
        let (stop, stopped) = channel();
        self.told = Arc::default();
        let (told, log) = (self.told.clone(), self.log.clone());
        let keeper = thread::spawn(move || {
            keep(&mut kit, &stopped, |report| {
                log.lock().unwrap().push(format!("{report:?}"));
                *told.lock().unwrap() = Some(report.live);
            })
            .unwrap();
        });
        self.agent = Some((stop, keeper));
    }

    /// What is left is what a kill leaves: the page, and the record in the store.
    fn kill(&mut self) {
        let Some((stop, keeper)) = self.agent.take() else { return };
        let view = self.page.view();
        let records = self.store.lock().unwrap().records.clone();
        drop(stop);
        keeper.join().unwrap();
        self.store.lock().unwrap().records = records;
        self.page.open(view.node, view.free_ms);
        self.page.set_generation(view.generation, view.token);
        self.page.note(view.noted_ms);
        self.page.set_limit(view.node, view.confirmed_ms);
    }

    fn mood(&self, mood: Mood) {
        self.store.lock().unwrap().mood = mood;
    }

    fn refuses(&self) -> bool {
        Generator::new(self.page.state()).refusal_at(txid::system_ms()).is_some()
    }

    /// Waits until there are ids, or none any more, and that was told.
    fn is(&self, live: bool, when: &str) {
        let start = Instant::now();
        let told = || *self.told.lock().unwrap();
        while told() != Some(live) || self.refuses() == live {
            sleep(Duration::from_millis(5));
            let (told, log) = (told(), self.log.lock().unwrap().join("\n"));
            assert!(start.elapsed().as_secs() < 5, "{when}: told {told:?}, refuses {}\n{log}", self.refuses());
        }
        // It is not taken back.
        sleep(Duration::from_millis(300));
        assert!(told() == Some(live) && self.refuses() != live, "{when}");
    }

    /// An agent that was killed when it had a lease.
    fn killed(number: u64) -> Self {
        let mut host = Self::new(number);
        host.start();
        host.is(true, "the first lease");
        host.kill();
        host
    }

    /// The limit passes.
    fn let_pass(&self) {
        let start = Instant::now();
        while !self.refuses() {
            assert!(start.elapsed() < Duration::from_secs(5));
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some((stop, keeper)) = self.agent.take() {
            self.mood(Mood::Answers);
            drop(stop);
            let _ = keeper.join();
        }
    }
}

/// Confirming, Holding.
#[test]
fn a_node_that_is_taken() {
    let mut host = Host::new(1);
    host.start();
    host.is(true, "taken");
}

/// Judging, Holding.
#[test]
fn an_agent_that_starts_again_before_its_limit() {
    let mut host = Host::killed(2);
    host.start();
    host.is(true, "continued");
}

/// Judging, Holding; and the limit is past until the first renewal.
#[test]
fn an_agent_that_starts_again_after_its_limit() {
    let mut host = Host::killed(3);
    host.let_pass();
    host.start();
    host.is(true, "renewed");
}

/// The same, and the store answers later.
#[test]
fn an_agent_that_starts_again_after_its_limit_without_a_store() {
    let mut host = Host::killed(4);
    host.let_pass();
    host.mood(Mood::IsAway);
    host.start();
    host.is(false, "without its store");
    host.mood(Mood::Answers);
    host.is(true, "renewed");
}

/// Judging, Holding: the store has a renewal whose answer was lost, and that is past, too.
#[test]
fn an_agent_that_starts_again_after_a_renewal_that_it_knows_nothing_of() {
    let mut host = Host::new(5);
    host.start();
    host.is(true, "taken");
    let noted_ms = host.page.view().noted_ms;
    host.mood(Mood::LosesAnswers);
    while host.page.view().noted_ms == noted_ms {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(50));
    host.kill();
    assert!(host.page.view().noted_ms > host.page.view().confirmed_ms);
    host.let_pass();
    host.mood(Mood::Answers);
    sleep(AHEAD);
    host.start();
    host.is(true, "renewed");
}

/// Judging, Meeting, Holding: another node.
#[test]
fn an_agent_that_starts_again_and_has_lost_its_node() {
    let mut host = Host::killed(6);
    host.let_pass();
    host.store.lock().unwrap().records.retain(|key, _| !key.contains("/node/"));
    host.start();
    host.is(true, "another node");
}

/// Holding, Holding: a write failed until the limit was past.
#[test]
fn a_store_that_was_away() {
    let mut host = Host::new(7);
    host.start();
    for _ in 0..2 {
        host.is(true, "renewed");
        host.mood(Mood::IsAway);
        host.is(false, "the limit is past");
        host.mood(Mood::Answers);
    }
    host.is(true, "renewed");
    // For less than the second after which the log says so.
    host.mood(Mood::IsAway);
    host.let_pass();
    sleep(Duration::from_millis(100));
    host.mood(Mood::Answers);
    host.is(true, "renewed at once");
}

/// Holding, Judging, Holding: nobody knew whether a write was done.
#[test]
fn a_store_whose_answers_were_lost() {
    let mut host = Host::new(8);
    host.start();
    host.is(true, "taken");
    host.mood(Mood::LosesAnswers);
    host.is(false, "the limit is past");
    host.mood(Mood::Answers);
    host.is(true, "judged");
}

/// Holding, Judging, Holding: the record was not the expected one.
#[test]
fn a_store_that_refused_writes() {
    let mut host = Host::new(9);
    host.start();
    host.is(true, "taken");
    host.mood(Mood::Refuses);
    host.is(false, "the limit is past");
    host.mood(Mood::Answers);
    host.is(true, "judged");
}

/// Holding, Judging, Holding: the record was written again.
#[test]
fn a_store_that_was_emptied() {
    let mut host = Host::new(10);
    host.start();
    host.is(true, "taken");
    host.store.lock().unwrap().records.retain(|key, _| !key.contains("/node/"));
    host.is(true, "written again, or another node");
}

/// Holding, Judging, Holding: the process was stopped, and the page was closed until the store had answered.
#[test]
fn a_process_that_was_stopped() {
    for (number, pause) in [(11, Duration::from_millis(200)), (12, 3 * AHEAD)] {
        let mut host = Host::new(number);
        host.jump_ms = 100;
        host.start();
        host.is(true, "taken");
        *host.stop.lock().unwrap() = pause;
        sleep(pause + Duration::from_millis(100));
        host.is(true, "it goes on");
        assert!(host.log.lock().unwrap().iter().any(|line| line.contains("jumped by")), "it was not stopped");
    }
}
