//! One thread for each lease and each segment, and what is known of them.

use super::Event;
use crate::config::{Config, Node};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use txid_agent::keeper::{Kept, KeptLease, KeptSegment, Report, keep};
use txid_agent::store;
use txid_agent_machines::{lease, segment};

/// All leases and segments of this agent.
pub struct Keepers {
    all: Vec<Keeper>,
}

/// What a thread reports, with the position of its lease or segment among the keepers.
pub enum News {
    /// A change of state.
    Report(Report),
    /// The thread has ended.
    Ended(Result<(), String>),
}

struct Keeper {
    name: String,
    state: State,
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
}

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

impl Keepers {
    /// Starts all threads of `config`. They report to `events`.
    pub fn start(config: &Config, events: &Sender<Event>) -> anyhow::Result<Self> {
        let mut keepers = Self { all: Vec::new() };
        for node in &config.nodes {
            let store = store::open(&config.store)?;
            let rules = lease_rules(config, node, store.durability().may_lose_writes());
            let kept = KeptLease::open(&config.dir.join(&node.name), &node.layout, rules, store)?;
            keepers.add(&node.name, kept, events)?;
        }
        for (tag, step) in &config.segments {
            let rules = segment::Rules {
                step: *step,
                max_step: config.max_step,
                create: config.create,
                ..segment::Rules::new(tag)
            };
            let kept =
                KeptSegment::open(&config.dir.join(format!("{tag}.segment")), rules, store::open(&config.store)?)?;
            keepers.add(tag, kept, events)?;
        }
        Ok(keepers)
    }

    fn add(&mut self, name: &str, kept: impl Kept + Send + 'static, events: &Sender<Event>) -> anyhow::Result<()> {
        let (stop, stopped) = channel();
        let (which, events) = (self.all.len(), events.clone());
        thread::Builder::new()
            .name(format!("keep-{name}"))
            .stack_size(512 << 10)
            .spawn(move || run(which, kept, &stopped, &events))?;
        self.all.push(Keeper { name: name.to_owned(), state: State::Starting, stop: Some(stop) });
        Ok(())
    }

    /// Takes note of what a thread reports. Returns a line of the log.
    pub fn hear(&mut self, which: usize, news: &News) -> Option<String> {
        let keeper = &mut self.all[which];
        let (state, text) = match news {
            News::Report(Report { text, live: true }) => (State::Live, Some(text)),
            News::Report(Report { text, live: false }) => (State::Waiting, Some(text)),
            News::Ended(Ok(())) => (State::Ended, None),
            News::Ended(Err(why)) => (State::Ended, Some(why)),
        };
        keeper.state = state;
        text.map(|text| format!("{}: {text}", keeper.name))
    }

    /// Whether each has reported something: it works, or waits for its store.
    pub fn have_started(&self) -> bool {
        self.all.iter().all(|keeper| keeper.state != State::Starting)
    }

    /// Whether processes get all the ids and numbers that they may want.
    pub fn are_live(&self) -> bool {
        self.all.iter().all(|keeper| keeper.state == State::Live)
    }

    /// Whether all threads have ended.
    pub fn have_ended(&self) -> bool {
        self.all.iter().all(|keeper| keeper.state == State::Ended)
    }

    /// Gives all nodes back, and takes no more numbers.
    pub fn stop(&mut self) {
        self.all.iter_mut().for_each(|keeper| keeper.stop = None);
    }
}

/// The thread of a lease or a segment.
fn run(which: usize, mut kept: impl Kept, stop: &Receiver<()>, events: &Sender<Event>) {
    // The main thread may have ended already.
    let send = |news| drop(events.send(Event::Keeper(which, news)));
    let ended = keep(&mut kept, stop, |report| send(News::Report(report)));
    send(News::Ended(ended));
}

fn lease_rules(config: &Config, node: &Node, may_lose_writes: bool) -> lease::Rules {
    let mut rules = lease::Rules::new(&node.name, &config.name, &node.layout, may_lose_writes);
    rules.numbering = node.numbering;
    rules.new = config.new;
    rules.ahead_ms = config.ahead.as_millis() as u64;
    rules.max_skew_ms = config.max_skew.as_millis() as u64;
    // So that several renewals can fail before a lease ends.
    rules.renew_ms = rules.renew_ms.min(rules.ahead_ms / 6);
    rules.retry_ms.0 = rules.retry_ms.0.min(rules.renew_ms);
    rules
}
