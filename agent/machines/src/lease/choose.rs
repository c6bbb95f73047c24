//! Chooses a node to take.

use super::record::NodeRecord;
use super::rules::Rules;
use crate::store::{Expected, Numbering, Record};
use std::collections::BTreeMap;

/// How many random numbers are tried before all numbers are searched in order.
const DRAWS: u64 = 4096;
/// How many of the nodes that become free next are named.
const SHOWN: usize = 3;

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

/// Chooses among the records of a group: first a node that has this host's name; then a free one, in a different order
/// for each name, so that the hosts of a fleet that start together do not compete for the first; and last a node whose
/// holder is gone. Nodes that `is_avoided` are skipped, and so are nodes that are held, unless `is_abandoned`.
pub fn choose(
    rules: &Rules,
    wall_ms: i64,
    records: &BTreeMap<u64, Record>,
    is_avoided: impl Fn(u64) -> bool,
    is_abandoned: impl Fn(u64, &Record) -> bool,
) -> Result<Choice, NoneFree> {
    let latest_start_ms = wall_ms.saturating_add_unsigned(rules.max_drift_ms);
    // A record without a next generation is as useless as one that cannot be read.
    let usable = |record: &NodeRecord| record.generation < u64::MAX;
    let parsed: BTreeMap<u64, Option<NodeRecord>> =
        records.iter().map(|(&node, record)| (node, NodeRecord::parse(&record.bytes).ok().filter(usable))).collect();
    let start_ms = |record: &NodeRecord| record.limit_ms.saturating_add_unsigned(rules.margin_ms);
    let take = |node: u64, record: &NodeRecord| Choice {
        node,
        expected: Expected::Version(records[&node].version.clone()),
        generation: record.generation,
        start_ms: start_ms(record),
    };
    let known = || parsed.iter().filter_map(|(&node, record)| record.as_ref().map(|record| (node, record)));
    let startable = || known().filter(|&(node, it)| start_ms(it) <= latest_start_ms && !is_avoided(node));

    if let Some((node, record)) =
        startable().filter(|(_, it)| it.owner == rules.owner).min_by_key(|(_, it)| (it.held, it.limit_ms))
    {
        return Ok(take(node, record));
    }

    let free = |node: u64| match parsed.get(&node) {
        _ if is_avoided(node) => None,
        None if rules.numbering != Numbering::Own => None,
        None => Some(Choice::new_node(node)),
        Some(Some(record)) if !record.held && start_ms(record) <= latest_start_ms => Some(take(node, record)),
        Some(_) => None,
    };
    let draw = |turn: u64| below(hash(&rules.owner, turn), rules.last_node);
    if let Some(choice) = (0..DRAWS).find_map(|turn| free(draw(turn))) {
        return Ok(choice);
    }
    let first = draw(0);
    if let Some(choice) = (first..=rules.last_node).chain(0..first).find_map(free) {
        return Ok(choice);
    }

    let order = |node: u64| hash(&rules.owner, node);
    startable()
        .filter(|&(node, _)| is_abandoned(node, &records[&node]))
        .min_by_key(|&(node, _)| order(node))
        .map(|(node, record)| take(node, record))
        .ok_or_else(|| {
            let free_ms = |record: &NodeRecord| {
                start_ms(record).saturating_add_unsigned(if record.held { rules.idle_ms } else { 0 })
            };
            let others = || known().filter(|&(node, _)| !is_avoided(node));
            let mut next: Vec<_> = others().map(|(node, record)| (node, free_ms(record))).collect();
            next.sort_unstable_by_key(|&(node, free_ms)| (free_ms, node));
            next.truncate(SHOWN);
            NoneFree {
                nodes: rules.last_node.saturating_add(1),
                live: known().filter(|(_, record)| record.held && record.limit_ms > wall_ms).count() as u64,
                unreadable: parsed.values().filter(|record| record.is_none()).count() as u64,
                next,
            }
        })
}

/// FNV-1a of a name and a number, mixed further, because FNV gives short texts similar upper bits.
fn hash(name: &str, number: u64) -> u64 {
    let bytes = name.bytes().chain(number.to_le_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

/// A number from 0 to `last`, as evenly distributed as `random`.
fn below(random: u64, last: u64) -> u64 {
    ((u128::from(random) * (u128::from(last) + 1)) >> 64) as u64
}
