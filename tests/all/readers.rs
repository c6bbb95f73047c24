//! readers/js reads tests/vectors/ in Node, and readers/python in Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn in_tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn read(path: &str) -> String {
    fs::read_to_string(in_tree(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The output of the first of these programs that there is. Without any, the test passes, and says that it was skipped.
pub fn run(names: &[&str], args: &[&str]) -> Option<Output> {
    let output = names.iter().find_map(|name| Command::new(name).args(args).current_dir(in_tree("")).output().ok());
    if output.is_none() {
        test_helpers::skipped(format_args!("there is no {}", names.join(" and no ")));
    }
    output
}

/// They know what the table says, and nothing of a format.
#[test]
fn the_readers_are_short_and_name_no_format() {
    for (path, most) in [("readers/js/txid.js", 412), ("readers/python/txid_reader.py", 271)] {
        let text = read(path);
        let lines = text.lines().count();
        assert!(lines <= most, "{path}: {lines} lines");
        // The name of a rule, and that of a way to show a field.
        let names =
            txid::formats::ALL.iter().copied().map(|it| it.name).filter(|it| !["traceparent", "uuid"].contains(it));
        let named: Vec<_> = names.filter(|name| text.contains(&format!("\"{name}\""))).collect();
        assert!(named.is_empty(), "{path}: {named:?}");
    }
}

#[test]
fn the_vectors_in_python() {
    if let Some(output) = run(&["python3"], &["-B", "tests/python/vectors.py"]) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_vectors_in_node() {
    if let Some(output) = run(&["node", "nodejs"], &["tests/web/node.mjs"]) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
}
