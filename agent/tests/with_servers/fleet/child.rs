//! Children that know nothing of txid, and have nodes in their environment.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::directory::Directory;
use super::host::{Host, agent, kill, signal};
use super::hosted::{
    ENV, Hosted, Program, SHORT, check_unique, child_of, guard_of, libfaketime, looks, mark, processes_with, redis,
    send, starts, state,
};
use super::{LAYOUT, Random};
use crate::control_group::ControlGroup;
use crate::proxy::Mode;
use crate::servers::{self, MARIADB_PASSWORD, until};
use crate::wait::{Steps, WATCHDOG, each, ended, last_lines};

fn number(name: &str, unless: usize) -> usize {
    std::env::var(name).map_or(unless, |text| text.parse().unwrap())
}

/// Kills, stops that are shorter than the margin, clocks that are stepped by what the clock guard allows, outages, nodes
/// that are taken away and given back: three hosts on four nodes.
#[test]
#[ignore = "by the real clock; make soak"]
fn no_fault_gives_an_id_twice() {
    let Some(faketime) = libfaketime() else { return crate::skipped("libfaketime is not installed") };
    let wanted = number("TXID_CHILD_IDS", 200_000);
    let seed = number("TXID_FLEET_SEED", std::process::id() as usize * 7919) as u64;
    println!("TXID_FLEET_SEED={seed}");
    let mut random = Random(seed | 1);
    let server = servers::mariadb();
    let url = |port| format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{port}/ids?timeout=500ms");
    let programs = Program::all();
    let mut hosts: Vec<Hosted> = (0..3)
        .map(|which| {
            let mut hosted = Hosted::with_layout(&format!("host-{which}"), server.port, url, LAYOUT);
            let clock = hosted.host.path("clock");
            fs::write(&clock, "+0.0s").unwrap();
            hosted.host.environment = vec![
                ("LD_PRELOAD", faketime.clone()),
                ("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap().to_owned()),
                ("FAKETIME_NO_CACHE", "1".to_owned()),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
                ("NO_FAKE_STAT", "1".to_owned()),
            ];
            hosted
        })
        .collect();
    let mut faults = [0; 9];
    let mut undo: Vec<(Instant, usize, i32)> = Vec::new();
    let made = |hosts: &[Hosted]| hosts.iter().map(|hosted| hosted.all() as usize / 8).sum::<usize>();
    let children = |hosts: &[Hosted]| hosts.iter().map(|hosted| hosted.sizes().len()).sum::<usize>();
    let mut steps = Steps::begin(Default::default());
    while made(&hosts) < wanted || faults.contains(&0) || children(&hosts) < 10 {
        let now = (made(&hosts).min(wanted), faults.map(|count| count > 0), children(&hosts).min(10));
        steps.look(now, &format!("no more ids, faults and children than {now:?}"));
        for (which, hosted) in hosts.iter_mut().enumerate() {
            // As a service manager does.
            if hosted.host.agent.as_mut().is_none_or(|agent| agent.try_wait().unwrap().is_some()) {
                let program = programs[(which + random.below(2) as usize) % programs.len()];
                let line = program.line(&hosted.ids, "1024");
                // With two bits of node, all of them fit into one number.
                let line: Vec<&str> =
                    ["env", "DATACENTER_ID=0"].into_iter().chain(line.iter().map(String::as_str)).collect();
                hosted.start(Program::Python.variables(), &line);
            }
        }
        sleep(Duration::from_millis(100 + random.below(400)));
        let now = Instant::now();
        undo.retain(|&(when, which, process)| {
            if when <= now {
                send(process, libc::SIGCONT);
                hosts[which].host.proxy.set(Mode::Pass);
            }
            when > now
        });
        let from = random.below(3) as usize;
        // The next host with a child.
        let found = (0..3).map(|which| (from + which) % 3).find_map(|which| {
            let agent = hosts[which].host.agent.as_ref()?.id();
            let guard = child_of(agent)?;
            Some((which, agent, guard, child_of(guard as u32)?))
        });
        let Some((which, agent_id, guard, child)) = found else { continue };
        let hosted = &mut hosts[which];
        let fault =
            if let Some(next) = faults.iter().position(|&count| count == 0) { next } else { random.below(9) as usize };
        faults[fault] += 1;
        let for_ms = Duration::from_millis(100 + random.below(600));
        match fault {
            0 => kill(hosted.host.agent.as_mut().unwrap()),
            1 => {
                send(agent_id as i32, libc::SIGSTOP);
                undo.push((now + for_ms, which, agent_id as i32));
            }
            2 => send(guard, libc::SIGKILL),
            3 => {
                send(guard, libc::SIGKILL);
                kill(hosted.host.agent.as_mut().unwrap());
            }
            4 => {
                // Empty if the agent has just ended.
                let maps = fs::read_to_string(format!("/proc/{agent_id}/maps")).unwrap_or_default();
                assert!(maps.is_empty() || maps.contains("libfaketime"), "its clock cannot be stepped");
                let offset_ms = random.below(400) as i64 - 200;
                let new = hosted.host.path("new-clock");
                fs::write(&new, format!("{:+.3}s", offset_ms as f64 / 1e3)).unwrap();
                fs::rename(new, hosted.host.path("clock")).unwrap();
            }
            5 => {
                hosted.host.proxy.set(if random.below(2) == 0 { Mode::Refuse } else { Mode::SwallowReplies });
                undo.push((now + 20 * for_ms, which, agent_id as i32));
            }
            6 => {
                let node = hosted.host.view().node.to_string();
                // It may be released already, and a busy server may not answer.
                agent().args(["release", "--store", &url(server.port), "orders", &node]).output().unwrap();
            }
            7 => signal(hosted.host.agent.as_ref().unwrap(), libc::SIGTERM),
            _ => {
                send(child, libc::SIGSTOP);
                undo.push((now + 10 * for_ms, which, child));
            }
        }
    }
    println!("{faults:?} faults");
    for hosted in &mut hosts {
        kill(hosted.host.agent.as_mut().unwrap());
    }
    assert!(check_unique(&hosts) >= wanted);
}

/// Whatever a child does with its processes, none is there at the limit. Each ends by itself some time, because an agent
/// that fails this test may leave them.
#[test]
fn nothing_that_a_child_starts_is_left() {
    let server = servers::redis(&[]);
    let scripts = [
        ("ignores", "trap '' TERM; for i in $(seq 1000); do sleep 0.1; done"),
        ("stops", "kill -STOP $$"),
        ("forks", "sleep 1000 & sleep 1000 & wait"),
        ("daemonizes", "(setsid sh -c '(trap \"\" TERM; for i in $(seq 1000); do sleep 0.1; done) & ' &); sleep 1000"),
        (
            "closes",
            "setsid -w sh -c 'exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; for i in $(seq 1000); do sleep 0.1; done'",
        ),
        (
            "breeds",
            "trap '' TERM; for i in $(seq 20); do (for j in $(seq 300); do sleep 0.1 & sleep 0.2; done) & sleep 0.5; done; sleep 60",
        ),
    ];
    let mut hosts = Vec::new();
    for (name, script) in scripts {
        let mark = mark(name);
        let mut hosted = Hosted::new(name, server.port, redis);
        hosted.start(&ENV, &["env", &mark, "sh", "-c", script]);
        hosts.push((hosted, mark));
    }
    until("a child does not start", || hosts.iter().all(|(_, mark)| !processes_with(mark).is_empty()));
    hosts.iter().for_each(|(hosted, _)| hosted.host.proxy.set(Mode::Refuse));
    each(
        hosts.iter_mut().zip(scripts),
        |(_, (name, _))| *name,
        |((hosted, mark), (name, script))| {
            // A guard that so many processes keep from the processor is ended by its agent, with all of them.
            let is_ended = until(&format!("the child of {name} is not gone"), || {
                let log = hosted.host.log();
                let is_ended = hosted.host.agent.as_mut().unwrap().try_wait().unwrap().is_some();
                if is_ended || log.contains(": gone; ") { Ok(is_ended) } else { Err(last_lines(&log, 5)) }
            });
            let log = hosted.host.log();
            assert_eq!(processes_with(mark), [""; 0], "{name}\n{log}");
            let said = if is_ended { "the guard of the child does not work; ending both" } else { "; SIGTERM" };
            assert!(log.contains(said), "{log}");
            if is_ended {
                hosted.start(&ENV, &["env", mark, "sh", "-c", script]);
            }
        },
    );
    // They start again with the same node, which nobody else has taken.
    hosts.iter().for_each(|(hosted, _)| hosted.host.proxy.set(Mode::Pass));
    until("a child does not start again", || hosts.iter().all(|(_, mark)| !processes_with(mark).is_empty()));
    each(
        hosts.iter_mut().zip(scripts),
        |(_, (name, _))| *name,
        |((hosted, mark), _)| {
            let agent = hosted.host.agent.as_mut().unwrap();
            signal(agent, libc::SIGTERM);
            // Children that ignore it, or are stopped, are ended with their agent.
            kill(agent);
            until("something is left", || processes_with(mark).is_empty());
        },
    );
}

/// Linux shares the processors among sessions: a child with many processes takes none of its guard's share.
#[test]
fn a_child_is_not_in_the_session_of_its_guard() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("session", server.port, redis);
    hosted.start(&ENV, &["sleep", "1000"]);
    until("the child has no session", || {
        let guard = child_of(hosted.host.agent.as_ref().unwrap().id())?;
        let child = child_of(guard as u32)?;
        // SAFETY: no memory is involved.
        let sessions = [guard, child].map(|process| unsafe { libc::getsid(process) });
        (sessions == [guard, child]).then_some(())
    });
}

