//! A store that closes its connections: whatever it has answered before, and however often it is called, no more than ten
//! requests leave for it in ten seconds. To connect counts, and so does each step of a login. This takes real seconds;
//! `src/store/sent.rs` shows it with a clock that the test moves.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use txid_agent::store::{open, open_tags, schemes};
use txid_agent_machines::store::{Expected, Put};

use super::each::{STORES, all, url};

const WINDOW: Duration = Duration::from_secs(10);
const MOST: usize = 10;

/// Stands in front of a server, and ends each connection after a given number of parts of answers.
struct Closing {
    port: u16,
    /// When requests arrived.
    requests: Arc<Mutex<Vec<Instant>>>,
}

impl Closing {
    fn new(server: u16, parts: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let counted = requests.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                counted.lock().unwrap().push(Instant::now());
                let Some(server) = (parts > 0).then(|| TcpStream::connect(("127.0.0.1", server)).ok()).flatten() else {
                    continue;
                };
                // Whether the next bytes of the client are of another request than the last ones.
                let is_next = Arc::new(Mutex::new(false));
                let (answered, counted) = (is_next.clone(), counted.clone());
                pass(&client, &server, usize::MAX, move || {
                    if std::mem::take(&mut *is_next.lock().unwrap()) {
                        counted.lock().unwrap().push(Instant::now());
                    }
                });
                pass(&server, &client, parts, move || *answered.lock().unwrap() = true);
            }
        });
        Self { port, requests }
    }

    /// The most requests in ten seconds.
    fn most(&self) -> usize {
        let times = self.requests.lock().unwrap();
        let after = |first: &Instant| times.iter().filter(|time| **time >= *first && **time - *first < WINDOW).count();
        times.iter().map(after).max().unwrap_or(0)
    }
}

fn pass(from: &TcpStream, to: &TcpStream, parts: usize, seen: impl Fn() + Send + 'static) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    thread::spawn(move || {
        let mut buffer = [0; 65536];
        for _ in 0..parts {
            let read = from.read(&mut buffer).unwrap_or(0);
            if read == 0 {
                break;
            }
            seen();
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}

#[test]
#[ignore = "real seconds: make soak"]
fn a_store_that_closes_is_sent_ten_requests_in_ten_seconds() {
    let port = all();
    assert!(STORES.iter().all(|store| schemes().any(|known| known == *store)));
    let mut with_a_login = 0;
    for scheme in STORES {
        for parts in 0.. {
            let closing = Closing::new(port(scheme), parts);
            let url = |port| url(scheme, &format!("127.0.0.1:{port}"), 3000);
            let mut store = open(&url(closing.port)).unwrap();
            let calls = (0..40).map(|turn| match turn % 4 {
                0 => store.read("any/key").is_ok(),
                1 => store.list("any/", &mut |_, _| {}).is_ok(),
                2 => matches!(store.put("any/key", &Expected::Absent, b"x"), Ok(Put::Written(_) | Put::Conflict)),
                _ => store.clock().is_ok(),
            });
            let answered = calls.filter(|is_answered| *is_answered).count();
            if answered > 0 {
                assert!(parts > 0, "{scheme}: {answered} answers without a server");
                break;
            }
            let most = closing.most();
            assert!((1..=MOST).contains(&most), "{scheme}, closed after {parts} parts: {most} requests");
            with_a_login += usize::from(parts > 1);

            let closing = Closing::new(port(scheme), parts);
            let mut tags = open_tags(&url(closing.port)).unwrap();
            let taken = (0..40).filter(|_| tags.take("any", None, 0).is_ok()).count();
            let most = closing.most();
            assert!(
                taken > 0 || (1..=MOST).contains(&most),
                "{scheme}, a tag, closed after {parts} parts: {most} requests"
            );
        }
    }
    assert!(with_a_login >= 4, "MariaDB alone closes after more parts: {with_a_login}");
}
