//! Real agents with segments: kills, restarts, outages of the store, and a store that was set back.

pub mod kills;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;
use txid::segment::{Segment, SegmentError, SegmentNews, SegmentPage};

use crate::fleet::host::{Running, agent};
use crate::servers::until;
use crate::wait::says;

/// A directory with a store and hosts in it.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn url(&self) -> String {
        format!("file://{}?timeout=60s", self.path("store").display())
    }

    fn agent(&self, host: &str, more: &[&str]) -> Running {
        let log = fs::File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut command = agent();
        command.args(["run", "--store", &self.url(), "--dir"]).arg(self.path(host)).args(more);
        Running(command.stdin(Stdio::null()).stderr(log).spawn().unwrap())
    }

    fn segment(&self, host: &str) -> Segment {
        let path = self.path(host).join("invoices.segment");
        until("there is no segment", || match Segment::attach(&path) {
            Ok(segment) => Some(segment),
            Err(SegmentError::NoAgent(_)) => None,
            Err(error) => panic!("{error}"),
        })
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    fn run(&self, args: &[&str]) -> String {
        let output = agent().args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    }

    fn status(&self, host: &str) -> String {
        self.run(&["status", "--json", "--dir", self.path(host).to_str().unwrap()])
    }
}

/// Waits for a number.
fn next(segment: &Segment) -> u64 {
    until("there is no number", || segment.take())
}

fn take_all(segment: &Segment) -> Vec<u64> {
    std::iter::from_fn(|| segment.take().ok()).collect()
}

#[test]
fn restarts_waste_nothing_and_the_step_follows_the_rate() {
    let directory = Directory::new();
    let mut agent = directory.agent("host", &["--segment", "invoices=10", "--max-step", "40", "--create"]);
    let segment = directory.segment("host");
    for expected in 1..=200 {
        assert_eq!(next(&segment), expected);
        if expected % 60 == 0 {
            agent.kill();
            agent = directory.agent("host", &["--segment", "invoices", "--max-step", "40"]);
        }
    }
    assert_eq!(segment.stats().step, 40, "doubled as ranges were short, up to the largest");
    assert!(segment.stats().fetches < 15, "{:?}", segment.stats());
    // The last agent may just have started.
    until("status does not say so", || {
        let status = directory.status("host");
        if status.contains("\"step\":40") && status.contains("\"news\":\"serving\"") { Ok(()) } else { Err(status) }
    });
}

/// The child is what takes numbers: if it waited for a range, it would wait forever.
#[test]
fn a_restarted_agent_starts_its_child_with_the_numbers_that_are_left() {
    let directory = Directory::new();
    let starts = |with: &[&str], what: &str, says: &str| {
        let started = directory.path(what);
        let child = ["--", "touch", started.to_str().unwrap()];
        let mut agent = directory.agent("host", &[with, &child].concat());
        // A thread writes the log.
        until("the child does not start", || started.exists() && directory.log().contains(says));
        agent.kill();
    };
    starts(&["--segment", "invoices=10", "--create"], "first", "numbers from 1 on");
    starts(&["--segment", "invoices"], "with a range that nobody used", "invoices: 10 numbers left from before");
    let segment = directory.segment("host");
    assert_eq!((next(&segment), segment.stats().fetches), (1, 1));
    // The store is down.
    fs::remove_dir_all(directory.path("store")).unwrap();
    fs::write(directory.path("store"), "").unwrap();
    starts(&["--segment", "invoices"], "without a store", "invoices: 9 numbers left from before");
    assert_eq!(next(&segment), 2);
}

