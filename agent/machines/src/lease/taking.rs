//! From the record of the group to a node of this host's own.

use super::choose::{Choice, NoneFree, Survey};
use super::event::{Event, Failure};
use super::group::Group;
use super::machine::{Inputs, Lease, Numbers, Trouble};
use super::phase::{Candidate, Held, Phase, Stored};
use super::protocol::{Found, Write, Written};
use crate::store::{Expected, Numbered, Numbering, Put, StoreError, Version};
use std::collections::BTreeMap;

/// Without a record that changes when a node is given back, all nodes are listed that often at least.
const LONGEST_UNTOLD_MS: u64 = 60_000;

impl Lease {
    /// The record of the group was read.
    pub(super) fn met(&mut self, given: &Inputs, found: Option<Held>, record: Found) -> Phase {
        let Inputs { rules, page, .. } = given;
        let record = match record {
            Ok(Some(record)) => record,
            Ok(None) => return self.found(given, found, None),
            Err(error) => return self.fail(given, error, Phase::Meeting { found }),
        };
        let group = match Group::parse(&record.bytes) {
            Ok(group) if group.layout == rules.layout => group,
            Ok(group) => {
                let (name, wanted) = (rules.group.clone(), rules.layout.clone());
                return self.give_in(Failure::OtherLayout { group: name, found: group.layout, wanted });
            }
            Err(bad) => return self.give_in(Failure::Group(bad)),
        };
        let floor_ms = group.floor_ms;
        if floor_ms == Group::UNSET {
            return self.found(given, found, Some(record.version));
        }
        self.group = Some((group, record.version));
        if let Some(held) = found {
            if page.free_ms < floor_ms {
                self.close(given);
            }
            return Phase::Judging(held);
        }
        if self.is_too_early(given, floor_ms) {
            return Phase::Meeting { found: None };
        }
        self.tries = 0;
        Phase::Choosing
    }

    /// Makes the record of the group in two writes. The floor is computed after the first write is seen in the store: a
    /// late write may arrive in a store that was emptied in the meantime, and its floor would be too low.
    fn found(&mut self, given: &Inputs, found: Option<Held>, version: Option<Version>) -> Phase {
        let Inputs { rules, now, .. } = given;
        if !self.clock_is_right(given) {
            return Phase::Meeting { found };
        }
        // A store that had the group before is not new, whatever was claimed when this agent started. [`Self::take`] sees to
        // it that no lease is later than the floor.
        let floor_ms = match &version {
            None => Group::UNSET,
            Some(_) if rules.new && self.group.is_none() => 0,
            Some(_) => {
                // An answer that took long may hide that this host's clock is further behind than it may be.
                let store_ms = self.clocks.store_time(now).map_or(i64::MIN, |time| time.latest_ms);
                rules.floor_ms(now.wall_ms.max(store_ms.saturating_sub_unsigned(rules.max_skew_ms)))
            }
        };
        let group = Group { floor_ms, made_ms: now.wall_ms, id: now.random, layout: rules.layout.clone() };
        let expected = version.map_or(Expected::Absent, Expected::Version);
        Phase::Founding { group, expected, found }
    }

    /// The record of the group was written, or not.
    pub(super) fn founded(
        &mut self,
        given: &Inputs,
        group: Group,
        expected: Expected,
        found: Option<Held>,
        put: Written,
    ) -> Phase {
        let key = Group::key(&given.rules.group);
        match put {
            Ok(Put::Written(_)) => {
                if (1..Group::UNSET).contains(&group.floor_ms) {
                    self.complain(Trouble::Floor(group.floor_ms), Event::NewGroup(group.floor_ms));
                }
                // Unless it is there when it is read.
                self.beaten(given, key, Phase::Meeting { found })
            }
            Ok(Put::Conflict) => self.beaten(given, key, Phase::Meeting { found }),
            Ok(Put::Unknown(error)) => self.fail(given, error, Phase::Meeting { found }),
            Err(error) => self.fail(given, error, Phase::Founding { group, expected, found }),
        }
    }

