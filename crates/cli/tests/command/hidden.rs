//! Numbers and their images, by a key in a file.

use crate::{printed, refusal, txid};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use test_helpers::vectors::{bytes, each};
use txid::segment::SegmentPage;

pub const KEY: &str = "85962D72415D32DA4F2C574C02C44ED9\n";

/// A directory with a file `key` that only its owner may read.
pub fn with_key(content: &str) -> (TempDir, String) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("key");
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

fn run<'a>(command: &'a str, key: &'a str, more: &[&'a str]) -> assert_cmd::Command {
    txid(&[&[command, "--key", key, "--name", "orders"], more].concat())
}

#[test]
fn numbers_are_hidden_and_revealed() {
    let (_directory, key) = with_key(KEY);
    let ten = &["--digits", "10"];
    assert_eq!(printed(run("hide", &key, ten).arg("42")), "9328347165\n");
    assert_eq!(printed(run("reveal", &key, ten).arg("9328347165")), "42\n");
    assert_eq!(printed(run("hide", &key, ten).write_stdin("42\r\n7")).lines().next(), Some("9328347165"));
    let shown = printed(run("hide", &key, ten).args(["42", "9999999999"]));
    assert_eq!(printed(run("reveal", &key, ten).write_stdin(shown)), "42\n9999999999\n");
    let eight = &["--letters", "8", "--check"];
    let shown = printed(run("hide", &key, eight).arg("42"));
    assert_eq!(shown.len(), 10, "{shown}");
    assert_eq!(printed(run("reveal", &key, eight).arg(shown.trim().to_uppercase())), "42\n");
    assert_eq!(printed(run("hide", &key, ten).write_stdin("")), "");
    let why = "it is not a number of at most 64 bits in decimal digits";
    for (length, more) in [(60, ""), (61, "...")] {
        let said = refusal_of_one(run("hide", &key, ten).arg("x".repeat(length)));
        assert_eq!(said, format!("txid: '{}{more}': {why}\n", "x".repeat(60)));
    }
    let said = refusal_of_one(run("hide", &key, ten).write_stdin("\x1b[mÿ"));
    assert_eq!(said, format!("txid: '\\x1b[m\\xc3\\xbf': {why}\n"));
}

#[test]
fn json_has_both() {
    let (_directory, key) = with_key(KEY);
    let json = &["--digits", "10", "--json"];
    assert_eq!(printed(run("hide", &key, json).arg("42")), "{\"number\":\"42\",\"shown\":\"9328347165\"}\n");
    assert_eq!(printed(run("reveal", &key, json).arg("9328347165")), "{\"number\":\"42\",\"shown\":\"9328347165\"}\n");
    let assert = run("reveal", &key, json).arg("7").assert().code(1);
    let line = "{\"shown\":\"7\",\"error\":\"10 characters, not 1\"}\n";
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), line);
    let assert = run("hide", &key, json).arg("x").assert().code(1);
    let line = "{\"number\":\"x\",\"error\":\"it is not a number of at most 64 bits in decimal digits\"}\n";
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), line);
}

/// In a thread of its own, whose children inherit what is refused.
#[cfg(target_os = "linux")]
#[test]
fn a_key_that_may_be_swapped_out_is_said() {
    let (_directory, key) = with_key(KEY);
    test_helpers::attack::refuse(&[libc::SYS_mlock], libc::EPERM);
    let said = "txid: the system may write the key to swap space: mlock: Operation not permitted (os error 1)\n";
    run("hide", &key, &["--digits", "10", "42"]).assert().success().stdout("9328347165\n").stderr(said);
}

#[test]
fn uuids_are_hidden_and_revealed() {
    let (_directory, key) = with_key(KEY);
    let (id, image) = ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "16778b25-a699-4d18-952b-2e2f59afc912");
    assert_eq!(printed(run("hide", &key, &["--uuid"]).arg(id)), format!("{image}\n"));
    assert_eq!(printed(run("reveal", &key, &["--uuid"]).arg(image.to_uppercase())), format!("{id}\n"));
    let json = format!("{{\"uuid\":\"{id}\",\"shown\":\"{image}\"}}\n");
    assert_eq!(printed(run("reveal", &key, &["--uuid", "--json"]).arg(image)), json);
    assert_eq!(printed(run("hide", &key, &["--uuid", "--json"]).arg(id)), json);
    let why = refusal_of_one(run("hide", &key, &["--uuid"]).arg(image));
    assert_eq!(why, format!("txid: '{image}': it is not a UUID of version 7, and no other is hidden\n"));
}

