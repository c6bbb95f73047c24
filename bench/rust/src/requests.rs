//! The third table: the requests that one nginx worker answers, with wrk asking from another processor.

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

/// Many short slices, because other load comes and goes within seconds.
const ROUNDS: usize = 70;
const SLICE: Duration = Duration::from_millis(100);
/// Time to finish the requests of the row before, and to settle.
const SETTLE: Duration = Duration::from_millis(10);

/// The rows: their names and paths in bench/requests.conf, and the row of the constant that is answered in the same way.
const ROWS: [(&str, &str, usize); 10] = [
    ("a constant", "/constant", 0),
    ("`$request_id`", "/request_id", 0),
    ("a constant in `set_by_lua_block`", "/constant_set", 0),
    ("the floor's string in `set_by_lua_block`", "/floor_set", 0),
    ("`txid()` in `set_by_lua_block`", "/txid", 0),
    ("a constant in `add_header`", "/constant_header", 5),
    ("`txid()` in `set_by_lua_block`, in `add_header`", "/txid_header", 5),
    ("`id()` in `set_by_lua_block`, in `add_header`", "/id", 5),
    ("a constant header of `content_by_lua_block`", "/constant_lua", 8),
    ("`handle()` in `rewrite_by_lua_block`", "/handle", 8),
];
const REQUEST_ID: usize = 1;

struct Server {
    worker: i32,
    address: String,
    status: TcpStream,
}

/// Of one slice of one row.
struct Rates {
    a_second: f64,
    a_cpu_second: f64,
}

impl Server {
    fn new(worker: &str, address: &str) -> Self {
        let status = TcpStream::connect(address).unwrap();
        Self { worker: worker.parse().unwrap(), address: address.to_string(), status }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
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

    /// Instructions a request, the kernel's included, where perf can count them.
    fn instructions(&self, path: &str, directory: &Path) -> Option<f64> {
        let (worker, counts) = (self.worker.to_string(), directory.join("perf.csv"));
        let perf = ["perf", "stat", "-x,", "-e", "instructions", "-p", &worker, "-o", counts.to_str()?, "--"];
        if !Command::new("perf")
            .args(["stat", "-e", "instructions", "true"])
            .output()
            .is_ok_and(|it| it.status.success())
        {
            return None;
        }
        let answered = load::for_a_second(&perf, &self.url(path));
        let counted = fs::read_to_string(&counts).ok()?;
        let line = counted.lines().find(|line| line.contains("instructions"))?;
        Some(line.split(',').next()?.parse::<f64>().ok()? / answered)
    }
}

/// Measures the nginx worker with this process id at this address, and counts with one that runs under callgrind.
pub fn table(worker: &str, address: &str, counted: &Callgrind, directory: &Path) -> String {
    let mut server = Server::new(worker, address);
    let loads = ROWS.map(|(_, path, _)| Load::new(server.url(path)));
    let rounds: Vec<[Rates; ROWS.len()]> =
        (0..ROUNDS).map(|_| loads.each_ref().map(|load| load.during(|| server.measure()))).collect();
    loads.into_iter().for_each(Load::end);

    let mut table = format!(
        "{ROUNDS} rounds, {} ms a row.\n\n\
         | | requests/s | over its constant | over `$request_id` | of the worker's own time: µs a request | over its constant \
         | over `$request_id` | instructions a request |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
        SLICE.as_millis()
    );
    for (row, (name, path, constant)) in ROWS.iter().enumerate() {
        let of = |rate: fn(&Rates) -> f64| rounds.iter().map(|round| rate(&round[row])).collect();
        let over = |rate: fn(&Rates) -> f64, other: usize| {
            cell(rounds.iter().map(|round| rate(&round[row]) / rate(&round[other])).collect(), 2)
        };
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            cell(of(|rates| rates.a_second), 0),
            over(|rates| rates.a_second, *constant),
            over(|rates| rates.a_second, REQUEST_ID),
            cell(of(|rates| 1e6 / rates.a_cpu_second), 2),
            over(|rates| rates.a_cpu_second, *constant),
            over(|rates| rates.a_cpu_second, REQUEST_ID),
            server.instructions(path, directory).unwrap_or_else(|| counted.instructions(path)).round(),
        );
    }
    table
}
