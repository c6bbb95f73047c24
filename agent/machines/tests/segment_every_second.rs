//! Runs the state machine for hours of simulated time, with a page and a store that consist of a few numbers.

use std::ops::Range;

use txid::segment::SegmentNews;
use txid_agent_machines::protocol::Now;
use txid_agent_machines::segment::{Answer, Event, Input, Output, Request, Rules, Segment, View, Write};
use txid_agent_machines::store::{StoreError, Taken};

/// One tag, its page, and a store with one number.
struct Host {
    rules: Rules,
    machine: Segment,
    now_ms: u64,
    /// When the machine checks again.
    wake_ms: u64,
    ranges: Vec<Range<u64>>,
    seen: u64,
    granted: u64,
    fetches: u64,
    step: u64,
    fetched_ms: i64,
    rate_milli: u64,
    news: SegmentNews,
    failures: u64,
    /// The number in the store.
    number: u64,
    own_step: u64,
    is_away: bool,
    /// How many of the next answers are lost.
    fails: u32,
    asked: u64,
    events: Vec<Event>,
    taken: Vec<u64>,
}

impl Host {
    fn new(rules: Rules) -> Self {
        Self {
            rules,
            machine: Segment::default(),
            now_ms: 0,
            wake_ms: 0,
            ranges: Vec::new(),
            seen: 0,
            granted: 0,
            fetches: 0,
            step: 0,
            fetched_ms: 0,
            rate_milli: 0,
            news: SegmentNews::Serving,
            failures: 0,
            number: 1,
            own_step: 1000,
            is_away: false,
            fails: 0,
            asked: 0,
            events: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn view(&self) -> View {
        let size = |which: usize| self.ranges.get(which).map_or(0, |range| range.end - range.start);
        View {
            left: size(0),
            next: size(1),
            wants: self.ranges.len() < 2,
            granted: self.granted,
            seen: self.seen,
            fetches: self.fetches,
            step: self.step,
            fetched_ms: self.fetched_ms,
        }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        self.asked += 1;
        let fails = self.is_away || self.fails > 0;
        self.fails = self.fails.saturating_sub(1);
        if fails {
            return Answer::Failed(StoreError::Unreachable { store: "memory".into(), why: "away".into() });
        }
        let Request::Take { count, seen } = *request else { return Answer::Created };
        if self.number < seen {
            return Answer::Taken(Taken::WentDown { number: self.number });
        }
        let start = self.number;
        self.number += count.unwrap_or(self.own_step);
        Answer::Taken(Taken::Range { range: start..self.number, step: self.own_step })
    }

    /// Everything that the agent does until it waits.
    fn work(&mut self) {
        let mut input = Input::Go;
        loop {
            let now = Now { wall_ms: 1_000_000_000_000 + self.now_ms as i64, mono_ms: self.now_ms, random: 0 };
            input = match self.machine.step(&self.rules, &now, &self.view(), input) {
                Output::Write(write) => {
                    self.write(write);
                    Input::Go
                }
                Output::Log(event) => {
                    self.events.push(event);
                    Input::Go
                }
                Output::Ask(request) => Input::Answer(self.answer(&request)),
                Output::Wait { until_ms } => {
                    assert!((1..=1000).contains(&(until_ms - self.now_ms)), "{until_ms} at {}", self.now_ms);
                    self.wake_ms = until_ms;
                    return;
                }
                Output::Stopped | Output::Fail(_) => unreachable!("nobody stops it, and there is a tag"),
            };
        }
    }

    fn write(&mut self, write: Write) {
        match write {
            Write::See(number) => self.seen = self.seen.max(number),
            Write::Step(step, ms) => (self.step, self.fetched_ms) = (step, ms),
            Write::Publish(range) => {
                assert!(self.ranges.len() < 2 && range.start >= self.granted, "{range:?}");
                (self.granted, self.fetches) = (range.end, self.fetches + 1);
                self.ranges.push(range);
            }
            Write::Rate(milli) => self.rate_milli = milli,
            Write::Failure => self.failures += 1,
            Write::News(news) => self.news = news,
            Write::Contact(_) => {}
        }
    }

    fn take(&mut self) -> Option<u64> {
        if self.ranges.first().is_some_and(Range::is_empty) && self.ranges.len() > 1 {
            self.ranges.remove(0);
        }
        let number = self.ranges.first_mut()?.next()?;
        self.taken.push(number);
        Some(number)
    }

    /// Takes `a_minute` numbers a minute for `minutes` minutes. Returns how many could not be had.
    fn run(&mut self, minutes: u64, a_minute: u64) -> u64 {
        let (mut refused, mut asked) = (0, 0);
        let start_ms = self.now_ms;
        while self.now_ms < start_ms + minutes * 60_000 {
            if self.now_ms >= self.wake_ms {
                self.work();
            }
            while asked < (self.now_ms - start_ms) * a_minute / 60_000 {
                asked += 1;
                refused += u64::from(self.take().is_none());
            }
            self.now_ms += 1;
        }
        refused
    }
}

fn rules() -> Rules {
    Rules { step: Some(100), max_step: 800, ..Rules::new("invoices") }
}

#[test]
fn two_ranges_are_there_once_a_tenth_of_the_first_is_used() {
    let mut host = Host::new(rules());
    host.run(1, 0);
    assert_eq!((host.fetches, host.view().left, host.view().next), (1, 100, 0));
    (0..9).for_each(|_| assert!(host.take().is_some()));
    host.run(1, 0);
    assert_eq!(host.fetches, 1, "nine of a hundred are less than a tenth");
    host.take();
    host.run(1, 0);
    assert_eq!((host.fetches, host.view().left, host.view().next), (2, 90, 100));
    assert_eq!(host.events, [Event::Serving(1..101)]);
}

#[test]
fn the_step_follows_the_rate_up_and_down() {
    let mut host = Host::new(rules());
    // A range of 100 lasts a minute, one of 400 four, one of 800 eight.
    assert_eq!(host.run(60, 100), 0);
    assert_eq!(host.step, 800, "doubled up to the largest");
    // One of 800 lasts 20 minutes.
    assert_eq!(host.run(180, 40), 0);
    assert_eq!(host.step, 800, "neither short nor long");
    assert_eq!(host.run(600, 10), 0);
    assert_eq!(host.step, 200, "80 minutes, 40, and with 20 it stays");
    assert_eq!(host.run(600, 1), 0);
    assert_eq!(host.step, 100, "never below the tag's own");
    let steps: Vec<_> = host.events.iter().filter(|event| matches!(event, Event::Step { .. })).collect();
    assert_eq!(steps.len(), 6, "three up and three down, each in the log: {steps:?}");
    assert!(host.taken.is_sorted_by(|a, b| a < b));
}

/// A range takes one to three round trips, depending on the store (`agent/tests/with_servers/stores` counts them): at most
/// 3/step for a number.
#[test]
fn a_range_is_asked_for_once() {
    let mut host = Host::new(Rules { max_step: 100, ..rules() });
    assert_eq!(host.run(60, 6000), 0);
    assert_eq!(host.taken.len(), 359_999);
    assert_eq!(host.asked, host.fetches);
    assert!(host.asked <= 360_000 / 100 + 2, "{}", host.asked);
}

#[test]
fn without_the_store_the_numbers_last_as_long_as_stated_and_then_come_back_at_once() {
    let mut host = Host::new(Rules { max_step: 100, ..rules() });
    assert_eq!(host.run(10, 60), 0);
    host.is_away = true;
    let left = host.view().left + host.view().next;
    assert!(left > 100, "{left}");
    assert_eq!(host.rate_milli, 1000, "60 a minute");
    let minutes = left * 1000 / host.rate_milli / 60;
    assert_eq!(host.run(minutes, 60), 0);
    assert!(host.run(3, 60) > 60, "used up");
    let asked = host.asked;
    host.run(1, 60);
    assert!((12..=13).contains(&(host.asked - asked)), "every 5 s: {}", host.asked - asked);
    let away = |event: &&Event| matches!(event, Event::Failed(_));
    assert_eq!(host.events.iter().filter(away).count(), 1, "one line for all failures: {:?}", host.events);
    assert!(host.failures > 12);

    host.is_away = false;
    let back_ms = host.now_ms;
    while host.take().is_none() {
        host.work();
        host.now_ms += 1;
    }
    assert!(host.now_ms - back_ms <= 5000, "{}", host.now_ms - back_ms);
    assert_eq!(host.run(10, 60), 0);
    assert!(host.taken.windows(2).all(|pair| pair[1] == pair[0] + 1), "none is left out");
}

#[test]
fn one_failure_is_not_reported_and_two_are() {
    let mut host = Host::new(rules());
    assert_eq!(host.run(60, 100), 0);
    let (said, fetches) = (host.events.len(), host.fetches);
    host.fails = 1;
    assert_eq!(host.run(60, 100), 0);
    assert_eq!((host.failures, host.events.len()), (1, said), "{:?}", host.events);
    assert!(host.fetches > fetches);

    host.fails = 2;
    assert_eq!(host.run(60, 100), 0);
    assert_eq!(host.failures, 3);
    assert!(matches!(&host.events[said..], [Event::Failed(_), Event::Serving(_)]), "{:?}", &host.events[said..]);
}

#[test]
fn a_number_that_went_down_is_reported_once_and_never_followed() {
    let mut host = Host::new(rules());
    assert_eq!(host.run(20, 100), 0);
    let (was, seen) = (host.number, host.seen);
    assert_eq!(was, seen);
    host.number = 50;
    let refused = host.run(60, 100);
    assert!(refused > 0, "used up at last");
    assert_eq!((host.number, host.news), (50, SegmentNews::WentDown));
    assert_eq!(*host.taken.last().unwrap(), was - 1, "service goes on with what there is");
    let alarms: Vec<_> = host.events.iter().filter(|event| matches!(event, Event::WentDown { .. })).collect();
    assert_eq!(alarms, [&Event::WentDown { number: 50, seen }]);

    host.number = seen + 7;
    assert!(host.run(1, 100) <= 9, "it is asked every 5 s");
    assert_eq!((host.taken[host.taken.len() - 1] > seen, host.news), (true, SegmentNews::Serving));
    let mut taken = host.taken.clone();
    taken.dedup();
    assert!(taken.len() == host.taken.len() && taken.is_sorted());
}

#[test]
fn an_agent_that_starts_again_takes_nothing_that_is_not_needed() {
    let mut host = Host::new(rules());
    assert_eq!(host.run(10, 100), 0);
    let asked = host.asked;
    for _ in 0..20 {
        host.machine = Segment::default();
        (host.wake_ms, host.ranges[0].start) = (0, host.ranges[0].start);
        host.run(1, 0);
    }
    assert!(host.asked <= asked + 1, "{} after {asked}", host.asked);
}

#[test]
fn a_step_of_zero_in_the_table_is_an_error_and_no_loop() {
    let mut host = Host::new(Rules { step: None, ..rules() });
    host.own_step = 0;
    host.run(1, 10);
    assert!(host.asked < 30, "{}", host.asked);
    assert!(matches!(&host.events[..], [Event::Failed(error)] if error.to_string().contains("its step is 0")));
    host.own_step = 10;
    host.run(1, 10);
    assert_eq!(host.news, SegmentNews::Serving);
    assert!(host.taken.len() >= 9);
}
