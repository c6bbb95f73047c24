//! Answers of the worst shape, up to the longest that is read: what a client makes of them stays within the memory that
//! is promised.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use txid_agent::store::open;

/// What an answer may take, in bytes.
const MOST: isize = 32 << 20;
/// Just below the longest answer that is read.
const LONGEST: usize = (4 << 20) - 4096;

/// Counts what each thread has.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let now = NOW.get() + bytes;
    NOW.set(now);
    PEAK.set(PEAK.get().max(now));
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize + 16);
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize + 16));
        // SAFETY: as for the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most that this thread had at once while it worked, more than before.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = NOW.get();
    PEAK.set(before);
    (work(), PEAK.get() - before)
}

/// A server that lets `talk` speak to each client.
fn server(talk: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let talk = talk.clone();
            thread::spawn(move || talk(&mut client));
        }
    });
    port
}

/// Lists records, and reads one.
fn stays_small(url: &str, what: &str) {
    let (said, most) = peak(|| {
        let mut store = open(url).unwrap();
        let mut records = 0;
        let listed = store.list("worst/node/", &mut |_, _| records += 1);
        let read = store.read("worst/node/1").map(|record| record.is_some());
        format!("{records} {listed:?} {read:?}")
    });
    assert!(most < MOST, "{what}: {} MB; {said:.200}", most >> 20);
}

fn repeated(unit: &[u8]) -> (usize, Vec<u8>) {
    let count = LONGEST / unit.len();
    (count, unit.repeat(count))
}

#[test]
fn redis() {
    let long = format!("$1000\r\n{}\r\n", "x".repeat(1000));
    for unit in ["+\r\n", ":1\r\n", "*1\r\n:1\r\n", "$1\r\na\r\n", &long] {
        for most in [130_000, usize::MAX] {
            let count = (LONGEST / unit.len()).min(most);
            let answer = format!("*3\r\n:1\r\n:1\r\n*2\r\n$1\r\n0\r\n*{count}\r\n{}", unit.repeat(count));
            let port = server(move |client| {
                client.read_exact(&mut [0; 20])?;
                client.write_all(b"$0\r\n\r\n$0\r\n\r\n*0\r\n*0\r\n*0\r\n")?;
                let mut some = [0; 4096];
                loop {
                    let read = client.read(&mut some)?;
                    if read == 0 {
                        return Ok(());
                    }
                    if some[..read].windows(4).any(|word| word == b"EVAL") {
                        client.write_all(answer.as_bytes())?;
                    }
                }
            });
            stays_small(&format!("redis://127.0.0.1:{port}"), &format!("{count} times {:.10}", unit.escape_debug()));
        }
    }
}

/// etcd and Consul.
#[test]
fn http() {
    let pair = |name: &str| {
        let value = "YWFh".repeat(40);
        format!("{{\"key\":\"{name}\",\"value\":\"{value}\"}}")
    };
    let consul = |value: &str| format!("{{\"Key\":\"txid/worst/node/1\",\"ModifyIndex\":1{value}}}");
    let etcd = |units: &str| format!("{{\"header\":{{}},\"kvs\":[{units}]}}");
    for (scheme, unit, whole) in [
        ("etcd", "{\"key\":\"\"}".to_owned(), true),
        ("etcd", "{\"key\":\"L3R4aWQv\"}".to_owned(), true),
        ("etcd", "{\"key\":\"\\u004c3R4aWQv\"}".to_owned(), true),
        ("etcd", pair("L3R4aWQvd29yc3Qvbm9kZS8x"), true),
        ("etcd", "[]".to_owned(), true),
        ("consul", consul(""), false),
        ("consul", consul(",\"Value\":\"\""), false),
        ("consul", consul(&format!(",\"Value\":\"{}\"", "YWFh".repeat(40))), false),
        ("consul", "{\"Key\":\"\",\"ModifyIndex\":1}".to_owned(), false),
    ] {
        let count = LONGEST / (unit.len() + 1);
        let units = vec![unit.as_str(); count].join(",");
        let body = if whole { etcd(&units) } else { format!("[{units}]") };
        let port = server(move |client| {
            let mut requests = BufReader::new(client.try_clone()?);
            loop {
                let (mut line, mut length) = (String::new(), 0);
                while requests.read_line(&mut line)? > 2 {
                    if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                        length = text.trim().parse().unwrap();
                    }
                    line.clear();
                }
                requests.read_exact(&mut vec![0; length])?;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                client.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
            }
        });
        stays_small(&format!("{scheme}://127.0.0.1:{port}/txid"), &format!("{scheme}: {count} times {unit:.40}"));
    }
}

