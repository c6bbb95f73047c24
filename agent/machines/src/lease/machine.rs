//! The algorithm: what to do next, given the time and the store's answers.

use super::choose::{Choice, NoneFree, choose};
use super::event::{Event, Failure};
use super::group::Group;
use super::record::NodeRecord;
use super::rules::Rules;
use crate::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Version};
use std::collections::{BTreeMap, VecDeque};

/// The time of a step, and randomness for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Now {
    /// Milliseconds since 1970-01-01 UTC by this host's clock, which may be wrong.
    pub wall_ms: i64,
    /// Milliseconds of a clock that never goes backwards.
    pub mono_ms: u64,
    /// Different each time.
    pub random: u128,
}

/// The input of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The last output is done, or its time has come.
    Go,
    /// The store's answer to [`Output::Ask`].
    Answer(Answer),
    /// [`Write::Close`] is done.
    Closed {
        /// The beginning of the first unit of time in which no id was made.
        free_ms: i64,
    },
    /// The lease is to be given back. May come instead of any [`Input::Go`].
    Stop,
}

/// The store's answer, and its clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The answer.
    pub reply: Reply,
    /// [`crate::store::Store::clock_ms`].
    pub store_ms: Option<i64>,
}

/// The store's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// To [`Request::Read`].
    Read(Result<Option<Record>, StoreError>),
    /// To [`Request::Put`].
    Put(Result<Put, StoreError>),
    /// To [`Request::List`].
    List(Result<Vec<(String, Record)>, StoreError>),
    /// To [`Request::Number`].
    Number(Result<Numbered, StoreError>),
}

/// A request to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// [`crate::store::Store::read`].
    Read {
        /// The key.
        key: String,
    },
    /// [`crate::store::Store::put`].
    Put {
        /// The key.
        key: String,
        /// The record that must be there.
        expected: Expected,
        /// The new record.
        bytes: Vec<u8>,
    },
    /// [`crate::store::Store::list`].
    List {
        /// The prefix of the keys.
        prefix: String,
    },
    /// [`crate::store::Store::number`], by the rules.
    Number,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send this request; the store's answer is the next input.
    Ask(Request),
    /// Write to the page.
    Write(Write),
    /// Write this to the log.
    Log(Event),
    /// Call again when the monotonic clock reaches this, or with [`Input::Stop`].
    Wait {
        /// By [`Now::mono_ms`].
        until_ms: u64,
    },
    /// The lease has been given back, and all is done.
    Stopped,
    /// There will be no lease until somebody intervenes.
    Fail(Failure),
}

/// A write to the page: one atomic store, done before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// Stops ids. [`Input::Closed`] is the reply.
    Close,
    /// Allows ids of this node from a time on. Only while the page is closed.
    Open {
        /// The node.
        node: u64,
        /// The first time.
        start_ms: i64,
    },
    /// Identifies the lease, for an agent that restarts. Zeros if there is none to continue.
    Generation {
        /// The record's.
        generation: u64,
        /// The record's.
        token: u128,
    },
    /// A limit that is about to be written to the store.
    Note {
        /// The limit.
        limit_ms: i64,
    },
    /// Allows ids of this node before this time.
    Limit {
        /// The node.
        node: u64,
        /// The limit.
        limit_ms: i64,
    },
}

/// What an agent finds in the page when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageView {
    /// The node of the word.
    pub node: u64,
    /// 0 if there is no lease to continue.
    pub generation: u64,
    /// The token of the lease.
    pub token: u128,
    /// The limit for workers; `i64::MIN` if it belongs to another node.
    pub limit_ms: i64,
    /// The last limit that was about to be written to the store.
    pub noted_ms: i64,
    /// The beginning of the first unit of time in which no id was made.
    pub free_ms: i64,
    /// Whether the page is closed.
    pub is_closed: bool,
}