/// It may have ended before its child could ask for a signal at its end.
#[test]
fn a_child_whose_parent_is_another_process_does_not_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("started");
    let start = |parent: u32| {
        let mut command = agent();
        command.arg0("txid-start").args([&parent.to_string(), "9", "", "", "", "touch"]).arg(&file);
        command.status().unwrap().code()
    };
    assert_eq!((start(1), file.exists()), (Some(1), false));
    assert_eq!((start(std::process::id()), file.exists()), (Some(0), true));
}

/// A terminal stops, continues and ends both.
#[test]
fn a_child_without_a_guard_is_in_the_session_of_its_agent() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("no-guard", server.port, redis);
    hosted.host.start_agent(&["--assume-unused-store", "--", "sleep", "1000"]);
    let agent = hosted.host.agent.as_ref().unwrap().id();
    let child = until("the child does not start", || {
        let child = child_of(agent)?;
        (fs::read_to_string(format!("/proc/{child}/comm")).ok()? == "sleep\n").then_some(child)
    });
    // SAFETY: no memory is involved.
    let sessions = [agent as i32, child].map(|process| unsafe { libc::getsid(process) });
    assert_eq!(sessions[0], sessions[1]);
}

/// It could not hear SIGTERM otherwise, and would be killed without a word.
#[test]
fn a_child_that_is_stopped_can_end_by_itself() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("stopped", server.port, redis);
    let said = hosted.host.path("said");
    let script = "trap 'echo ended >> $0; exit' TERM; echo ready >> $0; kill -STOP $$; while :; do sleep 0.1; done";
    hosted.start(&ENV, &["sh", "-c", script, said.to_str().unwrap()]);
    let said = || fs::read_to_string(&said).unwrap_or_default();
    let is_stopped = || {
        let child = child_of(guard_of(&hosted) as u32).expect("it has a child");
        state(child) == Some('T')
    };
    until("it is not stopped", || said() == "ready\n" && is_stopped());
    hosted.host.proxy.set(Mode::Refuse);
    hosted.host.says(": gone; ");
    assert_eq!(said(), "ready\nended\n", "{}", hosted.host.log());
}

