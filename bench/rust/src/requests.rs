//! The third table: how many requests one nginx worker answers, with wrk on another processor.

use crate::callgrind::Callgrind;
use crate::cpu_time;
use crate::load::{self, Load};
use crate::table::cell;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// There are many short slices, because other load changes within seconds.
const ROUNDS: usize = 70;
const SLICE: Duration = Duration::from_millis(100);
/// Time to finish the requests of the previous row.
const SETTLE: Duration = Duration::from_millis(10);

/// The server of a row (started by bench/run.sh), the row's name, its path in bench/*.conf, a header line, the row of the
/// constant that is answered in the same way, and the row of `$request_id`.
struct Row(&'static str, &'static str, &'static str, &'static str, usize, usize);

const ROWS: [Row; 19] = [
    Row("lua", "a constant", "/constant", "", 0, 1),
    Row("lua", "`$request_id`", "/request_id", "", 0, 1),
    Row("lua", "a constant in `set_by_lua_block`", "/constant_set", "", 0, 1),
    Row("lua", "the floor's string in `set_by_lua_block`", "/floor_set", "", 0, 1),
    Row("lua", "`txid()` in `set_by_lua_block`", "/txid", "", 0, 1),
    Row("lua", "a constant in `add_header`", "/constant_header", "", 5, 1),
    Row("lua", "`txid()` in `set_by_lua_block`, in `add_header`", "/txid_header", "", 5, 1),
    Row("lua", "`id()` in `set_by_lua_block`, in `add_header`", "/id", "", 5, 1),
    Row("lua", "a constant header of `content_by_lua_block`", "/constant_lua", "", 8, 1),
    Row("lua", "`handle()` in `rewrite_by_lua_block`", "/handle", "", 8, 1),
    Row("native", "without Lua: a constant in a variable", "/constant", "", 10, 11),
    Row("native", "without Lua: `$request_id`", "/request_id", "", 10, 11),
    Row("native", "native: `$txid`", "/txid", "", 10, 11),
    Row("native", "without Lua: the constant, with an id in the request", "/constant", ID, 13, 11),
    Row("native", "native: `$request_txid`, which checks that id", "/request_txid", ID, 13, 11),
    Row("native", "without Lua: a constant in `add_header`", "/constant_header", "", 15, 11),
    Row("native", "native: `txid_response_header`", "/response_header", "", 15, 11),
    Row("ngx_txid", "beside ngx_txid: a constant in a variable", "/constant", "", 17, 11),
    Row("ngx_txid", "ngx_txid: `$txid`", "/txid", "", 17, 11),
];
const ID: &str = "X-Request-Id: 4om9qi54la8ffr4bd9sg\r\n";

struct Server {
    name: String,
    worker: i32,
    address: String,
    status: TcpStream,
    counted: Callgrind,
}

/// What one slice of one row measured.
struct Rates {
    a_second: f64,
    a_cpu_second: f64,
}

impl Server {
    fn new(words: &[&str], directory: &Path) -> Self {
        let [name, worker, address, counted, its_address] = words[..] else { panic!("five words a server") };
        Self {
            name: name.to_string(),
            worker: worker.parse().unwrap(),
            address: address.to_string(),
            status: TcpStream::connect(address).unwrap(),
            counted: Callgrind {
                pid: counted.to_string(),
                address: its_address.to_string(),
                output: directory.join(name).join("callgrind"),
            },
        }
    }

    fn load(&self, row: &Row) -> Load {
        Load::new(format!("http://{}{}", self.address, row.2), row.3)
    }