/// One lease of one host, for the lifetime of its agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    phase: Phase,
    /// Outputs that are already decided.
    queue: VecDeque<Output>,
    /// Nothing is done before this time.
    wake_ms: u64,
    /// How many failures there were in a row.
    failures: u32,
    held: Option<Held>,
    /// A limit that may be in the store, or may still arrive there.
    pending_ms: Option<i64>,
    /// The store has lost the limit that is in the page.
    is_forgotten: bool,
    is_closed: bool,
    free_ms: i64,
    /// The group's record at the time of the list.
    group: Option<(Group, Version)>,
    tries: u32,
    /// The number of a new node that was given, and not taken yet.
    given: Option<u64>,
    /// There are no more numbers for new nodes.
    numbers_used_up: bool,
    /// Nodes that were lost, and until when they are avoided.
    avoided: BTreeMap<u64, u64>,
    /// Since when the record of a node with another holder has not changed.
    unchanged: BTreeMap<u64, (Version, u64)>,
    /// The store's clock minus the monotonic one.
    store_offset_ms: Option<i64>,
    /// The wall clock minus the monotonic one.
    wall_offset_ms: Option<i64>,
    /// When the next check of the clocks is planned, if nothing delays it.
    planned_ms: u64,
    is_in_doubt: bool,
    is_stopping: bool,
    may_write: bool,
    is_resuming: bool,
    said: Said,
}

/// Troubles that have been logged and still persist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Said {
    away: Option<StoreError>,
    clock_off: bool,
    none_free: bool,
    floor_ms: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    node: u64,
    generation: u64,
    token: u128,
    /// The last one that the store confirmed.
    limit_ms: i64,
    /// The version of the record with that limit; None if there is no record.
    version: Option<Version>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Taken {
    held: Held,
    expected: Expected,
    start_ms: i64,
}

/// What to do next; if that is a request, also what the next answer belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Read the record of the group.
    Meeting,
    /// Make that record, or set its floor.
    Founding { group: Group, expected: Expected },
    /// List the nodes and choose one.
    Choosing,
    /// Get the number of a new node, because no node is free.
    Numbering(NoneFree),
    /// Write the record of that node.
    Taking(Taken),
    /// Read it, because it is not known whether it was written.
    Settling(Taken),
    /// Read the group's record again: if the store was emptied in the meantime, the list is useless.
    Confirming(Taken),
    /// Write a later limit.
    Holding,
    /// Read the record of this host's node, because its content is not known.
    Judging,
    /// Write that the node is free.
    Releasing { is_sure: bool },
    /// All is done.
    Ended,
}

impl Lease {
    /// The lease of an agent that starts with this page.
    pub fn new(page: &PageView) -> Self {
        let held = (page.generation > 0).then_some(Held {
            node: page.node,
            generation: page.generation,
            token: page.token,
            limit_ms: page.limit_ms,
            version: None,
        });
        let pending_ms = (held.is_some() && page.noted_ms > page.limit_ms).then_some(page.noted_ms);
        let mut lease = Self {
            phase: Phase::Meeting,
            queue: VecDeque::new(),
            wake_ms: 0,
            failures: 0,
            held,
            pending_ms,
            is_forgotten: false,
            is_closed: page.is_closed,
            free_ms: page.free_ms,
            group: None,
            tries: 0,
            given: None,
            numbers_used_up: false,
            avoided: BTreeMap::new(),
            unchanged: BTreeMap::new(),
            store_offset_ms: None,
            wall_offset_ms: None,
            planned_ms: u64::MAX,
            is_in_doubt: false,
            is_stopping: false,
            may_write: false,
            is_resuming: true,
            said: Said::default(),
        };
        if lease.held.is_none() {
            lease.close();
        }
        lease
    }

    /// Takes an input, and returns what to do next.
    pub fn step(&mut self, rules: &Rules, now: &Now, input: Input) -> Output {
        self.look_at_clocks(rules, now);
        match input {
            Input::Go => {}
            Input::Stop => self.is_stopping = true,
            Input::Closed { free_ms } => self.free_ms = self.free_ms.max(free_ms),
            Input::Answer(answer) => self.take_in(rules, now, answer),
        }
        loop {
            if let Some(output) = self.queue.pop_front() {
                self.planned_ms = match output {
                    Output::Wait { until_ms } => until_ms,
                    // If the name server is down as well, the answer takes as long as the system's resolver.
                    Output::Ask(_) => u64::MAX,
                    _ => now.mono_ms,
                };
                return output;
            }
            self.advance(rules, now);
        }
    }