#[test]
fn numbers_go_on_without_the_store_then_end_at_once_and_come_back() {
    let directory = Directory::new();
    let _agent = directory.agent("host", &["--segment", "invoices=100", "--max-step", "100", "--create"]);
    let segment = directory.segment("host");
    assert_eq!(next(&segment), 1);
    // When a tenth is used, the next range is there.
    for expected in 2..=11 {
        assert_eq!(segment.take(), Ok(expected));
    }
    until("there is no next range", || segment.stats().next > 0);
    // Puts a file in place of the directory: the store is down. The agent must not make a directory in between.
    let [store, away] = ["store", "away"].map(|name| directory.path(name));
    fs::write(&away, "").unwrap();
    let exchange = || renameat_with(CWD, &store, CWD, &away, RenameFlags::EXCHANGE).unwrap();
    exchange();
    assert_eq!(take_all(&segment), (12..=200).collect::<Vec<_>>());
    // It does not wait: the store comes back only after this.
    let why = segment.take().unwrap_err();
    assert!(why.to_string().starts_with("the numbers of invoices are used up; txid-agent last reached its store at 2"));
    until("no failure is counted", || segment.stats().failures > 1);
    exchange();
    assert_eq!(next(&segment), 201);
}

#[test]
fn a_number_that_went_down_is_an_alarm_and_is_not_followed() {
    let directory = Directory::new();
    let _agent = directory.agent("host", &["--segment", "invoices=10", "--max-step", "10", "--create"]);
    let segment = directory.segment("host");
    assert_eq!(next(&segment), 1);
    let backup = fs::read(directory.path("store").join("invoices/segment")).unwrap();
    for expected in 2..=35 {
        assert_eq!(next(&segment), expected);
    }
    until("there is no next range", || segment.stats().next > 0);
    fs::write(directory.path("store").join("invoices/segment"), backup).unwrap();
    assert_eq!(take_all(&segment), (36..=50).collect::<Vec<_>>(), "service goes on with what there is");
    until("there is no alarm", || segment.stats().news == SegmentNews::WentDown);
    let why = segment.take().unwrap_err().to_string();
    assert!(why.contains("went down") && why.contains("txid-agent raise-number"), "{why}");
    let is_logged = || {
        let log = directory.log();
        log.contains("ALARM: the store's number is ") && log.contains(" and was 51, as after")
    };
    until("the log does not say so", is_logged);
    assert!(directory.status("host").contains("\"news\":\"went-down\""), "{}", directory.status("host"));

    let raised = directory.run(&["raise-number", "--store", &directory.url(), "invoices", "51"]);
    assert!(raised.starts_with("raised invoices from ") && raised.ends_with(" to 51\n"), "{raised}");
    for number in ["5", "51"] {
        let kept = directory.run(&["raise-number", "--store", &directory.url(), "invoices", number]);
        assert!(kept.contains("is already at 51, and never goes down"), "{kept}");
    }
    assert_eq!(next(&segment), 51);
    // The range is there before the agent says so.
    until("the agent does not say that it serves", || segment.stats().news == SegmentNews::Serving);
}

/// A health probe looks at the exit status only.
#[test]
fn every_form_of_status_fails_while_a_segment_has_no_numbers() {
    let directory = Directory::new();
    let pages =
        ["invoices.segment", "orders.segment"].map(|name| SegmentPage::open_or_make(&directory.path(name)).unwrap());
    let code = |form: &[&str]| {
        agent().args(["status", "--dir"]).arg(directory.path("")).args(form).output().unwrap().status.code()
    };
    let codes = || [&[][..], &["--json"], &["--prometheus"]].map(code);
    assert_eq!(codes(), [Some(1); 3]);
    pages[0].publish(1..5);
    assert_eq!(codes(), [Some(1); 3], "the other one has none");
    pages[1].publish(1..5);
    assert_eq!(codes(), [Some(0); 3]);
}

