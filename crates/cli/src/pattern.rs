//! The text that `txid grep` looks for, and the spellings of a trace id.

use anyhow::{Result, anyhow};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use txid_args::Grep;

pub(crate) struct Pattern(Regex);

impl Pattern {
    /// None if nobody asked for a text.
    pub(crate) fn of(args: &Grep) -> Result<Option<Self>> {
        let texts: Vec<_> = args.regexp.iter().flat_map(|text| text.split('\n')).collect();
        let of_text = |text: &&str| {
            let pattern = if args.fixed_strings { regex::escape(text) } else { (*text).to_string() };
            built(&pattern, false).map_err(|why| anyhow!("-e '{text}': {why}; -F looks for the text as it is"))?;
            Ok(pattern)
        };
        let patterns = match &args.id[..] {
            [] => texts.iter().map(of_text).collect::<Result<Vec<_>>>()?,
            ids => ids.iter().map(|id| spellings(id)).collect(),
        };
        if patterns.is_empty() {
            return Ok(None);
        }
        let any = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
        let pattern = match (args.line_regexp, args.word_regexp) {
            (true, _) => format!("^(?:{any})$"),
            (_, true) => format!(r"\b{{start-half}}(?:{any})\b{{end-half}}"),
            _ => any,
        };
        Ok(Some(Self(built(&pattern, args.ignore_case).map_err(|why| anyhow!("-e: {why}"))?)))
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.0.is_match(text)
    }

    pub(crate) fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        self.0.find(text).map(|it| it.range())
    }

    /// All that are not empty.
    pub(crate) fn all(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.0.find_iter(text).map(|it| it.range()).filter(|range| !range.is_empty()).collect()
    }
}

fn built(pattern: &str, ignores_case: bool) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).multi_line(true).crlf(true).case_insensitive(ignores_case).build();
    // The last line says what is wrong; those before show where.
    built.map_err(|error| {
        let said = error.to_string();
        said.rsplit("error: ").next().unwrap_or_default().trim().to_string()
    })
}

/// A pattern for all ways in which this id is written: with dashes and without, in capitals, as X-Ray has it, and its lower
/// half, as B3 and Jaeger have it in hexadecimal digits and Datadog in decimal ones.
fn spellings(id: &str) -> String {
    let (high, low) = match halves(id) {
        Some(halves) => halves,
        None => {
            let has = |is_kind: fn(&u8) -> bool| id.as_bytes().iter().any(is_kind);
            let is_of_one_case = !(has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase));
            return format!("{}{}", if is_of_one_case { "(?i)" } else { "" }, regex::escape(id));
        }
    };
    let grouped = |hex: &str, ends: &[usize]| {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &hex[start..*end]).collect::<Vec<_>>().join("-?")
    };
    let whole_low = grouped(&format!("{low:016x}"), &[4, 16]);
    let with_high = match high {
        Some(high) => format!("{}-?{whole_low}", grouped(&format!("{high:016x}"), &[8, 12, 16])),
        None => format!(r"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?[0-9a-f]{{4}}-?{whole_low}"),
    };
    // Sixteen digits may be decimal, too.
    format!(r"(?i)(?:{with_high}|(?-u:\b)(?:{whole_low}|0*{low:x}|{low}|{})(?-u:\b))", regex::escape(id))
}

/// Whether a text is a trace id in any spelling but a number.
pub(crate) fn is_of_a_trace(text: &str) -> bool {
    halves(text).is_some_and(|(high, _)| high.is_some())
}

/// The two halves of a trace id; without a high one, only the low one is known.
fn halves(id: &str) -> Option<(Option<u64>, u64)> {
    let id = id.trim().strip_prefix("Root=").unwrap_or(id.trim());
    let parts: Vec<_> = id.split('-').collect();
    let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
    let digits = match lengths[..] {
        // W3C's traceparent, B3 in one header, X-Ray, and a UUID.
        [2, 32, 16, 2] => parts[1].to_string(),
        [32 | 16, 16, ..] => parts[0].to_string(),
        [1, 8, 24] if parts[0] == "1" => parts[1..].concat(),
        [8, 4, 4, 4, 12] | [32 | 16] => parts.concat(),
        [1..=20] => return Some((None, id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.parse().ok())??)),
        _ => return None,
    };
    let value = u128::from_str_radix(&digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
    Some(((digits.len() == 32 && value >> 64 != 0).then_some((value >> 64) as u64), value as u64))
}
