//! A lease, as its keeper manages it: the page, and the store.

use super::own::{OwnError, Owned, own};
use super::page::{look, write};
use super::room::Looks;
use super::{Level, Line, Managed, Step, Terms, look_at_it};
use crate::store::{Durability, Store};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use txid::snowflake::{Generator, Layout, LeaseNews, LeasePage, StateError};
use txid_agent_machines::lease::{Answer, Event, Input, Lease, Output, PageView, Reply, Request, Rules};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::store::Put;

/// A lease: its page, of which this agent is the only writer, and its store.
pub struct ManagedLease {
    rules: Rules,
    machine: Lease,
    /// The next input, if it is an answer of the store.
    answer: Option<Answer>,
    page: LeasePage,
    /// Asked whether it would make an id.
    generator: Generator,
    store: Box<dyn Store>,
    /// As the last answer said.
    durability: Durability,
    has_answered: bool,
    /// If a child stamps ids with the clock: the first time that it cannot have used so far, and how far it may be
    /// ahead of this host's clock.
    used_ms: Option<(AtomicI64, i64)>,
    file: Owned,
    room: Looks,
}

/// What a line of the log about an event is about; and the reason for the errors of processes that cannot make ids, if it is
/// another one from now on.
fn about(event: &Event) -> (Level, &'static str, Option<LeaseNews>) {
    use Level::{Error, Info, Warning};
    match event {
        Event::Taken { .. } => (Info, "taken", Some(LeaseNews::Held)),
        Event::Resumed(_) => (Info, "resumed", Some(LeaseNews::Held)),
        Event::Released(_) => (Info, "released", Some(LeaseNews::Released)),
        Event::NotReleased { .. } => (Warning, "not-released", Some(LeaseNews::Released)),
        Event::Lost { .. } => (Error, "lost", Some(LeaseNews::Lost)),
        Event::Cloned(_) => (Error, "copied", Some(LeaseNews::Copied)),
        Event::Forgotten { is_ours, .. } => (Error, "forgotten", (!is_ours).then_some(LeaseNews::Waiting)),
        Event::StoreAway(_) => (Warning, "store-away", None),
        Event::Conflicts { .. } => (Error, "no-effect", None),
        Event::StoreBack => (Info, "store-back", None),
        Event::ClockOff(_) => (Error, "clock-off", Some(LeaseNews::ClockOff)),
        Event::ClockRight => (Info, "clock-right", Some(LeaseNews::Held)),
        Event::Jumped(_) => (Warning, "jumped", Some(LeaseNews::Asking)),
        Event::UsedUp(_) => (Warning, "used-up", Some(LeaseNews::NoneFree)),
        Event::NoneFree(_) => (Error, "none-free", Some(LeaseNews::NoneFree)),
        Event::NewGroup(_) | Event::Floor(_) => (Warning, "waiting", Some(LeaseNews::Waiting)),
        Event::Ahead(_) => (Warning, "waiting", None),
    }
}

impl ManagedLease {
    /// Opens the page in the file at `path`, or makes it.
    pub fn open(path: &Path, layout: &Layout, rules: Rules, store: Box<dyn Store>) -> Result<Self, OwnError> {
        let (page, file) = own(path, |path| match LeasePage::open_or_make(path, layout) {
            Err(StateError::OtherBoot(_) | StateError::Copied(_)) => Ok(None),
            page => page.map(Some),
        })?;
        let generator = Generator::new(page.state());
        let durability = store.durability().clone();
        Ok(Self {
            rules,
            machine: Lease::new(&look(&page)),
            answer: None,
            page,
            generator,
            store,
            durability,
            has_answered: false,
            used_ms: None,
            file,
            room: Looks::new(path),
        })
    }

    /// A child has the node in its environment, and the page does not show which times it uses: all until now, and
    /// `later` beyond, because the clock may have been stepped back, and the child may run ahead of it.
    pub fn used_by_clock(mut self, later: Duration) -> Self {
        self.used_ms = Some((AtomicI64::new(i64::MIN), later.as_millis() as i64));
        self
    }

    fn look(&self) -> PageView {
        let mut view = look(&self.page);
        if let Some((used_ms, later_ms)) = &self.used_ms {
            // The child is gone before the limit. Without a lease, the limit is long past.
            let free_ms = view.limit_ms.min(txid::system_ms().saturating_add(later_ms + 1));
            view.free_ms = view.free_ms.max(used_ms.fetch_max(free_ms, Ordering::Relaxed)).max(free_ms);
        }
        view
    }

