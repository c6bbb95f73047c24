//! What is written by `make headers` is what the sources say: the headers in `include/` and `lua/resty/txid/cdefs.lua` of
//! crates/capi, and
//! all that is written from the table of options.

mod options;

use std::collections::BTreeSet;
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

/// What only nginx's modules and the Lua modules use: layouts of nginx's and of lua-nginx's structs, and of what they keep.
const INTERNAL: &[&str] = &[
    "TXID_B3_MAX_LEN",
    "TXID_IDS",
    "TXID_PLACES",
    "txid_decide",
    "txid_decision",
    "txid_policy_header",
    "txid_request",
    "txid_request_find",
    "txid_request_trust",
    "txid_set_header",
    "txid_share",
    "txid_wants",
    "TXID_CHANGED_TEXT_LEN",
    "TXID_INTERNAL_VERSION",
    "TXID_SPAN_HEADER_MAX_LEN",
    "TXID_SPAN_ID_LEN",
    "TXID_SPAN_LINE_MAX_LEN",
    "TXID_TIME_LEN",
    "TXID_TRACEPARENT_LEN",
    "TXID_TRACE_HEADER_MAX_LEN",
    "TXID_TRACE_ID_LEN",
    "txid_add_cleanup",
    "txid_change_headers",
    "txid_attribute",
    "txid_changed_header",
    "txid_changed_headers",
    "txid_check_header_name",
    "txid_field",
    "txid_internal_version",
    "txid_kept",
    "txid_kept_of",
    "txid_kept_set_id",
    "txid_kept_span_place",
    "txid_kept_start",
    "txid_maker_named",
    "txid_peer",
    "txid_policy_inherit",
    "txid_policy_terms",
    "txid_generator",
    "txid_generator_close",
    "txid_generator_fill",
    "txid_generator_open",
    "txid_span",
    "txid_span_header",
    "txid_span_kind",
    "txid_span_line",
    "txid_span_of",
    "txid_span_start",
    "txid_span_texts",
    "txid_terms",
    "txid_trace_header",
    "txid_time_in",
    "txid_times",
    "txid_times_close",
    "txid_times_open",
];

fn internal() -> Vec<String> {
    INTERNAL.iter().map(|name| name.to_string()).collect()
}

/// The names that a header defines.
fn defined(header: &str) -> BTreeSet<String> {
    let is_word = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
    let mut defined = BTreeSet::new();
    for line in header.lines().filter(|line| !line.starts_with([' ', '/'])) {
        let name = if let Some(definition) = line.strip_prefix("#define ") {
            definition.split_once(' ').map(|(name, _)| name)
        } else if line.starts_with(['}', 't']) && line.ends_with(';') && !line.contains('(') {
            line.trim_end_matches(';').rsplit(' ').next()
        } else {
            line.split_once('(').map(|(begin, rest)| match rest.strip_prefix('*') {
                Some(pointer) if line.starts_with("typedef") => pointer.split_once(')').unwrap().0,
                _ => begin,
            })
        };
        let name = name.and_then(|name| name.rsplit(|byte| !is_word(byte)).next());
        defined.extend(name.filter(|name| name.to_ascii_lowercase().starts_with("txid_")).map(str::to_string));
    }
    defined
}

/// A header's first comment says in terms of C what a caller must guarantee.
fn in_terms_of_c(header: &str) -> String {
    header.replace(" # Safety\n", " Safety:\n")
}

fn public_header() -> String {
    in_terms_of_c(&generate(|config| config.export.exclude = internal()))
}

#[test]
fn the_header_is_fresh() {
    let header = public_header();
    assert_checked_in("include/txid.h", &header);
    assert!(!header.contains("TXID_NGINX"), "what only nginx's modules have is internal");
}

#[test]
fn the_internal_header_is_fresh() {
    let public = defined(&public_header());
    let header = generate(|config| {
        config.export.exclude = public.iter().cloned().collect();
        config.include_guard = Some("TXID_INTERNAL_H".to_string());
        config.sys_includes.clear();
        config.includes = vec!["txid.h".to_string()];
        config.header = Some(INTERNAL_COMMENT.to_string());
    });
    assert_checked_in("include/txid-internal.h", &in_terms_of_c(&header));
    let here: BTreeSet<_> = internal().into_iter().collect();
    assert_eq!(defined(&header).difference(&public).cloned().collect::<BTreeSet<_>>(), here);
}

const INTERNAL_COMMENT: &str = "
/*
 * What nginx's modules and the Lua modules of this release use besides txid.h. It is not installed, and may change with each
 * release. Names after TXID_NGINX are only in the library that nginx's modules are linked with.
 *
 * Generated from crates/capi/ by `make headers`: do not edit.
 */";

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
        "-- What include/txid.h and txid-internal.h declare. Written by `make headers`: do not edit.\n\n\
         require(\"ffi\").cdef[[\n{declarations}]]\n\n\nreturn {{\n{constants}}}\n"
    );
    assert_checked_in("lua/resty/txid/cdefs.lua", &cdefs);
}
