//! One thread for each lease and each segment, and their states.

use super::event::{Event, News};
use super::journal::{Journal, say};
use crate::config::Config;
use crate::node::Node;
use anyhow::ensure;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use txid::snowflake::Layout;
use txid_agent::keeper::{HostClock, Level, Line, Managed, ManagedLease, ManagedSegment, Report, Terms, keep, notes};
use txid_agent::store::{Open, share, shown};
use txid_agent_machines::store::Numbering;
use txid_agent_machines::{lease, pace, segment};

/// How long a thread that failed waits before it starts again.
const RESTART: Duration = if cfg!(test) { Duration::from_millis(100) } else { Duration::from_secs(5) };

/// All leases and segments of this agent.
pub struct Keepers {
    all: Vec<Keeper>,
    events: Sender<Event>,
}

struct Keeper {
    name: String,
    what: What,
    state: State,
    /// Its line is in the configuration. If not, its thread gives back what it has, and ends.
    is_kept: bool,
    journal: Journal,
    /// The line of the log if the thread does not end.
    unreturned: Box<dyn Fn() -> Option<String>>,
    at_stop: Option<String>,
    /// Ends the thread when it is dropped.
    tell: Option<Sender<Terms>>,
}

/// The layout of a node, and what numbers it; None of a segment.
type What = Option<(Layout, Numbering)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has not reported anything.
    Starting,
    /// Processes get no ids or numbers.
    Waiting,
    /// Processes get ids or numbers.
    Live,
    /// Its thread has ended.
    Ended,
}

/// What a configuration has, once all of it can be kept.
#[derive(Default)]
struct Next {
    new: Vec<(String, What, Box<dyn Managed + Send>)>,
    /// What those are to go by that are kept already, by their positions.
    told: BTreeMap<usize, Terms>,
    /// Files that were not there before.
    made: Vec<PathBuf>,
}

impl Keepers {
    /// Starts all threads of `config`. They report to `events`.
    pub fn start(config: &Config, events: Sender<Event>) -> anyhow::Result<Self> {
        let mut keepers = Self { all: Vec::new(), events };
        keepers.change(config, &share(&config.store)?)?;
        Ok(keepers)
    }

    /// Keeps what `config` has: starts a thread for what is new, tells the others what to go by, and ends those that it no longer
    /// has. If something cannot be kept, nothing changes.
    pub fn change(&mut self, config: &Config, open: &Open) -> anyhow::Result<()> {
        let (store, mut next) = (shown(&config.store)?, Next::default());
        if let Err(error) = self.open(config, open, &mut next) {
            // Nobody would write to them, and `status` would show them. Their locks are still held.
            next.made.iter().for_each(|path| drop(std::fs::remove_file(path)));
            return Err(error);
        }
        for (which, keeper) in self.all.iter_mut().enumerate() {
            let terms = next.told.remove(&which);
            match keeper.tell.as_ref().zip(terms) {
                Some((tell, terms)) => drop(tell.send(terms)),
                // Its line is gone, or it has ended, and is taken up anew.
                None => (keeper.is_kept, keeper.tell) = (false, None),
            }
        }
        let files = config.nodes.iter().map(|node| node.name.clone());
        for name in files.chain(config.segments.iter().map(|(tag, _)| format!("{tag}.segment"))) {
            // Only a label is missing then.
            let _ = notes::write(&config.dir.join(name), notes::STORE, &store);
        }
        // All files are there before one of them is live: `status` looks at those that it finds.
        next.new.into_iter().try_for_each(|(name, what, managed)| self.add(name, what, managed))
    }

    /// Adds all that `config` has to `next`.
    fn open(&self, config: &Config, open: &Open, next: &mut Next) -> anyhow::Result<()> {
        let is_kept = |keeper: &Keeper| keeper.is_kept && keeper.state != State::Ended;
        let kept = |name: &str, is_node| {
            self.all.iter().position(|it| is_kept(it) && it.name == name && it.what.is_some() == is_node)
        };
        for node in &config.nodes {
            let store = open();
            node.fits(&*store)?;
            let rules = lease_rules(config, node, store.durability().may_lose_writes());
            let path = config.dir.join(&node.name);
            let what = Some((node.layout, node.numbering));
            if let Some(which) = kept(&node.name, true) {
                ensure!(self.all[which].what == what, "the node {}: another layout needs another name", node.name);
                next.told.insert(which, Terms::Lease(rules, store));
                continue;
            }
            let is_there = path.exists();
            let mut managed = ManagedLease::open(&path, &node.layout, rules, store)?;
            if config.nodes_of_child().iter().any(|used| used.name == node.name) {
                managed = managed.used_by_clock(config.most_ahead());
            }
            if let Some(ending) = node.layout.ending(txid::system_ms()) {
                say(&format!("{}: {ending}", node.name));
            }
            next.new.push((node.name.clone(), what, Box::new(managed)));
            next.made.extend((!is_there).then_some(path));
        }
        for (tag, step) in &config.segments {
            let rules = segment::Rules {
                step: *step,
                max_step: config.max_step,
                create: config.create,
                ..segment::Rules::new(tag)
            };
            let checks = config.keys.get(tag).cloned().unwrap_or_default();
            let (store, path) = (open(), config.dir.join(format!("{tag}.segment")));
            if let Some(which) = kept(tag, false) {
                next.told.insert(which, Terms::Segment(rules, store, checks));
                continue;
            }
            let is_there = path.exists();
            let managed = ManagedSegment::open(&path, rules, store, checks)?;
            next.new.push((tag.clone(), None, Box::new(managed)));
            next.made.extend((!is_there).then_some(path));
        }
        Ok(())
    }

