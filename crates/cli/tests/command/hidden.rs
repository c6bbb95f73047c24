//! Numbers and their images, by a key in a file.

use crate::{printed, refusal, txid};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const KEY: &str = "2B7E151628AED2A6ABF7158809CF4F3C\n";

/// A directory with a file `key` that only its owner may read.
fn with_key(content: &str) -> (TempDir, String) {
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
    assert_eq!(printed(run("hide", &key, ten).arg("42")), "5761677444\n");
    assert_eq!(printed(run("reveal", &key, ten).arg("5761677444")), "42\n");
    assert_eq!(printed(run("hide", &key, ten).write_stdin("42\r\n7")).lines().next(), Some("5761677444"));
    let shown = printed(run("hide", &key, ten).args(["42", "9999999999"]));
    assert_eq!(printed(run("reveal", &key, ten).write_stdin(shown)), "42\n9999999999\n");
    let eight = &["--letters", "8", "--check"];
    let shown = printed(run("hide", &key, eight).arg("42"));
    assert_eq!(shown.len(), 10, "{shown}");
    assert_eq!(printed(run("reveal", &key, eight).arg(shown.trim().to_uppercase())), "42\n");
    assert_eq!(printed(run("hide", &key, ten).write_stdin("")), "");
}

#[test]
fn json_has_both() {
    let (_directory, key) = with_key(KEY);
    let json = &["--digits", "10", "--json"];
    assert_eq!(printed(run("hide", &key, json).arg("42")), "{\"number\":\"42\",\"shown\":\"5761677444\"}\n");
    assert_eq!(printed(run("reveal", &key, json).arg("5761677444")), "{\"number\":\"42\",\"shown\":\"5761677444\"}\n");
    let assert = run("reveal", &key, json).arg("7").assert().code(1);
    let line = "{\"shown\":\"7\",\"error\":\"10 characters, not 1\"}\n";
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), line);
}

#[test]
fn each_line_of_input_has_one_of_output() {
    let (_directory, key) = with_key(KEY);
    let wrong = ["-1", "+1", "1.0", "", " 1", "x", "18446744073709551616", "10000000000", "\u{1b}[m"];
    for wrong in wrong {
        let assert = run("hide", &key, &["--digits", "10"]).write_stdin(format!("42\n{wrong}\n42\n")).assert().code(1);
        assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), "5761677444\n\n5761677444\n", "{wrong:?}");
    }
    let assert = run("reveal", &key, &["--digits", "10"]).write_stdin("5761677444\n576167744x\n").assert().code(1);
    let output = assert.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n\n");
    let why = "txid: '576167744x': character 10 is 'x', which hidden numbers do not have\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), why);
}

#[test]
fn what_is_wrong_with_the_options_is_said() {
    let (directory, key) = with_key(KEY);
    let why = refusal(run("hide", &key, &["--digits", "20", "42"]).env("LC_ALL", "C"));
    assert_eq!(why, "txid: hidden numbers have 6 to 19 digits, not 20\n");
    assert!(refusal(&mut run("hide", &key, &["42"])).contains("--digits"));
    assert!(refusal(&mut run("hide", &key, &["--digits", "9", "--letters", "9", "42"])).contains("cannot be used"));
    std::fs::set_permissions(directory.path().join("key"), std::fs::Permissions::from_mode(0o640)).unwrap();
    for command in ["hide", "reveal"] {
        let why = refusal(&mut run(command, &key, &["--digits", "9", "4"]));
        assert!(why.starts_with("txid: others may read or change the key file "), "{why}");
    }
}

#[test]
fn a_key_is_made_and_told_by_its_check_value() {
    let key = printed(&mut txid(&["key"]));
    assert!(key.len() == 33 && key.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    assert_ne!(key, printed(&mut txid(&["key"])));
    let zeros = "0".repeat(32);
    let (_directory, file) = with_key(&format!("{zeros}\n1 {zeros}\n"));
    assert_eq!(printed(&mut txid(&["key", &file])), "66e94b 1:66e94b\n");
    assert!(refusal(&mut txid(&["key", "/none"])).contains("cannot open the key file /none"));
}

/// 10,000 numbers of all lengths, with names of many lengths and keys of all three. `make soak` has ten times as many.
#[test]
fn another_implementation_has_the_same_images() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ff1.py");
    let output = Command::new("python3").arg(program).arg(env!("CARGO_BIN_EXE_txid")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("images are the same\n"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
