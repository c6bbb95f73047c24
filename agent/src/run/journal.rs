//! The log. A thread of its own writes it, because a write to a pipe that nobody reads waits for ever.

use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write, stderr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use txid_agent::keeper::{Level, Line};

/// Lines of one lease or segment in any [`WINDOW`].
const MOST_LINES: usize = 10;
const WINDOW: Duration = Duration::from_secs(10);
/// The longest line, in bytes.
const LONGEST: usize = 1024;

/// Lines that wait for their thread. More are left out.
const MOST_WAITING: usize = 256;
/// How long the end of the process waits for the last lines.
const TO_FINISH: Duration = Duration::from_millis(500);

/// The lines for the thread, once there is one.
static LINES: OnceLock<SyncSender<String>> = OnceLock::new();
static WAITING: AtomicU64 = AtomicU64::new(0);
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// Whether lines are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, lines are JSON, or text.
pub fn set_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// From now on, a thread writes the log. A forked process has to call this again.
pub fn write_aside() -> io::Result<()> {
    let (sender, lines) = sync_channel::<String>(MOST_WAITING);
    thread::Builder::new().name("txid-log".to_owned()).spawn(move || {
        for line in lines {
            write(&line);
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
    })?;
    let _ = LINES.set(sender);
    Ok(())
}

/// Gives the last lines some time. To be called at the end.
pub fn finish() {
    let start = Instant::now();
    while WAITING.load(Ordering::Relaxed) > 0 && start.elapsed() < TO_FINISH {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A line of the agent itself.
pub fn say(text: &str) {
    say_line(&Line::new((Level::Info, "agent"), text));
}

/// One line for each change of state.
pub fn say_line(line: &Line) {
    match LINES.get() {
        Some(lines) => hand_over(lines, line),
        None => write(&shown(line)),
    }
}

fn shown(line: &Line) -> String {
    let text = line.to_string();
    // The journal adds the time itself, and takes the level from the beginning: `journalctl -p warning`.
    match std::env::var_os("JOURNAL_STREAM") {
        _ if IS_JSON.load(Ordering::Relaxed) => json(line),
        Some(_) => format!("<{}>{}", [6, 4, 3][line.kind.0 as usize], stamped(&text, false)),
        None => stamped(&text, true),
    }
}

/// Why the agent ends.
pub fn write_error(text: &str) {
    let line = Line::new((Level::Error, "failed"), text);
    write(&if IS_JSON.load(Ordering::Relaxed) { json(&line) } else { format!("txid-agent: {text}") });
}

fn stamped(text: &str, has_time: bool) -> String {
    let time = if has_time { format!("{:.3} ", jiff::Timestamp::now()) } else { String::new() };
    format!("{time}txid-agent: {}", one_line(text))
}

fn json(Line { kind: (level, event), group, node, text }: &Line) -> String {
    let level = format!("{level:?}").to_lowercase();
    let time = format!("{:.3}", jiff::Timestamp::now());
    let text = one_line(text);
    json!({ "time": time, "level": level, "group": group, "node": node, "event": event, "text": text }).to_string()
}

/// Gives a line to the thread, unless too many wait for it: the next one says how many were left out.
fn hand_over(lines: &SyncSender<String>, line: &Line) {
    let left_out = LEFT_OUT.swap(0, Ordering::Relaxed);
    let mut line = line.clone();
    if left_out > 0 {
        line.text += &format!(" ({left_out} lines before this one found no reader)");
    }
    WAITING.fetch_add(1, Ordering::Relaxed);
    if lines.try_send(shown(&line)).is_err() {
        WAITING.fetch_sub(1, Ordering::Relaxed);
        LEFT_OUT.fetch_add(left_out + 1, Ordering::Relaxed);
    }
}

/// In one write, so that the lines of several processes do not mix.
pub fn write(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

/// `text` without line ends, and cut if it is too long.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let room = LONGEST - 100;
    if line.len() > room {
        let end = line.char_indices().map(|(at, _)| at).take_while(|&at| at <= room).last().unwrap_or(0);
        let cut = line.len() - end;
        line.truncate(end);
        line += &format!("... and {cut} more bytes");
    }
    line
}

/// Chooses the lines of one lease or segment that are written, so that a store that answers nonsense fills no disk.
#[derive(Default)]
pub struct Journal {
    written: VecDeque<Instant>,
    left_out: u64,
    /// The last line, if it was left out. It says how things are now, perhaps for hours, so it is written later.
    last: Option<Line>,
}

impl Journal {
    /// The line to write now, if there is room for it.
    pub fn line(&mut self, mut line: Line, now: Instant) -> Option<Line> {
        if self.written.len() == MOST_LINES {
            if now.duration_since(self.written[0]) < WINDOW {
                self.left_out += 1;
                self.last = Some(line);
                return None;
            }
            self.written.pop_front();
        }
        self.written.push_back(now);
        self.last = None;
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            line.text += &format!(" (lines left out before this one: {left_out})");
        }
        Some(line)
    }

    /// When there is room for a line that was left out, if there is one.
    pub fn next(&self) -> Option<Instant> {
        self.last.as_ref().map(|_| self.written[0] + WINDOW)
    }

    /// That line, if there is room for it now.
    pub fn late_line(&mut self, now: Instant) -> Option<Line> {
        self.next().filter(|next| *next <= now)?;
        let line = self.last.take()?;
        self.left_out -= 1;
        self.line(line, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::new((Level::Info, "taken"), text)
    }

    #[test]
    fn in_ten_seconds_there_are_ten_lines_and_the_rest_is_counted() {
        let (mut journal, start) = (Journal::default(), Instant::now());
        let mut lines = Vec::new();
        for ms in (0..30_000).step_by(100) {
            let line = journal.line(line("text"), start + Duration::from_millis(ms));
            lines.extend(line.map(|line| (ms, line.text)));
        }
        assert_eq!(lines.len(), 30, "{lines:?}");
        assert!(lines.windows(MOST_LINES + 1).all(|some| some[MOST_LINES].0 - some[0].0 >= 10_000), "{lines:?}");
        assert_eq!(lines[10], (10_000, "text (lines left out before this one: 90)".to_owned()));
        assert_eq!(lines[11].1, "text");
    }

    /// Standard error may be a pipe that nobody reads.
    #[test]
    fn a_line_says_how_many_before_it_found_no_reader() {
        assert_eq!((MOST_WAITING, TO_FINISH), (256, Duration::from_millis(500)));
        let (sender, lines) = sync_channel(2);
        ["one", "two", "three", "four", "five"].iter().for_each(|text| hand_over(&sender, &line(text)));
        assert_eq!(WAITING.load(Ordering::Relaxed), 2, "the end of the process waits for no others");
        let next = || lines.recv().unwrap().split_once("txid-agent: ").unwrap().1.to_owned();
        assert_eq!((next(), next()), ("one".to_owned(), "two".to_owned()));
        ["six", "seven"].iter().for_each(|text| hand_over(&sender, &line(text)));
        assert_eq!(next(), "six (3 lines before this one found no reader)");
        assert_eq!(next(), "seven");
    }

    /// It may be an alarm that is said once.
    #[test]
    fn the_last_line_is_written_when_there_is_room() {
        let (mut journal, start) = (Journal::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        for number in 0..12 {
            journal.line(line(&format!("line {number}")), at(number));
        }
        assert_eq!(journal.next(), Some(at(10_000)));
        assert_eq!(journal.late_line(at(9_999)), None);
        assert_eq!(journal.late_line(at(10_000)).unwrap().text, "line 11 (lines left out before this one: 1)");
        assert_eq!((journal.late_line(at(20_000)), journal.next()), (None, None));
        // A newer line takes its place.
        (0..11).for_each(|_| drop(journal.line(line("old"), at(30_000))));
        assert_eq!(journal.line(line("new"), at(40_000)).unwrap().text, "new (lines left out before this one: 1)");
        assert_eq!(journal.next(), None);
        (0..11).for_each(|_| drop(journal.line(line("late"), at(50_000))));
        assert_eq!(journal.late_line(at(70_000)).unwrap().text, "late");
    }

    #[test]
    fn a_line_has_its_time_in_milliseconds_and_its_program() {
        assert_eq!(stamped("two\nlines", false), "txid-agent: two lines");
        let line = stamped("text", true);
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(rest == "txid-agent: text" && time.len() == "2026-11-27T17:00:00.000Z".len(), "{line}");
        let passed = jiff::Timestamp::now().duration_since(time.parse().unwrap());
        assert!((0..3600).contains(&passed.as_secs()), "{line}");
    }

    #[test]
    fn a_line_of_json_is_an_object() {
        let about = Line::new((Level::Warning, "store-away"), "two\n\"lines\"");
        let line = json(&Line { group: Some("orders".to_owned()), node: Some(7), ..about });
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(value["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{line}");
        let wanted = serde_json::json!({ "time": value["time"], "level": "warning", "group": "orders", "node": 7,
            "event": "store-away", "text": "two \"lines\"" });
        assert_eq!(value, wanted);
    }

    #[test]
    fn a_line_is_one_line_and_not_too_long() {
        assert_eq!(one_line("two\nlines\t"), "two lines ");
        for text in ["x".repeat(65_000_000), "\u{20ac}".repeat(1000)] {
            let line = one_line(&text);
            let (kept, cut) = line.strip_suffix(" more bytes").unwrap().split_once("... and ").unwrap();
            assert!(line.len() < 1024 && text.starts_with(kept) && kept.len() > 919, "{}", line.len());
            assert_eq!(cut.parse(), Ok(text.len() - kept.len()));
        }
        let just = "x".repeat(924);
        assert_eq!(one_line(&just), just);
        assert_eq!(one_line(&format!("{just}xx")), format!("{just}... and 2 more bytes"));
    }
}
