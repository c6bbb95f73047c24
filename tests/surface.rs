//! `tests/surface.txt` lists the names that others build on: the functions and constants of C, the Lua modules' functions, the
//! directives and the options of a policy. docs/stability.md says what is promised of them. After a change that is meant:
//! `TXID_BLESS=1 cargo test --test surface`.

use std::collections::BTreeSet;
use std::fs;

use txid::request::PolicyOption;

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
    let all: BTreeSet<_> = c_names().into_iter().chain(lua_names()).chain(directives()).chain(options).collect();
    assert!(all.len() > 150, "{all:?}");
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
