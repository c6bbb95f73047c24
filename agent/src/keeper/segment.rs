//! A segment, as its keeper manages it: the page, and the store.

use super::own::{OwnError, Owned, own};
use super::{Kind, Level, Line, Managed, Step, Terms};
use crate::store::{self, Durability, Store};
use std::path::Path;
use std::time::{Duration, Instant};
use txid::hidden::KeyCheck;
use txid::segment::{SegmentError, SegmentPage};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::segment::{Answer, Event, Input, Output, Request, Rules, Segment, View, Write};
use txid_agent_machines::store::{StoreError, Taken};

/// A segment: its page, of which this agent is the only writer, and its store.
pub struct ManagedSegment {
    rules: Rules,
    machine: Segment,
    /// The next input, if it is an answer of the store.
    answer: Option<Answer>,
    page: SegmentPage,
    store: Box<dyn Store>,
    keys: Option<Keys>,
    file: Owned,
}

/// The keys that hide the numbers.
struct Keys {
    checks: Vec<KeyCheck>,
    /// Whether the store has them.
    are_bound: bool,
    /// The last try: its time, and its result.
    tried: Option<Instant>,
    why: Option<String>,
}

/// What a line of the log about an event is about.
fn kind(event: &Event) -> Kind {
    match event {
        Event::Serving(_) => (Level::Info, "serving"),
        Event::Resumed(_) => (Level::Info, "resumed"),
        Event::Created => (Level::Info, "created"),
        Event::Step { .. } => (Level::Info, "step"),
        Event::Failed(_) => (Level::Warning, "store-away"),
        Event::NoTag => (Level::Error, "no-tag"),
        Event::WentDown { .. } => (Level::Error, "went-down"),
        Event::MayLose(_) => (Level::Error, "may-lose"),
        Event::Ended => (Level::Error, "ended"),
    }
}

fn keys(checks: Vec<KeyCheck>) -> Option<Keys> {
    (!checks.is_empty()).then_some(Keys { checks, are_bound: false, tried: None, why: None })
}

/// How long to wait before the store is asked again.
const AGAIN: Duration = Duration::from_secs(5);

impl ManagedSegment {
    /// Opens the page in the file at `path`, or makes it. It gets the check values of the keys that hide its numbers, if there are any.
    pub fn open(path: &Path, rules: Rules, store: Box<dyn Store>, checks: Vec<KeyCheck>) -> Result<Self, OwnError> {
        let (page, file) = own(path, |path| match SegmentPage::open_or_make(path) {
            Err(SegmentError::OtherBoot(_) | SegmentError::Copied(_)) => Ok(None),
            page => page.map(Some),
        })?;
        Ok(Self { rules, machine: Segment::default(), answer: None, page, store, keys: keys(checks), file })
    }

    /// Ties the tag to the keys, and then lets workers hide by them.
    fn bind(&mut self, now: Instant) -> Result<(), StoreError> {
        let Some(keys) = self.keys.as_mut().filter(|keys| !keys.are_bound) else { return Ok(()) };
        keys.tried = Some(now);
        let known = store::bind(&mut *self.store, &self.rules.tag, &keys.checks)?;
        known.into_iter().for_each(|check| self.page.set_key_check(check));
        keys.are_bound = true;
        Ok(())
    }

    /// Takes a range, unless the store can lose it again: another host would get it, too. There is no margin of time that
    /// would help, as there is for leases, because a number does not show when it was taken, or by whom.
    fn take(&mut self, count: Option<u64>, seen: u64) -> Result<Answer, StoreError> {
        let Rules { tag, max_step, .. } = &self.rules;
        let mut count = count;
        if count.is_none()
            || matches!(self.store.durability_of_numbers(), Durability::Unknown | Durability::MayLose { .. })
        {
            // It says so with each answer. This only reads.
            match self.store.take(tag, Some(0), seen)? {
                // Anybody who may write to the store may write any step.
                Taken::Range { step, .. } => count = count.or(Some(step.min(*max_step))),
                other => return Ok(Answer::Taken(other)),
            }
        }
        let taken = match self.store.durability_of_numbers().why() {
            None => self.store.take(tag, count, seen)?,
            Some(why) => return Ok(Answer::MayLose(why.to_owned())),
        };
        // Somebody may have changed it since.
        Ok(match self.store.durability_of_numbers().why() {
            None => Answer::Taken(match taken {
                Taken::Range { range, step } => Taken::Range { range, step: step.min(*max_step) },
                other => other,
            }),
            Some(why) => Answer::MayLose(why.to_owned()),
        })
    }

    fn look(&self) -> View {
        let stats = self.page.segment().stats();
        View {
            left: stats.left,
            next: stats.next,
            wants: self.page.wants(),
            granted: stats.granted,
            seen: self.page.seen(),
            fetches: stats.fetches,
            step: stats.step,
            fetched_ms: self.page.fetched_ms(),
        }
    }

