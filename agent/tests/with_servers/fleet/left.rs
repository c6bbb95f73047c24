//! Children that the kernel does not kill when their agent and their guard are killed at once.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::host::{kill, signal};
use super::hosted::{Hosted, Program, check_unique, guard_of, processes_with, redis, send, starts};
use crate::servers::{self, until};

/// Undoes what its guard has asked the kernel for, as a change of its user does, and becomes the rest of the line.
const ALONE: &str = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 0); ";
/// Closes the files that it has inherited, too.
const CLOSES: &str = "os.closerange(3, 4096); ";
const BECOMES: &str = "os.execvp(sys.argv[1], sys.argv[1:])";

/// Starts an agent whose child makes ids, and kills it with its guard.
fn left(name: &str, server: u16, before: &[&str]) -> (Hosted, String) {
    let mark = format!("TXID_TEST_MARK={name}-{}", std::process::id());
    let mut hosted = Hosted::new(name, server, redis);
    let line = Program::Stubborn.line(&hosted.ids, "8");
    let line: Vec<&str> = ["env", &mark].iter().chain(before).copied().chain(line.iter().map(String::as_str)).collect();
    hosted.start(Program::Stubborn.variables(), &line);
    until("the child makes no ids", || hosted.makes_ids());
    let agent = hosted.host.agent.as_mut().unwrap();
    signal(agent, libc::SIGSTOP);
    send(guard_of(&hosted), libc::SIGKILL);
    kill(hosted.host.agent.as_mut().unwrap());
    (hosted, mark)
}

/// Starts another agent. It ends the child that is there before it starts its own.
fn is_ended(hosted: &mut Hosted, mark: &str) {
    until("it is not left", || hosted.makes_ids());
    let left = processes_with(mark);
    assert_eq!(left.len(), 1);
    // Whoever is the parent now may not have reaped it yet.
    let script = format!("grep -qs '^State:.[^Z]' /proc/{}/status || exec \"$@\"", left[0]);
    let line = Program::Python.line(&hosted.ids, "8");
    let line: Vec<&str> = ["sh", "-c", &script, "sh"].into_iter().chain(line.iter().map(String::as_str)).collect();
    hosted.start(Program::Python.variables(), &line);
    until("the child does not start", || {
        starts(&hosted.host) == 2 || hosted.host.agent.as_mut().unwrap().try_wait().unwrap().is_some()
    });
    let log = hosted.host.log();
    assert!(
        log.contains(&format!("orders: ended process {}, which an earlier txid-agent had started", left[0])),
        "{log}"
    );
    assert_eq!(processes_with(mark), [""; 0]);
    until("the child makes no ids", || hosted.makes_ids());
    assert!(check_unique(std::slice::from_ref(hosted)) > 0 && hosted.sizes().len() == 2);
}

#[test]
fn a_child_that_has_closed_its_files_is_ended_by_the_next_agent() {
    let server = servers::redis(&[]);
    let (mut hosted, mark) = left("closes", server.port, &["python3", "-c", &[ALONE, CLOSES, BECOMES].concat()]);
    is_ended(&mut hosted, &mark);
}

/// It has the lock, too.
#[test]
fn a_child_that_has_its_files_is_ended_by_the_next_agent() {
    let server = servers::redis(&[]);
    let (mut hosted, mark) = left("keeps", server.port, &["python3", "-c", &[ALONE, BECOMES].concat()]);
    is_ended(&mut hosted, &mark);
}

#[test]
fn a_child_that_has_changed_its_user_is_ended_by_the_next_agent() {
    // SAFETY: `geteuid` has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return println!("not tested: only root may change the user");
    }
    let server = servers::redis(&[]);
    let change = ["setpriv", "--reuid", "daemon", "--regid", "daemon", "--clear-groups", "--"];
    // Another user may read neither this test's directory nor the program.
    let writes = |hosted: &Path| servers::run(Command::new("chmod").args(["-R", "a+rwx"]).arg(hosted));
    let mut hosted = Hosted::new("gosu", server.port, redis);
    writes(hosted.host.directory.path());
    let mark = format!("TXID_TEST_MARK=gosu-{}", std::process::id());
    let script = "while :; do echo; sleep 0.1; done > $0";
    let file = hosted.host.path("alive");
    let sh = ["sh", "-c", script, file.to_str().unwrap()];
    let line: Vec<&str> = ["env", &mark].iter().chain(&change).chain(&sh).copied().collect();
    hosted.start(Program::Python.variables(), &line);
    until("the child does not start", || fs::metadata(&file).is_ok_and(|file| file.len() > 0));
    signal(hosted.host.agent.as_ref().unwrap(), libc::SIGSTOP);
    send(guard_of(&hosted), libc::SIGKILL);
    kill(hosted.host.agent.as_mut().unwrap());
    assert!(!processes_with(&mark).is_empty(), "the kernel has ended it");
    hosted.start(Program::Python.variables(), &["true"]);
    assert_eq!(hosted.host.agent.as_mut().unwrap().wait().unwrap().code(), Some(0), "{}", hosted.host.log());
    until("it is left", || processes_with(&mark).is_empty());
}
