//! Chooses a node to take.

use super::group::Group;
use super::record::NodeRecord;
use super::rules::Rules;
use crate::store::{Expected, Numbering, Record, Version};
use std::collections::{BTreeMap, BTreeSet};

/// How many random numbers are tried before all numbers are searched in order.
const DRAWS: u64 = 4096;
/// How many of the nodes that become free next are named.
const SHOWN: usize = 3;
/// A group with this many records gets no new one while another can be used: hosts whose names never come back would
/// leave one each.
const MANY: usize = 256;

/// A node that may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The node.
    pub node: u64,
    /// The state that its record must still have.
    pub expected: Expected,
    /// How often it has been taken before.
    pub generation: u64,
    /// The time at which a new holder starts, as far as its record shows.
    pub start_ms: i64,
}

impl Choice {
    /// A node that nobody has had.
    pub(super) fn new_node(node: u64) -> Self {
        Self { node, expected: Expected::Absent, generation: 0, start_ms: i64::MIN }
    }
}

/// No node can be taken now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoneFree {
    /// How many nodes the layout has.
    pub nodes: u64,
    /// How many of them have a lease that has not ended; the others must wait until they are idle.
    pub live: u64,
    /// How many have a record that this version cannot read.
    pub unreadable: u64,
    /// The nodes that become free next, and when.
    pub next: Vec<(u64, i64)>,
}

/// A record that may be replaced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    node: u64,
    generation: u64,
    limit_ms: i64,
    version: Version,
}

/// The records of a group, looked at one by one: the largest group has 65,536, and few of them need to be remembered.
///
/// All is judged by the time at which the records were asked for. They were read later, so a node that was idle then
/// has been so for longer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Survey {
    rules: Rules,
    wall_ms: i64,
    /// Nodes that are left alone.
    pub(super) avoided: BTreeSet<u64>,
    /// Whether another host has this host's name, so that a node with that name is taken as any other.
    pub(super) has_namesake: bool,
    /// Whether a node may be taken from its holder when it is seen idle for the first time.
    pub(super) takes_at_once: bool,
    /// Otherwise, what the records of such nodes must still be.
    pub(super) unchanged: BTreeMap<u64, u64>,
    /// All nodes with a record.
    known: BTreeSet<u64>,
    /// The node that has this host's name; if there are several, the one that was given back, or ended first.
    own: Option<(bool, Seen)>,
    /// Nodes that were given back. Where there are [`MANY`] records, one of them.
    released: BTreeMap<u64, Seen>,
    /// A node whose holder is gone.
    abandoned: Option<Seen>,
    /// The nodes that seem idle, and what tells one state of their records from others.
    idle: BTreeMap<u64, u64>,
    live: u64,
    unreadable: u64,
    next: Vec<(u64, i64)>,
}

impl Survey {
    /// A survey, begun now, of the nodes of a group.
    pub fn new(rules: &Rules, wall_ms: i64) -> Self {
        Self {
            rules: rules.clone(),
            wall_ms,
            avoided: BTreeSet::new(),
            has_namesake: false,
            takes_at_once: false,
            unchanged: BTreeMap::new(),
            known: BTreeSet::new(),
            own: None,
            released: BTreeMap::new(),
            abandoned: None,
            idle: BTreeMap::new(),
            live: 0,
            unreadable: 0,
            next: Vec::new(),
        }
    }

    /// What the keys of the nodes begin with.
    pub fn prefix(&self) -> String {
        Group::nodes(&self.rules.group)
    }

    /// How many nodes have a record.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Whether a node has a record.
    pub(super) fn knows(&self, node: u64) -> bool {
        self.known.contains(&node)
    }

    /// The nodes that seem idle, and what tells one state of their records from others.
    pub(super) fn idle(&mut self) -> BTreeMap<u64, u64> {
        std::mem::take(&mut self.idle)
    }

