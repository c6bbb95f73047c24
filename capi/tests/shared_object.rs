//! Checks what users load: `libtxid.so` as a release builds it.

#![cfg(target_os = "linux")]

mod library;

use std::path::Path;
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
    // With Rust 1.85, the oldest supported version, the file is about 50 KB larger: its standard library is larger.
    let bound = if library::rust_minor() >= 95 { 450 } else { 510 } * 1024;
    let size = library::path().metadata().unwrap().len();
    assert!(size <= bound, "{size} bytes of at most {bound}");
    assert!(!output_of("readelf", "--sections").contains(".symtab"));
}

#[test]
fn it_stays_loaded() {
    let dynamic = output_of("readelf", "--dynamic");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn its_soname_has_the_version_of_the_interface() {
    let dynamic = output_of("readelf", "--dynamic");
    assert!(dynamic.contains("Library soname: [libtxid.so.2]"), "{dynamic}");
}

/// Loads the library into `true` after another one that has all of its symbols and comes first in symbol lookup, as in
/// nginx with two modules that both contain libtxid.
#[test]
fn it_calls_its_own_functions_where_another_copy_is_loaded_first() {
    let directory = std::env::temp_dir().join(format!("txid-copies-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let other = directory.join("other.so");
    std::fs::copy(library::path(), &other).unwrap();
    let preloaded = format!("{}:{}", other.display(), library::path().display());
    let environment = [("LD_PRELOAD", preloaded.as_str()), ("LD_DEBUG", "bindings"), ("LD_BIND_NOW", "1")];
    let output = Command::new("true").envs(environment).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    std::fs::remove_dir_all(directory).unwrap();

    let bound_to_the_system = format!("binding file {} [0] to", library::path().display());
    assert!(said.contains(&bound_to_the_system), "the library was not loaded: {said}");
    let bound: Vec<_> = said.lines().filter(|line| line.contains("symbol `txid_")).collect();
    assert!(bound.is_empty(), "{bound:?}");
}

#[test]
fn it_links_statically() {
    let directory = std::env::temp_dir().join(format!("txid-static-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let program = directory.join("now");
    let compiled = Command::new("cc")
        .arg(root.join("examples/c/now.c"))
        .arg("-I")
        .arg(root.join("include"))
        .arg(library::path().with_extension("a"))
        .args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(compiled.success());
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim().len(), 20);
}
