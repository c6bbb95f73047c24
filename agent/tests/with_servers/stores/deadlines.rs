//! A call ends with its time-out, whatever the hosts do, and the next host is tried in the same call: with real servers and
//! seconds. How long each of these may take is tested where the clock is the test's, in `src/store`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use txid_agent::store::open;
use txid_agent_machines::store::Expected;

use super::conformance::wait_for;
use super::each::{all, urls};
use crate::proxy::join;
use crate::servers::{self, until};

/// Of calls that end with it.
const TIMEOUT_MS: u64 = 1000;

/// A server that does the same with every connection.
fn server(each: impl Fn(TcpStream) + Copy + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || each(client));
        }
    });
    port
}

fn is_silent(mut client: TcpStream) {
    _ = client.read_to_end(&mut Vec::new());
}

/// Sends a byte now and then, so that no read takes long.
fn drips(mut client: TcpStream) {
    // What each of the clients takes for the beginning of an answer.
    let answer = b"HTTP/1.1 200 OK\r\nx: ".iter().chain([&b'+'; 200]);
    for byte in answer {
        thread::sleep(Duration::from_millis(100));
        if client.write_all(&[*byte]).is_err() {
            return;
        }
    }
}

#[test]
#[ignore = "real seconds: make soak"]
fn a_host_that_is_silent_or_slow() {
    for each in [is_silent, drips] {
        thread::scope(|scope| {
            for url in urls(TIMEOUT_MS, |_| format!("127.0.0.1:{}", server(each))) {
                scope.spawn(move || {
                    let mut store = open(&url).unwrap();
                    for call in 0..3 {
                        let failed = match call {
                            0 => store.read("any/node/1").is_err(),
                            1 => store.list("any/node/", &mut |_, _| {}).is_err(),
                            _ => !matches!(
                                store.put("any/node/1", &Expected::Absent, b"x"),
                                Ok(txid_agent_machines::store::Put::Written(_))
                            ),
                        };
                        assert!(failed, "{url}: call {call}");
                    }
                });
            }
        });
    }
}

#[test]
#[ignore = "real seconds: make soak"]
fn three_silent_hosts_and_one_that_serves() {
    let port = all();
    // A host gets an eighth of it, in which a busy machine has to connect and log in.
    let timeout_ms = 60_000;
    let silent: Vec<String> = (0..3).map(|_| format!("127.0.0.1:{}", server(is_silent))).collect();
    let hosts = |name: &str| format!("{},127.0.0.1:{}", silent.join(","), port(name));
    thread::scope(|scope| {
        for url in urls(timeout_ms, hosts) {
            scope.spawn(move || {
                let read = open(&url).unwrap().read("any/node/1");
                assert!(read.is_ok(), "{url}: {read:?}");
            });
        }
    });
}

const SILENT: &str = "127.0.0.9";
const SERVES: &str = "127.0.0.10";

/// Passes on what comes to an address on to a server of 127.0.0.1. On the same port, another address is silent: it has no
/// room for one more connection. Returns the port, and what keeps it so.
fn beside_a_silent_address(server: u16) -> (u16, TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind((SERVES, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
            join(client, server);
        }
    });
    let silent = TcpListener::bind((SILENT, port)).unwrap();
    // SAFETY: it only changes how many connections wait.
    assert_eq!(unsafe { libc::listen(silent.as_raw_fd(), 0) }, 0);
    let address = silent.local_addr().unwrap();
    let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    let waiting: Vec<_> = (0..8).map_while(connect).collect();
    assert!(waiting.len() < 8, "it takes any number of connections");
    (port, silent, waiting)
}

/// A name with two addresses, in both orders. Only a namespace of mounts has a name of its own.
#[test]
fn a_name_whose_first_address_is_silent() {
    let port = all();
    let mut kept = Vec::new();
    // A twelfth of it for an address that is silent.
    let urls = urls(12_000, |name| {
        let (port, silent, waiting) = beside_a_silent_address(port(name));
        kept.push((silent, waiting));
        format!("two.test:{port}")
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    for [first, second] in [[SILENT, SERVES], [SERVES, SILENT]] {
        std::fs::write(file.path(), format!("{first} two.test\n{second} two.test\n127.0.0.1 localhost\n")).unwrap();
        let mut command = Command::new("unshare");
        let test = std::env::current_exe().unwrap();
        let line = format!("mount --bind {} /etc/hosts && exec {}", file.path().display(), test.display());
        let line = line + " --exact stores::deadlines::reached --ignored --nocapture";
        let output = command.args(["--mount", "sh", "-c", &line]).env("TXID_URLS", urls.join(" ")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("Operation not permitted") || said.contains("permission denied") {
            return crate::skipped(said);
        }
        assert!(output.status.success(), "{said}");
    }
}

#[test]
#[ignore = "the process that the test above starts"]
fn reached() {
    let Ok(urls) = std::env::var("TXID_URLS") else { return };
    thread::scope(|scope| {
        for url in urls.split(' ') {
            scope.spawn(|| {
                // The silent address may leave too little time for a busy server, but not each time.
                until(url, || open(url).unwrap().read("any/node/1").is_ok());
            });
        }
    });
}

/// A name that nobody knows, and then one that serves. Without a name server, the system's resolver takes its time.
#[test]
fn a_name_without_an_address() {
    let server = servers::redis(&[]);
    wait_for(&format!("redis://127.0.0.1:{}", server.port));
    thread::scope(|scope| {
        for url in urls(TIMEOUT_MS, |_| "host.invalid".to_owned()) {
            scope.spawn(move || {
                let mut store = open(&url).unwrap();
                for _ in 0..3 {
                    let error = store.read("any/node/1").unwrap_err();
                    assert!(error.may_pass(), "{url}: {error}");
                }
            });
        }
    });
    let url = format!("redis://host.invalid,127.0.0.1:{}?timeout=60s", server.port);
    open(&url).unwrap().read("any/node/1").unwrap();
}
