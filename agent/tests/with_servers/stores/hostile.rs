//! Servers that answer at random, within their protocol and outside it.
//!
//! A proxy passes on a few answers of real servers, so that clients get past the login, and then changes them. Each call
//! must end in time with a result or an error of one line, without a panic, in bounded memory. `TXID_HOSTILE_SECONDS` says
//! how long this goes on for each store.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use txid_agent::store::{Store, open};
use txid_agent_machines::store::{Expected, Put, StoreError, Taken};

use super::conformance::wait_for;
use super::consul::StandIn;
use super::each::{self, STORES, all};
use crate::servers::{self, run};

/// The time-out of calls. That they end with it is tested where the clock is the test's, in `src/store`.
const TIMEOUT_MS: u64 = 300;

/// How much more memory answers may take than an idle client.
const MOST_MEMORY_KB: u64 = 32 << 10;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Passes on what a client sends, and what `change` makes of the answers; ends when that returns false.
fn proxy(
    server: u16,
    change: impl Fn(u64, usize, &mut Vec<u8>, &mut TcpStream) -> bool + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let change = Arc::new(change);
    thread::spawn(move || {
        for (number, client) in (0..).zip(listener.incoming().map_while(Result::ok)) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
            let (mut asks, mut asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                _ = std::io::copy(&mut asks, &mut asked);
                _ = asked.shutdown(Shutdown::Both);
            });
            let change = change.clone();
            thread::spawn(move || {
                let (mut client, mut server) = (client, server);
                let mut buffer = vec![0; 1 << 16];
                for chunk in 0.. {
                    let Ok(read @ 1..) = server.read(&mut buffer) else { break };
                    let mut bytes = buffer[..read].to_vec();
                    let goes_on = change(number, chunk, &mut bytes, &mut client);
                    if !goes_on || client.write_all(&bytes).is_err() {
                        break;
                    }
                }
                _ = client.shutdown(Shutdown::Both);
                _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    port
}

/// Changes an answer in one of many ways. Returns whether the connection goes on.
fn mangle(random: &mut Random, bytes: &mut Vec<u8>, client: &mut TcpStream) -> bool {
    let at = random.below(bytes.len());
    match random.below(13) {
        0 => return false,
        1 => {
            _ = client.write_all(&bytes[..at]);
            return false;
        }
        // Silence.
        2 => bytes.clear(),
        3 => bytes.extend_from_within(..),
        4 => bytes.truncate(at),
        5 => drop(bytes.drain(..at)),
        // Other bytes: often they are a length, or a kind.
        6..9 => {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = [0, 1, 0x7f, 0x80, 0xfb, 0xfe, 0xff, random.next() as u8][random.below(8)];
            }
        }
        9 => {
            let noise: Vec<u8> = (0..random.below(64)).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, noise);
        }
        10 => *bytes = (0..random.below(1 << 12)).map(|_| random.next() as u8).collect(),
        // Far too much of it.
        11 => {
            let piece = bytes[at..].to_vec();
            for _ in 0..(16 << 20) / piece.len() {
                if client.write_all(&piece).is_err() {
                    return false;
                }
            }
        }
        // One byte after the other.
        _ => {
            for byte in bytes.iter().take(300) {
                thread::sleep(Duration::from_millis(2));
                if client.write_all(&[*byte]).is_err() {
                    return false;
                }
            }
            return false;
        }
    }
    true
}

/// One call at random.
fn call(store: &mut dyn Store, random: &mut Random) -> Result<(), StoreError> {
    let key = format!("hostile/node/{}", random.below(3));
    match random.below(7) {
        0 => store.read(&key).map(drop),
        1 => store.list("hostile/node/", &mut |_, _| {}),
        2 => store.clock().map(drop),
        3 => store.create_tag("hostile", 10),
        4 => match store.take("hostile", None, 0)? {
            Taken::Range { range, .. } => {
                assert!(range.start <= range.end, "{range:?}");
                Ok(())
            }
            _ => Ok(()),
        },
        5 => match store.put(&key, &Expected::Absent, b"one")? {
            Put::Unknown(error) => Err(error),
            _ => Ok(()),
        },
        _ => {
            let expected = store.read(&key)?.map_or(Expected::Absent, |record| Expected::Version(record.version));
            match store.put(&key, &expected, format!("{:x}", random.next()).as_bytes())? {
                Put::Unknown(error) => Err(error),
                _ => Ok(()),
            }
        }
    }
}

fn seconds() -> u64 {
    std::env::var("TXID_HOSTILE_SECONDS").map_or(4, |text| text.parse().unwrap())
}

fn url(store: &str, port: u16) -> String {
    each::url(store, &format!("127.0.0.1:{port}"), TIMEOUT_MS)
}

/// Runs calls against a server whose answers are changed.
fn survives(store: &str, server: u16) {
    let url = |port| url(store, port);
    wait_for(&url(server));
    let seed =
        std::env::var("TXID_HOSTILE_SEED").map_or_else(|_| u64::from(std::process::id()), |text| text.parse().unwrap());
    println!("TXID_HOSTILE_SEED={seed} repeats this, more or less: the times differ");
    let changed = Arc::new(AtomicU64::new(0));
    let counted = changed.clone();
    let port = proxy(server, move |number, chunk, bytes, client| {
        let mut random = Random(seed ^ (number << 32) ^ chunk as u64);
        let first = (Random(seed ^ number).next() % 12) as usize;
        if chunk < first || random.below(3) == 0 {
            return true;
        }
        counted.fetch_add(1, Ordering::Relaxed);
        mangle(&mut random, bytes, client)
    });
    let mut random = Random(seed);
    let mut store = open(&url(port)).unwrap();
    let (mut results, mut errors) = (0, 0);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(seconds()) {
        match call(&mut *store, &mut random) {
            Ok(()) => results += 1,
            Err(error) => {
                errors += 1;
                let text = error.to_string();
                assert!(text.len() < 1000 && !text.contains('\n') && !text.contains("the-password"), "{text}");
                // This one would not ask again for a while.
                store = open(&url(port)).unwrap();
            }
        }
    }
    println!("{} answers changed: {results} results, {errors} errors", changed.load(Ordering::Relaxed));
    assert!(results > 0 && errors > 0, "{results} results, {errors} errors");
    // The server itself has not suffered.
    wait_for(&url(server));
}

#[test]
#[ignore = "real seconds: make soak"]
fn redis() {
    let server = servers::redis(&[]);
    survives("redis", server.port);
}

#[test]
#[ignore = "real seconds: make soak"]
fn etcd() {
    let server = servers::etcd(&[]);
    survives("etcd", server.port);
}

#[test]
#[ignore = "real seconds: make soak"]
fn consul() {
    let server = StandIn::start(None);
    survives("consul", server.port);
}

#[test]
#[ignore = "real seconds: make soak"]
fn mariadb() {
    let server = servers::mariadb();
    survives("mysql", server.port);
}

#[test]
#[ignore = "real seconds: make soak"]
fn postgres() {
    let server = servers::postgres(&[]);
    survives("postgres", server.port);
}

#[test]
#[ignore = "real seconds: make soak"]
fn zookeeper() {
    let server = servers::zookeeper();
    survives("zookeeper", server.port);
}

/// A beginning, and what follows without an end.
type Flood = (&'static [u8], &'static [u8]);

const HTTP: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";

/// What takes most memory in a client that believes it.
fn floods(store: &str) -> &'static [Flood] {
    match store {
        "redis" => &[
            (b"$1000000000\r\n", b"x"),
            (b"*1000000000\r\n", b":1\r\n"),
            (b"*100000\r\n", b"+\r\n"),
            (b"*1\r\n", b"*1\r\n"),
            (b"+", b"x"),
        ],
        "etcd" | "consul" => &[
            (b"{\"header\":{},\"kvs\":[", b"{\"key\":\"L3R4aWQv\"},"),
            (b"[", b"{\"Key\":\"txid/\",\"ModifyIndex\":1},"),
            (b"", b"["),
            (b"{\"header\":", b"{\"a\":"),
            (b"\"", b"x"),
        ],
        "mysql" => &[
            // Packets of 16 MB, a column count beyond all bounds, rows without an end.
            (b"", b"\xff\xff\xff\x01"),
            (b"\x09\x00\x00\x01\xfe\xff\xff\xff\xff\xff\xff\xff\x0f", b"\x01\x00\x00\x02\x03"),
            (
                b"\x01\x00\x00\x01\x01\x01\x00\x00\x02\x03\x05\x00\x00\x03\xfe\x00\x00\x00\x00",
                b"\x01\x00\x00\x04\x00",
            ),
        ],
        "postgres" => &[
            (b"D\x7f\xff\xff\xff", b"x"),
            // A row description of one column, and rows of one NULL.
            (
                b"T\x00\x00\x00\x1a\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00",
                b"D\x00\x00\x00\x0a\x00\x01\xff\xff\xff\xff",
            ),
            (b"", b"N\x00\x00\x00\x0fSNOTICE\x00Mno\x00"),
            (b"", b"S\x00\x00\x00\x08a\x00b\x00"),
        ],
        _ => &[(b"\x7f\xff\xff\xff", b"\x00"), (b"\x00\x7f\xff\xff", b"\x7f"), (b"", b"\x00\x00\x00\x10\xff\xff\xff\xff")],
    }
}