    /// Looks at a record. The order does not matter, and some may come twice.
    pub fn see(&mut self, key: &str, record: Record) {
        let number = key.strip_prefix(&self.rules.group).and_then(|key| key.strip_prefix("/node/"));
        let node = number.and_then(|number| number.parse().ok()).filter(|&node| node <= self.rules.last_node);
        let Some(node) = node.filter(|&node| self.known.insert(node)) else { return };
        // A record without a next generation is as useless as one that cannot be read.
        let parsed = NodeRecord::parse(&record.bytes).ok().filter(|record| record.generation < u64::MAX);
        let Some(NodeRecord { generation, limit_ms, held, owner, .. }) = parsed else {
            self.unreadable += 1;
            return;
        };
        self.live += u64::from(held && limit_ms > self.wall_ms);
        let is_idle = held && limit_ms.saturating_add_unsigned(self.rules.idle_ms) <= self.wall_ms;
        let state = hash(&record.version.0, 0);
        if is_idle {
            self.idle.insert(node, state);
        }
        if self.avoided.contains(&node) {
            return;
        }
        let start_ms = limit_ms.saturating_add_unsigned(self.rules.margin_ms);
        self.next.push((node, start_ms.saturating_add_unsigned(if held { self.rules.idle_ms } else { 0 })));
        self.next.sort_unstable_by_key(|&(node, free_ms)| (free_ms, node));
        self.next.truncate(SHOWN);
        if start_ms > self.wall_ms.saturating_add_unsigned(self.rules.max_drift_ms) {
            return;
        }
        let seen = Seen { node, generation, limit_ms, version: record.version };
        let order = |node: u64| hash(self.rules.owner.as_bytes(), node);
        // One that is still held until later may be renewed by another host of this name.
        if owner == self.rules.owner && (!held || limit_ms <= self.wall_ms && !self.has_namesake) {
            let comes_first =
                |(other_held, other): &(bool, Seen)| (held, limit_ms, node) < (*other_held, other.limit_ms, other.node);
            if self.own.as_ref().is_none_or(comes_first) {
                self.own = Some((held, seen.clone()));
            }
        }
        if !held {
            self.released.insert(node, seen);
        } else if is_idle
            && (self.takes_at_once || self.unchanged.get(&node) == Some(&state))
            && self.abandoned.as_ref().is_none_or(|other| order(node) < order(other.node))
        {
            self.abandoned = Some(seen);
        }
        if self.known.len() >= MANY && self.released.len() > 1 {
            let first = self.released.keys().copied().min_by_key(|&node| order(node));
            self.released.retain(|&node, _| Some(node) == first);
        }
    }

    /// Chooses: first a node that has this host's name; then a free one, in a different order for each name, so that
    /// the hosts of a fleet that start together do not compete for the first; and last a node whose holder is gone.
    pub fn choose(mut self, rules: &Rules) -> Result<Choice, NoneFree> {
        let take = |Seen { node, generation, limit_ms, version }| Choice {
            node,
            expected: Expected::Version(version),
            generation,
            start_ms: limit_ms.saturating_add_unsigned(rules.margin_ms),
        };
        if let Some((_, own)) = self.own {
            return Ok(take(own));
        }
        if self.known.len() >= MANY {
            if let Some(other) = self.released.into_values().next().or(self.abandoned.take()) {
                return Ok(take(other));
            }
            self.released = BTreeMap::new();
        }

        let is_new = |node: u64| rules.numbering == Numbering::Own && !self.known.contains(&node);
        let is_free = |&node: &u64| !self.avoided.contains(&node) && is_new(node) || self.released.contains_key(&node);
        let draw = |turn: u64| below(hash(rules.owner.as_bytes(), turn), rules.last_node);
        let first = draw(0);
        let all = (first..=rules.last_node).chain(0..first);
        if let Some(node) = (0..DRAWS).map(draw).chain(all).find(is_free) {
            return Ok(self.released.remove(&node).map_or(Choice::new_node(node), take));
        }
        self.abandoned.map(take).ok_or(NoneFree {
            nodes: rules.last_node.saturating_add(1),
            live: self.live,
            unreadable: self.unreadable,
            next: self.next,
        })
    }
}

