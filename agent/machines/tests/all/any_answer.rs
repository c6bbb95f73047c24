//! Whatever a store answers, a machine asks at most ten times in any ten seconds, and goes on.
//!
//! `TXID_SEED=7 cargo test -p txid-agent-machines any_answer` repeats one run. Every failure shows its seed.

use crate::random::Random;
use std::collections::BTreeMap;
use std::fmt::Display;
use txid::snowflake::Layout;
use txid_agent_machines::lease::{Answer, Group, Lease, NodeRecord, PageView, Reply, Request, Rules, Write};
use txid_agent_machines::pace;
use txid_agent_machines::protocol::{Input, Now, Output};
use txid_agent_machines::segment::{self, Segment};
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, StoreTime, Taken, Version};

/// How long each run lasts.
const RUN_MS: u64 = 120_000;
const START_MS: i64 = 1_795_000_000_000;

/// What one machine did.
struct Run {
    sent_ms: Vec<u64>,
    logged: Vec<String>,
    ended: bool,
}

impl Run {
    /// `ranges` requests brought a range, and do not count.
    fn check(&self, what: &str, ranges: usize) {
        let most = pace::MOST + ranges;
        let close = self.sent_ms.windows(most + 1).find(|some| some[most] - some[0] < pace::WINDOW_MS);
        assert!(close.is_none(), "{what}: more than {most} requests in ten seconds: {close:?}");
        let long = self.logged.iter().find(|line| line.len() > 1024);
        assert!(long.is_none(), "{what}: {long:?}");
    }
}

/// Runs a machine. Answers come at once, and no time passes but what the machine waits: the worst case.
fn run<R, A, W, V, E: Display, F>(
    step: &mut impl FnMut(&Now, &V, Input<A>) -> Output<R, W, E, F>,
    page: &mut impl FnMut(Option<W>) -> V,
    answer: &mut impl FnMut(R, u64) -> A,
    random: &mut Random,
) -> Run {
    let mut run = Run { sent_ms: Vec::new(), logged: Vec::new(), ended: false };
    let (mut now_ms, mut input, mut steps) = (0, Input::Go, 0);
    while now_ms < RUN_MS && !run.ended {
        let now = Now { wall_ms: START_MS + now_ms as i64, mono_ms: now_ms, random: u128::from(random.below(1 << 60)) };
        steps += 1;
        assert!(steps < 20_000, "it does not wait: {:?}", run.logged);
        let view = page(None);
        input = match step(&now, &view, input) {
            Output::Ask(request) => {
                run.sent_ms.push(now_ms);
                Input::Answer(answer(request, now_ms))
            }
            Output::Write(write) => {
                page(Some(write));
                Input::Go
            }
            Output::Log(event) => {
                run.logged.push(event.to_string());
                Input::Go
            }
            Output::Wait { until_ms } => {
                assert!(until_ms > now_ms, "it waits for what is past");
                now_ms = until_ms;
                Input::Go
            }
            Output::Stopped | Output::Fail(_) => {
                run.ended = true;
                Input::Go
            }
        };
    }
    run
}

fn lease_page() -> PageView {
    PageView {
        node: 0,
        generation: 0,
        token: 0,
        limit_ms: i64::MIN,
        noted_ms: i64::MIN,
        free_ms: START_MS - 1000,
        is_closed: true,
    }
}

fn write_lease(page: &mut PageView, write: Write) {
    match write {
        Write::Close => page.is_closed = true,
        Write::Open { node, start_ms } => (page.node, page.free_ms, page.is_closed) = (node, start_ms, false),
        Write::Generation { generation, token } => (page.generation, page.token) = (generation, token),
        Write::Note { limit_ms } => page.noted_ms = limit_ms,
        Write::Limit { limit_ms, .. } => page.limit_ms = limit_ms,
    }
}

fn lease_rules() -> Rules {
    Rules::new("orders", "web-1", &Layout::SNOWFLAKE, false)
}

fn run_lease(rules: &Rules, mut reply: impl FnMut(&Request, u64) -> Reply, seed: u64) -> Run {
    let mut view = lease_page();
    let mut lease = Lease::new(&view);
    let mut page = |write: Option<Write>| {
        write.into_iter().for_each(|write| write_lease(&mut view, write));
        view
    };
    let mut answer = |request: Request, now_ms: u64| Answer {
        reply: reply(&request, now_ms),
        time: Some(StoreTime { earliest_ms: START_MS + now_ms as i64, latest_ms: START_MS + now_ms as i64 }),
    };
    let mut step = |now: &Now, page: &PageView, input| lease.step(rules, now, page, input);
    run(&mut step, &mut page, &mut answer, &mut Random::new(seed))
}

/// A store that works.
#[derive(Default)]
struct Memory(BTreeMap<String, Record>);

