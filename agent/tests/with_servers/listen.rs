//! What an agent answers over HTTP.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use crate::fleet::directory::Directory;
use crate::fleet::host::{Running, agent, signal};
use crate::metrics::promtool;
use crate::servers::{self, until};
use crate::wait::{WATCHDOG, ended};

/// The head and the body of the answer to a request.
fn get(socket: &Path, request: &str) -> Option<(String, String)> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(WATCHDOG)).ok()?;
    stream.write_all(format!("{request}\r\nHost: agent\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

/// The status, and the body.
fn status(socket: &Path, path: &str) -> Option<(String, String)> {
    let (head, body) = get(socket, &format!("GET {path} HTTP/1.1"))?;
    Some((head.split(' ').nth(1)?.to_owned(), body))
}

fn answer(code: &str, body: &str) -> Option<(String, String)> {
    Some((code.to_owned(), body.to_owned()))
}

/// A child that can wait for ids starts at once.
#[test]
fn probes_tell_an_agent_that_waits_from_one_that_is_ready() {
    let directory = Directory::new();
    let mut server = servers::redis(&[]);
    server.kill();
    let socket = directory.path("socket");
    let store = format!("redis://127.0.0.1:{}?timeout=60s&may-lose-writes=0", server.port);
    let log = fs::File::create(directory.path("log")).unwrap();
    let run = directory.path("run");
    let mut command = agent();
    command.args([
        "run",
        "--assume-unused-store",
        "--node",
        "orders=snowflake",
        "--start",
        "at-once",
        "--store",
        &store,
    ]);
    command
        .args(["--log-format", "json"])
        .arg("--dir")
        .arg(&run)
        .arg("--listen")
        .arg(format!("unix:{}", socket.display()));
    command.args(["--", "sh", "-c", "echo > \"$0\"; exec sleep 1000"]).arg(directory.path("started"));
    let mut agent = Running(command.stdin(Stdio::null()).stderr(log).spawn().unwrap());
    until("the child waits for its store", || directory.path("started").exists());
    until("it does not listen", || status(&socket, "/readyz") == answer("503", "not live: orders\n"));
    assert_eq!(status(&socket, "/healthz"), answer("200", "ok\n"));
    assert!(
        status(&socket, "/metrics")
            .unwrap()
            .1
            .contains("txid_agent_lease_live{name=\"orders\",store=\"redis://127.0.0.1:")
    );
    server.restart();
    until("it is not ready", || status(&socket, "/readyz") == answer("200", "ok\n"));
    assert_eq!(status(&socket, "/"), answer("404", "/metrics, /healthz or /readyz\n"));
    assert!(get(&socket, "POST /healthz HTTP/1.1").unwrap().0.starts_with("HTTP/1.1 405 "));
    signal(&agent.0, libc::SIGTERM);
    ended("it does not end", &mut agent.0);
    let mut events = Vec::new();
    for line in directory.log().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let is_word = |key: &str| line[key].as_str().is_some_and(|text| !text.is_empty());
        assert!(["time", "level", "event", "text"].into_iter().all(is_word), "{line}");
        if line["group"] == "orders" {
            events.push((
                line["level"].as_str().unwrap().to_owned(),
                line["event"].as_str().unwrap().to_owned(),
                line["node"].is_u64(),
            ));
        }
    }
    for wanted in [("warning", "store-away", false), ("info", "taken", true)] {
        assert!(
            events.iter().any(|(level, event, node)| (&**level, &**event, *node) == wanted),
            "{wanted:?}: {events:?}"
        );
    }
}

#[test]
fn metrics_are_those_of_status_by_the_rules_of_prometheus() {
    let directory = Directory::new();
    let socket = directory.path("run/socket");
    let listen = format!("unix:{}", socket.display());
    let mut agent = Running(directory.start(&["--listen", &listen, "--segment", "invoices", "--create"]));
    let names =
        |text: &str| text.lines().map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    let heads = |text: &str| names(text).into_iter().filter(|line| line.starts_with('#')).collect::<Vec<_>>();
    let (head, metrics) = get(&socket, "GET /metrics HTTP/1.1").unwrap();
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    assert_eq!(promtool(&["check", "metrics"], &metrics), (true, String::new()));
    let shown = String::from_utf8(directory.status(&["--prometheus"]).stdout).unwrap();
    assert_eq!(heads(&metrics), heads(&shown));
    assert!(metrics.contains(&format!("txid_agent_build_info{{version=\"{}\"}} 1\n", env!("CARGO_PKG_VERSION"))));
    let (head, open) =
        get(&socket, "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0").unwrap();
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{head}");
    assert!(open.contains("# TYPE txid_agent_lease_renewals counter\n") && open.ends_with("# EOF\n"), "{open}");
    assert!(open.contains("\ntxid_agent_lease_renewals_total{"), "{open}");
    // An agent that was killed leaves its socket.
    agent.kill();
    let _again = Running(directory.start(&["--listen", &listen, "--segment", "invoices", "--create"]));
    until("it does not listen again", || status(&socket, "/readyz") == answer("200", "ok\n"));
}

#[test]
fn slow_and_broken_connections_change_no_renewal() {
    let directory = Directory::new();
    let socket = directory.path("socket");
    let listen = format!("unix:{}", socket.display());
    let agent = Running(directory.start(&["--listen", &listen, "--lease-time", "6s"]));
    let lease = || txid::snowflake::LeasePage::attach(&directory.path("run/orders")).unwrap().view();
    let before = lease();
    let mut held = Vec::new();
    for number in 0..1_000 {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _ = match number % 5 {
            0 => Ok(()),
            1 => stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: "),
            2 => stream.write_all(&[0xff; 100]),
            3 => stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: agent\r\n\r\n"),
            _ => stream.write_all(&[b'x'; 9_000]),
        };
        held.push(stream);
        if number % 100 == 0 {
            assert_eq!(status(&socket, "/healthz"), answer("200", "ok\n"), "after {number}");
        }
    }
    let files = fs::read_dir(format!("/proc/{}/fd", agent.0.id())).unwrap().count();
    // Without a limit, 400 of the 1,000 connections would wait.
    assert!(files < 200, "{files} files are open");
    until("nothing is renewed", || lease().renewals > before.renewals + 3);
    assert_eq!((lease().failures, lease().generation), (before.failures, before.generation));
    assert_eq!(status(&socket, "/readyz"), answer("200", "ok\n"));
}