/// SIGTERM is an order for the agent, too: a child that does not obey it is not started again when it was ended.
#[test]
fn a_child_that_was_to_end_is_not_started_again() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("host", server.port, redis);
    let said = hosted.host.path("said");
    let script = "trap 'echo asked >> $0' TERM; echo ready >> $0; for i in $(seq 1000); do sleep 0.1; done";
    hosted.start(&ENV, &["sh", "-c", script, said.to_str().unwrap()]);
    let said = || fs::read_to_string(&said).unwrap_or_default();
    until("it does not start", || said() == "ready\n");
    signal(hosted.host.agent.as_ref().unwrap(), libc::SIGTERM);
    until("it is not asked", || said().contains("asked"));
    hosted.host.proxy.set(Mode::Refuse);
    until("it is not ended", || hosted.host.log().contains("; SIGKILL") || hosted.host.log().contains("SIGKILL, "));
    hosted.host.proxy.set(Mode::Pass);
    ended("the agent does not end", hosted.host.agent.as_mut().unwrap());
    assert_eq!(said().matches("ready").count(), 1, "{}", hosted.host.log());
}

/// Ctrl-C, for example, while the store is away.
#[test]
fn each_signal_that_ends_an_agent_ends_it_before_its_child_has_started() {
    for number in [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
        let mut hosted = Hosted::new("host", servers::free_port(), redis);
        hosted.host.proxy.set(Mode::Refuse);
        hosted.start(&ENV, &["true"]);
        hosted.host.says("cannot reach");
        let agent = hosted.host.agent.as_mut().unwrap();
        signal(agent, number);
        let code = ended(&format!("signal {number} does not end it"), agent).code();
        assert_eq!(code, Some(0), "{}", hosted.host.log());
        assert_eq!(starts(&hosted.host), 0);
    }
}

