//! Ids that were passed over: ids of other formats, and numbers without a layout. What to type to have them.

use crate::blocks::{line_end, line_start};
use crate::ids::Wanted;
use crate::line_time::LineTime;
use crate::time;
use std::ops::{ControlFlow, Range, RangeInclusive};
use txid::formats::find::{Finder, Found};
use txid::formats::{ALL, Format, Numbers, Readings};

/// How many numbers are read in each layout.
const MOST_NUMBERS: u64 = 10_000;

const DAY_MS: i64 = 86_400_000;
const TEN_YEARS_MS: i64 = 3_653 * DAY_MS;

pub(crate) struct Skipped {
    /// Finds whatever is likely an id, and numbers.
    finder: Finder,
    /// Only times in here are of interest.
    window: RangeInclusive<i64>,
    now_ms: i64,
    /// The clock of lines with numbers.
    times: LineTime,
    /// The earliest and the latest time that was read in the same lines.
    pub(crate) others: Option<[i64; 2]>,
    formats: Vec<(&'static Format, u64)>,
    numbers: u64,
    layouts: Vec<Fit>,
}

/// Numbers that have a likely time in a layout.
struct Fit {
    layout: &'static str,
    count: u64,
    first_ms: i64,
    last_ms: i64,
}

/// Whether a text that was found is a number.
pub(crate) fn is_number(text: &[u8]) -> bool {
    text.len() < 20 && text.iter().all(u8::is_ascii_digit)
}

impl Skipped {
    pub(crate) fn new(window: RangeInclusive<i64>) -> Self {
        let finder = Finder::of_likely(Numbers { is_chosen: true, ..Numbers::UNKNOWN });
        let now_ms = txid::system_ms();
        let times = LineTime::new();
        Self { finder, window, now_ms, times, others: None, formats: Vec::new(), numbers: 0, layouts: Vec::new() }
    }

    /// Counts the ids in a text that are no txids, and returns the first txid, and the first id that is no number.
    pub(crate) fn look(&mut self, text: &[u8]) -> [Option<Found>; 2] {
        let (mut txid, mut first, mut numbers) = (None, None, Vec::new());
        let (formats, window) = (&mut self.formats, &self.window);
        self.finder.each(text, |it| {
            match it.ms {
                _ if is_number(&text[it.range.clone()]) => numbers.push(it.range),
                Some(ms) => {
                    if txid.is_none() && it.format == ALL[0] {
                        txid = Some(it.clone());
                    }
                    if first.is_none() {
                        first = Some(it.clone());
                    }
                    match formats.iter_mut().find(|(format, _)| *format == it.format) {
                        _ if !window.contains(&ms) || it.format == ALL[0] => {}
                        Some((_, count)) => *count += 1,
                        None => formats.push((it.format, 1)),
                    }
                }
                None => {}
            }
            ControlFlow::Continue(())
        });
        numbers.into_iter().for_each(|range| self.number(text, range));
        [txid, first]
    }

    /// A line has this time.
    pub(crate) fn near(&mut self, ms: i64) {
        let [first, last] = self.others.unwrap_or([ms; 2]);
        self.others = Some([first.min(ms), last.max(ms)]);
    }

    /// Whether the times of a layout are near those that were read.
    fn is_near(&self, fit: &Fit) -> bool {
        let [first, last] = self.others.unwrap_or([i64::MIN, i64::MAX]);
        fit.first_ms <= last.saturating_add(DAY_MS) && fit.last_ms >= first.saturating_sub(DAY_MS)
    }

