//! Decides when a range is taken, and what to do with the answer.

use super::Rules;
use super::protocol::{Answer, Event, Failure, Input, Output, Request, View, Write};
use crate::pace::{self, Pace};
use crate::protocol::Now;
use crate::store::{StoreError, Taken};
use std::collections::VecDeque;
use std::ops::Range;
use txid::segment::SegmentNews;

/// The interval over which the rate is measured.
const RATE_MS: u64 = 1000;
/// Numbers have 63 bits.
const HIGHEST: u64 = i64::MAX as u64;
/// How often to retry after an error that only people can fix.
const MENDED_MS: u64 = 5000;

/// Why no ranges are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Trouble {
    Store,
    NoTag,
    WentDown,
    MayLose,
    Ended,
}

/// Whether the store has the tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Tag {
    /// It has it, as far as is known.
    #[default]
    Known,
    /// It has to be made.
    Missing,
    /// It was made, and there was no range since.
    Made,
}

/// Takes the ranges of one segment, for the lifetime of its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Outputs that are already decided. The last one is a request or a wait.
    queue: VecDeque<Output>,
    /// The sizes of the current and of the next range; 0 if unknown.
    sizes: (u64, u64),
    /// The tag's own step, once the store has reported it.
    own_step: Option<u64>,
    /// How many numbers the page had after the last range was taken.
    had: Option<u64>,
    trouble: Option<Trouble>,
    /// Counts the requests that brought no range.
    pace: Pace,
    tag: Tag,
    /// No requests before this time.
    not_before_ms: u64,
    /// How many failures of the store there were in a row.
    failures: u32,
    /// That there are numbers was logged, and no trouble since.
    is_serving: bool,
    rate: Rate,
}

/// Measures how fast numbers are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Rate {
    since_ms: Option<u64>,
    had: u64,
    milli: u64,
}

/// What a step is given.
struct SegmentInputs<'a> {
    rules: &'a Rules,
    now: &'a Now,
    page: &'a View,
}

impl Segment {
    /// Takes an input, and returns what to do next.
    pub fn step(&mut self, rules: &Rules, now: &Now, page: &View, input: Input) -> Output {
        let given = &SegmentInputs { rules, now, page };
        if self.queue.is_empty() {
            match input {
                Input::Stop => self.queue.push_back(Output::Stopped),
                Input::Go => self.look(given, 0),
                Input::Answer(answer) => self.take_in(given, answer),
            }
        }
        self.queue.pop_front().unwrap_or(Output::Stopped)
    }

    /// Decides whether a range is needed. `published` numbers are about to be added to the page.
    fn look(&mut self, given: &SegmentInputs, published: u64) {
        let SegmentInputs { now, page, .. } = given;
        let left = page.left + page.next;
        // After a restart. The agent's child starts when there are numbers, and is often the only one that takes any:
        // if it waited for another range, none would ever be wanted.
        if !self.is_serving && self.trouble.is_none() && left > 0 {
            self.is_serving = true;
            self.log(Event::Resumed(left));
        }
        if published == 0 && self.is_wanted(page) && now.mono_ms >= self.next_ms() {
            let request = match self.tag {
                Tag::Missing => Request::Create(given.rules.step.unwrap_or(super::STEP)),
                Tag::Known | Tag::Made => Request::Take { count: self.count(given), seen: page.highest() },
            };
            return self.ask(given, request);
        }
        self.measure(now, left + published, published);
        let until_ms = now.mono_ms.saturating_add(self.wait_ms(given));
        self.queue.push_back(Output::Wait { until_ms });
    }