    /// If the clock was stepped or the process was stopped, the machine may have been copied.
    fn look_at_clocks(&mut self, rules: &Rules, now: &Now) {
        let offset_ms = now.wall_ms.saturating_sub_unsigned(now.mono_ms);
        let stepped_ms = self.wall_offset_ms.map_or(0, |last_ms| offset_ms.saturating_sub(last_ms));
        let late_ms = now.mono_ms.saturating_sub(self.planned_ms);
        self.wall_offset_ms = Some(offset_ms);
        let by_ms = if stepped_ms.unsigned_abs() > rules.jump_ms { stepped_ms } else { late_ms as i64 };
        if by_ms.unsigned_abs() > rules.jump_ms && self.held.is_some() {
            self.is_in_doubt = true;
            self.log(Event::Jumped { by_ms });
        }
    }

    /// Decides on at least one output. The queue is empty, and no answer is pending.
    fn advance(&mut self, rules: &Rules, now: &Now) {
        if self.is_stopping && !matches!(self.phase, Phase::Releasing { .. } | Phase::Ended) {
            self.phase = if self.held.is_some() { Phase::Releasing { is_sure: true } } else { Phase::Ended };
            self.wake_ms = now.mono_ms;
            self.failures = 0;
            return self.close();
        }
        if std::mem::take(&mut self.is_in_doubt) && self.held.is_some() && !self.is_stopping {
            if self.phase == Phase::Holding {
                self.phase = Phase::Judging;
            }
            self.wake_ms = now.mono_ms;
            return self.close();
        }
        if now.mono_ms < self.wake_ms {
            return self.queue.push_back(Output::Wait { until_ms: self.wake_ms });
        }
        match self.phase.clone() {
            Phase::Meeting | Phase::Confirming(_) => self.ask_read(Group::key(&rules.group)),
            Phase::Founding { group, expected } => self.ask(Request::Put {
                key: Group::key(&rules.group),
                expected,
                bytes: group.to_string().into_bytes(),
            }),
            Phase::Choosing => self.ask(Request::List { prefix: Group::nodes(&rules.group) }),
            Phase::Numbering(_) => self.ask(Request::Number),
            Phase::Taking(Taken { held, expected, .. }) => {
                let record = held.record(rules, held.limit_ms, true);
                self.ask_put(rules, held.node, expected, &record);
            }
            Phase::Settling(Taken { held, .. }) => self.ask_read(Group::node_key(&rules.group, held.node)),
            Phase::Holding => self.extend(rules, now),
            Phase::Judging => match &self.held {
                Some(held) => self.ask_read(Group::node_key(&rules.group, held.node)),
                None => self.phase = Phase::Meeting,
            },
            Phase::Releasing { is_sure } => self.release(rules, is_sure),
            Phase::Ended => self.queue.push_back(Output::Stopped),
        }
    }