/// Two hosts over a change of the key. Each image is of one number, and every one is read on both in the end.
#[test]
fn a_key_is_changed_over_two_hosts_and_no_image_is_of_two_numbers() {
    use std::collections::HashMap;
    use std::os::unix::fs::PermissionsExt;
    use txid::hidden::{Form, Hidden};

    const OLD: &str = "85962d72415d32da4f2c574c02c44ed9";
    const NEW: &str = "16251b6b8cf1e3f1279bbbcc8c163db7";
    const OTHER: &str = "95bec7f00eac851fc5fdee20b99b7343";
    let directory = Directory::new();
    let key_file = |host: &str, text: &str| {
        let path = directory.path(&format!("{host}.key"));
        fs::write(&path, format!("{}\n", text.trim_end())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    // An agent and the series of a worker, both started with this file.
    let start = |host: &str, text: &str| {
        let path = key_file(host, text);
        let series = Hidden::open(&path, "invoices", Form::Digits(6)).unwrap();
        let checks: Vec<_> = series.key_checks().iter().map(ToString::to_string).collect();
        let config = directory.path(&format!("{host}.toml"));
        fs::write(&config, format!("[segments]\ninvoices = {{ key-checks = {checks:?} }}\n")).unwrap();
        let agent = directory.agent(host, &["--config", config.to_str().unwrap(), "--create"]);
        let segment = directory.segment(host);
        let series = series.of_segment(segment);
        (agent, segment, series)
    };
    let mut shown = HashMap::new();
    let mut show = |segment: &Segment, series: &Hidden, count: usize| {
        for _ in 0..count {
            let number = next(segment);
            let image = until("the key is not known", || series.hide(number));
            assert_eq!(shown.insert(image.to_string(), number), None, "an image of two numbers");
        }
    };

    let (mut first_agent, first, old) = start("first", OLD);
    let (mut second_agent, second, old_too) = start("second", OLD);
    show(&first, &old, 300);
    show(&second, &old_too, 300);

    // A host with another key gets no numbers, and its workers refuse with both check values.
    let (mut third_agent, third, other) = start("third", OTHER);
    says(&directory.path("log"), "and the key here is");
    assert!(third.take().is_err());
    third_agent.kill();
    let foreign = Hidden::open(&key_file("foreign", OTHER), "invoices", Form::Digits(6)).unwrap().of_segment(first);
    let why = foreign.hide(1).unwrap_err().to_string();
    assert!(other.hide(1).is_err() && why.contains("in its store, and the key here is"), "{why}");

    // Each host in its turn learns the new key, and hides by the old one.
    let prepared = format!("1 {NEW}\n{OLD}\n");
    first_agent.kill();
    let (mut first_agent, first, old) = start("first", &prepared);
    show(&first, &old, 100);
    show(&second, &old_too, 100);
    second_agent.kill();
    let (mut second_agent, second, old_too) = start("second", &prepared);
    show(&second, &old_too, 100);

    // Then each hides by the new one.
    let changed = format!("{OLD}\n1 {NEW}\n");
    first_agent.kill();
    let (mut first_agent, first, new) = start("first", &changed);
    show(&first, &new, 100);
    show(&second, &old_too, 100);
    second_agent.kill();
    let (mut second_agent, second, new_too) = start("second", &changed);
    show(&second, &new_too, 100);

    assert_eq!(shown.len(), 1200);
    for (image, number) in &shown {
        assert_eq!(new.reveal(image.as_bytes()), Ok(*number));
        assert_eq!(new_too.reveal(image.as_bytes()), Ok(*number));
    }
    let mut numbers: Vec<_> = shown.values().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 1200, "no number twice");

    // Somebody else has the old key, which the first host retires. Then no host reads its images, also the second one, whose file
    // does not say so.
    first_agent.kill();
    second_agent.kill();
    let config = directory.path("first.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replacen("\", \"1:", ":retired\", \"1:", 1)).unwrap();
    let options = ["--config", config.to_str().unwrap(), "--create"];
    let _first_agent = directory.agent("first", &options);
    let of_period = |digit: bool| shown.iter().find(|(image, _)| (image.len() == 7) == digit).unwrap();
    let (old_image, _) = of_period(false);
    let (new_image, number) = of_period(true);
    let is_refused = |series: &Hidden| series.reveal(old_image.as_bytes()).err().map(|error| error.to_string());
    let why = "the key without a period is retired in the store of invoices: take its line out of the key file";
    assert_eq!(until("the key is not retired", || is_refused(&new)), why);
    let (_second_agent, _, new_too) = start("second", &changed);
    assert_eq!(until("the other host does not know it", || is_refused(&new_too)), why);
    assert_eq!(new_too.reveal(new_image.as_bytes()), Ok(*number));
}
