//! Which ids `grep`, `sort`, `audit` and `range` read.

use crate::line_time::LineTime;
use anyhow::{Context, Result, anyhow, bail};
use std::ops::{ControlFlow, Range};
use txid::formats::find::{Finder, SHORTEST};
use txid::formats::{ALL, Format, Numbers, Readings};
use txid::snowflake::Layout;
use txid_args::{By, Ids, Which};

/// The ids that are looked for.
pub(crate) struct Wanted {
    /// None: whatever is likely an id.
    pub(crate) formats: Option<Vec<&'static Format>>,
    /// In other text, a number of few digits is never taken for an id.
    pub(crate) numbers: Numbers,
    /// Whether somebody said what the layout of numbers is.
    pub(crate) has_layout: bool,
    /// Whether nobody said which formats.
    pub(crate) is_default: bool,
}

/// When what a line tells of began: the time of a txid in it, or else of the first id, or else its own.
pub(crate) struct Own {
    ids: Finder,
    is_any: bool,
    by: By,
    times: LineTime,
}

impl Own {
    pub(crate) fn new(wanted: &Wanted, by: By) -> Result<Self> {
        let ids = match wanted.formats {
            Some(_) => wanted.finder()?,
            None => Finder::of_likely(wanted.numbers_in_text()),
        };
        Ok(Self { ids, is_any: wanted.formats.is_none(), by, times: LineTime::new() })
    }

    /// The lines that follow are of another file, which was last changed then.
    pub(crate) fn begin(&mut self, changed_ms: i64) {
        self.times.begin(changed_ms);
    }

