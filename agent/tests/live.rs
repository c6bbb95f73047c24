//! Each change of whether there are ids is reported, on every way that leads to a lease: the child waits for that. With the
//! real machine, keeper and page, a store in this process, and a clock that only the test moves.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use txid::snowflake::{Generator, Layout, LeasePage};
use txid_agent::keeper::page::{look, set_news, write};
use txid_agent::keeper::{Clock, Managed, Step, keep};
use txid_agent_machines::lease::{Answer, Input, Lease, Output, Reply, Request, Rules};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Version};

const AHEAD_MS: u64 = 400;
/// How far the clock is moved at once.
const STEP_MS: u64 = 5;
/// 2026-11-18.
const START_MS: i64 = 1_795_000_000_000;

/// The clock of a host, and the keeper that waits for it.
#[derive(Default)]
struct Time {
    now: Mutex<Moment>,
    changed: Condvar,
}

#[derive(Default)]
struct Moment {
    ms: u64,
    /// There is a keeper.
    runs: bool,
    /// It waits until then.
    due_ms: Option<u64>,
    is_to_stop: bool,
    /// How far the clock of the host is behind since then, and that of the store.
    behind_ms: (i64, i64),
}

impl Time {
    fn ms(&self) -> u64 {
        self.now.lock().unwrap().ms
    }

    /// Waits until the keeper waits, or there is none.
    fn until_it_waits(&self) -> MutexGuard<'_, Moment> {
        let now = self.now.lock().unwrap();
        let works = |now: &mut Moment| now.runs && now.due_ms.is_none();
        let (now, waited) = self.changed.wait_timeout_while(now, Duration::from_secs(180), works).unwrap();
        assert!(!waited.timed_out(), "the keeper does not wait for its clock");
        now
    }

    /// Moves the clock. The keeper does what is due.
    fn pass(&self, ms: u64) {
        for _ in 0..ms.div_ceil(STEP_MS) {
            let mut now = self.until_it_waits();
            now.ms += STEP_MS;
            if now.due_ms.is_some_and(|due_ms| due_ms <= now.ms) {
                now.due_ms = None;
                self.changed.notify_all();
            }
            drop(now);
            drop(self.until_it_waits());
        }
    }

    fn change(&self, change: impl FnOnce(&mut Moment)) {
        change(&mut self.now.lock().unwrap());
        self.changed.notify_all();
    }
}

impl Clock for Time {
    fn wall_ms(&self) -> i64 {
        let now = self.now.lock().unwrap();
        START_MS + now.ms as i64 - now.behind_ms.0
    }

    fn mono_ms(&self) -> u64 {
        self.ms()
    }

    fn wait(&self, for_ms: u64) -> bool {
        let mut now = self.now.lock().unwrap();
        now.due_ms = Some(now.ms + for_ms);
        self.changed.notify_all();
        let waits = |now: &mut Moment| now.due_ms.is_some() && !now.is_to_stop;
        let mut now = self.changed.wait_while(now, waits).unwrap();
        now.due_ms = None;
        std::mem::take(&mut now.is_to_stop)
    }
}

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
                Request::Read(_) => Reply::Read(Err(Self::away())),
                Request::Put { .. } => Reply::Put(Err(Self::away())),
                Request::List(_) => Reply::List(Err(Self::away())),
                Request::Number => Reply::Number(Err(Self::away())),
            };
        }
        let is_lost = self.mood == Mood::LosesAnswers;
        match request {
            Request::Read(key) => Reply::Read(if is_lost { Err(Self::away()) } else { Ok(self.read(&key)) }),
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
    machine: Lease,
    answer: Option<Answer>,
    page: LeasePage,
    store: Arc<Mutex<Store>>,
    time: Arc<Time>,
    /// How long the next write to the page takes, as if the process was stopped.
    pause_ms: Arc<Mutex<u64>>,
}

impl Managed for Kit {
    fn begin(&mut self) {
        (self.machine, self.answer) = (Lease::new(&look(&self.page)), None);
    }

    fn step(&mut self, now: &Now, is_to_stop: bool) -> Step {
        let unless = if is_to_stop { Input::Stop } else { Input::Go };
        let input = self.answer.take().map_or(unless, Input::Answer);
        match self.machine.step(&self.rules, now, &look(&self.page), input) {
            Output::Ask(request) => {
                let reply = self.store.lock().unwrap().answer(request);
                let ms = START_MS + self.time.ms() as i64 - self.time.now.lock().unwrap().behind_ms.1;
                let time = StoreTime { earliest_ms: ms, latest_ms: ms };
                self.answer = Some(Answer { reply, time: Some(time) });
            }
            Output::Write(it) => {
                write(&self.page, it);
                let pause_ms = std::mem::take(&mut *self.pause_ms.lock().unwrap());
                self.time.change(|now| now.ms += pause_ms);
            }
            Output::Log(event) => {
                set_news(&self.page, &event);
                return Step::Done(Some(event.to_string()));
            }
            Output::Wait { until_ms } => return Step::Wait(until_ms),
            Output::Stopped => return Step::Stopped,
            Output::Fail(failure) => return Step::Failed(failure.to_string()),
        }
        Step::Done(None)
    }

    fn refusal(&self) -> Option<String> {
        Generator::new(self.page.state()).refusal_at(self.time.wall_ms()).map(|why| why.to_string())
    }
}

