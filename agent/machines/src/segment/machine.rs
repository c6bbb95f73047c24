//! Decides when a range is taken, and what to do with the answer.

use super::Rules;
use crate::store::{StoreError, Taken};
use std::fmt;
use std::ops::Range;
use txid::segment::SegmentNews;

/// The interval over which the rate is measured.
const RATE_MS: u64 = 1000;
/// How often to retry after an error that only people can fix.
const MENDED_MS: u64 = 5000;

/// The time now, by two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Now {
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// Milliseconds of a clock that never goes backwards.
    pub monotonic_ms: u64,
}

/// The contents of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// How many numbers are left in the current range.
    pub left: u64,
    /// How many numbers the next range has.
    pub next: u64,
    /// Whether there is room for a range.
    pub wants: bool,
    /// The end of all granted ranges.
    pub granted: u64,
    /// The highest number that the store is known to have reached.
    pub seen: u64,
    /// How many ranges were granted.
    pub fetches: u64,
    /// How many numbers were taken last.
    pub step: u64,
    /// When the last range was taken.
    pub fetched_ms: i64,
}

/// A request to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Take a range of this size, or of the tag's own step.
    Take {
        /// How many.
        count: Option<u64>,
        /// The tag's number must not be below this.
        seen: u64,
    },
    /// Make the tag.
    Create {
        /// With this step.
        step: u64,
    },
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The store answered.
    Taken(Taken),
    /// The tag exists.
    Created,
    /// The store may or may not have done it.
    Failed(StoreError),
}

/// Writes to the page, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// The store has reached this number.
    See(u64),
    /// How many numbers were taken from the store, and when.
    Step(u64, i64),
    /// Grants these numbers to all users of the page.
    Publish(Range<u64>),
    /// How many numbers are taken in a thousand seconds.
    Rate(u64),
    /// The store answered, at this time.
    Contact(i64),
    /// A request failed.
    Failure,
    /// The reason that callers get if there is no number.
    Say(SegmentNews),
}

/// Events for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first range has arrived, or the first one after trouble.
    Serving {
        /// The range.
        range: Range<u64>,
    },
    /// The page has numbers left from before this agent started.
    Resumed {
        /// How many.
        left: u64,
    },
    /// The tag was made.
    Created,
    /// The step has changed.
    Step {
        /// The old step.
        from: u64,
        /// The new step.
        to: u64,
    },
    /// The store did not answer, or not as it should.
    Failed(StoreError),
    /// The store has no such tag.
    NoTag,
    /// The store's number is lower than it was.
    WentDown {
        /// The number now.
        number: u64,
        /// The highest number before.
        seen: u64,
    },
    /// The store's number cannot go higher.
    Ended,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving { range } => write!(f, "numbers from {} on", range.start),
            Self::Resumed { left } => write!(f, "{left} numbers left from before"),
            Self::Created => f.write_str("made the tag"),
            Self::Step { from, to } => write!(f, "now takes {to} numbers at a time, instead of {from}"),
            Self::Failed(error) => write!(f, "cannot take numbers: {error}"),
            Self::NoTag => f.write_str("the store has no such tag"),
            Self::WentDown { number, seen } => write!(
                f,
                "ALARM: the store's number is {number} and was {seen}, as after a restored backup; numbers would repeat, so none \
                 are taken until it is raised with txid-agent raise"
            ),
            Self::Ended => f.write_str("ALARM: the store's number cannot go higher"),
        }
    }
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Writes to the page.
    pub writes: Vec<Write>,
    /// Events for the log.
    pub events: Vec<Event>,
    /// A request to the store. Its answer is an argument of the next step.
    pub request: Option<Request>,
    /// When to call again, if there is no request.
    pub wait_ms: u64,
}

/// Why no ranges are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Trouble {
    Store,
    NoTag,
    WentDown,
    Ended,
}

/// Takes the ranges of one tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    rules: Rules,
    /// The sizes of the current and of the next range; 0 if unknown.
    sizes: (u64, u64),
    /// The tag's own step, once the store has reported it.
    own_step: Option<u64>,
    /// How many numbers the page had after the last range was taken.
    had: Option<u64>,
    trouble: Option<Trouble>,
    /// No requests before this time.
    not_before_ms: u64,
    retry_ms: u64,
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