    fn take_in(&mut self, rules: &Rules, now: &Now, answer: Answer) {
        if let Some(store_ms) = answer.store_ms {
            self.store_offset_ms = Some(store_ms.saturating_sub_unsigned(now.mono_ms));
        }
        // A user with the right to read may not have the right to write.
        self.may_write |= matches!(answer.reply, Reply::Put(Ok(Put::Written(_) | Put::Conflict)));
        match (self.phase.clone(), answer.reply) {
            (Phase::Releasing { .. }, reply) => self.released(now, rules, reply),
            (Phase::Numbering(_), Reply::Number(Err(error))) if self.is_resuming && !error.may_pass() => {
                self.queue.push_back(Output::Fail(Failure::Store(error)));
            }
            (
                phase,
                Reply::Read(Err(error)) | Reply::Put(Err(error)) | Reply::List(Err(error)) | Reply::Number(Err(error)),
            ) => {
                if matches!(phase, Phase::Taking(_)) {
                    self.phase = Phase::Choosing;
                }
                self.fail(rules, now, error);
            }
            (Phase::Meeting, Reply::Read(Ok(record))) => self.meet(rules, now, record),
            (Phase::Founding { group, .. }, Reply::Put(Ok(put))) => {
                self.phase = Phase::Meeting;
                match put {
                    Put::Written(_) if (1..Group::UNSET).contains(&group.floor_ms) => {
                        self.said.floor_ms = Some(group.floor_ms);
                        self.log(Event::NewGroup { from_ms: group.floor_ms });
                    }
                    Put::Written(_) | Put::Conflict => {}
                    Put::Unknown(error) => self.fail(rules, now, error),
                }
            }
            (Phase::Choosing, Reply::List(Ok(records))) => self.choose(rules, now, records),
            (Phase::Numbering(_), Reply::Number(Ok(Numbered::Node(node)))) => {
                self.given = Some(node);
                self.take(rules, now, Choice::new_node(node));
            }
            (Phase::Numbering(none), Reply::Number(Ok(Numbered::UsedUp))) => {
                self.numbers_used_up = true;
                self.log(Event::UsedUp(rules.numbering));
                self.say_none_free(rules, now, none);
            }
            (Phase::Taking(mut taken), Reply::Put(Ok(put))) => match put {
                Put::Written(version) => {
                    taken.held.version = Some(version);
                    self.phase = Phase::Confirming(taken);
                }
                Put::Conflict => self.phase = Phase::Choosing,
                Put::Unknown(error) => {
                    self.phase = Phase::Settling(taken);
                    self.fail(rules, now, error);
                }
            },
            (Phase::Settling(mut taken), Reply::Read(Ok(record))) => {
                let wanted = taken.held.record(rules, taken.held.limit_ms, true).to_string();
                self.phase = match record {
                    Some(record) if record.bytes == wanted.as_bytes() => {
                        taken.held.version = Some(record.version);
                        Phase::Confirming(taken)
                    }
                    // The write may still arrive. Then the node is unused until it is idle.
                    _ => Phase::Choosing,
                };
            }
            (Phase::Confirming(taken), Reply::Read(Ok(record))) => {
                let group = self.group.as_ref().map(|(_, version)| version);
                if record.as_ref().map(|record| &record.version) == group {
                    self.publish(rules, now, taken);
                } else {
                    self.phase = Phase::Meeting;
                }
            }
            (Phase::Holding, Reply::Put(Ok(put))) => match put {
                Put::Written(version) => self.extended(rules, now, version),
                Put::Conflict => self.phase = Phase::Judging,
                Put::Unknown(error) => {
                    self.phase = Phase::Judging;
                    self.fail(rules, now, error);
                }
            },
            (Phase::Judging, Reply::Read(Ok(record))) => self.judge(rules, now, record),
            // Not an answer to the request: ask again.
            _ => {}
        }
    }

    /// Handles the record of the group, which may be missing.
    fn meet(&mut self, rules: &Rules, now: &Now, record: Option<Record>) {
        let Some(record) = record else { return self.found(rules, now, None) };
        let group = match Group::parse(&record.bytes) {
            Ok(group) if group.layout == rules.layout => group,
            Ok(group) => {
                let (name, wanted) = (rules.group.clone(), rules.layout.clone());
                let failure = Failure::OtherLayout { group: name, found: group.layout, wanted };
                return self.queue.push_back(Output::Fail(failure));
            }
            Err(bad) => return self.queue.push_back(Output::Fail(Failure::Group(bad))),
        };
        let floor_ms = group.floor_ms;
        if floor_ms == Group::UNSET {
            return self.found(rules, now, Some(record.version));
        }
        self.group = Some((group, record.version));
        if self.held.is_some() {
            if self.free_ms < floor_ms {
                self.close();
                self.free_ms = floor_ms;
            }
            self.phase = Phase::Judging;
        } else if floor_ms > now.wall_ms.saturating_add_unsigned(rules.max_drift_ms) {
            self.store_is_back();
            if self.said.floor_ms.replace(floor_ms) != Some(floor_ms) {
                self.log(Event::Floor { from_ms: floor_ms });
            }
            self.wait(now, rules.retry_ms.1);
        } else {
            self.tries = 0;
            self.phase = Phase::Choosing;
        }
    }