/// A host with its store. The page stays when the agent is killed.
struct Host {
    page: LeasePage,
    store: Arc<Mutex<Store>>,
    time: Arc<Time>,
    pause_ms: Arc<Mutex<u64>>,
    /// What was told last, by the agent that runs.
    told: Arc<Mutex<Option<bool>>>,
    log: Arc<Mutex<Vec<String>>>,
    agent: Option<thread::JoinHandle<()>>,
    /// The jumps that the machine notices, in milliseconds.
    jump_ms: u64,
}

impl Host {
    fn new(number: u64) -> Self {
        let store = Store { mood: Mood::Answers, records: BTreeMap::new(), writes: 0 };
        Self {
            page: LeasePage::in_memory(&Layout::SNOWFLAKE, number).unwrap(),
            store: Arc::new(Mutex::new(store)),
            time: Arc::default(),
            pause_ms: Arc::default(),
            told: Arc::default(),
            log: Arc::default(),
            agent: None,
            jump_ms: 10_000,
        }
    }

    fn start(&mut self) {
        let rules = Rules {
            new: true,
            ahead_ms: AHEAD_MS,
            renew_ms: 50,
            retry_ms: (20, 100),
            most_requests: 10_000,
            jump_ms: self.jump_ms,
            ..Rules::new("orders", "here", &Layout::SNOWFLAKE, false)
        };
        let (time, pause_ms) = (self.time.clone(), self.pause_ms.clone());
        let machine = Lease::new(&look(&self.page));
        let mut kit = Kit {
            rules,
            machine,
            answer: None,
            page: self.page,
            store: self.store.clone(),
            time: time.clone(),
            pause_ms,
        };
        self.told = Arc::default();
        let (told, log) = (self.told.clone(), self.log.clone());
        time.change(|now| (now.runs, now.due_ms, now.is_to_stop) = (true, None, false));
        self.agent = Some(thread::spawn(move || {
            let managed = keep(&mut kit, &*time, |report| {
                log.lock().unwrap().push(format!("{report:?}"));
                *told.lock().unwrap() = Some(report.live);
            });
            time.change(|now| now.runs = false);
            managed.unwrap();
        }));
    }

    /// Lets the agent end.
    fn stop(&mut self) -> bool {
        let Some(keeper) = self.agent.take() else { return false };
        self.time.change(|now| (now.is_to_stop, now.due_ms) = (true, None));
        while self.time.until_it_waits().runs {
            self.time.pass(STEP_MS);
        }
        keeper.join().is_ok()
    }

    /// A kill leaves the page, and the record in the store.
    fn kill(&mut self) {
        drop(self.time.until_it_waits());
        let view = self.page.view();
        let records = self.store.lock().unwrap().records.clone();
        assert!(self.stop(), "the keeper has failed");
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
        Generator::new(self.page.state()).refusal_at(self.time.wall_ms()).is_some()
    }

    /// Waits until there are ids, or none any more, and that was told.
    fn is(&self, live: bool, when: &str) {
        let begin_ms = self.time.ms();
        let is_told = || *self.told.lock().unwrap() == Some(live) && self.refuses() != live;
        while !is_told() {
            self.time.pass(STEP_MS);
            let log = || self.log.lock().unwrap().join("\n");
            assert!(self.time.ms() < begin_ms + 5_000, "{when}: refuses {}\n{}", self.refuses(), log());
        }
        // It is not taken back.
        for _ in 0..60 {
            self.time.pass(STEP_MS);
            assert!(is_told(), "{when}");
        }
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
        let begin_ms = self.time.ms();
        while !self.refuses() {
            self.time.pass(STEP_MS);
            assert!(self.time.ms() < begin_ms + 5_000);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.mood(Mood::Answers);
        self.stop();
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
        host.time.pass(STEP_MS);
    }
    host.time.pass(50);
    host.kill();
    assert!(host.page.view().noted_ms > host.page.view().confirmed_ms);
    host.let_pass();
    host.mood(Mood::Answers);
    host.time.pass(AHEAD_MS);
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
    host.time.pass(100);
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
    for (number, pause_ms) in [(11, 200), (12, 3 * AHEAD_MS)] {
        let mut host = Host::new(number);
        host.jump_ms = 100;
        host.start();
        host.is(true, "taken");
        *host.pause_ms.lock().unwrap() = pause_ms;
        host.time.pass(100);
        host.is(true, "it goes on");
        assert!(host.log.lock().unwrap().iter().any(|line| line.contains("jumped by")), "it was not stopped");
    }
}

/// The clock shows a second twice, and perhaps the store's as well. An agent starts again in that second.
#[test]
fn a_leap_second() {
    for (number, store_ms) in [(20, 1_000), (21, 0)] {
        let mut host = Host::new(number);
        host.start();
        host.is(true, "taken");
        let mut ids = Vec::new();
        let mut make = |host: &Host, ms: u64| {
            let generator = Generator::new(host.page.state());
            for _ in 0..ms / STEP_MS {
                host.time.pass(STEP_MS);
                ids.extend([(); 20].map(|()| generator.next_at(host.time.wall_ms()).unwrap()));
            }
        };
        make(&host, 300);
        host.time.change(|now| now.behind_ms = (1_000, store_ms));
        make(&host, 500);
        let log = host.log.lock().unwrap().clone();
        assert_eq!(log.len(), 1, "nothing happens but that the node is taken: {log:?}");
        assert!(host.stop());
        host.start();
        host.is(true, "taken again");
        make(&host, 1_000);
        assert!(ids.is_sorted_by(|id, next| id < next), "an id comes twice");
    }
}
