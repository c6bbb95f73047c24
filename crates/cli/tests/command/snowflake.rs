//! 64-bit ids, which need a node and a state, and are read with a layout.

use crate::{printed, refusal, txid};
use tempfile::TempDir;
use txid::segment::SegmentPage;
use txid::snowflake::{Layout, LeasePage};

const SAMPLE: &str = "1160090501362225152";

fn new(state: &str, more: &[&str]) -> assert_cmd::Command {
    txid(&[&["new", "--format", "snowflake", "--node", "3", "--state", state], more].concat())
}

/// The ids of two runs, of which each is greater than the one before.
fn two_thousand_ids(new: impl Fn(&[&str]) -> assert_cmd::Command) -> Vec<u64> {
    let text = [printed(&mut new(&["-n", "1000"])), printed(&mut new(&["-n", "1000"]))].concat();
    let ids: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(ids.len(), 2000);
    assert!(ids.is_sorted_by(|one, other| one < other));
    ids
}

#[test]
fn ids_go_up_from_one_run_to_the_next() {
    let directory = TempDir::new().unwrap();
    let state = directory.path().canonicalize().unwrap().join("made/orders");
    let state = state.to_str().unwrap();
    two_thousand_ids(|more| new(state, more));

    let none = refusal(&mut new("/proc/none", &[]));
    assert_eq!(none, "txid: cannot make /proc/none: No such file or directory (os error 2)\n");
    // A relative one is of the working directory.
    let mut nowhere = assert_cmd::Command::new("sh");
    nowhere.args(["-c", "rmdir \"$PWD\" && exec \"$0\" new --format snowflake --node 3 --state x"]);
    nowhere.arg(crate::program()).current_dir(TempDir::new().unwrap().keep());
    assert_eq!(refusal(&mut nowhere), "txid: --state: No such file or directory (os error 2)\n");
    let other_layout = refusal(&mut new(state, &["--layout", "sonyflake"]));
    assert!(other_layout.contains("belongs to the layout time_bits=41"), "{other_layout}");
    let no_layout = refusal(&mut new(state, &["--layout", "twitter"]));
    assert!(no_layout.contains("'twitter' is not one of snowflake, sonyflake, uid, leaf, snowflake53"), "{no_layout}");
}

#[test]
fn a_leased_node_is_taken_from_the_agents_file() {
    let directory = TempDir::new().unwrap();
    let state = directory.path().canonicalize().unwrap().join("run/orders");
    let path = state.to_str().unwrap();
    let leased =
        |more: &[&str]| txid(&[&["new", "--format", "snowflake", "--node", "lease", "--state", path], more].concat());
    let none = refusal(&mut leased(&[]));
    assert_eq!(none, format!("txid: {path} does not exist; txid-agent makes it, so start that first, with --node\n"));

    let page = LeasePage::open_or_make(&state, &Layout::SNOWFLAKE).unwrap();
    let unleased = refusal(&mut leased(&[]));
    assert_eq!(unleased, "txid: orders has no lease; txid-agent has not reached its store yet\n");
    let now_ms = txid::system_ms();
    page.open(17, now_ms);
    page.set_limit(17, now_ms + 60_000);
    let ids = two_thousand_ids(leased);
    assert!(ids.iter().all(|&id| Layout::SNOWFLAKE.decode(id).unwrap().node == 17));
    let other_layout = refusal(&mut leased(&["--layout", "sonyflake"]));
    assert!(other_layout.contains("belongs to the layout time_bits=41"), "{other_layout}");
    page.close();
    assert!(refusal(&mut leased(&[])).contains("orders has no lease"));
}

/// Nothing then shows which boot this is, and a page of an earlier one has ids that were used.
#[cfg(target_os = "linux")]
#[test]
fn without_proc_a_page_of_the_agent_is_refused() {
    let without_proc = |args: &[&str]| {
        let mut command = assert_cmd::Command::new("unshare");
        command.args(["-rm", "sh", "-c", "mount -t tmpfs tmpfs /proc && exec \"$@\"", "sh"]).args(args);
        command
    };
    if !without_proc(&["true"]).output().is_ok_and(|output| output.status.success()) {
        return test_helpers::skipped("this user may not mount, or unshare is missing");
    }
    let directory = TempDir::new().unwrap();
    let [lease, segment] = ["orders", "orders.segment"].map(|name| directory.path().canonicalize().unwrap().join(name));
    let page = LeasePage::open_or_make(&lease, &Layout::SNOWFLAKE).unwrap();
    page.open(17, txid::system_ms());
    page.set_limit(17, txid::system_ms() + 60_000);
    SegmentPage::open_or_make(&segment).unwrap().publish(1..9);
    for (path, options) in [(lease, &["snowflake", "--node", "lease"][..]), (segment, &["segment"])] {
        let path = path.to_str().unwrap();
        let new = [&["new", "--state", path, "--format"], options].concat();
        printed(&mut txid(&new));
        let said = refusal(&mut without_proc(&[&[crate::program()], &*new].concat()));
        let why = "because /proc/sys/kernel/random/boot_id cannot be read; mount /proc here";
        assert!(said.contains(&format!("cannot tell whether {path} is from this boot, {why}")), "{said}");
    }
}

