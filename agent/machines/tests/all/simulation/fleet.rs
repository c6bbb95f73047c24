//! The hosts, their agents and workers, and what happens to them.

use super::network::{LAST_NODE, Memory, Version, Weather, course};
use super::page::{look, write};
use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use txid::snowflake::{Generator, Layout, LeasePage, Order};
use txid_agent_machines::lease::{Answer, Event, Input, Lease, NodeRecord, Output, Reply, Request, Rules, Write};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::store::{Numbering, Put, StoreTime};

/// With a unit of a second, two hosts that have the same node at the same time almost certainly repeat each other's
/// ids, even if they make few.
static LAYOUT: LazyLock<Layout> =
    LazyLock::new(|| Layout::new([31, 10, 12], 1000, 1_577_836_800_000, Order::NodeThenSequence).unwrap());
/// 2026-11-21.
const START_MS: i64 = 1_795_000_000_000;

/// How likely each accident is: per million, each second, for each host or for the store as a whole.
#[derive(Clone, Copy)]
pub struct Plan {
    weather: Weather,
    most_skew_ms: i64,
    kills: u64,
    reboots: u64,
    pauses: u64,
    clock_steps: u64,
    cut_offs: u64,
    ends: u64,
    outages: u64,
    emptyings: u64,
    /// Starts of programs with the other library, which takes the number of a new node at each start and makes ids
    /// with it from then on.
    old_starts: u64,
    numbering: Numbering,
    last_node: u64,
    ids_a_burst: u64,
    /// What `--lease-time` of a host may be.
    aheads_ms: &'static [u64],
    /// What each agent takes for the largest `--max-skew` of the others.
    believes: Belief,
    /// What the version of a host may be.
    versions: &'static [Version],
    reading: Reading,
    /// All hosts have one name.
    has_one_name: bool,
}

/// What an agent takes for the store's clock.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    /// Any time that it may show, as long as the answer took.
    Interval,
    /// A mistake: the time in the answer, however long that took.
    TimeOfAnswer,
}

/// What an agent knows of the settings of others.
#[derive(Clone, Copy, PartialEq)]
pub enum Belief {
    /// The largest that a host may have.
    TheLargest,
    /// A mistake: those of the others are as its own.
    ItsOwn,
}

/// What `--max-skew` of a host may be. With nodes in the environment of a child, the default is 2 s.
const SKEWS_MS: [u64; 3] = [2_000, 5_000, 10_000];

impl Plan {
    pub const CALM: Self = Self {
        weather: Weather { lost_requests: 0, lost_answers: 0, late_requests: 0, slow_answers: 0 },
        most_skew_ms: 2_000,
        kills: 0,
        reboots: 0,
        pauses: 0,
        clock_steps: 0,
        cut_offs: 0,
        ends: 0,
        outages: 0,
        emptyings: 0,
        old_starts: 0,
        numbering: Numbering::Own,
        last_node: LAST_NODE,
        ids_a_burst: 2,
        aheads_ms: &[60_000],
        believes: Belief::TheLargest,
        versions: &[Version::This],
        reading: Reading::Interval,
        has_one_name: false,
    };

    /// Leases so short that a node with one's own name can always be taken.
    pub const NAMESAKES: Self = Self { has_one_name: true, aheads_ms: &[8_000], ..Self::CALM };

    /// Each takes a node of its own name, whoever holds it.
    pub const NAMESAKES_AND_RASH: Self = Self { versions: &[Version::ThisAndRash], ..Self::NAMESAKES };

    /// Each answer takes nearly as long as it may.
    pub const SLOW: Self =
        Self { weather: Weather { slow_answers: 1_000_000, ..Self::CALM.weather }, most_skew_ms: 0, ..Self::CALM };

    /// The time of an answer counts as that of its arrival.
    pub const SLOW_AND_NAIVE: Self = Self { reading: Reading::TimeOfAnswer, ..Self::SLOW };