impl Memory {
    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            Request::Read(key) => Reply::Read(Ok(self.0.get(key).cloned())),
            Request::List(survey) => {
                let mut survey = survey.clone();
                self.0.iter().for_each(|(key, record)| survey.see(key, record.clone()));
                Reply::List(Ok(survey))
            }
            Request::Put { key, expected, bytes } => {
                let there = self.0.get(key).map_or(Expected::Absent, |it| Expected::Version(it.version.clone()));
                if there != *expected {
                    return Reply::Put(Ok(Put::Conflict));
                }
                let record = Record::compared_by_bytes(bytes.clone());
                self.0.insert(key.clone(), record.clone());
                Reply::Put(Ok(Put::Written(record.version)))
            }
            Request::Number => Reply::Number(Ok(Numbered::Node(7))),
        }
    }
}

/// A user may read and not write, but the store says "conflict", as PostgreSQL does with row security.
#[test]
fn a_store_that_always_refuses_is_asked_ever_more_rarely() {
    for working_ms in [0, 1, 30_000] {
        let mut store = Memory::default();
        let group = Group { floor_ms: 0, made_ms: START_MS, id: 1, layout: Layout::SNOWFLAKE.to_string() };
        store.0.insert(Group::key("orders"), Record::compared_by_bytes(group.to_string().into_bytes()));
        let reply = |request: &Request, now_ms| match request {
            Request::Put { .. } if now_ms >= working_ms => Reply::Put(Ok(Put::Conflict)),
            request => store.answer(request),
        };
        let run = run_lease(&lease_rules(), reply, 1);
        run.check("conflicts", 0);
        assert!(run.sent_ms.len() < 60, "{} in two minutes", run.sent_ms.len());
        let reasons = run.logged.iter().filter(|line| line.contains("5 writes in a row had no effect")).count();
        assert_eq!(reasons, 1, "the reason is in the log, once: {:?}", run.logged);
    }
}

/// The store takes the write, and has something else or nothing afterwards.
#[test]
fn a_store_that_forgets_what_it_confirmed_is_asked_ever_more_rarely() {
    let reply = |request: &Request, _| match request {
        Request::Read(_) => Reply::Read(Ok(None)),
        Request::List(survey) => Reply::List(Ok(survey.clone())),
        Request::Put { .. } => Reply::Put(Ok(Put::Written(Version(vec![1])))),
        Request::Number => Reply::Number(Ok(Numbered::Node(1))),
    };
    let run = run_lease(&lease_rules(), reply, 1);
    run.check("nothing is kept", 0);
    assert!(run.sent_ms.len() < 60, "{} in two minutes", run.sent_ms.len());
    assert!(run.logged.iter().any(|line| line.contains("5 writes in a row had no effect")), "{:?}", run.logged);
}

fn error(random: &mut Random) -> StoreError {
    let (store, why) = ("the store".to_owned(), "x".repeat(random.below(300) as usize));
    match random.below(5) {
        0 => StoreError::Unreachable { store, why },
        1 => StoreError::TimedOut { store, ms: 3000 },
        2 => StoreError::Refused { store, why },
        3 => StoreError::Misconfigured { store, why },
        _ => StoreError::Damaged { store, why },
    }
}

/// A record that may be this agent's own, another's, or none at all.
fn any_record(random: &mut Random, last: &[u8]) -> Record {
    let time = |random: &mut Random| match random.below(6) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => 0,
        3 => Group::UNSET - 1,
        _ => START_MS - 700_000 + random.below(900_000) as i64,
    };
    let bytes = match random.below(6) {
        0 => vec![0xff; random.below(2000) as usize],
        1 => {
            let layout = if random.below(4) == 0 { Layout::SONYFLAKE } else { Layout::SNOWFLAKE };
            let floor_ms = if random.below(2) == 0 { 0 } else { time(random) };
            Group { floor_ms, made_ms: 0, id: 1, layout: layout.to_string() }.to_string().into_bytes()
        }
        2 => NodeRecord {
            generation: if random.below(3) == 0 { u64::MAX } else { random.below(9) },
            limit_ms: time(random),
            token: u128::from(random.below(3)),
            held: random.below(2) == 0,
            owner: if random.below(2) == 0 { "web-1" } else { "web-2" }.to_owned(),
        }
        .to_string()
        .into_bytes(),
        _ => last.to_vec(),
    };
    Record { version: Version(vec![random.below(3) as u8]), bytes }
}

