//! What `txid audit` prints.

use super::clock::StepBack;
use super::findings::{Few, Findings, Rate};
use super::maker::Makers;
use super::records::Record;
use crate::blocks::{self, Blocks, Piece};
use crate::input::Source;
use crate::skipped::quoted;
use crate::terminal::Harmless;
use crate::time;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Seek, Write, stdout};
use std::ops::ControlFlow;
use std::rc::Rc;
use tempfile::SpooledTempFile;
use txid::formats::Numbers;
use txid_args::Audit;

/// More are no hosts, but what differs from line to line.
pub(super) const MOST_HOSTS: usize = 1 << 16;

/// How much of a line is shown.
const LONGEST_LINE: usize = 240;

/// All hosts, by their number.
#[derive(Default)]
pub(super) struct Hosts {
    numbers: HashMap<Rc<str>, u32>,
    names: Vec<Rc<str>>,
    /// The names that files gave.
    files: HashMap<u32, Vec<String>>,
    /// The length of all names.
    length: usize,
}

/// What a host takes, with its rate.
const HOST: usize = 350;

impl Hosts {
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u32> {
        let name = &*String::from_utf8_lossy(name);
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if self.names.len() >= MOST_HOSTS {
            bail!("more than {MOST_HOSTS} hosts; --host must name what is the same on all lines of a host");
        }
        let number = self.names.len() as u32;
        let name: Rc<str> = name.into();
        self.length += name.len();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        Ok(number)
    }

    pub(super) fn add_file(&mut self, number: u32, name: &str) {
        let files = self.files.entry(number).or_default();
        if files.iter().all(|file| file != name) {
            files.push(name.to_string());
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.names.len() * HOST + self.length
    }

    fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    fn files(&self, number: u32) -> &[String] {
        self.files.get(&number).map_or(&[], Vec::as_slice)
    }
}

pub(super) struct Report<'a> {
    pub(super) findings: Findings,
    pub(super) steps: Few<(u32, usize, StepBack)>,
    pub(super) makers: &'a Makers,
    pub(super) hosts: &'a Hosts,
    pub(super) lines: u64,
    pub(super) numbers: Numbers,
    /// How many ids there are of each format.
    pub(super) formats: Vec<(&'static str, u64)>,
    pub(super) args: &'a Audit,
    pub(super) sources: &'a [Source<'a>],
}

