//! What `txid audit` prints.

use super::clock::StepBack;
use super::findings::{Few, Findings, Rate};
use super::maker::Makers;
use super::records::Record;
use crate::input::Source;
use crate::terminal::Harmless;
use crate::time;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use memchr::memchr;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Seek, Write, stdout};
use std::ops::ControlFlow;
use txid::formats::Numbers;
use txid_args::{Audit, name};

/// More are no hosts, but what differs from line to line.
const MOST_HOSTS: usize = 1 << 16;

/// How much of a line is shown.
const LONGEST_LINE: usize = 240;

/// All hosts, by their number.
#[derive(Default)]
pub(super) struct Hosts {
    numbers: HashMap<Vec<u8>, u32>,
    names: Vec<String>,
}

impl Hosts {
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if self.names.len() >= MOST_HOSTS {
            bail!("more than {MOST_HOSTS} hosts; --host must name what is the same on all lines of a host");
        }
        let number = self.names.len() as u32;
        self.names.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.to_vec(), number);
        Ok(number)
    }

    fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}

pub(super) struct Report<'a> {
    pub(super) findings: Findings,
    pub(super) steps: Few<(u32, usize, StepBack)>,
    pub(super) makers: &'a Makers,
    pub(super) hosts: &'a Hosts,
    pub(super) lines: u64,
    pub(super) numbers: Numbers,
}

