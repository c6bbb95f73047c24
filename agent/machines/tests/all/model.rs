//! Tries every order of events of two agents, their workers and a store, up to a few milliseconds.
//!
//! The agents are the real state machine. Time advances in steps of one millisecond, and a node has one id for each.
//! To show that the model finds mistakes, the last test breaks the algorithm in one way. It takes seconds to minutes: `make soak`.

use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use txid::snowflake::{Layout, Order};
use txid_agent_machines::lease::{
    Answer, Event, Group, Input, Lease, NodeRecord, Output, PageView, Reply, Request, Rules, Survey, Write,
};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

const MAX_DRIFT_MS: u64 = 2;

const TWICE: &str = "no id twice";
const COPIED: &str = "no agent takes what it has written for another's";

fn rules(owner: &str, last_node: u64) -> Rules {
    // One id a millisecond.
    let layout = Layout::new([10, 1, 0], 1, 0, Order::NodeThenSequence).unwrap();
    Rules {
        last_node,
        new: true,
        ahead_ms: 2,
        renew_ms: 1,
        retry_ms: (1, 1),
        idle_ms: 1,
        observe_ms: 0,
        max_drift_ms: MAX_DRIFT_MS,
        max_skew_ms: 1,
        others_skew_ms: 2,
        jump_ms: 100,
        // What was sent when would make many worlds of one.
        most_requests: usize::MAX,
        ..Rules::new("g", owner, &layout, false)
    }
}

