//! Finds the ids of several formats in text, in one pass.

use crate::finder::{Finder, Window, dotted_end, is_uuid, prefix_at, runs, scan, xrays};
use crate::ids::Wanted;
use anyhow::{Context, Result};
use std::ops::{ControlFlow, Range, RangeInclusive};
use txid::formats::{Format, Numbers, Readings, Shape};

/// How long words are that are ids by themselves.
const WORDS: RangeInclusive<usize> = 15..=35;

/// An id, and where it is.
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) format: &'static Format,
    pub(crate) ms: i64,
}

/// Finds the ids that are wanted.
pub(crate) enum Ids {
    Of(Finder),
    Several(Mixture),
}

/// The window that [`Ids::within`] searches for.
pub(crate) enum Within {
    Of(Window),
    Several(RangeInclusive<i64>),
}

impl Ids {
    pub(crate) fn new(wanted: &Wanted) -> Result<Self> {
        Ok(match wanted.one() {
            Some(format) => Self::Of(Finder::new(format, wanted.numbers).context("ids of this format hold no time")?),
            None => Self::Several(Mixture::new(wanted)),
        })
    }

    pub(crate) fn window(&self, ms: RangeInclusive<i64>) -> Within {
        match self {
            Self::Of(finder) => Within::Of(finder.window(ms)),
            Self::Several(_) => Within::Several(ms),
        }
    }

    /// Calls `found` with the place of each id in `text` that is within the window.
    #[inline(always)]
    pub(crate) fn within(&self, text: &[u8], window: &Within, mut found: impl FnMut(Range<usize>)) {
        match (self, window) {
            (Self::Of(finder), Within::Of(window)) => finder.within(text, window, found),
            (Self::Several(mixture), Within::Several(ms)) => mixture.each(text, |it| {
                if ms.contains(&it.ms) {
                    found(it.range);
                }
                ControlFlow::Continue(())
            }),
            _ => unreachable!("a window is of the ids that it was asked of"),
        }
    }

    /// Calls `each` with the ids in `text`, in their order, until that breaks.
    #[inline(always)]
    pub(crate) fn each(&self, text: &[u8], mut each: impl FnMut(Found) -> ControlFlow<()>) {
        match self {
            Self::Of(finder) => finder.each(text, |range, ms| each(Found { range, format: finder.format(), ms })),
            Self::Several(mixture) => mixture.each(text, each),
        }
    }

    /// The first id in `text`.
    pub(crate) fn first(&self, text: &[u8]) -> Option<Found> {
        let mut first = None;
        self.each(text, |found| {
            first = Some(found);
            ControlFlow::Break(())
        });
        first
    }

    /// What a line is sorted by: of ids of one format all of the id, and of several the time.
    #[inline(always)]
    pub(crate) fn first_order(&self, line: &[u8]) -> Option<u128> {
        match self {
            Self::Of(finder) => finder.first_order(line),
            Self::Several(_) => Some(self.first(line)?.ms.abs_diff(i64::MIN).into()),
        }
    }
}

/// Several formats, or whatever is likely an id with a time.
pub(crate) struct Mixture {
    formats: Option<Vec<&'static Format>>,
    numbers: Numbers,
    /// A bit for each length of words that may be ids.
    lengths: u64,
    has_numbers: bool,
    has_base64: bool,
    has_prefixes: bool,
    now_ms: i64,
}

impl Mixture {
    pub(crate) fn new(wanted: &Wanted) -> Self {
        let formats = wanted.formats.clone();
        let all = txid::formats::ALL.into_iter().filter(|it| formats.as_ref().is_none_or(|some| some.contains(it)));
        let shapes: Vec<_> = all.filter_map(|format| Some(&format.time()?.shape)).collect();
        let mut lengths = 0;
        for shape in &shapes {
            let these = match shape {
                Shape::Word(lengths) => lengths.clone(),
                Shape::Dotted | Shape::Xray => 32..=32,
                Shape::Prefixed => 26..=26,
                Shape::Uuid | Shape::Base64(_) => continue,
            };
            these.for_each(|length| lengths |= 1_u64 << length);
        }
        Self {
            numbers: wanted.numbers_in_text(),
            has_numbers: wanted.has_numbers(),
            has_base64: shapes.iter().any(|shape| matches!(shape, Shape::Base64(_))),
            has_prefixes: shapes.contains(&&Shape::Prefixed),
            lengths,
            now_ms: txid::system_ms(),
            formats,
        }
    }

    /// Calls `each` with the ids in `text`, in their order, until that breaks.
    fn each(&self, text: &[u8], mut each: impl FnMut(Found) -> ControlFlow<()>) {
        let mut end = 0;
        let mut consider = |range: Range<usize>| {
            if range.start < end {
                return ControlFlow::Continue(());
            }
            let Some((format, ms)) = self.read(&text[range.clone()]) else { return ControlFlow::Continue(()) };
            end = range.end;
            each(Found { range, format, ms })
        };
        if !self.has_base64 {
            _ = self.words(text, consider);
            return;
        }
        // Other characters are between such words, so they are looked for alone, and the longer word comes first.
        let mut ranges = Vec::new();
        _ = self.words(text, |range| {
            ranges.push(range);
            ControlFlow::Continue(())
        });
        for length in [24, 27] {
            _ = scan::<true>(
                text,
                length,
                |words| runs(words, length, length),
                |place| {
                    let range = place..place + length as usize;
                    if text[range.clone()].iter().any(|byte| b"@-_".contains(byte)) {
                        ranges.push(range);
                    }
                    ControlFlow::Continue(())
                },
            );
        }
        ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        _ = ranges.into_iter().try_for_each(&mut consider);
    }