    fn write(&self, write: Write) {
        let page = &self.page;
        match write {
            Write::See(number) => page.see(number),
            Write::Step(step, fetched_ms) => page.set_step(step, fetched_ms),
            Write::Publish(range) => page.publish(range),
            Write::Rate(milli) => page.set_rate(milli),
            Write::Contact(ms) => page.set_contact(ms),
            Write::Failure => page.count_failure(),
            Write::News(news) => page.set_news(news),
        }
    }

    fn ask(&mut self, request: Request) -> Answer {
        let answer = match request {
            Request::Take { count, seen } => self.bind(Instant::now()).and_then(|()| self.take(count, seen)),
            Request::Create(step) => self.store.create_tag(&self.rules.tag, step).map(|()| Answer::Created),
        };
        answer.unwrap_or_else(Answer::Failed)
    }
}

impl Managed for ManagedSegment {
    fn begin(&mut self) {
        (self.machine, self.answer) = (Segment::default(), None);
    }

    fn step(&mut self, now: &Now, is_to_stop: bool) -> Step {
        let unless = if is_to_stop { Input::Stop } else { Input::Go };
        let input = self.answer.take().map_or(unless, Input::Answer);
        let view = self.look();
        match self.machine.step(&self.rules, now, &view, input) {
            Output::Ask(request) => self.answer = Some(self.ask(request)),
            Output::Write(write) => self.write(write),
            Output::Log(event) => return Step::Done(Some(Line::new(kind(&event), event.to_string()))),
            Output::Wait { until_ms } => return Step::Wait(until_ms),
            Output::Stopped => return Step::Stopped,
            Output::Fail(failure) => return Step::Failed(failure.to_string()),
        }
        Step::Done(None)
    }

    fn go_by(&mut self, terms: Terms) {
        let Terms::Segment(rules, store, checks) = terms else { return };
        (self.rules, self.store, self.machine, self.keys) = (rules, store, Segment::default(), keys(checks));
    }

    fn attend(&mut self, now: Instant) -> Option<String> {
        if let Some(text) = self.file.look() {
            return Some(text);
        }
        let keys = self.keys.as_ref()?;
        if keys.tried.is_some_and(|tried| now.duration_since(tried) < AGAIN) {
            return None;
        }
        let why = self.bind(now).err().map(|error| error.to_string());
        let keys = self.keys.as_mut()?;
        let is_news = why != keys.why;
        keys.why = why;
        keys.why.clone().filter(|_| is_news)
    }

    fn refusal(&self) -> Option<String> {
        self.page.segment().refusal().map(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::keep;
    use crate::keeper::tests::Stops;
    use crate::store::Show;
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use txid_agent_machines::store::{Expected, Put, Record, StoreTime};

    fn segment(path: &Path) -> Result<ManagedSegment, OwnError> {
        segment_of(path, crate::store::open("file:///nowhere").unwrap())
    }

    fn segment_of(path: &Path, store: Box<dyn Store>) -> Result<ManagedSegment, OwnError> {
        ManagedSegment::open(path, Rules::new("a"), store, Vec::new())
    }

    fn hidden(path: &Path, store: Box<dyn Store>) -> ManagedSegment {
        ManagedSegment::open(path, Rules::new("a"), store, vec!["66e94b-767ab6ec".parse().unwrap()]).unwrap()
    }

    /// A store that does not answer, and counts how often it is asked.
    struct Away(Arc<AtomicU32>);

    impl Store for Away {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(StoreError::TimedOut { store: "here".to_owned(), ms: 1 })
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            unreachable!("nothing was read")
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("keys are not listed")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            Ok(None)
        }

        fn durability(&self) -> &Durability {
            &Durability::Durable
        }
    }

    #[test]
    fn a_store_that_does_not_answer_is_asked_about_keys_now_and_then_and_that_is_said_once() {
        let directory = tempfile::tempdir().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let mut managed = hidden(&directory.path().join("a.segment"), Box::new(Away(asked.clone())));
        let asked = || asked.load(Ordering::Relaxed);
        let now = Instant::now();
        assert_eq!((managed.attend(now), asked()), (Some("here did not answer within 1 ms".to_owned()), 1));
        let just_before = now + Duration::from_millis(4_999);
        assert_eq!((managed.attend(just_before), asked()), (None, 1), "it was asked a moment ago");
        let again = now + Duration::from_secs(5);
        assert_eq!((managed.attend(again), asked()), (None, 2), "the same is no news");
    }

    /// The page has numbers, so the store is asked for none.
    #[test]
    fn what_is_wrong_with_keys_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let mut managed = hidden(&directory.path().join("a.segment"), Box::new(Away(Arc::default())));
        managed.page.publish(1..5000);
        let mut said = Vec::new();
        keep(&mut managed, &Stops(|| {}), |report| said.extend(report.line)).unwrap();
        assert!(said.iter().any(|line| line.text == "here did not answer within 1 ms"), "{said:?}");
    }