    /// Fewer nodes than hosts.
    pub const CROWDED: Self = Self { last_node: 127, ..Self::CALM };

    pub const ROUGH: Self = Self {
        weather: Weather { lost_requests: 10_000, lost_answers: 20_000, late_requests: 20_000, slow_answers: 20_000 },
        most_skew_ms: 9_000,
        kills: 2_000,
        reboots: 300,
        pauses: 1_000,
        clock_steps: 500,
        cut_offs: 500,
        ends: 500,
        outages: 10_000,
        emptyings: 10_000,
        ..Self::CALM
    };

    /// Leases of different lengths, and records of two versions. A store that is emptied would be too much for those: see
    /// leases.md.
    pub const MIXED: Self = Self {
        emptyings: 0,
        aheads_ms: &[20_000, 60_000, 300_000],
        versions: &[Version::This, Version::Next],
        ..Self::ROUGH
    };

    /// Agents of this version take the nodes of the next one.
    pub const MIXED_AND_NAIVE: Self = Self { versions: &[Version::ThisAndNaive, Version::Next], ..Self::MIXED };

    /// Half of the fleet still uses the other library. Each time the store is emptied, many new numbers are used up.
    pub const BESIDE_OLD: Self =
        Self { numbering: Numbering::WorkerNode, old_starts: 200_000, emptyings: 1_000, ..Self::ROUGH };

    /// A store that is emptied again and again, even while hosts are cut off and writes are under way.
    pub const FORGETFUL: Self = Self {
        weather: Weather { late_requests: 50_000, ..Self::ROUGH.weather },
        cut_offs: 2_000,
        outages: 0,
        emptyings: 15_000,
        ..Self::ROUGH
    };

    /// Each agent takes its own settings for those of all.
    pub const FORGETFUL_AND_NAIVE: Self = Self { clock_steps: 5_000, believes: Belief::ItsOwn, ..Self::FORGETFUL };
}

/// Faults at a moment that mattered. A run that has none of one kind has not tried it.
pub const MOMENTS: [&str; 17] = [
    "killed after a limit was noted",
    "killed after the page was opened",
    "killed after its generation was written",
    "killed after its limit was written",
    "killed after the page was closed",
    "killed while a write was on its way",
    "the write of a killed agent took effect",
    "a write took effect, and its answer was lost",
    "a late write took effect",
    "a late write was refused",
    "rebooted with a lease",
    "paused while an answer was on its way",
    "called after its lease had ended",
    "the clock was stepped under a lease",
    "the store went down while a write was on its way",
    "the store was emptied while a write was on its way",
    "stopped with a lease",
];

/// The results.
#[derive(Debug)]
pub struct Report {
    /// How often each of [`MOMENTS`] happened.
    pub moments: BTreeMap<&'static str, u64>,
    /// Hosts that have a lease at the end.
    pub leased: usize,
    pub ids: usize,
    /// Ids that had been made before.
    pub twice: usize,
    /// Ids that were not greater than the one before on their host.
    pub backwards: u64,
    /// Limits that the floor of a store that is emptied now would not cover. Repeats follow from these, but seldom.
    pub too_far: u64,
    /// Nodes tried for each one taken, on average.
    pub tries: f64,
    /// Ids that were refused on hosts that had had a lease, because of an accident.
    pub refused: u64,
    /// Ids that were refused on such hosts in a time without accidents.
    pub refused_when_held: u64,
    pub renewals: u64,
    pub requests_when_held: u64,
    /// How often each event was reported.
    pub taken: u64,
    pub resumed: u64,
    pub lost: u64,
    pub cloned: u64,
    pub forgotten: u64,
    pub jumped: u64,
    pub none_free: u64,
    /// How many nodes were taken by programs with the other library.
    pub old: usize,
}

pub struct Fleet {
    random: Random,
    plan: Plan,
    store: Memory,
    store_is_down_until_ms: u64,
    hosts: Vec<Host>,
    /// The nodes of the programs with the other library.
    old: Vec<u64>,
    now_ms: u64,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Option<Happening>>,
    ids: Vec<u64>,
    report: Report,
    tries: u64,
}

