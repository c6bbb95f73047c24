//! `txid-agent run`.

mod journal;
mod keepers;
mod notify;
mod signals;
mod supervise;

use crate::args::Run;
use crate::config::Config;
use journal::say;
use keepers::{Keepers, News};
use notify::Notify;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use supervise::Supervised;

/// How long giving the leases back may take, so that the agent ends within 5 s of a signal, or of the end of its command.
const TO_STOP: Duration = Duration::from_secs(4);

/// What the main thread waits for.
pub enum Event {
    /// A lease or segment, by its position, reports something.
    Keeper(usize, News),
    Signal(i32),
}

/// The agent, as the main thread sees it.
struct Agent {
    keepers: Keepers,
    command: Vec<String>,
    child: Option<Supervised>,
    notify: Notify,
    phase: Phase,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Not all leases and segments have reported something yet. If one needs somebody's attention, the agent ends.
    Starting,
    /// If a lease or segment needs somebody's attention, the others go on.
    Running,
    /// Ends with this status when all threads have ended, or at this time.
    Stopping(ExitCode, Instant),
}

pub fn run(args: Run) -> anyhow::Result<ExitCode> {
    let config = Config::new(args)?;
    // A thread that fails is started again. The log has one line for that.
    std::panic::set_hook(Box::new(|panic| say(&format!("a bug in txid-agent: {panic}"))));
    let (sender, events) = channel();
    signals::watch(sender.clone(), !config.command.is_empty())?;
    let keepers = Keepers::start(&config, &sender)?;
    let notify = Notify::from_environment();
    let mut agent = Agent { keepers, command: config.command, child: None, notify, phase: Phase::Starting };
    loop {
        match agent.wait(&events) {
            Some(Event::Keeper(which, news)) => agent.hear(which, &news),
            Some(Event::Signal(SIGCHLD)) => agent.reap(),
            Some(Event::Signal(signal)) => agent.take_signal(signal),
            None => agent.keepers.give_up().iter().for_each(|text| say(text)),
        }
        if let Some(status) = agent.go_on() {
            return Ok(status);
        }
    }
}

impl Agent {
    /// The next event. None if the time to stop is over.
    fn wait(&self, events: &Receiver<Event>) -> Option<Event> {
        match self.phase {
            Phase::Starting | Phase::Running => events.recv().ok(),
            Phase::Stopping(_, end) => events.recv_timeout(end.saturating_duration_since(Instant::now())).ok(),
        }
    }

    fn hear(&mut self, which: usize, news: &News) {
        if let Some(text) = self.keepers.hear(which, news) {
            say(&text);
            self.notify.status(&text);
        }
        if let (News::Ended(Err(_)), Phase::Starting) = (news, self.phase) {
            self.stop(ExitCode::FAILURE);
        }
    }

    fn reap(&mut self) {
        if let Some(status) = self.child.as_mut().and_then(Supervised::reap) {
            self.child = None;
            self.stop(status);
        }
    }

    fn take_signal(&mut self, signal: i32) {
        match &self.child {
            Some(child) => child.pass_on(signal),
            None if [SIGTERM, SIGINT, SIGQUIT, SIGHUP].contains(&signal) => self.stop(ExitCode::SUCCESS),
            None => {}
        }
    }

    /// The only way to end: the leases are given back, and then the agent ends with this status.
    fn stop(&mut self, status: ExitCode) {
        if !matches!(self.phase, Phase::Stopping(..)) {
            self.phase = Phase::Stopping(status, Instant::now() + TO_STOP);
            self.notify.stopping();
            self.keepers.stop();
        }
    }

    /// Does what the last event made possible. Returns the exit status at the end.
    fn go_on(&mut self) -> Option<ExitCode> {
        if matches!(self.phase, Phase::Starting) && self.keepers.have_started() {
            // Services that depend on this one start even if the store is down: errors say what is missing.
            self.notify.ready();
            self.phase = Phase::Running;
        }
        let is_to_start = self.child.is_none() && !self.command.is_empty() && self.keepers.are_live();
        if is_to_start && !matches!(self.phase, Phase::Stopping(..)) {
            match Supervised::start(&self.command) {
                Ok(child) => self.child = Some(child),
                Err(error) => {
                    say(&format!("{}: {error}", self.command[0]));
                    // The exit statuses of a shell.
                    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                    self.stop(ExitCode::from(if is_missing { 127 } else { 126 }));
                }
            }
        }
        match self.phase {
            _ if self.child.is_some() || !self.keepers.have_ended() => None,
            Phase::Stopping(status, _) => Some(status),
            // Each has failed after the start.
            Phase::Starting | Phase::Running => Some(ExitCode::FAILURE),
        }
    }
}
