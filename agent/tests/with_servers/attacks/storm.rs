//! A child that forks faster than processes are reaped.

use std::fs;

use crate::fleet::hosted::{ENV, Hosted, gone, mark, processes_with, redis};
use crate::proxy::Mode;
use crate::servers::{self, until};

/// Writes the time to a file, in a session of its own.
const STAMPS: &str =
    "setsid sh -c 'trap \"\" TERM; for i in $(seq 10000); do date +%s%3N > $0.new; mv $0.new $0; done' $STAMP &";
/// When it is to end, it begins to start processes that end at once, each of which becomes the guard's child.
const STORMS: &str = "storm() { for i in $(seq 100000); do (true &); done; }; \
                      trap 'trap \"\" TERM; echo > $STAMP.storm; for i in 1 2 3; do storm & done' TERM; \
                      for i in $(seq 10000); do sleep 0.1; done";

/// Cuts the host off its store until its child is gone. Returns how far before the limit the child stamped last.
fn storm() -> i64 {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("storm", server.port, redis);
    let mark = mark("storm");
    let stamp = hosted.host.path("stamp");
    let variable = format!("STAMP={}", stamp.display());
    hosted.start(&ENV, &["env", &mark, &variable, "sh", "-c", &format!("{STAMPS}\n{STORMS}")]);
    until("the child does not start", || stamp.exists());
    hosted.host.proxy.set(Mode::Refuse);
    until("there is no storm", || hosted.host.path("stamp.storm").exists());
    // A guard that gets no processor is ended by its agent, with all that it guards.
    until("it is not gone", || {
        let is_gone = gone(&hosted.host) == 1;
        is_gone || hosted.host.agent.as_mut().unwrap().try_wait().unwrap().is_some()
    });
    assert_eq!(processes_with(&mark), [""; 0], "{}", hosted.host.log());
    let last_ms: i64 = fs::read_to_string(stamp).unwrap().trim().parse().unwrap();
    hosted.host.view().confirmed_ms - last_ms
}

#[test]
fn nothing_is_left_of_a_storm_of_forks() {
    println!("the last stamp was {} ms before the limit", storm());
}

#[test]
#[ignore = "by the real clock; make soak"]
fn a_storm_of_forks_ends_before_the_limit() {
    let left_ms = storm();
    assert!(left_ms > 0, "{left_ms}");
}
