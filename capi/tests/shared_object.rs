//! What users load: `libtxid.so` as a release builds it.

#![cfg(target_os = "linux")]

mod library;

use std::process::Command;

fn output_of(tool: &str, option: &str) -> String {
    let output = Command::new(tool).arg(option).arg("-W").arg(library::path()).output().unwrap();
    assert!(output.status.success(), "{tool} failed");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_exports_its_own_functions_only() {
    let symbols = output_of("readelf", "--dyn-syms");
    let exported: Vec<_> = symbols
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() == 8 && matches!(words[4], "GLOBAL" | "WEAK") && words[6] != "UND")
        .map(|words| words[7].to_string())
        .collect();
    assert!(exported.iter().any(|name| name == "txid_fill"), "{exported:?}");
    assert_eq!(exported.iter().filter(|name| !name.starts_with("txid_")).count(), 0, "{exported:?}");
}

#[test]
fn it_is_small_and_stripped() {
    let size = library::path().metadata().unwrap().len();
    assert!(size <= 400 * 1024, "{size} bytes");
    assert!(!output_of("readelf", "--sections").contains(".symtab"));
}

#[test]
fn it_stays_loaded() {
    let dynamic = output_of("readelf", "--dynamic");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}