/// An agent of the user `daemon`, whose child starts a process that becomes `bin` and stays.
fn agent_of_daemon(directory: &Directory, before: &[&str]) -> Child {
    let path = |name: &str| directory.path(name).to_str().unwrap().to_owned();
    servers::run(Command::new("cp").args(["/usr/bin/setpriv", &path("")]));
    fs::set_permissions(path("setpriv"), Permissions::from_mode(0o4755)).unwrap();
    let built = agent().get_program().to_owned();
    servers::run(Command::new("cp").arg(built).arg(path("txid-agent")));
    servers::run(Command::new("chmod").args(["755", &path("txid-agent")]));
    servers::run(Command::new("chown").args(["daemon", &path("")]));
    let as_daemon = servers::as_user("daemon", &path("txid-agent"));
    let mut run = Command::new(before.first().copied().unwrap_or("env"));
    servers::end_with_the_test(&mut run);
    run.args(before.iter().skip(1)).arg(as_daemon.get_program()).args(as_daemon.get_args());
    run.args(directory.line(&["--env", "WORKER_ID={orders}", "--max-skew", "700ms", "--margin", "1900ms"]));
    let start = format!("{} --reuid bin --regid bin --clear-groups sleep 1000 &", path("setpriv"));
    let wait = "until grep -q sleep /proc/$!/comm; do :; done";
    run.args(["--", "sh", "-c", &format!("{start}\n{wait}")]).stdin(Stdio::null());
    run.stderr(File::create(path("log")).unwrap());
    run.spawn().unwrap()
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        crate::skipped("only root may start an agent as another user");
    }
    is_root
}

/// An agent without the right to end it ends what it can, names it, and waits for its end.
#[test]
fn a_process_of_another_user_is_named() {
    if !is_root() {
        return;
    }
    let directory = Directory::new();
    let mut child = agent_of_daemon(&directory, &[]);
    directory.says("cannot end process ");
    let said = directory.log();
    let named = said.lines().find_map(|line| line.split_once("cannot end process ")).unwrap().1;
    let (process, rest) = named.split_once(", ").unwrap();
    assert_eq!(rest, "which runs as another user; after the limit, its ids may repeat");
    assert_eq!(fs::read_to_string(format!("/proc/{process}/comm")).unwrap(), "sleep\n");
    // It is tried again and again.
    let guard = child_of(child.id()).expect("it has a guard");
    let before = looks(guard);
    until("the guard does not try again", || looks(guard) > before + 20);
    assert!(child.try_wait().unwrap().is_none(), "it does not wait");
    send(process.parse().unwrap(), libc::SIGKILL);
    assert_eq!(ended("it does not end", &mut child).code(), Some(0));
    assert_eq!(directory.log().matches("cannot end process ").count(), 1, "once is enough");
}