    /// Asks for the records of all nodes, and says what it needs to know of them.
    pub(super) fn survey(&self, given: &Inputs) -> Box<Survey> {
        let Inputs { rules, now, .. } = given;
        let mut survey = Survey::new(rules, now.wall_ms);
        // A clock that agrees with the store's shows how long a node has been idle; otherwise that must be observed.
        let can_tell = self.clocks.store_time(now).is_some() && !rules.may_lose_writes;
        survey.has_namesake = self.has_namesake;
        survey.takes_at_once = can_tell || rules.observe_ms == 0;
        let is_long_ago = |since_ms: u64| now.mono_ms.saturating_sub(since_ms) >= rules.observe_ms;
        let unchanged = self.unchanged.iter().filter(|(_, (_, since_ms))| is_long_ago(*since_ms));
        survey.unchanged = unchanged.map(|(&node, &(state, _))| (node, state)).collect();
        let avoided = self.avoided.iter().filter(|(_, until_ms)| **until_ms > now.mono_ms);
        survey.avoided = avoided.map(|(&node, _)| node).collect();
        Box::new(survey)
    }

    /// All nodes were seen: chooses one.
    pub(super) fn listed(&mut self, given: &Inputs, survey: Result<Box<Survey>, StoreError>) -> Phase {
        let Inputs { rules, now, .. } = given;
        let mut survey = match survey {
            Ok(survey) => survey,
            Err(error) => return self.fail(given, error, Phase::Choosing),
        };
        if !self.clock_is_right(given) {
            return Phase::Meeting { found: None };
        }
        self.avoided.retain(|_, until_ms| *until_ms > now.mono_ms);
        self.observe(given, survey.idle());
        let is_known = matches!(self.numbers, Numbers::Given(node) if survey.knows(node));
        match survey.choose(rules) {
            Ok(choice) => self.take(given, choice),
            Err(none) => match self.numbers {
                // Otherwise each failure of the store would use up a number.
                Numbers::Given(node) if !is_known => self.take(given, Choice::new_node(node)),
                Numbers::Given(_) | Numbers::Ask if rules.numbering != Numbering::Own => Phase::Numbering { none },
                Numbers::Given(_) | Numbers::Ask | Numbers::UsedUp => self.none_is_free(given, none),
            },
        }
    }

    /// Another system has given the number of a new node.
    pub(super) fn numbered(&mut self, given: &Inputs, none: NoneFree, number: Result<Numbered, StoreError>) -> Phase {
        match number {
            Ok(Numbered::Node(node)) if node <= given.rules.last_node => {
                self.numbers = Numbers::Given(node);
                self.take(given, Choice::new_node(node))
            }
            Ok(Numbered::Node(_) | Numbered::UsedUp) => {
                self.numbers = Numbers::UsedUp;
                self.log(Event::UsedUp(given.rules.numbering));
                self.none_is_free(given, none)
            }
            Err(error) => self.fail(given, error, Phase::Numbering { none }),
        }
    }

    fn take(&mut self, given: &Inputs, choice: Choice) -> Phase {
        let Inputs { rules, now, page } = given;
        let start_ms = choice.start_ms.max(self.floor_ms()).max(page.free_ms);
        // The clock may have been set since it was looked at last. A limit that is further ahead than the store's clock
        // allows could be later than the floor of a store that is emptied next.
        if !self.clock_is_right(given) || self.is_too_early(given, start_ms) {
            return Phase::Meeting { found: None };
        }
        let held = Held {
            node: choice.node,
            generation: choice.generation + 1,
            token: now.random,
            // From the start, not from now: a host whose clock is behind that of the last holder would have no time at all.
            limit_ms: now.wall_ms.max(start_ms).saturating_add_unsigned(rules.ahead_ms),
            pending_ms: None,
            stored: Stored::Unknown,
        };
        self.tries += 1;
        Phase::Taking(Candidate { held, expected: choice.expected, start_ms })
    }

    /// Whether ids could not begin yet at this time. Then, waits before asking again.
    fn is_too_early(&mut self, given: &Inputs, start_ms: i64) -> bool {
        let Inputs { rules, now, .. } = given;
        let is_too_early = start_ms > now.wall_ms.saturating_add_unsigned(rules.max_drift_ms);
        if is_too_early {
            let is_floor = start_ms == self.floor_ms();
            let event = if is_floor { Event::Floor(start_ms) } else { Event::Ahead(start_ms) };
            self.store_is_back();
            self.complain(Trouble::Floor(start_ms), event);
            self.wait(given, rules.retry_ms.1);
        }
        is_too_early
    }

    fn none_is_free(&mut self, given: &Inputs, none: NoneFree) -> Phase {
        let Inputs { rules, now, .. } = given;
        // The first lease that can end; nodes that are given back are told. Agents before 2.1 do not tell.
        let first_ms = none.next.first().map_or(i64::MAX, |&(_, free_ms)| free_ms);
        let longest_ms = if matches!(self.freed, Some(Some(_))) { rules.idle_ms } else { LONGEST_UNTOLD_MS };
        let wait_ms = u64::try_from(first_ms.saturating_sub(now.wall_ms)).unwrap_or(0).min(longest_ms);
        self.store_is_back();
        self.complain(Trouble::NoneFree, Event::NoneFree(none));
        // The record is not known yet, and may have changed since the list.
        if self.freed.is_some() {
            self.wait(given, rules.retry_ms.1);
        }
        Phase::Waiting { until_ms: now.mono_ms.saturating_add(wait_ms) }
    }