    /// Counts a number in lines that may be an id.
    pub(crate) fn number(&mut self, lines: &[u8], range: Range<usize>) {
        self.numbers += 1;
        if self.numbers > MOST_NUMBERS {
            return;
        }
        let line = &lines[line_start(lines, 0, range.start)..line_end(lines, range.end)];
        if let Some(stamp) = self.times.find(line) {
            self.near(stamp.ms);
        }
        let text = &lines[range];
        let is_wanted = |ms: &i64| self.window.contains(ms) && *ms > self.now_ms - TEN_YEARS_MS;
        for reading in Readings::of(text, &Numbers::UNKNOWN, self.now_ms).iter().filter(|it| it.unlikely.is_none()) {
            let (Some(layout), Some(ms)) = (reading.layout, reading.ms.filter(is_wanted)) else {
                continue;
            };
            match self.layouts.iter_mut().find(|fit| fit.layout == layout) {
                Some(fit) => {
                    fit.count += 1;
                    (fit.first_ms, fit.last_ms) = (fit.first_ms.min(ms), fit.last_ms.max(ms));
                }
                None => self.layouts.push(Fit { layout, count: 1, first_ms: ms, last_ms: ms }),
            }
        }
    }

    /// A sentence about each kind, with the command that takes them. Numbers alone, if the others were taken.
    pub(crate) fn sentences(&self, wanted: &Wanted, are_others_taken: bool) -> Vec<String> {
        let mut sentences = Vec::new();
        if !(are_others_taken || self.formats.is_empty()) {
            let mut formats = self.formats.clone();
            formats.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let names: Vec<_> = formats.iter().map(|(format, count)| format!("{count} {}", format.name)).collect();
            let command = command_with(&["--format", "any"], std::env::args());
            let title = wanted.title();
            sentences
                .push(format!("lines without a {title} have other ids, passed over: {}; {command}", names.join(", ")));
        }
        let mut fits: Vec<_> = self.layouts.iter().filter(|fit| self.is_near(fit)).collect();
        let least = fits.iter().map(|fit| fit.count).max().unwrap_or_default() / 2;
        fits.retain(|fit| fit.count > least);
        // Most ids that are met are new.
        fits.sort_by_key(|fit| std::cmp::Reverse(fit.last_ms));
        if let Some(best) = fits.first().filter(|_| !wanted.has_layout) {
            let of = |fit: &&&Fit| {
                let [first, last] = [fit.first_ms, fit.last_ms].map(time::rfc3339);
                format!("{} from {first} to {last}", fit.layout)
            };
            let layouts: Vec<_> = fits.iter().map(|fit| of(&fit)).collect();
            let command = command_with(&["--format", "any", "--layout", best.layout], std::env::args());
            let (count, be) = if self.numbers == 1 {
                ("1 number".to_string(), "an id")
            } else {
                (format!("{} numbers", self.numbers), "ids")
            };
            sentences
                .push(format!("{count} passed over may be {be}, in the layout {}; {command}", layouts.join(", or ")));
        }
        sentences
    }
}

/// The arguments of this command with these options after the name of the subcommand.
fn command_with(options: &[&str], args: impl Iterator<Item = String>) -> String {
    let mut words = vec!["txid".to_string()];
    let mut args = args.skip(1);
    words.extend(args.next());
    words.extend(options.iter().map(ToString::to_string));
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--format" | "--layout" => drop(args.next()),
            arg if arg.starts_with("--format=") || arg.starts_with("--layout=") => {}
            arg => words.push(quoted(arg)),
        }
    }
    words.join(" ")
}