    fn take_in(&mut self, given: &SegmentInputs, answer: Answer) {
        let SegmentInputs { rules, now, page } = given;
        if let Answer::Taken(_) = answer {
            self.write(Write::Contact(now.wall_ms));
        }
        let mut published = 0;
        match answer {
            Answer::Taken(Taken::Range { range, .. }) if range.start < page.highest() => {
                self.goes_down(given, range.start);
            }
            Answer::Taken(Taken::Range { range, step }) => published = self.taken(given, range, step),
            Answer::Taken(Taken::NoTag) if rules.create && self.tag == Tag::Made => {
                self.tag = Tag::Missing;
                let why = "there is no such tag, although it was just made".to_owned();
                let error = StoreError::Damaged { store: rules.tag.clone(), why };
                self.mind(given, Trouble::NoTag, Event::Failed(error));
            }
            Answer::Taken(Taken::NoTag) if rules.create => self.tag = Tag::Missing,
            Answer::Taken(Taken::NoTag) if page.granted == 0 => {
                return self.queue.push_back(Output::Fail(Failure::NoTag));
            }
            Answer::Taken(Taken::NoTag) => self.mind(given, Trouble::NoTag, Event::NoTag),
            Answer::Taken(Taken::WentDown { number }) => self.goes_down(given, number),
            Answer::Taken(Taken::Ended) => self.mind(given, Trouble::Ended, Event::Ended),
            Answer::MayLose(why) if page.granted == 0 => {
                return self.queue.push_back(Output::Fail(Failure::MayLose(why)));
            }
            Answer::MayLose(why) => self.mind(given, Trouble::MayLose, Event::MayLose(why)),
            Answer::Created => {
                self.tag = Tag::Made;
                if self.trouble.is_none() {
                    self.log(Event::Created);
                }
            }
            Answer::Failed(error) => {
                self.write(Write::Failure);
                self.mind(given, Trouble::Store, Event::Failed(error));
            }
        }
        self.look(given, published);
    }

    /// Whether a tenth of the current range is used, and there is no next one.
    fn is_wanted(&mut self, view: &View) -> bool {
        if !view.wants {
            return false;
        }
        // The next range has become the current one.
        if self.sizes.1 > 0 {
            self.sizes = (self.sizes.1, 0);
        }
        // After a restart, the size is what is left.
        if self.sizes.0 == 0 {
            self.sizes.0 = view.left;
        }
        view.left <= self.sizes.0 - self.sizes.0.div_ceil(10)
    }

    /// How many numbers to take; None for the tag's own step.
    fn count(&self, given: &SegmentInputs) -> Option<u64> {
        let SegmentInputs { rules, now, page } = given;
        let step = page.step;
        // The second range is taken right after the first, so nothing is known about how long they last.
        if step == 0 || page.fetches < 2 {
            return if step == 0 { rules.step } else { Some(step) };
        }
        // The ranges used up since then were smaller or larger than the last one, so the pace counts. Going by those
        // ranges would double or halve twice before the first change has an effect.
        let used = self.had.map_or(step, |had| had.saturating_sub(page.left + page.next)).max(1);
        let passed_ms = i128::from(now.wall_ms.saturating_sub(page.fetched_ms));
        let lasts_ms = i64::try_from(passed_ms * i128::from(step) / i128::from(used)).unwrap_or(i64::MAX);
        // An agent that has just started does not know the minimum yet.
        Some(rules.next_step(step, self.own_step.unwrap_or(step), lasts_ms))
    }

    /// A range was taken. Returns how many numbers it has.
    fn taken(&mut self, given: &SegmentInputs, range: Range<u64>, own: u64) -> u64 {
        let SegmentInputs { rules, now, page } = given;
        let wrong = match range {
            Range { start, end } if start == end => Some("its step is 0, but must be 1 or more".to_owned()),
            Range { start, end } if start > end || end > HIGHEST => Some(format!("the numbers {start} to {end}")),
            _ => None,
        };
        if let Some(why) = wrong {
            self.mind(given, Trouble::Store, Event::Failed(StoreError::Damaged { store: rules.tag.clone(), why }));
            return 0;
        }
        let count = range.end - range.start;
        self.trouble = None;
        self.failures = 0;
        self.tag = Tag::Known;
        self.pace.forgive();
        self.own_step = Some(own);
        self.had = Some(page.left + page.next + count);
        self.sizes.1 = count;
        self.write(Write::See(range.end));
        self.write(Write::Step(count, now.wall_ms));
        self.write(Write::Publish(range.clone()));
        self.write(Write::News(SegmentNews::Serving));
        if page.step != 0 && count != page.step {
            self.log(Event::Step { from: page.step, to: count });
        }
        if !std::mem::replace(&mut self.is_serving, true) {
            self.log(Event::Serving(range));
        }
        count
    }

