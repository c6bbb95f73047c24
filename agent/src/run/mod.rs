//! `txid-agent run`.

mod keepers;
mod notify;
mod signals;
mod supervise;

use crate::args::Run;
use crate::config::Config;
use keepers::{Keepers, News};
use notify::Notify;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use supervise::Supervised;

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
    /// Ends with this status when all threads have ended.
    Stopping(ExitCode),
}

pub fn run(args: Run) -> anyhow::Result<ExitCode> {
    let config = Config::new(args)?;
    let (sender, events) = channel();
    signals::watch(sender.clone(), !config.command.is_empty())?;
    let keepers = Keepers::start(&config, &sender)?;
    let notify = Notify::from_environment();
    let mut agent = Agent { keepers, command: config.command, child: None, notify, phase: Phase::Starting };
    for event in events {
        match event {
            Event::Keeper(which, news) => agent.hear(which, &news),
            Event::Signal(SIGCHLD) => agent.reap(),
            Event::Signal(signal) => agent.take_signal(signal),
        }
        if let Some(status) = agent.go_on() {
            return Ok(status);
        }
    }
    Ok(ExitCode::FAILURE)
}

impl Agent {
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
        if !matches!(self.phase, Phase::Stopping(_)) {
            self.phase = Phase::Stopping(status);
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
        if is_to_start && !matches!(self.phase, Phase::Stopping(_)) {
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
            Phase::Stopping(status) => Some(status),
            // Each has failed after the start.
            Phase::Starting | Phase::Running => Some(ExitCode::FAILURE),
        }
    }
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