struct Host {
    rules: Rules,
    version: Version,
    /// A child stamps ids by the clock: how far ahead of it they may be.
    child_ms: Option<u64>,
    page: LeasePage,
    workers: Generator,
    lease: Option<Lease>,
    /// The agent that an event is for.
    agent: u64,
    paused_until_ms: u64,
    cut_off_until_ms: u64,
    skew_ms: i64,
    usual_skew_ms: i64,
    last_id: u64,
    has_had_lease: bool,
    is_asking: bool,
    /// The request that it waits for is a write.
    is_writing: bool,
}

enum Happening {
    Agent {
        host: usize,
        agent: u64,
        input: Input,
    },
    /// `is_late` if the agent was told before that it timed out.
    Arrival {
        host: usize,
        agent: u64,
        request: Request,
        version: Version,
        sent_ms: u64,
        answered_ms: Option<u64>,
        is_late: bool,
    },
    Start {
        host: usize,
        agent: u64,
    },
    Reboot {
        host: usize,
    },
    SetClockRight {
        host: usize,
    },
    Second,
}

/// A page that no other host of any fleet has.
fn new_page() -> LeasePage {
    static PAGES: AtomicU64 = AtomicU64::new(0);
    LeasePage::in_memory(&LAYOUT, PAGES.fetch_add(1, Ordering::Relaxed)).unwrap()
}

impl Fleet {
    pub fn new(seed: u64, hosts: usize, plan: Plan) -> Self {
        let report = Report {
            moments: MOMENTS.map(|moment| (moment, 0)).into(),
            leased: 0,
            ids: 0,
            twice: 0,
            backwards: 0,
            too_far: 0,
            tries: 0.0,
            refused: 0,
            refused_when_held: 0,
            renewals: 0,
            requests_when_held: 0,
            taken: 0,
            resumed: 0,
            lost: 0,
            cloned: 0,
            forgotten: 0,
            jumped: 0,
            none_free: 0,
            old: 0,
        };
        let mut fleet = Self {
            random: Random::new(seed),
            plan,
            store: Memory::default(),
            store_is_down_until_ms: 0,
            hosts: vec![],
            old: vec![],
            now_ms: 0,
            queue: BinaryHeap::new(),
            events: vec![],
            ids: vec![],
            report,
            tries: 0,
        };
        for number in 0..hosts {
            // Some share their name with another.
            let name = if number % 100 == 99 { number - 1 } else { number };
            let name = format!("web-{}", if plan.has_one_name { 0 } else { name });
            let rules = Rules {
                new: true,
                numbering: plan.numbering,
                last_node: plan.last_node,
                ..Rules::new("orders", &name, &LAYOUT, false)
            };
            let page = new_page();
            fleet.hosts.push(Host {
                rules,
                version: Version::This,
                child_ms: None,
                page,
                workers: Generator::new(page.state()),
                lease: None,
                agent: 0,
                paused_until_ms: 0,
                cut_off_until_ms: 0,
                skew_ms: 0,
                usual_skew_ms: 0,
                last_id: 0,
                has_had_lease: false,
                is_asking: false,
                is_writing: false,
            });
            fleet.set(number);
            let host = &mut fleet.hosts[number];
            host.usual_skew_ms = fleet.random.around(plan.most_skew_ms.min(host.rules.max_skew_ms as i64 * 9 / 10));
            host.skew_ms = host.usual_skew_ms;
            fleet.after(0, Happening::Start { host: number, agent: 0 });
        }
        fleet.after(1000, Happening::Second);
        fleet
    }