/// A control group that belongs to `daemon`, as with `Delegate=` in a unit: the kernel ends all that is in it.
#[test]
fn a_process_of_another_user_ends_with_its_control_group() {
    let Some(group) = is_root().then(|| ControlGroup::with("cgroup.kill")).flatten() else { return };
    let directory = Directory::new();
    servers::run(Command::new("chown").args(["daemon"]).arg(&group.0).arg(group.0.join("cgroup.procs")));
    let mut child = agent_of_daemon(&directory, &["sh", "-c", &group.join(), "sh"]);
    let status = ended("the process of another user stays", &mut child);
    let said = directory.log();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("ended, but not all that it started") && !said.contains("cannot end"), "{said}");
    let left: Vec<_> = fs::read_dir(&group.0).unwrap().flatten().filter(|entry| entry.path().is_dir()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The log may be a pipe that nobody reads, and that the child itself has filled.
#[test]
fn a_log_that_nobody_reads_keeps_no_child() {
    let server = servers::redis(&[]);
    let mark = mark("unread");
    let mut hosted = Hosted::new("unread", server.port, redis);
    let log = hosted.host.path("log");
    servers::run(Command::new("mkfifo").arg(&log));
    let open = |options: &mut OpenOptions| options.custom_flags(libc::O_NONBLOCK).open(&log).unwrap();
    let _reader = open(File::options().read(true));
    hosted.start(&ENV, &["env", &mark, "sh", "-c", "trap '' TERM; for i in $(seq 1000); do sleep 0.1; done"]);
    until("the child does not start", || !processes_with(&mark).is_empty());
    let mut pipe = open(File::options().write(true));
    fs::remove_file(&log).unwrap();
    while pipe.write(&[b'x'; 4096]).is_ok() || pipe.write(b"x").is_ok() {}

    hosted.host.proxy.set(Mode::Refuse);
    until("it is not gone", || processes_with(&mark).is_empty());
    hosted.host.proxy.set(Mode::Pass);
    until("it does not start again", || !processes_with(&mark).is_empty());
    send(guard_of(&hosted), libc::SIGKILL);
    until("something is left", || processes_with(&mark).is_empty());
    ended("the agent does not end", hosted.host.agent.as_mut().unwrap());
}

/// How the agent ended.
fn code(hosted: &mut Hosted) -> Option<i32> {
    ended("the agent does not end", hosted.host.agent.as_mut().unwrap()).code()
}

/// The agent, its guard, or both are killed or stopped.
#[test]
fn a_child_does_not_outlive_its_agent() {
    let server = servers::redis(&[]);
    let start = |name: &str, script: &str| {
        let mut hosted = Hosted::new(name, server.port, redis);
        let mark = mark(name);
        hosted.start(&ENV, &["env", &mark, "sh", "-c", script]);
        until("the child does not start", || !processes_with(&mark).is_empty());
        (hosted, mark)
    };
    let stubborn = "(trap '' TERM; setsid sh -c 'for i in $(seq 1000); do sleep 0.1; done' &); trap '' TERM; for i in $(seq 1000); do sleep 0.1; done";

    // A guard that was stopped goes on when its agent dies. A guard does not need its agent, until the limit. Both take a while.
    let (mut dies, of_dying) = start("stopped-guard", stubborn);
    send(guard_of(&dies), libc::SIGSTOP);
    kill(dies.host.agent.as_mut().unwrap());
    let (stopped, of_stopped) = start("stopped", stubborn);
    signal(stopped.host.agent.as_ref().unwrap(), libc::SIGSTOP);

    // The guard ends what there is, and another agent starts no child before that.
    let (mut hosted, mark) = start("agent", stubborn);
    let guard = guard_of(&hosted);
    kill(hosted.host.agent.as_mut().unwrap());
    hosted.host.says("its agent is gone; SIGTERM");
    // It waits two margins before it kills. The other agent is to start in that time.
    send(guard, libc::SIGSTOP);
    hosted.start(&ENV, &["true"]);
    assert_eq!(code(&mut hosted), Some(1));
    assert!(hosted.host.log().contains("a child with the node orders, which another txid-agent started, still runs"));
    assert!(!processes_with(&mark).is_empty());
    send(guard, libc::SIGCONT);
    until("something is left", || processes_with(&mark).is_empty());

    // The agent ends what there is, and gives the node back.
    let (mut hosted, mark) = start("guard", stubborn);
    send(guard_of(&hosted), libc::SIGKILL);
    assert_eq!(code(&mut hosted), Some(128 + libc::SIGKILL));
    assert_eq!(processes_with(&mark), [""; 0]);
    for line in ["the guard of the child was killed; ending what it has left", "gave node"] {
        assert!(hosted.host.log().contains(line), "{}", hosted.host.log());
    }

    // The kernel ends the child. Nobody ends what it has started, and as long as that is there, no agent starts.
    let (mut hosted, mark) =
        start("both", "env TXID_TEST_LEFT=$TXID_TEST_MARK sleep 1000 & trap '' TERM; while sleep 0.1; do :; done");
    let left = mark.replace("MARK", "LEFT");
    until("the child starts nothing", || !processes_with(&left).is_empty());
    signal(hosted.host.agent.as_ref().unwrap(), libc::SIGSTOP);
    send(guard_of(&hosted), libc::SIGKILL);
    kill(hosted.host.agent.as_mut().unwrap());
    until("the child is left", || processes_with(&mark) == processes_with(&left));
    hosted.start(&ENV, &["true"]);
    assert_eq!(code(&mut hosted), Some(1), "{}", hosted.host.log());
    processes_with(&left).iter().for_each(|process| send(process.parse().unwrap(), libc::SIGKILL));
    until("something is left", || processes_with(&mark).is_empty());
    hosted.start(&ENV, &["true"]);
    assert_eq!(code(&mut hosted), Some(0), "{}", hosted.host.log());

    for (hosted, mark, says) in
        [(&dies, &of_dying, "its agent is gone; SIGTERM"), (&stopped, &of_stopped, "the lease of orders ends at")]
    {
        until("something is left", || processes_with(mark).is_empty());
        hosted.host.says(says);
    }
    signal(stopped.host.agent.as_ref().unwrap(), libc::SIGCONT);
    until("it does not start again", || !processes_with(&of_stopped).is_empty());
}

/// A program that is not opened for a while, as on a file system that does not answer: a lease of the kernel holds up
/// whoever opens the file.
struct HeldUp {
    path: String,
    file: File,
}

impl HeldUp {
    fn new(host: &Host, name: &str) -> Self {
        let path = host.path(name);
        servers::run(Command::new("cp").arg("/bin/true").arg(&path));
        let file = File::open(&path).unwrap();
        // SAFETY: no memory is involved. Without this, the signal that asks for the file would end the test.
        unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
        let held = Self { path: path.to_str().unwrap().to_owned(), file };
        held.hold();
        held
    }

    /// Holds it from now on. The kernel gives up `/proc/sys/fs/lease-break-time` after somebody opens it.
    fn hold(&self) {
        // SAFETY: no memory is involved.
        let lease = |kind: i32| unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLEASE, kind) };
        lease(libc::F_UNLCK);
        until("the file cannot be held", || lease(libc::F_WRLCK) == 0);
    }

    fn is_held(&self) -> bool {
        // SAFETY: no memory is involved.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) != libc::F_UNLCK }
    }

    fn is_waited_for(&self) -> bool {
        let output = Command::new("ps").args(["-eo", "args"]).output().unwrap();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.lines().any(|line| line.starts_with("txid-start ") && line.ends_with(&self.path))
    }
}

