//! The third table: the requests that one nginx worker answers, with wrk asking from another processor.

use crate::callgrind::Callgrind;
use crate::cpu_time;
use crate::table::cell;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 12;

/// What bench/requests.conf answers, where, and the row of the constant that is answered in the same way.
const ROWS: [(&str, &str, usize); 8] = [
    ("a constant", "/constant", 0),
    ("`$request_id`", "/request_id", 0),
    ("a constant in `set_by_lua_block`", "/constant_set", 0),
    ("`txid()` in `set_by_lua_block`", "/txid", 0),
    ("a constant in `add_header`", "/constant_header", 4),
    ("`id()` in `set_by_lua_block`, in `add_header`", "/id", 4),
    ("a constant header of `content_by_lua_block`", "/constant_lua", 6),
    ("`handle()` in `rewrite_by_lua_block`", "/handle", 6),
];
const REQUEST_ID: usize = 1;

struct Server {
    worker: i32,
    address: String,
}

/// Of one round of one row.
struct Rates {
    a_second: f64,
    a_cpu_second: f64,
}

impl Server {
    /// Has wrk ask for a second, under `before`, and returns how often it was answered.
    fn ask(&self, before: &[&str], path: &str) -> f64 {
        let url = format!("http://{}{path}", self.address);
        let wrk = ["taskset", "-c", "1", "wrk", "-t1", "-c16", "-d1", &url];
        let command = [before, &wrk].concat();
        let output = Command::new(command[0]).args(&command[1..]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = said.contains("Non-2xx") || said.contains("Socket errors");
        assert!(output.status.success() && !failed, "{command:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
        let count = said.lines().find_map(|line| line.trim().split_once(" requests in ")).unwrap().0;
        count.parse().unwrap()
    }

    fn measure(&self, path: &str) -> Rates {
        let (cpu, wall) = (cpu_time::of_process(self.worker), Instant::now());
        let answered = self.ask(&[], path);
        Rates {
            a_second: answered / wall.elapsed().as_secs_f64(),
            a_cpu_second: answered / (cpu_time::of_process(self.worker) - cpu).as_secs_f64(),
        }
    }

    /// Instructions a request, the kernel's included, where perf can count them.
    fn instructions(&self, path: &str, directory: &Path) -> Option<f64> {
        let (worker, counts) = (self.worker.to_string(), directory.join("perf.csv"));
        let perf = ["perf", "stat", "-x,", "-e", "instructions", "-p", &worker, "-o", counts.to_str()?];
        if !Command::new("perf")
            .args(["stat", "-e", "instructions", "true"])
            .output()
            .is_ok_and(|it| it.status.success())
        {
            return None;
        }
        let answered = self.ask(&[&perf[..], &["--"]].concat(), path);
        let counted = fs::read_to_string(&counts).ok()?;
        let line = counted.lines().find(|line| line.contains("instructions"))?;
        Some(line.split(',').next()?.parse::<f64>().ok()? / answered)
    }
}

/// Measures the nginx worker with this process id at this address, and counts with one that runs under callgrind.
pub fn table(worker: &str, address: &str, counted: &Callgrind, directory: &Path) -> String {
    let server = Server { worker: worker.parse().unwrap(), address: address.to_string() };
    let rounds: Vec<[Rates; ROWS.len()]> = (0..ROUNDS).map(|_| ROWS.map(|(_, path, _)| server.measure(path))).collect();

    let mut table = String::from(
        "| | requests/s | over its constant | over `$request_id` | of the worker's own time: µs a request | over its constant \
         | over `$request_id` | instructions a request |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
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