    /// Somebody gives the agent of a host other settings.
    fn set(&mut self, number: usize) {
        let ahead_ms = self.random.one_of(self.plan.aheads_ms);
        let max_skew_ms = self.random.one_of(&SKEWS_MS);
        let runs_ahead_ms = self.random.one_of(&[0, 0, 5_000]);
        let its_version = self.random.one_of(self.plan.versions);
        // As an agent demands it that has a child with nodes in its environment.
        let may_have_child = 7 * (2 * max_skew_ms + 500) + 3 * runs_ahead_ms <= ahead_ms;
        let has_child = may_have_child && self.random.below(2) == 0;
        let Host { rules, child_ms, version, .. } = &mut self.hosts[number];
        (rules.ahead_ms, rules.max_skew_ms) = (ahead_ms, max_skew_ms);
        rules.renew_ms = 10_000.min(ahead_ms / 6);
        rules.others_skew_ms = match self.plan.believes {
            Belief::TheLargest => Rules::MOST_SKEW_MS,
            Belief::ItsOwn => max_skew_ms,
        };
        *child_ms = has_child.then_some(2 * max_skew_ms + runs_ahead_ms);
        *version = its_version;
    }

    fn after(&mut self, ms: u64, happening: Happening) {
        self.queue.push(Reverse((self.now_ms + ms, self.events.len() as u64, self.events.len())));
        self.events.push(Some(happening));
    }

    /// Lets `ms` milliseconds pass.
    pub fn run(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        while let Some(&Reverse((at_ms, _, event))) = self.queue.peek() {
            if at_ms > end_ms {
                break;
            }
            self.queue.pop();
            self.now_ms = at_ms;
            if let Some(happening) = self.events[event].take() {
                self.happen(happening);
            }
        }
        self.now_ms = end_ms;
    }

    /// Lets time pass until so many hosts can make an id. Returns how many milliseconds that took.
    pub fn run_until_live(&mut self, hosts: usize) -> u64 {
        let start_ms = self.now_ms;
        while self.live() < hosts {
            assert!(self.now_ms < start_ms + 60_000, "{} of {hosts} hosts are live after a minute", self.live());
            self.run(100);
        }
        self.now_ms - start_ms
    }

    /// Hosts that would make an id now.
    pub fn live(&self) -> usize {
        let is_live = |&host: &usize| self.hosts[host].workers.refusal_at(self.wall_ms(host)).is_none();
        (0..self.hosts.len()).filter(is_live).count()
    }

    /// How many ids were refused on hosts that had had a lease.
    pub fn refused(&self) -> u64 {
        self.report.refused
    }

    /// The store does not answer for so long.
    pub fn outage(&mut self, ms: u64) {
        self.store_is_down_until_ms = self.now_ms + ms;
        self.run(ms);
    }

    /// Lets time pass without accidents, with correct clocks and all hosts on the network.
    pub fn calm_down(&mut self, ms: u64) {
        self.store_is_down_until_ms = 0;
        let Plan { ids_a_burst, aheads_ms, believes, versions, reading, .. } = self.plan;
        self.plan = Plan { ids_a_burst, aheads_ms, believes, versions, reading, ..Plan::CALM };
        for host in &mut self.hosts {
            (host.skew_ms, host.usual_skew_ms) = (0, 0);
            (host.cut_off_until_ms, host.paused_until_ms) = (0, 0);
        }
        self.run(ms);
    }

