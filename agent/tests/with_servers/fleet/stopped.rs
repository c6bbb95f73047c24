//! A guard that is stopped, and nobody but the agent to notice.

use super::host::{agent, kill};
use super::hosted::{
    Debugger, Hosted, Program, check_unique, guard_of, mark, processes_with, redis, send, starts, state,
};
use super::{LAYOUT, TWO_NODES};
use crate::servers::{self, until};
use crate::wait::ended;

fn start(name: &str, server: u16, layout: &str, options: &[&str]) -> (Hosted, String) {
    let mark = mark(name);
    let mut hosted = Hosted::with_layout(name, server, redis, layout);
    let line = Program::Stubborn.line(&hosted.ids, "8");
    let line: Vec<&str> = ["env", &mark].into_iter().chain(line.iter().map(String::as_str)).collect();
    hosted.start(&[&["--env", "WORKER_ID={orders}"], options].concat(), &line);
    hosted.goes_on("the child makes no ids");
    (hosted, mark)
}

/// Whoever runs the tests, and others beside, would get SIGHUP from the kernel.
#[test]
fn what_tests_stop_is_in_no_group_of_others() {
    let server = servers::redis(&[]);
    let (hosted, _) = start("group", server.port, LAYOUT, &[]);
    let agent = hosted.host.agent.as_ref().unwrap().id() as i32;
    // SAFETY: no memory is involved.
    let groups = [agent, guard_of(&hosted), 0].map(|process| unsafe { libc::getpgid(process) });
    assert_eq!(groups[..2], [agent, guard_of(&hosted)]);
    assert!(!groups[..2].contains(&groups[2]));
}

#[test]
fn a_guard_that_was_stopped_is_woken() {
    let server = servers::redis(&[]);
    let (hosted, _) = start("woken", server.port, LAYOUT, &[]);
    let guard = guard_of(&hosted);
    send(guard, libc::SIGSTOP);
    hosted.host.says("the guard of the child is stopped; waking it");
    until("it is not woken", || state(guard) != Some('T'));
    hosted.goes_on("the child makes no ids");
    assert!(starts(&hosted.host) == 1 && !hosted.host.log().contains("does not work"), "{}", hosted.host.log());
}

/// Another host takes the node at its limit, and by then nothing may be left of the child.
#[test]
fn a_guard_that_cannot_be_woken_is_ended_with_its_child() {
    let server = servers::redis(&[]);
    let (mut hosted, mark) = start("debugged", server.port, TWO_NODES, &[]);
    let (_other, _) = start("other", server.port, TWO_NODES, &[]);
    let node = hosted.host.view().node;
    let limit_ms = hosted.host.view().confirmed_ms;
    let debugger = Debugger::attach(guard_of(&hosted));
    servers::run(agent().args(["release", "--store", &redis(server.port), "orders", &node.to_string()]));
    let (mut heir, _) = start("heir", server.port, TWO_NODES, &[]);
    assert_eq!(heir.host.view().node, node);

    assert_eq!(processes_with(&mark), [""; 0], "{}", hosted.host.log());
    let last_ms = hosted.last_ms(node)[0];
    assert!(last_ms < limit_ms, "{last_ms} is not before {limit_ms}");
    let code = ended("the agent does not end", hosted.host.agent.as_mut().unwrap()).code();
    assert_eq!(code, Some(128 + libc::SIGKILL));
    assert!(hosted.host.log().contains("the guard of the child does not work; ending both"), "{}", hosted.host.log());
    drop(debugger);
    kill(heir.host.agent.as_mut().unwrap());
    check_unique(&[hosted, heir]);
}
