//! The figures of README.md are the ones that `make bench` wrote to bench/RESULTS.md. The library
//! computes the figures of layouts, and some others are constants of the code.

use std::fs;
use txid::snowflake::Layout;

/// Each line that quotes figures of bench/RESULTS.md, with `{}` in place of the figure; and where it is from: the beginning of
/// the heading, the first cell of the row, and the column.
const QUOTES: [(&str, [&str; 2], usize); 6] = [
    ("a string in LuaJIT: `txid()` | {} ns", ["## In LuaJIT", "txid()"], 1),
    ("lua-resty-txid, which it replaces | {} ns", ["## In LuaJIT", "lua-resty-txid"], 1),
    (
        "`id()` with `add_header`, as above | {} % fewer",
        ["## Requests", "`id()` in `set_by_lua_block`, in `add_header`"],
        2,
    ),
    ("sets all headers | {} % fewer", ["## Requests", "`handle()` in `rewrite_by_lua_block`"], 2),
    ("with `txid_response_header` | {} % fewer", ["## Requests", "native: `txid_response_header`"], 2),
    ("nginx's `$request_id` | {} % fewer", ["## Requests", "`$request_id`"], 2),
];

const CARGO: (&str, &str) = ("Cargo.toml", "rust-version = \"{}\"");
const OLDEST_GLIBC: (&str, &str) = ("packaging/release-binaries.sh", "set -- x86_64-unknown-linux-gnu.{} aarch64");
const LONGEST_ID: (&str, &str) = ("src/request/header.rs", "const LONGEST: usize = {};");
const LONGEST_HOLD: (&str, &str) = ("src/source/clock.rs", "LONGEST_HOLD_MS: u64 = {}_000;");
const LONGEST_LINE: (&str, &str) = ("crates/cli/src/blocks.rs", "LONGEST_LINE: usize = {} << 20;");
const OF_COMMAND: &str = "crates/cli/args/src/lib.rs";
const CLOCK: &str = "crates/cli/src/audit/clock.rs";
const LEASES: &str = "agent/machines/src/lease/rules.rs";
const TIMEOUT: (&str, &str) = ("agent/src/store/address.rs", "timeout: Duration::from_secs({})");

