//! The store, the hosts with their agents, guards and children, and what happens to them.

use crate::random::Random;
use std::collections::BTreeMap;
use txid_agent_machines::child::{Action, Child, Event, Lease, Look, Order, Rules};

const STEP_MS: u64 = 5;
const HOSTS: usize = 4;
const NODES: usize = 3;
/// 2026-11-21.
const START_MS: i64 = 1_795_000_000_000;

const RENEW_MS: u64 = 1_000;
const IDLE_MS: i64 = 2_000;
const LEAD_MS: i64 = 2_000;

/// What somebody has told an agent.
#[derive(Clone, Copy)]
struct Settings {
    ahead_ms: i64,
    max_skew_ms: i64,
    margin_ms: u64,
    /// How far ahead of the clock half of the children stamp.
    runs_ahead_ms: u64,
}

/// The settings of the hosts in turn, each as short as the agent accepts or a little longer.
const SETTINGS: [Settings; 3] = [
    Settings { ahead_ms: 11_000, max_skew_ms: 200, margin_ms: 900, runs_ahead_ms: 1_500 },
    Settings { ahead_ms: 14_000, max_skew_ms: 300, margin_ms: 1_200, runs_ahead_ms: 1_500 },
    Settings { ahead_ms: 9_000, max_skew_ms: 100, margin_ms: 700, runs_ahead_ms: 500 },
];
const LONGEST_MS: u64 = 14_000;
/// The longest that SIGKILL takes, and that a guard gets no processor.
const SLOWEST_MS: u64 = 200;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Nothing,
    /// SIGTERM is all there is.
    NoKill,
    /// Without a margin.
    KillsAtTheLimit,
    /// The agent gives the node back when it is told to end.
    GivesBackAtOnce,
    /// Neither the page nor a new agent knows the times that a child has used.
    ForgetsTimes,
    /// Nobody knows that a child stamps ahead of the clock.
    KnowsNoLead,
    /// An agent starts a child while one of an earlier agent has the lock.
    KnowsNoLock,
}

/// Faults at a moment that mattered. A run that has none of one kind has not tried it.
pub const MOMENTS: [&str; 12] = [
    "the child was warned because of the limit",
    "the child was killed, because it did not end",
    "a node was lost under a child",
    "the agent was killed under a child",
    "the agent and its guard were killed under a child",
    "a child was left by its agent and its guard",
    "the agent was stopped until after the limit",
    "the clock was stepped under a child",
    "the store was down for longer than a lease",
    "a child ended, and something that it started did not",
    "a node was given back after a child",
    "a node that was given back was taken",
];

/// The results.
#[derive(Debug, Default)]
pub struct Report {
    pub moments: BTreeMap<&'static str, u64>,
    pub stamps: u64,
    /// Stamps at or after the limit.
    pub late: u64,
    /// Stamps between the first and the last of another child with the same node.
    pub twice: u64,
}

/// The record of a node.
#[derive(Clone, Copy, Default)]
struct Record {
    holder: Option<usize>,
    limit_ms: i64,
}

pub struct World {
    random: Random,
    broken: Broken,
    now_ms: u64,
    store: [Record; NODES],
    /// By node: each child, its first stamp and its last.
    stamped: [Vec<(u64, i64, i64)>; NODES],
    down_until_ms: u64,
    hosts: Vec<Host>,
    runs: u64,
    pub report: Report,
}

struct Host {
    settings: Settings,
    rules: Rules,
    offset_ms: i64,
    page: Page,
    agent: Agent,
    guard: Option<Guard>,
    child: Option<Process>,
    /// A child that has changed its user, so that the kernel has not killed it with its guard. It has the lock.
    left: Option<Process>,
}

/// What is left of a lease when the agent is killed.
#[derive(Clone, Copy)]
struct Page {
    /// The node, and the limit.
    lease: Option<(usize, i64)>,
    free_ms: i64,
    is_lost: bool,
}