/// FNV-1a of a text and a number, mixed further, because FNV gives short texts similar upper bits.
fn hash(text: &[u8], number: u64) -> u64 {
    let bytes = text.iter().copied().chain(number.to_le_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

/// A number from 0 to `last`, as evenly distributed as `random`.
fn below(random: u64, last: u64) -> u64 {
    ((u128::from(random) * (u128::from(last) + 1)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    fn rules(owner: &str) -> Rules {
        Rules::new("orders", owner, &"sonyflake".parse().unwrap(), false)
    }

    fn record(generation: u64, limit_ms: i64, held: bool, owner: &str) -> Record {
        let record = NodeRecord { generation, limit_ms, token: 1, held, owner: owner.to_owned() };
        Record::compared_by_bytes(record.to_string().into_bytes())
    }

    fn survey<'a>(rules: &Rules, records: impl IntoIterator<Item = (&'a u64, &'a Record)>) -> Survey {
        let mut survey = Survey::new(rules, NOW_MS);
        survey.takes_at_once = true;
        records.into_iter().for_each(|(&node, record)| survey.see(&Group::node_key("orders", node), record.clone()));
        survey
    }

    /// As pods do that are replaced: each has a new name. Ten run at a time.
    #[test]
    fn hosts_with_new_names_leave_no_record_each() {
        for ends_cleanly in [true, false] {
            let mut records: BTreeMap<u64, Record> = BTreeMap::new();
            let mut running = std::collections::VecDeque::new();
            for host in 0..1000 {
                let rules = rules(&format!("orders-{host}"));
                let Choice { node, generation, .. } = survey(&rules, &records).choose(&rules).unwrap();
                records.insert(node, record(generation + 1, NOW_MS + 60_000, true, &rules.owner));
                running.push_back((node, generation + 1, rules.owner));
                if running.len() == 10 {
                    let (node, generation, owner) = running.pop_front().unwrap();
                    // Given back, or idle since long ago.
                    records.insert(node, record(generation, NOW_MS - 3_600_000, !ends_cleanly, &owner));
                }
            }
            assert_eq!(records.len(), MANY, "{ends_cleanly}");
        }
    }

    #[test]
    fn only_held_nodes_with_time_left_are_live() {
        let nodes = [(1, true), (0, true), (-1, true), (1, false)];
        let records = nodes.map(|(after_ms, held)| record(1, NOW_MS + after_ms, held, "a"));
        let records: BTreeMap<u64, Record> = (0..).zip(records).collect();
        assert_eq!(survey(&rules("here"), &records).live, 1);
    }

    #[test]
    fn the_order_of_records_does_not_matter_and_one_may_come_twice() {
        for count in [7, MANY as u64 - 1, MANY as u64, 3000] {
            let kinds = [(-3_600_000, true), (-3_600_000, false), (60_000, true), (-1000, false), (-1000, true)];
            let of = |node: u64| {
                let (after_ms, held) = kinds[(node % 5) as usize];
                record(node % 3, NOW_MS + after_ms + node as i64, held, ["a", "here", "b"][(node % 7 % 3) as usize])
            };
            let records: BTreeMap<u64, Record> = (0..count).map(|node| (node * 3, of(node))).collect();
            for owner in ["here", "there"] {
                let rules = rules(owner);
                let forwards = survey(&rules, &records);
                let backwards = survey(&rules, records.iter().rev().chain(records.iter().take(3)));
                assert_eq!(forwards, backwards, "{count} {owner}");
                assert_eq!(forwards.count() as u64, count);
                assert!(forwards.released.len() <= MANY);
            }
        }
    }

    /// The records of nodes: how long after now their limits are, whether they are held, and by whom.
    fn records<const N: usize>(of: [(u64, i64, bool, &str); N]) -> BTreeMap<u64, Record> {
        of.map(|(node, after_ms, held, owner)| (node, record(1, NOW_MS + after_ms, held, owner))).into()
    }

    #[test]
    fn of_its_own_nodes_a_host_takes_one_that_was_given_back_and_of_these_the_first_to_end() {
        let rules = rules("here");
        let mut records = records([(1, -900, true, "here"), (3, 0, false, "here"), (7, -500, false, "here")]);
        records.insert(9, record(1, NOW_MS - 500, false, "here"));
        for seen in [records.iter().collect::<Vec<_>>(), records.iter().rev().collect()] {
            assert_eq!(survey(&rules, seen).choose(&rules).unwrap().node, 7);
        }
    }

    #[test]
    fn all_that_was_given_back_is_remembered_in_a_small_group_and_one_in_a_large_one() {
        let rules = rules("here");
        let first = |nodes: &[u64]| *nodes.iter().min_by_key(|&&node| hash(b"here", node)).unwrap();
        for count in [255, 256] {
            let records = (0..count).map(|node| (node, record(1, NOW_MS, false, "a"))).collect::<BTreeMap<_, _>>();
            let released: Vec<_> = survey(&rules, &records).released.into_keys().collect();
            let all: Vec<_> = records.into_keys().collect();
            assert_eq!(released, if count == 256 { vec![first(&all)] } else { all });
        }
        let gone = [8, 9, 10, 11].map(|node| (node, -3_600_000, true, "a"));
        assert_eq!(survey(&rules, &records(gone)).abandoned.unwrap().node, first(&[8, 9, 10, 11]));
    }

    #[test]
    fn only_nodes_whose_holders_are_gone_are_observed() {
        let idle_ms = rules("here").idle_ms as i64;
        let records = records([(1, -idle_ms, true, "a"), (2, 1 - idle_ms, true, "a"), (3, -idle_ms, false, "a")]);
        assert_eq!(survey(&rules("here"), &records).idle().into_keys().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_node_may_start_as_far_ahead_as_ids_may_run() {
        let rules = rules("here");
        let drift_ms = rules.max_drift_ms as i64;
        for (after_ms, is_taken) in [(drift_ms, true), (drift_ms + 1, false)] {
            let choice = survey(&rules, &records([(1, after_ms, false, "here")])).choose(&rules).unwrap();
            assert_eq!(choice.node == 1, is_taken, "{after_ms}");
        }
    }

    #[test]
    fn a_node_that_was_lost_is_not_taken_as_a_new_one() {
        let rules = rules("here");
        let first = survey(&rules, []).choose(&rules).unwrap().node;
        let mut without = survey(&rules, []);
        without.avoided.insert(first);
        assert_ne!(without.choose(&rules).unwrap().node, first);
    }
}
