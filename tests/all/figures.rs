//! The figures of README.md are the ones that `make bench` wrote to bench/RESULTS.md. The library
//! computes the figures of layouts.

use std::fs;
use txid::snowflake::Layout;

/// Each line that quotes figures of bench/RESULTS.md, with `{}` in place of the figure; and where it is from: the beginning of
/// the heading, the first cell of the row, and the column.
const QUOTES: [(&str, [&str; 2], usize); 5] = [
    ("lua-resty-txid | {} ns", ["## In LuaJIT", "txid()"], 1),
    (" ns; {} ns |", ["## In LuaJIT", "lua-resty-txid"], 1),
    (
        "with `handle()`, against a constant in its place | {} % fewer",
        ["## Requests", "`handle()` in `rewrite_by_lua_block`"],
        2,
    ),
    ("native module's `txid_response_header` | {} % fewer", ["## Requests", "native: `txid_response_header`"], 2),
    ("nginx's `$request_id` | {} % fewer", ["## Requests", "`$request_id`"], 2),
];

const LEASES: &str = "agent/machines/src/lease/rules.rs";

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