    /// Makes the record of the group in two writes. The floor is computed after the first write is seen in the store: a
    /// late write may arrive in a store that was emptied in the meantime, and its floor would be too low.
    fn found(&mut self, rules: &Rules, now: &Now, version: Option<Version>) {
        if !self.clock_is_right(rules, now) {
            return;
        }
        // No lease that the store may have lost has a later limit than this. A store that had the group before is not
        // new, whatever was claimed when this agent started.
        let ahead_ms = rules.ahead_ms.saturating_add(2 * rules.max_skew_ms);
        let floor_ms = match &version {
            None => Group::UNSET,
            Some(_) if rules.new && self.group.is_none() => 0,
            Some(_) => now.wall_ms.saturating_add_unsigned(ahead_ms),
        };
        let group = Group { floor_ms, made_ms: now.wall_ms, id: now.random, layout: rules.layout.clone() };
        let expected = version.map_or(Expected::Absent, Expected::Version);
        self.phase = Phase::Founding { group, expected };
    }

    fn choose(&mut self, rules: &Rules, now: &Now, records: Vec<(String, Record)>) {
        if !self.clock_is_right(rules, now) {
            self.phase = Phase::Meeting;
            return;
        }
        let prefix = Group::nodes(&rules.group);
        let node = |key: &str| key.strip_prefix(&prefix).and_then(|number| number.parse().ok());
        let records: BTreeMap<_, _> =
            records.into_iter().filter_map(|(key, record)| Some((node(&key)?, record))).collect();
        self.avoided.retain(|_, until_ms| *until_ms > now.mono_ms);
        self.observe(rules, now, &records);

        // A clock that agrees with the store's shows how long a node has been idle; otherwise that must be observed.
        let can_tell = self.store_offset_ms.is_some() && !rules.may_lose_writes;
        let is_abandoned = |node: u64, _: &Record| {
            let seen_ms = self.unchanged.get(&node).map_or(0, |(_, since_ms)| now.mono_ms - since_ms);
            self.unchanged.contains_key(&node) && (can_tell || seen_ms >= rules.observe_ms)
        };
        match choose(rules, now.wall_ms, &records, |node| self.avoided.contains_key(&node), is_abandoned) {
            Ok(choice) => self.take(rules, now, choice),
            Err(none) => match self.given.filter(|node| !records.contains_key(node)) {
                // Otherwise each failure of the store would use up a number.
                Some(node) => self.take(rules, now, Choice::new_node(node)),
                None if rules.numbering != Numbering::Own && !self.numbers_used_up => {
                    self.phase = Phase::Numbering(none);
                }
                None => self.say_none_free(rules, now, none),
            },
        }
    }

    fn take(&mut self, rules: &Rules, now: &Now, choice: Choice) {
        let floor_ms = self.group.as_ref().map_or(i64::MIN, |(group, _)| group.floor_ms);
        let start_ms = choice.start_ms.max(floor_ms).max(self.free_ms);
        let held = Held {
            node: choice.node,
            generation: choice.generation + 1,
            token: now.random,
            // If the limit went back, the next holder could use times that were already used.
            limit_ms: now.wall_ms.saturating_add_unsigned(rules.ahead_ms).max(start_ms),
            version: None,
        };
        self.tries += 1;
        self.phase = Phase::Taking(Taken { held, expected: choice.expected, start_ms });
    }

    fn say_none_free(&mut self, rules: &Rules, now: &Now, none: NoneFree) {
        self.store_is_back();
        if !std::mem::replace(&mut self.said.none_free, true) {
            self.log(Event::NoneFree(none));
        }
        self.wait(now, rules.retry_ms.1);
        self.phase = Phase::Meeting;
    }