#[derive(Clone, Copy, Default)]
struct Agent {
    /// It does nothing before this: it is stopped, or was killed and was not started again.
    wake_ms: u64,
    is_ending: bool,
}

struct Guard {
    machine: Child,
    order: Order,
    wake_ms: u64,
}

struct Process {
    number: u64,
    node: usize,
    limit_ms: i64,
    last_ms: i64,
    /// If it read the clock once: how far that was ahead of the one that is never stepped.
    ahead_ms: Option<i64>,
    /// How far ahead of its clock it stamps.
    lead_ms: i64,
    /// The one that was started has ended. Others are there.
    has_ended: bool,
    obeys: bool,
    ends_ms: Option<u64>,
}

impl World {
    pub fn new(seed: u64, broken: Broken) -> Self {
        let mut random = Random::new(seed);
        let hosts = (0..HOSTS).map(|which| Host::new(SETTINGS[which % SETTINGS.len()], &mut random, broken)).collect();
        Self {
            random,
            broken,
            now_ms: 0,
            store: [Record::default(); NODES],
            stamped: Default::default(),
            down_until_ms: 0,
            hosts,
            runs: 0,
            report: Report::default(),
        }
    }

    pub fn run(&mut self, for_ms: u64) {
        let end_ms = self.now_ms + for_ms;
        while self.now_ms < end_ms {
            self.now_ms += STEP_MS;
            // Every 50 s on average.
            if self.now_ms > self.down_until_ms && self.random.chance(20 * STEP_MS) {
                self.down_until_ms = self.now_ms + self.random.below(20_000);
                if self.down_until_ms > self.now_ms + LONGEST_MS {
                    self.note("the store was down for longer than a lease");
                }
            }
            for which in 0..HOSTS {
                self.accident(which);
                self.agent(which);
                self.guard(which);
                self.child(which);
            }
        }
    }

    fn note(&mut self, moment: &'static str) {
        assert!(MOMENTS.contains(&moment), "{moment}");
        *self.report.moments.entry(moment).or_default() += 1;
    }

    fn wall_ms(&self, which: usize) -> i64 {
        START_MS + self.now_ms as i64 + self.hosts[which].offset_ms
    }

    /// Each once in a minute or two.
    fn accident(&mut self, which: usize) {
        let now_ms = self.now_ms;
        if !self.random.chance(50 * STEP_MS) {
            return;
        }
        let has_child = self.hosts[which].child.is_some();
        match self.random.below(7) {
            0 => {
                self.hosts[which].offset_ms = self.random.around(self.hosts[which].settings.max_skew_ms);
                if has_child {
                    self.note("the clock was stepped under a child");
                }
            }
            // The guard is not stopped.
            1 => {
                let for_ms = self.random.below(15_000);
                let limit_ms = self.hosts[which].page.lease.map_or(i64::MAX, |(_, limit_ms)| limit_ms);
                if has_child && self.wall_ms(which) + for_ms as i64 > limit_ms {
                    self.note("the agent was stopped until after the limit");
                }
                self.hosts[which].agent.wake_ms = now_ms + for_ms;
            }
            2 => {
                if has_child {
                    self.note("the agent was killed under a child");
                }
                // Another one starts once the guard has ended, which has a lock.
                self.kill_agent(which);
            }
            3 => {
                if has_child {
                    self.note("the agent and its guard were killed under a child");
                }
                let has_changed_its_user = self.hosts[which].left.is_none() && self.random.chance(500_000);
                let ends_ms = now_ms + self.random.below(20_000);
                let left = self.hosts[which].child.take().filter(|_| has_changed_its_user);
                if let Some(left) = left {
                    // Somebody ends it in time.
                    self.hosts[which].left = Some(Process { ends_ms: Some(ends_ms), ..left });
                    self.note("a child was left by its agent and its guard");
                } else {
                    // The kernel kills the child. While nobody looks, somebody sets the clock.
                    self.hosts[which].offset_ms = self.random.around(self.hosts[which].settings.max_skew_ms);
                }
                self.hosts[which].guard = None;
                self.kill_agent(which);
            }
            4 => self.end(which),
            // An operator takes the node, once nothing of the host is left.
            5 => {
                if let (Some((node, _)), None) = (self.hosts[which].page.lease, &self.hosts[which].left) {
                    self.store[node].holder = None;
                }
            }
            _ => {
                let is_left = self.random.chance(500_000);
                if let Some(child) = &mut self.hosts[which].child {
                    (child.has_ended, child.obeys) = (true, child.obeys && is_left);
                    if is_left {
                        self.note("a child ended, and something that it started did not");
                    } else {
                        self.hosts[which].child = None;
                    }
                }
            }
        }
    }