struct Leases {
    /// A new holder starts at its own time, instead of the old limit.
    starts_anywhere: bool,
    /// One for each host.
    rules: [Rules; 2],
    /// The second host writes records that the first one cannot read.
    is_newer: bool,
    last_ms: u8,
    crashes: u8,
    losses: u8,
    stops: u8,
    back_steps: u8,
    /// How often an operator releases a node whose host goes on: the other one takes it at once.
    releases: u8,
    /// The first host has a lease already.
    starts_leased: bool,
    /// Then it was cut off, and the store was emptied.
    is_emptied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    now_ms: u8,
    records: BTreeMap<String, Record>,
    /// Writes that the store has not received yet, although no agent waits for an answer.
    late: Vec<Request>,
    hosts: Vec<Host>,
    crashes: u8,
    losses: u8,
    stops: u8,
    back_steps: u8,
    releases: u8,
    issued: BTreeSet<(u64, u64)>,
    twice: bool,
    copied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Host {
    lease: Lease,
    next: VecDeque<Output>,
    page: Page,
    worker: Worker,
    skew_ms: i8,
    lives: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Page {
    node: u64,
    free: u64,
    is_closed: bool,
    limit: Option<(u64, u64)>,
    generation: u64,
    token: u128,
    confirmed_ms: i64,
    noted_ms: i64,
}

/// The progress of a worker, which can be preempted for any time. The library's own tests cover that it reads two
/// words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Worker {
    Idle,
    /// It has read the clock and the words.
    HasRead {
        clock: u64,
        node: u64,
        free: u64,
        limit: u64,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Tick,
    Agent(usize),
    AgentHearsNothing(usize),
    AgentIsEarly(usize),
    Late(usize),
    Crash(usize),
    Stop(usize),
    ClockBack(usize),
    Release(String),
    Worker(usize),
}

impl Leases {
    /// Two hosts with the same name and different settings, which compete for one node.
    fn new() -> Self {
        let rules = [rules("a", 0), Rules { ahead_ms: 3, max_skew_ms: 2, ..rules("a", 0) }];
        let (last_ms, crashes, losses, stops, back_steps, releases) = (1, 0, 0, 0, 0, 0);
        let (starts_anywhere, is_newer, starts_leased, is_emptied) = (false, false, false, false);
        Self {
            starts_anywhere,
            rules,
            is_newer,
            last_ms,
            crashes,
            losses,
            stops,
            back_steps,
            releases,
            starts_leased,
            is_emptied,
        }
    }

    /// The first host's clock is as far ahead as it may be, and its lease starts as far ahead of that as it may. The other one
    /// allows itself less, and makes the group anew.
    fn emptied() -> Self {
        let rules = [Rules { max_skew_ms: 2, ..rules("a", 0) }, Rules { max_skew_ms: 0, new: false, ..rules("b", 0) }];
        Self { rules, last_ms: 8, starts_leased: true, is_emptied: true, ..Self::new() }
    }

    /// Two hosts and two nodes; both hosts want the same one first.
    fn with_two_nodes() -> Self {
        let first = |name: &str| {
            let rules = rules(name, 1);
            Survey::new(&rules, 0).choose(&rules).unwrap().node
        };
        let other = ["b", "c", "d", "e", "f", "g", "h"].into_iter().find(|name| first(name) == first("a")).unwrap();
        Self { rules: [rules("a", 1), rules(other, 1)], ..Self::new() }
    }

    fn now(&self, world: &World, number: usize) -> Now {
        let host = &world.hosts[number];
        let random = u128::from(world.now_ms) + 100 * u128::from(host.lives) + 10_000 * (number as u128 + 1);
        Now { wall_ms: wall_ms(world, number), mono_ms: u64::from(world.now_ms), random }
    }

    fn step(&self, world: &mut World, number: usize, input: Input) {
        let now = self.now(world, number);
        let can_end = world.crashes > 0;
        let host = &mut world.hosts[number];
        let mut output = host.step(&self.rules[number], &now, input);
        // Steps that affect no other process, or that nothing can disturb, are not separate events.
        loop {
            let answer = |reply| Input::Answer(Answer { reply, time: None });
            let input = match &output {
                Output::Log(event) => {
                    world.copied |= matches!(event, Event::Cloned(_));
                    Input::Go
                }
                // Only the next agent reads it.
                Output::Write(Write::Note { limit_ms }) if !can_end => {
                    host.page.noted_ms = *limit_ms;
                    Input::Go
                }
                // That record decides only when others look, and they do at any time.
                Output::Ask(Request::Read(key)) if *key == Group::freed_key("g") => answer(Reply::Read(Ok(None))),
                Output::Ask(Request::Put { key, .. }) if *key == Group::freed_key("g") => {
                    answer(Reply::Put(Ok(Put::Conflict)))
                }
                _ => break,
            };
            output = host.step(&self.rules[number], &now, input);
        }
        host.next.push_back(output);
    }

    /// The agent restarts.
    fn start(&self, world: &mut World, number: usize) {
        let host = &mut world.hosts[number];
        host.lives += 1;
        host.lease = Lease::new(&host.page.view());
        host.next.clear();
        self.step(world, number, Input::Go);
    }

    /// The agent does what it is about to do, and continues with the result.
    fn act(&self, world: &mut World, number: usize) {
        let Some(output) = world.hosts[number].next.pop_front() else { return };
        let wall_ms = wall_ms(world, number);
        let page = &mut world.hosts[number].page;
        let input = match output {
            Output::Ask(request) => {
                Input::Answer(Answer { reply: self.answer(world, number, &self.sent(number, request)), time: None })
            }
            Output::Write(Write::Close) => {
                page.is_closed = true;
                page.limit = None;
                Input::Go
            }
            Output::Write(Write::Open { node, start_ms }) => {
                let start_ms = if self.starts_anywhere { wall_ms } else { start_ms };
                (page.node, page.free, page.is_closed) = (node, start_ms.max(0) as u64, false);
                Input::Go
            }
            Output::Write(Write::Generation { generation, token }) => {
                (page.generation, page.token, page.confirmed_ms) = (generation, token, i64::MIN);
                Input::Go
            }
            Output::Write(Write::Limit { node, limit_ms }) => {
                page.limit = Some((node, limit_ms as u64));
                page.confirmed_ms = limit_ms;
                Input::Go
            }
            Output::Write(Write::Note { limit_ms }) => {
                page.noted_ms = limit_ms;
                Input::Go
            }
            Output::Wait { .. } | Output::Log(_) => Input::Go,
            Output::Stopped => return self.start(world, number),
            Output::Fail(failure) => panic!("{failure}"),
        };
        if world.hosts[number].next.is_empty() {
            self.step(world, number, input);
        }
    }

    /// A request as this host's version writes it.
    fn sent(&self, number: usize, mut request: Request) -> Request {
        if let Request::Put { bytes, .. } = &mut request {
            if self.is_newer && number == 1 {
                *bytes = replaced(bytes, THIS, NEXT);
            }
        }
        request
    }

    /// A record as this host's version reads it.
    fn read(&self, number: usize, record: &Record) -> Record {
        let bytes = if number == 1 { replaced(&record.bytes, NEXT, THIS) } else { record.bytes.clone() };
        Record { bytes, version: record.version.clone() }
    }

    fn answer(&self, world: &mut World, number: usize, request: &Request) -> Reply {
        match request {
            Request::Read(key) => Reply::Read(Ok(world.records.get(key).map(|record| self.read(number, record)))),
            Request::List(survey) => {
                let mut survey = survey.clone();
                world.records.iter().for_each(|(key, record)| survey.see(key, self.read(number, record)));
                Reply::List(Ok(survey))
            }
            Request::Put { key, expected, bytes } => {
                let there = world.records.get(key).map_or(Expected::Absent, |it| Expected::Version(it.version.clone()));
                if there != *expected {
                    return Reply::Put(Ok(Put::Conflict));
                }
                let version = Version(bytes.clone());
                world.records.insert(key.clone(), record(bytes.clone()));
                Reply::Put(Ok(Put::Written(version)))
            }
            Request::Number => unreachable!("the agents number the nodes themselves"),
        }
    }

    fn work(&self, world: &mut World, number: usize) {
        let clock = wall_ms(world, number).max(0) as u64;
        let Host { page, worker, .. } = &mut world.hosts[number];
        *worker = match *worker {
            Worker::Idle => match page.limit {
                Some((node, limit)) if node == page.node => Worker::HasRead { clock, node, free: page.free, limit },
                _ => Worker::Idle,
            },
            Worker::HasRead { clock, node, free, limit } => {
                let time = free.max(clock);
                let is_unchanged = !page.is_closed && (page.node, page.free) == (node, free);
                if time < limit && time <= clock + MAX_DRIFT_MS && is_unchanged {
                    page.free = time + 1;
                    world.twice |= !world.issued.insert((node, time));
                }
                Worker::Idle
            }
        };
    }
}

impl Host {
    fn step(&mut self, rules: &Rules, now: &Now, input: Input) -> Output {
        self.lease.step(rules, now, &self.page.view(), input)
    }
}

/// What a record of a node begins with, in this version and in the next one.
const THIS: &str = "txid-lease 1 ";
const NEXT: &str = "txid-lease 2 ";

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    std::str::from_utf8(bytes).unwrap().replacen(from, to, 1).into_bytes()
}

/// The store compares the text, so the text is the version.
fn record(bytes: Vec<u8>) -> Record {
    Record { version: Version(bytes.clone()), bytes }
}

fn wall_ms(world: &World, number: usize) -> i64 {
    i64::from(world.now_ms) + i64::from(world.hosts[number].skew_ms)
}

impl Page {
    fn new() -> Self {
        let (confirmed_ms, noted_ms) = (i64::MIN, i64::MIN);
        Self { node: 0, free: 0, is_closed: true, limit: None, generation: 0, token: 0, confirmed_ms, noted_ms }
    }

