//! The log.

use std::collections::VecDeque;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

/// Lines of one lease or segment in any [`WINDOW`].
const MOST_LINES: usize = 10;
const WINDOW: Duration = Duration::from_secs(10);
/// The longest line, in bytes.
const LONGEST: usize = 1024;

/// One line for each change of state.
pub fn say(text: &str) {
    // The journal adds the time itself.
    let time = if std::env::var_os("JOURNAL_STREAM").is_some() {
        String::new()
    } else {
        format!("{:.3} ", jiff::Timestamp::now())
    };
    let _ = writeln!(stderr(), "{time}txid-agent: {}", one_line(text));
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
}

impl Journal {
    /// The line to write now, if there is room for it.
    pub fn line(&mut self, text: String, now: Instant) -> Option<String> {
        if self.written.len() == MOST_LINES {
            if now.duration_since(self.written[0]) < WINDOW {
                self.left_out += 1;
                return None;
            }
            self.written.pop_front();
        }
        self.written.push_back(now);
        Some(match std::mem::take(&mut self.left_out) {
            0 => text,
            count => format!("{text} ({count} lines before this one were left out)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_ten_seconds_there_are_ten_lines_and_the_rest_is_counted() {
        let (mut journal, start) = (Journal::default(), Instant::now());
        let mut lines = Vec::new();
        for ms in (0..30_000).step_by(100) {
            let line = journal.line("text".to_owned(), start + Duration::from_millis(ms));
            lines.extend(line.map(|line| (ms, line)));
        }
        assert_eq!(lines.len(), 30, "{lines:?}");
        assert!(lines.windows(MOST_LINES + 1).all(|some| some[MOST_LINES].0 - some[0].0 >= 10_000), "{lines:?}");
        assert_eq!(lines[10], (10_000, "text (90 lines before this one were left out)".to_owned()));
        assert_eq!(lines[11].1, "text");
    }

    #[test]
    fn a_line_is_one_line_and_not_too_long() {
        assert_eq!(one_line("two\nlines\t"), "two lines ");
        for text in ["x".repeat(65_000_000), "\u{20ac}".repeat(1000)] {
            let line = one_line(&text);
            assert!(line.len() < LONGEST && line.ends_with(" more bytes"), "{}", line.len());
        }
        let just = "x".repeat(LONGEST - 100);
        assert_eq!(one_line(&just), just);
    }
}