    fn add(&mut self, name: String, what: What, managed: Box<dyn Managed + Send>) -> anyhow::Result<()> {
        let (tell, told) = channel();
        let (which, events) = (self.all.len(), self.events.clone());
        let unreturned = managed.unreturned();
        thread::Builder::new()
            .name(format!("keep-{name}"))
            .stack_size(512 << 10)
            .spawn(move || run(which, managed, &told, &events))?;
        self.all.push(Keeper {
            name,
            what,
            state: State::Starting,
            is_kept: true,
            journal: Journal::default(),
            unreturned,
            at_stop: None,
            tell: Some(tell),
        });
        Ok(())
    }

    /// Takes note of what a thread reports. Returns a line of the log, if there is room for one.
    pub fn hear(&mut self, which: usize, news: &News) -> Option<Line> {
        let keeper = &mut self.all[which];
        let (state, line) = match news {
            News::Report(Report { line, live: true }) => (State::Live, line.clone()),
            News::Report(Report { line, live: false }) => (State::Waiting, line.clone()),
            News::Ended(Ok(())) => (State::Ended, None),
            News::Ended(Err(why)) => (State::Ended, Some(Line::new((Level::Error, "failed"), why))),
        };
        keeper.state = state;
        keeper.journal.line(Line { group: Some(keeper.name.clone()), ..line? }, Instant::now())
    }

    /// When there is room in the log for a line that was left out, if there is one.
    pub fn next_late_line(&self) -> Option<Instant> {
        self.all.iter().filter_map(|keeper| keeper.journal.next()).min()
    }

    /// The lines that were left out, and for which there is room now.
    pub fn late_lines(&mut self, now: Instant) -> Vec<Line> {
        self.all.iter_mut().filter_map(|keeper| keeper.journal.late_line(now)).collect()
    }

    /// Whether each has reported something: it works, or waits for its store.
    pub fn have_started(&self) -> bool {
        self.all.iter().all(|keeper| !keeper.is_kept || keeper.state != State::Starting)
    }

    /// The names of those that give no ids or numbers.
    pub fn not_live(&self) -> Vec<String> {
        let missing = self.all.iter().filter(|keeper| keeper.is_kept && keeper.state != State::Live);
        missing.map(|keeper| keeper.name.clone()).collect()
    }

    /// Whether all threads have ended.
    pub fn have_ended(&self) -> bool {
        self.all.iter().all(|keeper| keeper.state == State::Ended)
    }

    /// Gives all nodes back, and takes no more numbers.
    pub fn stop(&mut self) {
        for keeper in &mut self.all {
            keeper.at_stop = (keeper.unreturned)();
            keeper.tell = None;
        }
    }

    /// Waits for no thread any longer. Returns lines of the log that say what was not given back.
    pub fn give_up(&mut self) -> Vec<Line> {
        let left = self.all.iter_mut().filter(|keeper| keeper.state != State::Ended);
        left.filter_map(|keeper| {
            keeper.state = State::Ended;
            let line = Line::new((Level::Warning, "not-released"), keeper.at_stop.take()?);
            Some(Line { group: Some(keeper.name.clone()), ..line })
        })
        .collect()
    }
}

/// The thread of a lease or a segment. If it fails, it starts again from its page, as an agent does after a kill; the
/// others go on.
fn run(which: usize, mut managed: Box<dyn Managed + Send>, told: &Receiver<Terms>, events: &Sender<Event>) {
    // The main thread may have ended already.
    let send = |news| drop(events.send(Event::Keeper(which, news)));
    loop {
        let keep = || keep(&mut *managed, &HostClock::new(told), |report| send(News::Report(report)));
        let ended = catch_unwind(AssertUnwindSafe(keep));
        match ended {
            Ok(ended) => return send(News::Ended(ended)),
            Err(_) => {
                let text = format!("failed; starts again from its file in {} s", RESTART.as_secs());
                let line = Line { node: managed.node(), ..Line::new((Level::Error, "bug"), text) };
                send(News::Report(Report { line: Some(line), live: managed.refusal().is_none() }));
                // If it is to stop, it gives its node back first.
                let terms = told.recv_timeout(RESTART);
                terms.into_iter().for_each(|terms| managed.go_by(terms));
            }
        }
    }
}