    fn view(&self) -> PageView {
        PageView {
            node: self.node,
            generation: self.generation,
            token: self.token,
            limit_ms: self.confirmed_ms,
            noted_ms: self.noted_ms,
            free_ms: self.free as i64 + 1,
            is_closed: self.is_closed,
        }
    }
}

impl Model for Leases {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let group = Group { floor_ms: 0, made_ms: 0, id: 0, layout: self.rules[0].layout.clone() };
        let page = Page::new();
        let lease = Lease::new(&page.view());
        let host = Host { lease, next: VecDeque::new(), page, worker: Worker::Idle, skew_ms: 0, lives: 0 };
        let mut world = World {
            now_ms: 0,
            records: BTreeMap::from([(Group::key("g"), record(group.to_string().into_bytes()))]),
            late: vec![],
            hosts: vec![host.clone(), host],
            crashes: self.crashes,
            losses: self.losses,
            stops: self.stops,
            back_steps: self.back_steps,
            releases: self.releases,
            issued: BTreeSet::new(),
            twice: false,
            copied: false,
        };
        if self.is_emptied {
            world.hosts[0].skew_ms = self.rules[0].max_skew_ms as i8;
            world.hosts[0].page.free = self.rules[0].max_skew_ms + MAX_DRIFT_MS - 1;
        }
        for number in 0..2 {
            self.step(&mut world, number, Input::Go);
        }
        while self.starts_leased && world.hosts[0].page.limit.is_none() {
            self.act(&mut world, 0);
        }
        if self.is_emptied {
            world.records.clear();
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.now_ms < self.last_ms {
            actions.push(Action::Tick);
        }
        actions.extend((0..world.late.len()).map(Action::Late));
        if world.releases > 0 {
            let is_held = |bytes: &[u8]| NodeRecord::parse(bytes).is_ok_and(|record| record.held);
            let held = world.records.iter().filter(|(_, record)| is_held(&record.bytes));
            actions.extend(held.map(|(key, _)| Action::Release(key.clone())));
        }
        for (number, host) in world.hosts.iter().enumerate() {
            let waits = match host.next.front() {
                Some(Output::Wait { until_ms }) => {
                    if world.stops > 0 {
                        actions.push(Action::Stop(number));
                    }
                    *until_ms > u64::from(world.now_ms)
                }
                _ => false,
            };
            let is_cut_off = self.is_emptied && number == 0;
            if !waits && !is_cut_off {
                actions.push(Action::Agent(number));
            }
            if matches!(host.next.front(), Some(Output::Ask(Request::Put { .. }))) && world.losses > 0 {
                actions.extend([Action::AgentHearsNothing(number), Action::AgentIsEarly(number)]);
            }
            if world.crashes > 0 {
                actions.push(Action::Crash(number));
            }
            if world.back_steps > 0 {
                actions.push(Action::ClockBack(number));
            }
            if host.page.limit.is_some() || host.worker != Worker::Idle {
                actions.push(Action::Worker(number));
            }
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut world = world.clone();
        let unknown = || {
            let why = StoreError::TimedOut { store: String::new(), ms: 1 };
            Input::Answer(Answer { reply: Reply::Put(Ok(Put::Unknown(why))), time: None })
        };
        match action {
            Action::Tick => world.now_ms += 1,
            Action::Agent(number) => self.act(&mut world, number),
            Action::AgentHearsNothing(number) | Action::AgentIsEarly(number) => {
                world.losses -= 1;
                let Some(Output::Ask(request)) = world.hosts[number].next.pop_front() else { return None };
                let request = self.sent(number, request);
                if matches!(action, Action::AgentIsEarly(_)) {
                    world.late.push(request);
                } else {
                    self.answer(&mut world, number, &request);
                }
                self.step(&mut world, number, unknown());
            }
            Action::Late(index) => {
                let request = world.late.remove(index);
                self.answer(&mut world, 0, &request);
            }
            Action::Crash(number) => {
                world.crashes -= 1;
                self.start(&mut world, number);
            }
            Action::Stop(number) => {
                world.stops -= 1;
                world.hosts[number].next.clear();
                self.step(&mut world, number, Input::Stop);
            }
            Action::ClockBack(number) => {
                world.back_steps -= 1;
                world.hosts[number].skew_ms -= 1;
            }
            Action::Release(key) => {
                world.releases -= 1;
                let mut released = NodeRecord::parse(&world.records[&key].bytes).ok()?;
                released.held = false;
                world.records.insert(key, record(released.to_string().into_bytes()));
            }
            Action::Worker(number) => self.work(&mut world, number),
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(TWICE, |_, world: &World| !world.twice),
            Property::always(COPIED, |_, world: &World| !world.copied),
            Property::sometimes("both have a lease at some time", |_, world: &World| {
                world.hosts.iter().all(|host| host.page.generation > 0)
            }),
        ]
    }
}

/// Whether some order of events repeats an id, or takes an agent's own write for another's.
fn is_found(model: Leases) -> bool {
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("{} states, depth {}", checker.unique_state_count(), checker.max_depth());
    [TWICE, COPIED].into_iter().filter_map(|name| checker.discovery(name)).next().is_some()
}

#[test]
#[ignore = "takes half a minute: make soak"]
fn nothing_gives_an_id_twice() {
    assert!(!is_found(Leases { releases: 1, ..Leases::new() }));
    assert!(!is_found(Leases { releases: 1, crashes: 1, ..Leases::new() }));
    assert!(!is_found(Leases { losses: 1, ..Leases::new() }));
    assert!(!is_found(Leases { stops: 1, ..Leases::new() }));
    assert!(!is_found(Leases { back_steps: 1, ..Leases::new() }));
    assert!(!is_found(Leases { stops: 1, ..Leases::with_two_nodes() }));
    assert!(!is_found(Leases { is_newer: true, crashes: 1, stops: 1, ..Leases::with_two_nodes() }));
    // The other worlds end before the first renewal. Who takes its own for another's gives up its lease, and the node is nobody's for
    // ten minutes.
    assert!(!is_found(Leases { starts_leased: true, crashes: 1, last_ms: 2, ..Leases::new() }));
    // The agent is killed while it gives its node back, and the store gets the release after the agent has started again. Closing the
    // page uses up the first millisecond. Two are left that both agents could use.
    let rules = Leases::new().rules.map(|rules| Rules { ahead_ms: 3, ..rules });
    let late = Leases { rules, crashes: 1, losses: 1, stops: 1, last_ms: 0, starts_leased: true, ..Leases::new() };
    assert!(!is_found(late));
    // A store that is emptied, whatever the settings of others are.
    assert!(!is_found(Leases::emptied()));
}

#[test]
#[ignore = "takes minutes, and some gigabytes: make soak"]
fn nothing_gives_an_id_twice_in_more_time() {
    let longer = || Leases { last_ms: 2, releases: 1, ..Leases::new() };
    assert!(!is_found(longer()));
    assert!(!is_found(Leases { crashes: 1, ..longer() }));
    assert!(!is_found(Leases { losses: 1, ..longer() }));
    assert!(!is_found(Leases { crashes: 1, losses: 1, last_ms: 1, ..longer() }));
}

#[test]
#[ignore = "see above: make soak"]
fn a_holder_that_does_not_start_at_the_old_limit_is_found() {
    assert!(is_found(Leases { starts_anywhere: true, releases: 1, ..Leases::new() }));
}