impl Report<'_> {
    pub(super) fn print(&self, args: &Audit, sources: &[Source], kept: Option<BufWriter<File>>) -> Result<()> {
        let lines = self.read_lines(sources, kept)?;
        let object = self.object(sources, &lines);
        let mut out: Box<dyn Write> = match stdout().is_terminal() {
            true => Box::new(Harmless::new(stdout().lock())),
            false => Box::new(BufWriter::new(stdout().lock())),
        };
        let text = if args.json { serde_json::to_string(&object)? + "\n" } else { text(&object, &args.gap) };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
    }

    /// The lines that are shown, by their places. Reads files again as far as they have one.
    fn read_lines(&self, sources: &[Source], mut kept: Option<BufWriter<File>>) -> Result<HashMap<u64, String>> {
        let repeated = self.findings.repeats.shown.iter().flat_map(|repeat| &repeat.places);
        let mut wanted: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for record in repeated.chain(&self.findings.future.shown) {
            wanted.entry(record.source()).or_default().push(record.line());
        }
        let mut lines = HashMap::new();
        for (source, mut numbers) in wanted {
            numbers.sort_unstable();
            let mut add = |number: u64, line: &[u8]| {
                let more = if line.len() > LONGEST_LINE { "..." } else { "" };
                let line = String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]);
                lines.insert(Record::place(source, number), format!("{}{more}", line.trim_end()));
            };
            let (mut number, mut next) = (0, 0);
            let mut see = |line: &[u8]| {
                number += 1;
                if numbers.get(next) == Some(&number) {
                    add(number, line);
                    next += numbers[next..].iter().take_while(|it| **it == number).count();
                }
                if next == numbers.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match (&sources[source], &mut kept) {
                (Source::Stdin, Some(kept)) => {
                    kept.flush().and_then(|()| kept.get_mut().rewind()).context("temporary file")?;
                    let mut line = Vec::new();
                    let mut input = BufReader::new(kept.get_ref());
                    while input.read_until(b'\n', &mut line).context("temporary file")? > 0 {
                        if see(&line).is_break() {
                            break;
                        }
                        line.clear();
                    }
                }
                (source, _) => {
                    let bar = ProgressBar::hidden();
                    let Ok(blocks) = source.open(&bar) else { continue };
                    source.each(blocks, &bar, |mut block| {
                        if block.is_empty() {
                            return Ok(see(b""));
                        }
                        while !block.is_empty() {
                            let end = memchr(b'\n', block).map_or(block.len(), |newline| newline + 1);
                            if see(&block[..end]).is_break() {
                                return Ok(ControlFlow::Break(()));
                            }
                            block = &block[end..];
                        }
                        Ok(ControlFlow::Continue(()))
                    })?;
                }
            }
        }
        Ok(lines)
    }

    /// All of it, for programs.
    fn object(&self, sources: &[Source], lines: &HashMap<u64, String>) -> Value {
        let findings = &self.findings;
        let place = |record: &Record| {
            let mut place = json!({ "file": sources[record.source()].name(), "line": record.line() });
            if let Some(text) = lines.get(&Record::place(record.source(), record.line())) {
                place["text"] = json!(text);
            }
            place
        };
        let repeats = findings.repeats.shown.iter().map(|repeat| {
            let first = &repeat.places[0];
            json!({
                "format": name(self.makers.all[first.maker as usize].format()),
                "time": time::rfc3339(first.ms),
                "lines": repeat.lines,
                "places": repeat.places.iter().map(place).collect::<Vec<_>>(),
            })
        });
        let steps = self.steps.shown.iter().map(|(host, source, step)| {
            json!({
                "host": self.hosts.name(*host),
                "file": sources[*source].name(),
                "line": step.line,
                "from": time::rfc3339(step.from_ms),
                "to": time::rfc3339(step.to_ms),
                "by_ms": step.by_ms,
                "ids": step.ids,
            })
        });
        let shared = findings.shared.iter().map(|shared| {
            let maker = &self.makers.all[shared.maker as usize];
            json!({
                "format": name(maker.format()),
                "node": maker.node(),
                "hosts": shared.hosts.iter().map(|host| self.hosts.name(*host)).collect::<Vec<_>>(),
                "from": time::rfc3339(shared.from_ms),
                "to": time::rfc3339(shared.to_ms),
                "turns": shared.turns,
            })
        });
        let gaps = findings.gaps.shown.iter().map(|gap| {
            json!({
                "host": gap.host.map(|host| self.hosts.name(host)),
                "from": time::rfc3339(gap.from_ms),
                "to": time::rfc3339(gap.to_ms),
                "ms": gap.to_ms - gap.from_ms,
            })
        });
        let future = findings.future.shown.iter().map(|record| {
            let mut future = place(record);
            future["time"] = json!(time::rfc3339(record.ms));
            future["host"] = json!(self.hosts.name(record.host));
            future
        });
        let sequences = findings.sequences.shown.iter().map(|ending| {
            let maker = &self.makers.all[ending.maker as usize];
            json!({
                "format": name(maker.format()),
                "node": maker.node(),
                "time": time::rfc3339(ending.ms),
                "sequence": ending.sequence,
                "of": ending.all,
            })
        });
        let rate = |rate: &Rate, host: Option<&str>| {
            json!({
                "host": host,
                "ids": rate.count,
                "from": time::rfc3339(rate.from_ms),
                "to": time::rfc3339(rate.to_ms),
                "average": (rate.average() * 10.0).round() / 10.0,
                "most": rate.most,
                "most_at": time::rfc3339(rate.most_ms),
            })
        };
        let hosts =
            (0..).zip(&findings.hosts).filter_map(|(host, it)| Some(rate(it.as_ref()?, Some(self.hosts.name(host)))));
        let mut rates: Vec<_> = hosts.collect();
        rates.sort_by_key(|it| std::cmp::Reverse(it["ids"].as_u64()));
        let all = findings.all.as_ref().map(|all| rate(all, None));
        let layout = self.numbers.layout.ending(txid::system_ms()).map(|ending| ending.to_string());
        let has_numbers = self.makers.all.iter().any(|maker| maker.format().takes_a_layout());
        json!({
            "lines": self.lines,
            "ids": findings.all.as_ref().map_or(0, |all| all.count),
            "repeats": { "count": findings.repeats.count, "shown": repeats.collect::<Vec<_>>() },
            "steps_back": { "count": self.steps.count, "shown": steps.collect::<Vec<_>>() },
            "shared_nodes": { "count": findings.shared.len(), "shown": shared.collect::<Vec<_>>() },
            "gaps": { "count": findings.gaps.count, "shown": gaps.collect::<Vec<_>>() },
            "future": { "count": findings.future.count, "shown": future.collect::<Vec<_>>() },
            "sequences": { "count": findings.sequences.count, "shown": sequences.collect::<Vec<_>>() },
            "layout_ends": layout.filter(|_| has_numbers),
            "rates": all.into_iter().chain(rates).collect::<Vec<_>>(),
        })
    }
}

