//! Ids in other text: in a log, in a URL, in a header.
//!
//! Each part with the shape of a wanted id is tried from left to right, and the longest first of all that begin at one
//! place. An id hides all that begins within it: an X-Ray trace id hides the ObjectId at its end. A TypeID is tried where
//! its word of 26 begins, and with its prefix first. The letters and digits of an escape, as those of `\n`, `%2F` and
//! colors, belong to no word. After a `%`, which may be one of a pattern of SQL, the whole word is tried as well: before, if it
//! begins with two digits, and otherwise after.

use super::anatomy::Numbers;
use super::rank::{Reading, Readings, likely_txid_ms, of_its_length};
use super::row::{Format, Part, Texts};
use super::shape::Shape;
use super::table::{ALL, TXID};
use super::time::is_by_chance;
use crate::source::clock;
use std::fmt;
use std::ops::{ControlFlow, Range, RangeInclusive};

/// No id is shorter, in other text.
pub const SHORTEST: usize = 15;

/// The longest prefix of a word of 26, with its `_`.
const MOST_OF_A_PREFIX: usize = 64;

/// An id in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it is.
    pub range: Range<usize>,
    /// What it most likely is.
    pub format: &'static Format,
    /// The milliseconds since 1970; None only of [`Finder::of_all`].
    pub ms: Option<i64>,
}

/// Finds the ids of some formats in text.
///
/// ```
/// use txid::formats::find::Finder;
/// use txid::formats::{Numbers, named};
/// use std::ops::ControlFlow;
///
/// let finder = Finder::of(&[named("txid").unwrap(), named("xray").unwrap()], Numbers::UNKNOWN).unwrap();
/// let (line, mut found) = ("id=b2fr5nvmbtcu7vl9phl0 Root=1-58406520-a006649127e371903a2de979;Sampled=1", vec![]);
/// finder.each(line.as_bytes(), |it| {
///     found.push((&line[it.range], it.format.name));
///     ControlFlow::Continue(())
/// });
/// assert_eq!(found, [("b2fr5nvmbtcu7vl9phl0", "txid"), ("1-58406520-a006649127e371903a2de979", "xray")]);
/// ```
pub struct Finder {
    which: Which,
    numbers: Numbers,
    shapes: Shapes,
}