    /// The answer; and if there is one, the store's clock, as far as it shows one.
    fn ask(&mut self, request: Request) -> Answer {
        let Self { rules, store, .. } = self;
        let reply = match request {
            Request::Read(key) => Reply::Read(store.read(&key)),
            Request::Put { key, expected, bytes } => Reply::Put(store.put(&key, &expected, &bytes)),
            Request::List(mut survey) => {
                let listed = store.list(&survey.prefix(), &mut |key, record| survey.see(key, record));
                Reply::List(listed.map(|()| survey))
            }
            Request::Number => Reply::Number(store.number(&rules.group, &rules.owner, rules.last_node)),
        };
        self.has_answered = match &reply {
            Reply::Read(answer) => answer.is_ok(),
            Reply::Put(answer) => !matches!(answer, Err(_) | Ok(Put::Unknown(_))),
            Reply::List(answer) => answer.is_ok(),
            Reply::Number(answer) => answer.is_ok(),
        };
        if !self.has_answered {
            self.page.count_failure();
            return Answer { reply, time: None };
        }
        self.page.set_contact(txid::system_ms());
        Answer { reply, time: store.clock().ok().flatten() }
    }

    /// Takes note of how durable the store says it is. Returns a line of the log if that changed.
    fn learn(&mut self) -> Option<String> {
        if !self.has_answered || self.durability == *self.store.durability() {
            return None;
        }
        self.durability = self.store.durability().clone();
        self.rules.learn(self.durability.may_lose_writes());
        let why = self.durability.why()?;
        Some(format!(
            "the store can lose a write that it has confirmed ({why}), so a lease starts {} s after the end of the last \
             one; if the store loses none, add ?may-lose-writes=0 to the URL",
            self.rules.margin_ms / 1000
        ))
    }
}

impl Managed for ManagedLease {
    fn begin(&mut self) {
        (self.machine, self.answer) = (Lease::new(&self.look()), None);
    }

    fn step(&mut self, now: &Now, is_to_stop: bool) -> Step {
        let unless = if is_to_stop { Input::Stop } else { Input::Go };
        let input = self.answer.take().map_or(unless, Input::Answer);
        let view = self.look();
        match self.machine.step(&self.rules, now, &view, input) {
            Output::Ask(request) => {
                self.answer = Some(self.ask(request));
                Step::Done(self.learn().map(look_at_it))
            }
            Output::Write(it) => {
                write(&self.page, it);
                Step::Done(None)
            }
            Output::Log(event) => {
                let (level, word, news) = about(&event);
                news.into_iter().for_each(|news| self.page.set_news(news));
                Step::Done(Some(Line::new((level, word), event.to_string())))
            }
            Output::Wait { until_ms } => Step::Wait(until_ms),
            Output::Stopped => Step::Stopped,
            Output::Fail(failure) => Step::Failed(failure.to_string()),
        }
    }

    fn go_by(&mut self, terms: Terms) {
        let Terms::Lease(rules, store) = terms else { return };
        self.durability = store.durability().clone();
        (self.rules, self.store, self.has_answered) = (rules, store, false);
        self.machine = Lease::again(&self.look());
    }

    fn attend(&mut self, now: Instant) -> Option<String> {
        let text = self.file.look();
        if text.is_some() || !self.has_answered || !self.room.is_due(now) {
            return text;
        }
        // Whether it answers is the machine's concern.
        self.room.saw(self.store.room().ok()??)
    }

    fn refusal(&self) -> Option<String> {
        self.generator.refusal_at(txid::system_ms()).map(|why| why.to_string())
    }

    fn node(&self) -> Option<u64> {
        self.page.state().node()
    }

