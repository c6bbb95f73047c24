//! Carries out the decisions of a machine, with real clocks, a real page and a real store: one keeper for leases and for
//! segments.

mod lease;
pub mod notes;
mod own;
pub mod page;
mod room;
mod segment;

pub use lease::ManagedLease;
pub use own::OwnError;
pub use segment::ManagedSegment;

use crate::store::Store;
use std::cell::Cell;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use txid::hidden::KeyCheck;
use txid_agent_machines::protocol::Now;
use txid_agent_machines::{lease as leases, segment as segments};

/// Longest pause between two steps of the machine, so that a host that was copied or stopped notices soon. An outage that is
/// shorter is not reported: a worker may just be faster than the store.
const LOOK_MS: u64 = 1_000;

/// The clocks that a keeper goes by. Tests have one that they move.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn wall_ms(&self) -> i64;

    /// Milliseconds of a clock that never goes backwards.
    fn mono_ms(&self) -> u64;

    /// Waits for this many milliseconds. Returns earlier when the keeper is told other terms, or to stop: without a sender. That
    /// is told once.
    fn wait(&self, for_ms: u64) -> Result<Terms, RecvTimeoutError>;
}

/// What a lease or a segment goes by, once the configuration was read again: its rules, the store to ask, and the keys.
pub enum Terms {
    /// The terms of a lease.
    Lease(leases::Rules, Box<dyn Store>),
    /// The terms of a segment.
    Segment(segments::Rules, Box<dyn Store>, Vec<KeyCheck>),
}

/// The clocks of this host, and what a keeper is told.
pub struct HostClock<'a> {
    begin: Instant,
    told: &'a Receiver<Terms>,
    is_to_stop: Cell<bool>,
}

impl<'a> HostClock<'a> {
    /// Its monotonic clock begins now.
    pub fn new(told: &'a Receiver<Terms>) -> Self {
        Self { begin: Instant::now(), told, is_to_stop: Cell::new(false) }
    }
}

impl Clock for HostClock<'_> {
    fn wall_ms(&self) -> i64 {
        txid::system_ms()
    }

    fn mono_ms(&self) -> u64 {
        self.begin.elapsed().as_millis() as u64
    }

    fn wait(&self, for_ms: u64) -> Result<Terms, RecvTimeoutError> {
        let time = Duration::from_millis(for_ms);
        // A sender that is gone would be reported again and again, while a node is given back.
        if self.is_to_stop.get() {
            thread::sleep(time);
            return Err(RecvTimeoutError::Timeout);
        }
        let told = self.told.recv_timeout(time);
        self.is_to_stop.set(matches!(told, Err(RecvTimeoutError::Disconnected)));
        told
    }
}

/// A lease or a segment: its machine decides, and its decisions are carried out.
pub trait Managed {
    /// Begins with what the page shows, as an agent that starts.
    fn begin(&mut self);

    /// Has the machine decide, and does that: one write to the page, or one request to the store.
    fn step(&mut self, now: &Now, is_to_stop: bool) -> Step;

    /// Goes by other terms. What it has stays.
    fn go_by(&mut self, _: Terms) {}

    /// Looks at what the machine does not see: the file, and a record besides its own. Returns a line of the log if there is
    /// something new.
    fn attend(&mut self, _now: Instant) -> Option<String> {
        None
    }

    /// Why a process would get no id or number now; None if it would get one.
    fn refusal(&self) -> Option<String>;

    /// The node that it has.
    fn node(&self) -> Option<u64> {
        None
    }

    /// Tells the operator what was not given back, or None. May be asked while another thread manages this.
    fn unreturned(&self) -> Box<dyn Fn() -> Option<String>> {
        Box::new(|| None)
    }
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// All is well, or is again.
    #[default]
    Info,
    /// Ids and numbers go on, and somebody should look.
    Warning,
    /// There are no ids or numbers, or soon will be none.
    Error,
}

/// What a line of the log is about: its level, and one word.
pub type Kind = (Level, &'static str);

/// A line of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub kind: Kind,
    /// The lease or segment, if it is about one.
    pub group: Option<String>,
    /// The node, if there is one.
    pub node: Option<u64>,
    /// What people read.
    pub text: String,
}