#[test]
fn missing_and_conflicting_options_are_reported() {
    for (args, what) in [
        (
            &["new", "--format", "snowflake"][..],
            "--format snowflake needs --node: a number, env:NAME, ip, hostname, or lease for that of txid-agent",
        ),
        (
            &["new", "--format", "snowflake", "--node", "3"],
            "--format snowflake needs --state: the path of a file for all processes with this node",
        ),
        (&["new", "--node", "3"], "--node is for --format snowflake"),
        (&["new", "--state", "x"], "--state is for --format snowflake or segment"),
        (&["new", "--layout", "x"], "--layout is for --format snowflake"),
        (&["new", "--length", "9"], "--length is for --format nanoid"),
        (&["new", "--alphabet", "ab"], "--alphabet is for --format nanoid"),
        (&["new", "--prefix", "x"], "--prefix is for --format typeid"),
        (&["new", "--format", "nanoid(prefix=x)"], "--prefix is for --format typeid"),
        (
            &["new", "--format", "snowflake", "--node", "1024", "--state", "x"],
            "node '1024' is not an integer from 0 to 1023, the layout's range",
        ),
        (
            &["new", "--format", "snowflake", "--node", "3", "--state", "x", "--at", "now"],
            "--at: ids of this format carry no time, or only the current time",
        ),
        (
            &["new", "--format", "uuid_v4", "--at", "now"],
            "--at: ids of this format carry no time, or only the current time",
        ),
    ] {
        assert_eq!(refusal(&mut txid(args)), format!("txid: {what}\n"));
    }
}

#[test]
fn an_id_is_read_by_its_layout() {
    let ms_and_node = |args: &[&str]| {
        let json: serde_json::Value =
            serde_json::from_str(&printed(&mut txid(&[&["inspect", "--json"], args].concat()))).unwrap();
        (json["ms"].as_i64().unwrap(), json["node"].as_str().unwrap().to_string(), json["format"].clone())
    };
    assert_eq!(ms_and_node(&["--layout", "snowflake", SAMPLE]), (1_565_422_103_621, "1".into(), "snowflake".into()));
    assert_eq!(ms_and_node(&["--layout", "sonyflake", SAMPLE]).0, 2_100_997_422_410);
    assert_eq!(ms_and_node(&["--epoch", "2015-01-01", "175928847299117063"]).0, 1_462_015_105_796);
    let custom = "time_bits=42,sequence_bits=8,node_bits=4,epoch=2020-01-01";
    assert_eq!(ms_and_node(&["--layout", custom, "12291"]), (1_577_836_800_003, "3".into(), "snowflake".into()));
}

/// A layout whose 2^30 seconds end `days` from now.
fn layout_with_days_left(days: i64) -> String {
    let epoch_ms = txid::system_ms() + days * 86_400_000 - (1_i64 << 30) * 1000;
    format!("time_bits=30,node_bits=10,sequence_bits=12,unit_ms=1000,epoch={epoch_ms}")
}

#[test]
fn a_layout_that_ends_within_a_year_is_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    for (days, warned) in [(366, false), (364, true)] {
        let state = directory.path().join(days.to_string());
        let assert = new(state.to_str().unwrap(), &["--layout", &layout_with_days_left(days)]).assert().success();
        let output = assert.get_output();
        assert!(!output.stdout.is_empty());
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(said.starts_with("txid: warning: the layout ends at 20"), warned, "{said}");
        assert_eq!(said.is_empty(), !warned, "{said}");
    }
    let said = refusal(&mut new(directory.path().join("uid").to_str().unwrap(), &["--layout", "uid"]));
    assert!(said.contains("warning: the layout ended at 2024-11-20T13:24:15.999Z, and"), "{said}");
}

#[test]
fn inspect_shows_the_end_of_a_given_layout() {
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&printed(&mut txid(&[&["inspect", "--json"], args].concat()))).unwrap()
    };
    for (layout, end) in [
        ("snowflake", "2080-07-10T17:30:30.208Z"),
        ("snowflake53", "2102-02-08T13:44:29.439Z"),
        ("time_bits=62,node_bits=0,sequence_bits=1", "4611686018427387903"),
    ] {
        let found = json(&["--layout", layout, "1210643906582419"]);
        let reading = if found["format"] == "snowflake" { &found } else { &found["or_else"][0] };
        assert_eq!(reading["layout_ends"], end);
        if reading != &found {
            continue;
        }
        let shown = printed(&mut txid(&["inspect", "--layout", layout, "1210643906582419"]));
        assert!(shown.contains(&format!("\n  layout ends {end}\n")), "{shown}");
    }
    // Which layout it has is then only a guess; and other formats have none.
    assert!(json(&[SAMPLE])["layout_ends"].is_null());
    assert!(json(&["--layout", "snowflake", "b2fr5nvqg00000000000"])["layout_ends"].is_null());
}

#[test]
fn few_digits_are_an_id_only_with_a_layout() {
    let said = txid(&["inspect", "12291"]).assert().code(1).stdout("").get_output().stderr.clone();
    assert!(String::from_utf8(said).unwrap().starts_with("txid: '12291': not an id of a known format (5 characters)"));
    let said = txid(&["inspect", "9999999999999999999"]).assert().code(1).stdout("").get_output().stderr.clone();
    assert_eq!(
        String::from_utf8(said).unwrap(),
        "txid: '9999999999999999999': its value has more bits than the layout\n"
    );
}