    fn unreturned(&self) -> Box<dyn Fn() -> Option<String>> {
        let (page, idle_ms) = (self.page, self.rules.idle_ms);
        Box::new(move || {
            let node = page.state().node()?;
            let free_ms = page.view().noted_ms.saturating_add_unsigned(idle_ms);
            Some(Event::NotReleased { node, free_ms }.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::keep;
    use crate::keeper::tests::Stops;
    use crate::store::{Room, Show};
    use std::sync::Barrier;
    use std::thread;
    use txid_agent_machines::lease::{NoneFree, Write};
    use txid_agent_machines::store::{Expected, Numbering, Record, StoreError, StoreTime};

    fn lease(path: &Path, store: &Path) -> Result<ManagedLease, OwnError> {
        let layout = &Layout::SNOWFLAKE;
        let store = crate::store::open(&format!("file://{}", store.display())).unwrap();
        ManagedLease::open(path, layout, Rules::new("orders", "here", layout, false), store)
    }

    #[test]
    fn answers_and_failures_of_the_store_show_in_the_page() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        let mut lease = lease(&path, &path).unwrap();
        let read = || Request::Read("orders/node/1".to_owned());
        // The page's own file is no directory.
        assert!(matches!(lease.ask(read()).reply, Reply::Read(Err(_))));
        let view = lease.page.view();
        assert_eq!((view.failures, view.contact_ms), (1, None));
        let store = crate::store::open(&format!("file://{}/leases", directory.path().display())).unwrap();
        lease.store = store;
        let before_ms = txid::system_ms();
        assert!(matches!(lease.ask(read()).reply, Reply::Read(Ok(None))));
        let view = lease.page.view();
        assert_eq!(view.failures, 1);
        assert!(view.contact_ms.is_some_and(|ms| (before_ms..=txid::system_ms()).contains(&ms)));
    }

    #[test]
    fn the_errors_of_processes_say_what_the_log_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        let mut lease = lease(&path, &directory.path().join("leases")).unwrap();
        lease.rules.new = true;
        let news = || LeasePage::attach(&path).unwrap().view().news;
        assert_eq!(news(), LeaseNews::Starting);
        keep(&mut lease, &Stops(|| assert_eq!(news(), LeaseNews::Held)), |_| {}).unwrap();
        assert_eq!(news(), LeaseNews::Released);
    }

    /// A store that answers, and says that it is so durable.
    struct Says(Durability);

    impl Store for Says {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            Ok(None)
        }

        fn put(&mut self, _: &str, _: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
            Ok(if bytes.is_empty() { Put::Conflict } else { Put::Unknown(self.number("", "", 0).unwrap_err()) })
        }

        fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
            show(&format!("{prefix}7"), Record::compared_by_bytes(Vec::new()));
            Ok(())
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            Ok(Some(StoreTime { earliest_ms: 5, latest_ms: 6 }))
        }

        fn number(&mut self, _: &str, _: &str, _: u64) -> Result<txid_agent_machines::store::Numbered, StoreError> {
            Err(StoreError::TimedOut { store: "here".to_owned(), ms: 1 })
        }

        fn room(&mut self) -> Result<Option<Room>, StoreError> {
            Ok(Some(Room { used: 60, quota: 100 }))
        }

        fn durability(&self) -> &Durability {
            &self.0
        }
    }

