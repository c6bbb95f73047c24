//! Tries every order in which workers can take positions while an agent changes the lease.

use crate::shared::tests::every_order::{LoomWord, explore};
use crate::shared::word::Word;
use crate::snowflake::lease::term::{NoClaim, Shape, Term};
use crate::snowflake::refusal::Refusal;
use crate::snowflake::step::next_position;
use crate::snowflake::{Layout, Order};
use loom::model::Builder;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One position a millisecond.
fn layout() -> Layout {
    Layout::new([10, 2, 0], 1, 0, Order::NodeThenSequence).unwrap()
}

/// A mistake in the term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// A worker's load of the word does not order later loads.
    LoadsRelaxed,
    /// The agent's store of the word does not publish earlier stores.
    StoresRelaxed,
    /// A worker reads the limit first.
    LimitFirst,
    /// The agent does not clear the limit when it closes the word.
    LimitStays,
}

struct Page {
    word: BreakableWord,
    limit: BreakableWord,
    broken: Broken,
}

struct BreakableWord {
    word: LoomWord,
    broken: Broken,
}

impl Word for BreakableWord {
    fn get(&self) -> u64 {
        self.word.get()
    }

    fn put(&self, old: u64, new: u64) -> Result<(), u64> {
        self.word.put(old, new)
    }

    fn get_acquire(&self) -> u64 {
        if self.broken == Broken::LoadsRelaxed { self.word.get() } else { self.word.get_acquire() }
    }

    fn set_release(&self, new: u64) {
        match self.broken {
            Broken::StoresRelaxed => self.word.store(new, Ordering::Relaxed),
            // This removes the limit.
            Broken::LimitStays if new == 0 => {}
            _ => self.word.set_release(new),
        }
    }

    fn raise(&self, bits: u64) -> u64 {
        self.word.raise(bits)
    }

    fn replace(&self, old: u64, new: u64) -> bool {
        self.word.replace(old, new)
    }
}

impl Page {
    fn new(broken: Broken) -> Self {
        let word = |value| BreakableWord { word: LoomWord::new(value), broken };
        Self { word: word(Shape::new(&layout()).nothing()), limit: word(0), broken }
    }

    fn term(&self) -> Term<'_, BreakableWord> {
        Term { word: &self.word, limit: &self.limit, shape: Shape::new(&layout()) }
    }

    fn claim(&self, clock_ms: i64) -> Result<(u64, u64), NoClaim<Refusal>> {
        let (layout, term) = (layout(), self.term());
        let next = |free| next_position(&layout, 20, free, clock_ms, || 0);
        if self.broken != Broken::LimitFirst {
            return term.claim(next);
        }
        // A word that has only ever this limit.
        let limit = LoomWord::new(self.limit.get_acquire());
        Term { word: &self.word.word, limit: &limit, shape: term.shape }.claim(next)
    }
}

/// A lease: the node, the first time, and the limit.
type Lease = (u64, u64, u64);

/// Runs workers whose clocks read `clocks` while the agent goes from one lease to the next.
fn try_all_orders_of_events(broken: Broken, leases: &'static [Lease], clocks: &'static [i64]) {
    let mut model = Builder::new();
    // One worker is preempted as often as possible. With two workers, two preemptions keep the test fast enough.
    model.preemption_bound = (clocks.len() > 1).then_some(2);
    explore(model, move || {
        let page = Arc::new(Page::new(broken));
        let (node, start, limit) = leases[0];
        page.term().open(node, start);
        page.term().set_limit(node, limit);
        let start_worker = |&clock_ms: &i64| {
            let page = page.clone();
            loom::thread::spawn(move || page.claim(clock_ms).ok())
        };
        let workers: Vec<_> = clocks.iter().map(start_worker).collect();
        let mut granted = vec![(node, start, limit)];
        for &(node, start, limit) in &leases[1..] {
            // The next holder of the node, this host or another, may start where it was closed.
            let past = page.term().close();
            let last = granted.last_mut().unwrap();
            last.2 = last.2.min(past);
            let start = start.max(past);
            page.term().open(node, start);
            page.term().set_limit(node, limit);
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

fn try_all_clocks(broken: Broken, leases: &'static [Lease]) {
    const READINGS: [&[i64]; 10] =
        [&[100], &[109], &[113], &[135], &[100, 100], &[100, 113], &[100, 135], &[109, 135], &[113, 113], &[135, 135]];
    for clocks in READINGS {
        try_all_orders_of_events(broken, leases, clocks);
    }
}

#[test]
fn a_renewal_gives_nothing_twice() {
    try_all_clocks(Broken::Nothing, &[(1, 100, 110)]);
}

#[test]
fn another_node_gives_nothing_outside_its_lease() {
    try_all_clocks(Broken::Nothing, &[(1, 100, 110), (2, 112, 140)]);
}

#[test]
fn a_node_that_comes_back_starts_past_what_others_had() {
    // Another host held it until 130 in between.
    try_all_clocks(Broken::Nothing, &[(1, 100, 110), (1, 130, 140)]);
}

#[test]
fn a_later_lease_may_end_before_an_earlier_one() {
    try_all_clocks(Broken::Nothing, &ENDS_EARLIER);
}

/// It was given back at 101, and the clock has been stepped back since.
const ENDS_EARLIER: [Lease; 2] = [(1, 100, 140), (1, 110, 114)];

#[test]
#[should_panic(expected = "outside of what was granted")]
fn a_relaxed_load_of_the_word_is_found() {
    try_all_clocks(Broken::LoadsRelaxed, &ENDS_EARLIER);
}

#[test]
#[should_panic(expected = "outside of what was granted")]
fn a_relaxed_store_of_the_word_is_found() {
    try_all_clocks(Broken::StoresRelaxed, &ENDS_EARLIER);
}

#[test]
#[should_panic(expected = "outside of what was granted")]
fn a_limit_that_is_read_before_the_word_is_found() {
    try_all_clocks(Broken::LimitFirst, &ENDS_EARLIER);
}

#[test]
#[should_panic(expected = "outside of what was granted")]
fn a_limit_that_stays_when_the_word_is_closed_is_found() {
    try_all_clocks(Broken::LimitStays, &ENDS_EARLIER);
}