#[test]
fn a_program_that_cannot_be_opened_holds_nobody_up() {
    let server = servers::redis(&[]);
    let check_end = |host: &mut Host, program: &HeldUp| {
        let agent = host.agent.as_mut().unwrap();
        signal(agent, libc::SIGTERM);
        assert_eq!(ended("the agent does not end", agent).code(), Some(128 + libc::SIGTERM));
        assert!(host.log().contains("gave node"), "{}", host.log());
        assert!(program.is_held(), "it was opened in the meantime");
    };
    let mut host = Host::new("plain", server.port, redis, "snowflake");
    let program = HeldUp::new(&host, "program");
    host.start_agent(&["--assume-unused-store", "--", &program.path]);
    until("it is not started", || program.is_waited_for());
    check_end(&mut host, &program);
    assert!(!program.is_waited_for());

    // At the limit of the lease, it has not become the child either.
    let mut hosted = Hosted::new("host", server.port, redis);
    let program = HeldUp::new(&hosted.host, "program");
    hosted.start(&ENV, &[&program.path]);
    until("it is not started", || program.is_waited_for());
    hosted.host.proxy.set(Mode::Refuse);
    hosted.host.says(": gone; ");
    assert!(!program.is_waited_for());
    program.hold();
    hosted.host.proxy.set(Mode::Pass);
    until("it does not start again", || program.is_waited_for());
    check_end(&mut hosted.host, &program);
}