impl Machine {
    /// The initial state.
    pub fn new(rules: Rules) -> Self {
        Self {
            retry_ms: rules.retry_ms.0,
            rules,
            sizes: (0, 0),
            own_step: None,
            had: None,
            trouble: None,
            not_before_ms: 0,
            is_serving: false,
            rate: Rate::default(),
        }
    }

    /// Decides what to do now. `answer` is the answer to the request of the previous step.
    pub fn step(&mut self, now: Now, view: &View, answer: Option<Answer>) -> Output {
        let mut output = Output::default();
        // After a restart. The agent's command starts when numbers are served, and is often the only one that takes any:
        // if it waited for another range, none would ever be wanted.
        let left = view.left + view.next;
        if !self.is_serving && self.trouble.is_none() && left > 0 {
            self.is_serving = true;
            output.events.push(Event::Resumed { left });
        }
        let mut published = 0;
        match answer {
            None => {}
            Some(Answer::Taken(Taken::Range { range, step })) => {
                published = self.taken(now, view, range, step, &mut output);
            }
            Some(Answer::Taken(Taken::NoTag)) if self.rules.create => {
                output.request = Some(Request::Create { step: self.rules.step.unwrap_or(super::STEP) });
                return output;
            }
            Some(Answer::Taken(Taken::NoTag)) => {
                self.answered(now, &mut output);
                self.mind(Trouble::NoTag, Event::NoTag, now, &mut output);
            }
            Some(Answer::Taken(Taken::WentDown { number })) => self.went_down(now, view, number, &mut output),
            Some(Answer::Taken(Taken::Ended)) => {
                self.answered(now, &mut output);
                self.mind(Trouble::Ended, Event::Ended, now, &mut output);
            }
            Some(Answer::Created) => output.events.push(Event::Created),
            Some(Answer::Failed(error)) => {
                output.writes.push(Write::Failure);
                self.mind(Trouble::Store, Event::Failed(error), now, &mut output);
            }
        }
        if published == 0 && self.is_wanted(view) && now.monotonic_ms >= self.not_before_ms {
            let count = self.count(now, view);
            output.request = Some(Request::Take { count, seen: view.seen.max(view.granted) });
            return output;
        }
        self.measure(now, view.left + view.next + published, &mut output);
        output.wait_ms = self.wait_ms(now, view);
        output
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
    fn count(&self, now: Now, view: &View) -> Option<u64> {
        let step = view.step;
        // The second range is taken right after the first, so nothing is known about how long they last.
        if step == 0 || view.fetches < 2 {
            return if step == 0 { self.rules.step } else { Some(step) };
        }
        // The ranges used up since then were smaller or larger than the last one, so the pace counts. Going by those
        // ranges would double or halve twice before the first change has an effect.
        let used = self.had.map_or(step, |had| had.saturating_sub(view.left + view.next)).max(1);
        let passed_ms = i128::from(now.ms.saturating_sub(view.fetched_ms));
        let lasts_ms = i64::try_from(passed_ms * i128::from(step) / i128::from(used)).unwrap_or(i64::MAX);
        // An agent that has just started does not know the minimum yet.
        Some(self.rules.next_step(step, self.own_step.unwrap_or(step), lasts_ms))
    }

    fn taken(&mut self, now: Now, view: &View, range: Range<u64>, own: u64, output: &mut Output) -> u64 {
        let seen = view.seen.max(view.granted);
        if range.start < seen {
            self.went_down(now, view, range.start, output);
            return 0;
        }
        self.answered(now, output);
        let count = range.end - range.start;
        if count == 0 {
            self.mind(
                Trouble::Store,
                Event::Failed(StoreError::Damaged {
                    store: self.rules.tag.clone(),
                    why: "its step is 0, but must be 1 or more".to_owned(),
                }),
                now,
                output,
            );
            return 0;
        }
        self.trouble = None;
        self.retry_ms = self.rules.retry_ms.0;
        if view.step != 0 && count != view.step {
            output.events.push(Event::Step { from: view.step, to: count });
        }
        self.own_step = Some(own);
        self.had = Some(view.left + view.next + count);
        if !self.is_serving {
            self.is_serving = true;
            output.events.push(Event::Serving { range: range.clone() });
        }
        self.sizes.1 = count;
        output.writes.extend([
            Write::See(range.end),
            Write::Step(count, now.ms),
            Write::Publish(range),
            Write::Say(SegmentNews::Serving),
        ]);
        count
    }

    fn went_down(&mut self, now: Now, view: &View, number: u64, output: &mut Output) {
        self.answered(now, output);
        let seen = view.seen.max(view.granted);
        self.mind(Trouble::WentDown, Event::WentDown { number, seen }, now, output);
    }

    fn answered(&self, now: Now, output: &mut Output) {
        output.writes.push(Write::Contact(now.ms));
    }

    /// Reports trouble once, and waits.
    fn mind(&mut self, trouble: Trouble, event: Event, now: Now, output: &mut Output) {
        // A connection that was idle for hours may be closed. A single failure is not worth a line while numbers are
        // left.
        let may_pass = trouble == Trouble::Store && self.is_serving && self.retry_ms == self.rules.retry_ms.0;
        let wait_ms = if trouble == Trouble::Store {
            let wait_ms = self.retry_ms;
            self.retry_ms = (2 * wait_ms).min(self.rules.retry_ms.1);
            wait_ms
        } else {
            MENDED_MS
        };
        self.not_before_ms = now.monotonic_ms + wait_ms;
        let news = match trouble {
            // The time of the last contact shows how the store answered last.
            Trouble::Store => SegmentNews::Serving,
            Trouble::NoTag => SegmentNews::NoTag,
            Trouble::WentDown => SegmentNews::WentDown,
            Trouble::Ended => SegmentNews::Ended,
        };
        output.writes.push(Write::Say(news));
        if may_pass {
            return;
        }
        if self.trouble.replace(trouble) != Some(trouble) {
            output.events.push(event);
        }
        self.is_serving = false;
    }

    /// `has` is how many numbers the page has now.
    fn measure(&mut self, now: Now, has: u64, output: &mut Output) {
        let Rate { since_ms, had, milli } = &mut self.rate;
        match *since_ms {
            None => (*since_ms, *had) = (Some(now.monotonic_ms), has),
            Some(since) => {
                let added: u64 = output.writes.iter().map(Write::adds).sum();
                *had += added;
                let passed = now.monotonic_ms.saturating_sub(since);
                if passed >= RATE_MS {
                    let taken = had.saturating_sub(has);
                    *milli = taken.saturating_mul(1_000_000) / passed;
                    (*since_ms, *had) = (Some(now.monotonic_ms), has);
                    output.writes.push(Write::Rate(*milli));
                }
            }
        }
    }

    fn wait_ms(&self, now: Now, view: &View) -> u64 {
        let (least, most) = self.rules.look_ms;
        if view.wants && self.not_before_ms > now.monotonic_ms {
            return (self.not_before_ms - now.monotonic_ms).min(RATE_MS);
        }
        // Half the time that a tenth of a range lasts at this rate.
        let tenth = self.sizes.0.max(self.sizes.1) / 10;
        let half_ms = tenth.saturating_mul(500_000).checked_div(self.rate.milli).unwrap_or(most);
        half_ms.clamp(least, most)
    }
}

impl Write {
    fn adds(&self) -> u64 {
        match self {
            Self::Publish(range) => range.end - range.start,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_left_are_served_at_once_and_said_once() {
        let (mut machine, now) = (Machine::new(Rules::new("a")), Now { ms: 1_700_000_000_000, monotonic_ms: 0 });
        let view =
            View { left: 40, next: 100, wants: false, granted: 200, seen: 200, fetches: 2, step: 100, fetched_ms: 0 };
        let output = machine.step(now, &view, None);
        assert_eq!((output.events, output.request), (vec![Event::Resumed { left: 140 }], None));
        assert_eq!(machine.step(now, &view, None).events, []);
    }

    #[test]
    fn a_range_may_be_as_large_as_a_store_can_say() {
        let mut machine = Machine::new(Rules::new("a"));
        let now = Now { ms: 1_700_000_000_000, monotonic_ms: 0 };
        let view = View { left: 0, next: 0, wants: true, granted: 0, seen: 0, fetches: 0, step: 0, fetched_ms: 0 };
        assert!(machine.step(now, &view, None).request.is_some());
        let range = 1..i64::MAX as u64;
        let answer = Answer::Taken(Taken::Range { range: range.clone(), step: range.end });
        let output = machine.step(now, &view, Some(answer));
        assert!(output.writes.contains(&Write::Publish(range)) && output.request.is_none());
    }
}