/// Each line that repeats a figure of the code, and the line of the code, with `{}` in place of the figure.
const SET_IN_CODE: &[(&str, &str, (&str, &str))] = &[
    (
        concat!("rockspec/lua-resty-libtxid-", env!("CARGO_PKG_VERSION"), "-1.rockspec"),
        "tag = \"v{}\",",
        ("Cargo.toml", "version = \"{}\""),
    ),
    ("README.md", "Rust {} or later", CARGO),
    ("docs/install.md", "Rust {} or later", CARGO),
    ("agent/README.md", "Rust {} or later", CARGO),
    ("docs/dev/tested.md", "- **Rust {}**", CARGO),
    ("docs/dev/tested.md", "- **glibc {}**", OLDEST_GLIBC),
    ("docs/dev/tested.md", "the release for this machine asks for no symbol newer than glibc {}", OLDEST_GLIBC),
    ("docs/dev/tested.md", "the aarch64 release asks for no symbol newer than glibc {}", OLDEST_GLIBC),
    ("tests/promises.md", "all {} and", ("src/make/txid.rs", "UTC : {} | random")),
    ("tests/promises.md", "and {} bits are real", ("src/make/txid.rs", "const RANDOM_BITS: u32 = {};")),
    ("docs/request.md", "those of 1 to {} characters", LONGEST_ID),
    ("docs/request.md", "come in, at most {}.", ("src/request/policy.rs", "MOST_HEADERS: usize = {};")),
    ("lua/resty/txid/request/rules.lua", "local LONGEST = {}", LONGEST_ID),
    ("docs/hidden.md", "| `digits=N` | {} to", ("src/hidden/mod.rs", "Self::Digits(digits @ {}..=")),
    ("docs/hidden.md", " to {} digits; a longer", ("src/hidden/mod.rs", "..={}) => Ok((Some(Alphabet::Digits)")),
    ("docs/hidden.md", "| instead, {} to", ("src/hidden/mod.rs", "Self::Letters(letters @ {}..=")),
    ("docs/hidden.md", " to {} characters of `0-9a-z`", ("src/hidden/mod.rs", "..={}) => Ok((Some(Alphabet::Letters)")),
    (OF_COMMAND, "How many digits images have, {} to", ("src/hidden/mod.rs", "Self::Digits(digits @ {}..=")),
    (OF_COMMAND, "How many letters images have, {} to", ("src/hidden/mod.rs", "Self::Letters(letters @ {}..=")),
    (OF_COMMAND, "digits images have, 6 to {}", ("src/hidden/mod.rs", "..={}) => Ok((Some(Alphabet::Digits)")),
    (OF_COMMAND, "letters images have, 4 to {}:", ("src/hidden/mod.rs", "..={}) => Ok((Some(Alphabet::Letters)")),
    (OF_COMMAND, "how many characters, 1 to {} instead", ("src/maker.rs", "pub const MAX_LEN: usize = {};")),
    (OF_COMMAND, " instead of {}", ("src/make/nanoid.rs", "const LEN: usize = {};")),
    (
        OF_COMMAND,
        "what the ids begin with, 1 to {} characters",
        ("src/make/typeid.rs", "MOST_OF_A_PREFIX: usize = {};"),
    ),
    ("docs/command.md", "Lines longer than {} MiB are skipped", LONGEST_LINE),
    (OF_COMMAND, "Lines longer than {} MiB are", LONGEST_LINE),
    (OF_COMMAND, "cannot be read and lines longer than {} MiB", LONGEST_LINE),
    ("docs/command.md", "by default {} MB. Lines", (OF_COMMAND, "default_value = \"{}M\"")),
    (
        "docs/command.md",
        "{} to 19 digits is read without a layout",
        ("src/formats/find.rs", "pub const SHORTEST: usize = {};"),
    ),
    (OF_COMMAND, "numbers of {} to 19 digits (see", ("src/formats/find.rs", "pub const SHORTEST: usize = {};")),
    ("docs/command.md", "| steps back | {} ids of a host", (CLOCK, "const ENOUGH: u32 = {};")),
    (OF_COMMAND, "a clock that was set back: at least {} ids", (CLOCK, "const ENOUGH: u32 = {};")),
    ("docs/command.md", "are more than {} s older than four", (CLOCK, "LATE_MS: i64 = {}_000;")),
    (OF_COMMAND, "more than {} s older than four", (CLOCK, "LATE_MS: i64 = {}_000;")),
    (OF_COMMAND, "the window is [default: {}s]", ("crates/cli/src/window.rs", "AROUND_MS: i64 = {}_000;")),
    ("docs/lua.md", "set back by up to {} s", LONGEST_HOLD),
    ("docs/c.md", "set back by up to {} s", LONGEST_HOLD),
    (
        "docs/snowflake.md",
        "ahead of the clock; default {} |",
        ("lua/resty/txid/snowflake.lua", "local DEFAULT_MAX_DRIFT = {}"),
    ),
    ("docs/lua.md", "| `nanoid` | `length`, 1 to {}, by", ("src/maker.rs", "pub const MAX_LEN: usize = {};")),
    ("docs/lua.md", "by default {}; `alphabet`", ("src/make/nanoid.rs", "const LEN: usize = {};")),
    ("docs/lua.md", "`prefix`, 1 to {} characters", ("src/make/typeid.rs", "MOST_OF_A_PREFIX: usize = {};")),
    ("agent/docs/leases.md", "| `--lease-time` | {} s |", (LEASES, " ahead_ms: {}_000")),
    ("agent/docs/leases.md", "| renewal | {} s +-20 % |", (LEASES, " renew_ms: {}_000")),
    ("agent/docs/leases.md", "| `--max-skew` | {} s |", (LEASES, "MOST_SKEW_MS: u64 = {}_000")),
    ("agent/docs/leases.md", "| a request times out | {} s |", TIMEOUT),
    ("agent/docs/stores.md", "| `timeout={}s` |", TIMEOUT),
];

/// The cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The median, without the quartiles.
fn measured([heading, row]: [&str; 2], column: usize) -> String {
    let text = fs::read_to_string("bench/RESULTS.md").unwrap();
    let section =
        text.lines().skip_while(|line| !line.starts_with(heading)).skip(1).take_while(|line| !line.starts_with('#'));
    let found = section.filter_map(cells).find(|cells| cells[0] == row);
    let found = found.unwrap_or_else(|| panic!("{heading}: no row {row}"));
    found[column].split(" (").next().unwrap().to_string()
}

fn is_of_a_figure(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '–')
}

/// The figures in the place of `{}`, with their places in the line, if the line has the words of `template`.
fn quoted<'a>(line: &'a str, template: &str) -> Option<Vec<(usize, &'a str)>> {
    let words: Vec<_> = template.split("{}").collect();
    line.match_indices(words[0]).find_map(|(start, _)| {
        let mut at = start + words[0].len();
        let mut found = Vec::new();
        for next in &words[1..] {
            let rest = &line[at..];
            let figure =
                rest[..rest.find(|c| !is_of_a_figure(c)).unwrap_or(rest.len())].trim_end_matches(['.', ',', '-']);
            if figure.is_empty() || !rest[figure.len()..].starts_with(next) {
                return None;
            }
            found.push((at, figure));
            at += figure.len() + next.len();
        }
        Some(found)
    })
}

/// The first figure of the line with these words.
fn figure(file: &str, template: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let found = text.lines().find_map(|line| Some(quoted(line, template)?[0].1.to_owned()));
    found.unwrap_or_else(|| panic!("{file}: no line reads: {template}"))
}