#[test]
fn a_node_is_given_back_when_the_child_is_gone_and_later_than_its_last_id() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("host", server.port, redis);
    // It makes ids until it may end.
    let (asked, may_end) = (hosted.host.path("asked"), hosted.host.path("may-end"));
    let script = "asked=$1 end=$2; shift 2; \"$@\" & \
                  trap 'echo >\"$asked\"; until test -e \"$end\"; do sleep 0.01; done; kill $!; exit 5' TERM; wait";
    let line = Program::Python.line(&hosted.ids, "8");
    let line = ["sh", "-c", script, "sh", asked.to_str().unwrap(), may_end.to_str().unwrap()]
        .into_iter()
        .chain(line.iter().map(String::as_str))
        .collect::<Vec<_>>();
    // It is not to be killed meanwhile.
    let options = ["--assume-unused-store", "--env", "WORKER_ID={orders}", "--"];
    hosted.host.start_agent(&[&options[..], &line].concat());
    hosted.goes_on("the child makes no ids");
    let node = hosted.host.view().node;
    signal(hosted.host.agent.as_ref().unwrap(), libc::SIGTERM);
    until("the child is not asked", || asked.exists());
    let asked_ms = txid::system_ms();
    hosted.goes_on("it has ended");
    let nodes = servers::run(agent().args(["nodes", "--store", &redis(server.port), "orders"]));
    assert!(nodes.contains("held") && !nodes.contains("released"), "{nodes}");
    fs::write(may_end, "").unwrap();
    assert_eq!(code(&mut hosted), Some(5), "{}", hosted.host.log());
    let nodes = servers::run(agent().args(["nodes", "--store", &redis(server.port), "orders"]));
    let line = nodes.lines().find(|line| line.contains("released")).expect(&nodes);
    let limit = line.split_whitespace().find_map(|word| word.parse::<jiff::Timestamp>().ok()).expect(&nodes);
    let last_ms = hosted.last_ms(node)[0];
    assert!(last_ms >= asked_ms, "{last_ms} {asked_ms}");
    assert!(limit.as_millisecond() > last_ms, "{last_ms}: {nodes}");
    // The limit of a lease that was not given back would be a minute later.
    assert!(limit.as_millisecond() < txid::system_ms() + 30_000, "{nodes}");
}

/// A lease that another host has: the child starts again with the new node.
#[test]
fn a_child_starts_again_with_its_new_node() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("host", server.port, redis);
    hosted.start(
        &ENV,
        &["sh", "-c", "echo $WORKER_ID $HIGH $MARK >> $0; exec sleep 1000", hosted.host.path("seen").to_str().unwrap()],
    );
    let seen = || fs::read_to_string(hosted.host.path("seen")).unwrap_or_default();
    until("the child does not start", || seen().lines().count() == 1);
    let node = hosted.host.view().node.to_string();
    servers::run(agent().args(["release", "--store", &redis(server.port), "orders", &node]));
    until("it does not start again", || seen().lines().count() == 2);
    for (line, node) in seen().lines().zip([node, hosted.host.view().node.to_string()]) {
        let number: u64 = node.parse().unwrap();
        assert_eq!(line, format!("{number} {} <{}>", number >> 5, number & 31));
    }
    hosted.host.says("the node of orders was lost; SIGTERM");
}

/// The guard finds it among its descendants.
#[test]
fn a_child_that_leaves_its_control_group_is_ended() {
    let Some(group) = is_root().then(|| ControlGroup::with("cgroup.kill")).flatten() else { return };
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("host", server.port, redis);
    let left = hosted.host.path("left");
    let leaves =
        format!("echo 0 > {}/cgroup.procs; setsid sleep 1000 & echo > {}; wait", group.0.display(), left.display());
    hosted.start(&ENV, &["sh", "-c", &leaves]);
    until("the child does not start", || left.exists());
    until("it has not left", || fs::read_to_string(group.0.join("cgroup.procs")).unwrap().lines().count() == 2);
    let node = hosted.host.view().node.to_string();
    servers::run(agent().args(["release", "--store", &redis(server.port), "orders", &node]));
    until("it does not start again", || starts(&hosted.host) == 2);
    kill(hosted.host.agent.as_mut().unwrap());
    until("something is left", || fs::read_to_string(group.0.join("cgroup.procs")).unwrap().is_empty());
}

