//! Tries every order in which workers can take numbers while an agent grants ranges.

use crate::segment::ranges::Ranges;
use crate::shared::tests::every_order::{LoomWord, explore};
use crate::shared::word::Word;
use loom::model::Builder;
use loom::sync::atomic::Ordering;
use std::ops::Range;
use std::sync::Arc;

struct Page([LoomWord; 4]);

impl Page {
    fn ranges(&self) -> Ranges<'_, LoomWord> {
        let [cur, end, next_start, next_end] = &self.0;
        Ranges { cur, end, next_start, next_end }
    }
}

type Take = fn(Ranges<'_, LoomWord>) -> Option<u64>;

/// Runs workers that take `times` numbers each, from the first range and the ones that an agent grants in the meantime.
fn try_all_orders_of_events(take: Take, times: &'static [usize], ranges: &'static [Range<u64>]) {
    let mut model = Builder::new();
    // One preemption is enough to find the mistakes below.
    model.preemption_bound = Some(2);
    explore(model, move || {
        let page = Arc::new(Page([ranges[0].start, ranges[0].end, 0, 0].map(LoomWord::new)));
        let start_worker = |&times: &usize| {
            let page = page.clone();
            loom::thread::spawn(move || (0..times).filter_map(|_| take(page.ranges())).collect::<Vec<_>>())
        };
        let workers: Vec<_> = times.iter().map(start_worker).collect();
        for range in &ranges[1..] {
            // Otherwise the grant comes too late for the workers, which is also one of the orders.
            if page.ranges().wants() {
                page.ranges().publish(range.clone());
            }
        }
        let taken: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        for by_one in &taken {
            assert!(by_one.is_sorted_by(|a, b| a < b), "out of order: {by_one:?}");
        }
        let mut taken = taken.concat();
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|a, b| a < b), "twice: {taken:?}");
        for number in taken {
            let granted = ranges.iter().any(|range| range.contains(&number));
            assert!(granted, "another host's number: {number}");
        }
    });
}

fn take(ranges: Ranges<'_, LoomWord>) -> Option<u64> {
    ranges.take()
}

#[test]
fn numbers_of_three_ranges_are_given_once() {
    try_all_orders_of_events(take, &[3, 2], &[10..11, 20..22, 30..32]);
}

#[test]
fn ranges_that_follow_each_other_are_given_once() {
    try_all_orders_of_events(take, &[3, 2], &[10..11, 11..13, 13..15]);
}

#[test]
fn three_workers_take_no_number_twice() {
    try_all_orders_of_events(take, &[2, 1, 1], &[10..11, 20..22]);
}

/// A mistake: it notices that it is past the end only after it has moved `cur`.
fn take_by_fetch_and_add(ranges: Ranges<'_, LoomWord>) -> Option<u64> {
    let number = ranges.cur.fetch_add(1, Ordering::AcqRel);
    // Loom does not preempt a thread here by itself.
    loom::thread::yield_now();
    if number < ranges.end.get_acquire() {
        return Some(number);
    }
    // The next call takes numbers from the next range.
    ranges.go_on(ranges.cur.get_acquire(), ranges.end.get_acquire());
    None
}

#[test]
#[should_panic(expected = "another host's number")]
fn a_fetch_and_add_gives_another_hosts_number() {
    try_all_orders_of_events(take_by_fetch_and_add, &[1, 1], &[11..11, 20..22]);
}

/// A mistake: the end is raised while `cur` is still at the end of the previous range.
fn take_with_the_end_raised_first(ranges: Ranges<'_, LoomWord>) -> Option<u64> {
    let (cur, end) = (ranges.cur.get_acquire(), ranges.end.get_acquire());
    if cur < end {
        return ranges.cur.replace(cur, cur + 1).then_some(cur);
    }
    let (next_end, next_start) = (ranges.next_end.get_acquire(), ranges.next_start.get_acquire());
    if next_end > end {
        ranges.end.replace(end, next_end);
        ranges.cur.replace(cur, next_start.max(cur));
    }
    None
}

#[test]
#[should_panic(expected = "another host's number")]
fn an_end_that_is_raised_first_gives_another_hosts_number() {
    try_all_orders_of_events(take_with_the_end_raised_first, &[2, 2], &[10..11, 20..22]);
}
