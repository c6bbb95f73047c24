//! Agents that were killed, and started again when their leases had ended.

use std::fs;

use super::host::{Host, kill};
use super::hosted::{SHORT, redis};
use crate::proxy::Mode;
use crate::servers::{self, until};

/// With nodes in its environment and without; with a store that answers, and one that answers later.
#[test]
fn the_child_of_an_agent_that_starts_again_after_its_limit() {
    let server = servers::redis(&[]);
    let kinds: [(&[&str], bool); 4] =
        [(&[], false), (&[], true), (&["--env", "N={orders}"], false), (&["--env", "N={orders}"], true)];
    let start = |host: &mut Host, env: &[&str]| {
        let file = host.path("starts");
        let child = ["--", "sh", "-c", "echo >> $0; exec sleep 1000", file.to_str().unwrap()];
        host.start_agent(&[&SHORT, env, &child].concat());
    };
    let starts = |host: &Host| fs::read_to_string(host.path("starts")).unwrap_or_default().lines().count();
    let mut hosts: Vec<Host> =
        (0..kinds.len()).map(|which| Host::new(&format!("host-{which}"), server.port, redis, "snowflake")).collect();
    for (host, (env, _)) in hosts.iter_mut().zip(kinds) {
        start(host, env);
        until("the child does not start", || starts(host) > 0);
        kill(host.agent.as_mut().unwrap());
    }
    until("a lease does not end", || hosts.iter().all(|host| txid::system_ms() > host.view().confirmed_ms + 500));
    let before: Vec<usize> = hosts.iter().map(starts).collect();
    for (host, (env, is_late)) in hosts.iter_mut().zip(kinds) {
        if is_late {
            host.proxy.set(Mode::Refuse);
        }
        start(host, env);
    }
    for ((host, (_, is_late)), before) in hosts.iter().zip(kinds).zip(before) {
        if is_late {
            host.says("out of service");
            assert_eq!(starts(host), before, "{}", host.log());
            host.proxy.set(Mode::Pass);
        }
        until("the child does not start again", || starts(host) > before);
        until("there is no lease", || host.is_live());
    }
}