impl Line {
    /// A line of neither a lease nor a segment yet.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), ..Self::default() }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => write!(f, "{group}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// What a step came to.
pub enum Step {
    /// It is done. Perhaps there is a line of the log.
    Done(Option<Line>),
    /// There is nothing to do until then, by [`Now::mono_ms`].
    Wait(u64),
    /// All is done.
    Stopped,
    /// The machine gave up: this tells the operator why.
    Failed(String),
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One line of the log, if the change is worth one.
    pub line: Option<Line>,
    /// Whether processes get ids or numbers now.
    pub live: bool,
}

/// Keeps a lease or a segment until its clock says that it is to stop, and then ends it.
///
/// From the first line of the log on, each change of [`Report::live`] is reported: many have no event of the machine.
pub fn keep(managed: &mut dyn Managed, clock: &impl Clock, mut report: impl FnMut(Report)) -> Result<(), String> {
    managed.begin();
    let mut outage = Outage::default();
    let mut told = None;
    let mut tell = |managed: &dyn Managed, line: Option<Line>| {
        let live = managed.refusal().is_none();
        if line.is_some() || told.is_some_and(|told| told != live) {
            told = Some(live);
            report(Report { line: line.map(|line| Line { node: managed.node(), ..line }), live });
        }
    };
    let mut is_to_stop = false;
    loop {
        tell(managed, None);
        let now = Now { wall_ms: clock.wall_ms(), mono_ms: clock.mono_ms(), random: random() };
        match managed.step(&now, std::mem::take(&mut is_to_stop)) {
            Step::Done(line) => tell(managed, line),
            Step::Wait(until_ms) => {
                let line = managed.attend(Instant::now()).map(look_at_it);
                tell(managed, line);
                tell(managed, outage.look(managed.refusal(), clock.mono_ms()));
                let left_ms = until_ms.saturating_sub(clock.mono_ms());
                match clock.wait(left_ms.min(LOOK_MS)) {
                    Ok(terms) => managed.go_by(terms),
                    Err(why) => is_to_stop = why == RecvTimeoutError::Disconnected,
                }
            }
            Step::Stopped => return Ok(()),
            Step::Failed(why) => return Err(why),
        }
    }
}

/// A time without ids or numbers. It begins and ends without an event if a lease ends or a range is used up.
#[derive(Default)]
struct Outage {
    since_ms: Option<u64>,
    is_reported: bool,
}

impl Outage {
    /// A line of the log: once when an outage lasts, and at its end.
    fn look(&mut self, refusal: Option<String>, now_ms: u64) -> Option<Line> {
        let Some(why) = refusal else {
            self.since_ms = None;
            let was_reported = std::mem::take(&mut self.is_reported);
            return was_reported.then(|| Line::new((Level::Info, "in-service"), "in service"));
        };
        let lasts = now_ms.saturating_sub(*self.since_ms.get_or_insert(now_ms)) >= LOOK_MS;
        if !lasts || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        Some(Line::new((Level::Error, "out-of-service"), format!("out of service: {why}")))
    }
}

/// A line about what the machine does not see.
fn look_at_it(text: String) -> Line {
    Line::new((Level::Warning, "attention"), text)
}

/// From the operating system, because a copied machine would repeat the numbers of a generator in this process.
pub fn random() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => txid::uuid::v4().as_u128(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at something when a keeper waits first, and stops it.
    pub struct Stops<F: Fn()>(pub F);

    impl<F: Fn()> Clock for Stops<F> {
        fn wall_ms(&self) -> i64 {
            txid::system_ms()
        }

        fn mono_ms(&self) -> u64 {
            0
        }

        fn wait(&self, _: u64) -> Result<Terms, RecvTimeoutError> {
            self.0();
            Err(RecvTimeoutError::Disconnected)
        }
    }

    #[test]
    fn an_outage_is_reported_once_when_it_lasts_and_at_its_end() {
        let mut outage = Outage::default();
        let text = |line: Option<Line>| line.map(|line| line.text);
        let mut is_out = |now_ms| text(outage.look(Some("no lease".to_owned()), now_ms));
        // Too short.
        assert_eq!((is_out(5_000), is_out(5_999)), (None, None));
        assert_eq!(outage.look(None, 6_000), None);
        let mut is_out = |now_ms| text(outage.look(Some("no lease".to_owned()), now_ms));
        assert_eq!((is_out(7_000), is_out(7_999)), (None, None));
        assert_eq!(is_out(8_000), Some("out of service: no lease".to_owned()));
        assert_eq!(is_out(9_000), None);
        assert_eq!(text(outage.look(None, 9_001)), Some("in service".to_owned()));
        assert_eq!(outage.look(None, 9_002), None);
    }

    /// While a node is given back, the sender is gone.
    #[test]
    fn a_keeper_is_told_once_to_stop_and_then_waits() {
        let (sender, told) = std::sync::mpsc::channel();
        let clock = HostClock::new(&told);
        assert_eq!(clock.wait(1).err(), Some(RecvTimeoutError::Timeout));
        drop(sender);
        assert_eq!(clock.wait(60_000).err(), Some(RecvTimeoutError::Disconnected));
        let begin = Instant::now();
        assert_eq!(clock.wait(20).err(), Some(RecvTimeoutError::Timeout));
        assert!(begin.elapsed() >= Duration::from_millis(20), "it does not wait");
    }

    /// What a step comes to, and whether there are ids after it.
    struct Steps(std::vec::IntoIter<(Step, bool)>, bool);

    impl Managed for Steps {
        fn begin(&mut self) {}

        fn step(&mut self, _: &Now, _: bool) -> Step {
            let (step, live) = self.0.next().unwrap();
            self.1 = live;
            step
        }

        fn attend(&mut self, _: Instant) -> Option<String> {
            Some("attended".to_owned())
        }

        fn refusal(&self) -> Option<String> {
            (!self.1).then(|| "no lease".to_owned())
        }
    }

    #[test]
    fn from_the_first_line_on_each_change_is_reported() {
        let keep = |steps: Vec<(Step, bool)>| {
            let mut reports = Vec::new();
            let ended = keep(&mut Steps(steps.into_iter(), false), &Stops(|| {}), |Report { line, live }| {
                reports.push((line.unwrap_or_default().text, live));
            });
            (reports, ended)
        };
        let text = |text: &str| Step::Done(Some(look_at_it(text.to_owned())));
        let line = |text: &str, live| (text.to_owned(), live);
        let steps = vec![
            (Step::Done(None), true),
            (Step::Done(None), false),
            (text("waits"), false),
            (Step::Done(None), true),
            (Step::Done(None), true),
            (text("took"), true),
            (Step::Done(None), false),
            (Step::Wait(0), false),
            (Step::Stopped, false),
        ];
        let wanted =
            vec![line("waits", false), line("", true), line("took", true), line("", false), line("attended", false)];
        assert_eq!(keep(steps), (wanted, Ok(())));
        let failed = vec![(Step::Failed("refused".to_owned()), false)];
        assert_eq!(keep(failed), (Vec::new(), Err("refused".to_owned())));
    }

    /// That a host was copied or stopped is noticed at the next step.
    #[test]
    fn a_keeper_waits_for_a_second_at_most() {
        /// It has nothing to do until then.
        struct Idle(u64);

        impl Managed for Idle {
            fn begin(&mut self) {}

            fn step(&mut self, _: &Now, is_to_stop: bool) -> Step {
                if is_to_stop { Step::Stopped } else { Step::Wait(self.0) }
            }

            fn refusal(&self) -> Option<String> {
                None
            }
        }

        struct Waits(Cell<u64>);

        impl Clock for Waits {
            fn wall_ms(&self) -> i64 {
                0
            }

            fn mono_ms(&self) -> u64 {
                100
            }

            fn wait(&self, for_ms: u64) -> Result<Terms, RecvTimeoutError> {
                self.0.set(for_ms);
                Err(RecvTimeoutError::Disconnected)
            }
        }

        let clock = Waits(Cell::new(0));
        for (until_ms, wanted_ms) in [(86_400_000, 1_000), (1_099, 999), (300, 200), (50, 0)] {
            keep(&mut Idle(until_ms), &clock, |_| {}).unwrap();
            assert_eq!(clock.0.get(), wanted_ms);
        }
    }

    #[test]
    fn random_numbers_differ() {
        assert_ne!(random(), random());
    }
}
