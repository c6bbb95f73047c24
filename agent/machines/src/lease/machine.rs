//! The machine: what to do next, given the time, the page and the store's answers. [`super::phase`] shows its phases.

use super::clocks::Clocks;
use super::event::{Event, Failure};
use super::group::Group;
use super::phase::{Candidate, Held, Phase};
use super::protocol::{Answer, Input, Output, PageView, Reply, Request, Write};
use super::record::NodeRecord;
use super::rules::Rules;
use crate::pace::Pace;
use crate::protocol::Now;
use crate::store::{Expected, StoreError, Version};
use std::collections::{BTreeMap, VecDeque};
use std::mem::Discriminant;

/// So many writes in a row may be without effect because this host lost races; more are the store's fault.
const RACES: u32 = 5;

/// One lease of one host, for the lifetime of its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lease {
    pub(super) phase: Phase,
    /// Outputs that are already decided.
    queue: VecDeque<Output>,
    /// Nothing is done before this time.
    wake_ms: u64,
    pace: Pace,
    /// How many failures there were in a row.
    failures: u32,
    /// How many writes in a row had no effect.
    conflicts: u32,
    pub(super) clocks: Clocks,
    /// By the last look, the clock is off.
    doubts_clock: bool,
    /// The group's record when it was read last.
    pub(super) group: Option<(Group, Version)>,
    /// How many nodes were tried.
    pub(super) tries: u32,
    pub(super) numbers: Numbers,
    /// What the record was that changes when a node is given back, when it was read last: before all nodes were listed last.
    pub(super) freed: Option<Option<Version>>,
    /// Another host of this name has taken a node from this one.
    pub(super) has_namesake: bool,
    /// Nodes that were lost, and until when they are avoided.
    pub(super) avoided: BTreeMap<u64, u64>,
    /// What tells one state of an idle node's record from others, and since when it has not changed.
    pub(super) unchanged: BTreeMap<u64, (u64, u64)>,
    /// There was a lease. From then on, the machine goes on whatever the store answers.
    has_served: bool,
    said: Vec<Trouble>,
}

/// The numbers of new nodes, where another system gives them out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Numbers {
    /// The next one has to be asked for.
    #[default]
    Ask,
    /// This one was given, and is not taken yet.
    Given(u64),
    /// There are no more.
    UsedUp,
}

/// A trouble that was logged and still persists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trouble {
    /// The store fails in this way.
    Store(Discriminant<StoreError>),
    /// Writes have no effect.
    Conflicts,
    ClockOff,
    NoneFree,
    /// No lease can be taken before this.
    Floor(i64),
}

/// What a step is given.
pub(super) struct Inputs<'a> {
    pub(super) rules: &'a Rules,
    pub(super) now: &'a Now,
    pub(super) page: &'a PageView,
}

impl Lease {
    /// The lease of an agent that starts with this page.
    pub fn new(page: &PageView) -> Self {
        let found = Held::found(page);
        let close = (found.is_none() && !page.is_closed).then_some(Output::Write(Write::Close));
        Self { phase: Phase::Meeting { found }, queue: close.into_iter().collect(), ..Self::default() }
    }

    /// The lease of an agent that has kept it, and goes by other rules from now on. Whatever the store answers, it goes on.
    pub fn again(page: &PageView) -> Self {
        Self { has_served: true, ..Self::new(page) }
    }

    /// Takes an input, and returns what to do next.
    pub fn step(&mut self, rules: &Rules, now: &Now, page: &PageView, input: Input) -> Output {
        let given = &Inputs { rules, now, page };
        let jumped = self.clocks.jumped(rules, now).filter(|_| self.phase.held().is_some());
        match input {
            Input::Go => {}
            Input::Answer(answer) => self.take_in(given, answer),
            Input::Stop => self.stop(given),
        }
        if let Some(by_ms) = jumped {
            self.doubt(given, by_ms);
        }
        loop {
            if let Some(output) = self.queue.pop_front() {
                self.clocks.plan(now, &output);
                if let Output::Ask(_) = output {
                    self.pace.send(rules.most_requests, now.mono_ms);
                }
                return output;
            }
            self.advance(given);
        }
    }

    /// Gives the lease back. The queue is empty, and no answer is pending.
    fn stop(&mut self, given: &Inputs) {
        if matches!(self.phase, Phase::Releasing { .. } | Phase::Telling { .. } | Phase::Ended) {
            return;
        }
        self.close(given);
        self.wake_ms = given.now.mono_ms;
        self.phase = match self.phase.held() {
            Some(held) => Phase::Releasing { held: held.clone(), failures: 0 },
            None => Phase::Ended,
        };
    }

