//! What is written by `make headers` is what the sources say: `include/txid.h` and `lua/resty/txid/cdefs.lua` of crates/capi, and
//! all that is written from the table of options.

mod options;

use std::fs;
use std::path::PathBuf;

fn in_tree(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares `fresh` with the file at `path`; with `TXID_BLESS` set it writes the file instead.
fn assert_checked_in(path: &str, fresh: &str) {
    if std::env::var_os("TXID_BLESS").is_some() {
        fs::write(in_tree(path), fresh).unwrap();
    }
    let checked_in = fs::read_to_string(in_tree(path)).unwrap_or_default();
    assert!(checked_in == fresh, "{path} is not what the sources say: run `make headers` and commit the result");
}

fn generate(change: impl FnOnce(&mut cbindgen::Config)) -> String {
    let mut config = cbindgen::Config::from_file(in_tree("crates/capi/cbindgen.toml")).unwrap();
    change(&mut config);
    let mut text = Vec::new();
    let crate_root = in_tree("crates/capi/src/lib.rs");
    cbindgen::Builder::new().with_src(crate_root).with_config(config).generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_fresh() {
    // The header's first comment says in terms of C what a caller must guarantee.
    let header = generate(|_| {}).replace(" # Safety\n", " Safety:\n");
    assert_checked_in("include/txid.h", &header);
}

/// Splits a bare header into what LuaJIT can parse: its declarations, and its constants with names and values.
///
/// LuaJIT's parser does not support `#define`, and an enum in a cdef could not be declared twice: these become Lua
/// values.
fn declarations_and_constants(header: &str) -> (String, Vec<(&str, &str)>) {
    let (mut declarations, mut constants, mut is_in_enum) = (String::new(), Vec::new(), false);
    let mut is_for_nginx = false;
    for line in header.lines().filter(|line| !line.is_empty()) {
        // libtxid.so does not have it.
        if line == "#if defined(TXID_NGINX)" {
            is_for_nginx = true;
        } else if line == "#endif" {
            is_for_nginx = false;
        } else if is_for_nginx {
        } else if let Some(definition) = line.strip_prefix("#define ") {
            constants.extend(definition.split_once(' '));
        } else if line.starts_with("typedef enum") {
            is_in_enum = true;
        } else if is_in_enum {
            constants.extend(line.trim().trim_end_matches(',').split_once(" = "));
            is_in_enum = !line.starts_with('}');
        } else {
            declarations.push_str(line);
            declarations.push('\n');
        }
    }
    for (name, value) in &constants {
        declarations = declarations.replace(&format!("[{name}]"), &format!("[{value}]"));
    }
    (declarations, constants)
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
    let (declarations, constants) = declarations_and_constants(&bare);
    let constants: String = constants
        .iter()
        .map(|(name, value)| format!("    {} = {value},\n", name.trim_start_matches("TXID_")))
        .collect();
    let cdefs = format!(
        "-- What include/txid.h declares. Written by `make headers`: do not edit.\n\n\
         require(\"ffi\").cdef[[\n{declarations}]]\n\n\nreturn {{\n{constants}}}\n"
    );
    assert_checked_in("lua/resty/txid/cdefs.lua", &cdefs);
}