/// The same, for people.
fn text(report: &Value, gap: &str) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let host = |it: &Value| it["host"].as_str().unwrap_or("all hosts").to_string();
    let node = |it: &Value| match it["node"].as_str() {
        Some(node) => format!("node {node} of {}", plain(&it["format"])),
        None => plain(&it["format"]),
    };
    let span = |it: &Value| format!("from {} to {}", plain(&it["from"]), plain(&it["to"]));
    let seconds = |ms: &Value| ms.as_i64().unwrap_or_default() as f64 / 1000.0;
    let at = |it: &Value| format!("{}:{}", plain(&it["file"]), it["line"]);
    let counted = |count: &Value, what: &str| {
        let end = if count.as_u64() == Some(1) { "" } else { "s" };
        format!("{count} {what}{end}")
    };
    let mut text = format!("{} on {}\n", counted(&report["ids"], "id"), counted(&report["lines"], "line"));
    let mut section = |name: &str, found: &Value, what: &str, line: &dyn Fn(&Value) -> String| {
        text += &format!("{name:<14}{}{what}\n", found["count"]);
        let shown = found["shown"].as_array().map_or(&[][..], Vec::as_slice);
        shown.iter().for_each(|it| text += &format!("  {}\n", line(it)));
        let more = found["count"].as_u64().unwrap_or_default() - shown.len() as u64;
        if more > 0 {
            text += &format!("  and {more} more\n");
        }
    };
    section("repeats", &report["repeats"], "", &|it| {
        let mut lines =
            format!("{} of {}, on {}", plain(&it["format"]), plain(&it["time"]), counted(&it["lines"], "line"));
        for place in it["places"].as_array().into_iter().flatten() {
            lines += &format!("\n    {}: {}", at(place), plain(&place["text"]));
        }
        lines
    });
    section("steps back", &report["steps_back"], "", &|it| {
        format!("{}, {}: {} s, {}; {} ids in a row", host(it), at(it), seconds(&it["by_ms"]), span(it), it["ids"])
    });
    section("shared nodes", &report["shared_nodes"], "", &|it| {
        let hosts: Vec<_> = it["hosts"].as_array().into_iter().flatten().map(plain).collect();
        format!("{}: {}, {}; {}", node(it), hosts.join(" and "), span(it), counted(&it["turns"], "turn"))
    });
    section("gaps", &report["gaps"], &format!(" longer than {gap}"), &|it| {
        format!("{}: {} s, {}", host(it), seconds(&it["ms"]), span(it))
    });
    section("future", &report["future"], "", &|it| {
        format!("{}, {}: {}: {}", host(it), plain(&it["time"]), at(it), plain(&it["text"]))
    });
    section("sequences", &report["sequences"], " near their end", &|it| {
        format!("{}: {} of {} at {}", node(it), it["sequence"], it["of"], plain(&it["time"]))
    });
    if let Some(ends) = report["layout_ends"].as_str() {
        text += &format!("layout        {ends}\n");
    }
    text += "rates\n";
    for it in report["rates"].as_array().into_iter().flatten() {
        let most = format!("at most {} in the second of {}", it["most"], plain(&it["most_at"]));
        text += &format!(
            "  {}: {}, {} a second, {most}, {}\n",
            host(it),
            counted(&it["ids"], "id"),
            it["average"],
            span(it)
        );
    }
    text
}