    /// The number of requests that nginx has handled.
    fn requests(&mut self) -> f64 {
        self.status.write_all(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = [0; 1024];
        let length = self.status.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]);
        let counts = answer.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1).unwrap();
        counts.split_whitespace().nth(2).unwrap().parse().unwrap()
    }

    fn measure(&mut self) -> Rates {
        sleep(SETTLE);
        let (before, cpu, wall) = (self.requests(), cpu_time::of_process(self.worker), Instant::now());
        sleep(SLICE);
        let answered = self.requests() - before;
        Rates {
            a_second: answered / wall.elapsed().as_secs_f64(),
            a_cpu_second: answered / (cpu_time::of_process(self.worker) - cpu).as_secs_f64(),
        }
    }

    /// The instructions of a request, including the kernel's, if perf can count them.
    fn instructions_by_perf(&self, row: &Row, directory: &Path) -> Option<f64> {
        let (worker, counts) = (self.worker.to_string(), directory.join("perf.csv"));
        let perf = ["perf", "stat", "-x,", "-e", "instructions", "-p", &worker, "-o", counts.to_str()?, "--"];
        if !Command::new("perf")
            .args(["stat", "-e", "instructions", "true"])
            .output()
            .is_ok_and(|it| it.status.success())
        {
            return None;
        }
        let answered = load::for_a_second(&perf, &format!("http://{}{}", self.address, row.2), row.3);
        let counted = fs::read_to_string(&counts).ok()?;
        let line = counted.lines().find(|line| line.contains("instructions"))?;
        Some(line.split(',').next()?.parse::<f64>().ok()? / answered)
    }
}

/// Measures these servers. Each is five words: its name, the process id and the address of its worker, and those of the
/// nginx under callgrind.
pub fn table(servers: &[&str], directory: &Path) -> String {
    let mut servers: Vec<Server> = servers.chunks(5).map(|words| Server::new(words, directory)).collect();
    let server_of = |row: &Row| servers.iter().position(|server| server.name == row.0);
    let (measured, missing): (Vec<_>, Vec<_>) = ROWS.iter().enumerate().partition(|(_, row)| server_of(row).is_some());
    let contenders: Vec<_> = measured
        .into_iter()
        .map(|(place, row)| {
            let server = server_of(row).unwrap();
            (place, server, servers[server].load(row))
        })
        .collect();

    // One for each row; empty for rows that are not measured.
    let mut rates: [Vec<Rates>; ROWS.len()] = Default::default();
    for _ in 0..ROUNDS {
        for (place, server, load) in &contenders {
            rates[*place].push(load.during(|| servers[*server].measure()));
        }
    }
    // Stop every wrk before anything slow: if wrk is paused for too long, it reports its requests as failed.
    let counted: Vec<_> = contenders
        .into_iter()
        .map(|(place, server, load)| {
            load.end();
            (place, &servers[server])
        })
        .collect();
    let mut instructions = [0.0; ROWS.len()];
    for (place, server) in counted {
        let row = &ROWS[place];
        instructions[place] =
            server.instructions_by_perf(row, directory).unwrap_or_else(|| server.counted.instructions(row.2, row.3));
    }

    let mut table = format!(
        "{ROUNDS} rounds, {} ms a row.\n\n\
         | | requests/s | over its constant | over `$request_id` | of the worker's own time: µs a request | over its constant \
         | over `$request_id` | instructions a request | over its constant |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        SLICE.as_millis()
    );
    for (row, Row(_, name, _, _, constant, request_id)) in ROWS.iter().enumerate() {
        if rates[row].is_empty() {
            continue;
        }
        let of = |rate: fn(&Rates) -> f64| rates[row].iter().map(rate).collect();
        let over = |rate: fn(&Rates) -> f64, other: usize| {
            cell(rates[row].iter().zip(&rates[other]).map(|(row, other)| rate(row) / rate(other)).collect(), 2)
        };
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {} | {} | {:.0} | {:.3} |",
            cell(of(|rates| rates.a_second), 0),
            over(|rates| rates.a_second, *constant),
            over(|rates| rates.a_second, *request_id),
            cell(of(|rates| 1e6 / rates.a_cpu_second), 2),
            over(|rates| rates.a_cpu_second, *constant),
            over(|rates| rates.a_cpu_second, *request_id),
            instructions[row],
            instructions[row] / instructions[*constant],
        );
    }
    if !missing.is_empty() {
        let names: Vec<_> = missing.into_iter().map(|(_, row)| row.1).collect();
        let _ = writeln!(table, "\nNot measured, because PEERS does not have it: {}.", names.join(", "));
    }
    table
}