#[test]
fn mysql() {
    let packet = |number: u8, payload: &[u8]| [&(payload.len() as u32).to_le_bytes()[..3], &[number], payload].concat();
    let result = move |columns: u8, rows: &[u8]| {
        let mut bytes = packet(1, &[columns]);
        (0..columns).for_each(|_| bytes.extend(packet(2, b"c")));
        [bytes, packet(3, b"\xfe\0\0\0\0"), rows.to_vec(), packet(4, b"\xfe\0\0\0\0")].concat()
    };
    for (columns, value) in [
        (64, &b"\xfb"[..]),
        (64, b"\0"),
        (64, b"\x01a"),
        (8, b"\xfb"),
        (2, b"\x01a"),
        (2, b"\0"),
        (1, b"\xfb"),
        (1, b"\0"),
    ] {
        let row = packet(4, &value.repeat(usize::from(columns)));
        for most in [60_000, usize::MAX] {
            let count = (LONGEST / row.len()).min(most);
            let flood = result(columns, &row.repeat(count));
            let port = server(move |client| {
                let greeting = b"\x0a8.0\0\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\xff\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0mysql_native_password\0";
                client.write_all(&packet(0, greeting))?;
                loop {
                    let mut head = [0; 4];
                    client.read_exact(&mut head)?;
                    let mut statement = vec![0; usize::from(head[0]) + 256 * usize::from(head[1])];
                    client.read_exact(&mut statement)?;
                    let asks = |word: &[u8]| statement.windows(word.len()).any(|part| part == word);
                    let answer = if head[3] != 0 || asks(b"SET time_zone") {
                        packet(head[3] + 1, &[0, 0, 0, 2, 0, 0, 0])
                    } else if asks(b"read_only") {
                        result(4, &packet(4, b"\x010\x011\x010\x011"))
                    } else if asks(b"@@global") {
                        packet(1, b"\xff\xa9\x04#HY000Unknown system variable")
                    } else if asks(b"processlist") {
                        result(1, &packet(4, b"\x010"))
                    } else {
                        flood.clone()
                    };
                    client.write_all(&answer)?;
                }
            });
            stays_small(&format!("mysql://txid@127.0.0.1:{port}/ids"), &format!("{count} rows of {columns} {value:?}"));
        }
    }
}

#[test]
fn postgres() {
    let message = |kind: u8, body: &[u8]| [&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat();
    let result = move |columns: u16, rows: &[u8]| {
        let column = b"a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0".repeat(columns.into());
        let head = message(b'T', &[&columns.to_be_bytes()[..], &column].concat());
        [head, rows.to_vec(), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat()
    };
    let row = move |columns: u16, value: &[u8]| {
        message(b'D', &[&columns.to_be_bytes()[..], &value.repeat(columns.into())].concat())
    };
    for (columns, value) in [
        (1000, &b"\xff\xff\xff\xff"[..]),
        (64, b"\xff\xff\xff\xff"),
        (64, b"\0\0\0\0"),
        (64, b"\0\0\0\x01a"),
        (2, b"\0\0\0\x01a"),
        (1, b"\xff\xff\xff\xff"),
        (0, b""),
    ] {
        let one = row(columns, value);
        for most in [60_000, usize::MAX] {
            let count = (LONGEST / one.len()).min(most);
            let flood = result(columns, &one.repeat(count));
            let port = server(move |client| {
                let mut length = [0; 4];
                client.read_exact(&mut length)?;
                client.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4])?;
                client.write_all(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat())?;
                loop {
                    let mut head = [0; 5];
                    client.read_exact(&mut head)?;
                    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
                    let mut statement = vec![0; length as usize - 4];
                    client.read_exact(&mut statement)?;
                    if statement.windows(5).any(|part| part == b"fsync") {
                        let values = b"\0\0\0\x03off\0\0\0\x02on\0\0\0\x02on\0\0\0\0\0\0\0\x010";
                        client.write_all(&result(5, &message(b'D', &[&[0, 5][..], values].concat())))?;
                    } else {
                        client.write_all(&flood)?;
                    }
                }
            });
            stays_small(
                &format!("postgres://txid@127.0.0.1:{port}/ids"),
                &format!("{count} rows of {columns} {value:?}"),
            );
        }
    }
}

#[test]
fn zookeeper() {
    let packet = |body: &[u8]| [&(body.len() as u32).to_be_bytes()[..], body].concat();
    let long = [&[0, 0, 0, 100][..], &[b'x'; 100]].concat();
    for unit in [&b"\0\0\0\0"[..], b"\0\0\0\x01a", b"\0\0\0\x06born-1", &long] {
        for most in [100_000, usize::MAX] {
            let (count, _) = repeated(unit);
            let count = count.min(most);
            let children = [&(count as u32).to_be_bytes()[..], &unit.repeat(count)].concat();
            let port = server(move |client| {
                let mut requests = 0;
                loop {
                    let mut length = [0; 4];
                    client.read_exact(&mut length)?;
                    let mut request = vec![0; u32::from_be_bytes(length) as usize];
                    client.read_exact(&mut request)?;
                    requests += 1;
                    if requests == 1 {
                        client.write_all(&packet(
                            &[&[0, 0, 0, 0, 0, 0, 0x9c, 0x40][..], &[0; 8], &[0, 0, 0, 16], &[0; 16]].concat(),
                        ))?;
                        continue;
                    }
                    let head = [&request[..4], &[0; 12]].concat();
                    let body = match request[7] {
                        8 if requests < 10 => children.clone(),
                        8 => vec![0, 0, 0, 1, 0, 0, 0, 6, b'b', b'o', b'r', b'n', b'-', b'1'],
                        4 => [&[0, 0, 0, 0][..], &[0; 68]].concat(),
                        _ => vec![0, 0, 0, 0],
                    };
                    client.write_all(&packet(&[head, body].concat()))?;
                }
            });
            stays_small(
                &format!("zookeeper://127.0.0.1:{port}/txid"),
                &format!("{count} children {:.20}", unit.escape_ascii()),
            );
        }
    }
}

#[test]
fn a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let nodes = directory.path().join("worst/node");
    std::fs::create_dir_all(&nodes).unwrap();
    for number in 0..20_000 {
        std::fs::write(nodes.join(format!("{number}")), [b'x'; 1000]).unwrap();
    }
    stays_small(&format!("file://{}", directory.path().display()), "20,000 files");
}
