//! How many lines there are in each span of time.

use crate::{terminal, time};
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, stdout};
use txid_args::Grep;

/// Spans with lines that are remembered.
const MOST_SPANS: usize = 100_000;

/// Spans that are printed without a line in them, at most, between two that have some.
const MOST_EMPTY: i64 = 1_000;

const WIDEST_BAR: usize = 50;

/// For programs.
#[derive(Serialize)]
struct Span<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    from: String,
    lines: u64,
}

pub(crate) struct Histogram {
    span_ms: i64,
    is_json: bool,
    /// Each name of a file with its lines; one without a name has those of all.
    files: Vec<(Option<String>, BTreeMap<i64, u64>)>,
    is_by_file: bool,
}

impl Histogram {
    pub(crate) fn new(span: &str, args: &Grep) -> Result<Self> {
        let (span_ms, is_by_file) = (time::parse_span("--histogram", span)?, args.with_filename);
        Ok(Self { span_ms, is_json: args.json, files: Vec::new(), is_by_file })
    }

    /// The lines that follow are of this file.
    pub(crate) fn begin(&mut self, name: Option<&str>) {
        if self.is_by_file || self.files.is_empty() {
            self.files.push((name.filter(|_| self.is_by_file).map(str::to_string), BTreeMap::new()));
        }
    }

    pub(crate) fn add(&mut self, ms: i64) -> Result<()> {
        let Some((_, counts)) = self.files.last_mut() else { return Ok(()) };
        *counts.entry(ms.div_euclid(self.span_ms)).or_default() += 1;
        if self.files.iter().map(|(_, counts)| counts.len()).sum::<usize>() > MOST_SPANS {
            bail!("--histogram: the lines are of more than {MOST_SPANS} spans; give a longer one, or a window");
        }
        Ok(())
    }

    /// A line for each span: its start, the count, and on a terminal a bar.
    pub(crate) fn text(&self) -> Result<String> {
        let most = self.files.iter().flat_map(|(_, counts)| counts.values()).copied().max().unwrap_or(1);
        let (is_terminal, width) = (stdout().is_terminal(), most.to_string().len());
        let mut text = String::new();
        for (name, counts) in &self.files {
            let line = |span: i64, count: u64| {
                let start = time::rfc3339(span * self.span_ms);
                let bar = "#".repeat((count as f64 / most as f64 * WIDEST_BAR as f64).ceil() as usize);
                match (self.is_json, is_terminal, name) {
                    (true, ..) => serde_json::to_string(&Span { file: name.as_deref(), from: start, lines: count }),
                    (_, true, _) => Ok(format!("{start}  {count:>width$}  {bar}")),
                    (_, _, Some(name)) => Ok(format!("{name}\t{start}\t{count}")),
                    (_, _, None) => Ok(format!("{start}\t{count}")),
                }
            };
            let mut add = |line: String| text += &(line + "\n");
            if let (Some(name), true, false) = (name, is_terminal, self.is_json) {
                add(terminal::harmless(name.as_bytes()));
            }
            let mut next = None;
            for (&span, &count) in counts {
                let empty = next.unwrap_or(span)..span;
                match empty.end - empty.start {
                    some @ MOST_EMPTY.. if is_terminal => add(format!("... {some} spans without a line")),
                    MOST_EMPTY.. => {}
                    _ => empty.map(|span| line(span, 0)).try_for_each(|line| line.map(&mut add))?,
                }
                add(line(span, count)?);
                next = Some(span + 1);
            }
        }
        Ok(text)
    }
}
