//! The window of time that options name.

use crate::errors::say;
use crate::ids::Wanted;
use crate::time;
use anyhow::{Context, Result, bail};
use std::ops::RangeInclusive;
use txid_args::Window;

/// What `--around` takes on both sides if nobody says `--within`.
const AROUND_MS: i64 = 5_000;

/// Milliseconds since 1970; None where nobody named an end.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) from: Option<i64>,
    /// Not in the window any more.
    pub(crate) to: Option<i64>,
}

impl Ends {
    /// `end` is the end of a window that has a start and neither an end nor a length.
    pub(crate) fn of(args: &Window, wanted: &Wanted, end: Option<&str>) -> Result<Self> {
        let span = args.span.as_deref().map(|text| time::parse_span("--for", text)).transpose()?;
        if let Some(text) = &args.around {
            let within = args.within.as_deref().map(|text| time::parse_span("--within", text)).transpose()?;
            let (middle, within) = (moment("--around", text, wanted)?, within.unwrap_or(AROUND_MS));
            return Ok(Self { from: Some(middle - within), to: Some(middle + within + 1) });
        }
        if args.within.is_some() {
            bail!("--within says how long before and after --around, which is missing");
        }
        let from_ms = args.from.as_deref().map(|text| moment("--from", text, wanted)).transpose()?;
        let to = match args.to.as_deref().or(end.filter(|_| from_ms.is_some() && span.is_none())) {
            Some(text) if text.starts_with('+') => {
                let Some(from) = from_ms else { bail!("--to '{text}' is after --from, which is missing") };
                Some(from + time::parse_span("--to", &text[1..])?)
            }
            Some(text) => Some(moment("--to", text, wanted)?),
            None => None,
        };
        let ends = match (from_ms, to, span) {
            (from, to, None) => Self { from, to },
            (Some(from), None, Some(span)) => Self { from: Some(from), to: Some(from + span) },
            (None, Some(to), Some(span)) => Self { from: Some(to - span), to: Some(to) },
            (None, None, Some(_)) => {
                bail!(
                    "--for says how long the window is; say where with --from or --to; with --around, --within says how long"
                )
            }
            (Some(_), Some(_), Some(_)) => {
                bail!("--for says how long the window is, and so do the start and the end; leave one out")
            }
        };
        match (ends.from, ends.to, args.from.as_deref(), args.to.as_deref()) {
            (Some(from), Some(to), Some(first), Some(last)) if from >= to => {
                if from > to && time::is_of_each_day(first) && time::is_of_each_day(last) {
                    return Self::over_midnight(from, [first, last]);
                }
                let [from, to] = [from, to].map(time::rfc3339);
                bail!("the window is empty: --from is {from}, and --to is {to}");
            }
            _ => Ok(ends),
        }
    }

    /// The last night that began.
    fn over_midnight(from: i64, [first, last]: [&str; 2]) -> Result<Self> {
        let (first, last) = match from > txid::system_ms() {
            true => (format!("yesterday {first}"), last.to_string()),
            false => (first.to_string(), format!("tomorrow {last}")),
        };
        let (from, to) = (time::parse("--from", &first)?, time::parse("--to", &last)?);
        say(&format!("--from is before midnight: the window is {} to {}", time::rfc3339(from), time::rfc3339(to)));
        Ok(Self { from: Some(from), to: Some(to) })
    }

    /// Windows that follow each other have no millisecond in common.
    pub(crate) fn range(&self) -> RangeInclusive<i64> {
        self.from.unwrap_or(i64::MIN)..=self.to.map_or(i64::MAX, |to| to - 1)
    }
}

/// A time, or the time of an id.
pub(crate) fn moment(option: &str, text: &str, wanted: &Wanted) -> Result<i64> {
    match wanted.ms(text.as_bytes()) {
        Some(ms) => ms.with_context(|| format!("{option} '{text}'")),
        None => time::parse(option, text),
    }
}
