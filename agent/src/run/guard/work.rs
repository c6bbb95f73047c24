//! The work of the guard: it looks, and carries out the decisions of the child's machine.

use super::super::journal::{self, Journal, say_line};
use super::super::signals::{is_ignored, let_come};
use super::super::start::{code_of, start};
use super::group::Group;
use super::noting::{Noting, note};
use super::processes::{self, reap};
use crate::config::Config;
use crate::environment::Variable;
use crate::node::Node;
use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper, set_parent_process_death_signal, setsid,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use txid::snowflake::{Generator, Layout, LeaseNews, State};
use txid_agent::keeper::{Level, Line};
use txid_agent_machines::child::{self, Action, Event, LOOK_MS, Lease, Look, Order, Rules};
use txid_agent_machines::utc;

/// A byte from the agent: start the child once there are leases. Any other one is the number of a signal for the child.
pub const START: u8 = 0;

pub struct Work {
    rules: Rules,
    machine: child::Child,
    line: Vec<String>,
    variables: Vec<Variable>,
    nodes: Vec<Node>,
    pages: Pages,
    group: Option<Group>,
    /// A time after all that the child of an earlier agent may have stamped.
    left_ms: Option<i64>,
    /// The process that was started.
    main: Option<Pid>,
    code: u8,
    order: Order,
    may_start: bool,
    agent: UnixStream,
    /// Readable when a signal has arrived.
    signals: UnixStream,
    begin: Instant,
    /// A process that could not be killed at the last look, and one that was named for that.
    out_of_reach: Option<Pid>,
    named: Option<Pid>,
    journal: Journal,
}

/// The files of the leases. The agent makes them.
struct Pages {
    files: Vec<(PathBuf, Layout)>,
    open: Vec<Generator>,
    /// Once there is a child.
    noting: Option<Noting>,
}

impl Work {
    pub fn new(config: &Config, left_ms: Option<i64>, group: Option<Group>, agent: UnixStream) -> anyhow::Result<Self> {
        // No terminal can stop it, or the child.
        setsid().context("cannot make a session")?;
        set_child_subreaper(Some(getpid())).context("cannot become a subreaper")?;
        // If it is stopped, it goes on when the agent dies, and ends the child.
        set_parent_process_death_signal(Some(Signal::CONT)).context("cannot ask for a signal")?;
        rustix::thread::set_name(c"txid-guard").context("cannot set a name")?;
        journal::write_aside().context("cannot start a thread")?;
        Ok(Self::of(config, left_ms, group, agent, signals().context("cannot watch for signals")?))
    }

    fn of(config: &Config, left_ms: Option<i64>, group: Option<Group>, agent: UnixStream, signals: UnixStream) -> Self {
        let nodes: Vec<Node> = config.nodes_of_child().into_iter().cloned().collect();
        let files = nodes.iter().map(|node| (config.dir.join(&node.name), node.layout)).collect();
        let mut random = [0; 8];
        // Any jitter will do.
        let _ = getrandom::fill(&mut random);
        Self {
            rules: rules(config, u64::from_ne_bytes(random)),
            machine: child::Child::default(),
            line: config.child.clone(),
            variables: config.env.clone(),
            nodes,
            pages: Pages { files, open: Vec::new(), noting: None },
            group,
            left_ms,
            main: None,
            code: 0,
            order: Order::Run,
            may_start: false,
            agent,
            signals,
            begin: Instant::now(),
            out_of_reach: None,
            named: None,
            journal: Journal::default(),
        }
    }

