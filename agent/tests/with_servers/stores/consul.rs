//! A stand-in for Consul, because no server was available. It is written from Consul's documentation of `/v1/kv` and
//! `/v1/txn`, keeps state, and supports only these two. It does not show that a real Consul does the same.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use data_encoding::BASE64;
use serde_json::{Value, json};

/// Value, CreateIndex, ModifyIndex.
type Pairs = BTreeMap<String, (String, u64, u64)>;

#[derive(Default)]
struct State {
    index: u64,
    pairs: Pairs,
}

pub struct StandIn {
    pub port: u16,
    state: Arc<Mutex<State>>,
    /// Ends the running server.
    stop: Arc<AtomicBool>,
    token: Option<&'static str>,
}

impl StandIn {
    pub fn start(token: Option<&'static str>) -> Self {
        let mut stand_in =
            Self { port: crate::servers::free_port(), state: Arc::default(), stop: Arc::default(), token };
        stand_in.restart();
        stand_in
    }

    /// Has these keys and values, too.
    pub fn fill(&self, pairs: impl Iterator<Item = (String, String)>) {
        let mut state = self.state.lock().unwrap();
        for (key, value) in pairs {
            state.index += 1;
            let index = state.index;
            state.pairs.insert(key, (BASE64.encode(value.as_bytes()), index, index));
        }
    }

    pub fn kill(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, which then closes.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        crate::servers::until("it does not end", || TcpStream::connect(("127.0.0.1", self.port)).is_err());
    }

    pub fn restart(&mut self) {
        self.stop = Arc::default();
        let listener = TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        let (state, stop, token) = (self.state.clone(), self.stop.clone(), self.token);
        thread::spawn(move || {
            for client in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (state, stop) = (state.clone(), stop.clone());
                thread::spawn(move || serve(&client.unwrap(), &state, &stop, token));
            }
        });
    }
}

fn serve(client: &TcpStream, state: &Mutex<State>, stop: &AtomicBool, token: Option<&str>) {
    let mut reader = BufReader::new(client);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim_end().is_empty() {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let header = |wanted: &str| {
            head.iter().filter_map(|line| line.split_once(": ")).find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        let length = header("content-length").map_or(0, |(_, value)| value.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let mut request = head[0].split(' ');
        let (method, target) = (request.next().unwrap(), request.next().unwrap());
        let (status, answer) = if token.is_some() && header("x-consul-token").map(|(_, value)| value) != token {
            ("403 Forbidden", "Permission denied: anonymous token lacks permission 'key:write'".to_owned())
        } else {
            answer(method, target, &body, &mut state.lock().unwrap())
        };
        let date = httpdate::fmt_http_date(SystemTime::now());
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nDate: {date}\r\nContent-Length: {}\r\n\r\n{answer}",
            answer.len()
        );
        let mut client = client;
        if client.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(method: &str, target: &str, body: &[u8], state: &mut State) -> (&'static str, String) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match (method, path.strip_prefix("/v1/kv/")) {
        ("GET", Some(key)) => {
            let has = |wanted: &str| query.split('&').any(|option| option == wanted);
            let begun = |name: &str| if has("recurse") || has("keys") { name.starts_with(key) } else { name == key };
            let pairs = state.pairs.iter().filter(|(name, _)| begun(name));
            if has("keys") {
                let keys: Vec<&String> = pairs.map(|(name, _)| name).collect();
                return if keys.is_empty() {
                    ("404 Not Found", String::new())
                } else {
                    ("200 OK", json!(keys).to_string())
                };
            }
            let found: Vec<Value> = pairs
                .map(|(name, (value, created, modified))| {
                    json!({ "LockIndex": 0, "Key": name, "Flags": 0, "Value": value, "CreateIndex": created,
                            "ModifyIndex": modified })
                })
                .collect();
            if found.is_empty() { ("404 Not Found", String::new()) } else { ("200 OK", Value::from(found).to_string()) }
        }
        ("PUT", None) if path == "/v1/txn" => transaction(body, state),
        _ => ("405 Method Not Allowed", String::new()),
    }
}

fn transaction(body: &[u8], state: &mut State) -> (&'static str, String) {
    let operations: Value = serde_json::from_slice(body).unwrap();
    let mut pairs = state.pairs.clone();
    let index = state.index + 1;
    let mut results = Vec::new();
    for (number, operation) in operations.as_array().unwrap().iter().enumerate() {
        let set = &operation["KV"];
        assert_eq!(set["Verb"], "cas", "the stand-in knows no other verb");
        let key = set["Key"].as_str().unwrap();
        assert!(BASE64.decode(set["Value"].as_str().unwrap().as_bytes()).is_ok());
        let now = pairs.get(key).map_or(0, |(_, _, modified)| *modified);
        if now != set["Index"].as_u64().unwrap() {
            let what = format!("failed to set key {key:?}, index is stale");
            let error = json!({ "Results": null, "Errors": [{ "OpIndex": number, "What": what }] });
            return ("409 Conflict", error.to_string());
        }
        let created = pairs.get(key).map_or(index, |(_, created, _)| *created);
        pairs.insert(key.to_owned(), (set["Value"].as_str().unwrap().to_owned(), created, index));
        results.push(json!({ "KV": { "LockIndex": 0, "Key": key, "Flags": 0, "Value": null, "CreateIndex": created,
                                     "ModifyIndex": index } }));
    }
    *state = State { index, pairs };
    ("200 OK", json!({ "Results": results, "Errors": null }).to_string())
}