    /// The record was read that changes when a node is given back.
    pub(super) fn waited(&mut self, given: &Inputs, until_ms: u64, record: Found) -> Phase {
        let version = match record {
            Ok(record) => record.map(|record| record.version),
            Err(error) => return self.fail(given, error, Phase::Waiting { until_ms }),
        };
        self.store_is_back();
        let is_same = self.freed.as_ref() == Some(&version);
        self.freed = Some(version);
        if !is_same || given.now.mono_ms >= until_ms {
            return Phase::Meeting { found: None };
        }
        self.wait(given, given.rules.retry_ms.1);
        Phase::Waiting { until_ms }
    }

    /// Notes since when the records of seemingly idle nodes have not changed.
    fn observe(&mut self, given: &Inputs, idle: BTreeMap<u64, u64>) {
        let before = std::mem::take(&mut self.unchanged);
        let since_ms = |node: u64, state: u64| match before.get(&node) {
            Some(&(old, since_ms)) if old == state => since_ms,
            _ => given.now.mono_ms,
        };
        self.unchanged = idle.into_iter().map(|(node, state)| (node, (state, since_ms(node, state)))).collect();
    }

    /// The record of the node was written, or not.
    pub(super) fn taken(&mut self, given: &Inputs, candidate: Candidate, put: Written) -> Phase {
        match put {
            Ok(Put::Written(version)) => Phase::Confirming(candidate.written(version)),
            Ok(Put::Conflict) => {
                self.beaten(given, Group::node_key(&given.rules.group, candidate.held.node), Phase::Choosing)
            }
            Ok(Put::Unknown(error)) => self.fail(given, error, Phase::Settling(candidate)),
            Err(error) => self.fail(given, error, Phase::Choosing),
        }
    }

    /// The record of the node was read, to see whether it was written.
    pub(super) fn settled(&mut self, given: &Inputs, candidate: Candidate, record: Found) -> Phase {
        let wanted = candidate.held.record(given.rules, candidate.held.limit_ms, true).to_string();
        match record {
            Ok(Some(record)) if record.bytes == wanted.as_bytes() => {
                Phase::Confirming(candidate.written(record.version))
            }
            // The write may still arrive. Then the node is unused until it is idle.
            Ok(_) => self.beaten(given, Group::node_key(&given.rules.group, candidate.held.node), Phase::Choosing),
            Err(error) => self.fail(given, error, Phase::Settling(candidate)),
        }
    }

    /// The record of the group was read again: if the store was emptied in the meantime, the list was of no use.
    pub(super) fn confirmed(&mut self, given: &Inputs, candidate: Candidate, record: Found) -> Phase {
        let group = self.group.as_ref().map(|(_, version)| version);
        match record {
            Ok(record) if record.as_ref().map(|record| &record.version) == group => self.publish(given, candidate),
            Ok(_) => self.beaten(given, Group::key(&given.rules.group), Phase::Meeting { found: None }),
            Err(error) => self.fail(given, error, Phase::Confirming(candidate)),
        }
    }

    fn publish(&mut self, given: &Inputs, Candidate { held, start_ms, .. }: Candidate) -> Phase {
        let Held { node, generation, token, limit_ms, .. } = held;
        // If the agent is killed between any two of these, the page gives no ids, or has a lease that can be continued.
        self.write(Write::Note { limit_ms });
        self.write(Write::Open { node, start_ms });
        self.write(Write::Generation { generation, token });
        self.write(Write::Limit { node, limit_ms });
        self.log(Event::Taken { node, generation, tries: self.tries });
        self.serves();
        self.unchanged.clear();
        self.is_over(|trouble| *trouble == Trouble::NoneFree);
        self.store_is_back();
        self.wait_for_renewal(given, limit_ms);
        Phase::Holding(held)
    }

    /// No lease starts before this.
    pub(super) fn floor_ms(&self) -> i64 {
        self.group.as_ref().map_or(i64::MIN, |(group, _)| group.floor_ms)
    }
}

impl Candidate {
    fn written(mut self, version: Version) -> Self {
        self.held.stored = Stored::Confirmed(version);
        self
    }
}