    /// Notes since when the records of seemingly idle nodes have not changed.
    fn observe(&mut self, rules: &Rules, now: &Now, records: &BTreeMap<u64, Record>) {
        let before = std::mem::take(&mut self.unchanged);
        for (&node, record) in records {
            let Ok(parsed) = NodeRecord::parse(&record.bytes) else { continue };
            let idle_ms = parsed.limit_ms.saturating_add_unsigned(rules.idle_ms);
            if parsed.held && idle_ms <= now.wall_ms {
                let since_ms = match before.get(&node) {
                    Some((version, since_ms)) if *version == record.version => *since_ms,
                    _ => now.mono_ms,
                };
                self.unchanged.insert(node, (record.version.clone(), since_ms));
            }
        }
    }

    fn publish(&mut self, rules: &Rules, now: &Now, taken: Taken) {
        let Taken { held, start_ms, .. } = taken;
        let Held { node, generation, token, limit_ms, .. } = held;
        // If the agent is killed between any two of these, the page gives no ids, or has a lease that can be continued.
        self.queue.push_back(Output::Write(Write::Note { limit_ms }));
        self.queue.push_back(Output::Write(Write::Open { node, start_ms }));
        self.queue.push_back(Output::Write(Write::Generation { generation, token }));
        self.queue.push_back(Output::Write(Write::Limit { node, limit_ms }));
        self.log(Event::Taken { node, generation, tries: self.tries });
        self.is_closed = false;
        self.is_resuming = false;
        self.held = Some(held);
        self.pending_ms = None;
        self.is_forgotten = false;
        self.unchanged.clear();
        self.said.none_free = false;
        self.given = None;
        self.phase = Phase::Holding;
        self.store_is_back();
        self.wait_for_renewal(rules, now);
    }

    fn extend(&mut self, rules: &Rules, now: &Now) {
        let is_right = self.clock_is_right(rules, now);
        let Some(held) = self.held.clone() else { return };
        let limit_ms = match self.pending_ms {
            // A write that may still arrive is repeated with the same value, so that it cannot be mistaken for another
            // agent's.
            Some(pending_ms) => pending_ms,
            None if is_right => now.wall_ms.saturating_add_unsigned(rules.ahead_ms).max(held.limit_ms),
            None => held.limit_ms,
        };
        if self.is_forgotten && !self.is_ours_alone(rules, now) {
            return self.give_up(rules, now, Event::Forgotten { node: held.node, is_ours: false });
        }
        if limit_ms == held.limit_ms && !self.is_forgotten {
            if is_right {
                self.wait_for_renewal(rules, now);
            } else {
                // The store's clock may be wrong, so ask for it again.
                self.phase = Phase::Judging;
            }
            return;
        }
        self.pending_ms = Some(limit_ms);
        self.queue.push_back(Output::Write(Write::Note { limit_ms }));
        let expected = held.version.clone().map_or(Expected::Absent, Expected::Version);
        self.ask_put(rules, held.node, expected, &held.record(rules, limit_ms, true));
    }

    /// The store has confirmed the pending limit.
    fn extended(&mut self, rules: &Rules, now: &Now, version: Version) {
        let may_be_lost = self.is_forgotten && !self.is_ours_alone(rules, now);
        let Some(held) = &mut self.held else { return };
        if may_be_lost {
            let event = Event::Forgotten { node: held.node, is_ours: false };
            return self.give_up(rules, now, event);
        }
        held.version = Some(version);
        held.limit_ms = self.pending_ms.take().unwrap_or(held.limit_ms);
        self.is_forgotten = false;
        self.reopen();
        self.phase = Phase::Holding;
        self.store_is_back();
        self.wait_for_renewal(rules, now);
    }

    /// Whether no other host can have taken the node, even if the store has lost that. To take it, a host must be able
    /// to start at its limit, and its clock may be off the store's.
    fn is_ours_alone(&self, rules: &Rules, now: &Now) -> bool {
        let latest_ms = match self.store_offset_ms {
            Some(offset_ms) => offset_ms.saturating_add_unsigned(now.mono_ms + rules.max_skew_ms),
            None => now.wall_ms.saturating_add_unsigned(2 * rules.max_skew_ms),
        };
        let limit_ms = self.held.as_ref().map_or(i64::MIN, |held| held.limit_ms);
        limit_ms > latest_ms.saturating_add_unsigned(rules.max_drift_ms)
    }