    pub fn report(mut self) -> Report {
        self.report.leased = self.hosts.iter().filter(|host| host.page.state().node().is_some()).count();
        self.report.ids = self.ids.len();
        self.report.old = self.old.len();
        self.ids.sort_unstable();
        self.report.twice = self.ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
        self.report.tries = self.tries as f64 / self.report.taken as f64;
        self.report
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Agent { host, agent, input } => {
                if self.hosts[host].agent != agent {
                    return;
                }
                let paused_ms = self.hosts[host].paused_until_ms.saturating_sub(self.now_ms);
                if paused_ms > 0 {
                    if matches!(input, Input::Answer(_)) {
                        self.mark("paused while an answer was on its way");
                    }
                    return self.after(paused_ms, Happening::Agent { host, agent, input });
                }
                self.run_agent(host, input);
            }
            Happening::Arrival { host, agent, request, version, sent_ms, answered_ms, is_late } => {
                let reply = self.store.answer(&request, version);
                match &reply {
                    Reply::Put(Ok(Put::Written(_))) if self.hosts[host].agent != agent => {
                        self.mark("the write of a killed agent took effect");
                    }
                    Reply::Put(Ok(Put::Written(_))) if is_late => self.mark("a late write took effect"),
                    Reply::Put(Ok(Put::Conflict)) if is_late => self.mark("a late write was refused"),
                    Reply::Put(Ok(Put::Written(_))) if answered_ms.is_none() => {
                        self.mark("a write took effect, and its answer was lost");
                    }
                    _ => {}
                }
                if let Some(ms) = answered_ms {
                    let earliest_ms = START_MS + self.now_ms as i64;
                    let took_ms = match self.plan.reading {
                        Reading::Interval => self.now_ms + ms - sent_ms,
                        Reading::TimeOfAnswer => 0,
                    };
                    let time = Some(StoreTime { earliest_ms, latest_ms: earliest_ms + took_ms as i64 });
                    self.after(ms, Happening::Agent { host, agent, input: Input::Answer(Answer { reply, time }) });
                }
            }
            Happening::Start { host, agent } => {
                if self.hosts[host].agent == agent {
                    // As by an upgrade.
                    if self.random.chance(100_000) {
                        self.set(host);
                    }
                    self.hosts[host].lease = Some(Lease::new(&look(&self.hosts[host].page)));
                    self.run_agent(host, Input::Go);
                }
            }
            Happening::Reboot { host } => {
                if self.hosts[host].page.state().node().is_some() {
                    self.mark("rebooted with a lease");
                }
                let page = new_page();
                let host_now = &mut self.hosts[host];
                host_now.page = page;
                host_now.workers = Generator::new(page.state());
                host_now.last_id = 0;
                host_now.has_had_lease = false;
                host_now.agent += 1;
                let agent = host_now.agent;
                self.after(0, Happening::Start { host, agent });
            }
            Happening::SetClockRight { host } => self.hosts[host].skew_ms = self.hosts[host].usual_skew_ms,
            Happening::Second => {
                self.second();
                self.after(1000, Happening::Second);
            }
        }
    }

    fn wall_ms(&self, host: usize) -> i64 {
        START_MS + self.now_ms as i64 + self.hosts[host].skew_ms
    }

    fn run_agent(&mut self, number: usize, mut input: Input) {
        let Some(mut lease) = self.hosts[number].lease.take() else { return };
        (self.hosts[number].is_asking, self.hosts[number].is_writing) = (false, false);
        let has_ended = |limit_ms| limit_ms <= self.wall_ms(number);
        if self.hosts[number].page.view().limit_ms.is_some_and(has_ended) {
            self.mark("called after its lease had ended");
        }
        let agent = self.hosts[number].agent;
        loop {
            let now = Now { wall_ms: self.wall_ms(number), mono_ms: self.now_ms, random: self.random.token() };
            let host = &mut self.hosts[number];
            let mut view = look(&host.page);
            if let Some(child_ms) = host.child_ms {
                // As the keeper of such a lease sees it.
                view.free_ms = view.free_ms.max(view.limit_ms.min(now.wall_ms + child_ms as i64 + 1));
            }
            input = match lease.step(&host.rules, &now, &view, input) {
                Output::Write(it) => {
                    write(&host.page, it);
                    // A hundred times as likely as at other moments, because these matter most. All but the writes of
                    // a renewal are rare.
                    let times = if matches!(it, Write::Note { .. } | Write::Limit { .. }) { 1 } else { 20 };
                    if self.random.chance(times * self.plan.kills) {
                        self.mark(match it {
                            Write::Note { .. } => "killed after a limit was noted",
                            Write::Open { .. } => "killed after the page was opened",
                            Write::Generation { .. } => "killed after its generation was written",
                            Write::Limit { .. } => "killed after its limit was written",
                            Write::Close => "killed after the page was closed",
                        });
                        return self.kill(number);
                    }
                    Input::Go
                }
                Output::Log(event) => {
                    self.count(number, &event);
                    Input::Go
                }
                Output::Wait { until_ms } => {
                    self.after(
                        until_ms.saturating_sub(self.now_ms),
                        Happening::Agent { host: number, agent, input: Input::Go },
                    );
                    break;
                }
                Output::Ask(request) => {
                    self.ask(number, request);
                    if self.hosts[number].is_writing && self.random.chance(self.plan.kills) {
                        return self.kill(number);
                    }
                    break;
                }
                Output::Stopped => {
                    let pause_ms = 1 + self.random.below(20_000);
                    self.hosts[number].agent += 1;
                    return self.after(pause_ms, Happening::Start { host: number, agent: agent + 1 });
                }
                Output::Fail(failure) => panic!("{failure}"),
            };
        }
        self.hosts[number].lease = Some(lease);
    }

    fn ask(&mut self, number: usize, request: Request) {
        self.check_limit(&request);
        let host = &mut self.hosts[number];
        host.is_asking = true;
        host.is_writing = matches!(request, Request::Put { .. });
        if host.page.state().node().is_some() {
            self.report.requests_when_held += 1;
        }
        let (agent, version, is_cut_off) = (
            host.agent,
            host.version,
            self.now_ms < host.cut_off_until_ms || self.now_ms < self.store_is_down_until_ms,
        );
        let sent_ms = self.now_ms;
        let course = course(&mut self.random, self.plan.weather, is_cut_off, &request);
        if let Some(reply) = course.instead {
            let input = Input::Answer(Answer { reply, time: None });
            self.after(course.answered_ms, Happening::Agent { host: number, agent, input });
            if let Some(ms) = course.arrives_ms {
                let is_late = ms > course.answered_ms;
                self.after(
                    ms,
                    Happening::Arrival { host: number, agent, request, version, sent_ms, answered_ms: None, is_late },
                );
            }
        } else if let Some(ms) = course.arrives_ms {
            let answered_ms = Some(course.answered_ms - ms);
            self.after(
                ms,
                Happening::Arrival { host: number, agent, request, version, sent_ms, answered_ms, is_late: false },
            );
        }
    }

    /// Whether the limit in this request is one that each floor allows for, whichever host makes it, and even if its clock
    /// is as slow as it may be. No ids are made before that of a node that is given back.
    fn check_limit(&mut self, request: &Request) {
        let Request::Put { bytes, .. } = request else { return };
        let Ok(record) = NodeRecord::parse(bytes) else { return };
        let right_ms = START_MS + self.now_ms as i64;
        let floor_ms = |host: &Host| host.rules.floor_ms(right_ms - host.rules.max_skew_ms as i64);
        let lowest_ms = self.hosts.iter().map(floor_ms).min().unwrap();
        // Hosts with different leases need a store that is not emptied.
        if record.held && record.limit_ms > lowest_ms && self.plan.aheads_ms.len() == 1 {
            self.report.too_far += 1;
        }
    }

    /// The agent is killed, and restarted after a while.
    fn kill(&mut self, number: usize) {
        let longest_ms = if self.random.chance(500_000) { 1_000 } else { 120_000 };
        let pause_ms = 1 + self.random.below(longest_ms);
        if self.hosts[number].is_writing {
            self.mark("killed while a write was on its way");
        }
        let host = &mut self.hosts[number];
        host.lease = None;
        (host.is_asking, host.is_writing) = (false, false);
        host.agent += 1;
        let agent = host.agent;
        self.after(pause_ms, Happening::Start { host: number, agent });
    }

    fn count(&mut self, number: usize, event: &Event) {
        let report = &mut self.report;
        match event {
            Event::Taken { tries, .. } => {
                report.taken += 1;
                self.tries += u64::from(*tries);
                self.hosts[number].has_had_lease = true;
            }
            Event::Resumed(_) => report.resumed += 1,
            Event::Lost { .. } => report.lost += 1,
            Event::Cloned(_) => report.cloned += 1,
            Event::Forgotten { .. } => report.forgotten += 1,
            Event::Jumped(_) => report.jumped += 1,
            Event::NoneFree(_) => report.none_free += 1,
            _ => {}
        }
    }

    /// Each host makes some ids and may have an accident.
    fn second(&mut self) {
        for number in 0..self.hosts.len() {
            for _ in 0..self.plan.ids_a_burst {
                self.make_id(number);
            }
            self.have_an_accident(number);
        }
        if self.plan.old_starts > 0 && self.random.chance(self.plan.old_starts) {
            self.old.extend(self.store.number());
        }
        // Programs with the other library make the first ids of this second.
        let second = ((START_MS + self.now_ms as i64 - 1_577_836_800_000) / 1000) as u64;
        self.ids.extend(
            self.old.iter().flat_map(|node| (0..self.plan.ids_a_burst).map(move |n| (second << 10 | node) << 12 | n)),
        );
        let is_written_to = self.hosts.iter().any(|host| host.is_writing);
        if self.random.chance(self.plan.outages) {
            if is_written_to {
                self.mark("the store went down while a write was on its way");
            }
            self.store_is_down_until_ms = self.now_ms + 1000 + self.random.below(60_000);
        }
        if self.random.chance(self.plan.emptyings) {
            if is_written_to {
                self.mark("the store was emptied while a write was on its way");
            }
            self.store.empty();
            // From now on, no agent may claim that the store is new.
            for host in &mut self.hosts {
                host.rules.new = false;
            }
        }
        self.report.renewals = self.hosts.iter().map(|host| host.page.view().renewals).sum();
    }

    fn make_id(&mut self, number: usize) {
        let wall_ms = self.wall_ms(number);
        let host = &mut self.hosts[number];
        match host.workers.generate_at(wall_ms) {
            Ok(id) => {
                if id <= host.last_id {
                    self.report.backwards += 1;
                }
                host.last_id = id;
                self.ids.push(id);
            }
            Err(_) if host.has_had_lease => {
                self.report.refused += 1;
                if host.page.state().node().is_some() {
                    self.report.refused_when_held += 1;
                }
            }
            Err(_) => {}
        }
    }

    fn have_an_accident(&mut self, number: usize) {
        let plan = self.plan;
        if self.random.chance(plan.kills / 10) {
            self.kill(number);
        }
        if self.random.chance(plan.reboots) {
            let host = &mut self.hosts[number];
            host.lease = None;
            host.agent += 1;
            let pause_ms = 5_000 + self.random.below(120_000);
            self.after(pause_ms, Happening::Reboot { host: number });
        }
        if self.random.chance(plan.pauses) {
            self.hosts[number].paused_until_ms = self.now_ms + self.random.below(120_000);
        }
        if self.random.chance(plan.cut_offs) {
            self.hosts[number].cut_off_until_ms = self.now_ms + self.random.below(1_800_000);
        }
        if self.random.chance(plan.clock_steps) {
            let most_ms = [3_000, 30_000, 3_600_000][self.random.below(3) as usize];
            let by_ms = self.random.around(most_ms);
            if self.hosts[number].page.state().node().is_some() {
                self.mark("the clock was stepped under a lease");
            }
            self.hosts[number].skew_ms += by_ms;
            // It is corrected after a while.
            let right_ms = self.random.below(600_000);
            self.after(right_ms, Happening::SetClockRight { host: number });
        }
        if self.random.chance(plan.ends) && self.hosts[number].lease.is_some() && !self.hosts[number].is_asking {
            if self.hosts[number].page.state().node().is_some() {
                self.mark("stopped with a lease");
            }
            self.run_agent(number, Input::Stop);
        }
    }

    fn mark(&mut self, moment: &'static str) {
        *self.report.moments.get_mut(moment).expect("it is one of MOMENTS") += 1;
    }
}