    fn kill_agent(&mut self, which: usize) {
        let host = &mut self.hosts[which];
        host.agent = Agent { wake_ms: self.now_ms + 100, is_ending: false };
        if let Some(guard) = &mut host.guard {
            (guard.order, guard.wake_ms) = (Order::Orphaned, self.now_ms);
        }
    }

    /// The agent gets SIGTERM.
    fn end(&mut self, which: usize) {
        self.hosts[which].agent.is_ending = true;
        if let Some(guard) = &mut self.hosts[which].guard {
            if guard.order == Order::Run {
                guard.order = Order::End;
            }
        }
        if self.broken == Broken::GivesBackAtOnce {
            self.give_back(which);
        }
        let now_ms = self.now_ms;
        self.signal(which, now_ms);
    }

    /// SIGTERM: most children end within a second.
    fn signal(&mut self, which: usize, now_ms: u64) {
        let takes_ms = self.random.below(800);
        if let Some(child) = self.hosts[which].child.as_mut().filter(|child| child.obeys) {
            child.ends_ms.get_or_insert(now_ms + takes_ms);
        }
    }

    fn give_back(&mut self, which: usize) {
        let wall_ms = self.wall_ms(which);
        let is_up = self.now_ms > self.down_until_ms;
        let stamped_ms = self.hosts[which].rules.stamped_ms(wall_ms);
        let later_ms = 2 * self.hosts[which].settings.max_skew_ms + 1;
        let page = &mut self.hosts[which].page;
        let Some((node, limit_ms)) = page.lease.take() else { return };
        if self.store[node].holder == Some(which) && is_up {
            page.free_ms = page.free_ms.max(limit_ms.min(stamped_ms + later_ms));
            self.store[node] = Record { holder: None, limit_ms: page.free_ms };
            self.note("a node was given back after a child");
        }
    }

    fn agent(&mut self, which: usize) {
        // It exits while the lock is not free, and is started again.
        let is_locked = self.hosts[which].left.is_some() && self.broken != Broken::KnowsNoLock;
        if self.now_ms < self.hosts[which].agent.wake_ms || is_locked {
            return;
        }
        if self.hosts[which].agent.is_ending {
            if self.hosts[which].guard.is_none() {
                self.give_back(which);
                self.hosts[which].agent = Agent { wake_ms: self.now_ms + 1_000, is_ending: false };
            }
            // The lease is renewed until the child is gone.
            else if self.broken == Broken::GivesBackAtOnce {
                return;
            }
        }
        let is_orphaned = self.hosts[which].guard.as_ref().is_some_and(|guard| guard.order == Order::Orphaned);
        if is_orphaned {
            return;
        }
        if self.hosts[which].guard.is_none() {
            // The agent before was killed. A child that it has left may have run until now.
            let ahead_ms = 2 * self.hosts[which].settings.max_skew_ms + self.hosts[which].settings.runs_ahead_ms as i64;
            let now_ms = self.wall_ms(which);
            let page = &mut self.hosts[which].page;
            if page.lease.is_some() && self.broken != Broken::ForgetsTimes {
                page.free_ms = page.free_ms.max(now_ms + ahead_ms + 1);
            }
            let guard = Guard { machine: Child::default(), order: Order::Run, wake_ms: self.now_ms };
            self.hosts[which].guard = Some(guard);
        }
        self.hosts[which].agent.wake_ms = self.now_ms + RENEW_MS * 4 / 5 + self.random.below(RENEW_MS * 2 / 5);
        if self.now_ms > self.down_until_ms {
            self.ask(which);
        }
    }