    pub(crate) fn ms(&mut self, line: &[u8]) -> Option<i64> {
        let (mut own, is_any) = (None, self.is_any);
        if self.by != By::Line {
            self.ids.each(line, |id| {
                let is_own = !is_any || id.format == ALL[0];
                own = if is_own { id.ms } else { own.or(id.ms) };
                if is_own { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        own.or_else(|| self.times.find(line).filter(|_| self.by != By::Id).map(|it| it.ms))
    }
}

const DAY_MS: i64 = 86_400_000;

/// Whether a text that reads as a txid is one, without a look at other formats: it is not of a time to come, as an xid would
/// be, and no part of a UNIQUE_ID or another longer id.
pub(crate) fn is_surely_one(line: &[u8], range: &Range<usize>, ms: i64) -> bool {
    let is_joint = |byte: Option<&u8>| byte.is_some_and(|byte| b"-_@.".contains(byte));
    let before = range.start.checked_sub(1).and_then(|before| line.get(before));
    !is_joint(before) && !is_joint(line.get(range.end)) && !is_to_come(ms)
}

/// Whether a time is so late that a text that was read as a txid is rather an id of another format.
pub(crate) fn is_to_come(ms: i64) -> bool {
    ms > txid::system_ms().saturating_add(DAY_MS)
}

/// Which ids are read if nobody says which.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Default {
    Any,
    Txid,
}

impl Wanted {
    pub(crate) fn new(ids: &Ids, default: Default) -> Result<Self> {
        let has_layout = ids.layout.is_some();
        let is_default = ids.format.is_empty() && !has_layout;
        let numbers = match &ids.layout {
            Some(layout) => Numbers { layout: layout.parse::<Layout>()?, is_chosen: false },
            None => Numbers::UNKNOWN,
        };
        if ids.format.contains(&Which::Any) || is_default && default == Default::Any {
            return Ok(Self { formats: None, numbers, has_layout, is_default });
        }
        let mut formats: Vec<&'static Format> = Vec::new();
        let is_meant = |format: &Format| {
            let is_uuid = format.has_a_time() && format.name.starts_with("uuid");
            ids.format
                .iter()
                .any(|which| matches!(which, Which::Of(one) if *one == format) || *which == Which::Uuids && is_uuid)
        };
        formats.extend(ALL.iter().filter(|format| is_meant(format)));
        if formats.is_empty() {
            // The first of the list is our own.
            let default = ALL.iter().copied().find(|format| format.takes_a_layout() == has_layout);
            formats.push(default.context("there is no such format")?);
        }
        if has_layout && !formats.iter().any(|format| format.takes_a_layout()) {
            let names = formats.iter().map(|format| format.name).collect::<Vec<_>>().join(",");
            bail!("--layout is for --format snowflake, not {names}");
        }
        Ok(Self { formats: Some(formats), numbers, has_layout, is_default })
    }

    /// What finds them in text.
    pub(crate) fn finder(&self) -> Result<Finder> {
        match &self.formats {
            Some(formats) => Finder::of(formats, self.numbers).context("ids of this format contain no timestamp"),
            // Numbers are found, to be passed over.
            None => Ok(Finder::of_likely(Numbers { is_chosen: true, ..self.numbers })),
        }
    }

    /// Whether numbers are found, but no ids as long as nobody says their layout.
    pub(crate) fn passes_numbers(&self) -> bool {
        self.formats.is_none() && !self.has_layout
    }

    /// What people call such an id.
    pub(crate) fn title(&self) -> String {
        match &self.formats {
            Some(formats) => formats.iter().map(|format| format.name).collect::<Vec<_>>().join(" or "),
            None => "id".to_string(),
        }
    }

    /// The only format.
    pub(crate) fn one(&self) -> Option<&'static Format> {
        match self.formats.as_deref() {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    fn has(&self, is_meant: impl Fn(&Format) -> bool) -> bool {
        match &self.formats {
            Some(formats) => formats.iter().any(|format| is_meant(format)),
            // Nobody means less by a text that may be a txid.
            None => is_meant(ALL[0]),
        }
    }

    /// How numbers are read where they may be ids.
    pub(crate) fn numbers_in_text(&self) -> Numbers {
        Numbers { is_chosen: self.has_numbers(), ..self.numbers }
    }

    /// Whether a number may be an id. It can be of any layout, so one must be named.
    pub(crate) fn has_numbers(&self) -> bool {
        self.has_layout || self.has(Format::takes_a_layout)
    }

    /// The time of a text that is an id; None if it is none.
    pub(crate) fn ms(&self, text: &[u8]) -> Option<Result<i64>> {
        if text.len() < SHORTEST || !self.has_numbers() && text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let readings = Readings::of(text, &self.numbers_in_text(), txid::system_ms());
        let mut wanted = readings.iter().filter(|it| self.has(|format| format == it.format()) && it.unlikely.is_none());
        if let Some(ms) = wanted.find_map(|it| it.ms) {
            return Some(Ok(ms));
        }
        let likely: Vec<_> = readings.iter().filter(|it| it.unlikely.is_none()).collect();
        match (readings.certain().and_then(|it| it.ms), &likely[..]) {
            (Some(ms), _) => Some(Ok(ms)),
            (None, []) => None,
            (None, [one]) if one.ms.is_none() => Some(Err(anyhow!("a {}, which holds no time", one.format().title))),
            (None, all) => {
                let names = all.iter().map(|it| it.format().title).collect::<Vec<_>>().join(" or ");
                Some(Err(anyhow!("an id, which may be a {names}; give its time, as txid inspect shows it")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Default, Wanted, is_surely_one, is_to_come};

    fn wanted(words: &str) -> Wanted {
        let args = <txid_args::Args as clap::Parser>::parse_from(words.split(' '));
        let Some(txid_args::Command::Sort(args)) = args.command else { panic!("sort") };
        Wanted::new(&args.ids, Default::Txid).unwrap()
    }

    #[test]
    fn what_is_more_than_a_day_ahead_is_to_come() {
        // The clock goes on meanwhile.
        let now_ms = txid::system_ms();
        assert_eq!([86_400_000, 90_000_000].map(|ahead| is_to_come(now_ms + ahead)), [false, true]);
    }

    #[test]
    fn a_part_of_a_longer_id_is_not_surely_one() {
        for (line, is_sure) in [
            ("0.1", false),
            ("0-1", false),
            ("0_1", false),
            ("0@1", false),
            ("0 1", true),
            ("0/1", true),
            ("1.0", false),
            ("1-0", false),
            ("1_0", false),
            ("1@0", false),
            ("1&0", true),
            ("1", true),
        ] {
            let at = line.find('1').unwrap();
            assert_eq!(is_surely_one(line.as_bytes(), &(at..at + 1), 0), is_sure, "{line}");
        }
        assert!(!is_surely_one(b"1", &(0..1), i64::MAX));
    }

    #[test]
    fn numbers_are_ids_of_15_digits_or_more() {
        let of_numbers = wanted("txid sort --layout snowflake53");
        assert!(of_numbers.ms(b"12345678901234").is_none());
        assert!(of_numbers.ms(b"123456789012345").is_some_and(|ms| ms.is_ok()));
        assert!(wanted("txid sort").ms(b"1160090501362225152").is_none());
        let formats = wanted("txid sort --format ulid,flake");
        assert_eq!((&*formats.title(), formats.one().is_none()), ("flake or ulid", true));
        assert_eq!(wanted("txid sort --format any").title(), "id");
    }
}