#[test]
fn figures_are_those_of_the_benchmark() {
    for (template, row, column) in QUOTES {
        let mut figures = measured(row, column);
        if template.contains('%') {
            figures = format!("{:.0}", 100.0 * (1.0 - figures.parse::<f64>().unwrap()));
        }
        assert_eq!(figure("README.md", template), figures, "README.md: {template}");
    }
}

#[test]
fn figures_are_those_of_the_code() {
    for (document, says, (code, sets)) in SET_IN_CODE {
        assert_eq!(figure(document, says), figure(code, sets), "{document}: {says}; {code}: {sets}");
    }
}

/// The node of a crashed host is free when its lease has ended and ten more minutes have passed.
#[test]
fn so_many_hosts_may_crash_as_nodes_are_left() {
    let second = |text: String| text.parse::<u64>().unwrap();
    let free_after = second(figure(LEASES, " ahead_ms: {}_000")) + second(figure(LEASES, " idle_ms: {}_000"));
    let page = fs::read_to_string("agent/docs/leases.md").unwrap();
    let says = "With {} nodes and {} hosts, up to {} may crash within {} min";
    let found = page.lines().find_map(|line| quoted(line, says)).expect(says);
    let [nodes, hosts, crashes, minutes] = [0, 1, 2, 3].map(|at| second(found[at].1.replace(',', "")));
    assert_eq!((crashes, minutes), (nodes - hosts, free_after / 60), "{says}");
}

/// Holds a table between its marks against what it should be, row by row. TXID_BLESS=1 writes it.
fn assert_table(page: &str, name: &str, row: impl Fn(&str) -> String) {
    let text = fs::read_to_string(page).unwrap();
    let (before, rest) = text.split_once(&format!("<!-- {name}, written from src/snowflake/layout.rs -->\n")).unwrap();
    let (table, after) = rest.split_once(&format!("<!-- end of {name} -->")).unwrap();
    let lines = table.lines().enumerate();
    let written: String = lines.map(|(at, line)| if at < 2 { line.to_string() } else { row(line) } + "\n").collect();
    assert!(written.lines().count() > 7, "{written}");
    if std::env::var_os("TXID_BLESS").is_some() {
        let begin = &text[..text.len() - rest.len()];
        fs::write(page, format!("{begin}{written}<!-- end of {name} -->{after}")).unwrap();
    } else {
        assert_eq!(table, written, "{page}, after {} bytes; TXID_BLESS=1 writes it", before.len());
    }
}

fn with_commas(number: f64) -> String {
    let digits = format!("{number}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// How many ids a unit of time has, and how many milliseconds it is long.
fn unit(layout: &Layout) -> (f64, f64) {
    let (_, sequence_bits) = layout.parts().into_iter().find(|(name, _)| *name == "sequence").unwrap();
    let ids = f64::from(1 << sequence_bits);
    (ids, ids * 1000.0 / layout.ids_a_second())
}

fn date(ms: i64) -> String {
    String::from_utf8(txid::time_in::rfc3339(ms).unwrap().to_vec()).unwrap()
}

/// The first cell of a row is ours.
#[test]
fn layouts_are_as_documented() {
    assert_table("docs/snowflake.md", "layouts", |line| {
        let name = cells(line).unwrap()[0];
        let layout = name.split('`').nth(1).unwrap().replace(['{', '}', '"', ' '], "");
        let layout: Layout = layout.parse().unwrap();
        let last = &date(*layout.range_ms().end())[..10];
        let last = if last < "2026" { format!("**{last}: over**") } else { last.to_string() };
        let (ids, unit_ms) = unit(&layout);
        // The current unit, and those of ten seconds.
        let burst = with_commas(ids * (1.0 + 10_000.0 / unit_ms));
        let (nodes, rate) = (with_commas((layout.last_node() + 1) as f64), with_commas(layout.ids_a_second()));
        format!("| {name} | {last} | {nodes} | {rate} | {burst} |")
    });
}

#[test]
fn presets_are_as_documented() {
    let page = fs::read_to_string("docs/formats.md").unwrap();
    Layout::PRESETS.iter().for_each(|(name, _)| assert!(page.contains(&format!("\n| `{name}` | ")), "{name}"));
    assert_table("docs/formats.md", "presets", |line| {
        let row = cells(line).unwrap();
        let name = row[0].trim_matches('`');
        let (_, layout) = Layout::PRESETS.into_iter().find(|(preset, _)| *preset == name).unwrap();
        let bits: Vec<_> = layout.parts().iter().map(|(part, bits)| format!("`{part} : {bits}`")).collect();
        // Two have the same bits, and one of them says so.
        let bits = if row[1].starts_with("as `") { row[1].to_string() } else { bits.join(", ") };
        let (_, unit_ms) = unit(&layout);
        let unit = if unit_ms < 1000.0 { format!("{unit_ms} ms") } else { format!("{} s", unit_ms / 1000.0) };
        let epoch_ms = *layout.range_ms().start();
        format!("| `{name}` | {bits} | {unit} | {} ({epoch_ms}) |", date(epoch_ms))
    });
}
