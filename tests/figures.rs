//! The figures that README.md and docs/ quote are the ones that `make bench` wrote to bench/RESULTS.md.
//! Those of layouts are what the library computes, and some others are constants of
//! the code.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use txid::snowflake::Layout;

/// The beginnings of headings.
const MACHINE: &str = "# What";
const LUA: &str = "## In LuaJIT";
const NATIVE: &str = "## At the C ABI";
const REQUESTS: &str = "## Requests";

/// The file with measured figures, and the sections that are quoted.
const MEASURED: (&str, &[&str]) = ("bench/RESULTS.md", &[MACHINE, LUA, NATIVE, REQUESTS]);

/// A row of one of these: its section, its first cell, and the column of the figure.
type Source = (&'static str, &'static str, usize);

const fn ns(row: &'static str) -> Source {
    (LUA, row, 1)
}

const fn price(row: &'static str) -> Source {
    (LUA, row, 2)
}

const fn times_fill(row: &'static str) -> Source {
    (NATIVE, row, 2)
}

const fn of_constant(row: &'static str) -> Source {
    (REQUESTS, row, 2)
}

const fn instructions_of_constant(row: &'static str) -> Source {
    (REQUESTS, row, 8)
}

const fn machine(row: &'static str) -> Source {
    (MACHINE, row, 1)
}

/// Each line that quotes figures, with `{}` in their place, and where each is from.
const QUOTES: &[(&str, &str, &[Source])] = &[
    ("README.md", "| `txid` | 20 | to 1 ms | yes | nothing | 2109 | {} | {} |", &[ns("txid()"), price("txid()")]),
    (
        "README.md",
        "| `strong` | 20 | to 1 ms | no (54 bits) | nothing | 2109 | {} | {} |",
        &[ns(STRONG), price(STRONG)],
    ),
    (
        "README.md",
        "| UUID v7 | 36 | strictly in a worker | yes | nothing | 10889 | {} | {} |",
        &[ns("uuid.v7()"), price("uuid.v7()")],
    ),
    ("README.md", "| UUID v4 | 36 | no | yes | nothing | – | {} | {} |", &[ns("uuid.v4()"), price("uuid.v4()")]),
    ("README.md", "or a node | 584 million years | {} | {} |", &[ns("flake()"), price("flake()")]),
    (
        "README.md",
        "a state file | 2080, or by your layout | {} | {} |",
        &[ns("order_id() of snowflake"), price("order_id() of snowflake")],
    ),
    ("README.md", "| 2^63 numbers | {} | {} |", &[ns("invoice_no() of a segment"), price("invoice_no() of a segment")]),
    ("README.md", "| 2039, or by your epoch | {} | {} |", &[ns("trace.id()"), price("trace.id()")]),
    ("README.md", "Of the {} ns that `txid()` takes, {} ns are a C call", &[ns("txid()"), ns(FLOOR)]),
    (
        "README.md",
        "| the floor: a C function that writes 20 bytes, and `ffi.string` | {} | {} |",
        &[ns(FLOOR), price(FLOOR)],
    ),
    ("README.md", "| `txid()` | {} | {} |", &[ns("txid()"), price("txid()")]),
    (
        "README.md",
        "| `txid()` in plain LuaJIT, without the library | {} | {} |",
        &[ns("txid() in plain LuaJIT"), price("txid() in plain LuaJIT")],
    ),
    ("README.md", "| lua-resty-jit-uuid, v4 (floor of 36 bytes) | {} | {} |", &[ns(JIT_UUID), price(JIT_UUID)]),
    ("README.md", "| lua-resty-uuid (libuuid), v4 (floor of 36 bytes) | {} | {} |", &[ns(LIBUUID), price(LIBUUID)]),
    ("README.md", "| lua-resty-txid 1.0.0 | {} | {} |", &[ns("lua-resty-txid"), price("lua-resty-txid")]),
    ("README.md", "In C, `txid_fill` takes {} ns.", &[(NATIVE, "txid_fill", 1)]),
    ("README.md", "serves {} times as many requests a second", &[of_constant("`txid()` in `set_by_lua_block`")]),
    ("README.md", "with nginx's own `$request_id`, {} times", &[of_constant("`$request_id`")]),
    ("README.md", "on {}; medians", &[machine("date")]),
    (
        "docs/compare.md",
        "| requests a second, compared with a constant | {}, with nginx 1.22.1 | {} in Lua |",
        &[of_constant("`$request_id`"), of_constant("`txid()` in `set_by_lua_block`")],
    ),
    ("docs/compare.md", "| an id in LuaJIT | {} times the floor | {} |", &[price("lua-resty-txid"), price("txid()")]),
    (
        "docs/compare.md",
        "| v4 in LuaJIT | {} times the floor of its length | {} |",
        &[price(JIT_UUID), price("uuid.v4()")],
    ),
    (
        "docs/compare.md",
        "| v4 with libuuid | {} times the floor of its length | {} |",
        &[price(LIBUUID), price("uuid.v4()")],
    ),
    (
        "docs/compare.md",
        "| **with a counter** | {}, {}; counting {} |",
        &[times_fill("ulid"), times_fill("ferroid ULID"), times_fill("ferroid ULID, counting within a millisecond")],
    ),
    ("docs/compare.md", "| **no** | 27 | no | {} |", &[times_fill("svix-ksuid")]),
    ("docs/compare.md", "| **20** | **within a process** | {} |", &[times_fill("xid")]),
    ("docs/compare.md", "| 25 | **within a generator** | {} |", &[times_fill("scru128")]),
    ("docs/compare.md", "| 36 | **within a process** | {} |", &[times_fill("uuid v7, fast-rng")]),
    ("docs/compare.md", "If it reads the clock as well, it takes {}.", &[times_fill("txid_fill_now of txid_clock_ms")]),
    (
        "docs/nginx-module.md",
        "nginx's own `$request_id` takes {} times the instructions",
        &[instructions_of_constant("without Lua: `$request_id`")],
    ),
    ("docs/nginx-module.md", "ngx_txid's `$txid` {} times", &[instructions_of_constant("ngx_txid: `$txid`")]),
];

