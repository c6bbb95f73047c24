//! Tries every order in which workers can take positions while an agent changes the lease.

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

/// Runs workers whose clocks read `clocks` while the agent goes from one lease to the next.
fn try_all_orders_of_events(leases: &'static [Lease], clocks: &'static [i64]) {
    let mut model = loom::model::Builder::new();
    // One worker is preempted as often as possible. With two workers, two preemptions keep the test fast enough.
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
            // The next holder of the node, this host or another, may start where it was closed.
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
    // Another host held it until 130 in between.
    try_all_clocks(&[(1, 100, 110), (1, 130, 140)]);
}

#[test]
fn a_later_lease_may_end_before_an_earlier_one() {
    // It was given back at 101, and the clock has been stepped back since.
    try_all_clocks(&[(1, 100, 140), (1, 110, 114)]);
}
