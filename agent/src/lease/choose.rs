//! Which node to take.

use super::record::NodeRecord;
use super::rules::Rules;
use crate::store::{Expected, Numbering, Record};
use std::collections::BTreeMap;

/// How many numbers are drawn before all are gone through.
const DRAWS: u64 = 4096;

/// A node that may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The node.
    pub node: u64,
    /// What its record must still be.
    pub expected: Expected,
    /// How often it has been taken before.
    pub generation: u64,
    /// The time at which a new holder starts, as far as the record knows.
    pub start_ms: i64,
}

/// There is no node to take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoneFree {
    /// How many nodes the layout has.
    pub nodes: u64,
    /// The node that is free next, and when.
    pub next: Option<(u64, i64)>,
}

/// Chooses among the records of a group: first one of this host's own name; then a number that is free, in an order of its
/// own for each name, so that a fleet that starts at once does not race for the first; at last one whose holder has not been
/// heard of for long. Nodes that `is_avoided` are passed over, and those that somebody holds unless `is_abandoned`.
pub fn choose(
    rules: &Rules,
    wall_ms: i64,
    records: &BTreeMap<u64, Record>,
    is_avoided: impl Fn(u64) -> bool,
    is_abandoned: impl Fn(u64, &Record) -> bool,
) -> Result<Choice, NoneFree> {
    let latest_start_ms = wall_ms.saturating_add_unsigned(rules.max_drift_ms);
    let parsed: BTreeMap<u64, Option<NodeRecord>> =
        records.iter().map(|(&node, record)| (node, NodeRecord::parse(&record.bytes).ok())).collect();
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
        None => Some(Choice { node, expected: Expected::Absent, generation: 0, start_ms: i64::MIN }),
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
        .map_or_else(
            || {
                let next = known().filter(|&(node, _)| !is_avoided(node)).map(|(node, record)| {
                    let (held, idle_ms) = (start_ms(record), if record.held { rules.idle_ms } else { 0 });
                    (node, held.saturating_add_unsigned(idle_ms))
                });
                Err(NoneFree {
                    nodes: rules.last_node.saturating_add(1),
                    next: next.min_by_key(|&(_, free_ms)| free_ms),
                })
            },
            |(node, record)| Ok(take(node, record)),
        )
}

/// FNV-1a of a name and a number, stirred, because FNV leaves the upper bits of short texts alike.
fn hash(name: &str, number: u64) -> u64 {
    let bytes = name.bytes().chain(number.to_le_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

/// A number from 0 to `last`, as evenly spread as `random` is.
fn below(random: u64, last: u64) -> u64 {
    ((u128::from(random) * (u128::from(last) + 1)) >> 64) as u64
}