    /// Renews the lease, or takes a node.
    fn ask(&mut self, which: usize) {
        let limit_ms = self.wall_ms(which) + self.hosts[which].settings.ahead_ms;
        let page = self.hosts[which].page;
        if let Some((node, _)) = page.lease {
            if self.store[node].holder == Some(which) {
                let limit_ms = limit_ms.max(self.store[node].limit_ms);
                self.store[node].limit_ms = limit_ms;
                self.hosts[which].page.lease = Some((node, limit_ms));
            } else {
                self.hosts[which].page = Page { lease: None, is_lost: true, ..page };
                if self.hosts[which].child.is_some() {
                    self.note("a node was lost under a child");
                }
            }
            return;
        }
        let wall_ms = self.wall_ms(which);
        let from = self.random.below(NODES as u64) as usize;
        for node in (0..NODES).map(|node| (node + from) % NODES) {
            let record = self.store[node];
            let is_free = record.holder.is_none() || record.limit_ms + IDLE_MS < wall_ms;
            if is_free && record.limit_ms < limit_ms {
                let free_ms = page.free_ms.max(record.limit_ms);
                if record.holder.is_none() && record.limit_ms > 0 {
                    self.note("a node that was given back was taken");
                }
                self.store[node] = Record { holder: Some(which), limit_ms };
                self.hosts[which].page = Page { lease: Some((node, limit_ms)), free_ms, is_lost: false };
                return;
            }
        }
    }

    fn guard(&mut self, which: usize) {
        let (now_ms, wall_ms) = (self.now_ms, self.wall_ms(which));
        let slow_ms = if self.random.chance(20_000) { self.random.below(SLOWEST_MS) } else { 0 };
        let host = &mut self.hosts[which];
        if host.guard.as_ref().is_none_or(|guard| now_ms < guard.wake_ms) {
            return;
        }
        let mut guard = host.guard.take().unwrap();
        loop {
            let host = &mut self.hosts[which];
            let Page { lease, free_ms, is_lost } = host.page;
            let lease = Lease {
                node: lease.map_or(0, |(node, _)| node as u64),
                limit_ms: lease.map(|(_, limit_ms)| limit_ms),
                free_ms,
                is_lost,
            };
            if let Some(limit_ms) = lease.limit_ms.filter(|_| host.child.is_some()) {
                if self.broken != Broken::ForgetsTimes {
                    let used_ms = guard.machine.used_ms().max(host.rules.stamped_ms(wall_ms));
                    host.page.free_ms = host.page.free_ms.max(limit_ms.min(used_ms + LEAD_MS));
                }
            }
            let look = Look {
                wall_ms,
                mono_ms: now_ms,
                leases: vec![lease],
                is_there: host.child.is_some(),
                has_ended: host.child.as_ref().is_none_or(|child| child.has_ended),
                order: guard.order,
            };
            match guard.machine.step(&host.rules, &look) {
                Action::Wait(ms) => {
                    guard.wake_ms = now_ms + ms.min(100) + slow_ms;
                    self.hosts[which].guard = Some(guard);
                    return;
                }
                Action::Start => self.start(which, &lease),
                Action::Warn(event) => {
                    if matches!(event, Event::LimitNear { .. }) {
                        self.note("the child was warned because of the limit");
                    }
                    self.signal(which, now_ms);
                }
                Action::Kill(event) => {
                    if matches!(event, Event::Late { .. } | Event::Slow) {
                        self.note("the child was killed, because it did not end");
                    }
                    let takes_ms = self.random.below(SLOWEST_MS);
                    if let Some(child) = &mut self.hosts[which].child {
                        if self.broken != Broken::NoKill {
                            let ends_ms = child.ends_ms.unwrap_or(u64::MAX);
                            child.ends_ms = Some(ends_ms.min(now_ms + takes_ms));
                        }
                    }
                }
                Action::Log(_) => {}
                // The child has ended, so the agent does as well.
                Action::End => {
                    if guard.order != Order::Orphaned {
                        self.hosts[which].agent.is_ending = true;
                    }
                    return;
                }
            }
        }
    }