    fn goes_down(&mut self, given: &SegmentInputs, number: u64) {
        self.mind(given, Trouble::WentDown, Event::WentDown { number, seen: given.page.highest() });
    }

    /// Reports trouble once, and waits.
    fn mind(&mut self, given: &SegmentInputs, trouble: Trouble, event: Event) {
        // A connection that was idle for hours may be closed. A single failure is not worth a line while numbers are
        // left.
        let is_passing = trouble == Trouble::Store && self.is_serving && self.failures == 0;
        let wait_ms = if trouble == Trouble::Store {
            let (first_ms, longest_ms) = given.rules.retry_ms;
            let wait_ms = first_ms.saturating_mul(1 << self.failures.min(20)).min(longest_ms);
            self.failures += 1;
            wait_ms
        } else {
            MENDED_MS
        };
        self.not_before_ms = given.now.mono_ms + wait_ms;
        self.write(Write::News(match trouble {
            // The time of the last contact shows how the store answered last.
            Trouble::Store | Trouble::MayLose => SegmentNews::Serving,
            Trouble::NoTag => SegmentNews::NoTag,
            Trouble::WentDown => SegmentNews::WentDown,
            Trouble::Ended => SegmentNews::Ended,
        }));
        if is_passing {
            return;
        }
        if self.trouble.replace(trouble) != Some(trouble) {
            self.log(event);
        }
        self.is_serving = false;
    }

    /// `has` is how many numbers the page has now, `added` of them since the last step.
    fn measure(&mut self, now: &Now, has: u64, added: u64) {
        let Rate { since_ms, had, milli } = &mut self.rate;
        let Some(since) = *since_ms else {
            (*since_ms, *had) = (Some(now.mono_ms), has);
            return;
        };
        *had += added;
        let passed = now.mono_ms.saturating_sub(since);
        if passed >= RATE_MS {
            *milli = had.saturating_sub(has).saturating_mul(1_000_000) / passed;
            (*since_ms, *had) = (Some(now.mono_ms), has);
            let write = Write::Rate(*milli);
            self.write(write);
        }
    }

    fn wait_ms(&self, given: &SegmentInputs) -> u64 {
        let SegmentInputs { rules, now, page } = given;
        let (least, most) = rules.look_ms;
        if page.wants && self.next_ms() > now.mono_ms {
            return (self.next_ms() - now.mono_ms).min(RATE_MS);
        }
        // Half the time that a tenth of a range lasts at this rate.
        let tenth = self.sizes.0.max(self.sizes.1) / 10;
        let half_ms = tenth.saturating_mul(500_000).checked_div(self.rate.milli).unwrap_or(most);
        half_ms.clamp(least, most)
    }

    /// When the next request may be sent.
    fn next_ms(&self) -> u64 {
        self.not_before_ms.max(self.pace.next_ms(pace::MOST))
    }

    fn ask(&mut self, given: &SegmentInputs, request: Request) {
        self.pace.send(pace::MOST, given.now.mono_ms);
        self.queue.push_back(Output::Ask(request));
    }

    fn write(&mut self, write: Write) {
        self.queue.push_back(Output::Write(write));
    }

    fn log(&mut self, event: Event) {
        self.queue.push_back(Output::Log(event));
    }
}