/// systemd hears from an agent only while it goes on. That the guard does is the agent's own care.
#[test]
fn the_watchdog_needs_the_agent() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("host", server.port, redis);
    let path = hosted.host.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(WATCHDOG)).unwrap();
    let run = |us: &str| {
        let mut command = agent();
        command.args(["run", "--store", &redis(server.port), "--node", "orders=snowflake"]).args(SHORT).args(ENV);
        command
            .arg("--dir")
            .arg(hosted.host.path("run"))
            .args(["--", "sh", "-c"])
            .args(["test -z \"$WATCHDOG_USEC$NOTIFY_SOCKET\" && sleep 1000"]);
        command
            .env("NOTIFY_SOCKET", &path)
            .env("WATCHDOG_USEC", us)
            .stderr(fs::File::create(hosted.host.path("log")).unwrap());
        command.spawn().unwrap()
    };
    assert_eq!(ended("a watchdog that is too long", &mut run("18000000")).code(), Some(1));
    assert!(
        hosted.host.log().contains("WatchdogSec=18 is too long: it must be less than 18s"),
        "{}",
        hosted.host.log()
    );

    server.signal(libc::SIGSTOP);
    let child = run("150000");
    hosted.host.agent = Some(child);
    let hear = || {
        let mut buffer = [0; 1000];
        socket.recv(&mut buffer).map(|length| &buffer[..length] == b"WATCHDOG=1")
    };
    let beats = || (0..10).for_each(|_| while !hear().expect("it does not beat") {});
    // Whether it beats while something happens.
    let beats_meanwhile = |happens: &dyn Fn()| {
        socket.set_nonblocking(true).unwrap();
        while hear().is_ok() {}
        happens();
        let has_beaten = std::iter::from_fn(|| hear().ok()).any(|is_beat| is_beat);
        socket.set_nonblocking(false).unwrap();
        has_beaten
    };
    beats();
    let (agent, guard) = (hosted.host.agent.as_ref().unwrap(), guard_of(&hosted));
    let guard_looks = || {
        let before = looks(guard);
        until("the guard does nothing", || looks(guard) > before + 10);
    };
    // Nobody reads the socket meanwhile, and it holds less than the agent says.
    guard_looks();
    server.signal(libc::SIGCONT);
    until("the child does not start", || starts(&hosted.host) == 1);
    signal(agent, libc::SIGSTOP);
    until("it is not stopped", || state(agent.id() as i32) == Some('T'));
    assert!(!beats_meanwhile(&guard_looks), "it beats while it is stopped");
    signal(agent, libc::SIGCONT);
    beats();
}

#[test]
fn the_exit_status_with_env_is_a_shells() {
    let directory = tempfile::tempdir().unwrap();
    let store = format!("file://{}/leases", directory.path().display());
    let file = directory.path().join("agent.toml");
    let run = |more: &[&str], text: &str| {
        fs::write(&file, text).unwrap();
        let output = agent()
            .args(["run", "--store", &store, "--dir", directory.path().join("run").to_str().unwrap()])
            .args(["--assume-unused-store"])
            .args(["--node", "orders=snowflake", "--config", file.to_str().unwrap()])
            .args(more)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap())
    };
    let w = "W={orders}";
    let cases = [
        (&["--env", w][..], "", 1, "--env is for a child: write its command after --"),
        (&["--env", "W", "--", "true"], "", 2, "write VARIABLE=VALUE, such as WORKER_ID={orders}"),
        (&["--env", w, "--", "/nowhere/app"], "", 127, "/nowhere/app: No such file"),
        (&["--env", w, "--", "/etc/passwd"], "", 126, "/etc/passwd: Permission denied"),
        (&["--", "sh", "-c", "echo W=$W; exit 9"], "env.W = 'n{orders}'", 9, "W=n"),
    ];
    each(
        cases,
        |(.., wanted)| *wanted,
        |(more, text, code, wanted)| {
            let (got, said) = run(more, text);
            assert_eq!(got, Some(code), "{more:?} {text}: {said}");
            assert!(said.contains(wanted), "{wanted:?} is not in {said}");
        },
    );
}
