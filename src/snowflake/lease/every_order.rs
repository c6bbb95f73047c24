//! Every order in which workers can take positions while an agent changes the lease, tried one by one.

use super::words::{Shape, Words};
use crate::snowflake::step::next_position;
use crate::snowflake::{Layout, Order};
use std::sync::Arc;

type LoomWord = loom::sync::atomic::AtomicU64;

/// One position a millisecond.
fn layout() -> Layout {
    Layout::new([10, 2, 0], 1, 0, Order::NodeThenSequence).unwrap()
}

struct Page {
    word: LoomWord,
    limit: LoomWord,
}

impl Page {
    fn words(&self) -> Words<'_, LoomWord> {
        Words { word: &self.word, limit: &self.limit, shape: Shape::new(&layout()) }
    }
}

/// A lease: the node, the first time, and the limit.
type Lease = (u64, u64, u64);

/// What workers take whose clocks say `clocks`, while the agent goes from one lease to the next.
fn try_all_orders_of_events(leases: &'static [Lease], clocks: &'static [i64]) {
    let mut model = loom::model::Builder::new();
    // One worker is stopped as often as can be; of two, each order with two such stops is enough to wait for.
    model.preemption_bound = (clocks.len() > 1).then_some(2);
    model.check(move || {
        let page = Arc::new(Page { word: LoomWord::new(Shape::new(&layout()).nothing()), limit: LoomWord::new(0) });
        let (node, start, limit) = leases[0];
        page.words().open(node, start);
        page.words().set_limit(node, limit);
        let start_worker = |&clock_ms: &i64| {
            let page = page.clone();
            loom::thread::spawn(move || {
                let (layout, words) = (layout(), page.words());
                words.claim(|free| next_position(&layout, 20, free, clock_ms, || 0)).ok()
            })
        };
        let workers: Vec<_> = clocks.iter().map(start_worker).collect();
        let mut granted = vec![(node, start, limit)];
        for &(node, start, limit) in &leases[1..] {
            // Whoever has the node next, this host or another, may start where it was closed.
            let past = page.words().close();
            let last = granted.last_mut().unwrap();
            last.2 = last.2.min(past);
            let start = start.max(past);
            page.words().open(node, start);
            page.words().set_limit(node, limit);
            granted.push((node, start, limit));
        }
        let mut taken: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect();
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|a, b| a < b), "twice: {taken:?}");
        for &(node, time) in &taken {
            let within = |&(of, start, limit): &Lease| of == node && (start..limit).contains(&time);
            assert!(granted.iter().any(within), "outside of what was granted: {node} {time} {granted:?}");
        }
    });
}

fn try_all_clocks(leases: &'static [Lease]) {
    const READINGS: [&[i64]; 10] =
        [&[100], &[109], &[113], &[135], &[100, 100], &[100, 113], &[100, 135], &[109, 135], &[113, 113], &[135, 135]];
    for clocks in READINGS {
        try_all_orders_of_events(leases, clocks);
    }
}

#[test]
fn an_extension_gives_nothing_twice() {
    try_all_clocks(&[(1, 100, 110)]);
}

#[test]
fn another_node_gives_nothing_outside_its_lease() {
    try_all_clocks(&[(1, 100, 110), (2, 112, 140)]);
}

#[test]
fn a_node_that_comes_back_starts_past_what_others_had() {
    // Meanwhile another host had it until 130.
    try_all_clocks(&[(1, 100, 110), (1, 130, 140)]);
}

#[test]
fn a_later_lease_may_end_before_an_earlier_one() {
    // It was given back at 101, and the clock was set back since.
    try_all_clocks(&[(1, 100, 140), (1, 110, 114)]);
}