impl View {
    /// The highest number that the store is known to have reached.
    fn highest(&self) -> u64 {
        self.seen.max(self.granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { wall_ms: 1_700_000_000_000, mono_ms: 0, random: 0 };

    const EMPTY: View =
        View { left: 0, next: 0, wants: true, granted: 0, seen: 0, fetches: 0, step: 0, fetched_ms: NOW.wall_ms };

    /// All outputs up to the next request or wait.
    fn outputs(machine: &mut Segment, view: &View, input: Input) -> Vec<Output> {
        outputs_by(machine, &Rules::new("a"), &NOW, view, input)
    }

    fn outputs_by(machine: &mut Segment, rules: &Rules, now: &Now, view: &View, mut input: Input) -> Vec<Output> {
        let mut outputs = Vec::new();
        loop {
            let output = machine.step(rules, now, view, input);
            let is_last = matches!(output, Output::Ask(_) | Output::Wait { .. } | Output::Fail(_));
            outputs.push(output);
            if is_last {
                return outputs;
            }
            input = Input::Go;
        }
    }

    #[test]
    fn numbers_that_are_left_are_served_at_once_and_said_once() {
        let mut machine = Segment::default();
        let view =
            View { left: 40, next: 100, wants: false, granted: 200, seen: 200, fetches: 2, step: 100, fetched_ms: 0 };
        let first = outputs(&mut machine, &view, Input::Go);
        assert_eq!(first[0], Output::Log(Event::Resumed(140)));
        assert!(matches!(first[1..], [Output::Wait { .. }]), "{first:?}");
        assert!(matches!(outputs(&mut machine, &view, Input::Go)[..], [Output::Wait { .. }]));
    }

    #[test]
    fn from_a_store_that_forgets_nothing_is_taken() {
        let answer = || Input::Answer(Answer::MayLose("appendonly no".to_owned()));
        let mut view = EMPTY;
        let mut machine = Segment::default();
        outputs(&mut machine, &view, Input::Go);
        let Output::Fail(failure) = machine.step(&Rules::new("a"), &NOW, &view, answer()) else { panic!() };
        assert!(failure.to_string().contains("(appendonly no)"), "{failure}");

        // With numbers from before, also if none are left, the agent goes on, and says it once.
        (view.granted, view.seen) = (10, 10);
        let mut machine = Segment::default();
        outputs(&mut machine, &view, Input::Go);
        let said = |outputs: &[Output]| outputs.iter().filter(|output| matches!(output, Output::Log(_))).count();
        let first = outputs(&mut machine, &view, answer());
        assert!(said(&first) == 1 && !first.iter().any(|output| matches!(output, Output::Write(Write::Publish(_)))));
        assert!(first.contains(&Output::Write(Write::News(SegmentNews::Serving))), "{first:?}");
        assert_eq!(said(&outputs(&mut machine, &view, answer())), 0);
    }

    fn taken(range: Range<u64>) -> Input {
        let step = range.end - range.start;
        Input::Answer(Answer::Taken(Taken::Range { range, step }))
    }

    /// A restart between any two of these finds no number below what was seen.
    #[test]
    fn a_range_is_published_after_its_end_is_seen() {
        let mut machine = Segment::default();
        outputs(&mut machine, &EMPTY, Input::Go);
        let serves = |range: Range<u64>, from: &[Event], count| {
            let mut wanted = vec![
                Output::Write(Write::Contact(NOW.wall_ms)),
                Output::Write(Write::See(range.end)),
                Output::Write(Write::Step(count, NOW.wall_ms)),
                Output::Write(Write::Publish(range)),
                Output::Write(Write::News(SegmentNews::Serving)),
            ];
            wanted.extend(from.iter().cloned().map(Output::Log));
            wanted.push(Output::Wait { until_ms: 100 });
            wanted
        };
        let first = outputs(&mut machine, &EMPTY, taken(1..101));
        assert_eq!(first, serves(1..101, &[Event::Serving(1..101)], 100));
        let view = View { left: 10, granted: 101, seen: 101, fetches: 1, step: 100, ..EMPTY };
        outputs(&mut machine, &view, Input::Go);
        let second = outputs(&mut machine, &view, taken(101..151));
        assert_eq!(second, serves(101..151, &[Event::Step { from: 100, to: 50 }], 50));
    }

    #[test]
    fn a_request_is_for_the_tags_step_unless_there_is_another() {
        let mut rules = Rules::new("a");
        let asks = |rules: &Rules, view: &View, answer: Option<Taken>| {
            let mut machine = Segment::default();
            let first = outputs_by(&mut machine, rules, &NOW, view, Input::Go);
            let second = answer.map(|it| outputs_by(&mut machine, rules, &NOW, view, Input::Answer(Answer::Taken(it))));
            second.unwrap_or(first).last().cloned()
        };
        let seen = View { granted: 9, seen: 7, ..EMPTY };
        assert_eq!(asks(&rules, &EMPTY, None), Some(Output::Ask(Request::Take { count: None, seen: 0 })));
        for view in [seen, View { granted: 7, seen: 9, ..EMPTY }] {
            assert_eq!(asks(&rules, &view, None), Some(Output::Ask(Request::Take { count: None, seen: 9 })));
        }
        (rules.step, rules.create) = (Some(20), true);
        assert_eq!(asks(&rules, &EMPTY, None), Some(Output::Ask(Request::Take { count: Some(20), seen: 0 })));
        assert_eq!(asks(&rules, &EMPTY, Some(Taken::NoTag)), Some(Output::Ask(Request::Create(20))));
    }

    /// What each answer without a range does to a page that has some, and to the next request.
    #[test]
    fn trouble_shows_in_the_page_and_in_the_log() {
        let error = || StoreError::TimedOut { store: "here".to_owned(), ms: 3000 };
        let damaged = |why: &str| Event::Failed(StoreError::Damaged { store: "a".to_owned(), why: why.to_owned() });
        let range = |range| Answer::Taken(Taken::Range { range, step: 0 });
        let view = View { granted: 101, seen: 101, ..EMPTY };
        use SegmentNews::{Ended, NoTag, Serving, WentDown};
        let went_down = |number| Event::WentDown { number, seen: 101 };
        let contact = || Some(Write::Contact(NOW.wall_ms));
        for (answer, first, news, event, wait_ms) in [
            (Answer::Failed(error()), Some(Write::Failure), Serving, Event::Failed(error()), 100),
            (Answer::Taken(Taken::NoTag), contact(), NoTag, Event::NoTag, 1_000),
            (Answer::Taken(Taken::WentDown { number: 7 }), contact(), WentDown, went_down(7), 1_000),
            (range(100..200), contact(), WentDown, went_down(100), 1_000),
            (Answer::Taken(Taken::Ended), contact(), Ended, Event::Ended, 1_000),
            (Answer::MayLose("why".to_owned()), None, Serving, Event::MayLose("why".to_owned()), 1_000),
            (range(101..101), contact(), Serving, damaged("its step is 0, but must be 1 or more"), 100),
            (
                range(HIGHEST..HIGHEST + 1),
                contact(),
                Serving,
                damaged(&format!("the numbers {HIGHEST} to {}", HIGHEST + 1)),
                100,
            ),
            (
                Answer::Taken(Taken::Range { range: Range { start: 200, end: 150 }, step: 9 }),
                contact(),
                Serving,
                damaged("the numbers 200 to 150"),
                100,
            ),
        ] {
            let mut machine = Segment::default();
            outputs(&mut machine, &view, Input::Go);
            let mut wanted: Vec<_> = first.into_iter().chain([Write::News(news)]).map(Output::Write).collect();
            wanted.extend([Output::Log(event), Output::Wait { until_ms: wait_ms }]);
            assert_eq!(outputs(&mut machine, &view, Input::Answer(answer)), wanted);
            assert_eq!(machine.not_before_ms, if wait_ms == 100 { 100 } else { 5_000 });
        }
    }

    #[test]
    fn a_missing_tag_is_made_once_or_reported() {
        let no_tag = || Input::Answer(Answer::Taken(Taken::NoTag));
        let mut rules = Rules::new("a");

        let mut machine = Segment::default();
        outputs_by(&mut machine, &rules, &NOW, &EMPTY, Input::Go);
        let first = outputs_by(&mut machine, &rules, &NOW, &EMPTY, no_tag());
        assert_eq!(first.last(), Some(&Output::Fail(Failure::NoTag)));

        // Numbers from before are served.
        let granted = View { granted: 10, seen: 10, ..EMPTY };
        let mut machine = Segment::default();
        outputs_by(&mut machine, &rules, &NOW, &granted, Input::Go);
        let first = outputs_by(&mut machine, &rules, &NOW, &granted, no_tag());
        assert!(first.contains(&Output::Log(Event::NoTag)), "{first:?}");
        assert_eq!(Event::NoTag.to_string(), "the store has no such tag");
        assert!(matches!(first.last(), Some(Output::Wait { .. })), "{first:?}");

        rules.create = true;
        let mut machine = Segment::default();
        outputs_by(&mut machine, &rules, &NOW, &EMPTY, Input::Go);
        let first = outputs_by(&mut machine, &rules, &NOW, &EMPTY, no_tag());
        assert_eq!(first.last(), Some(&Output::Ask(Request::Create(1_000))));
        let made = outputs_by(&mut machine, &rules, &NOW, &EMPTY, Input::Answer(Answer::Created));
        assert!(made.contains(&Output::Log(Event::Created)), "{made:?}");
        assert!(matches!(made.last(), Some(Output::Ask(Request::Take { .. }))), "{made:?}");
        let gone = outputs_by(&mut machine, &rules, &NOW, &EMPTY, no_tag());
        let why = "there is no such tag, although it was just made".to_owned();
        let failed = Event::Failed(StoreError::Damaged { store: "a".to_owned(), why });
        let news = Output::Write(Write::News(SegmentNews::NoTag));
        assert_eq!(gone[1..3], [news, Output::Log(failed)]);
        let Some(&Output::Wait { until_ms }) = gone.last() else { panic!("{gone:?}") };
        let later = Now { mono_ms: until_ms + MENDED_MS, ..NOW };
        let again = outputs_by(&mut machine, &rules, &later, &EMPTY, Input::Go);
        assert!(matches!(again.last(), Some(Output::Ask(Request::Create(_)))), "{again:?}");
        // One that had numbers since, and was removed.
        outputs_by(&mut machine, &rules, &later, &EMPTY, Input::Answer(Answer::Created));
        outputs_by(&mut machine, &rules, &later, &EMPTY, taken(1..101));
        let again = outputs_by(&mut machine, &rules, &later, &EMPTY, no_tag());
        assert!(matches!(again.last(), Some(Output::Ask(Request::Create(_)))), "{again:?}");
    }

    #[test]
    fn the_pace_of_the_numbers_used_decides_from_the_third_range_on() {
        let asks = |after: &[Output]| match after.last() {
            Some(Output::Ask(Request::Take { count, .. })) => *count,
            last => panic!("{last:?}"),
        };
        let now = |passed_ms: u64| Now { wall_ms: NOW.wall_ms + passed_ms as i64, mono_ms: passed_ms, random: 0 };
        let rules = Rules::new("a");
        let mut machine = Segment::default();
        assert_eq!(asks(&outputs(&mut machine, &EMPTY, Input::Go)), None);
        let first = Answer::Taken(Taken::Range { range: 1..101, step: 60 });
        outputs(&mut machine, &View { next: 50, ..EMPTY }, Input::Answer(first));

        let view = View { left: 10, next: 20, granted: 101, seen: 101, fetches: 1, step: 100, ..EMPTY };
        assert_eq!(asks(&outputs_by(&mut machine.clone(), &rules, &now(1), &view, Input::Go)), Some(100));
        // 120 of the 150 numbers are used: 100 of them last a quarter of an hour, or less.
        let view = View { fetches: 2, ..view };
        let after = |ms| asks(&outputs_by(&mut machine.clone(), &rules, &now(ms), &view, Input::Go));
        assert_eq!(after(1_080_000), Some(100));
        assert_eq!(after(1_079_000), Some(200));
        assert_eq!(after(9_000_000), Some(60), "half of it, but no less than the tag's own");
        let without_step = View { step: 0, ..view };
        assert_eq!(asks(&outputs(&mut machine.clone(), &without_step, Input::Go)), None);
    }

    #[test]
    fn a_range_is_taken_when_a_tenth_of_the_current_one_is_used() {
        let mut machine = Segment::default();
        outputs(&mut machine, &EMPTY, Input::Go);
        let view = |left| View { left, granted: 101, seen: 101, fetches: 1, step: 100, ..EMPTY };
        outputs(&mut machine, &EMPTY, taken(1..101));
        assert!(matches!(outputs(&mut machine, &view(91), Input::Go)[..], [Output::Wait { .. }]));
        assert!(matches!(outputs(&mut machine, &view(90), Input::Go)[..], [Output::Ask(_)]));

        // After a restart, of what is left.
        let mut machine = Segment::default();
        assert!(matches!(outputs(&mut machine, &view(50), Input::Go).last(), Some(Output::Wait { .. })));
        assert!(matches!(outputs(&mut machine, &view(46), Input::Go)[..], [Output::Wait { .. }]));
        assert!(matches!(outputs(&mut machine, &view(45), Input::Go)[..], [Output::Ask(_)]));
    }

    #[test]
    fn the_rate_counts_numbers_that_came_in_the_meantime() {
        let at = |mono_ms| Now { mono_ms, ..NOW };
        let (rules, mut machine) = (Rules::new("a"), Segment::default());
        let view = |left| View { left, granted: 101, seen: 101, fetches: 1, step: 100, ..EMPTY };
        outputs_by(&mut machine, &rules, &at(0), &EMPTY, Input::Go);
        outputs_by(&mut machine, &rules, &at(0), &EMPTY, taken(1..101));
        outputs_by(&mut machine, &rules, &at(500), &view(20), Input::Go);
        outputs_by(&mut machine, &rules, &at(500), &view(20), taken(101..201));
        let after =
            outputs_by(&mut machine, &rules, &at(1000), &View { next: 50, wants: false, ..view(20) }, Input::Go);
        assert!(after.contains(&Output::Write(Write::Rate(130_000))), "{after:?}");
        let soon = outputs_by(&mut machine, &rules, &at(1999), &View { next: 50, wants: false, ..view(20) }, Input::Go);
        assert!(
            !soon.iter().any(|output| matches!(output, Output::Write(_))),
            "it is measured once a second: {soon:?}"
        );
    }

    #[test]
    fn each_answer_about_a_range_is_a_contact_and_one_below_what_was_seen_is_not_taken() {
        let mut machine = Segment::default();
        let view = View { granted: 51, seen: 101, ..EMPTY };
        outputs(&mut machine, &view, Input::Go);
        let after = outputs(&mut machine, &view, taken(100..200));
        assert_eq!(after[0], Output::Write(Write::Contact(NOW.wall_ms)));
        assert!(after.contains(&Output::Log(Event::WentDown { number: 100, seen: 101 })), "{after:?}");
        assert!(!after.iter().any(|output| matches!(output, Output::Write(Write::Publish(_)))), "{after:?}");
    }

    #[test]
    fn trouble_is_said_again_after_a_range_and_a_first_failure_where_there_were_no_numbers() {
        let no_tag = || Input::Answer(Answer::Taken(Taken::NoTag));
        let view = View { granted: 101, seen: 101, ..EMPTY };
        let mut machine = Segment::default();
        outputs(&mut machine, &view, Input::Go);
        for _ in 0..2 {
            assert!(outputs(&mut machine, &view, no_tag()).contains(&Output::Log(Event::NoTag)));
            assert!(!outputs(&mut machine, &view, no_tag()).contains(&Output::Log(Event::NoTag)));
            let after = outputs(&mut machine, &view, taken(101..201));
            assert!(after.contains(&Output::Log(Event::Serving(101..201))), "{after:?}");
        }
        let fails = |machine: &mut Segment, view: &View| {
            let failed = Answer::Failed(StoreError::TimedOut { store: "the store".to_owned(), ms: 3000 });
            let after = outputs(machine, view, Input::Answer(failed));
            after.iter().filter(|output| matches!(output, Output::Log(Event::Failed(_)))).count()
        };
        // While numbers are left, the second one in a row is said, and once.
        assert_eq!([(); 3].map(|()| fails(&mut machine, &view)), [0, 1, 0]);
        let mut machine = Segment::default();
        outputs(&mut machine, &EMPTY, Input::Go);
        assert_eq!([(); 2].map(|()| fails(&mut machine, &EMPTY)), [1, 0]);
    }

    /// However fast numbers are taken.
    #[test]
    fn requests_that_bring_a_range_are_not_limited() {
        let (mut machine, mut view) = (Segment::default(), EMPTY);
        for start in (1..3_000).step_by(100) {
            assert!(matches!(outputs(&mut machine, &view, Input::Go).last(), Some(Output::Ask(_))), "{start}");
            outputs(&mut machine, &view, taken(start..start + 100));
            (view.granted, view.seen) = (start + 100, start + 100);
        }
    }

    #[test]
    fn a_range_may_not_pass_the_highest_number() {
        for (range, is_taken) in [(1..HIGHEST, true), (1..HIGHEST + 1, false)] {
            let mut machine = Segment::default();
            outputs(&mut machine, &EMPTY, Input::Go);
            let after = outputs(&mut machine, &EMPTY, taken(range.clone()));
            assert_eq!(after.contains(&Output::Write(Write::Publish(range))), is_taken, "{after:?}");
        }
    }

    #[test]
    fn it_looks_again_after_a_failure_and_twice_while_a_tenth_is_used() {
        let at = |mono_ms| Now { mono_ms, ..NOW };
        let rules = Rules::new("a");
        let mut machine = Segment::default();
        outputs_by(&mut machine, &rules, &at(1000), &EMPTY, Input::Go);
        let failed = Answer::Failed(StoreError::TimedOut { store: "the store".to_owned(), ms: 3000 });
        let after = outputs_by(&mut machine, &rules, &at(1000), &EMPTY, Input::Answer(failed));
        assert_eq!(after.last(), Some(&Output::Wait { until_ms: 1100 }));

        // How many numbers a range has, how many of them are left after a second, and when it looks again.
        for (count, left, wait_ms) in [(1, 0, 1), (100, 0, 50), (100, 51, 100), (1000, 990, 100)] {
            let view = View { left, wants: false, ..EMPTY };
            let mut machine = Segment::default();
            outputs_by(&mut machine, &rules, &at(0), &EMPTY, Input::Go);
            outputs_by(&mut machine, &rules, &at(0), &EMPTY, taken(1..count + 1));
            let after = outputs_by(&mut machine, &rules, &at(1000), &view, Input::Go);
            assert_eq!(after.last(), Some(&Output::Wait { until_ms: 1000 + wait_ms }), "{count}");
        }
    }

    /// A store that was away does not make the next short failure a long one.
    #[test]
    fn after_a_range_the_next_failure_is_the_first_one_again() {
        let mut machine = Segment::default();
        let failed = || Input::Answer(Answer::Failed(StoreError::TimedOut { store: "the store".to_owned(), ms: 3000 }));
        let until_ms = |after: &[Output]| match after.last() {
            Some(Output::Wait { until_ms }) => *until_ms,
            last => panic!("{last:?}"),
        };
        outputs(&mut machine, &EMPTY, Input::Go);
        let waits = [(); 3].map(|()| until_ms(&outputs(&mut machine, &EMPTY, failed())));
        assert_eq!(waits, [100, 200, 400]);
        // Nobody waits for numbers.
        let unwanted = View { left: 5, wants: false, ..EMPTY };
        assert_eq!(until_ms(&outputs(&mut machine.clone(), &unwanted, Input::Go)), 100);
        outputs(&mut machine, &EMPTY, taken(1..101));
        let view = View { left: 100, granted: 101, seen: 101, fetches: 1, step: 100, ..EMPTY };
        let after = outputs(&mut machine, &view, failed());
        assert_eq!(until_ms(&after), 100);
        assert!(!after.iter().any(|output| matches!(output, Output::Log(_))), "a single one is no news: {after:?}");
    }
}
