//! How `txid grep` lays out lines: with names, numbers, colors and the lines around them.

use crate::blocks::lines;
use crate::terminal;
use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use memchr::memchr_iter;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{IsTerminal, stdout};
use std::ops::{ControlFlow, Range};
use txid_args::{Grep, When};

const NAME: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Magenta)));
const NUMBER: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const ID: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

/// What stands before and around lines.
pub(crate) struct Layout {
    has_numbers: bool,
    is_only_ids: bool,
    /// Each line is a record.
    is_lines: bool,
    pub(crate) most: Option<u64>,
    before: usize,
    after: usize,
    has_separators: bool,
    has_colors: bool,
    is_terminal: bool,
    pub(crate) is_json: bool,
    /// What stands after a name instead of `:` or a newline.
    is_null: bool,
    pub(crate) is_named: bool,
}

impl Layout {
    pub(crate) fn of(args: &Grep, files: usize) -> Self {
        let context = |side: Option<usize>| side.or(args.context).unwrap_or(0);
        Self {
            has_numbers: args.line_number,
            is_only_ids: args.only_matching,
            is_lines: args.lines,
            most: args.max_count,
            before: context(args.before_context),
            after: context(args.after_context),
            has_separators: args.after_context.or(args.before_context).or(args.context).is_some(),
            has_colors: match args.color {
                When::Auto => anstream::AutoStream::choice(&stdout()) != ColorChoice::Never,
                When::Always => true,
                When::Never => false,
            },
            is_json: args.json,
            is_null: args.null,
            is_terminal: stdout().is_terminal(),
            is_named: args.with_filename || !args.no_filename && (args.recursive || files > 1),
        }
    }

    /// Whether lines are printed as they are, and all of them.
    pub(crate) fn is_plain(&self) -> bool {
        !(self.has_numbers || self.is_only_ids || self.has_separators || self.has_colors)
            && !(self.is_json || self.is_terminal || self.is_named || self.most.is_some())
    }

    /// Whether the places of ids in a line matter.
    pub(crate) fn needs_ids(&self) -> bool {
        self.is_only_ids || self.has_colors || self.is_json
    }

    fn has_context(&self) -> bool {
        self.before > 0 || self.after > 0
    }

    pub(crate) fn count_line(&self, name: Option<&str>, count: u64) -> String {
        match name {
            Some(name) => format!("{}{}{count}\n", self.styled(NAME, name.as_bytes()), self.after_name(':')),
            None => format!("{count}\n"),
        }
    }

    pub(crate) fn name_line(&self, name: &str) -> String {
        format!("{}{}", self.styled(NAME, name.as_bytes()), self.after_name('\n'))
    }

    fn after_name(&self, otherwise: char) -> char {
        if self.is_null { '\0' } else { otherwise }
    }

    /// What cannot control a terminal, in a color.
    fn styled(&self, style: Style, text: &[u8]) -> String {
        let text = match self.is_terminal {
            true => terminal::harmless(text),
            false => String::from_utf8_lossy(text).into_owned(),
        };
        if self.has_colors { format!("{style}{text}{style:#}") } else { text }
    }
}

/// The lines of one file that are printed.
pub(crate) struct Page<'a> {
    layout: &'a Layout,
    name: Option<&'a str>,
    text: Vec<u8>,
    /// Lines that match, since they were last asked for, and ever.
    count: u64,
    matches: u64,
    /// Whether more records were printed before this one than are wanted.
    is_over: bool,
    /// The number of the next line, from 1.
    number: u64,
    /// The last lines that do not match and are not printed yet.
    before: VecDeque<Vec<u8>>,
    after_left: usize,
    /// The last line that was printed.
    printed: Option<u64>,
    /// Whether lines of another file stand before.
    is_after_another: bool,
}

impl<'a> Page<'a> {
    pub(crate) fn new(layout: &'a Layout, name: Option<&'a str>, is_after_another: bool) -> Self {
        Self {
            layout,
            name,
            text: Vec::new(),
            count: 0,
            matches: 0,
            is_over: false,
            number: 1,
            before: VecDeque::new(),
            after_left: 0,
            printed: None,
            is_after_another,
        }
    }