    /// Calls `each` with the places of what may be an id, in their order: the longer ones first of those that begin
    /// together.
    #[inline(always)]
    fn words(&self, text: &[u8], mut each: impl FnMut(Range<usize>) -> ControlFlow<()>) -> ControlFlow<()> {
        let (least, most) = (*WORDS.start() as u32, *WORDS.end() as u32);
        let starts = |words| runs(words, 8, 8) | xrays(words) | runs(words, least, most);
        scan::<false>(text, most + 1, starts, |place| {
            let length = text[place..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            match length {
                1 => return each(place..place + 35),
                8 if is_uuid(text, place) => return each(place..place + 36),
                32 => {
                    if let Some(end) = dotted_end(text, place + 32) {
                        each(place..end)?;
                    }
                }
                26 if self.has_prefixes => {
                    if let Some(begin) = prefix_at(text, place).filter(|begin| *begin < place) {
                        each(begin..place + 26)?;
                    }
                }
                _ => {}
            }
            match self.lengths >> length & 1 {
                1 => each(place..place + length),
                _ => ControlFlow::Continue(()),
            }
        })
    }

    /// The format and the time of a text, as what it most likely is.
    fn read(&self, text: &[u8]) -> Option<(&'static Format, i64)> {
        if !self.has_numbers && text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let readings = Readings::of(text, &self.numbers, self.now_ms);
        let reading = match &self.formats {
            Some(formats) => readings.iter().find(|it| formats.contains(&it.format())),
            None => readings.iter().next().filter(|it| it.unlikely.is_none()),
        };
        reading.and_then(|it| Some((it.format(), it.ms?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use txid::formats::{ALL, named};
    use txid_args::{Ids as Args, Which};

    fn ids(format: Vec<Which>, layout: Option<&str>) -> Ids {
        Ids::new(&Wanted::new(&Args { format, layout: layout.map(str::to_string) }).unwrap()).unwrap()
    }

    fn found(ids: &Ids, text: &str) -> Vec<(String, &'static str, i64)> {
        let mut all = Vec::new();
        ids.each(text.as_bytes(), |it| {
            all.push((text[it.range].to_string(), it.format.name, it.ms));
            ControlFlow::Continue(())
        });
        all
    }

    const LINE: &str = "b2fr5nvmbtcu7vl9phl0 017f22e2-79b0-7cc3-98c4-dc0c0c07398f, Root=1-69b307e4-a006649127e371903a2de979;x \
        user_01h455vb4pex5vsknk084sn02q/awFqxtNirgRaFaBf17HW_gAAAEQ b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042 \
        1439530262794464807 4bf92f3577b34da6a3ce929d0e0e4736 919108f7-52d1-4320-9bac-f847db4148a8 35kLKK5Xcf76Cg11zybVdSPtuWA";

    #[test]
    fn any_format_is_found_and_told() {
        let names: Vec<_> = found(&ids(vec![Which::Any], None), LINE).into_iter().map(|(_, name, _)| name).collect();
        assert_eq!(names, ["txid", "uuid_v7", "xray", "typeid", "unique_id", "skywalking", "ksuid"]);
        let with_numbers = found(&ids(vec![Which::Any], Some("discord")), LINE);
        let number = with_numbers.iter().find(|(_, name, _)| *name == "snowflake").unwrap();
        assert_eq!(number.2, 1_763_281_159_829);
    }

    #[test]
    fn only_the_formats_of_a_list_are_found() {
        let some = ["ksuid", "uuid_v7"].map(|name| Which::Of(named(name).unwrap()));
        let names: Vec<_> = found(&ids(some.to_vec(), None), LINE).into_iter().map(|(_, name, _)| name).collect();
        assert_eq!(names, ["uuid_v7", "ksuid"]);
    }

    proptest! {
        /// A mixture with one more format finds all that a finder of one of them finds, in other text.
        #[test]
        fn what_one_finds_several_find(
            seed in proptest::collection::vec((0..30_usize, 1_500_000_000_000..1_800_000_000_000_i64, "[ -/:-@]{1,70}"), 1..12),
        ) {
            let made: Vec<_> = ALL.into_iter().filter(|format| {
                format.has_a_time() && format.make.as_ref().is_some_and(|make| make.takes_a_time && make.options.is_empty())
            }).collect();
            let (mut text, mut expected) = (String::from(" "), Vec::new());
            for (which, ms, between) in seed {
                let format = made[which % made.len()];
                let mut id = [0; txid::Maker::MAX_LEN];
                let length = format.maker([]).unwrap().write_at(ms, &mut id).unwrap().len;
                // A dash or another character of base64 would belong to some ids.
                let between = between.replace(['-', '@', '_', '.'], " ");
                text += &format!("{between} ");
                expected.push((format.name, text.len()));
                text += std::str::from_utf8(&id[..length]).unwrap();
                text += " ";
            }
            let several = ids(made.iter().map(|format| Which::Of(format)).collect(), None);
            let mut places = Vec::new();
            several.each(text.as_bytes(), |it| {
                places.push(it.range.start);
                ControlFlow::Continue(())
            });
            prop_assert_eq!(places, expected.iter().map(|(_, place)| *place).collect::<Vec<_>>());
        }
    }
}