    /// Decides from the record of this host's node how to continue.
    fn judge(&mut self, rules: &Rules, now: &Now, record: Option<Record>) {
        let is_ours = self.is_ours_alone(rules, now);
        let Some(held) = &mut self.held else { return };
        let parsed = record.as_ref().map(|record| NodeRecord::parse(&record.bytes));
        let (limit_ms, version) = match (parsed, record) {
            (None, _) => (None, None),
            (Some(Ok(found)), Some(record)) if found.held && held.is(&found) => {
                (Some(found.limit_ms), Some(record.version))
            }
            (_, record) => {
                let now_says = record.map_or(String::new(), |it| it.bytes.escape_ascii().to_string());
                let event = Event::Lost { node: held.node, now: now_says };
                return self.give_up(rules, now, event);
            }
        };
        held.version = version.clone();
        match (limit_ms, version) {
            (Some(limit_ms), Some(version)) if Some(limit_ms) == self.pending_ms => self.extended(rules, now, version),
            (Some(limit_ms), _) if limit_ms > held.limit_ms => {
                let event = Event::Cloned { node: held.node };
                self.give_up(rules, now, event);
            }
            (limit_ms, _) => {
                if limit_ms == Some(held.limit_ms) {
                    self.is_forgotten = false;
                    self.reopen();
                } else if !std::mem::replace(&mut self.is_forgotten, true) && is_ours {
                    let event = Event::Forgotten { node: held.node, is_ours };
                    self.log(event);
                }
                self.phase = Phase::Holding;
            }
        }
    }

    /// Reopens the page, because the store has confirmed that the lease is this host's.
    fn reopen(&mut self) {
        let Some(Held { node, limit_ms, .. }) = self.held else { return };
        let was_closed = std::mem::take(&mut self.is_closed);
        if was_closed {
            self.queue.push_back(Output::Write(Write::Open { node, start_ms: self.free_ms }));
        }
        self.queue.push_back(Output::Write(Write::Limit { node, limit_ms }));
        if std::mem::take(&mut self.is_resuming) || was_closed {
            self.log(Event::Resumed { node });
        }
    }

    /// The node belongs to another host.
    fn give_up(&mut self, rules: &Rules, now: &Now, event: Event) {
        if let Some(held) = self.held.take() {
            self.avoided.insert(held.node, now.mono_ms.saturating_add(rules.idle_ms));
        }
        self.pending_ms = None;
        self.is_forgotten = false;
        self.phase = Phase::Meeting;
        self.close();
        self.log(event);
    }

    fn release(&mut self, rules: &Rules, is_sure: bool) {
        let Some(held) = self.held.clone() else {
            self.phase = Phase::Ended;
            return;
        };
        if !is_sure {
            return self.ask_read(Group::node_key(&rules.group, held.node));
        }
        // From now on others may start at times that this lease still covers.
        self.queue.push_back(Output::Write(Write::Generation { generation: 0, token: 0 }));
        let expected = held.version.clone().map_or(Expected::Absent, Expected::Version);
        self.ask_put(rules, held.node, expected, &held.record(rules, self.free_ms, false));
    }

    fn released(&mut self, now: &Now, rules: &Rules, reply: Reply) {
        const MOST_FAILURES: u32 = 3;
        let Some(held) = &mut self.held else { return };
        let latest_ms = self.pending_ms.unwrap_or(held.limit_ms);
        let (node, free_ms) = (held.node, latest_ms.saturating_add_unsigned(rules.idle_ms));
        match reply {
            Reply::Put(Ok(Put::Written(_))) => {
                self.log(Event::Released { node });
                self.phase = Phase::Ended;
                return;
            }
            Reply::Read(Ok(Some(record)))
                if NodeRecord::parse(&record.bytes).is_ok_and(|found| found.held && held.is(&found)) =>
            {
                held.version = Some(record.version);
                self.phase = Phase::Releasing { is_sure: true };
            }
            // It was released after all, or another host has it.
            Reply::Read(Ok(_)) => {
                self.phase = Phase::Ended;
                return;
            }
            _ => {
                self.phase = Phase::Releasing { is_sure: false };
                self.wait(now, rules.retry_ms.0);
            }
        }
        self.failures += 1;
        if self.failures == MOST_FAILURES {
            self.log(Event::NotReleased { node, free_ms });
            self.phase = Phase::Ended;
        }
    }

    fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.queue.push_back(Output::Write(Write::Close));
        }
    }

    fn ask(&mut self, request: Request) {
        self.queue.push_back(Output::Ask(request));
    }

    fn ask_read(&mut self, key: String) {
        self.ask(Request::Read { key });
    }

    fn ask_put(&mut self, rules: &Rules, node: u64, expected: Expected, record: &NodeRecord) {
        let (key, bytes) = (Group::node_key(&rules.group, node), record.to_string().into_bytes());
        self.ask(Request::Put { key, expected, bytes });
    }

    fn log(&mut self, event: Event) {
        self.queue.push_back(Output::Log(event));
    }

    /// Handles a failure; tries again after a pause.
    fn fail(&mut self, rules: &Rules, now: &Now, error: StoreError) {
        if !self.may_write && !error.may_pass() {
            return self.queue.push_back(Output::Fail(Failure::Store(error)));
        }
        let (first_ms, longest_ms) = rules.retry_ms;
        let pause_ms = first_ms.saturating_mul(1 << self.failures.min(20)).min(longest_ms);
        self.failures += 1;
        self.wait(now, pause_ms);
        let is_same = |said: &StoreError| std::mem::discriminant(said) == std::mem::discriminant(&error);
        if !self.said.away.as_ref().is_some_and(is_same) {
            self.said.away = Some(error.clone());
            self.log(Event::StoreAway(error));
        }
    }

    fn store_is_back(&mut self) {
        self.failures = 0;
        if self.said.away.take().is_some() {
            self.log(Event::StoreBack);
        }
    }

    /// Whether the clock agrees with the store's. If not, waits before asking again.
    fn clock_is_right(&mut self, rules: &Rules, now: &Now) -> bool {
        let off = |offset_ms: i64| now.wall_ms.saturating_sub(offset_ms.saturating_add_unsigned(now.mono_ms));
        let by_ms = self.store_offset_ms.map_or(0, off);
        let is_off = by_ms.unsigned_abs() > rules.max_skew_ms;
        if std::mem::replace(&mut self.said.clock_off, is_off) != is_off {
            self.log(if is_off { Event::ClockOff { by_ms } } else { Event::ClockRight });
        }
        if is_off {
            self.wait(now, rules.retry_ms.1);
        }
        !is_off
    }

    /// Varies the pause by up to a fifth, so that hosts that failed or started together spread out.
    fn wait(&mut self, now: &Now, ms: u64) {
        let fifth_ms = ms / 5;
        let spread_ms = now.random as u64 % (2 * fifth_ms + 1);
        self.wake_ms = now.mono_ms.saturating_add(ms - fifth_ms + spread_ms);
    }

    /// Renews at once if the write took so long that little of the lease is left.
    fn wait_for_renewal(&mut self, rules: &Rules, now: &Now) {
        let left_ms = self.held.as_ref().map_or(0, |held| held.limit_ms.saturating_sub(now.wall_ms));
        if self.said.clock_off || left_ms >= rules.ahead_ms.saturating_sub(rules.renew_ms) as i64 {
            self.wait(now, rules.renew_ms);
        } else {
            self.wake_ms = now.mono_ms;
        }
    }
}

impl Held {
    fn record(&self, rules: &Rules, limit_ms: i64, held: bool) -> NodeRecord {
        let Self { generation, token, .. } = *self;
        NodeRecord { generation, limit_ms, token, held, owner: rules.owner.clone() }
    }

    /// Whether the record is of the same lease. The owner's name does not matter: two hosts may have the same.
    fn is(&self, found: &NodeRecord) -> bool {
        (self.generation, self.token) == (found.generation, found.token)
    }
}
