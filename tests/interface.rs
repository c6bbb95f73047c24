//! `include/txid.h` and the cdefs of `lua/resty/txid/lib.lua` say what `src/ffi.rs` says.

use std::fs;
use std::path::PathBuf;

const BEGIN: &str = "-- generated from src/ffi.rs by `make headers`: begin\n";
const END: &str = "-- generated: end\n";

fn in_tree(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares `fresh` with the file at `path`; with `TXID_BLESS` set it writes the file instead.
fn assert_checked_in(path: &str, fresh: &str) {
    if std::env::var_os("TXID_BLESS").is_some() {
        fs::write(in_tree(path), fresh).unwrap();
    }
    let checked_in = fs::read_to_string(in_tree(path)).unwrap_or_default();
    assert!(checked_in == fresh, "{path} is not what src/ffi.rs says: run `make headers` and commit the result");
}

fn generate(change: impl FnOnce(&mut cbindgen::Config)) -> String {
    let mut config = cbindgen::Config::from_file(in_tree("cbindgen.toml")).unwrap();
    change(&mut config);
    let mut text = Vec::new();
    cbindgen::Builder::new().with_src(in_tree("src/ffi.rs")).with_config(config).generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_fresh() {
    // What a Rust caller has to promise is said in words of C by the header's first comment.
    let header = generate(|_| {}).replace(" # Safety\n", " Safety:\n");
    assert_checked_in("include/txid.h", &header);
}

/// The name and value of a `#define` or of one of an enum's members.
fn constant(line: &str) -> Option<(&str, &str)> {
    match line.strip_prefix("#define ") {
        Some(definition) => definition.split_once(' '),
        None => line.trim().strip_suffix(',')?.split_once(" = "),
    }
}

#[test]
fn the_cdefs_are_fresh() {
    let bare = generate(|config| {
        config.header = None;
        config.include_guard = None;
        config.sys_includes.clear();
        config.cpp_compat = false;
        config.documentation = false;
    });
    // LuaJIT's parser knows no #define, and an enum in a cdef could not be declared twice: constants become Lua's.
    let lines = || bare.lines().filter(|line| !line.is_empty());
    let constants = lines()
        .filter_map(constant)
        .map(|(name, value)| format!("    {} = {value},\n", name.trim_start_matches("TXID_")));
    let functions: Vec<_> = lines()
        .filter(|line| constant(line).is_none() && !line.starts_with("typedef enum") && !line.starts_with('}'))
        .collect();
    let generated =
        format!("ffi.cdef[[\n{}\n]]\n\nlocal _M = {{\n{}}}\n", functions.join("\n"), constants.collect::<String>());

    let path = "lua/resty/txid/lib.lua";
    let lua = fs::read_to_string(in_tree(path)).unwrap();
    let (before, rest) = lua.split_once(BEGIN).expect("lib.lua has a line that begins the generated part");
    let (_, after) = rest.split_once(END).expect("lib.lua has a line that ends the generated part");
    assert_checked_in(path, &format!("{before}{BEGIN}{generated}{END}{after}"));
}
