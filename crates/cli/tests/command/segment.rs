//! Numbers of a segment, from the page that txid-agent makes.

use crate::{printed, refusal, txid};
use tempfile::TempDir;
use txid::segment::{SegmentNews, SegmentPage};

fn new(state: &str, count: &str) -> assert_cmd::Command {
    txid(&["new", "--format", "segment", "--state", state, "-n", count])
}

#[test]
fn numbers_go_on_from_one_run_to_the_next_until_they_are_used_up() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().canonicalize().unwrap().join("invoices.segment");
    let state = path.to_str().unwrap();
    let page = SegmentPage::open_or_make(&path).unwrap();
    page.publish(1042..1045);
    assert_eq!(printed(&mut new(state, "2")), "1042\n1043\n");
    page.publish(2000..2003);
    let relative = printed(new("invoices.segment", "3").current_dir(&directory));
    assert_eq!(relative, "1044\n2000\n2001\n", "over the end of a range");

    // The rest comes out, and why there is no more.
    page.set_contact(1_795_255_200_000);
    page.set_news(SegmentNews::WentDown);
    let assert = new(state, "5").assert().code(2);
    let output = assert.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2002\n");
    let said = String::from_utf8_lossy(&output.stderr);
    let why = "txid: the numbers of invoices are used up; the number in the store went down, as after a restored backup; raise it \
               with txid-agent raise-number\n";
    assert_eq!(said, why);
    page.publish(3000..3001);
    assert_eq!(printed(&mut new(state, "1")), "3000\n", "numbers again");
}

#[test]
fn four_at_a_time_take_no_number_twice() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().canonicalize().unwrap().join("invoices.segment");
    SegmentPage::open_or_make(&path).unwrap().publish(1..1_000_000);
    let state = path.to_str().unwrap();
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| printed(&mut new(state, "20000")))).collect();
        runs.into_iter()
            .flat_map(|run| run.join().unwrap().lines().map(|line| line.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=80_000).collect::<Vec<_>>());
}

#[test]
fn errors_say_what_is_wrong() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("invoices.segment");
    let path = missing.to_str().unwrap();
    let why = format!("txid: {path} does not exist; txid-agent makes it, so start that first\n");
    assert_eq!(refusal(&mut new(path, "1")), why);
    for (args, what) in [
        (
            &["new", "--format", "segment"][..],
            "--format segment needs --state: the path of the file that txid-agent keeps",
        ),
        (&["new", "--format", "segment", "--state", "x", "--node", "3"], "--node is for --format snowflake"),
        (
            &["new", "--format", "segment", "--state", "x", "--at", "now"],
            "--at: ids of this format carry no time, or only the current time",
        ),
    ] {
        assert_eq!(refusal(&mut txid(args)), format!("txid: {what}\n"));
    }
}