    /// The clock was stepped, or this host was stopped, and perhaps copied: there are no ids until the store has
    /// confirmed that the lease is this host's.
    fn doubt(&mut self, given: &Inputs, by_ms: i64) {
        match &self.phase {
            Phase::Holding(held) => self.phase = Phase::Judging(held.clone()),
            Phase::Releasing { .. } => return,
            phase if phase.held().is_none() => return,
            _ => {}
        }
        self.wake_ms = given.now.mono_ms;
        // A request that was not sent yet would be answered in another phase.
        self.queue.retain(|output| !matches!(output, Output::Ask(_)));
        // The page may be about to be opened.
        self.write(Write::Close);
        self.log(Event::Jumped(by_ms));
    }

    /// Decides on an output or another phase. The queue is empty, and no answer is pending.
    fn advance(&mut self, given: &Inputs) {
        let rules = given.rules;
        // A node that is not given back is missing for long, and whoever ends the agent does not wait: the few requests for
        // that are sent at once.
        let is_ending = matches!(self.phase, Phase::Releasing { .. } | Phase::Telling { .. } | Phase::Ended);
        let next_ms = if is_ending { 0 } else { self.pace.next_ms(rules.most_requests) };
        let until_ms = self.wake_ms.max(next_ms);
        if given.now.mono_ms < until_ms {
            return self.queue.push_back(Output::Wait { until_ms });
        }
        let request = match &self.phase {
            Phase::Meeting { .. } | Phase::Confirming(_) => Request::Read(Group::key(&rules.group)),
            Phase::Founding { group, expected, .. } => Request::Put {
                key: Group::key(&rules.group),
                expected: expected.clone(),
                bytes: group.to_string().into_bytes(),
            },
            Phase::Choosing => Request::List(self.survey(given)),
            Phase::Numbering { .. } => Request::Number,
            Phase::Waiting { .. } | Phase::Telling { found: None } => Request::Read(Group::freed_key(&rules.group)),
            Phase::Telling { found: Some(expected) } => Request::Put {
                key: Group::freed_key(&rules.group),
                expected: expected.clone(),
                bytes: Group::freed(given.now.random).into_bytes(),
            },
            Phase::Taking(Candidate { held, expected, .. }) => {
                put(rules, held.node, expected.clone(), &held.record(rules, held.limit_ms, true))
            }
            Phase::Settling(Candidate { held, .. }) | Phase::Judging(held) => {
                Request::Read(Group::node_key(&rules.group, held.node))
            }
            Phase::Holding(held) => return self.phase = self.renew(given, held.clone()),
            Phase::Releasing { held, .. } => {
                let held = held.clone();
                self.release(given, &held)
            }
            Phase::Ended => return self.queue.push_back(Output::Stopped),
        };
        self.ask(request);
    }

    fn take_in(&mut self, given: &Inputs, Answer { reply, time }: Answer) {
        if let Some(time) = time {
            self.clocks.store_shows(given.now, time);
        }
        self.phase = match (std::mem::replace(&mut self.phase, Phase::Ended), reply) {
            (Phase::Meeting { found }, Reply::Read(record)) => self.met(given, found, record),
            (Phase::Founding { group, expected, found }, Reply::Put(put)) => {
                self.founded(given, group, expected, found, put)
            }
            (Phase::Choosing, Reply::List(survey)) => self.listed(given, survey),
            (Phase::Numbering { none }, Reply::Number(number)) => self.numbered(given, none, number),
            (Phase::Waiting { until_ms }, Reply::Read(record)) => self.waited(given, until_ms, record),
            (Phase::Taking(candidate), Reply::Put(put)) => self.taken(given, candidate, put),
            (Phase::Settling(candidate), Reply::Read(record)) => self.settled(given, candidate, record),
            (Phase::Confirming(candidate), Reply::Read(record)) => self.confirmed(given, candidate, record),
            (Phase::Holding(held), Reply::Put(put)) => self.renewed(given, held, put),
            (Phase::Judging(held), Reply::Read(record)) => self.judged(given, held, record),
            (Phase::Releasing { held, failures }, reply) => self.released(given, held, failures, reply),
            (Phase::Telling { found: None }, Reply::Read(Ok(record))) => {
                Phase::Telling { found: Some(record.map_or(Expected::Absent, |it| Expected::Version(it.version))) }
            }
            // If another host changes it at the same time, it has changed.
            (Phase::Telling { .. } | Phase::Ended, _) => Phase::Ended,
            (phase, reply) => {
                let why = format!("{reply:?} as the answer to another request");
                self.fail(given, StoreError::Damaged { store: "the store".to_owned(), why }, phase)
            }
        };
    }

    pub(super) fn ask(&mut self, request: Request) {
        self.queue.push_back(Output::Ask(request));
    }

    pub(super) fn write(&mut self, write: Write) {
        self.queue.push_back(Output::Write(write));
    }

    pub(super) fn log(&mut self, event: Event) {
        self.queue.push_back(Output::Log(event));
    }

    pub(super) fn close(&mut self, given: &Inputs) {
        if !given.page.is_closed {
            self.write(Write::Close);
        }
    }