fn lease_rules(config: &Config, node: &Node, may_lose_writes: bool) -> lease::Rules {
    let mut rules = lease::Rules::new(&node.name, &config.host_name, &node.layout, may_lose_writes);
    rules.numbering = node.numbering;
    rules.new = config.assume_unused_store;
    rules.ahead_ms = config.lease_time.as_millis() as u64;
    rules.max_skew_ms = config.max_skew.as_millis() as u64;
    // So that several renewals can fail before a lease ends.
    rules.renew_ms = rules.renew_ms.min(rules.ahead_ms / 6);
    rules.retry_ms.0 = rules.retry_ms.0.min(rules.renew_ms);
    // A short lease is renewed more often.
    rules.most_requests = rules.most_requests.max((2 * pace::WINDOW_MS / rules.renew_ms.max(1)) as usize);
    rules
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::config::tests::config;
    use txid::snowflake::Layout;
    use txid_agent::store::{Durability, Show, Store};
    use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime};

    /// A store whose client has a bug: it panics at the first renewal.
    struct Bug {
        store: Box<dyn Store>,
        requests: u32,
    }

    impl Bug {
        fn count(&mut self) {
            self.requests += 1;
            // A lease in a new store takes eight.
            assert!(self.requests != 9, "an answer that nobody thought of");
        }
    }

    impl Store for Bug {
        fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
            self.count();
            self.store.read(key)
        }

        fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
            self.count();
            self.store.put(key, expected, bytes)
        }

        fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
            self.count();
            self.store.list(prefix, show)
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            self.store.clock()
        }

        fn durability(&self) -> &Durability {
            self.store.durability()
        }
    }

    #[test]
    fn a_thread_that_fails_takes_its_lease_up_again() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("file://{}/leases", directory.path().display());
        // The first renewal is due when the lease is there.
        let rules =
            lease::Rules { new: true, renew_ms: 50, ..lease::Rules::new("orders", "here", &Layout::SNOWFLAKE, false) };
        let store = Box::new(Bug { store: txid_agent::store::open(&url).unwrap(), requests: 0 });
        let managed = ManagedLease::open(&directory.path().join("orders"), &Layout::SNOWFLAKE, rules, store).unwrap();
        let ((tell, told), (sender, events)) = (channel(), channel());
        let mut tell = Some(tell);
        let thread = thread::spawn(move || run(0, Box::new(managed), &told, &sender));
        let mut reports = Vec::new();
        loop {
            let event = events.recv_timeout(Duration::from_secs(60)).unwrap();
            let Event::Keeper(0, news) = event else { panic!("a signal") };
            match news {
                News::Report(Report { line, live }) => {
                    let Some(Line { text, .. }) = line else { continue };
                    if text.starts_with("continues") {
                        drop(tell.take());
                    }
                    reports.push((text, live));
                }
                News::Ended(ended) => {
                    ended.unwrap();
                    break;
                }
            }
        }
        thread.join().unwrap();
        let failed = "failed; starts again from its file in 0 s";
        let wanted = [("took node", true), (failed, true), ("continues with", true), ("gave node", false)];
        assert_eq!(reports.len(), wanted.len(), "{reports:?}");
        for ((text, live), (start, is_live)) in reports.iter().zip(wanted) {
            assert!(text.starts_with(start) && *live == is_live, "{reports:?}");
        }
    }

    #[test]
    fn a_store_numbers_nodes_in_its_own_way_only() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = config(&["--node", "users=worker_node:snowflake"]).unwrap();
        (config.store, config.dir) = (format!("file://{}/leases", directory.path().display()), directory.path().into());
        let error = Keepers::start(&config, channel().0).err().unwrap().to_string();
        assert_eq!(error, "the node users: the table WORKER_NODE is not in this kind of store");
    }

    /// Otherwise `status` could say that all is well before all is there; and a node would be taken for nothing.
    #[test]
    fn nothing_begins_before_all_files_are_there() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = config(&["--node", "users=snowflake", "--segment", "invoices"]).unwrap();
        config.store = format!("file://{}/leases", directory.path().display());
        for file in ["users", "invoices.segment"] {
            config.dir = directory.path().join(format!("without-{file}"));
            std::fs::create_dir_all(config.dir.join(file)).unwrap();
            let (sender, events) = channel();
            assert!(Keepers::start(&config, sender).is_err(), "a directory is no file");
            // A thread tells that it ends, at least.
            assert!(events.recv().is_err(), "{file} is not there, and another one has begun");
        }
    }

    pub fn keepers(names: &[&str]) -> Keepers {
        let keeper = |name: &&str| Keeper {
            name: (*name).to_owned(),
            state: State::Starting,
            is_kept: true,
            journal: Journal::default(),
            unreturned: Box::new(|| None),
            what: None,
            at_stop: None,
            tell: None,
        };
        Keepers { all: names.iter().map(keeper).collect(), events: channel().0 }
    }

    fn report(text: String, live: bool) -> News {
        News::Report(Report { line: Some(Line::new((Level::Info, "taken"), text)), live })
    }

    #[test]
    fn a_line_that_was_left_out_is_written_later() {
        let mut keepers = keepers(&["orders", "users"]);
        let begin = Instant::now();
        assert_eq!(keepers.next_late_line(), None);
        let said = (0..13).filter_map(|number| keepers.hear(1, &report(number.to_string(), true)));
        assert_eq!(said.last().unwrap().to_string(), "users: 9");
        let next = keepers.next_late_line().unwrap();
        assert!(next >= begin + Duration::from_secs(10));
        assert_eq!(keepers.late_lines(begin), []);
        assert_eq!(keepers.late_lines(next)[0].to_string(), "users: 12 (lines left out before this one: 2)");
    }

    #[test]
    fn a_line_has_the_name_of_its_lease() {
        let mut keepers = keepers(&["orders", "users"]);
        let mut hear = |which, news| keepers.hear(which, &news).map(|line| line.to_string());
        assert_eq!(hear(1, report("took".to_owned(), true)).as_deref(), Some("users: took"));
        assert_eq!(hear(0, News::Ended(Err("refused".to_owned()))).as_deref(), Some("orders: refused"));
        assert_eq!(keepers.hear(1, &News::Ended(Ok(()))), None);
        assert!(keepers.have_ended() && keepers.have_started() && !keepers.not_live().is_empty());
    }

    #[test]
    fn all_have_started_when_each_has_said_something() {
        let mut keepers = keepers(&["orders", "users"]);
        keepers.hear(0, &report("waits".to_owned(), false));
        assert!(!keepers.have_started());
        keepers.hear(1, &report("took".to_owned(), true));
        assert!(keepers.have_started() && !keepers.not_live().is_empty());
        keepers.hear(0, &report("took".to_owned(), true));
        assert!(keepers.not_live().is_empty() && !keepers.have_ended());
    }

    #[test]
    fn what_was_not_given_back_is_said_of_those_that_did_not_end() {
        let mut keepers = keepers(&["orders", "users"]);
        keepers
            .all
            .iter_mut()
            .for_each(|keeper| keeper.unreturned = Box::new(|| Some("node 7 stays taken".to_owned())));
        let (tell, told) = channel();
        keepers.all[0].tell = Some(tell);
        keepers.stop();
        assert!(told.recv().is_err(), "its thread is not told");
        keepers.hear(1, &News::Ended(Ok(())));
        let lines = keepers.give_up();
        assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["orders: node 7 stays taken"]);
        assert!(keepers.have_ended() && keepers.give_up().is_empty());
    }

    #[test]
    fn a_short_lease_is_renewed_often_enough() {
        let rules = |options: &[&str]| {
            let config = config(options).unwrap();
            lease_rules(&config, &config.nodes[0], false)
        };
        let (usual, short) = (rules(&["--lease-time", "1d"]), rules(&["--lease-time", "6s"]));
        assert_eq!((short.ahead_ms, short.renew_ms), (6_000, 1_000));
        assert!(short.retry_ms.0 <= 1_000);
        // Twice as many requests in ten seconds as it is renewed then.
        assert_eq!(short.most_requests, usual.most_requests.max(20));
        let shortest = rules(&["--lease-time", "2s"]);
        assert_eq!((shortest.retry_ms.0, shortest.most_requests), (333, 2 * 10_000 / 333));
        assert!(usual.renew_ms < 86_400_000 / 6 && usual.most_requests < 2 * 10_000 / 333);
        let own = rules(&["--max-skew", "300ms", "--host-name", "web-1", "--assume-unused-store"]);
        assert_eq!((own.max_skew_ms, own.new, &*own.group, &*own.owner), (300, true, "orders", "web-1"));
        assert_eq!(
            (usual.ahead_ms, usual.renew_ms, usual.retry_ms, usual.new),
            (86_400_000, 10_000, (1_000, 10_000), false)
        );
        let config = config(&["--node", "users=worker_node:snowflake"]).unwrap();
        assert_eq!(lease_rules(&config, &config.nodes[1], false).numbering, Numbering::WorkerNode);
        assert!(lease_rules(&config, &config.nodes[0], true).may_lose_writes);
    }
}
