//! The tables of docs/formats.md that follow from the table. TXID_BLESS=1 writes them between their marks.

use super::row::{Clock, Field, Fields, Kind, Number, Part, Rule, Text};
use super::{ALL, Format};
use crate::time_in::rfc3339;

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn fields(fields: &Fields) -> String {
    let field = |Field { name, bits, kind, .. }: &Field| match kind {
        Kind::Is(value) => format!("`{name} : {bits}` = {value}"),
        _ => format!("`{name} : {bits}`"),
    };
    fields.list.iter().map(field).collect::<Vec<_>>().join(", ")
}

fn lengths(least: usize, most: usize) -> String {
    match most {
        _ if least == most => least.to_string(),
        usize::MAX => format!("{least} or more"),
        _ => format!("{least} to {most}"),
    }
}

fn number(number: &Number) -> String {
    let digits = match number.pattern {
        Some(pattern) => code(pattern.text),
        None => lengths(number.least, number.most),
    };
    let pad = if number.pad > 0 { format!(", {} zeros", number.pad) } else { String::new() };
    let bits = match number.fields {
        [one] => fields(one),
        // A sentence says when they are which.
        _ => format!("{} bits", number.bits),
    };
    format!("{digits} {}: {bits}{pad}", code(number.digits.name))
}

fn text(text: &Text) -> String {
    let part = |part: &Part| match part {
        Part::Literal(byte) => Some(code(&char::from(*byte).to_string())),
        Part::Number(it) => Some(number(it)),
        Part::Word(word) if word.most == 0 => None,
        Part::Word(word) => Some(format!(
            "{} {}{}",
            lengths(word.least, word.most),
            code(word.digits.name),
            word.name.map(|name| format!(": `{name}`")).unwrap_or_default()
        )),
        Part::Rest => Some("anything after a dash".to_string()),
    };
    text.parts.iter().filter_map(part).collect::<Vec<_>>().join("; ")
}

/// What the time counts.
fn unit(clock: Clock) -> String {
    let unit = match (clock.unit_ms, clock.per_unit) {
        (1000, _) => "s".to_string(),
        (1, 1) => "ms".to_string(),
        (ms, per_unit) => format!("{ms}/{per_unit} ms"),
    };
    if clock.epoch_ms == 0 { unit } else { format!("{unit} since {} ms", clock.epoch_ms) }
}

fn clock(format: &Format) -> String {
    let parts = format.texts[0].parts.iter();
    let clocks = parts.filter_map(|part| match part {
        Part::Number(Number { fields: [one], .. }) => one.clock,
        _ => None,
    });
    clocks.map(unit).collect()
}

fn layouts() -> String {
    let row = |format: &&Format| {
        let (_, length) = format.length.split_once(" has ").unwrap();
        let texts: Vec<_> = format.texts.iter().map(text).collect();
        format!("| {} | {length} | {} | {} |", code(format.name), texts.join("<br>"), clock(format))
    };
    // 64-bit ids have a table of their layouts.
    let rows = ALL.iter().filter(|it| it.is_read() && it.rule != Some(Rule::Layout)).map(row).collect::<Vec<_>>();
    format!("| format | characters | layout | time |\n|---|---|---|---|\n{}", rows.join("\n"))
}

fn alphabets() -> String {
    let mut rows = Vec::new();
    for part in ALL.iter().flat_map(|format| format.texts).flat_map(|text| text.parts) {
        let Part::Number(Number { digits, .. }) = part else { continue };
        let (cases, alphabet) =
            (if digits.has_both_cases { "both" } else { "this" }, String::from_utf8_lossy(digits.alphabet));
        let row = format!("| {} | {} | {cases} |", code(digits.name), code(&alphabet));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    format!("| digits | from 0 on | read in |\n|---|---|---|\n{}", rows.join("\n"))
}

fn weight(format: &Format) -> String {
    let mut weights: Vec<String> = Vec::new();
    for (at, text) in format.texts.iter().enumerate() {
        let length =
            if at == 0 { String::new() } else { format!(" with {} characters", lengths(text.least, text.most)) };
        if !weights.iter().any(|weight| weight.starts_with(&text.weight.to_string())) {
            weights.push(format!("{}{length}", text.weight));
        }
        for part in text.parts {
            let Part::Number(number) = part else { continue };
            if let Some(more) = number.fields.iter().find_map(|it| it.more.filter(|more| *more > 0)) {
                let constant = number.fields[0].list.iter().find_map(|field| match field.kind {
                    Kind::Is(value) => Some(format!("`{}` is not {value}", field.name)),
                    _ => None,
                });
                let (length, constant) = (lengths(text.least, text.most), constant.unwrap());
                weights.push(format!("{} with {length} characters, if {constant}", text.weight + more));
            }
            for field in number.fields[0].list {
                if let Some((most, more)) = field.rarely_above {
                    weights.push(format!("{} if `{}` is above {most}", text.weight + more, field.name));
                }
            }
        }
    }
    weights.join("; ")
}

/// A year or a day is its first millisecond.
fn since(format: &Format) -> String {
    if !format.has_a_time() {
        return String::new();
    }
    let time = String::from_utf8(rfc3339(format.since_ms).unwrap().to_vec()).unwrap();
    let short = time.strip_suffix("-01-01T00:00:00.000Z").or_else(|| time.strip_suffix("T00:00:00.000Z"));
    short.unwrap_or(&time).to_string()
}

fn weights() -> String {
    let row = |format: &&Format| format!("| {} | {} | {} |", code(format.name), weight(format), since(format));
    let mut formats: Vec<_> = ALL.iter().filter(|it| it.is_read()).collect();
    formats.sort_by_key(|format| format.texts[0].weight);
    let rows = formats.into_iter().map(row).collect::<Vec<_>>();
    format!("| format | weight | since |\n|---|---|---|\n{}", rows.join("\n"))
}

#[test]
fn the_page_about_formats_has_this_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats.md");
    let there = std::fs::read_to_string(path).unwrap();
    let mut page = there.clone();
    for (name, table) in [("layouts", layouts()), ("digits", alphabets()), ("weights", weights())] {
        let [begin, end] =
            [format!("<!-- {name}, written from src/formats/table.rs -->\n"), format!("\n<!-- end of {name} -->")];
        let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("docs/formats.md has no mark of {name}"));
        let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("docs/formats.md has no end of {name}"));
        page = format!("{before}{begin}{table}{end}{after}");
    }
    if std::env::var_os("TXID_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    } else {
        let differs = page.lines().zip(there.lines()).find(|(new, old)| new != old);
        assert!(page == there, "docs/formats.md has another table; TXID_BLESS=1 writes it: {differs:?}");
    }
}