    #[test]
    fn a_store_that_has_answered_is_asked_for_its_room() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        let mut lease = lease(&path, directory.path()).unwrap();
        lease.store = Box::new(Says(Durability::Durable));
        let now = Instant::now();
        assert_eq!(lease.attend(now), None);
        lease.ask(Request::Read("orders/node/1".to_owned()));
        let said = lease.attend(now).unwrap();
        assert!(said.starts_with("the store has used 60 of the 100 bytes of its quota; "), "{said}");
        assert_eq!(lease.attend(now), None, "it was asked");
        std::fs::remove_file(&path).unwrap();
        assert!(lease.attend(now).is_some_and(|said| said.ends_with("restart txid-agent, and then those programs")));
    }

    #[test]
    fn what_a_store_says_of_its_writes_is_learned_once_it_has_answered() {
        let directory = tempfile::tempdir().unwrap();
        let mut lease = lease(&directory.path().join("orders"), directory.path()).unwrap();
        let read = || Request::Read("orders/node/1".to_owned());
        let says = |lease: &mut ManagedLease, durability| {
            lease.store = Box::new(Says(durability));
            lease.learn()
        };
        let loses = || Durability::MayLose { why: "appendonly no".to_owned() };
        assert_eq!((says(&mut lease, loses()), lease.rules.margin_ms), (None, 0), "it has not answered");
        assert_eq!(lease.ask(read()).time, Some(StoreTime { earliest_ms: 5, latest_ms: 6 }));
        let text = "the store can lose a write that it has confirmed (appendonly no), so a lease starts 60 s after the end of the \
                    last one; if the store loses none, add ?may-lose-writes=0 to the URL";
        assert_eq!((lease.learn().as_deref(), lease.rules.margin_ms), (Some(text), 60_000));
        assert_eq!(lease.learn(), None, "it was said");
        assert_eq!((says(&mut lease, Durability::Durable), lease.rules.margin_ms), (None, 0));
    }

    #[test]
    fn only_an_answer_is_a_contact() {
        let directory = tempfile::tempdir().unwrap();
        let mut lease = lease(&directory.path().join("orders"), directory.path()).unwrap();
        lease.store = Box::new(Says(Durability::Durable));
        let put =
            |bytes: &[u8]| Request::Put { key: "a".to_owned(), expected: Expected::Absent, bytes: bytes.to_vec() };
        let survey = Box::new(txid_agent_machines::lease::Survey::new(&lease.rules, 0));
        for (request, failures) in [
            (Request::Read("a".to_owned()), 0),
            (put(b""), 0),
            (put(b"x"), 1),
            (Request::List(survey), 1),
            (Request::Number, 2),
        ] {
            let before = lease.page.view().failures;
            let Answer { reply, time } = lease.ask(request);
            let view = lease.page.view();
            assert_eq!((view.failures, time.is_some()), (failures, before == failures), "{reply:?}");
            assert_eq!(lease.has_answered, before == failures, "it is asked for no more: {reply:?}");
            if let Reply::List(Ok(survey)) = reply {
                assert_eq!(survey.count(), 1);
            }
        }
    }

    #[test]
    fn what_was_not_given_back_is_said_with_its_time() {
        let directory = tempfile::tempdir().unwrap();
        let lease = lease(&directory.path().join("orders"), directory.path()).unwrap();
        let said = lease.unreturned();
        assert_eq!(said(), None, "there is none");
        let limit_ms = txid::system_ms() + 60_000;
        write(&lease.page, Write::Open { node: 7, start_ms: txid::system_ms() });
        // A renewal that may have arrived.
        write(&lease.page, Write::Note { limit_ms: limit_ms + 1_000 });
        write(&lease.page, Write::Limit { node: 7, limit_ms });
        let free = txid_agent_machines::utc(limit_ms + 601_000);
        let text = format!("could not give node 7 back; others take it from {free} on, or after 'txid-agent release'");
        assert_eq!(said(), Some(text));
        assert_eq!(lease.refusal(), None);
    }

    /// Whatever the page and the clock show later.
    #[test]
    fn times_that_a_child_may_have_used_stay_used() {
        let directory = tempfile::tempdir().unwrap();
        let lease = lease(&directory.path().join("orders"), directory.path()).unwrap();
        const HOUR_MS: i64 = 3_600_000;
        let now_ms = txid::system_ms();
        write(&lease.page, Write::Open { node: 1, start_ms: now_ms });
        write(&lease.page, Write::Limit { node: 1, limit_ms: now_ms + 2 * HOUR_MS });
        let lease = lease.used_by_clock(Duration::from_millis(HOUR_MS as u64));
        let used_ms = lease.look().free_ms;
        assert!(used_ms > now_ms + HOUR_MS);
        // As if the clock was stepped back by an hour: until then, the child can have used nothing more.
        write(&lease.page, Write::Limit { node: 1, limit_ms: now_ms });
        for free_ms in [(); 3].map(|()| lease.look().free_ms) {
            assert!(free_ms >= used_ms, "{free_ms} {used_ms}");
        }
    }

    /// Each removes the file and makes a new one: what the others have locked is then not the file any more.
    #[test]
    fn of_several_that_find_a_copy_one_owns_the_page() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("orders"), directory.path().join("other"));
        drop(lease(&other, directory.path()).unwrap());
        for round in 0..500 {
            std::fs::copy(&other, &path).unwrap();
            let start = Barrier::new(4);
            let owners: Vec<_> = thread::scope(|scope| {
                let open = || {
                    start.wait();
                    lease(&path, directory.path())
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let refused = owners.iter().filter(|owner| matches!(owner, Err(OwnError::InUse(_)))).count();
            assert_eq!((owners.iter().flatten().count(), refused), (1, 3), "round {round}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_reason_stays_until_there_is_another() {
        let news = |event: &Event| about(event).2;
        let error = StoreError::TimedOut { store: "here".to_owned(), ms: 7 };
        for event in [
            Event::StoreBack,
            Event::Forgotten { node: 7, is_ours: true },
            Event::Ahead(7),
            Event::StoreAway(error),
            Event::Conflicts { key: "orders/node/7".to_owned(), count: 6 },
        ] {
            assert_eq!(news(&event), None, "{event}");
        }
        let none = NoneFree { nodes: 1, live: 1, unreadable: 0, next: Vec::new() };
        for (event, wanted) in [
            (Event::Taken { node: 7, generation: 1, tries: 1 }, LeaseNews::Held),
            (Event::NotReleased { node: 7, free_ms: 0 }, LeaseNews::Released),
            (Event::NoneFree(none), LeaseNews::NoneFree),
            (Event::NewGroup(7), LeaseNews::Waiting),
            (Event::UsedUp(Numbering::WorkerNode), LeaseNews::NoneFree),
            (Event::Floor(7), LeaseNews::Waiting),
            (Event::Lost { node: 7, now: String::new() }, LeaseNews::Lost),
            (Event::Forgotten { node: 7, is_ours: false }, LeaseNews::Waiting),
            (Event::Cloned(7), LeaseNews::Copied),
            (Event::ClockOff(11_000), LeaseNews::ClockOff),
            (Event::ClockRight, LeaseNews::Held),
            (Event::Jumped(11_000), LeaseNews::Asking),
            (Event::Resumed(7), LeaseNews::Held),
            (Event::Released(7), LeaseNews::Released),
        ] {
            assert_eq!(news(&event), Some(wanted), "{event}");
        }
    }
}
