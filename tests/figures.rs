//! The figures of README.md are the ones that `make bench` wrote to bench/RESULTS.md. Those of layouts are what the library
//! computes, and some others are constants of the code.

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
const LEASES: &str = "agent/machines/src/lease/rules.rs";

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
    ("lua/resty/txid/request/rules.lua", "local LONGEST = {}", LONGEST_ID),
    ("docs/lua.md", "set back by up to {} s", LONGEST_HOLD),
    ("docs/c.md", "set back by up to {} s", LONGEST_HOLD),
    (
        "docs/snowflake.md",
        "ahead of the clock; default {} |",
        ("lua/resty/txid/snowflake.lua", "local DEFAULT_MAX_DRIFT = {}"),
    ),
    ("agent/docs/leases.md", "| `--ahead` | {} s |", (LEASES, " ahead_ms: {}_000")),
    ("agent/docs/leases.md", "| renewal | {} s +-20 % |", (LEASES, " renew_ms: {}_000")),
    ("agent/docs/leases.md", "| `--max-skew` | {} s |", (LEASES, "MOST_SKEW_MS: u64 = {}_000")),
    (
        "agent/docs/leases.md",
        "| a request times out | {} s |",
        ("agent/src/store/address.rs", "timeout: Duration::from_secs({})"),
    ),
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

#[test]
fn layouts_are_as_documented() {
    let text = fs::read_to_string("docs/snowflake.md").unwrap();
    let rows = text.split("## Choosing a layout").nth(1).unwrap().lines().filter_map(cells).skip(2);
    let rows: Vec<_> = rows.take_while(|row| row.len() == 5).collect();
    assert!(rows.len() > 5, "{rows:?}");
    for row in rows {
        let layout = row[0].split('`').nth(1).unwrap().replace(['{', '}', '"', ' '], "");
        let layout: Layout = layout.parse().unwrap();
        let last = txid::time_in::rfc3339(*layout.range_ms().end()).unwrap();
        assert!(row[1].contains(std::str::from_utf8(&last[..10]).unwrap()), "{row:?}: {last:?}");

        let figure = |column: usize| row[column].replace(',', "").parse::<f64>().unwrap();
        let (_, sequence_bits) = layout.parts().into_iter().find(|(name, _)| *name == "sequence").unwrap();
        let in_a_unit = f64::from(1 << sequence_bits);
        let unit_ms = in_a_unit * 1000.0 / layout.ids_a_second();
        assert_eq!(figure(2), (layout.last_node() + 1) as f64, "{row:?}");
        assert_eq!(figure(3), layout.ids_a_second(), "{row:?}");
        // The current unit, and those of ten seconds.
        assert_eq!(figure(4), in_a_unit * (1.0 + 10_000.0 / unit_ms), "{row:?}");
    }
}

#[test]
fn presets_are_as_documented() {
    let text = fs::read_to_string("docs/formats.md").unwrap();
    for (name, layout) in Layout::PRESETS {
        let row = text.lines().filter_map(cells).find(|row| row.len() == 4 && row[0] == format!("`{name}`")).unwrap();
        let parts = layout.parts();
        let bits: Vec<_> = parts.iter().map(|(part, bits)| format!("`{part} : {bits}`")).collect();
        assert!(
            row[1].split(';').next() == Some(&*bits.join(", ")) || row[1].starts_with("as `snowflake`;"),
            "{row:?}"
        );

        let (_, sequence_bits) = parts.iter().find(|(part, _)| *part == "sequence").unwrap();
        let unit_ms = f64::from(1 << sequence_bits) * 1000.0 / layout.ids_a_second();
        let unit = if unit_ms < 1000.0 { format!("{unit_ms} ms") } else { format!("{} s", unit_ms / 1000.0) };
        assert_eq!(row[2], unit, "{row:?}");

        let epoch_ms = *layout.range_ms().start();
        let time = String::from_utf8(txid::time_in::rfc3339(epoch_ms).unwrap().to_vec()).unwrap();
        let both = format!("{time} ({epoch_ms})");
        assert!(row[3] == epoch_ms.to_string() || row[3] == both, "{row:?}: {both}");
    }
}
