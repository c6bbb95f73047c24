//! `txid-agent run`.

mod notify;
mod supervise;
mod tag;

use crate::args::Run;
use crate::config::{Config, Node};
use anyhow::Context;
use notify::Notify;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use supervise::Supervised;
use txid_agent::keep::{OwnPage, keep};
use txid_agent::store;
use txid_agent_machines::lease::{self, Rules};

/// What the main thread waits for.
enum Event {
    /// The lease or segment at this position in the list reports something.
    Said {
        /// Its position: leases come first.
        place: usize,
        /// The message.
        text: String,
        /// Whether it is in service now.
        is_live: bool,
    },
    /// Its thread has ended.
    Ended(usize, Result<(), String>),
    /// A signal.
    Signal(i32),
}

pub fn run(args: Run) -> anyhow::Result<ExitCode> {
    let config = Config::new(args)?;
    let (sender, events) = channel();
    watch_signals(sender.clone(), !config.command.is_empty())?;
    // Dropping these gives all nodes back.
    let leases = config.nodes.len();
    let mut keepers = (0..leases)
        .map(|place| start(&config, place, sender.clone()))
        .chain((0..config.segments.len()).map(|tag| tag::start(&config, tag, leases + tag, sender.clone())))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<&str> =
        config.nodes.iter().map(|node| &*node.name).chain(config.segments.iter().map(|(tag, _)| &**tag)).collect();

    let mut notify = Notify::from_environment();
    let mut states = vec![State::Starting; keepers.len()];
    let mut child: Option<Supervised> = None;
    // After the start, a lease that needs somebody's attention does not stop the others.
    let mut started = false;
    let mut stopping = false;
    let mut status = ExitCode::SUCCESS;
    for event in events {
        match event {
            Event::Said { place, text, is_live } => {
                let text = format!("{}: {text}", names[place]);
                say(&text);
                notify.status(&text);
                states[place] = if is_live || states[place] == State::Live { State::Live } else { State::Tried };
            }
            Event::Ended(place, ended) => {
                states[place] = State::Ended;
                if let Err(why) = ended {
                    say(&format!("{}: {why}", names[place]));
                    if !started {
                        status = ExitCode::FAILURE;
                        stopping = true;
                        keepers.clear();
                    }
                }
            }
            Event::Signal(SIGCHLD) => {
                let Some(ended) = child.as_mut().and_then(Supervised::reap) else { continue };
                status = ended;
                child = None;
                stopping = true;
                notify.stopping();
                keepers.clear();
            }
            Event::Signal(signal) => match &child {
                Some(child) => child.pass_on(signal),
                None if [SIGTERM, SIGINT, SIGQUIT, SIGHUP].contains(&signal) => {
                    stopping = true;
                    notify.stopping();
                    keepers.clear();
                }
                None => {}
            },
        }
        if child.is_none() && states.iter().all(|state| *state == State::Ended) {
            if !stopping {
                status = ExitCode::FAILURE;
            }
            break;
        }
        if stopping {
            continue;
        }
        // Services that depend on this one start even if the store is down: errors say what is missing.
        if states.iter().all(|state| *state != State::Starting) {
            notify.ready();
            started = true;
        }
        if child.is_none() && !config.command.is_empty() && states.iter().all(|state| *state == State::Live) {
            match Supervised::start(&config.command) {
                Ok(started) => child = Some(started),
                Err(error) => {
                    say(&format!("{}: {error}", config.command[0]));
                    // The exit statuses of a shell.
                    status = ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 });
                    stopping = true;
                    keepers.clear();
                }
            }
        }
    }
    Ok(status)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The store has not answered yet.
    Starting,
    /// The first try brought no lease.
    Tried,
    Live,
    Ended,
}

/// Starts the thread that keeps a lease until the returned sender is dropped.
fn start(config: &Config, place: usize, events: Sender<Event>) -> anyhow::Result<Sender<()>> {
    let node = &config.nodes[place];
    let name = &node.name;
    let mut store = store::open(&config.store)?;
    let page = OwnPage::open(&config.dir.join(name), &node.layout)?;
    let rules = rules(config, node, store.may_lose_writes());
    let (keeper, stop) = channel();
    thread::Builder::new().name(format!("lease-{name}")).stack_size(512 << 10).spawn(move || {
        // The main thread may have ended already.
        let say = |event: &lease::Event| {
            let is_live = matches!(event, lease::Event::Taken { .. } | lease::Event::Resumed { .. });
            drop(events.send(Event::Said { place, text: event.to_string(), is_live }));
        };
        let ended = keep(&page, &rules, &mut *store, &stop, say).map_err(|failure| failure.to_string());
        drop(events.send(Event::Ended(place, ended)));
    })?;
    Ok(keeper)
}

fn rules(config: &Config, node: &Node, may_lose_writes: bool) -> Rules {
    let mut rules = Rules::new(&node.name, &config.name, &node.layout, may_lose_writes);
    rules.numbering = node.numbering;
    rules.new = config.new;
    rules.ahead_ms = config.ahead.as_millis() as u64;
    rules.max_skew_ms = config.max_skew.as_millis() as u64;
    // So that several renewals can fail before a lease ends.
    rules.renew_ms = rules.renew_ms.min(rules.ahead_ms / 6);
    rules.retry_ms.0 = rules.retry_ms.0.min(rules.renew_ms);
    rules
}

fn watch_signals(events: Sender<Event>, has_command: bool) -> anyhow::Result<()> {
    let mut wanted = vec![SIGTERM, SIGINT, SIGQUIT, SIGHUP];
    if has_command {
        wanted.extend([SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD]);
    }
    let mut signals = Signals::new(wanted).context("cannot watch for signals")?;
    thread::Builder::new().name("txid-signals".into()).stack_size(64 << 10).spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// One line for each change of state.
fn say(text: &str) {
    // The journal adds the time itself.
    let time = if std::env::var_os("JOURNAL_STREAM").is_some() {
        String::new()
    } else {
        format!("{:.3} ", jiff::Timestamp::now())
    };
    let _ = writeln!(stderr(), "{time}txid-agent: {text}");
}