/// An argument as a shell would take it.
pub(crate) fn quoted(arg: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    match !arg.is_empty() && arg.bytes().all(is_plain) {
        true => arg.to_string(),
        false => format!("'{}'", arg.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, Skipped, Wanted, command_with, is_number};
    use crate::ids::Default;

    fn wanted(words: &[&str]) -> Wanted {
        let args = <txid_args::Args as clap::Parser>::parse_from(words);
        let Some(txid_args::Command::Sort(args)) = args.command else { panic!("sort") };
        Wanted::new(&args.ids, Default::Txid).unwrap()
    }

    /// A snowflake and a number that is read in no layout; of the first 10,000 numbers alone, the layout is looked for.
    #[test]
    fn so_many_numbers_are_read_in_each_layout() {
        assert!(is_number(&[b'1'; 19]) && !is_number(&[b'1'; 20]) && !is_number(b"1x"));
        let wanted = wanted(&["txid", "sort", "--format", "any"]);
        for (others, is_read) in [(9_999, true), (10_000, false)] {
            let mut passed = Skipped::new(i64::MIN..=i64::MAX);
            (0..others).for_each(|_| passed.number(b"1", 0..1));
            passed.number(b"1160090501362225152", 0..19);
            let said = passed.sentences(&wanted, true);
            assert_eq!(said.iter().any(|it| it.starts_with(&format!("{} numbers", others + 1))), is_read, "{said:?}");
        }
    }

    #[test]
    fn other_ids_of_the_window_are_counted_and_the_most_come_first() {
        let wanted = wanted(&["txid", "sort"]);
        // A UUID of 2022-02-22, and ULIDs of 2016-07-30.
        let text = b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f 01ARZ3NDEKTSV4RRFFQ69G5FAV 01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let said = |window| {
            let mut passed = Skipped::new(window);
            passed.look(text);
            passed.sentences(&wanted, false).concat()
        };
        assert!(said(i64::MIN..=i64::MAX).contains("passed over: 2 ulid, 1 uuid_v7; txid "));
        assert!(said(1_469_922_850_260..=1_645_557_742_000).contains("passed over: 1 uuid_v7; "));
        assert!(said(1_469_922_850_259..=1_645_557_741_999).contains("passed over: 2 ulid; "));
        assert_eq!(said(0..=1), "");
    }

    /// Layouts that fit more than half as many numbers as the best one, those with the newest ids first.
    #[test]
    fn layouts_that_fit_about_as_many_numbers_are_named() {
        let wanted = wanted(&["txid", "sort"]);
        for (numbers, counts, said) in [
            (
                1,
                [1, 1, 0],
                "1 number passed over may be an id, in the layout b from T0Z to T2Z, or a from T0Z to T1Z; ",
            ),
            (9, [4, 2, 3], "9 numbers passed over may be ids, in the layout c from T0Z to T3Z, or a from T0Z to T1Z; "),
        ] {
            let mut passed = Skipped::new(i64::MIN..=i64::MAX);
            passed.numbers = numbers;
            for (at, layout) in ["a", "b", "c"].into_iter().enumerate() {
                let last_ms = at as i64 + 1;
                passed.layouts.push(Fit { layout, count: counts[at], first_ms: 0, last_ms });
            }
            let sentence = passed.sentences(&wanted, true).concat().replace("1970-01-01T00:00:00.00", "T");
            assert!(sentence.starts_with(said), "{sentence}");
        }
    }

    #[test]
    fn the_command_is_the_same_with_another_format() {
        for (args, expected) in [
            (&["/usr/bin/txid", "grep", "--since", "1h", "a.log"][..], "txid grep --format flake --since 1h a.log"),
            (&["txid", "sort", "it's.log"], r"txid sort --format flake 'it'\''s.log'"),
            (
                &["txid", "grep", "--format", "uuid_v7", "--from", "2 days ago"],
                "txid grep --format flake --from '2 days ago'",
            ),
            (&["txid", "grep", "--format=uuid_v7"], "txid grep --format flake"),
            (&["txid", "grep", "--from", ""], "txid grep --format flake --from ''"),
            (&["txid", "grep", "-c", "--format", "uuid_v7", "a.log"], "txid grep --format flake -c a.log"),
            (&["txid", "sort", "--layout", "uid", "--layout=uid", "a"], "txid sort --format flake a"),
            (
                &["txid", "grep", "a-_./:=@%+,Z9", "a*b", "$a", "~"],
                "txid grep --format flake a-_./:=@%+,Z9 'a*b' '$a' '~'",
            ),
        ] {
            assert_eq!(command_with(&["--format", "flake"], args.iter().map(ToString::to_string)), expected);
        }
    }
}