    /// From now on there is a lease. Returns whether it is the first.
    pub(super) fn serves(&mut self) -> bool {
        !std::mem::replace(&mut self.has_served, true)
    }

    /// Nobody can help but a person. The machine ends.
    pub(super) fn give_in(&mut self, failure: Failure) -> Phase {
        self.queue.push_back(Output::Fail(failure));
        Phase::Ended
    }

    /// A request failed. Goes on with the phase `then` after a backoff.
    pub(super) fn fail(&mut self, given: &Inputs, error: StoreError, then: Phase) -> Phase {
        if !self.has_served && !error.may_pass() {
            return self.give_in(Failure::Store(error));
        }
        self.wait(given, backoff_ms(given.rules, self.failures));
        self.failures += 1;
        self.complain(Trouble::Store(std::mem::discriminant(&error)), Event::StoreAway(error));
        then
    }

    /// A write had no effect, or may have none. That is a race with another host, and goes on with the phase `then` at
    /// once; but a store that refuses again and again is asked less and less often.
    pub(super) fn beaten(&mut self, given: &Inputs, key: String, then: Phase) -> Phase {
        self.conflicts += 1;
        if let Some(failures) = self.conflicts.checked_sub(RACES) {
            self.wait(given, backoff_ms(given.rules, failures));
            self.complain(Trouble::Conflicts, Event::Conflicts { key, count: self.conflicts });
        }
        then
    }

    /// The store did what it was asked.
    pub(super) fn store_is_back(&mut self) {
        (self.failures, self.conflicts) = (0, 0);
        if self.is_over(|trouble| matches!(trouble, Trouble::Store(_) | Trouble::Conflicts)) {
            self.log(Event::StoreBack);
        }
    }

    /// Logs a trouble once while it persists.
    pub(super) fn complain(&mut self, trouble: Trouble, event: Event) {
        if !self.said.contains(&trouble) {
            self.said.push(trouble);
            self.log(event);
        }
    }

    /// Forgets troubles. Returns whether there were any.
    pub(super) fn is_over(&mut self, ends: impl Fn(&Trouble) -> bool) -> bool {
        let before = self.said.len();
        self.said.retain(|trouble| !ends(trouble));
        self.said.len() < before
    }

    /// Whether the clock may agree with the store's, and is surely no further off than any may be. If not, asks again: at once
    /// the first time, because the answer may have taken long.
    pub(super) fn clock_is_right(&mut self, given: &Inputs) -> bool {
        let (least_ms, most_ms) = self.clocks.ahead_of_store_ms(given.now);
        let max_skew_ms = given.rules.max_skew_ms;
        let may_be_right = least_ms.unsigned_abs() <= max_skew_ms;
        let is_right = may_be_right && most_ms.unsigned_abs() <= max_skew_ms.max(Rules::MOST_SKEW_MS);
        let is_first_doubt = !std::mem::replace(&mut self.doubts_clock, !is_right);
        if !is_right && is_first_doubt {
            self.wake_ms = given.now.mono_ms;
        } else if !is_right {
            let by_ms = if may_be_right { most_ms } else { least_ms };
            self.complain(Trouble::ClockOff, Event::ClockOff(by_ms));
            self.wait(given, given.rules.retry_ms.1);
        } else if self.is_over(|trouble| *trouble == Trouble::ClockOff) {
            self.log(Event::ClockRight);
        }
        is_right
    }

    /// Varies the backoff by up to a fifth, so that hosts that failed or started together spread out.
    pub(super) fn wait(&mut self, given: &Inputs, ms: u64) {
        let fifth_ms = ms / 5;
        let spread_ms = given.now.random as u64 % (2 * fifth_ms + 1);
        self.wake_ms = given.now.mono_ms.saturating_add(ms - fifth_ms + spread_ms);
    }

    /// Renews at once if the write took so long that little of the lease is left.
    pub(super) fn wait_for_renewal(&mut self, given: &Inputs, limit_ms: i64) {
        let Inputs { rules, now, .. } = given;
        let left_ms = limit_ms.saturating_sub(now.wall_ms);
        let is_enough = left_ms >= rules.ahead_ms.saturating_sub(rules.renew_ms) as i64;
        if is_enough || self.said.contains(&Trouble::ClockOff) {
            self.wait(given, rules.renew_ms);
        } else {
            self.wake_ms = now.mono_ms;
        }
    }
}

/// The backoff before a retry, after this many failures in a row.
fn backoff_ms(rules: &Rules, failures: u32) -> u64 {
    let (first_ms, longest_ms) = rules.retry_ms;
    first_ms.saturating_mul(1 << failures.min(20)).min(longest_ms)
}

/// The request that writes the record of a node.
pub(super) fn put(rules: &Rules, node: u64, expected: Expected, record: &NodeRecord) -> Request {
    Request::Put { key: Group::node_key(&rules.group, node), expected, bytes: record.to_string().into_bytes() }
}