    /// Returns the exit status of the child when none of its processes is there, and none will be.
    pub fn run(mut self) -> anyhow::Result<i32> {
        loop {
            let look = self.look();
            match self.machine.step(&self.rules, &look) {
                Action::Wait(ms) => {
                    if self.machine.is_killing() {
                        self.kill();
                    }
                    self.sleep(ms);
                }
                Action::Start => self.start(&look),
                Action::Warn(event) => {
                    // Twice is too much: some programs take that for an order to end at once.
                    processes::signal_all(None, Signal::TERM);
                    self.log(&event, "SIGTERM");
                }
                Action::Kill(event) => {
                    self.log(&event, "SIGKILL");
                    (self.out_of_reach, self.named) = (None, None);
                    self.kill();
                }
                Action::Log(event) => self.log(&event, ""),
                Action::End => return Ok(self.code.into()),
            }
        }
    }

    fn look(&mut self) -> Look {
        self.journal.late_line(Instant::now()).iter().for_each(say_line);
        self.hear();
        let reaped = reap(self.main);
        if let Some(code) = reaped.ended {
            (self.main, self.code) = (None, code);
        }
        // At once: a pause between them would look as if somebody had stepped the clock.
        self.seen(reaped.is_there, txid::system_ms(), self.begin.elapsed().as_millis() as u64)
    }

    /// What there is at this time by both clocks. No clock is read any more, however long it takes to look at the files.
    fn seen(&mut self, is_there: bool, wall_ms: i64, mono_ms: u64) -> Look {
        let leases = if self.may_start {
            let used_ms = is_there.then_some(self.machine.used_ms().max(self.rules.stamped_ms(wall_ms)));
            self.pages.look(used_ms.max(self.left_ms), is_there)
        } else {
            Vec::new()
        };
        // Until all files are there, no lease is.
        let missing = Lease { node: 0, limit_ms: None, free_ms: i64::MAX, is_lost: false };
        Look {
            wall_ms,
            mono_ms,
            leases: if leases.is_empty() { vec![missing] } else { leases },
            is_there,
            has_ended: self.main.is_none(),
            order: self.order,
        }
    }

