//! Something between the agent and its store closes connections that nobody uses, as proxies do: nobody notices.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::conformance::open;
use super::each::{all, urls};
use crate::proxy::join;

/// Passes on what comes, until it closes all connections.
struct Closes {
    port: u16,
    clients: Arc<Mutex<Vec<TcpStream>>>,
}

impl Closes {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let clients = Arc::new(Mutex::new(Vec::new()));
        let seen = clients.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                seen.lock().unwrap().push(client.try_clone().unwrap());
                join(client, server);
            }
        });
        Self { port, clients }
    }

    /// Returns how many it has closed.
    fn close(&self) -> usize {
        let clients = std::mem::take(&mut *self.clients.lock().unwrap());
        clients.iter().for_each(|client| _ = client.shutdown(Shutdown::Both));
        clients.len()
    }
}

/// Alone: while another thread drives the runtime, it may see the end a moment later.
#[test]
#[ignore = "alone: make soak"]
fn connections_that_were_closed_while_they_were_idle() {
    let port = all();
    let mut proxies = Vec::new();
    let urls = urls(60_000, |name| {
        let proxy = Closes::to(port(name));
        let host = format!("127.0.0.1:{}", proxy.port);
        proxies.push(proxy);
        host
    });
    for (url, proxy) in urls.iter().zip(&proxies) {
        let mut store = open(url).unwrap();
        store.create_tag("idle", 10).unwrap();
        for round in 0..5 {
            store.read("idle/node/1").unwrap_or_else(|error| panic!("{url}, after {round} closed: {error}"));
            store.take("idle", None, 0).unwrap_or_else(|error| panic!("{url}, after {round} closed: {error}"));
            assert_eq!(proxy.close(), 1, "{url}: one for records and tags");
        }
    }
}