/// Floods clients in a process of its own, whose memory can be measured.
fn stays_small(store: &'static str, server: u16) {
    let port = proxy(server, move |number, chunk, bytes, client| {
        let floods = floods(store);
        let (head, body) = floods[number as usize % floods.len()];
        if chunk < number as usize / floods.len() {
            return true;
        }
        bytes.clear();
        if matches!(store, "etcd" | "consul") {
            bytes.extend_from_slice(HTTP);
        }
        bytes.extend_from_slice(head);
        let piece = body.repeat((1 << 16) / body.len());
        // More than any client of before would survive, unless it gives up.
        let _ = client.write_all(bytes);
        for _ in 0..(256 << 20) / piece.len() {
            if client.write_all(&piece).is_err() {
                break;
            }
        }
        false
    });
    let said = run(Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stores::hostile::flooded", "--ignored", "--nocapture"])
        .env("TXID_FLOOD", url(store, port)));
    println!("{said}");
    let grown = said.lines().find_map(|line| line.strip_prefix("grown by KB ")).unwrap().parse::<u64>().unwrap();
    assert!(grown < MOST_MEMORY_KB, "{store}: {grown} KB");
}

#[test]
#[ignore = "the process that the tests below start"]
fn flooded() {
    let Ok(url) = std::env::var("TXID_FLOOD") else { return };
    let memory = |name: &str| -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_matches([':', ' ', '\t']).trim_end_matches(" kB").trim().parse().unwrap()
    };
    let mut store = open(&url).unwrap();
    let idle = memory("VmRSS");
    let mut random = Random(1);
    let mut worst = String::new();
    for _ in 0..70 {
        if let Err(error) = call(&mut *store, &mut random) {
            worst = [worst, error.to_string()].into_iter().max_by_key(String::len).unwrap();
        }
    }
    assert!(worst.len() < 1000, "{worst}");
    println!("the longest error: {worst}");
    println!("\ngrown by KB {}", memory("VmHWM") - idle);
}

#[test]
fn floods_in_memory() {
    let port = all();
    for store in STORES {
        stays_small(store, port(store));
    }
}