    /// Sends the agent a sign of life, and reads its orders.
    fn hear(&mut self) {
        // The agent may not read it.
        let _ = self.agent.write(&[0]);
        let mut orders = [0; 64];
        loop {
            match self.agent.read(&mut orders) {
                Ok(0) => return self.order = Order::Orphaned,
                Ok(read) => orders[..read].iter().for_each(|&order| self.obey(order)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.order = Order::Orphaned,
            }
        }
    }

    fn obey(&mut self, order: u8) {
        if order == START {
            self.may_start = true;
            return;
        }
        let signal = i32::from(order);
        // Only children that were not reaped have a pid here.
        if let (Some(main), Some(signal)) = (self.main, Signal::from_named_raw(signal)) {
            let _ = match signal {
                // As a terminal does. Nobody could continue its group there, so SIGTSTP would not stop it.
                Signal::TSTP => kill_process_group(main, Signal::STOP),
                Signal::CONT => kill_process_group(main, signal),
                _ => kill_process(main, signal),
            };
        }
        let ends = [SIGTERM, SIGINT, SIGQUIT, SIGHUP].contains(&signal);
        if ends && (self.main.is_none() || signal == SIGTERM) && self.order == Order::Run {
            self.order = Order::End;
        }
    }

    /// The variables of a child that may stamp from now on.
    fn environment(&mut self, look: &Look) -> Vec<(String, String)> {
        // Its first ids may be ahead of the clock, and be made before the next look.
        self.pages.note(Some(self.rules.stamped_ms(look.wall_ms)), false);
        let numbers: BTreeMap<&str, u64> =
            self.nodes.iter().map(|node| node.name.as_str()).zip(look.leases.iter().map(|lease| lease.node)).collect();
        self.variables.iter().map(|variable| (variable.name.clone(), variable.value(&numbers))).collect()
    }

    fn start(&mut self, look: &Look) {
        let variables = self.environment(look);
        let group = self.group.as_ref().map(Group::path);
        // Linux shares the processors among sessions first: a child with many processes takes none from its guard.
        let started = start(&self.line, Signal::KILL, true, group, |command| {
            command.envs(variables.iter().map(|(name, value)| (name, value)));
        });
        let text = match started {
            Ok(main) => {
                self.main = Some(main);
                let values: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("starts with {}", values.join(" "))
            }
            Err(error) => {
                self.code = code_of(&error);
                error.to_string()
            }
        };
        self.say(&text);
    }

    fn kill(&mut self) {
        let group = self.group.as_ref();
        let found =
            processes::signal_all(self.main, Signal::KILL).filter(|&pid| !group.is_some_and(|it| it.holds(pid)));
        group.into_iter().for_each(Group::kill);
        if let Some(pid) = found.filter(|&pid| self.is_to_be_named(pid)) {
            self.say(&format!(
                "cannot end process {pid}, which runs as another user; after the limit, its ids may repeat"
            ));
        }
    }

    /// Whether a process that could not be killed is named. At the first look, it may just have ended. Each is named once: this
    /// is tried again and again.
    fn is_to_be_named(&mut self, pid: Pid) -> bool {
        let is_left = self.out_of_reach.replace(pid) == Some(pid);
        is_left && self.named.replace(pid) != Some(pid)
    }

    /// Waits until something happens, and at most `ms`.
    fn sleep(&mut self, ms: u64) {
        let mut files = vec![PollFd::new(&self.signals, PollFlags::IN)];
        // Its end would be reported again and again.
        if self.order != Order::Orphaned {
            files.push(PollFd::new(&self.agent, PollFlags::IN));
        }
        let _ = poll(&mut files, Some(&timeout(ms)));
        drop(files);
        let mut signals = [0; 64];
        while self.signals.read(&mut signals).is_ok_and(|read| read > 0) {}
    }

    fn log(&mut self, event: &Event, signal: &str) {
        let text = self.text(event, signal);
        self.say(&text);
    }

    fn text(&self, event: &Event, signal: &str) -> String {
        let name = |which: usize| self.nodes.get(which).map_or("", |node| &node.name);
        match event {
            Event::LimitNear { which, limit_ms } => {
                format!("the lease of {} ends at {} unless it is renewed; {signal}", name(*which), utc(*limit_ms))
            }
            Event::Late { which, limit_ms } => {
                format!("{signal}, because the lease of {} ends at {}", name(*which), utc(*limit_ms))
            }
            Event::Slow => format!("has not ended; {signal}"),
            Event::Lost(which) => format!("the node of {} was lost; {signal}", name(*which)),
            Event::WentBack(by_ms) => format!("the clock was stepped back by {by_ms} ms; {signal}"),
            Event::Leftovers => format!("ended, but not all that it started; {signal}"),
            Event::Orphaned => format!("its agent is gone; {signal}"),
            Event::Gone => "gone; it starts again when there is a lease".to_owned(),
        }
    }

    fn say(&mut self, text: &str) {
        let line = Line::new((Level::Info, "child"), format!("{}: {text}", self.line[0]));
        self.journal.line(line, Instant::now()).iter().for_each(say_line);
    }
}

fn rules(config: &Config, random: u64) -> Rules {
    let most_jitter_ms = config.lease_time.as_millis() as u64 / 5;
    Rules {
        margin_ms: config.margin.as_millis() as u64,
        jitter_ms: random % (most_jitter_ms + 1),
        max_step_ms: 2 * config.max_skew.as_millis() as u64,
        runs_ahead_ms: config.child_runs_ahead.as_millis() as u64,
    }
}

/// `ms`, but not past the next look.
fn timeout(ms: u64) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: ms.min(LOOK_MS) as i64 * 1_000_000 }
}

impl Pages {
    /// Opens the files, each of them once.
    fn open(&self) -> Option<Vec<Generator>> {
        self.files.iter().map(|(file, layout)| State::leased(file, layout).ok().map(Generator::new)).collect()
    }

    /// The leases; none until all files are there. `used_ms` is noted as in `note`.
    fn look(&mut self, used_ms: Option<i64>, is_there: bool) -> Vec<Lease> {
        if self.open.is_empty() {
            self.open = self.open().unwrap_or_default();
        }
        self.note(used_ms, is_there);
        self.open.iter().map(lease).collect()
    }