const CARGO: (&str, &str) = ("Cargo.toml", "rust-version = \"{}\"");
const OLDEST_GLIBC: (&str, &str) = ("scripts/release-binaries.sh", "set -- x86_64-unknown-linux-gnu.{} aarch64");
const LEASES: &str = "agent/machines/src/lease/rules.rs";

/// Each line that repeats a figure of the code, and the line of the code, with `{}` in place of the figure.
const SET_IN_CODE: &[(&str, &str, (&str, &str))] = &[
    (
        concat!("rockspec/lua-resty-libtxid-", env!("CARGO_PKG_VERSION"), "-1.rockspec"),
        "tag = \"v{}\",",
        ("Cargo.toml", "version = \"{}\""),
    ),
    ("README.md", "Rust {} or later", CARGO),
    ("docs/quick-start-nginx.md", "Rust {} or later", CARGO),
    ("docs/quick-start-openresty.md", "Rust {} or later", CARGO),
    ("docs/platforms.md", "- **Rust {}**", CARGO),
    ("docs/platforms.md", "- **glibc {}**", OLDEST_GLIBC),
    ("docs/platforms.md", "the release for this machine asks for no symbol newer than glibc {}", OLDEST_GLIBC),
    ("docs/platforms.md", "the aarch64 release asks for no symbol newer than glibc {}", OLDEST_GLIBC),
    ("docs/design.md", "all {} and", ("src/txid.rs", "UTC : {} | random")),
    ("docs/design.md", "and {} bits are real", ("src/txid.rs", "const RANDOM_BITS: u32 = {};")),
    ("docs/design.md", "The object has at most {} KB", ("capi/tests/shared_object.rs", ">= 95 { {} }")),
    ("agent/docs/leases.md", "| `--ahead` | {} s |", (LEASES, " ahead_ms: {}_000")),
    ("agent/docs/leases.md", "| renewal | {} s +-20 % |", (LEASES, " renew_ms: {}_000")),
    ("agent/docs/leases.md", "| `--max-skew` | {} s |", (LEASES, " max_skew_ms: {}_000")),
    (
        "agent/docs/leases.md",
        "| a request times out | {} s |",
        ("agent/src/store/address.rs", "timeout: Duration::from_secs({})"),
    ),
];

