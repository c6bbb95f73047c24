//! Which ids `grep`, `sort`, `audit` and `range` read.

use anyhow::{Context, Result, anyhow, bail};
use txid::formats::find::{Finder, SHORTEST};
use txid::formats::{ALL, Format, Numbers, Readings};
use txid::snowflake::Layout;
use txid_args::{Ids, Which, name};

/// The ids that are looked for.
pub(crate) struct Wanted {
    /// None: whatever is likely an id.
    pub(crate) formats: Option<Vec<&'static Format>>,
    /// In other text, a number of few digits is never taken for an id.
    pub(crate) numbers: Numbers,
    /// Whether somebody said what the layout of numbers is.
    pub(crate) has_layout: bool,
}

impl Wanted {
    pub(crate) fn new(ids: &Ids) -> Result<Self> {
        let has_layout = ids.layout.is_some();
        let numbers = match &ids.layout {
            Some(layout) => Numbers { layout: layout.parse::<Layout>()?, is_chosen: false },
            None => Numbers::UNKNOWN,
        };
        if ids.format.contains(&Which::Any) {
            return Ok(Self { formats: None, numbers, has_layout });
        }
        let mut formats: Vec<&'static Format> = Vec::new();
        for which in &ids.format {
            match which {
                Which::Of(format) if !formats.contains(format) => formats.push(format),
                _ => {}
            }
        }
        if formats.is_empty() {
            // The first of the list is our own.
            let default = ALL.into_iter().find(|format| format.takes_a_layout() == has_layout);
            formats.push(default.context("there is no such format")?);
        }
        if has_layout && !formats.iter().any(|format| format.takes_a_layout()) {
            let names = formats.iter().map(|format| name(format)).collect::<Vec<_>>().join(",");
            bail!("--layout is for --format snowflake, not {names}");
        }
        Ok(Self { formats: Some(formats), numbers, has_layout })
    }

    /// What finds them in text.
    pub(crate) fn finder(&self) -> Result<Finder> {
        match &self.formats {
            Some(formats) => Finder::of(formats, self.numbers).context("ids of this format hold no time"),
            None => Ok(Finder::of_likely(self.numbers_in_text())),
        }
    }

    /// The only format.
    pub(crate) fn one(&self) -> Option<&'static Format> {
        match self.formats.as_deref() {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    fn has(&self, is_one: impl Fn(&Format) -> bool) -> bool {
        self.formats.as_ref().is_some_and(|formats| formats.iter().any(|format| is_one(format)))
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