impl Report<'_> {
    /// Lines are shown from the files that were read, if they still have the id.
    pub(super) fn print(
        &self,
        spools: HashMap<usize, SpooledTempFile>,
        files: HashMap<usize, File>,
        has_id: impl Fn(&[u8], [u64; 2]) -> bool,
    ) -> Result<()> {
        let args = self.args;
        let lines = self.read_lines(spools, files, has_id)?;
        let object = self.object(&lines);
        let mut out: Box<dyn Write> = match stdout().is_terminal() {
            true => Box::new(Harmless::new(stdout().lock())),
            false => Box::new(BufWriter::new(stdout().lock())),
        };
        let text = if args.json { serde_json::to_string(&object)? + "\n" } else { self.text(&object) };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
    }

    /// The lines that are shown, by their places. Reads files again as far as they have one.
    fn read_lines(
        &self,
        mut spools: HashMap<usize, SpooledTempFile>,
        mut files: HashMap<usize, File>,
        has_id: impl Fn(&[u8], [u64; 2]) -> bool,
    ) -> Result<HashMap<u64, String>> {
        let repeated = self.findings.repeats.shown.iter().flat_map(|repeat| &repeat.places);
        let mut wanted: BTreeMap<usize, BTreeMap<u64, [u64; 2]>> = BTreeMap::new();
        for record in repeated.chain(&self.findings.future.shown).chain(&self.findings.outliers.shown) {
            wanted.entry(record.source()).or_default().insert(record.line(), record.id);
        }
        let mut lines = HashMap::new();
        for (source, mut ids) in wanted {
            let mut add = |number: u64, line: &[u8]| {
                let line = line.trim_ascii_end();
                let more = if line.len() > LONGEST_LINE { "..." } else { "" };
                let line = String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]);
                lines.insert(Record::place(source, number), format!("{line}{more}"));
            };
            let mut number = 0;
            let mut see = |line: &[u8]| {
                number += 1;
                if ids.remove(&number).is_some_and(|id| has_id(line, id)) {
                    add(number, line);
                }
                if ids.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let bar = ProgressBar::hidden();
            let mut blocks = match (spools.remove(&source), files.remove(&source)) {
                (Some(mut spool), _) => {
                    spool.rewind().context("temporary file")?;
                    Blocks::new(Box::new(spool))
                }
                (None, file) => {
                    let file = file.map_or_else(|| self.sources[source].file(), Ok).and_then(|mut file| {
                        file.rewind()?;
                        self.sources[source].open_file(file, &bar)
                    });
                    let Ok(blocks) = file else { continue };
                    blocks
                }
            };
            // What could not be read was said.
            while let Ok(Some(piece)) = blocks.next_piece() {
                let goes_on = match piece {
                    Piece::Lines(block) => blocks::lines(block).try_for_each(&mut see),
                    Piece::TooLong(_) => see(b""),
                };
                if goes_on.is_break() {
                    break;
                }
            }
        }
        Ok(lines)
    }

    /// All of it, for programs.
    fn object(&self, lines: &HashMap<u64, String>) -> Value {
        let (findings, sources, most) = (&self.findings, self.sources, self.args.show);
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
                "format": self.makers.all[first.maker as usize].format().name,
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
        let shared = findings.shared.iter().take(most).map(|shared| {
            let maker = &self.makers.all[shared.maker as usize];
            json!({
                "format": maker.format().name,
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
                "is": match gap.is_between {
                    [false, _] => "begins late",
                    [_, false] => "ends early",
                    _ => "between",
                },
            })
        });
        let timed = |record: &Record| {
            let mut timed = place(record);
            timed["time"] = json!(time::rfc3339(record.ms));
            timed["host"] = json!(self.hosts.name(record.host));
            timed
        };
        let (future, outliers) = (findings.future.shown.iter().map(timed), findings.outliers.shown.iter().map(timed));
        let sequences = findings.sequences.shown.iter().map(|ending| {
            let maker = &self.makers.all[ending.maker as usize];
            json!({
                "format": maker.format().name,
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
        let mut hosts: Vec<(u32, &Rate)> =
            (0..).zip(&findings.hosts).filter_map(|(host, it)| Some((host, it.as_ref()?))).collect();
        hosts.sort_by_key(|(_, rate)| std::cmp::Reverse(rate.count));
        let count = hosts.len();
        let hosts = hosts.into_iter().take(most).map(|(host, it)| {
            let mut rate = rate(it, Some(self.hosts.name(host)));
            rate["files"] = json!(self.hosts.files(host));
            rate
        });
        let all = findings.all.as_ref().map(|all| rate(all, None));
        let layout = self.numbers.layout.ending(txid::system_ms()).map(|ending| ending.to_string());
        let has_numbers = self.makers.all.iter().any(|maker| maker.format().takes_a_layout());
        json!({
            "lines": self.lines,
            "ids": findings.all.as_ref().map_or(0, |all| all.count) + findings.outliers.count,
            "formats": self.formats.iter().copied().collect::<BTreeMap<_, _>>(),
            "hosts": count,
            "shared_nodes": { "count": findings.shared.len(), "shown": shared.collect::<Vec<_>>() },
            "repeats": { "count": findings.repeats.count, "shown": repeats.collect::<Vec<_>>() },
            "steps_back": { "count": self.steps.count, "shown": steps.collect::<Vec<_>>() },
            "future": { "count": findings.future.count, "shown": future.collect::<Vec<_>>() },
            "sequences": { "count": findings.sequences.count, "shown": sequences.collect::<Vec<_>>() },
            "layout_ends": layout.filter(|_| has_numbers),
            "gaps": { "count": findings.gaps.count, "shown": gaps.collect::<Vec<_>>() },
            "outliers": { "count": findings.outliers.count, "shown": outliers.collect::<Vec<_>>() },
            "rates": all.into_iter().chain(hosts).collect::<Vec<_>>(),
        })
    }

    /// The command that shows what was logged near a time.
    fn around(&self, time: &str, format: &str) -> String {
        let mut words = vec!["txid".to_string(), "grep".to_string(), "--around".to_string(), time.to_string()];
        if let (true, Some(layout)) = (format == "snowflake", &self.args.ids.layout) {
            words.extend(["--layout".to_string(), layout.clone()]);
        } else if format == "snowflake" {
            words.extend(["--format".to_string(), format.to_string()]);
        }
        words.extend(self.args.files.iter().map(|file| file.display().to_string()));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The report, for people.
    fn text(&self, report: &Value) -> String {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let host = |it: &Value| it["host"].as_str().unwrap_or("all hosts").to_string();
        let node = |it: &Value| match it["node"].as_str() {
            Some(node) => format!("node {node} of {}", plain(&it["format"])),
            None => plain(&it["format"]),
        };
        let span = |it: &Value| format!("from {} to {}", plain(&it["from"]), plain(&it["to"]));
        let seconds = |ms: &Value| ms.as_i64().unwrap_or_default() as f64 / 1000.0;
        let at = |it: &Value| format!("{}:{}", plain(&it["file"]), it["line"]);
        let text_of = |it: &Value| it["text"].as_str().unwrap_or("the file has this line no more").to_string();
        let counted = |count: &Value, what: &str| {
            let end = if count.as_u64() == Some(1) { "" } else { "s" };
            format!("{count} {what}{end}")
        };
        let list = |it: &Value| it.as_array().into_iter().flatten().map(plain).collect::<Vec<_>>();
        let mut text = format!("{} on {}", counted(&report["ids"], "id"), counted(&report["lines"], "line"));
        if self.formats.len() > 1 {
            let formats: Vec<_> = self.formats.iter().map(|(name, count)| format!("{count} {name}")).collect();
            text += &format!(": {}", formats.join(", "));
        }
        text += "\n";
        // What is found, each on a line, and what to type next for the first.
        let mut section = |name: &str, what: &str, line: &dyn Fn(&Value) -> String, next: &dyn Fn(&Value) -> String| {
            let found = &report[name];
            let name = name.replace('_', " ");
            text += &format!("{name:<14}{}{what}\n", found["count"]);
            let shown = found["shown"].as_array().map_or(&[][..], Vec::as_slice);
            shown.iter().for_each(|it| text += &format!("  {}\n", line(it)));
            let more = found["count"].as_u64().unwrap_or_default() - shown.len() as u64;
            if more > 0 {
                text += &format!("  and {more} more\n");
            }
            if let Some(next) = shown.first().map(next).filter(|next| !next.is_empty()) {
                text += &format!("  next: {next}\n");
            }
        };
        let nothing = |_: &Value| String::new();
        section(
            "shared_nodes",
            "",
            &|it| {
                let turns = counted(&it["turns"], "turn");
                format!("{}: {}, {}; {turns}", node(it), list(&it["hosts"]).join(" and "), span(it))
            },
            &|it| self.around(&plain(&it["from"]), &plain(&it["format"])),
        );
        section(
            "repeats",
            "",
            &|it| {
                let lines = counted(&it["lines"], "line");
                let mut lines = format!("{} of {}, on {lines}", plain(&it["format"]), plain(&it["time"]));
                for place in it["places"].as_array().into_iter().flatten() {
                    lines += &format!("\n    {}: {}", at(place), text_of(place));
                }
                lines
            },
            &|it| {
                let per = match 2 * self.findings.copies.values().sum::<u64>() > self.findings.repeats.count {
                    _ if !self.args.per.is_empty() => "",
                    true => "; if these files tell of the same requests, say --per file",
                    false => "; if these are lines of one request, say --per KEY",
                };
                self.around(&plain(&it["time"]), &plain(&it["format"])) + per
            },
        );
        section(
            "steps_back",
            "",
            &|it| {
                let by = seconds(&it["by_ms"]);
                format!("{}, {}: {by} s, {}; {} older ids", host(it), at(it), span(it), it["ids"])
            },
            &|it| {
                let hosts = if self.args.host.is_none() {
                    "; if a file has lines of several hosts, say --host KEY"
                } else {
                    ""
                };
                self.around(&plain(&it["to"]), "") + hosts
            },
        );
        let timed = |it: &Value| format!("{}, {}: {}: {}", host(it), plain(&it["time"]), at(it), text_of(it));
        section("future", "", &timed, &nothing);
        section(
            "sequences",
            " near their end",
            &|it| format!("{}: {} of {} at {}", node(it), it["sequence"], it["of"], plain(&it["time"])),
            &nothing,
        );
        section(
            "gaps",
            &format!(" longer than {}", self.args.gap),
            &|it| {
                let how = if it["is"] == "between" { String::new() } else { format!(", {}", plain(&it["is"])) };
                format!("{}: {} s{how}, {}", host(it), seconds(&it["ms"]), span(it))
            },
            &|it| self.around(&plain(&it["from"]), ""),
        );
        if report["outliers"]["count"] != 0 {
            section("outliers", " far from all others, in no gap and no rate", &timed, &nothing);
        }
        if let Some(ends) = report["layout_ends"].as_str() {
            text += &format!("layout        {ends}\n");
        }
        text += "rates\n";
        let rates = report["rates"].as_array().map_or(&[][..], Vec::as_slice);
        for it in rates {
            let most = format!("at most {} in the second of {}", it["most"], plain(&it["most_at"]));
            let files = list(&it["files"]);
            let files = match &files[..] {
                [] => String::new(),
                [one] if *one == host(it) => String::new(),
                files => format!(" ({})", files.join(", ")),
            };
            let ids = counted(&it["ids"], "id");
            text += &format!("  {}{files}: {ids}, {} a second, {most}, {}\n", host(it), it["average"], span(it));
        }
        let more = report["hosts"].as_u64().unwrap_or_default() + 1;
        if more > rates.len() as u64 && !rates.is_empty() {
            text += &format!("  and {}\n", counted(&json!(more - rates.len() as u64), "more host"));
        }
        text
    }
}
