//! `txid-agent run`.

mod event;
mod guard;
pub mod journal;
mod keepers;
mod listen;
mod notify;
mod signals;
pub mod start;
mod supervise;
mod trial;

use crate::args::{Check, Listen, Run};
use crate::config::Config;
use anyhow::{Context, ensure};
use event::{Event, News};
use guard::Guard;
use journal::{say, say_line};
use keepers::Keepers;
use notify::Notify;
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use supervise::Supervised;
use trial::try_out;
use txid_agent::keeper::{Level, Line};
use txid_agent::store::{Open, has_password, share};

/// How long giving the leases back may take, so that the agent ends within 5 s of a signal, or of the end of its child.
const TO_STOP: Duration = Duration::from_secs(4);

/// The agent, as the main thread sees it.
struct Agent {
    keepers: Keepers,
    child: Vec<String>,
    runner: Option<Runner>,
    notify: Notify,
    phase: Phase,
    /// Lines of the log for an agent that could start.
    advice: Vec<String>,
    /// The child starts whether or not there are leases.
    at_once: bool,
    /// Has the file of the configuration read again.
    reader: Sender<()>,
}

/// Who is the child's parent.
enum Runner {
    Agent(Supervised),
    /// The child has nodes in its environment.
    Guard(Guard),
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

/// `txid-agent check`.
pub fn check(args: Check) -> anyhow::Result<ExitCode> {
    let config = Config::new(args.run)?;
    let _ = share(&config.store)?;
    println!("the configuration is right");
    if args.ask {
        let _ = try_out(&config, |line| println!("{line}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn run(args: Run) -> anyhow::Result<ExitCode> {
    signals::take_over();
    let config = Config::new(args.clone())?;
    journal::set_json(config.log_is_json);
    // A thread that fails is started again. The log has one line for that.
    std::panic::set_hook(Box::new(|panic| {
        say(&format!("a bug in txid-agent: {panic}"));
        journal::finish();
    }));
    let notify = Notify::from_environment();
    notify.check(&config)?;
    // Before there are threads.
    let guard = if config.env.is_empty() { None } else { Some(Runner::Guard(Guard::start(&config)?)) };
    journal::write_aside().context("cannot start a thread")?;
    let (sender, events) = channel();
    notify.beat(sender.clone())?;
    signals::watch(sender.clone(), !config.child.is_empty(), guard.is_some())?;
    // The guard does not keep its socket.
    if let Some(address) = &config.listen {
        listen::serve(address, config.dir.clone(), sender.clone())?;
    }
    let keepers = Keepers::start(&config, sender.clone())?;
    let of_password = args.from.store.as_deref().is_some_and(has_password).then(|| {
        "the password in --store shows in ps: give it as TXID_STORE_PASSWORD, or ?password-file=FILE in the URL, or the URL in the \
         file of --config"
            .to_owned()
    });
    let of_disk = (!is_in_memory(&config.dir)).then(|| {
        format!(
            "--dir {} is on a disk: while it is frozen, as for a snapshot, nothing is renewed, and programs that use the files \
             wait; take a directory on a tmpfs, such as one below /run",
            config.dir.display()
        )
    });
    let reader = read_again(args, config.dir, config.listen, sender)?;
    let mut agent = Agent {
        keepers,
        child: config.child,
        runner: guard,
        notify,
        phase: Phase::Starting,
        advice: of_password.into_iter().chain(of_disk).collect(),
        at_once: config.at_once,
        reader,
    };
    loop {
        match agent.wait(&events) {
            Some(Event::Keeper(which, news)) => agent.hear(which, &news),
            Some(Event::Signal(SIGCHLD)) => agent.reap(),
            Some(Event::Signal(signal)) => agent.take_signal(signal),
            Some(Event::Beat) => agent.notify.alive(),
            Some(Event::ReadAgain(read)) => agent.have_read(read),
            // Whoever has asked may have gone.
            Some(Event::Asked(answer)) => drop(answer.send(agent.keepers.not_live())),
            None => agent.time_is_over(),
        }
        agent.watch_guard();
        if let Some(status) = agent.go_on() {
            journal::finish();
            return Ok(status);
        }
    }
}

impl Agent {
    /// The next event. None if the time to wait for one is over.
    fn wait(&self, events: &Receiver<Event>) -> Option<Event> {
        let guard = match &self.runner {
            Some(Runner::Guard(guard)) => Some(guard.next_look()),
            Some(Runner::Agent(_)) | None => None,
        };
        let end = match self.phase {
            Phase::Starting | Phase::Running => self.keepers.next_late_line(),
            // The keepers are given up once.
            Phase::Stopping(_, end) => Some(end).filter(|_| !self.keepers.have_ended()),
        };
        match end.into_iter().chain(guard).min() {
            None => events.recv().ok(),
            Some(end) => events.recv_timeout(end.saturating_duration_since(Instant::now())).ok(),
        }
    }

    fn time_is_over(&mut self) {
        let now = Instant::now();
        let lines = match self.phase {
            Phase::Starting | Phase::Running => self.keepers.late_lines(now),
            Phase::Stopping(_, end) if end <= now => self.keepers.give_up(),
            Phase::Stopping(..) => Vec::new(),
        };
        lines.iter().for_each(say_line);
    }

    /// If the guard does not work, its child may be there at the limit.
    fn watch_guard(&mut self) {
        let Some(Runner::Guard(guard)) = &mut self.runner else { return };
        if let Some(status) = guard.watch() {
            self.runner = None;
            self.stop(status);
        }
    }

    fn hear(&mut self, which: usize, news: &News) {
        if let Some(line) = self.keepers.hear(which, news) {
            say_line(&line);
            self.notify.status(&line.to_string());
        }
        match (news, self.phase, &self.runner) {
            (News::Ended(Err(_)), Phase::Starting, _) if !self.at_once => self.stop(ExitCode::FAILURE),
            // No lease will be renewed any more.
            (News::Ended(Err(_)), Phase::Running, Some(Runner::Guard(_))) if self.keepers.have_ended() => {
                self.stop(ExitCode::FAILURE);
            }
            _ => {}
        }
    }

    fn reap(&mut self) {
        if let Some(status) = self.runner.as_mut().and_then(Runner::reap) {
            self.runner = None;
            self.stop(status);
        }
    }

    fn take_signal(&mut self, signal: i32) {
        if signal == SIGTSTP {
            return self.stop_for_a_while();
        }
        match &self.runner {
            Some(runner) => runner.pass_on(signal),
            None if signal == SIGHUP => drop(self.reader.send(())),
            None if [SIGTERM, SIGINT, SIGQUIT].contains(&signal) => self.stop(ExitCode::SUCCESS),
            None => {}
        }
    }

    /// Goes by the configuration that was read. If anything in it is wrong, all goes on as before.
    fn have_read(&mut self, read: anyhow::Result<Box<(Config, Open)>>) {
        if matches!(self.phase, Phase::Stopping(..)) {
            return;
        }
        let read = read.and_then(|read| self.keepers.change(&read.0, &read.1));
        let (level, text) = match read {
            Ok(()) => (Level::Info, "SIGHUP: goes by the file as it is now".to_owned()),
            Err(error) => (Level::Error, format!("SIGHUP: goes on as before: {error:#}")),
        };
        say_line(&Line::new((level, "reload"), text));
    }

    /// The terminal has stopped the agent, and the shell waits for that. The child is in a session of its own, so it is
    /// stopped by its guard, which goes on: if the agent does not, the child ends before its limit.
    fn stop_for_a_while(&self) {
        let pass_on = |signal| self.runner.iter().for_each(|runner| runner.pass_on(signal));
        pass_on(SIGTSTP);
        // It goes on here when the shell sends SIGCONT.
        let _ = signal_hook::low_level::raise(SIGSTOP);
        pass_on(SIGCONT);
    }

    /// The only way to end: the leases are given back, and then the agent ends with this status.
    fn stop(&mut self, status: ExitCode) {
        if !matches!(self.phase, Phase::Stopping(..)) {
            self.phase = Phase::Stopping(status, Instant::now() + TO_STOP);
            self.notify.stopping();
            // Its child was not started yet.
            if let Some(Runner::Guard(guard)) = &self.runner {
                guard.pass_on(SIGTERM);
            }
            self.keepers.stop();
        }
    }

    /// Takes the steps that the last event made possible. Returns the exit status at the end.
    fn go_on(&mut self) -> Option<ExitCode> {
        if matches!(self.phase, Phase::Starting) && self.keepers.have_started() {
            // Services that depend on this one start even if the store is down: errors say what is missing.
            self.notify.ready();
            self.advice.iter().for_each(|line| say(line));
            self.phase = Phase::Running;
        }
        let may_start = self.at_once || self.keepers.not_live().is_empty();
        if !self.child.is_empty() && may_start && !matches!(self.phase, Phase::Stopping(..)) {
            self.start_child();
        }
        match self.phase {
            _ if self.runner.is_some() || !self.keepers.have_ended() => None,
            Phase::Stopping(status, _) => Some(status),
            // Each has failed after the start.
            Phase::Starting | Phase::Running => Some(ExitCode::FAILURE),
        }
    }

    fn start_child(&mut self) {
        match &mut self.runner {
            Some(Runner::Agent(_)) => {}
            Some(Runner::Guard(guard)) => guard.let_start(),
            None => match Supervised::start(&self.child) {
                Ok(child) => self.runner = Some(Runner::Agent(child)),
                Err(error) => {
                    say(&format!("{}: {error}", self.child[0]));
                    self.stop(ExitCode::from(start::code_of(&error)));
                }
            },
        }
    }
}

/// A thread that reads the file anew for each message, and asks the store for what it needs: nothing else waits for them.
fn read_again(args: Run, dir: PathBuf, listen: Option<Listen>, events: Sender<Event>) -> io::Result<Sender<()>> {
    let (sender, asked) = channel();
    let read = move || {
        ensure!(args.from.config.is_some(), "there is no --config FILE");
        let config = Config::new(args.clone())?;
        ensure!(config.dir == dir, "another dir needs a restart, also of the programs that use {}", dir.display());
        ensure!(config.listen == listen, "another listen needs a restart");
        let open = try_out(&config, drop)?;
        Ok(Box::new((config, open)))
    };
    thread::Builder::new().name("txid-read".into()).spawn(move || {
        while asked.recv().is_ok() {
            // Once is enough for all that were sent before.
            asked.try_iter().for_each(drop);
            drop(events.send(Event::ReadAgain(read())));
        }
    })?;
    Ok(sender)
}

/// Whether a directory is on a file system without a disk.
fn is_in_memory(directory: &Path) -> bool {
    const TMPFS: u32 = 0x0102_1994;
    const RAMFS: u32 = 0x8584_58f6;
    rustix::fs::statfs(directory).is_ok_and(|found| [TMPFS, RAMFS].contains(&(found.f_type as u32)))
}

impl Runner {
    fn pass_on(&self, signal: i32) {
        match self {
            Self::Agent(child) => child.pass_on(signal),
            Self::Guard(guard) => guard.pass_on(signal),
        }
    }

    fn reap(&mut self) -> Option<ExitCode> {
        match self {
            Self::Agent(child) => child.reap(),
            Self::Guard(guard) => guard.reap(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::keepers::tests::keepers;
    use super::*;
    use signal_hook::consts::{SIGUSR1, SIGWINCH};
    use txid_agent::keeper::Report;

    /// An agent without a child.
    fn agent() -> Agent {
        let (child, notify) = (Vec::new(), Notify::from_environment());
        let (keepers, runner, phase) = (keepers(&["orders"]), None, Phase::Running);
        let reader = channel().0;
        Agent { keepers, child, runner, notify, phase, advice: Vec::new(), at_once: false, reader }
    }

    /// Services that depend on this one wait until then.
    #[test]
    fn it_is_ready_when_each_lease_has_reported_something() {
        let mut agent = agent();
        agent.phase = Phase::Starting;
        assert!(agent.go_on().is_none() && matches!(agent.phase, Phase::Starting));
        agent.hear(0, &News::Report(Report { line: None, live: false }));
        assert!(agent.go_on().is_none() && matches!(agent.phase, Phase::Running));
    }

    #[test]
    fn before_there_is_a_child_no_signal_for_it_ends_the_agent() {
        let mut agent = agent();
        for signal in [SIGUSR1, SIGWINCH] {
            agent.take_signal(signal);
            assert!(matches!(agent.phase, Phase::Running), "signal {signal}");
        }
    }

    fn shown(status: ExitCode) -> String {
        format!("{status:?}")
    }

    #[test]
    fn an_end_of_a_thread_ends_an_agent_that_starts_and_one_that_has_no_other() {
        let ended = |why: Option<&str>| News::Ended(why.map_or(Ok(()), |why| Err(why.to_owned())));
        let mut agent = agent();
        agent.phase = Phase::Starting;
        agent.hear(0, &ended(Some("refused")));
        assert!(matches!(agent.phase, Phase::Stopping(..)), "somebody has to mend it");
        assert_eq!(agent.go_on().map(shown), Some(shown(ExitCode::FAILURE)));
        for (why, is_other_there) in [(Some("refused"), true), (Some("refused"), false), (None, false)] {
            let mut agent = self::agent();
            agent.keepers = keepers(if is_other_there { &["orders", "users"] } else { &["orders"] });
            agent.hear(0, &ended(why));
            assert!(matches!(agent.phase, Phase::Running));
            assert_eq!(agent.go_on().map(shown), (!is_other_there).then(|| shown(ExitCode::FAILURE)));
        }
    }

    /// Without a child, SIGHUP reads the file again, and without a file does nothing.
    #[test]
    fn a_signal_ends_it_well_and_the_first_status_counts() {
        for (signal, ends) in [(SIGTERM, true), (SIGINT, true), (SIGQUIT, true), (SIGHUP, false)] {
            let mut agent = agent();
            agent.take_signal(signal);
            assert_eq!(matches!(agent.phase, Phase::Stopping(..)), ends, "signal {signal}");
            agent.stop(ExitCode::from(7));
            let Phase::Stopping(status, end) = agent.phase else { panic!("it goes on") };
            assert_eq!(shown(status), shown(ExitCode::from(if ends { 0 } else { 7 })));
            agent.stop(ExitCode::from(8));
            assert!(matches!(agent.phase, Phase::Stopping(first, at) if shown(first) == shown(status) && at == end));
        }
    }

    #[test]
    fn it_waits_for_an_event_until_its_end_or_a_late_line() {
        let (sender, events) = channel();
        let mut agent = agent();
        sender.send(Event::Signal(SIGTERM)).unwrap();
        assert!(matches!(agent.wait(&events), Some(Event::Signal(SIGTERM))));
        agent.phase = Phase::Stopping(ExitCode::SUCCESS, Instant::now());
        assert!(agent.wait(&events).is_none());
        agent.phase = Phase::Running;
        drop(sender);
        assert!(agent.wait(&events).is_none(), "nobody else sends one");
    }

    #[test]
    fn a_directory_is_in_memory_or_on_a_disk() {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        for place in ["/proc", "/sys", "/dev/shm"] {
            // The last one hides the others.
            let mount = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some(place));
            if let Some(kind) = mount.and_then(|line| line.split(' ').nth(2)) {
                assert_eq!(is_in_memory(Path::new(place)), kind == "tmpfs", "{place} {kind}");
            }
        }
        assert!(!is_in_memory(Path::new("/nowhere")));
    }

    /// Neither by a child, nor by a store that does not answer.
    #[test]
    fn nothing_holds_it_up_for_five_seconds() {
        let mut agent = agent();
        let before = Instant::now();
        agent.take_signal(SIGTERM);
        let Phase::Stopping(status, end) = agent.phase else { panic!("it goes on") };
        assert!(end < Instant::now() + Duration::from_secs(5) && end >= before);
        agent.time_is_over();
        assert!(agent.go_on().is_none(), "its lease was not given back, and there is still time");
        agent.phase = Phase::Stopping(status, before);
        agent.time_is_over();
        assert!(agent.go_on().is_some());
    }
}