    #[test]
    fn a_tag_is_bound_to_its_keys_once_and_workers_may_hide_by_them() {
        let directory = tempfile::tempdir().unwrap();
        let (path, records) = (directory.path().join("a.segment"), directory.path().join("records"));
        let check: KeyCheck = "66e94b-767ab6ec".parse().unwrap();
        let store = crate::store::open(&format!("file://{}", records.display())).unwrap();
        let mut managed = hidden(&path, store);
        assert_eq!(managed.attend(Instant::now()), None);
        assert_eq!(txid::segment::Segment::attach(&path).unwrap().key_check(check.period()), Some(check));
        fs::remove_dir_all(&records).unwrap();
        fs::write(&records, "").unwrap();
        assert_eq!(managed.attend(Instant::now() + AGAIN), None, "the store is not asked again");
    }

    /// A store whose tag has this step, and that is made to lose what it confirms while it is asked for the `after`th time.
    struct Changed {
        step: u64,
        durability: Durability,
        asked: u32,
        after: u32,
    }

    impl Store for Changed {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            unreachable!("numbers are no records")
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            unreachable!("numbers are no records")
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("numbers are no records")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            unreachable!("numbers have no time")
        }

        fn take(&mut self, _: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
            self.asked += 1;
            assert!(self.asked <= self.after, "it can lose what it is asked for");
            self.durability = if self.asked < self.after {
                Durability::Durable
            } else {
                Durability::MayLose { why: "it was told to".to_owned() }
            };
            Ok(Taken::Range { range: seen..seen + count.unwrap_or(self.step), step: self.step })
        }

        fn durability(&self) -> &Durability {
            &self.durability
        }
    }

    fn changed(step: u64, after: u32) -> Box<Changed> {
        Box::new(Changed { step, durability: Durability::Unknown, asked: 0, after })
    }

    #[test]
    fn what_is_written_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.segment");
        let managed = segment(&path).unwrap();
        let empty = View { left: 0, next: 0, wants: true, granted: 0, seen: 0, fetches: 0, step: 0, fetched_ms: 0 };
        assert_eq!(managed.look(), View { fetched_ms: managed.page.fetched_ms(), ..empty });
        for write in [
            Write::See(9),
            Write::Step(20, 1_700_000_000_000),
            Write::Publish(1..5),
            Write::Rate(2_500),
            Write::Contact(1_700_000_000_001),
            Write::Failure,
            Write::News(txid::segment::SegmentNews::NoTag),
        ] {
            managed.write(write);
        }
        let wanted = View {
            next: 4,
            wants: false,
            granted: 5,
            seen: 9,
            fetches: 1,
            step: 20,
            fetched_ms: 1_700_000_000_000,
            ..empty
        };
        assert_eq!(managed.look(), wanted);
        let stats = txid::segment::Segment::attach(&path).unwrap().stats();
        assert_eq!((stats.rate_milli, stats.contact_ms, stats.failures), (2_500, Some(1_700_000_000_001), 1));
        assert_eq!(stats.news, txid::segment::SegmentNews::NoTag);
    }

    #[test]
    fn a_missing_tag_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let store = crate::store::open(&format!("file://{}/tags", directory.path().display())).unwrap();
        let mut managed = segment_of(&directory.path().join("a.segment"), store).unwrap();
        assert_eq!(managed.ask(Request::Take { count: None, seen: 0 }), Answer::Taken(Taken::NoTag));
        assert_eq!(managed.ask(Request::Create(20)), Answer::Created);
        let taken = Taken::Range { range: 1..21, step: 20 };
        assert_eq!(managed.ask(Request::Take { count: None, seen: 0 }), Answer::Taken(taken));
        managed.store = Box::new(Away(Arc::default()));
        let error = StoreError::TimedOut { store: "here".to_owned(), ms: 1 };
        assert_eq!(managed.ask(Request::Take { count: None, seen: 0 }), Answer::Failed(error));
    }

    /// Otherwise, one host would take all numbers that there are.
    #[test]
    fn a_step_in_the_store_is_at_most_the_largest() {
        let directory = tempfile::tempdir().unwrap();
        for (own, count, wanted) in [
            (u64::MAX >> 2, None, 1_000_000),
            (3_000, None, 3_000),
            (3_000, Some(500), 500),
            (u64::MAX >> 2, Some(500), 500),
        ] {
            let path = directory.path().join(format!("{own}{count:?}"));
            let mut managed = segment_of(&path, changed(own, u32::MAX)).unwrap();
            let taken = managed.take(count, 7).unwrap();
            let Answer::Taken(Taken::Range { range, step }) = taken else { panic!("no range") };
            assert_eq!((range, step), (7..7 + wanted, own.min(1_000_000)), "{own} {count:?}");
        }
    }

    #[test]
    fn a_range_of_a_store_that_began_to_lose_writes_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let take = |after: u32| {
            let path = directory.path().join(after.to_string());
            segment_of(&path, changed(1, after)).unwrap().take(Some(10), 5).unwrap()
        };
        assert!(matches!(take(1), Answer::MayLose(_)), "before it is asked for numbers");
        assert!(matches!(take(2), Answer::MayLose(_)), "while it gives them");
        assert!(matches!(take(3), Answer::Taken(Taken::Range { range, .. }) if range == (5..15)));
    }
}