    /// Notes until when times are used: at once before the child starts, and soon while it is there.
    fn note(&mut self, used_ms: Option<i64>, is_there: bool) {
        let Some(used_ms) = used_ms else { return };
        if is_there && self.noting.is_none() {
            self.noting = self.open().and_then(|generators| Noting::start(generators).ok());
        }
        match self.noting.as_ref().filter(|_| is_there) {
            Some(noting) => noting.note(used_ms),
            None => note(&self.open, used_ms),
        }
    }
}

fn lease(generator: &Generator) -> Lease {
    let state = generator.state();
    let Some(view) = state.lease() else { return Lease { node: 0, limit_ms: None, free_ms: i64::MAX, is_lost: true } };
    let is_lost = match view.news {
        LeaseNews::Held | LeaseNews::Asking | LeaseNews::ClockOff | LeaseNews::Starting => false,
        LeaseNews::Lost | LeaseNews::Copied | LeaseNews::Waiting | LeaseNews::NoneFree | LeaseNews::Released => true,
    };
    Lease {
        node: view.node,
        // The node may have changed between the look at it and at the limit.
        limit_ms: view.limit_ms.filter(|_| state.node() == Some(view.node)),
        free_ms: view.free_ms,
        is_lost: view.is_closed && is_lost,
    }
}

