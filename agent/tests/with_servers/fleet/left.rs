//! Children that the kernel does not kill when their agent and their guard are killed at once.

use std::fs;

use super::hosted::{Hosted, Program, kill_with_guard, mark, processes_with, redis, send, starts};
use crate::control_group::ControlGroup;
use crate::servers::{self, until};
use crate::wait::ended;

/// Undoes what its guard has asked the kernel for, as a change of its user does, and becomes the rest of the line.
const ALONE: &str = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 0); ";
/// Closes the files that it has inherited, too.
const CLOSES: &str = "os.closerange(3, 4096); ";
const BECOMES: &str = "os.execvp(sys.argv[1], sys.argv[1:])";

/// Starts an agent whose child makes ids, and kills it with its guard. Returns the process of the child.
fn left(name: &str, server: u16, before: &[&str]) -> (Hosted, i32) {
    let mark = mark(name);
    let mut hosted = Hosted::new(name, server, redis);
    let line = Program::Stubborn.line(&hosted.ids, "8");
    let line: Vec<&str> = ["env", &mark].iter().chain(before).copied().chain(line.iter().map(String::as_str)).collect();
    hosted.start(Program::Stubborn.variables(), &line);
    hosted.goes_on("the child makes no ids");
    kill_with_guard(hosted.host.agent.as_mut().unwrap());
    hosted.goes_on("it is not left");
    let left = processes_with(&mark);
    assert_eq!(left.len(), 1, "{left:?}");
    (hosted, left[0].parse().unwrap())
}

/// It has the lock, as all that it starts.
#[test]
fn no_agent_starts_while_a_child_is_left() {
    let server = servers::redis(&[]);
    let (mut hosted, child) = left("left", server.port, &["python3", "-c", &[ALONE, BECOMES].concat()]);
    hosted.start(Program::Python.variables(), &["true"]);
    assert_eq!(ended("it starts", hosted.host.agent.as_mut().unwrap()).code(), Some(1));
    let log = hosted.host.log();
    assert!(log.contains("a child with the node orders, which another txid-agent started, still runs"), "{log}");
    send(child, libc::SIGKILL);
    until("no agent starts", || {
        hosted.start(Program::Python.variables(), &["true"]);
        ended("it does not end", hosted.host.agent.as_mut().unwrap()).success()
    });
}

/// A control group has the name of the lock, which nobody has.
#[test]
fn a_child_without_the_lock_is_ended_by_the_next_agent_where_it_has_a_control_group() {
    if ControlGroup::with("cgroup.kill").is_none() {
        return;
    }
    let server = servers::redis(&[]);
    let (mut hosted, child) = left("closes", server.port, &["python3", "-c", &[ALONE, CLOSES, BECOMES].concat()]);
    let line = Program::Python.line(&hosted.ids, "8");
    hosted.start(Program::Python.variables(), &line.iter().map(String::as_str).collect::<Vec<_>>());
    until("the child does not start", || starts(&hosted.host) == 2);
    let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "it is left: {state}");
    hosted.goes_on("the child makes no ids");
    assert!(super::hosted::check_unique(&[hosted]) > 0);
}