    fn start(&mut self, which: usize, lease: &Lease) {
        self.runs += 1;
        let wall_ms = self.wall_ms(which);
        self.hosts[which].child = Some(Process {
            number: self.runs,
            node: lease.node as usize,
            limit_ms: 0,
            last_ms: i64::MIN,
            ahead_ms: self.random.chance(500_000).then_some(wall_ms - self.now_ms as i64),
            lead_ms: if self.random.chance(500_000) { self.hosts[which].settings.runs_ahead_ms as i64 } else { 0 },
            has_ended: false,
            obeys: self.random.chance(500_000),
            ends_ms: None,
        });
    }

    /// Stamps an id, as a generator does that waits while its clock is behind, or goes by a clock that is never stepped.
    fn child(&mut self, which: usize) {
        let child = self.hosts[which].child.take();
        self.hosts[which].child = child.and_then(|child| self.stamp(which, child, false));
        let left = self.hosts[which].left.take();
        self.hosts[which].left = left.and_then(|left| self.stamp(which, left, true));
    }

    /// Returns the child unless it has ended.
    fn stamp(&mut self, which: usize, mut child: Process, is_left: bool) -> Option<Process> {
        let (now_ms, wall_ms) = (self.now_ms, self.wall_ms(which));
        if child.ends_ms.is_some_and(|ends_ms| ends_ms <= now_ms) {
            return None;
        }
        if let Some((_, limit_ms)) = self.hosts[which].page.lease.filter(|(node, _)| *node == child.node) {
            child.limit_ms = child.limit_ms.max(limit_ms);
        }
        let wall_ms = child.ahead_ms.map_or(wall_ms, |ahead_ms| ahead_ms + now_ms as i64) + child.lead_ms;
        if is_left && wall_ms >= child.limit_ms {
            return None;
        }
        if wall_ms <= child.last_ms {
            return Some(child);
        }
        child.last_ms = wall_ms;
        self.report.stamps += 1;
        self.report.late += u64::from(wall_ms >= child.limit_ms);
        let stamped = &mut self.stamped[child.node];
        let is_of = |number, first, last| number != child.number && (first..=last).contains(&wall_ms);
        self.report.twice += u64::from(stamped.iter().any(|&(number, first, last)| is_of(number, first, last)));
        match stamped.iter_mut().find(|(number, ..)| *number == child.number) {
            Some((.., last)) => *last = wall_ms,
            None => stamped.push((child.number, wall_ms, wall_ms)),
        }
        Some(child)
    }
}

impl Host {
    fn new(settings: Settings, random: &mut Random, broken: Broken) -> Self {
        let Settings { ahead_ms, max_skew_ms, margin_ms, runs_ahead_ms } = settings;
        let rules = Rules {
            margin_ms: if broken == Broken::KillsAtTheLimit { 0 } else { margin_ms },
            jitter_ms: if broken == Broken::KillsAtTheLimit { 0 } else { random.below(ahead_ms as u64 / 5) },
            max_step_ms: 2 * max_skew_ms as u64,
            runs_ahead_ms: if broken == Broken::KnowsNoLead { 0 } else { runs_ahead_ms },
        };
        Self {
            settings,
            rules,
            offset_ms: random.around(max_skew_ms),
            page: Page { lease: None, free_ms: 0, is_lost: false },
            agent: Agent::default(),
            guard: None,
            child: None,
            left: None,
        }
    }
}
