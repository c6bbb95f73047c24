//! A TCP proxy that can stop forwarding the server's answers, and counts round trips.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::thread;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Everything is forwarded.
    Pass,
    /// The server receives everything, and its answers are lost.
    SwallowReplies,
    /// Existing connections end, and new ones end at once.
    Refuse,
}

pub struct Proxy {
    pub port: u16,
    mode: Arc<AtomicU8>,
    trips: Arc<Trips>,
}

/// Counts round trips: how often the client sent something after the server did, or at the start. A connection that
/// reaches nobody counts as one.
#[derive(Default)]
struct Trips {
    count: AtomicUsize,
    is_out: AtomicBool,
}

impl Trips {
    fn sends(&self, is_client: bool) {
        if self.is_out.swap(is_client, Ordering::SeqCst) != is_client && is_client {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Proxy {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mode = Arc::new(AtomicU8::new(Mode::Pass as u8));
        let trips = Arc::new(Trips::default());
        let (shared, counted) = (mode.clone(), trips.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let is_refused = shared.load(Ordering::SeqCst) == Mode::Refuse as u8;
                let reached = if is_refused { None } else { TcpStream::connect(("127.0.0.1", server)).ok() };
                let Some(server) = reached else {
                    counted.count.fetch_add(1, Ordering::SeqCst);
                    continue;
                };
                // Otherwise a message in two parts takes 40 ms more, and the agent looks slow.
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let (asking, answering) = (counted.clone(), counted.clone());
                pass(&client, &server, &shared, Mode::Refuse as u8, move || asking.sends(true));
                pass(&server, &client, &shared, Mode::SwallowReplies as u8, move || answering.sends(false));
            }
        });
        Self { port, mode, trips }
    }

    /// The round trips so far.
    pub fn trips(&self) -> usize {
        self.trips.count.load(Ordering::SeqCst)
    }

    pub fn set(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

/// Forwards all that comes on each of two connections to the other one.
pub fn join(client: TcpStream, server: TcpStream) {
    let ends = [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
    for (mut from, mut to) in ends {
        thread::spawn(move || {
            _ = io::copy(&mut from, &mut to);
            _ = to.shutdown(Shutdown::Both);
        });
    }
}

/// Forwards what `from` sends, unless the mode is at least `until`.
fn pass(from: &TcpStream, to: &TcpStream, mode: &Arc<AtomicU8>, until: u8, sends: impl Fn() + Send + 'static) {
    let (mut from, mut to, mode) = (from.try_clone().unwrap(), to.try_clone().unwrap(), mode.clone());
    thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(read) = from.read(&mut buffer) {
            let now = mode.load(Ordering::SeqCst);
            if read == 0 || now == Mode::Refuse as u8 {
                break;
            }
            sends();
            if now < until && to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