const FLOOR: &str = "*floor: 20 characters*";
const STRONG: &str = "strong()";
const JIT_UUID: &str = "lua-resty-jit-uuid v4";
const LIBUUID: &str = "lua-resty-uuid v4";

/// In place of a figure that was not measured.
const NOT_MEASURED: &str = "–";

/// Documents in which every figure with two decimals must be in [`QUOTES`].
const COMPLETE: [&str; 2] = ["README.md", "docs/compare.md"];

/// The cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The measured figures: the medians, without the quartiles.
fn results() -> HashMap<Source, String> {
    let mut figures = HashMap::new();
    let (file, sections) = MEASURED;
    let text = fs::read_to_string(file).unwrap();
    let mut section = None;
    for line in text.lines() {
        if line.starts_with('#') {
            section = sections.iter().find(|&section| line.starts_with(section));
        }
        if let (Some(section), Some(cells)) = (section, cells(line)) {
            for (column, cell) in cells.iter().enumerate().skip(1) {
                let median = cell.split(" (").next().unwrap_or_default();
                let row: &'static str = cells[0].to_string().leak();
                figures.insert((*section, row, column), median.to_string());
            }
        }
    }
    figures
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

#[test]
fn figures_are_those_of_the_benchmark() {
    let results = results();
    let mut complaints = Vec::new();
    let mut covered = BTreeSet::new();
    for (file, template, sources) in QUOTES {
        let text = fs::read_to_string(file).unwrap();
        let found = text.lines().zip(1..).find_map(|(line, number)| Some((number, quoted(line, template)?)));
        let Some((number, figures)) = found else {
            complaints.push(format!("{file}: no line reads: {template}"));
            continue;
        };
        for ((at, figure), source) in figures.into_iter().zip(*sources) {
            covered.insert((*file, number, at));
            let measured = results.get(source).map_or(NOT_MEASURED, String::as_str);
            if figure.replace(',', "") != measured {
                complaints.push(format!("{file}:{number}: says {figure} of '{}', measured was {measured}", source.1));
            }
        }
    }
    for file in COMPLETE {
        let text = fs::read_to_string(file).unwrap();
        for (line, number) in text.lines().zip(1..) {
            for (at, figure) in two_decimals(line) {
                if !covered.contains(&(file, number, at)) {
                    complaints.push(format!("{file}:{number}: says {figure}, which tests/figures.rs does not check"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn figures_are_those_of_the_code() {
    let figure = |file: &str, template: &str| {
        let text = fs::read_to_string(file).unwrap();
        let found = text.lines().find_map(|line| Some(quoted(line, template)?[0].1.to_owned()));
        found.unwrap_or_else(|| panic!("{file}: no line reads: {template}"))
    };
    for (document, says, (code, sets)) in SET_IN_CODE {
        assert_eq!(figure(document, says), figure(code, sets), "{document}: {says}; {code}: {sets}");
    }
}

/// Numbers with two decimals, unless they are versions.
fn two_decimals(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(is_of_a_figure).map(|start| at + start) {
        let end = line[start..].find(|c| !is_of_a_figure(c)).map_or(line.len(), |length| start + length);
        let figure = line[start..end].trim_end_matches(['.', ',', '-']);
        let is_version = ["Rust ", "nginx ", "APISIX "].iter().any(|program| line[..start].ends_with(program));
        let decimals = figure.split_once('.').map_or("", |(_, decimals)| decimals);
        if !is_version && decimals.len() == 2 && decimals.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push((start, figure));
        }
        at = end;
    }
    found
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
        let row = text.lines().filter_map(cells).find(|row| row[0] == format!("`{name}`")).unwrap();
        let parts = layout.parts();
        let bits: Vec<_> = parts.iter().map(|(part, bits)| format!("`{part} : {bits}`")).collect();
        assert!(row[1] == bits.join(", ") || row[1].starts_with("as `snowflake`;"), "{row:?}");

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