enum Which {
    One(&'static Format),
    /// A bit for the place of each.
    Several(u64),
    /// Whatever is likely an id with a time, and txids of any time.
    Likely,
    /// Whatever is likely an id.
    All,
}

/// Milliseconds since 1970, and what shows quickly that a text holds none of them.
pub struct Window {
    ms: RangeInclusive<i64>,
    /// The look at one format: most of its candidates have its length.
    only: Option<Look>,
    /// By the length of a text, the last for all longer ones.
    looks: Box<[Vec<Look>; 64]>,
}

/// What can be in a window.
#[derive(Clone, Copy)]
enum Look {
    Heads(Heads),
    /// Ids whose texts do not sort.
    Unsorted(&'static Format),
    /// Ids whose texts do not sort, and have eight decimal digits at this place.
    Digits(&'static Format, usize),
    /// Numbers of any layout.
    Any,
}

/// Texts whose first eight characters are a number of a range, after the bits of `lower` were set.
#[derive(Clone, Copy)]
struct Heads {
    lower: u64,
    first: u64,
    more: u64,
}

impl Finder {
    /// Finds the ids of these formats: what a text most likely is of them. None if ids of one of them hold no time. In other
    /// text, a number of few digits is never taken for an id.
    pub fn of(formats: &[&'static Format], numbers: Numbers) -> Option<Self> {
        let shapes: Option<Vec<_>> = formats.iter().map(|format| format.shape()).collect();
        let places = ALL.iter().enumerate().filter(|(_, format)| formats.contains(format));
        let which = match formats {
            [one] => Which::One(one),
            _ => Which::Several(places.fold(0, |all, (at, _)| all | 1 << at)),
        };
        let is_chosen = numbers.is_chosen || formats.len() > 1 && formats.iter().any(|format| format.takes_a_layout());
        Some(Self { shapes: Shapes::of(shapes?), which, numbers: Numbers { is_chosen, ..numbers } })
    }

    /// Finds whatever is likely an id with a time, and txids of any time. A number is one if the layout was chosen.
    pub fn of_likely(numbers: Numbers) -> Self {
        let shapes = ALL.iter().filter(|it| numbers.is_chosen || !it.takes_a_layout()).filter_map(|it| it.shape());
        Self { shapes: Shapes::of(shapes), which: Which::Likely, numbers }
    }

    /// Finds whatever is likely an id, with a time or without, but for Nano IDs: words are often as long.
    pub fn of_all(numbers: Numbers) -> Self {
        let mut shapes = Shapes::of(ALL.iter().filter_map(|format| format.shape()));
        let all = Lengths { these: u64::MAX << SHORTEST, least: SHORTEST as u32 };
        (shapes.words, shapes.runs) = (all, all);
        Self { shapes, which: Which::All, numbers }
    }

    /// The format whose ids it finds, if it is only one.
    pub fn format(&self) -> Option<&'static Format> {
        match self.which {
            Which::One(format) => Some(format),
            _ => None,
        }
    }

    /// What [`Finder::within`] searches for.
    pub fn window(&self, ms: RangeInclusive<i64>) -> Window {
        let mut looks = Box::new([const { Vec::new() }; 64]);
        for format in (0..ALL.len()).filter(|&at| self.wants(at)).map(|at| ALL[at]) {
            let Some(look) = self.look(format, &ms) else { continue };
            // Longer ids are read without a look.
            let lengths = match format.shape() {
                Some(Shape::Word(lengths)) if matches!(self.which, Which::All) => *lengths.start()..=63,
                Some(Shape::Word(lengths)) => lengths,
                Some(Shape::Base64(length)) => length..=length,
                Some(Shape::Uuid) => 36..=36,
                Some(Shape::Xray) => 32..=32,
                Some(Shape::Prefixed) => PREFIXED..=PREFIXED,
                Some(Shape::Dotted) | None => continue,
            };
            lengths.for_each(|length| looks[length].push(look));
        }
        let only = self.format().and_then(|format| self.look(format, &ms));
        Window { ms, only, looks }
    }

    /// None if no id of the format can be in the window.
    fn look(&self, format: &'static Format, ms: &RangeInclusive<i64>) -> Option<Look> {
        // The bit that makes letters lower case is set in digits, too.
        if !format.has_a_time() {
            return None;
        }
        let lower = match format.texts_sort().unwrap_or(Texts::Unsorted) {
            Texts::Unsorted if matches!(self.which, Which::All) && format.takes_a_layout() => return Some(Look::Any),
            // Those of its last layout sort.
            Texts::Unsorted if format.shape() != Some(Shape::Xray) => {
                return Some(digits_at(format).map_or(Look::Unsorted(format), |at| Look::Digits(format, at)));
            }
            Texts::Unsorted | Texts::AsTheyAre => 0,
            Texts::InOneCase => u64::from_ne_bytes([0x20; 8]),
        };
        let [first, last] = format
            .bounds_as(format.texts.last()?, ms.clone(), &self.numbers)?
            .map(|text| head(text.as_bytes()).map(|head| head | lower));
        Some(Look::Heads(Heads { lower, first: first?, more: last?.checked_sub(first?)? }))
    }

    /// Whether an id can be of the format at this place in the list.
    fn wants(&self, at: usize) -> bool {
        match self.which {
            Which::One(format) => *format == *ALL[at],
            Which::Several(places) => places >> at & 1 == 1,
            Which::Likely => self.numbers.is_chosen || !ALL[at].takes_a_layout(),
            Which::All => true,
        }
    }

    /// Calls `found` with the place of each id in `text` that is within the window.
    #[inline(always)]
    pub fn within(&self, text: &[u8], window: &Window, mut found: impl FnMut(Range<usize>)) {
        let may_be = |text: &[u8]| window.may_hold(text, &self.numbers);
        let each = |range, (_, ms): (_, Option<i64>)| {
            if ms.is_some_and(|ms| window.ms.contains(&ms)) {
                found(range);
            }
            ControlFlow::Continue(())
        };
        let now_ms = self.now_ms();
        self.search(text, may_be, |text| self.read(text, now_ms), each);
    }

    /// Calls `each` with the ids in `text`, in their order, until that breaks.
    #[inline(always)]
    pub fn each(&self, text: &[u8], mut each: impl FnMut(Found) -> ControlFlow<()>) {
        let now_ms = self.now_ms();
        let read = |text: &[u8]| self.read(text, now_ms);
        self.search(text, |_| true, read, |range, (format, ms)| each(Found { range, format, ms }));
    }

    /// The first id in `text`.
    pub fn first(&self, text: &[u8]) -> Option<Found> {
        let mut first = None;
        self.each(text, |found| {
            first = Some(found);
            ControlFlow::Break(())
        });
        first
    }

    /// The place of the first id in `text`, and what it is sorted by: of one format all of the id, and of several the time.
    pub fn first_order(&self, text: &[u8]) -> Option<(Range<usize>, u128)> {
        let now_ms = self.now_ms();
        let order = |text: &[u8]| match self.which {
            Which::One(format) => format.order(text, &self.numbers),
            _ => Some(self.read(text, now_ms)?.1?.abs_diff(i64::MIN).into()),
        };
        let mut first = None;
        let end = |range, order| {
            first = Some((range, order));
            ControlFlow::Break(())
        };
        self.search(text, |_| true, order, end);
        first
    }

    /// The clock, if it says which ids are likely: read once for a text.
    #[inline(always)]
    fn now_ms(&self) -> i64 {
        if let Which::One(_) = self.which { 0 } else { clock::coarse_ms() }
    }

    /// The format and the time of a text that is an id.
    #[inline(always)]
    fn read(&self, text: &[u8], now_ms: i64) -> Option<(&'static Format, Option<i64>)> {
        match self.which {
            Which::One(format) => Some((format, Some(format.ms(text, &self.numbers)?))),
            _ => self.read_as_likeliest(text, now_ms),
        }
    }

    #[inline(never)]
    fn read_as_likeliest(&self, text: &[u8], now_ms: i64) -> Option<(&'static Format, Option<i64>)> {
        if let Which::All = self.which {
            let readings = Readings::of(text, &self.numbers, now_ms);
            let first = readings.iter().next().filter(|it| it.unlikely.is_none() && !it.format().is_a_word());
            return first.map(|it| (it.format(), it.ms));
        }
        // A number can be of any layout.
        if !self.numbers.is_chosen && text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let txid = if let Which::Likely = self.which { likely_txid_ms(text, now_ms) } else { None };
        if txid.is_some() {
            return Some((&TXID, txid));
        }
        // As the first of `Readings::of`, without the others.
        let mut likeliest: Option<Reading> = None;
        for format in of_its_length(text).filter(|&at| self.wants(at)).map(|at| ALL[at]) {
            let reading = Reading::new(format, text, self.numbers, now_ms);
            likeliest = match (reading, likeliest) {
                (Some(reading), Some(before)) if !reading.is_likelier(&before) => Some(before),
                (reading, before) => reading.or(before),
            };
        }
        let is_likely = |it: &Reading| matches!(self.which, Which::Several(_)) || it.unlikely.is_none();
        let likeliest = likeliest.filter(is_likely).and_then(|it| Some((it.format(), Some(it.ms?))));
        // A wrong clock makes txids of unlikely times.
        likeliest.or_else(|| match self.which {
            Which::Likely if !is_by_chance(&TXID, text, 0) => Some((&TXID, Some(TXID.ms(text, &self.numbers)?))),
            _ => None,
        })
    }

    /// Calls `each` with what `read` makes of the ids in `text`, until that breaks.
    #[inline(always)]
    fn search<T>(
        &self,
        text: &[u8],
        may_be: impl Fn(&[u8]) -> bool,
        read: impl Fn(&[u8]) -> Option<T>,
        mut each: impl FnMut(Range<usize>, T) -> ControlFlow<()>,
    ) {
        let mut end = 0;
        let each = |range: Range<usize>| match read(&text[range.clone()]) {
            Some(id) if range.start >= end => {
                end = range.end;
                each(range, id)
            }
            _ => ControlFlow::Continue(()),
        };
        _ = self.shapes.scan(text, may_be, each);
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats = (0..ALL.len()).filter(|&at| self.wants(at)).map(|at| ALL[at].name);
        write!(f, "Finder({})", formats.collect::<Vec<_>>().join(", "))
    }
}

/// The first eight characters as a number.
#[inline(always)]
fn head(text: &[u8]) -> Option<u64> {
    text.first_chunk().map(|head| u64::from_be_bytes(*head))
}

impl Window {
    /// Most texts are outside, which their beginnings show without being read.
    #[inline(always)]
    fn may_hold(&self, text: &[u8], numbers: &Numbers) -> bool {
        match &self.only {
            Some(Look::Heads(heads)) => heads.has(text),
            _ => self.may_hold_any(text, numbers),
        }
    }

    /// Out of line, so that the rest is inlined.
    #[inline(never)]
    fn may_hold_any(&self, text: &[u8], numbers: &Numbers) -> bool {
        self.looks[text.len().min(63)].iter().any(|look| match look {
            Look::Heads(heads) => heads.has(text),
            Look::Digits(_, at) if !head(&text[*at..]).is_some_and(are_digits) => false,
            Look::Unsorted(format) | Look::Digits(format, _) => {
                format.ms(text, numbers).is_some_and(|ms| self.ms.contains(&ms))
            }
            Look::Any => true,
        })
    }
}

/// All at once: digits are from 0x30 to 0x39.
fn are_digits(eight: u64) -> bool {
    let all = |byte| u64::from_ne_bytes([byte; 8]);
    (eight | eight.wrapping_add(all(6))) & all(0xf0) == all(0x30)
}

/// Where eight decimal digits stand in each text of a format that has some: a time has 13, and a number here at least 15.
fn digits_at(format: &Format) -> Option<usize> {
    let parts = format.texts.first()?.parts;
    let is_decimal = |part: &Part| matches!(part, Part::Number(number) if number.digits.base() == 10);
    let first = parts.iter().position(is_decimal)?;
    Some(parts[..first].iter().map(|part| part.lengths().0).sum())
}

impl Heads {
    #[inline(always)]
    fn has(&self, text: &[u8]) -> bool {
        head(text).is_some_and(|head| (head | self.lower).wrapping_sub(self.first) <= self.more)
    }
}

/// What wanted ids look like.
struct Shapes {
    /// Words that are ids by themselves.
    words: Lengths,
    runs: Lengths,
    uuids: bool,
    /// A bit for each length of words that others may belong to.
    parts: u64,
}

/// The last words of an X-Ray trace id and of a TypeID, and the first of a SkyWalking id.
const XRAY: usize = 24;
const PREFIXED: usize = 26;
const DOTTED: usize = 32;

/// A bit for each length, the last for all that are longer; and the shortest that is looked for.
#[derive(Clone, Copy)]
struct Lengths {
    these: u64,
    least: u32,
}

impl Lengths {
    #[inline(always)]
    fn has(&self, length: usize) -> bool {
        self.these >> length.min(63) & 1 == 1
    }

    /// Where at least as many ones as are looked for follow each other: of the lower half of `bits`.
    #[inline(always)]
    fn starts(&self, bits: u128) -> u64 {
        let two = bits & bits >> 1;
        let four = two & two >> 2;
        let eight = four & four >> 4;
        let (found, more) = match self.least.checked_sub(16) {
            Some(more) => (eight & eight >> 8, more),
            None => (eight, self.least - 8),
        };
        (found & found >> (more & 31)) as u64
    }
}

impl Shapes {
    fn of(shapes: impl IntoIterator<Item = Shape>) -> Self {
        let none = Lengths { these: 0, least: 31 };
        let mut all = Self { words: none, runs: none, uuids: false, parts: 0 };
        for shape in shapes {
            match shape {
                Shape::Word(lengths) => lengths.for_each(|length| all.words.these |= 1 << length.min(63)),
                Shape::Base64(length) => all.runs.these |= 1 << length,
                Shape::Uuid => all.uuids = true,
                Shape::Dotted => all.parts |= 1 << DOTTED,
                Shape::Prefixed => {
                    (all.parts, all.words.these) = (all.parts | 1 << PREFIXED, all.words.these | 1 << PREFIXED)
                }
                Shape::Xray => (all.parts, all.words.these) = (all.parts | 1 << XRAY, all.words.these | 1 << 32),
            }
        }
        let least = |these: u64| these.trailing_zeros().clamp(SHORTEST as u32, none.least);
        all.words.least = least(all.words.these | all.parts);
        all.runs.least = least(all.runs.these);
        all
    }

    /// Calls `each` with the places of what looks like an id, in the order that they are tried in, until that breaks. Where
    /// nothing is hidden by an id, `may_be` is asked first.
    #[inline(always)]
    fn scan(
        &self,
        text: &[u8],
        may_be: impl Fn(&[u8]) -> bool,
        each: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.scan_by_avx2(text, may_be, each) };
        }
        self.scan_by(text, may_be, each, Bits::of_chunk)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn scan_by_avx2(
        &self,
        text: &[u8],
        may_be: impl Fn(&[u8]) -> bool,
        each: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // SAFETY: the caller's.
        self.scan_by(text, may_be, each, |chunk| unsafe { Bits::of_chunk_by_avx2(chunk) })
    }

    /// Each 64 bytes become 64 bits, the lowest for the first byte, once for all shapes. Shifting finds where 20 letters and
    /// digits follow each other, say. Bits of the next 64 bytes are at hand.
    #[inline(always)]
    fn scan_by(
        &self,
        text: &[u8],
        may_be: impl Fn(&[u8]) -> bool,
        mut each: impl FnMut(Range<usize>) -> ControlFlow<()>,
        of: impl Fn(&[u8; 64]) -> Bits,
    ) -> ControlFlow<()> {
        let bits_at = |begin| padded(text.get(begin..).unwrap_or_default(), &of);
        let (mut runs, mut known) = (bits_at(0).runs, None);
        for begin in (0..text.len()).step_by(64) {
            let next_runs = bits_at(begin + 64).runs;
            let mut next = None;
            if may_begin(runs, next_runs) {
                let before = begin.checked_sub(1).map_or(0, |before| text[before]);
                let last = |is_set: bool| u64::from(is_set) << 63;
                let before = Bits { words: last(is_of_word(&before)), dashes: 0, runs: last(is_of_run(&before)) };
                // Nothing reaches into the next 64 bytes unless the last of these belongs to it. The dots of some ids do not.
                next = (runs >> 63 == 1).then(|| bits_at(begin + 64));
                let here = known.unwrap_or_else(|| bits_at(begin));
                self.try_places(text, begin, [before, here, next.unwrap_or_default()], &may_be, &mut each)?;
            }
            (runs, known) = (next_runs, next);
        }
        ControlFlow::Continue(())
    }

    /// Calls `each` with the places that begin in these 64 bytes. There are bits of them, and of those before and after.
    #[inline(always)]
    fn try_places(
        &self,
        text: &[u8],
        begin: usize,
        [before, here, next]: [Bits; 3],
        may_be: &impl Fn(&[u8]) -> bool,
        each: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let both = |here: u64, next: u64| u128::from(next) << 64 | u128::from(here);
        let words = both(here.words, next.words);
        let runs = both(here.runs, next.runs);
        let dashes = both(here.dashes, next.dashes);
        let two = dashes & dashes >> 5;
        let word_starts = !(here.words << 1 | before.words >> 63);
        let words_here = self.words.starts(words) & word_starts;
        let uuids_here = ((two & two >> 10) >> 8) as u64;
        let runs_here = self.runs.starts(runs) & !(here.runs << 1 | before.runs >> 63);
        let mut places = words_here | uuids_here | runs_here;
        while places != 0 {
            let at = places.trailing_zeros();
            places &= places - 1;
            let place = begin + at as usize;
            let is_at = |these: u64| these >> at & 1 == 1;
            let length = |bits: u128, is_kind: fn(&u8) -> bool| match ((bits >> (at & 63)) as u64).trailing_ones() {
                64 => 64 + leading(&text[place + 64..], is_kind),
                known => known as usize,
            };
            let word = if is_at(words_here) { length(words, is_of_word) } else { 0 };
            let run = if is_at(runs_here) { length(runs, is_of_run) } else { 0 };
            let uuid = is_at(uuids_here);
            match may_be_in_escape(text, place) {
                false => self.try_at(text, (place, word, run, uuid), may_be, each)?,
                true => self.try_after_escape(text, (place, word, run, uuid), may_be, each)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Tries one place: the length of the word, and of the run, that begin there, and whether a UUID may.
    #[inline(always)]
    fn try_at(
        &self,
        text: &[u8],
        (place, word, run, uuid): (usize, usize, usize, bool),
        may_be: &impl Fn(&[u8]) -> bool,
        each: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if run > word && self.runs.has(run) {
            each(place..place + run)?;
        }
        // The prefix of a TypeID can begin within.
        let hides = |end| self.parts != 0 && text.get(end) == Some(&b'_');
        let is_worth = |end| hides(end) || may_be(&text[place..end]);
        if uuid && is_uuid(text, place) && is_worth(place + 36) {
            each(place..place + 36)?;
        }
        if let Some(longer) = self.longer(text, place..place + word) {
            each(longer)?;
        }
        let is_word = self.words.has(word) || run == word && self.runs.has(run);
        if is_word && is_worth(place + word) {
            each(place..place + word)?;
        }
        ControlFlow::Continue(())
    }

    /// Tries a place that an escape may stand before.
    #[cold]
    fn try_after_escape(
        &self,
        text: &[u8],
        all @ (place, word, run, _): (usize, usize, usize, bool),
        may_be: &impl Fn(&[u8]) -> bool,
        each: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let escape = escape(text, place);
        let inner = (place + escape, word.saturating_sub(escape), run.saturating_sub(escape), false);
        let tried = match is_percent(text, place) {
            _ if escape == 0 => [Some(all), None],
            true if is_in_order(text, place) => [Some(all), Some(inner)],
            true => [Some(inner), Some(all)],
            false => [Some(inner), None],
        };
        tried.into_iter().flatten().try_for_each(|it| self.try_at(text, it, may_be, each))
    }

    /// What a word belongs to that may be an id.
    #[inline(always)]
    fn longer(&self, text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
        match word.len() {
            length if self.parts >> length.min(63) & 1 == 0 => None,
            XRAY => xray(text, word.end),
            PREFIXED => prefixed(text, word),
            _ if text.get(word.end) == Some(&b'.') => dotted(text, word),
            _ => None,
        }
    }
}

#[inline(always)]
fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_of_run(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'-' | b'_')
}

/// Whether a word that begins here may begin with the letters and digits of an escape.
#[inline(always)]
fn may_be_in_escape(text: &[u8], place: usize) -> bool {
    place > 0 && matches!(text[place - 1], b'\\' | b'%' | b'[' | b';')
}

/// How many of its characters belong to an escape: of `\n`, `\x22`, `\u0022`, `%2F` and `ESC[32m`.
fn escape(text: &[u8], place: usize) -> usize {
    match may_be_in_escape(text, place) {
        true => escape_after(text[place - 1], &text[..place], &text[place..]),
        false => 0,
    }
}

#[cold]
fn escape_after(byte: u8, before: &[u8], text: &[u8]) -> usize {
    let hexadecimal = |digits: Range<usize>| match text.get(digits.clone()) {
        Some(found) if found.iter().all(u8::is_ascii_hexdigit) => digits.end,
        _ => 0,
    };
    match (byte, text.first()) {
        (b'%', _) => hexadecimal(0..2),
        (b'\\', Some(b'n' | b'r' | b't')) => 1,
        (b'\\', Some(b'x')) => hexadecimal(1..3),
        (b'\\', Some(b'u')) => hexadecimal(1..5),
        (b'\\', _) => 0,
        _ => {
            // The end of a color, as in `ESC[38;5;208m`.
            let near = &before[before.len().saturating_sub(16)..];
            let begin = near.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b';').unwrap_or_default();
            let escapes: [&[u8]; 7] = [b"\x1b", b"\\x1b", b"\\x1B", b"\\u001b", b"\\u001B", b"\\033", b"\\e"];
            let is_color = near[begin] == b'[' && escapes.iter().any(|escape| near[..begin].ends_with(escape));
            let digits = leading(text, u8::is_ascii_digit);
            if is_color && digits < 4 && matches!(text.get(digits), Some(b'm' | b'K')) { digits + 1 } else { 0 }
        }
    }
}

/// Whether a % stands before this place.
fn is_percent(text: &[u8], place: usize) -> bool {
    place.checked_sub(1).is_some_and(|before| text[before] == b'%')
}

/// Whether a word is tried as it is before what is after its escape.
fn is_in_order(text: &[u8], place: usize) -> bool {
    is_percent(text, place) && text[place..].iter().take(2).all(u8::is_ascii_digit)
}

/// Whether a word can begin here.
#[inline(always)]
fn is_start(text: &[u8], place: usize) -> bool {
    #[cold]
    fn is_after_escape(text: &[u8], place: usize) -> bool {
        (1..=place.min(5)).any(|length| escape(text, place - length) == length)
    }
    match place.checked_sub(1) {
        Some(before) if is_of_word(&text[before]) => is_after_escape(text, place),
        _ => escape(text, place) == 0 || is_percent(text, place),
    }
}

/// How many bytes at the beginning are such.
fn leading(text: &[u8], is_kind: fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_kind(byte)).count()
}

/// Whether words of 8, 4, 4, 4 and 12 characters begin here, and end, with others between them.
#[inline(always)]
fn is_uuid(text: &[u8], place: usize) -> bool {
    const OTHERS: u64 = 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 36;
    const LOOKED_AT: u64 = (1 << 37) - 1;
    let words = Bits::of(&text[place..]).words;
    words & LOOKED_AT == LOOKED_AT & !OTHERS && is_start(text, place)
}

/// Words of 1, 8 and 24 with dashes between them, of which the last ends here.
#[cold]
fn xray(text: &[u8], end: usize) -> Option<Range<usize>> {
    let start = end.checked_sub(35)?;
    let first = &text[start..start + 11];
    let is_uuid = first.iter().enumerate().all(|(at, byte)| match at {
        1 | 10 => *byte == b'-',
        _ => is_of_word(byte),
    });
    (is_uuid && is_start(text, start)).then_some(start..end)
}

/// A word, and two words of digits, with dots before them.
#[cold]
fn dotted(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let mut end = word.end;
    for _ in 0..2 {
        let digits = leading(text.get(end + 1..)?, u8::is_ascii_digit);
        if digits == 0 || text[end] != b'.' {
            return None;
        }
        end += 1 + digits;
    }
    (!text.get(end).is_some_and(is_of_word)).then_some(word.start..end)
}

/// A word with the letters, digits and `_` before it, if there are any.
#[cold]
fn prefixed(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let is_of_prefix = |byte: &&u8| is_of_word(byte) || **byte == b'_';
    let before = text[..word.start].iter().rev().take(MOST_OF_A_PREFIX + 1).take_while(is_of_prefix).count();
    let start = word.start - before;
    (1..=MOST_OF_A_PREFIX).contains(&before).then(|| start + escape(text, start)..word.end)
}

/// `of` of the first 64 bytes. Missing bytes are zeros.
#[inline(always)]
fn padded<T: Default>(text: &[u8], of: impl Fn(&[u8; 64]) -> T) -> T {
    match text.first_chunk::<64>() {
        Some(chunk) => of(chunk),
        None if text.is_empty() => T::default(),
        None => {
            let mut chunk = [0; 64];
            chunk[..text.len()].copy_from_slice(text);
            of(&chunk)
        }
    }
}

/// Whether [`SHORTEST`] such bytes follow each other from one of these 64 on.
#[inline(always)]
fn may_begin(runs: u64, next: u64) -> bool {
    const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
    // Eight of 15 in a row fill a byte of the bits.
    let fills_a_byte = (!runs).wrapping_sub(LOWEST) & runs & LOWEST << 7 != 0 || next as u8 == u8::MAX;
    let all = Lengths { these: 0, least: SHORTEST as u32 };
    fills_a_byte && all.starts(u128::from(next) << 64 | u128::from(runs)) != 0
}

/// One bit for each of 64 bytes, the lowest for the first.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// Letters and digits.
    words: u64,
    dashes: u64,
    /// Letters, digits, `@`, `-` and `_`.
    runs: u64,
}

impl Bits {
    /// The bits of the first 64 bytes. Missing bytes count as others.
    fn of(text: &[u8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return padded(text, |chunk| unsafe { Self::of_chunk_by_avx2(chunk) });
        }
        padded(text, Self::of_chunk)
    }