fn any_reply(random: &mut Random, request: &Request, last: &mut Vec<u8>, is_kind: bool) -> Reply {
    let group = || {
        let group = Group { floor_ms: 0, made_ms: 0, id: 1, layout: Layout::SNOWFLAKE.to_string() };
        Record { version: Version(vec![0]), bytes: group.to_string().into_bytes() }
    };
    if let Request::Put { bytes, .. } = request {
        last.clone_from(bytes);
    }
    if random.below(4) == 0 {
        let error = error(random);
        return match request {
            Request::Read(_) => Reply::Read(Err(error)),
            Request::List(_) => Reply::List(Err(error)),
            Request::Put { .. } if random.below(2) == 0 => Reply::Put(Ok(Put::Unknown(error))),
            Request::Put { .. } => Reply::Put(Err(error)),
            Request::Number => Reply::Number(Err(error)),
        };
    }
    match request {
        Request::Read(key) if is_kind && key.ends_with("meta") => Reply::Read(Ok(Some(group()))),
        Request::Read(_) => Reply::Read(Ok((random.below(4) > 0).then(|| any_record(random, last)))),
        Request::List(survey) => {
            let mut survey = survey.clone();
            let prefix = survey.prefix();
            let count = random.below(30);
            let keys = (0..count).map(|_| match random.below(8) {
                0 => format!("{prefix}x"),
                1 => format!("{prefix}99999999"),
                _ => format!("{prefix}{}", random.below(1024)),
            });
            let keys: Vec<_> = keys.collect();
            keys.iter().for_each(|key| survey.see(key, any_record(random, last)));
            Reply::List(Ok(survey))
        }
        Request::Put { .. } => Reply::Put(Ok(match random.below(3) {
            0 => Put::Conflict,
            version => Put::Written(Version(vec![version as u8 - 1])),
        })),
        Request::Number => Reply::Number(Ok(match random.below(3) {
            0 => Numbered::UsedUp,
            1 => Numbered::Node(u64::MAX),
            _ => Numbered::Node(random.below(1024)),
        })),
    }
}

fn seeds() -> Vec<u64> {
    let seed = std::env::var("TXID_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.map_or((0..3000).collect(), |seed: u64| vec![seed])
}

#[test]
fn no_answers_make_a_lease_ask_too_often() {
    let (mut held, mut ended) = (0, 0);
    for seed in seeds() {
        let mut random = Random::new(seed);
        let mut last = Vec::new();
        let numbering = if random.below(4) == 0 { Numbering::LeafForever } else { Numbering::Own };
        let rules = Rules { numbering, ..lease_rules() };
        let is_kind = random.below(4) > 0;
        let run = run_lease(&rules, |request, _| any_reply(&mut random, request, &mut last, is_kind), seed);
        run.check(&format!("seed {seed}"), 0);
        held += usize::from(run.logged.iter().any(|line| line.starts_with("took node")));
        ended += usize::from(run.ended);
    }
    println!("{held} had a lease, {ended} ended");
    assert!(seeds().len() == 1 || (held > 100 && ended > 100), "{held} had a lease, {ended} ended");
}

#[test]
fn no_answers_make_a_segment_ask_too_often() {
    let (mut served, mut ended) = (0, 0);
    for seed in seeds() {
        let mut random = Random::new(seed);
        let mut answers = Random::new(seed ^ 0xffff);
        let create = random.below(2) == 0;
        let rules = segment::Rules { create, ..segment::Rules::new("invoices") };
        let mut view =
            segment::View { left: 0, next: 0, wants: true, granted: 0, seen: 0, fetches: 0, step: 0, fetched_ms: 0 };
        let mut ranges = 0;
        let mut page = |write: Option<segment::Write>| {
            match write {
                Some(segment::Write::Publish(range)) => {
                    assert!(range.start >= view.granted && range.start < range.end, "seed {seed}: {range:?}");
                    // Nobody takes numbers, so there is no need to ask for more than two ranges.
                    ranges += 1;
                    if view.left == 0 {
                        view.left = 1
                    } else {
                        (view.next, view.wants) = (1, false)
                    }
                    (view.granted, view.fetches) = (range.end, ranges);
                }
                Some(segment::Write::See(number)) => view.seen = view.seen.max(number),
                Some(segment::Write::Step(step, ms)) => (view.step, view.fetched_ms) = (step, ms),

                Some(
                    segment::Write::Rate(_)
                    | segment::Write::Contact(_)
                    | segment::Write::Failure
                    | segment::Write::News(_),
                )
                | None => {}
            }
            view
        };
        let mut answer = |request: segment::Request, _| {
            let number = |random: &mut Random| match random.below(4) {
                0 => u64::MAX,
                1 => 0,
                2 => i64::MAX as u64,
                _ => random.below(1000),
            };
            match (answers.below(7), request) {
                (0, _) => segment::Answer::Failed(error(&mut answers)),
                (_, segment::Request::Create(_)) => segment::Answer::Created,
                (1, _) => segment::Answer::Taken(Taken::Range {
                    range: number(&mut answers)..number(&mut answers),
                    step: number(&mut answers),
                }),
                (2, _) => segment::Answer::Taken(Taken::WentDown { number: number(&mut answers) }),
                (3, _) => segment::Answer::Taken(Taken::Ended),
                (4, _) => segment::Answer::MayLose("appendonly no".to_owned()),
                (_, _) => segment::Answer::Taken(Taken::NoTag),
            }
        };
        let mut machine = Segment::default();
        let mut step = |now: &Now, page: &segment::View, input| machine.step(&rules, now, page, input);
        let run = run(&mut step, &mut page, &mut answer, &mut random);
        run.check(&format!("seed {seed}"), ranges as usize);
        served += usize::from(ranges > 0);
        ended += usize::from(run.ended);
    }
    println!("{served} had numbers, {ended} ended");
    assert!(seeds().len() == 1 || (served > 100 && ended > 100), "{served} had numbers, {ended} ended");
}