/// Signals end the guard by no other way than through the agent. `exec` undoes that for the child.
fn signals() -> std::io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, write)?;
    for signal in [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2] {
        // The child inherits that.
        if signal != SIGHUP || !is_ignored(signal) {
            signal_hook::flag::register(signal, Arc::default())?;
        }
    }
    let_come();
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::config;
    use processes::{descendants, is_stopped};
    use signal_hook::consts::{SIGCONT, SIGTSTP};
    use std::fs;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::thread;
    use std::time::Duration;
    use txid::snowflake::LeasePage;

    /// The guard's work, the agent's end of its socket, and what writes a byte for each signal.
    fn work() -> (Work, UnixStream, UnixStream) {
        let ((agent, its_end), (read, signals)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        [&agent, &its_end, &read].into_iter().for_each(|end| end.set_nonblocking(true).unwrap());
        (Work::of(&config(&["--env", "N={orders}", "--", "app"]).unwrap(), None, None, its_end, read), agent, signals)
    }

    #[test]
    fn agents_that_lost_their_store_at_once_end_their_children_at_different_times() {
        let line = "--lease-time 100s --margin 1s --max-skew 200ms --child-runs-ahead 3s --env N={orders} -- app";
        let config = config(&line.split(' ').collect::<Vec<_>>()).unwrap();
        let jitter = |random| rules(&config, random).jitter_ms;
        assert_eq!([0, 20_000, 20_001, 40_003].map(jitter), [0, 20_000, 0, 1]);
        let rules = rules(&config, 0);
        assert_eq!((rules.margin_ms, rules.max_step_ms, rules.runs_ahead_ms), (1_000, 400, 3_000));
    }

    #[test]
    fn the_guard_sleeps_until_its_next_look_at_most() {
        assert_eq!(timeout(7), Timespec { tv_sec: 0, tv_nsec: 7_000_000 });
        assert_eq!(timeout(u64::MAX), Timespec { tv_sec: 0, tv_nsec: 100_000_000 });
        let (mut work, _agent, mut signals) = work();
        signals.write_all(&[0; 200]).unwrap();
        work.sleep(u64::MAX);
        assert_eq!(work.signals.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "it would not sleep again");
    }

    #[test]
    fn orders_are_read_until_the_agent_is_gone() {
        let (mut work, mut agent, _signals) = work();
        work.hear();
        assert!(!work.may_start && work.order == Order::Run);
        agent.write_all(&[START, SIGTERM as u8]).unwrap();
        work.hear();
        assert!(work.may_start && work.order == Order::End);
        let mut signs = [1; 8];
        assert_eq!((agent.read(&mut signs).unwrap(), signs), (2, [0, 0, 1, 1, 1, 1, 1, 1]), "two signs of life");
        drop(agent);
        hear_until_it_is_gone(&mut work);
    }

    /// One that was read later, after slow files, would show a step back of the clock, for which a child is killed.
    #[test]
    fn both_clocks_of_a_look_are_of_one_moment() {
        let (mut work, ..) = work();
        (work.may_start, work.pages.files) = (true, Vec::new());
        let look = work.seen(false, 1_700_000_000_000, 7);
        assert_eq!((look.wall_ms, look.mono_ms), (1_700_000_000_000, 7));
        assert!(look.has_ended && !look.is_there && look.order == Order::Run);
        // Until all files are there, and until there may be a child, no lease is.
        let missing = Lease { node: 0, limit_ms: None, free_ms: i64::MAX, is_lost: false };
        work.may_start = false;
        assert_eq!([look.leases, work.seen(false, 0, 0).leases], [[missing]; 2]);
    }

    /// They may be ahead of the clock, and be made before the next look.
    #[test]
    fn the_times_of_a_childs_first_ids_are_noted_with_its_node() {
        let directory = tempfile::tempdir().unwrap();
        let (path, now_ms) = (directory.path().join("orders"), txid::system_ms());
        let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        page.open(7, now_ms - 1_000);
        page.set_limit(7, now_ms + 60_000);
        let (mut work, ..) = work();
        (work.may_start, work.pages.files) = (true, vec![(path, Layout::SNOWFLAKE)]);
        work.rules.runs_ahead_ms = 3_000;
        let look = work.seen(false, now_ms, 7);
        assert!(page.view().free_ms < now_ms, "nothing has started");
        assert_eq!(work.environment(&look), [("N".to_owned(), "7".to_owned())]);
        assert!(page.view().free_ms > now_ms + 3_000, "{} {now_ms}", page.view().free_ms);
    }

    #[test]
    fn an_operator_is_told_why_a_child_ends() {
        let (work, ..) = work();
        let lease = "the lease of orders ends at 2023-11-14T22:13:20.123Z";
        let (which, limit_ms) = (0, 1_700_000_000_123);
        for (event, wanted) in [
            (Event::LimitNear { which, limit_ms }, format!("{lease} unless it is renewed; SIGTERM")),
            (Event::Late { which, limit_ms }, format!("SIGTERM, because {lease}")),
            (Event::Slow, "has not ended; SIGTERM".to_owned()),
            (Event::Lost(0), "the node of orders was lost; SIGTERM".to_owned()),
            (Event::WentBack(401), "the clock was stepped back by 401 ms; SIGTERM".to_owned()),
            (Event::Leftovers, "ended, but not all that it started; SIGTERM".to_owned()),
            (Event::Orphaned, "its agent is gone; SIGTERM".to_owned()),
            (Event::Gone, "gone; it starts again when there is a lease".to_owned()),
        ] {
            assert_eq!(work.text(&event, "SIGTERM"), wanted);
        }
    }

    /// A process that another test starts has the agent's end, too, until it executes its program.
    fn hear_until_it_is_gone(work: &mut Work) {
        let end = Instant::now() + Duration::from_secs(60);
        while work.order != Order::Orphaned {
            assert!(Instant::now() < end, "the agent is not gone");
            work.hear();
        }
    }

    #[test]
    fn an_agent_that_has_left_signs_of_life_unread_is_gone() {
        let (mut work, agent, _signals) = work();
        work.hear();
        drop(agent);
        hear_until_it_is_gone(&mut work);
    }

    #[test]
    fn a_signal_is_an_order_to_end_if_there_is_no_child_that_may_handle_it() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        for (signal, alone, with_child) in [
            (SIGTERM, Order::End, Order::End),
            (SIGINT, Order::End, Order::Run),
            (SIGQUIT, Order::End, Order::Run),
            (SIGHUP, Order::End, Order::Run),
            (SIGUSR1, Order::Run, Order::Run),
        ] {
            for (main, wanted) in [(None, alone), (Some(pid), with_child)] {
                let (mut work, ..) = work();
                work.main = main;
                work.obey(signal as u8);
                assert!(work.order == wanted, "signal {signal}, child {main:?}");
                work.order = Order::Orphaned;
                work.obey(SIGTERM as u8);
                assert!(work.order == Order::Orphaned);
            }
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_terminal_stops_and_continues_all_of_the_childs_group() {
        let line = "sleep 600 & sleep 600 & wait";
        let mut shell = Command::new("sh").args(["-c", line]).process_group(0).spawn().unwrap();
        let (mut work, ..) = work();
        let main = Pid::from_child(&shell);
        work.main = Some(main);
        while descendants(main).len() < 2 {
            thread::yield_now();
        }
        let all = [vec![main], descendants(main)].concat();
        for (signal, stopped) in [(SIGTSTP, true), (SIGCONT, false)] {
            work.obey(signal as u8);
            while all.iter().any(|&pid| is_stopped(pid) != stopped) {
                thread::yield_now();
            }
        }
        kill_process_group(main, Signal::KILL).unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_process_of_another_user_is_named_at_the_second_look_and_once() {
        let (mut work, ..) = work();
        let looks = [7, 8, 8, 8, 7, 7, 8, 8].map(|pid| work.is_to_be_named(Pid::from_raw(pid).unwrap()));
        assert_eq!(looks, [false, false, true, false, false, true, false, true]);
    }

    #[test]
    fn times_are_noted_before_the_child_starts_and_soon_while_it_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let (path, now_ms) = (directory.path().join("orders"), txid::system_ms());
        let mut pages = Pages { files: vec![(path.clone(), Layout::SNOWFLAKE)], open: Vec::new(), noting: None };
        assert_eq!(pages.look(Some(now_ms), false).len(), 0, "there is no file yet");
        let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        page.open(7, now_ms - 1_000);
        page.set_limit(7, now_ms + 60_000);
        let free_ms = || page.view().free_ms;

        let leases = pages.look(None, false);
        assert_eq!((leases.len(), leases[0].node, leases[0].limit_ms), (1, 7, Some(now_ms + 60_000)));
        assert!(free_ms() < now_ms);
        pages.look(Some(now_ms), false);
        assert!(free_ms() > now_ms && pages.noting.is_none());
        let all = || fs::read_dir("/proc/self/task").unwrap().flatten();
        let stats = || all().filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        let threads = || stats().filter(|stat| stat.contains("(txid-note)"));
        for later_ms in [10_000, 20_000] {
            pages.look(Some(now_ms + later_ms), true);
            while free_ms() <= now_ms + later_ms || !threads().all(|stat| stat.contains(") S ")) {
                thread::yield_now();
            }
        }
        assert_eq!(threads().count(), 1);
    }

    #[test]
    fn a_lease_is_lost_when_it_is_closed_and_not_held() {
        use LeaseNews::{Asking, ClockOff, Copied, Held, Lost, NoneFree, Released, Starting, Waiting};
        let page = LeasePage::in_memory(&Layout::SNOWFLAKE, 77).unwrap();
        let generator = Generator::new(page.state());
        let is_lost = |news| {
            page.set_news(news);
            lease(&generator).is_lost
        };
        let (kept, lost) = ([Held, Asking, ClockOff, Starting], [Lost, Copied, Waiting, NoneFree, Released]);
        assert_eq!((kept.map(is_lost), lost.map(is_lost)), ([false; 4], [true; 5]));
        page.open(7, 0);
        assert_eq!((kept.map(is_lost), lost.map(is_lost)), ([false; 4], [false; 5]));
    }
}
