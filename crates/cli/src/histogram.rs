//! How many lines there are in each span of time.

use crate::time;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::io::{IsTerminal, stdout};

/// Spans with lines that are remembered.
const MOST_SPANS: usize = 100_000;

/// Spans that are printed without a line in them, at most, between two that have some.
const MOST_EMPTY: i64 = 1_000;

const WIDEST_BAR: usize = 50;

pub(crate) struct Histogram {
    span_ms: i64,
    counts: BTreeMap<i64, u64>,
}

impl Histogram {
    pub(crate) fn new(span: &str) -> Result<Self> {
        Ok(Self { span_ms: time::parse_span("--histogram", span)?, counts: BTreeMap::new() })
    }

    pub(crate) fn add(&mut self, ms: i64) -> Result<()> {
        *self.counts.entry(ms.div_euclid(self.span_ms)).or_default() += 1;
        if self.counts.len() > MOST_SPANS {
            bail!("--histogram: the ids are of more than {MOST_SPANS} spans; give a longer one, or a window");
        }
        Ok(())
    }

    /// A line for each span: its start, the count, and on a terminal a bar.
    pub(crate) fn text(&self) -> String {
        let most = self.counts.values().copied().max().unwrap_or(1);
        let (is_terminal, width) = (stdout().is_terminal(), most.to_string().len());
        let line = |span: i64, count: u64| {
            let start = time::rfc3339(span * self.span_ms);
            let bar = "#".repeat((count as f64 / most as f64 * WIDEST_BAR as f64).ceil() as usize);
            match is_terminal {
                true => format!("{start}  {count:>width$}  {bar}\n"),
                false => format!("{start}\t{count}\n"),
            }
        };
        let (mut text, mut next) = (String::new(), None);
        for (&span, &count) in &self.counts {
            let empty = next.unwrap_or(span)..span;
            match empty.end - empty.start {
                some @ MOST_EMPTY.. if is_terminal => text += &format!("... {some} spans without a line\n"),
                MOST_EMPTY.. => {}
                _ => empty.for_each(|span| text += &line(span, 0)),
            }
            text += &line(span, count);
            next = Some(span + 1);
        }
        text
    }
}