    fn of_chunk(chunk: &[u8; 64]) -> Self {
        let with = |bits: u64, is_one: bool| bits << 1 | u64::from(is_one);
        chunk.iter().rev().fold(Self::default(), |all, byte| Self {
            words: with(all.words, is_of_word(byte)),
            dashes: with(all.dashes, *byte == b'-'),
            runs: with(all.runs, is_of_run(byte)),
        })
    }

    /// 32 bytes at once: a row of ASCII, the high half of a byte, has a bit for each kind that it has, and so has the low half.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[allow(unused_unsafe, reason = "these intrinsics are unsafe to call before Rust 1.87")]
    unsafe fn of_chunk_by_avx2(chunk: &[u8; 64]) -> Self {
        use std::arch::x86_64::*;

        const ROWS: [u8; 16] = [0, 0, 1, 2, 20, 40, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
        const COLUMNS: [u8; 16] = [26, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 4, 4, 5, 4, 36];
        const WORDS: i8 = 2 | 4 | 8;
        let mut all = Self::default();
        for half in chunk.chunks_exact(32).rev() {
            // SAFETY: the processor has AVX2, and 32 bytes of the chunk and 16 of each table are read, at any alignment.
            let [words, dashes, runs] = unsafe {
                let table = |table: &[u8; 16]| _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
                let bytes = _mm256_loadu_si256(half.as_ptr().cast());
                let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
                let rows = _mm256_shuffle_epi8(table(&ROWS), high);
                let kinds = _mm256_and_si256(rows, _mm256_shuffle_epi8(table(&COLUMNS), bytes));
                let are = |kinds| !_mm256_movemask_epi8(_mm256_cmpeq_epi8(kinds, _mm256_setzero_si256())) as u32;
                let of = |these: i8| are(_mm256_and_si256(kinds, _mm256_set1_epi8(these)));
                [of(WORDS), of(1), are(kinds)].map(u64::from)
            };
            all =
                Self { words: all.words << 32 | words, dashes: all.dashes << 32 | dashes, runs: all.runs << 32 | runs };
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::named;
    use crate::{Maker, Txid};
    use proptest::prelude::*;

    /// The simplest implementation: what of this shape is tried at a place.
    fn plainly(text: &[u8], shape: &Shape, place: usize) -> Vec<Range<usize>> {
        let is_word = |place: usize| text.get(place).is_some_and(u8::is_ascii_alphanumeric);
        let length_at = |place: usize| (place..).take_while(|&place| is_word(place)).count();
        let digits_at = |place: usize| text.iter().skip(place).take_while(|byte| byte.is_ascii_digit()).count();
        let are_there = |start: usize, byte: u8, words: &[(usize, usize)]| {
            let between = words[1..].iter().all(|(at, _)| text.get(start + at - 1) == Some(&byte));
            is_start(text, start) && between && words.iter().all(|(at, length)| length_at(start + at) == *length)
        };
        let length = length_at(place);
        let word = |is_word: bool| (is_word && is_start(text, place)).then(|| place..place + length);
        match shape {
            Shape::Word(lengths) => word(lengths.contains(&length)).into_iter().collect(),
            Shape::Base64(length) => run_at(text, place).filter(|run| run.len() == *length).into_iter().collect(),
            Shape::Uuid => {
                let is_uuid = are_there(place, b'-', &[(0, 8), (9, 4), (14, 4), (19, 4), (24, 12)]);
                is_uuid.then(|| place..place + 36).into_iter().collect()
            }
            Shape::Xray => {
                let start = place.checked_sub(11).filter(|start| are_there(*start, b'-', &[(0, 1), (2, 8), (11, 24)]));
                start.map(|start| start..place + 24).or(word(length == 32)).into_iter().collect()
            }
            Shape::Prefixed => {
                let Some(word) = word(length == 26) else { return Vec::new() };
                let is_other = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
                let start = text[..place].iter().rposition(is_other).map_or(0, |other| other + 1);
                let prefixed = (1..=64).contains(&(place - start)).then(|| start + escape(text, start)..word.end);
                prefixed.into_iter().chain([word]).collect()
            }
            Shape::Dotted => {
                let second = place + 33 + digits_at(place + 33);
                let end = second + 1 + digits_at(second + 1);
                let are_there = are_there(place, b'.', &[(0, 32), (33, second - place - 33)])
                    && second > place + 33
                    && text.get(second) == Some(&b'.')
                    && end > second + 1
                    && !is_word(end);
                are_there.then_some(place..end).into_iter().collect()
            }
        }
    }

    fn run_at(text: &[u8], place: usize) -> Option<Range<usize>> {
        let before = place.checked_sub(1).map(|before| &text[before]);
        let is_before = before.is_some_and(|byte| is_of_run(byte) && !is_of_word(byte)) || !is_start(text, place);
        let end = text[place..].iter().position(|byte| !is_of_run(byte)).map_or(text.len(), |length| place + length);
        (!is_before && end > place).then_some(place..end)
    }

    /// All that is tried, in the order of the places: a prefix, where its word begins.
    fn tried(finder: &Finder, text: &[u8]) -> Vec<Range<usize>> {
        let is_all = matches!(finder.which, Which::All);
        let wanted = (0..ALL.len()).filter(|&at| finder.wants(at)).filter_map(|at| ALL[at].shape());
        let shapes: Vec<_> = wanted.chain(is_all.then_some(Shape::Word(SHORTEST..=usize::MAX))).collect();
        let mut all = Vec::new();
        for place in 0..text.len() {
            let mut here: Vec<_> = shapes.iter().flat_map(|shape| plainly(text, shape, place)).collect();
            here.extend(run_at(text, place).filter(|run| is_all && run.len() >= SHORTEST));
            here.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
            here.dedup();
            all.extend(here.into_iter().map(|range| (place, range)));
        }
        let is_late = |start| is_percent(text, start) && escape(text, start) > 0 && !is_in_order(text, start);
        all.sort_by_key(|(place, _)| (place + if is_late(*place) { 2 } else { 0 }, is_late(*place)));
        all.into_iter().map(|(_, range)| range).collect()
    }

    fn found(finder: &Finder, text: &[u8]) -> Vec<Found> {
        let mut all = Vec::new();
        finder.each(text, |it| {
            all.push(it);
            ControlFlow::Continue(())
        });
        all
    }

    fn within(finder: &Finder, text: &[u8], ms: RangeInclusive<i64>) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        finder.within(text, &finder.window(ms), |range| all.push(range));
        all
    }

    fn all_finders() -> Vec<Finder> {
        let of_each = ALL.iter().copied().filter_map(|format| Finder::of(&[format], Numbers::UNKNOWN));
        of_each.chain(of_several()).collect()
    }

    fn of_several() -> Vec<Finder> {
        let lists = [&["unique_id", "typeid", "uuid_v1"][..], &["skywalking", "xray"], &["txid", "uuid_v7", "ulid"]];
        let of_list = |names: &[&str]| {
            let formats: Vec<_> = names.iter().map(|name| named(name).unwrap()).collect();
            Finder::of(&formats, Numbers::UNKNOWN).unwrap()
        };
        let several = [Finder::of_likely(Numbers::UNKNOWN), Finder::of_all(Numbers::UNKNOWN)];
        lists.map(of_list).into_iter().chain(several).collect()
    }

    fn assert_finds_what_is_there(finder: &Finder, text: &[u8]) {
        let mut expected: Vec<Found> = Vec::new();
        for range in tried(finder, text) {
            if expected.last().is_none_or(|before| before.range.end <= range.start) {
                let read = finder.read(&text[range.clone()], finder.now_ms());
                expected.extend(read.map(|(format, ms)| Found { range, format, ms }));
            }
        }
        assert_eq!(found(finder, text), expected, "{finder:?} in '{}'", text.escape_ascii());
        for id in &expected {
            let Some(ms) = id.ms else { continue };
            let ms = ms.saturating_sub(500)..=ms.saturating_add(500);
            let ids = expected.iter().filter(|id| id.ms.is_some_and(|it| ms.contains(&it)));
            let places: Vec<_> = ids.map(|id| id.range.clone()).collect();
            assert_eq!(within(finder, text, ms), places, "{finder:?} in '{}'", text.escape_ascii());
        }
    }

    /// Each way to look at 64 bytes finds the same.
    #[test]
    fn bits_are_those_of_each_byte() {
        for first in 0..=255_u8 {
            let chunk: [u8; 64] = std::array::from_fn(|at| first.wrapping_add((5 * at) as u8));
            let of =
                |is_kind: fn(&u8) -> bool| chunk.iter().rev().fold(0, |bits, it| bits << 1 | u64::from(is_kind(it)));
            let expected = [of(is_of_word), of(|byte| *byte == b'-'), of(is_of_run)];
            for bits in [Bits::of(&chunk), Bits::of_chunk(&chunk)] {
                assert_eq!([bits.words, bits.dashes, bits.runs], expected);
            }
        }
    }

    const SAMPLES: [&str; 18] = [
        "4om9qi54la8ffr4bd9sg",
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "000001VKvYLi2kP2ENqkCH",
        "Ws@zWAoAAAcAAAAqAAEAAAAH",
        "awFqxtNirgRaFaBf17HW_gAAAEQ",
        "b13f65bff40000010123456789abcdef",
        "0ad1348f1403169275002100356696",
        "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
        "9m4e2mr0ui3e8a215n4g",
        "507f1f77bcf86cd799439011",
        "1-58406520-a006649127e371903a2de979",
        "58406520a006649127e371903a2de979",
        "5840652000000000a006649127e37190",
        "prefix_01h455vb4pex5vsknk084sn02q",
        "cjld2cjxh0000qzrmn831i7rn",
        "df6fef1e15341321960398755e",
    ];

    #[test]
    fn an_id_is_found_at_any_place() {
        for sample in SAMPLES {
            let is_whole =
                |finder: &Finder| found(finder, sample.as_bytes()).iter().any(|it| it.range == (0..sample.len()));
            let finders: Vec<_> = all_finders().into_iter().filter(is_whole).collect();
            assert!(!finders.is_empty(), "{sample}");
            for before in 0..150 {
                for after in [0, 1, 5, 63, 64, 65] {
                    let text = [" ".repeat(before), sample.to_string(), "\n".repeat(after)].concat();
                    for finder in &finders {
                        let ids = found(finder, text.as_bytes());
                        let texts: Vec<_> = ids.iter().map(|it| (it.range.start, &text[it.range.clone()])).collect();
                        assert_eq!(texts, [(before, sample)], "{finder:?} in '{text}'");
                    }
                }
            }
        }
    }

    #[test]
    fn an_escape_before_an_id_is_no_part_of_it() {
        let escapes = [
            "\\n",
            "\\\\t",
            "\\r",
            "\\x22",
            "\\u0026",
            "%2F",
            "%3d",
            "\x1b[32m",
            "\x1b[1;31m\x1b[K",
            "\\u001b[0;1m",
            "\\x1B[38;5;208m",
            "\\033[m",
        ];
        let others =
            ["\\q", "\\x2", "\\u002", "%2", "%2g", "[32m", "x1b[32m", "\x1b[12345m", "\x1b[3,2m", "\x1b32m", "\x1b[4o"];
        for (before, is_escape) in escapes.map(|it| (it, true)).into_iter().chain(others.map(|it| (it, false))) {
            for sample in SAMPLES {
                let text = [before, sample].concat();
                for finder in all_finders() {
                    assert_finds_what_is_there(&finder, text.as_bytes());
                    let is_whole =
                        |text: &str, at| found(&finder, text.as_bytes()).iter().any(|it| it.range == (at..text.len()));
                    assert!(
                        !is_whole(sample, 0) || is_whole(&text, before.len()) == is_escape,
                        "{finder:?} in {text:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn words_end_where_letters_and_digits_do() {
        let finders = of_several();
        // No character outside ASCII is in a word.
        for byte in (0..=127_u8).chain([0x80, 0xbf, 0xc3, 0xff]) {
            // A word that goes on for long, of each kind: a plain search takes long for it.
            let after = if b"09agzAGZ_-.@ \n\xff".contains(&byte) { 64 } else { 1 };
            for sample in SAMPLES {
                for text in [[&[byte], sample.as_bytes()].concat(), [sample.as_bytes(), &[byte; 64][..after]].concat()]
                {
                    finders.iter().for_each(|finder| assert_finds_what_is_there(finder, &text));
                }
            }
        }
    }

    #[test]
    fn each_character_counts() {
        let finders = of_several();
        for sample in SAMPLES {
            for place in 0..sample.len() {
                for byte in *b" -f" {
                    let mut text = sample.as_bytes().to_vec();
                    text[place] = byte;
                    finders.iter().for_each(|finder| assert_finds_what_is_there(finder, &text));
                }
            }
        }
    }

    #[test]
    fn several_formats_are_told_apart() {
        let line = "b2fr5nvmbtcu7vl9phl0 017f22e2-79b0-7cc3-98c4-dc0c0c07398f, Root=1-69b307e4-a006649127e371903a2de979;x \
            user_01h455vb4pex5vsknk084sn02q/awFqxtNirgRaFaBf17HW_gAAAEQ a.b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042 \
            1439530262794464807 4bf92f3577b34da6a3ce929d0e0e4736 919108f7-52d1-4320-9bac-f847db4148a8 35kLKK5Xcf76Cg11zybVdSPtuWA";
        let names =
            |finder: &Finder| found(finder, line.as_bytes()).iter().map(|it| it.format.name).collect::<Vec<_>>();
        let likely = ["txid", "uuid_v7", "xray", "typeid", "unique_id", "skywalking", "ksuid"];
        assert_eq!(names(&Finder::of_likely(Numbers::UNKNOWN)), likely);
        let discord = Numbers { layout: "discord".parse().unwrap(), is_chosen: true };
        let with_numbers = found(&Finder::of_likely(discord), line.as_bytes());
        let number = with_numbers.iter().find(|it| it.format.name == "snowflake").unwrap();
        assert_eq!(number.ms, Some(1_763_281_159_829));
        let some = |names: &[&str]| names.iter().map(|name| named(name).unwrap()).collect::<Vec<_>>();
        let of = |names: &[&str]| Finder::of(&some(names), Numbers::UNKNOWN).unwrap();
        assert_eq!(names(&of(&["ksuid", "uuid_v7"])), ["uuid_v7", "ksuid"]);
        // The last digits of the SkyWalking id, which is none here, and the number.
        assert_eq!(names(&of(&["snowflake", "ksuid"])), ["snowflake", "snowflake", "ksuid"]);
        assert!(Finder::of(&some(&["txid", "uuid_v4"]), Numbers::UNKNOWN).is_none());
    }

    #[test]
    fn the_first_id_is_the_first_in_the_text() {
        let text = b"b2fr5nvmbtcu7vl9phl0 b2fr5nvmbtcu7vl9phlg";
        let txids = Finder::of(&[ALL[0]], Numbers::UNKNOWN).unwrap();
        for finder in [&txids, &Finder::of_likely(Numbers::UNKNOWN)] {
            assert_eq!(finder.first(text).map(|it| it.range), Some(0..20));
            assert!(finder.first(b"none").is_none());
        }
        assert_eq!(txids.format(), Some(ALL[0]));
        assert_eq!(txids.first_order(text), Some((0..20, TXID.order(&text[..20], &Numbers::UNKNOWN).unwrap())));
        assert!(format!("{:?}", of_several()[0]).contains("typeid"));
    }

    #[test]
    fn a_part_of_a_longer_word_is_no_id() {
        let trace = "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f";
        let xray = "1-58406520-a006649127e371903a2de979";
        let word = "01h455vb4pex5vsknk084sn02q";
        for (name, text, is_found) in [
            ("skywalking", format!("{trace}.57.15225456885520042"), true),
            ("skywalking", format!("{trace}..15225456885520042"), false),
            ("skywalking", format!("{trace}.57:15225456885520042"), false),
            ("skywalking", format!("{trace}.57.15225456885520042x"), false),
            ("xray", xray.to_string(), true),
            ("xray", format!("x{xray}"), false),
            ("xray", xray.replace("1-", "1_"), false),
            ("typeid", format!("{}_{word}", "a".repeat(63)), true),
            ("uuid_v7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".to_string(), true),
            ("uuid_v7", "x017f22e2-79b0-7cc3-98c4-dc0c0c07398f".to_string(), false),
            ("uuid_v7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398fx".to_string(), false),
        ] {
            let finder = Finder::of(&[named(name).unwrap()], Numbers::UNKNOWN).unwrap();
            let found = found(&finder, text.as_bytes());
            assert_eq!(found.iter().any(|it| it.range == (0..text.len())), is_found, "{text}");
        }
        // A prefix has at most 63 characters: these are none, and the word is an id without one.
        let (typeid, text) =
            (Finder::of(&[named("typeid").unwrap()], Numbers::UNKNOWN).unwrap(), "a".repeat(64) + "_" + word);
        assert_eq!(found(&typeid, text.as_bytes()).iter().map(|it| it.range.start).collect::<Vec<_>>(), [65]);
    }

    #[test]
    fn an_id_hides_the_prefix_that_it_is_part_of() {
        let text = "a_cgxaaaaaaaaaaaaaaaaaaaaaa_00aaaapaaaa0a0a00000p00aaa@";
        all_finders().iter().for_each(|finder| assert_finds_what_is_there(finder, text.as_bytes()));
        let all = found(&Finder::of_all(Numbers::UNKNOWN), text.as_bytes());
        assert_eq!(all.iter().map(|it| it.range.clone()).collect::<Vec<_>>(), [2..27, 28..54]);
    }

    #[test]
    fn a_likely_id_has_a_likely_time_but_for_txids() {
        let starts = |finder: &Finder, text: &str| {
            found(finder, text.as_bytes()).iter().map(|it| it.range.start).collect::<Vec<_>>()
        };
        let [likely, all] = [Finder::of_likely(Numbers::UNKNOWN), Finder::of_all(Numbers::UNKNOWN)];
        let text = "u2fr5nvmbtcu7vl9phl0 ffffffff-ffff-7fff-bfff-ffffffffffff";
        assert_eq!((starts(&likely, text), starts(&all, text)), (vec![0], vec![]));
        // A number is none of these two, which have 20 characters, too.
        let two = Finder::of(&[ALL[0], named("xid").unwrap()], Numbers::UNKNOWN).unwrap();
        assert_eq!(starts(&two, "12345678901234567890 b2fr5nvmbtcu7vl9phl0"), [21]);
        // Likeliest of Discord, in 2026.
        let (number, ms) = ("1541815603606036480", 1_787_667_885_448);
        assert_eq!(within(&all, number.as_bytes(), ms..=ms).len(), 1);
    }

    /// No id in other text is shorter than 15 characters.
    #[test]
    fn the_shortest_ids_have_15_characters() {
        let text = "14602888799846 146028887998464 1460288879984640";
        let number = named("snowflake").unwrap();
        for finder in [
            Finder::of(&[number], Numbers::UNKNOWN).unwrap(),
            Finder::of(&[number, ALL[0]], Numbers::UNKNOWN).unwrap(),
            Finder::of_likely(Numbers { is_chosen: true, ..Numbers::UNKNOWN }),
            Finder::of_all(Numbers::UNKNOWN),
        ] {
            let places: Vec<_> = found(&finder, text.as_bytes()).into_iter().map(|it| it.range).collect();
            assert_eq!(places, [15..30, 31..47], "{finder:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_plain_search_finds(
            text in "([0-9a-zA-Z]{18,37}|([a-z]{0,30}_){1,3}0[0-7][0-9a-z]{24,25}|[15]-[0-9a-f]{8}-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}(\\.[0-9]{1,9}){0,3}|[A-Za-z0-9@_-]{23,28}|[A-Za-z]{70}|[0-9]{13,20}|[ -~]|\\PC){0,20}",
        ) {
            all_finders().iter().for_each(|finder| assert_finds_what_is_there(finder, text.as_bytes()));
        }

        /// Their texts are compared before they are read. Several find in one pass all that one of them finds.
        #[test]
        fn the_ids_within_are_those_that_read_so(
            ms in proptest::collection::vec(1_500_000_000_000..1_500_000_001_000_i64, 1..20),
            from in 1_500_000_000_000..1_500_000_001_000_i64,
            duration in 0..1000_i64,
            between in "[ !-,/:-?\\[-^]{1,70}",
            upper: bool,
        ) {
            let made = |format: &&&'static Format| format.make.as_ref().is_some_and(|make| make.takes_a_time);
            let formats: Vec<_> = ALL.iter().filter(|format| format.has_a_time()).filter(made).copied().collect();
            let several = Finder::of(&formats, Numbers::UNKNOWN).unwrap();
            for format in formats {
                let options = format.make.as_ref().unwrap().options;
                let address = options.contains(&"address").then_some(("address", "10.0.0.7".as_ref()));
                let maker = format.maker(address).unwrap();
                let is_in_one_case = format.texts_sort() == Some(Texts::InOneCase);
                let (mut text, mut places, mut expected) = (between.clone(), Vec::new(), Vec::new());
                for &ms in &ms {
                    let mut id = [0; Maker::MAX_LEN];
                    let length = maker.write_wrapping_at(ms, &mut id).unwrap().len;
                    let id = &mut id[..length];
                    if upper && is_in_one_case {
                        id.make_ascii_uppercase();
                    }
                    let place = text.len()..text.len() + length;
                    if (from..=from + duration).contains(&format.ms(id, &Numbers::UNKNOWN).unwrap()) {
                        expected.push(place.clone());
                    }
                    places.push(place);
                    text += std::str::from_utf8(id).unwrap();
                    text += &between;
                }
                let finder = Finder::of(&[format], Numbers::UNKNOWN).unwrap();
                prop_assert_eq!(within(&finder, text.as_bytes(), from..=from + duration), expected, "{:?}", format);
                let by_several: Vec<_> = found(&several, text.as_bytes()).into_iter().map(|it| it.range).collect();
                prop_assert_eq!(by_several, places, "{:?}", format);
            }
        }

        #[test]
        fn lines_are_ordered_as_txids_are(one in 0_i64..1 << 42, other in 0_i64..1 << 42) {
            let finder = Finder::of(&[ALL[0]], Numbers::UNKNOWN).unwrap();
            let ids = [one, other].map(Txid::wrapping_at);
            let [first, second] = ids.map(|id| finder.first_order(format!("- {id} -").as_bytes()).unwrap().1);
            prop_assert_eq!(first.cmp(&second), ids[0].cmp(&ids[1]));
        }
    }
}
