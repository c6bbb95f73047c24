//! `tests/surface.txt` lists the names that others build on: the functions and constants of C, the enums of the Rust crate, the Lua
//! modules' functions, the directives, the options of a policy and those of the commands. docs/stability.md says what is promised of
//! them. After a change that is meant: `TXID_BLESS=1 cargo test --test all surface`.

use clap::CommandFactory;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use txid::request::PolicyOption;

#[allow(dead_code)]
#[path = "../../agent/src/args.rs"]
mod agent;

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The words that begin with `prefix`, each with the character that follows it.
fn words<'a>(text: &'a str, prefix: &str) -> Vec<(&'a str, Option<char>)> {
    let is_word = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
    let places = text.match_indices(prefix).filter(|(at, _)| !text[..*at].ends_with(is_word));
    places
        .map(|(at, _)| {
            let rest = &text[at..];
            let end = rest.find(|byte| !is_word(byte)).unwrap_or(rest.len());
            (&rest[..end], rest[end..].chars().next())
        })
        .collect()
}

/// The lines of a header that are no comments.
fn code(header: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with(['*', '/']);
    header.lines().filter(is_code).map(|line| format!("{line}\n")).collect()
}

fn c_names() -> BTreeSet<String> {
    let header = code(&read("include/txid.h"));
    let functions = words(&header, "txid_").into_iter().filter(|(_, next)| *next == Some('('));
    let functions = functions.map(|(name, _)| format!("C        {name}()"));
    let constants = words(&header, "TXID_").into_iter().filter(|(name, _)| *name != "TXID_H");
    functions.chain(constants.map(|(name, _)| format!("C        {name}"))).collect()
}

/// The functions of txid.h: the type of their result, their name, and their comment.
fn functions(header: &str) -> Vec<(&str, &str, &str)> {
    fn function(item: &str) -> Option<(&str, &str, &str)> {
        let last = item.rfind("///")?;
        let (comment, rest) = item.split_at(last + item[last..].find('\n')? + 1);
        let (result, name) = rest.split_once('(')?.0.rsplit_once(' ')?;
        (!result.contains(['{', ';', '#'])).then_some((result, name.trim_start_matches('*'), comment))
    }
    header.split("\n\n").filter_map(function).collect()
}

/// As the comment at the head of txid.h has it.
#[test]
fn functions_that_can_fail_return_their_error() {
    let header = read("include/txid.h");
    let functions = functions(&header);
    assert!(functions.len() > 40, "{functions:?}");
    for (result, name, comment) in functions {
        let is_never_negative = ["txid_clock_ms", "txid_clock_coarse_ms"].contains(&name);
        let may_be_an_error = ["int32_t", "int64_t"].contains(&result) && !is_never_negative;
        let says_so = comment.contains("txid_error") && name != "txid_strerror";
        assert_eq!(may_be_an_error, says_so, "{result} {name}: {comment}");
    }
}

fn files_below(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, files) } else { files.push(path) }
    }
}

/// The public enums, by the module whose directory they are in. Keys are passed on by `hidden`.
fn enums() -> BTreeSet<String> {
    let mut files = vec![PathBuf::from("crates/keyed/src/file.rs")];
    files_below(Path::new("src"), &mut files);
    let mut enums = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim_start).collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = line.strip_prefix("pub enum ").and_then(|rest| rest.split([' ', '<']).next()) else {
                continue;
            };
            let mut attributes = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
            let may_grow = if attributes.any(|line| *line == "#[non_exhaustive]") { ", non-exhaustive" } else { "" };
            let module = file.components().nth(1).unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
            let module = if module == "keyed" { "hidden" } else { module };
            enums.insert(format!("Rust     {module} {name}{may_grow}"));
        }
    }
    enums
}

/// A line for a command and for each below it, with its arguments.
fn commands(command: clap::Command, of: &str, lines: &mut BTreeSet<String>) {
    let name = format!("{of} {}", command.get_name());
    let words = command.get_arguments().map(|it| match (it.get_long(), it.get_short()) {
        (Some(long), Some(short)) => format!(" --{long},-{short}"),
        (Some(long), None) => format!(" --{long}"),
        _ => format!(" {}", it.get_id().as_str().to_uppercase()),
    });
    let words: BTreeSet<_> = words.collect();
    lines.insert(format!("command {name}{}", Vec::from_iter(words).concat()));
    for below in command.get_subcommands() {
        commands(below.clone(), &name, lines);
    }
}

/// The modules that docs/lua.md and docs/request.md show.
const MODULES: [&str; 9] = ["codec", "hidden", "inspect", "maker", "request", "segment", "snowflake", "trace", "uuid"];

fn lua_names() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["Lua      resty.txid()".to_string()]);
    for module in MODULES {
        let text = read(&format!("lua/resty/txid/{module}.lua"));
        for line in text.lines().map(str::trim_start) {
            let name = match line.strip_prefix("function ").and_then(|rest| rest.split_once('(')) {
                Some((name, _)) => name,
                None => match line.split_once(" = ") {
                    Some((name, _)) if name.starts_with("_M.") => name,
                    _ => continue,
                },
            };
            let Some((owner, name)) = name.split_once('.') else { continue };
            let owner = match owner {
                "_M" => format!("{module}."),
                "methods" => format!("{module}:"),
                _ => format!("{module}.{owner}."),
            };
            names.insert(format!("Lua      resty.txid.{owner}{name}"));
        }
    }
    names
}

fn directives() -> BTreeSet<String> {
    let mut directives = BTreeSet::new();
    for (kind, path) in [("http", "nginx/ngx_http_txid_module.c"), ("stream", "nginx/ngx_stream_txid_module.c")] {
        // Both have the ones of ngx_txid.h.
        let text = read(path) + &read("nginx/ngx_txid.h");
        let is_command = |name: &str| {
            text.contains(&format!("{{ ngx_string(\"{name}\")"))
                || text.contains(&format!("ngx_txid_command(\"{name}\""))
        };
        let found = words(&text, "txid_").into_iter().filter(|(name, _)| is_command(name));
        directives.extend(found.map(|(name, _)| format!("{kind:8} {name}")));
    }
    let options = PolicyOption::ALL.iter().filter(|option| option.is_directive);
    directives.extend(options.map(|option| format!("http     txid_{} {}", option.name, option.syntax)));
    directives
}

#[test]
fn nothing_that_others_build_on_has_changed() {
    let options = PolicyOption::ALL.iter().map(|option| format!("option   {} = {}", option.name, option.in_lua));
    let mut all: BTreeSet<_> = c_names().into_iter().chain(lua_names()).chain(directives()).chain(options).collect();
    all.extend(enums());
    commands(txid_args::Args::command(), "", &mut all);
    commands(agent::Args::command(), "", &mut all);
    assert!(all.len() > 200, "{all:?}");
    let fresh: String = all.iter().map(|name| format!("{name}\n")).collect();
    if std::env::var_os("TXID_BLESS").is_some() {
        fs::write("tests/surface.txt", &fresh).unwrap();
    }
    let listed = read("tests/surface.txt");
    let listed: BTreeSet<_> = listed.lines().map(str::to_string).collect();
    let gone: Vec<_> = listed.difference(&all).collect();
    let new: Vec<_> = all.difference(&listed).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "gone: {gone:#?}\nnew: {new:#?}\nIf that is meant, see docs/stability.md"
    );
}
