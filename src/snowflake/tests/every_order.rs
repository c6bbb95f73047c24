//! Tries every order in which threads can take positions from one word.

use crate::shared::tests::every_order::{LoomWord, explore};
use crate::shared::word::{Seal, Word, claim};
use crate::snowflake::step::next_position;
use crate::snowflake::{Layout, Order};
use loom::model::Builder;
use std::sync::Arc;

const START: u64 = 101 << 1;

/// Every order in which threads can read and swap the word, each thread with the clock readings of one of `clocks`.
fn try_all_orders_of_events(clocks: Vec<Vec<i64>>) {
    const DRIFT: u64 = 4;
    explore(Builder::new(), move || {
        // A unit of two positions, so that sequences fill up and borrow.
        let layout = Layout::new([10, 0, 1], 1, 0, Order::NodeThenSequence).unwrap();
        let seal = Seal::new(11);
        let word = Arc::new(LoomWord::new(seal.close(START)));
        let run = |clock: Vec<i64>| {
            let word = word.clone();
            loom::thread::spawn(move || {
                let claim_at = |clock_ms| {
                    let rule = |free| next_position(&layout, DRIFT, free, clock_ms, || 0);
                    claim(&*word, seal, rule).ok().map(|position| (position, clock_ms))
                };
                clock.into_iter().filter_map(claim_at).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = clocks.iter().cloned().map(run).collect();
        let claimed: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();

        for in_one_thread in &claimed {
            assert!(in_one_thread.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
        }
        let mut all = claimed.concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|(earlier, _), (later, _)| earlier < later), "twice: {all:?}");
        for (position, clock_ms) in &all {
            assert!(*position >= START, "used before");
            assert!((position >> 1) as i64 <= clock_ms + DRIFT as i64, "too far ahead of the clock");
        }
        assert!(seal.is_whole(word.get()));
        assert_eq!(seal.open(word.get()), all.last().map_or(START, |(last, _)| last + 1));
    });
}

/// What the clock can read: before the last time used, after it, or too far back for an id.
const READINGS: [i64; 3] = [100, 103, 96];

#[test]
fn no_order_of_events_gives_three_threads_one_position() {
    // Threads are alike, so it does not matter which thread gets which reading.
    for a in 0..3 {
        for b in a..3 {
            for c in b..3 {
                try_all_orders_of_events([a, b, c].map(|reading| vec![READINGS[reading]]).to_vec());
            }
        }
    }
}

#[test]
fn no_order_of_events_gives_two_threads_a_position_twice_or_out_of_order() {
    let clocks: Vec<_> = READINGS.iter().flat_map(|&first| READINGS.map(|second| vec![first, second])).collect();
    for (place, clock) in clocks.iter().enumerate() {
        for other in &clocks[place..] {
            try_all_orders_of_events(vec![clock.clone(), other.clone()]);
        }
    }
}