/// What is said of a text without an image.
fn refusal_of_one(command: &mut assert_cmd::Command) -> String {
    let assert = command.assert().code(1);
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

/// With the key of another host, it would be another number.
#[test]
fn an_image_of_a_segment_is_not_revealed_by_another_key() {
    let (directory, key) = with_key(KEY);
    let state = directory.path().join("orders.segment");
    let page = SegmentPage::open_or_make(&state).unwrap();
    let ten = ["--digits", "10", "--state", state.to_str().unwrap()];
    assert_eq!(printed(run("reveal", &key, &ten).arg("9328347165")), "42\n");
    page.set_key_check("000000-00000000".parse().unwrap());
    let why = "numbers of orders are hidden by the key 000000-00000000 in its store, and the key here is 591a62-c3bd51d3: give each host the same key file";
    assert_eq!(refusal_of_one(run("reveal", &key, &ten).arg("9328347165")), format!("txid: '9328347165': {why}\n"));
    assert_eq!(refusal_of_one(run("hide", &key, &ten).arg("42")), format!("txid: '42': {why}\n"));
    page.set_key_check("591a62-c3bd51d3".parse().unwrap());
    assert_eq!(printed(run("hide", &key, &ten).arg("42")), "9328347165\n");
}

#[test]
fn each_line_of_input_has_one_of_output() {
    let (_directory, key) = with_key(KEY);
    let wrong = ["-1", "+1", "1.0", "", " 1", "1 ", "1\r\r", "x", "18446744073709551616", "10000000000", "\u{1b}[m"];
    for wrong in wrong {
        let assert = run("hide", &key, &["--digits", "10"]).write_stdin(format!("42\n{wrong}\n42\n")).assert().code(1);
        assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), "9328347165\n\n9328347165\n", "{wrong:?}");
    }
    let assert = run("reveal", &key, &["--digits", "10"]).write_stdin("9328347165\n932834716x\n").assert().code(1);
    let output = assert.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n\n");
    let why = "txid: '932834716x': character 10 is 'x', which hidden numbers do not have\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), why);
}

#[test]
fn what_is_wrong_with_the_options_is_said() {
    let (directory, key) = with_key(KEY);
    let why = refusal(run("hide", &key, &["--digits", "20", "42"]).env("LC_ALL", "C"));
    assert_eq!(why, "txid: hidden numbers have 6 to 19 digits, not 20\n");
    let missing = "txid: --digits, --letters or --uuid is missing: how images look\n";
    assert_eq!(refusal(&mut run("hide", &key, &["42"])), missing);
    let none = refusal(&mut run("hide", &key, &["--digits", "9", "--state", "/none", "42"]));
    assert_eq!(none, "txid: /none does not exist; txid-agent makes it, so start that first\n");
    std::fs::set_permissions(directory.path().join("key"), std::fs::Permissions::from_mode(0o640)).unwrap();
    for command in ["hide", "reveal"] {
        let why = refusal(&mut run(command, &key, &["--digits", "9", "4"]));
        assert!(why.starts_with("txid: others may read or change the key file "), "{why}");
    }
}

#[test]
fn a_key_is_made_and_told_by_its_check_value() {
    let key = printed(&mut txid(&["key", "new"]));
    assert!(key.len() == 33 && key.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    assert_ne!(key, printed(&mut txid(&["key", "new"])));
    let (_directory, file) = with_key(&format!("{KEY}1 16251b6b8cf1e3f1279bbbcc8c163db7667fbdbf4108b2f8\n"));
    let orders = ["key", "check", &file, "--name", "orders"];
    let check = |more: &[&str]| printed(&mut txid(&[&orders, more].concat()));
    let checks = check(&["--digits", "10"]);
    assert!(checks.starts_with("591a62-c3bd51d3 1:9d6509-") && checks.len() == 34, "{checks}");
    assert!(check(&["--digits", "10", "--check"]).starts_with("591a62-f74eb1d1 1:9d6509-"));
    assert_eq!(refusal(&mut txid(&orders)), "txid: --digits, --letters or --uuid is missing: how images look\n");
    let none = refusal(&mut txid(&["key", "check", "/none", "--name", "orders", "--digits", "10"]));
    let why = "cannot open the key file /none: No such file or directory (os error 2); `txid key new` makes a key";
    assert_eq!(none, format!("txid: {why}\n"));
}

#[test]
fn images_and_check_values_are_those_of_the_vectors() {
    each("hidden", "valid", |case| {
        let lines: Vec<_> = case["keys"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let (_directory, key) = with_key(&(lines.join("\n") + "\n"));
        let options =
            case["options"].as_array().unwrap().iter().map(|option| String::from_utf8(bytes(option)).unwrap());
        let options: Vec<_> = options.map(|option| format!("--{option}")).collect();
        let command = |name: &[&str], more: &[&str]| {
            let mut command = txid(name);
            let output = command.args(more).args(&options).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim_end().to_string()
        };
        let text = |name: &str| case[name].as_str().unwrap();
        let checks = command(&["key", "check"], &[&key]);
        let found = json!({
            "shown": command(&["hide"], &["--key", &key, text("inside")]),
            "inside": command(&["reveal"], &["--key", &key, text("shown")]),
            "check_values": checks.split(' ').collect::<Vec<_>>(),
        });
        let is_expected = |name: &str| found[name] == case[name];
        (!["shown", "inside", "check_values"].into_iter().all(is_expected)).then(|| found.to_string())
    });
}

/// 10,000 numbers of all lengths and 10,000 UUIDs, with names of many lengths and keys of all three. `make soak` has ten times
/// as many.
#[test]
fn another_implementation_has_the_same_images() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ff1.py");
    // `make soak` compares two hundred times as many.
    let output = Command::new("python3").arg(program).args([crate::program(), "500"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("of UUIDs are the same\n"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
