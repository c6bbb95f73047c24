//! Runs the scenarios in `testdata`: what happens to a lease's machine, and what it does then.
//!
//! A scenario is a text file: steps, a line `----`, and the machine's outputs up to the next empty line. [`play`] lists
//! the steps. With `TXID_BLESS=1`, this test writes the outputs into the files: read the difference before you commit it.

mod play;
mod store;
mod text;

use play::Play;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[test]
fn each_scenario_ends_as_written() {
    let is_to_bless = env::var_os("TXID_BLESS").is_some();
    let mut wrong = String::new();
    for path in scenarios() {
        let expected = fs::read_to_string(&path).unwrap();
        let (found, is_whole) = run(&expected);
        if is_to_bless && is_whole {
            fs::write(&path, found).unwrap();
        } else if found != expected {
            let line = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
            let line = line.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
            let show = |text: &str| text.lines().nth(line).unwrap_or("the end").to_owned();
            wrong += &format!("{}:{}\n  has {}\n  now {}\n", path.display(), line + 1, show(&expected), show(&found));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}TXID_BLESS=1 writes what the machine does now");
}

fn scenarios() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "{paths:?}");
    paths
}

/// The scenario, with the outputs that the machine has now, and whether it came to its end: another machine may want other steps.
fn run(scenario: &str) -> (String, bool) {
    let mut play = Play::new();
    let mut written = String::new();
    let mut lines = scenario.lines();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        if line == "----" {
            written += &std::mem::take(&mut play.output);
            let after = lines.by_ref().find(|line| line.is_empty());
            written += if after.is_some() { "\n" } else { "" };
        } else if !line.is_empty() && !line.starts_with('#') && play.step(line).is_none() {
            let last = play.output.lines().last().unwrap_or("nothing");
            return (format!("{written}'{line}' is not a step here, after: {last}\n"), false);
        }
    }
    (written + &play.output, play.output.is_empty())
}
