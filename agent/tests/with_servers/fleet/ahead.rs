//! Generators that run ahead of the clock, as UidGenerator's does that fills a buffer.

use super::TWO_NODES;
use super::host::signal;
use super::hosted::{Hosted, Program, check_unique, gone, kill_with_guard, starts};
use crate::proxy::Mode;
use crate::servers::{self, until};
use crate::wait::ended;

const MS: &str = "3000";
const OPTIONS: [&str; 11] = [
    "--assume-unused-store",
    "--lease-time",
    "24s",
    "--max-skew",
    "700ms",
    "--margin",
    "1900ms",
    "--child-runs-ahead",
    "3s",
    "--env",
    "WORKER_ID={orders}",
];

/// A busy disk holds up the answer, and a node that is not given back is not taken by the next host.
fn redis(port: u16) -> String {
    format!("redis://127.0.0.1:{port}?may-lose-writes=0&timeout=60s")
}

fn start(hosted: &mut Hosted, program: Program) {
    let before = hosted.sizes().len();
    let mut line = vec!["--".to_owned()];
    line.extend(program.line(&hosted.ids, "1"));
    line.push(format!("ahead={MS}"));
    let line: Vec<&str> = OPTIONS.into_iter().chain(line.iter().map(String::as_str)).collect();
    hosted.host.start_agent(&line);
    until("the child does not start", || hosted.sizes().len() > before);
    hosted.goes_on("the child makes no ids");
}

/// Who comes next is the host itself after the end of its child, and after a kill, and another host after the node was given back.
#[test]
fn whoever_is_next_starts_later() {
    let server = servers::redis(&[]);
    let new = |name| Hosted::with_layout(name, server.port, redis, TWO_NODES);
    let (mut hosted, mut other, mut heir) = (new("hosted"), new("other"), new("heir"));
    start(&mut hosted, Program::Python);
    let node = hosted.host.view().node;
    start(&mut other, Program::Python);
    let end = |hosted: &mut Hosted| {
        signal(hosted.host.agent.as_ref().unwrap(), libc::SIGTERM);
        ended("the agent does not end", hosted.host.agent.as_mut().unwrap());
        assert!(hosted.host.log().contains("gave node"), "{}", hosted.host.log());
    };
    kill_with_guard(hosted.host.agent.as_mut().unwrap());
    start(&mut hosted, Program::Python);
    end(&mut hosted);
    start(&mut hosted, Program::Python);
    end(&mut hosted);
    start(&mut heir, Program::Python);
    assert_eq!((hosted.host.view().node, heir.host.view().node), (node, node));
    assert!(check_unique(&[hosted, other, heir]) > 20_000);
}

#[test]
fn its_ids_are_before_the_limit() {
    let server = servers::redis(&[]);
    let mut hosted = Hosted::new("limit", server.port, redis);
    start(&mut hosted, Program::Stubborn);
    hosted.host.proxy.set(Mode::Refuse);
    until("it is not gone", || gone(&hosted.host) == 1);
    let view = hosted.host.view();
    let last_ms = hosted.last_ms(view.node)[0];
    assert!(last_ms < view.confirmed_ms, "{} ms late\n{}", last_ms - view.confirmed_ms, hosted.host.log());
    hosted.host.proxy.set(Mode::Pass);
    until("it does not start again", || starts(&hosted.host) == 2);
    hosted.goes_on("the child makes no ids");
    check_unique(&[hosted]);
}
