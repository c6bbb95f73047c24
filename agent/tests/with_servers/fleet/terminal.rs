//! Agents that a shell has started in a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::{slice, thread};

use super::host::agent;
use super::hosted::{Hosted, Program, SHORT, check_unique, child_of, mark, processes_with, redis, send, starts, state};
use crate::proxy::Mode;
use crate::servers::{self, until};

/// A terminal, and a shell in it.
struct Terminal {
    keyboard: File,
    shown: Arc<Mutex<String>>,
    shell: Child,
}

impl Terminal {
    fn new(script: &str) -> Self {
        let (mut keyboard, mut screen) = (0, 0);
        let none = std::ptr::null_mut();
        // SAFETY: both numbers may be written to, and no name or settings are given.
        assert_eq!(unsafe { libc::openpty(&mut keyboard, &mut screen, none, none.cast(), none.cast()) }, 0);
        // SAFETY: both were just opened, and nobody else closes them.
        let (keyboard, screen) = unsafe { (File::from_raw_fd(keyboard), OwnedFd::from_raw_fd(screen)) };
        let mut shell = Command::new("dash");
        shell.args(["-c", script]);
        shell.stdin(screen.try_clone().unwrap()).stdout(screen.try_clone().unwrap()).stderr(screen);
        // SAFETY: both are async-signal-safe.
        unsafe {
            shell.pre_exec(|| match libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1 {
                true => Ok(()),
                false => Err(std::io::Error::last_os_error()),
            });
        }
        servers::end_with_the_test(&mut shell);
        let (shown, shell) = (Arc::new(Mutex::new(String::new())), shell.spawn().unwrap());
        let (mut from, to) = (keyboard.try_clone().unwrap(), shown.clone());
        thread::spawn(move || {
            let mut some = [0; 1024];
            while let Ok(length @ 1..) = from.read(&mut some) {
                to.lock().unwrap().push_str(&String::from_utf8_lossy(&some[..length]));
            }
        });
        Self { keyboard, shown, shell }
    }

    fn keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn shows(&self, text: &str, times: usize) -> bool {
        self.shown.lock().unwrap().matches(text).count() == times
    }

    /// The agent is its only child.
    fn agent(&self) -> i32 {
        child_of(self.shell.id()).expect("there is an agent")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the terminal shows:\n{}", self.shown.lock().unwrap());
        }
        if let Some(agent) = child_of(self.shell.id()) {
            let guard = child_of(agent as u32);
            send(agent, libc::SIGKILL);
            guard.iter().for_each(|&guard| send(guard, libc::SIGCONT));
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// The agent's command line, with a child that makes ids and has this in its environment.
fn line(hosted: &Hosted, mark: &str) -> String {
    let mut command = agent();
    command.args(["run", "--store", &redis(hosted.host.proxy.port), "--node", "orders=snowflake"]);
    command.arg("--dir").arg(hosted.host.path("run")).args(SHORT).args(Program::Python.variables());
    // Not alone in its group.
    command.args(["--", "env", mark, "sh", "-c", "sleep 1000 & exec \"$@\"", "sh"]);
    command.args(Program::Python.line(&hosted.ids, "8"));
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| format!("'{}'", word.to_str().unwrap())).collect::<Vec<_>>().join(" ")
}

#[test]
fn ctrl_z_stops_the_child_and_not_its_guard() {
    let server = servers::redis(&[]);
    let hosted = Hosted::new("ctrl-z", server.port, redis);
    let mark = mark("ctrl-z");
    let log = hosted.host.path("log");
    let script =
        format!("set -m; {} 2>{}; while echo status $?; read line; do fg; done", line(&hosted, &mark), log.display());
    let mut terminal = Terminal::new(&script);
    hosted.goes_on("the child makes no ids");
    let agent = terminal.agent();

    // `fg` comes in time.
    terminal.keys("\x1a");
    until("the agent is not stopped", || terminal.shows("status 1", 1));
    assert_eq!(state(agent), Some('T'));
    let states = || processes_with(&mark).iter().map(|process| state(process.parse().unwrap())).collect::<Vec<_>>();
    until("the whole group is not stopped", || states() == [Some('T'), Some('T')]);
    terminal.keys("fg\n");
    hosted.goes_on("the child does not go on");
    assert_eq!(starts(&hosted.host), 1);

    // It comes too late.
    terminal.keys("\x1a");
    until("the agent is not stopped", || terminal.shows("status 1", 2));
    until("the child does not end", || processes_with(&mark).is_empty());
    assert!(txid::system_ms() < hosted.host.view().confirmed_ms, "{}", hosted.host.log());
    assert_eq!(state(agent), Some('T'));
    terminal.keys("fg\n");
    until("the child does not start again", || starts(&hosted.host) == 2);
    hosted.goes_on("the child makes no ids");
    check_unique(slice::from_ref(&hosted));

    // The child ends by the signal that the agent passes on.
    terminal.keys("\x03");
    until("the agent does not end", || terminal.shows("status 130", 1));
    assert_eq!(processes_with(&mark), [""; 0]);
}

/// `stty tostop` stops a job in the background that writes to the terminal.
#[test]
fn a_line_of_the_log_does_not_stop_an_agent_in_the_background() {
    let server = servers::redis(&[]);
    let hosted = Hosted::new("tostop", server.port, redis);
    let mark = mark("tostop");
    let script = format!("set -m; stty tostop; {} & wait", line(&hosted, &mark));
    let terminal = Terminal::new(&script);
    hosted.goes_on("the child makes no ids");
    hosted.host.proxy.set(Mode::Refuse);
    until("no line is written", || terminal.shows("cannot reach", 1));
    hosted.host.proxy.set(Mode::Pass);
    until("no line is written", || terminal.shows("answers again", 1));
    hosted.goes_on("the child makes no ids");
    assert_ne!(state(terminal.agent()), Some('T'));
}