    /// Adds lines as they are.
    pub(crate) fn copy(&mut self, lines: &[u8]) {
        self.text.extend_from_slice(lines);
        if lines.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// To be used again.
    pub(crate) fn give_back(&mut self, mut text: Vec<u8>) {
        text.clear();
        self.text = text;
    }

    pub(crate) fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.count)
    }

    pub(crate) fn has_printed(&self) -> bool {
        self.printed.is_some() || self.is_after_another
    }

    pub(crate) fn skip_line(&mut self) {
        self.number += 1;
        self.before.clear();
    }

    /// A record that matches, for programs; `add` has more of it.
    pub(crate) fn object(&mut self, text: &[u8], add: impl FnOnce(&mut Value)) -> ControlFlow<()> {
        if self.is_full() {
            return ControlFlow::Break(());
        }
        let mut object = json!({ "text": String::from_utf8_lossy(text).trim_end_matches(['\n', '\r']) });
        if let Some(name) = self.name {
            object["file"] = json!(name);
        }
        if self.layout.has_numbers {
            object["line"] = json!(self.number);
        }
        add(&mut object);
        self.text.extend_from_slice(format!("{object}\n").as_bytes());
        self.matches += 1;
        self.count += 1;
        self.number += lines(text).count() as u64;
        ControlFlow::Continue(())
    }

    /// Lines that do not match.
    pub(crate) fn without(&mut self, text: &[u8]) -> ControlFlow<()> {
        if !self.layout.has_context() && (!self.is_full() || text.is_empty()) {
            if self.layout.has_numbers || self.layout.has_separators {
                self.number += memchr_iter(b'\n', text).count() as u64;
            }
            return ControlFlow::Continue(());
        }
        lines(text).try_for_each(|line| self.other(line))
    }

    /// Whether as many records were printed as are wanted.
    fn is_full(&self) -> bool {
        self.layout.most.is_some_and(|most| self.matches >= most)
    }

    /// A line of a record that matches, with what matched in it.
    pub(crate) fn with(
        &mut self,
        line: &[u8],
        is_new: bool,
        ids: impl Iterator<Item = Range<usize>>,
    ) -> ControlFlow<()> {
        let layout = self.layout;
        if is_new {
            self.is_over = self.is_full();
            self.matches += u64::from(!self.is_over);
            self.count += u64::from(!self.is_over);
        }
        if self.is_over {
            return if layout.after == 0 { ControlFlow::Break(()) } else { self.other(line) };
        }
        let first = self.number - self.before.len() as u64;
        for (number, line) in (first..).zip(std::mem::take(&mut self.before)) {
            self.print(number, '-', &line, std::iter::empty());
        }
        if layout.is_only_ids {
            self.separate(self.number);
            for range in ids {
                self.begin(self.number, ':');
                let id = layout.styled(ID, &line[range]);
                self.text.extend_from_slice(id.as_bytes());
                self.text.push(b'\n');
            }
        } else {
            self.print(self.number, ':', line, ids);
        }
        self.number += 1;
        self.after_left = layout.after;
        // Other lines of the record may follow.
        match layout.is_lines && self.is_full() && layout.after == 0 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// A line that does not match may be near one.
    fn other(&mut self, line: &[u8]) -> ControlFlow<()> {
        if self.after_left > 0 {
            self.after_left -= 1;
            self.print(self.number, '-', line, std::iter::empty());
        } else if self.is_full() {
            return ControlFlow::Break(());
        } else if self.layout.before > 0 {
            if self.before.len() == self.layout.before {
                self.before.pop_front();
            }
            self.before.push_back(line.to_vec());
        }
        self.number += 1;
        ControlFlow::Continue(())
    }

    /// What stands before a line.
    fn begin(&mut self, number: u64, after: char) {
        if let Some(name) = self.name {
            self.text.extend_from_slice(self.layout.styled(NAME, name.as_bytes()).as_bytes());
            self.text.push(self.layout.after_name(after) as u8);
        }
        if self.layout.has_numbers {
            self.text.extend_from_slice(self.layout.styled(NUMBER, number.to_string().as_bytes()).as_bytes());
            self.text.push(after as u8);
        }
    }

    /// Groups of lines that do not touch have a line between them.
    fn separate(&mut self, number: u64) {
        let is_apart = self.printed.map_or(self.is_after_another, |printed| printed + 1 < number);
        if self.layout.has_separators && is_apart {
            self.text.extend_from_slice(b"--\n");
        }
        self.printed = Some(number);
    }

    fn print(&mut self, number: u64, after: char, line: &[u8], ids: impl Iterator<Item = Range<usize>>) {
        self.separate(number);
        // Nothing of the lines around is an id of the window.
        if self.layout.is_only_ids {
            return;
        }
        self.begin(number, after);
        let mut at = 0;
        if self.layout.has_colors {
            for range in ids {
                self.add(&line[at..range.start]);
                self.text.extend_from_slice(self.layout.styled(ID, &line[range.clone()]).as_bytes());
                at = range.end;
            }
        }
        self.add(&line[at..]);
        if line.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
    }

    fn add(&mut self, text: &[u8]) {
        match self.layout.is_terminal {
            true => self.text.extend_from_slice(terminal::harmless(text).as_bytes()),
            false => self.text.extend_from_slice(text),
        }
    }
}
