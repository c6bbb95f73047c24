//! Agents and processes that take numbers, killed at any moment.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use txid::segment::Segment;

use super::Directory;
use crate::servers::{end_with_the_test, until};

/// Set for a process that takes numbers: the segment, and the file that they are written to.
const WORKER: &str = "TXID_TEST_NUMBERS";

/// Not a test: the code of the processes that take numbers.
#[test]
fn worker() {
    let Ok(files) = std::env::var(WORKER) else { return };
    let (segment, numbers) = files.split_once('\n').unwrap();
    let mut file = File::create(numbers).unwrap();
    let segment = Segment::attach(Path::new(segment)).unwrap();
    // The kernel ends it with its parent.
    loop {
        match segment.take() {
            // Written data survives a kill.
            Ok(number) => file.write_all(&number.to_ne_bytes()).unwrap(),
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
}

pub fn start_worker(segment: &Path, numbers: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "segments::kills::worker"]).stdin(Stdio::null()).stdout(Stdio::null());
    command.env(WORKER, format!("{}\n{}", segment.display(), numbers.display()));
    end_with_the_test(&mut command);
    command.spawn().unwrap()
}

/// On each host, an agent or a worker is killed every few milliseconds, at an arbitrary moment.
#[test]
fn no_number_is_taken_twice_through_kills_at_any_moment() {
    let directory = Directory::new();
    let options = ["--segment", "invoices=50", "--max-step", "400", "--create"];
    let hosts = ["one", "two"];
    let mut agents = hosts.map(|host| directory.agent(host, &options));
    for host in hosts {
        directory.segment(host);
    }
    let mut files = Vec::new();
    let mut start = |host: usize| {
        let file = directory.path(&format!("numbers-{}", files.len()));
        files.push(file.clone());
        (host, start_worker(&directory.path(hosts[host]).join("invoices.segment"), &file), file)
    };
    let mut workers: Vec<_> = [0, 0, 1, 1].into_iter().map(&mut start).collect();

    let seed = u64::from(std::process::id());
    let mut random = seed * 7919 + 1;
    let mut below = |end: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % end
    };
    for _ in 0..60 {
        // Any moment.
        sleep(Duration::from_micros(1000 + below(60_000)));
        if below(2) == 0 {
            let host = below(2) as usize;
            agents[host].kill();
            agents[host] = directory.agent(hosts[host], &options);
        } else {
            let (host, mut worker, _) = workers.swap_remove(below(4) as usize);
            worker.kill().unwrap();
            worker.wait().unwrap();
            workers.push(start(host));
        }
    }
    // The kills have stopped: all workers get numbers again.
    let sizes = || workers.iter().map(|(_, _, file)| fs::metadata(file).map_or(0, |it| it.len())).collect::<Vec<_>>();
    let before = sizes();
    until("numbers do not go on", || sizes().iter().zip(&before).all(|(now, before)| *now > before + 800));
    let enough = || files.iter().map(|file| fs::metadata(file).map_or(0, |it| it.len())).sum::<u64>() > 8 * 10_000;
    until("there are too few numbers to tell", enough);
    for (_, worker, _) in &mut workers {
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    let mut all: Vec<u64> = Vec::new();
    for file in &files {
        let bytes = fs::read(file).unwrap_or_default();
        let numbers: Vec<u64> = bytes.chunks_exact(8).map(|it| u64::from_ne_bytes(it.try_into().unwrap())).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "out of order, seed {seed}");
        all.extend(numbers);
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "twice, seed {seed}");
    // A killed worker may have taken a number without writing it, and a killed agent a range without granting it.
    let lost = all.last().unwrap() - count as u64;
    println!("{count} numbers by {} processes, {lost} that nobody has", files.len());
    assert!(lost < 60 * 400 + 4 * 400, "{lost}");
}
