//! The list of formats. Whatever goes through all formats goes through it.

use crate::format::{Holds, ReadAnatomy};
use crate::maker::{Maker, MakerError, OpenState, epoch_ms};
use crate::snowflake::{Layout, LayoutError, State};
use crate::text::FormatError;
use crate::{
    cuid, flake, ksuid, nanoid, objectid, segment, snowflake, trace, txid, typeid, ulid, unique_id, uuid, xid,
};

pub mod find;

pub use crate::format::{Anatomy, Format, Make, Numbers, Read, Shape, Sorted, Texts, Time, Value};

/// The formats, and how what their ids hold is read.
const LIST: [(&Format, Option<ReadAnatomy>); 30] = [
    (&txid::FORMAT, Some(txid::ANATOMY)),
    (&txid::STRONG, None),
    (&uuid::V1, Some(uuid::V1_ANATOMY)),
    (&uuid::V4, Some(uuid::V4_ANATOMY)),
    (&uuid::V6, Some(uuid::V6_ANATOMY)),
    (&uuid::V7, Some(uuid::V7_ANATOMY)),
    (&uuid::OTHER, Some(uuid::OTHER_ANATOMY)),
    (&flake::FORMAT, Some(flake::ANATOMY)),
    (&ulid::FORMAT, Some(ulid::ANATOMY)),
    (&ksuid::FORMAT, Some(ksuid::ANATOMY)),
    (&xid::FORMAT, Some(xid::ANATOMY)),
    (&nanoid::FORMAT, Some(nanoid::ANATOMY)),
    (&objectid::FORMAT, Some(objectid::ANATOMY)),
    (&typeid::FORMAT, Some(typeid::ANATOMY)),
    (&cuid::FORMAT, Some(cuid::ANATOMY)),
    (&unique_id::LONG, Some(unique_id::LONG_ANATOMY)),
    (&unique_id::SHORT, Some(unique_id::SHORT_ANATOMY)),
    (&trace::ID, Some(trace::ID_ANATOMY)),
    (&trace::HOST_ID, Some(trace::HOST_ID_ANATOMY)),
    (&trace::OTEL_ID, Some(trace::OTEL_ID_ANATOMY)),
    (&trace::SPAN_ID, Some(trace::SPAN_ID_ANATOMY)),
    (&trace::traceparent::FORMAT, Some(trace::traceparent::ANATOMY)),
    (&trace::sofa::FORMAT, Some(trace::sofa::ANATOMY)),
    (&trace::skywalking::FORMAT, Some(trace::skywalking::ANATOMY)),
    (&trace::xray::FORMAT, Some(trace::xray::ANATOMY)),
    (&trace::datadog::FORMAT, Some(trace::datadog::ANATOMY)),
    (&trace::eagleid::FORMAT, Some(trace::eagleid::ANATOMY)),
    (&trace::b3::FORMAT, Some(trace::b3::ANATOMY)),
    (&snowflake::format::FORMAT, Some(snowflake::format::ANATOMY)),
    (&segment::format::FORMAT, None),
];

/// All formats.
///
/// ```
/// assert!(txid::formats::ALL.iter().any(|format| format.name == "uuid_v7"));
/// ```
pub static ALL: [&Format; LIST.len()] = {
    let (mut all, mut at) = ([LIST[0].0; LIST.len()], 0);
    while at < LIST.len() {
        all[at] = LIST[at].0;
        at += 1;
    }
    all
};

/// What makes and reads ids of a format, and ranks readings as such. A library that does no more is much smaller without the rest
/// of [`Format`].
struct Core {
    name: &'static str,
    make: Option<Make>,
    holds: Option<Hold>,
    anatomy: Option<ReadAnatomy>,
    since_ms: i64,
}

type Hold = fn(&[u8], &Numbers) -> Option<Holds>;

static CORES: [Core; LIST.len()] = {
    let mut cores =
        [const { Core { name: "", make: None, holds: None, anatomy: None, since_ms: i64::MIN } }; LIST.len()];
    let mut at = 0;
    while at < LIST.len() {
        let format = LIST[at].0;
        cores[at].name = format.name;
        cores[at].make = format.make;
        cores[at].anatomy = LIST[at].1;
        if let Some(read) = &format.read {
            cores[at].holds = Some(read.holds);
            if let Some(time) = &read.time {
                cores[at].since_ms = time.since_ms;
            }
        }
        at += 1;
    }
    cores
};

/// The formats that have ids of a length, a bit for each; the last is for all longer texts.
static BY_LENGTH: [u32; 65] = {
    const { assert!(LIST.len() <= 32) };
    let (mut by_length, mut at) = ([0; 65], 0);
    while at < LIST.len() {
        if let Some(read) = &LIST[at].0.read {
            let lengths = match &read.all_lengths {
                Some(all) => all,
                None => &read.lengths,
            };
            let mut length = 0;
            while length < by_length.len() {
                if *lengths.start() <= length && length <= *lengths.end() {
                    by_length[length] |= 1 << at;
                }
                length += 1;
            }
        }
        at += 1;
    }
    by_length
};

/// The places of the formats that have ids as long as this text.
fn of_its_length(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut left = BY_LENGTH[text.len().min(BY_LENGTH.len() - 1)];
    std::iter::from_fn(move || {
        let at = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (at < u32::BITS).then_some(at as usize)
    })
}

/// The format of this name.
///
/// ```
/// assert_eq!(txid::formats::named("uuid_v7").unwrap().title, "UUID version 7");
/// ```
pub fn named(name: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| is_same(format.name, name))
}

/// Whether this is a format's name, with `-` or `_`. Configurations have the one, and the command the other.
#[inline]
fn is_same(known: &str, name: &str) -> bool {
    known.len() == name.len()
        && known.bytes().zip(name.bytes()).all(|(known, byte)| known == byte || known == b'_' && byte == b'-')
}

/// Ids of later times are unlikely: a day from now.
const DAY_MS: i64 = 86_400_000;

/// Most ids that are met were made in the last hour.
const HOUR_MS: i64 = 3_600_000;

/// Bonus for an id of the last hour, in bits of [`Holds`]: years have this many bits more milliseconds than an hour.
const BITS_OF_AN_HOUR: u32 = 16;

/// Penalty for an unlikely time; exceeds any gap between formats of one shape.
const BITS_OF_NO_TIME: u32 = 32;

/// A reading is certain when it leads all others by this margin.
const CERTAIN_BITS: u32 = 16;

/// A text as an id of one format.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The place of its format in the list.
    at: usize,
    /// How 64-bit ids are read.
    pub numbers: Numbers,
    /// The name of their layout, where nobody chose one.
    pub layout: Option<&'static str>,
    /// The milliseconds since 1970, if the id has a time.
    pub ms: Option<i64>,
    /// Why it is unlikely to be an id of this format, if its time says so.
    pub unlikely: Option<Unlikely>,
    bits: u32,
}

/// Why a text is unlikely to be an id of a format that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlikely {
    /// Its time is before such ids existed.
    TooEarly,
    /// Its time is more than a day ahead.
    TooLate,
}

/// What says how likely a reading is.
struct Rank {
    ms: Option<i64>,
    unlikely: Option<Unlikely>,
    bits: u32,
}

impl Rank {
    #[inline]
    fn new(at: usize, text: &[u8], numbers: &Numbers, now_ms: i64) -> Option<Self> {
        Some(Self::of(at, CORES[at].holds?(text, numbers)?, now_ms))
    }

    #[inline(always)]
    fn of(at: usize, holds: Holds, now_ms: i64) -> Self {
        let since_ms = CORES[at].since_ms;
        let unlikely = match holds.ms {
            Some(ms) if ms < since_ms => Some(Unlikely::TooEarly),
            Some(ms) if ms > now_ms.saturating_add(DAY_MS) => Some(Unlikely::TooLate),
            _ => None,
        };
        let bits = match (unlikely, holds.ms) {
            (Some(_), _) => holds.bits + BITS_OF_NO_TIME,
            (None, Some(ms)) if is_new(ms, now_ms) => holds.bits - BITS_OF_AN_HOUR,
            (None, _) => holds.bits,
        };
        Self { ms: holds.ms, unlikely, bits }
    }
}

/// Whether a time is less than an hour away.
#[inline(always)]
fn is_new(ms: i64, now_ms: i64) -> bool {
    // In fewer instructions than by `abs_diff`.
    ms.wrapping_sub(now_ms).wrapping_add(HOUR_MS) as u64 <= 2 * HOUR_MS as u64
}

/// The place of the format whose ids are numbers.
const NUMBER: usize = {
    let mut at = 0;
    while !matches!(LIST[at].0.name.as_bytes(), b"snowflake") {
        at += 1;
    }
    at
};

/// The time of a txid of the last hour. Whatever else such a text could be would be older.
#[inline]
pub(crate) fn new_txid_ms(text: &[u8], now_ms: i64) -> Option<i64> {
    txid::ms_of(text).filter(|ms| is_new(*ms, now_ms) && *ms >= txid::SINCE_MS)
}

/// The time of the likeliest reading as one of these formats, if no other of them with another time is nearly as likely.
pub(crate) fn certain_ms_of(formats: &[Timed], text: &[u8], now_ms: i64) -> Option<i64> {
    let readings = || formats.iter().filter_map(|format| format.likely_ms(text, now_ms));
    let (least, ms) = readings().min()?;
    readings().all(|(bits, other)| other == ms || !is_near(bits, least)).then_some(ms)
}

/// The time of the reading that [`Readings::certain`] returns when nobody chose a layout, without the others.
pub(crate) fn certain_ms(text: &[u8], now_ms: i64) -> Option<i64> {
    // What most texts are.
    if let Some(ms) = new_txid_ms(text, now_ms) {
        return Some(ms);
    }
    let (mut bits, mut times) = ([0; Readings::MOST], [None; Readings::MOST]);
    let mut count = 0;
    // A likely reading always has more bits than an unlikely one.
    let (mut least, mut first) = (u32::MAX, None);
    for at in of_its_length(text) {
        if at == NUMBER {
            if text.iter().all(u8::is_ascii_digit) {
                return Readings::of(text, &Numbers::UNKNOWN, now_ms).certain()?.ms;
            }
            continue;
        }
        let Some(rank) = Rank::new(at, text, &Numbers::UNKNOWN, now_ms) else { continue };
        if rank.bits < least {
            least = rank.bits;
            first = rank.unlikely.is_none().then_some(rank.ms);
        }
        (bits[count], times[count]) = (rank.bits, rank.ms);
        count += 1;
    }
    let first = first?;
    (0..count).all(|at| !is_near(bits[at], least) || times[at] == first).then_some(first)?
}

/// Whether a reading is nearly as likely as the likeliest one.
#[inline(always)]
fn is_near(bits: u32, least: u32) -> bool {
    bits < least + CERTAIN_BITS
}

impl Reading {
    #[inline(never)]
    fn new(at: usize, text: &[u8], numbers: Numbers, now_ms: i64) -> Option<Self> {
        let Rank { ms, unlikely, bits } = Rank::new(at, text, &numbers, now_ms)?;
        Some(Self { at, numbers, layout: None, ms, unlikely, bits })
    }

    /// The format.
    pub fn format(&self) -> &'static Format {
        ALL[self.at]
    }

    /// The name of the format.
    pub fn name(&self) -> &'static str {
        CORES[self.at].name
    }

    /// Ties: the later time wins; among unlikely readings, the least wrong.
    fn is_likelier(&self, other: &Self) -> bool {
        let wrong_by = |it: &Self| match (it.unlikely, it.ms) {
            (Some(Unlikely::TooEarly), Some(ms)) => CORES[it.at].since_ms.abs_diff(ms),
            (Some(Unlikely::TooLate), Some(ms)) => ms as u64,
            _ => 0,
        };
        (self.bits, wrong_by(self), other.ms) < (other.bits, wrong_by(other), self.ms)
    }
}

/// All readings of a text, the likeliest first.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    found: [Option<Reading>; Readings::MOST],
}

impl Readings {
    /// No text fits more formats and layouts.
    pub const MOST: usize = 16;

    /// What `text` can be when the clock reads `now_ms`. Unless a layout is chosen, a number is read in each known one.
    ///
    /// A reading is likelier if its format has fewer ids. It is unlikely if its time is before such ids existed, or more
    /// than a day ahead.
    ///
    /// ```
    /// use txid::formats::{Numbers, Readings, Unlikely};
    ///
    /// // An xid of 2026 would be a txid of 2028.
    /// let now_ms = 1_795_000_000_000;
    /// let found = Readings::of(b"dbuodg30ui3e8a215n4g", &Numbers::UNKNOWN, now_ms);
    /// let names: Vec<_> = found.iter().map(|it| (it.name(), it.unlikely)).collect();
    /// assert_eq!(names, [("xid", None), ("txid", Some(Unlikely::TooLate))]);
    /// ```
    pub fn of(text: &[u8], numbers: &Numbers, now_ms: i64) -> Self {
        let mut readings = Self { found: [None; Self::MOST] };
        for at in of_its_length(text) {
            if at != NUMBER || numbers.is_chosen {
                readings.add(Reading::new(at, text, *numbers, now_ms));
                continue;
            }
            if !text.iter().all(u8::is_ascii_digit) {
                continue;
            }
            // Leaf's bits are snowflake's.
            for (name, layout) in Layout::PRESETS.into_iter().filter(|(name, _)| *name != "leaf") {
                let reading = Reading::new(at, text, Numbers { layout, is_chosen: false }, now_ms);
                readings.add(reading.map(|it| Reading { layout: Some(name), ..it }));
            }
        }
        readings
    }

    #[inline(never)]
    fn add(&mut self, mut added: Option<Reading>) {
        for place in &mut self.found {
            let Some(reading) = &added else { return };
            if place.as_ref().is_none_or(|there| reading.is_likelier(there)) {
                std::mem::swap(place, &mut added);
            }
        }
    }

    /// The readings, the likeliest first.
    pub fn iter(&self) -> impl Iterator<Item = &Reading> {
        self.found.iter().flatten()
    }

    /// The likeliest reading, if no other with another time, or without one, is nearly as likely. A number is never certain.
    ///
    /// ```
    /// use txid::formats::{Numbers, Readings};
    ///
    /// let certain = |text: &str, now_ms| {
    ///     let found = Readings::of(text.as_bytes(), &Numbers::UNKNOWN, now_ms);
    ///     found.certain().map(|it| it.name())
    /// };
    /// // Of 2018-04-01; an xid of 2017-02-16 has the same text.
    /// assert_eq!(certain("b2fr5nvqg00000000000", 1_522_545_689_000), Some("txid"));
    /// assert_eq!(certain("b2fr5nvqg00000000000", 1_795_000_000_000), None);
    /// ```
    pub fn certain(&self) -> Option<&Reading> {
        let first = self.likely().next()?;
        self.likely().all(|it| it.ms == first.ms).then_some(first)
    }

    /// The likeliest reading and those close to it. Numbers, and ids with an impossible time, have none.
    pub fn likely(&self) -> impl Iterator<Item = &Reading> {
        let first = self.found[0].filter(|it| it.unlikely.is_none() && it.layout.is_none());
        self.iter().take_while(move |it| first.is_some_and(|first| is_near(it.bits, first.bits)))
    }
}

/// The readings of a text, likeliest first, and what it holds as each.
///
/// ```
/// use txid::formats::{Numbers, recognize};
///
/// let now_ms = 1_600_000_000_000;
/// let found = recognize(b"b13f65bff40000010123456789abcdef", &Numbers::UNKNOWN, now_ms)?;
/// let names: Vec<_> = found.iter().map(|(reading, _)| reading.name()).collect();
/// assert_eq!(names, ["trace_id", "otel_trace_id", "trace_host_id", "xray"]);
/// # Ok::<(), Option<txid::FormatError>>(())
/// ```
///
/// # Errors
///
/// The error of the first format that has such a text's length; None if no format has.
pub fn recognize(text: &[u8], numbers: &Numbers, now_ms: i64) -> Result<Vec<(Reading, Anatomy)>, Option<FormatError>> {
    let readings = Readings::of(text, numbers, now_ms);
    let anatomy = |reading: &Reading| Some((*reading, read(reading.name(), text, &reading.numbers)?.ok()?));
    let found: Vec<_> = readings.iter().filter_map(anatomy).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut of_its_length =
        ALL.iter().filter(|format| format.read.as_ref().is_some_and(|read| read.lengths.contains(&text.len())));
    Err(of_its_length.find_map(|format| read(format.name, text, numbers)?.err()))
}

/// What `text` holds as an id of the format of this name; None if there is no such format that is read.
///
/// ```
/// use txid::formats::{Numbers, read};
///
/// let sofa = read("sofa", b"0ad1348f1403169275002100356696", &Numbers::UNKNOWN).unwrap()?;
/// assert_eq!(sofa.parts[0].1.to_string(), "10.209.52.143");
/// assert_eq!(sofa.ms, Some(1_403_169_275_002));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read(name: &str, text: &[u8], numbers: &Numbers) -> Option<Result<Anatomy, FormatError>> {
    let core = CORES.iter().find(|core| is_same(core.name, name))?;
    let ms = || core.holds?(text, numbers)?.ms;
    Some(core.anatomy?(text, numbers).map(|it| Anatomy { ms: it.ms.or_else(ms), ..it }))
}

/// The names of the formats that are read.
///
/// ```
/// assert!(txid::formats::names_read().any(|name| name == "ulid"));
/// ```
pub fn names_read() -> impl Iterator<Item = &'static str> {
    CORES.iter().filter(|core| core.anatomy.is_some()).map(|core| core.name)
}

impl Maker {
    /// The names that [`Maker::parse`] knows.
    ///
    /// ```
    /// assert!(txid::Maker::names().any(|name| name == "uuid_v7"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        makes(in_nginx).map(|(name, ..)| name)
    }

    /// A maker of the format of this name, with options such as `address=10.0.0.7`, for the formats that nginx offers. Options may
    /// also be in the name, as in `nanoid(length=10)`. Names have `-` or `_`.
    ///
    /// Copies of a maker never make the same id, in any processes and threads. So flakes and UUIDs of version 1 take no
    /// node here, and there are no SOFATracer ids: two copies of this library in one process would repeat each other's.
    ///
    /// ```
    /// let error = txid::Maker::parse("snowflake", ["node=1024", "state=/run/a"]).unwrap_err();
    /// assert_eq!(error.to_string(), "node '1024' is not an integer from 0 to 1023, the layout's range");
    /// ```
    pub fn parse<'a>(name: &'a str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        open(find(name, in_nginx)?, name, options, State::open)
    }

    /// As [`Maker::parse`], to try the options, as `nginx -t` does: no file is made. A state without a file is one in
    /// memory.
    ///
    /// ```
    /// assert!(txid::Maker::parse_on_trial("snowflake", ["node=17", "state=/nonexistent/state"]).is_ok());
    /// assert!(!std::path::Path::new("/nonexistent").exists());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`].
    pub fn parse_on_trial<'a>(name: &'a str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        open(find(name, in_nginx)?, name, options, State::on_trial)
    }

    /// As [`Maker::parse`], of any format that is made, for a program with one copy of this library.
    ///
    /// ```
    /// assert!(txid::Maker::parse_any("sofa", ["address=10.0.0.7"]).is_ok());
    /// assert!(txid::Maker::parse("sofa", ["address=10.0.0.7"]).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`].
    pub fn parse_any<'a>(name: &'a str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        open(find(name, anywhere)?, name, options, State::open)
    }

    /// As [`Maker::parse_any`], on trial.
    ///
    /// ```
    /// assert!(txid::Maker::parse_any_on_trial("flake", ["node=02:42:ac:11:00:02"]).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`].
    pub fn parse_any_on_trial<'a>(
        name: &'a str,
        options: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, MakerError> {
        open(find(name, anywhere)?, name, options, State::on_trial)
    }

    /// As [`Maker::parse`], where options can only be in the name.
    ///
    /// ```
    /// assert!(txid::Maker::named("uuid_v7").is_ok());
    /// assert!(txid::Maker::named("nanoid(length=10)").is_ok());
    /// let error = txid::Maker::named("snowflake").unwrap_err();
    /// assert_eq!(error.to_string(), "snowflake needs options, such as snowflake(node=VALUE)");
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`]. A list of formats has only those that need no options.
    pub fn named(name: &str) -> Result<Self, MakerError> {
        let offered = |name: &str| find(name, in_nginx);
        let bare = |found: Found, spec: &str| match open(found, spec, [], State::open) {
            Err(MakerError::Missing { option, .. }) if !spec.contains('(') => {
                Err(MakerError::NeedsOptions { format: found.0, option })
            }
            maker => maker,
        };
        match offered(name) {
            Err(MakerError::NoFormat { name, mut known }) => {
                known.retain(|name| offered(name).is_ok_and(|format| bare(format, name).is_ok()));
                Err(MakerError::NoFormat { name, known })
            }
            format => bare(format?, name),
        }
    }
}

/// The name of a format, how it is made, and the options that are offered.
type Found = (&'static str, &'static Make, &'static [&'static str]);

/// The options of a format that is offered.
type Offered = fn(&Make) -> Option<&'static [&'static str]>;

fn in_nginx(make: &Make) -> Option<&'static [&'static str]> {
    make.in_nginx
}

fn anywhere(make: &Make) -> Option<&'static [&'static str]> {
    Some(make.options)
}

/// The formats that are made, of those that are offered.
fn makes(offered: Offered) -> impl Iterator<Item = Found> {
    CORES.iter().filter_map(move |core| {
        let make = core.make.as_ref()?;
        Some((core.name, make, offered(make)?))
    })
}

/// That of this name, or of the name before the options in parentheses.
fn find(spec: &str, offered: Offered) -> Result<Found, MakerError> {
    let known = || makes(offered).map(|(name, ..)| name).collect();
    let name = split_spec(spec).0;
    let found = makes(offered).find(|(known, ..)| is_same(known, name));
    found.ok_or_else(|| MakerError::NoFormat { name: name.to_string(), known: known() })
}

/// The name and the text of the options of `name(option=value,option=value)`; without parentheses, there are none.
fn split_spec(spec: &str) -> (&str, Option<&str>) {
    match spec.strip_suffix(')').and_then(|spec| spec.split_once('(')) {
        Some((name, options)) => (name, Some(options)),
        None => (spec, None),
    }
}

/// The options in parentheses. A comma ends one only if the name of another follows, because some values have commas.
fn options_in<'a>(spec: &'a str, known: &'static [&'static str]) -> Vec<&'a str> {
    let Some(mut rest) = split_spec(spec).1.filter(|options| !options.is_empty()) else { return Vec::new() };
    let begins_one = |text: &str| text.split_once('=').is_some_and(|(name, _)| known.contains(&name));
    let mut options = Vec::new();
    while let Some((comma, _)) = rest.match_indices(',').find(|(comma, _)| begins_one(&rest[comma + 1..])) {
        options.push(&rest[..comma]);
        rest = &rest[comma + 1..];
    }
    options.push(rest);
    options
}

/// A maker with options as `name=value`, those of its name and more.
fn open<'a>(
    (format, make, known): Found,
    spec: &'a str,
    options: impl IntoIterator<Item = &'a str>,
    open_state: OpenState,
) -> Result<Maker, MakerError> {
    let split = |option: &'a str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        (name, value.as_ref())
    };
    let options = options_in(spec, known).into_iter().chain(options);
    make.maker(format, known, options.map(split), open_state)
}

/// Ids of one format, whose times are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// The place of the format in the list.
    at: usize,
    numbers: Numbers,
    epoch_ms: i64,
}

impl Timed {
    /// Reads `name(option=value,...)`. Of the options, `layout` and `epoch` count. None if the format has no time.
    pub(crate) fn parse(spec: &str) -> Result<Option<Self>, MakerError> {
        let (name, _) = split_spec(spec);
        let known = || ALL.iter().filter(|format| format.has_a_time()).map(|format| format.name).collect();
        let at = CORES.iter().position(|core| is_same(core.name, name));
        let at = at.ok_or_else(|| MakerError::NoFormat { name: name.to_string(), known: known() })?;
        let options = options_in(spec, CORES[at].make.map_or(&["layout"], |make| make.options));
        let value = |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        let layout = match value("layout") {
            Some(text) => text.parse().map_err(|error: LayoutError| MakerError::Snowflake(error.to_string()))?,
            None => Layout::SNOWFLAKE,
        };
        let epoch_ms = value("epoch").map_or(Ok(0), epoch_ms)?;
        let numbers = Numbers { layout, is_chosen: true };
        let has_a_time = CORES[at].since_ms != i64::MIN;
        Ok(has_a_time.then_some(Self { at, numbers, epoch_ms }))
    }

    /// What a text holds, with its time since 1970, if it is an id of the format.
    fn holds(&self, text: &[u8]) -> Option<Holds> {
        let holds = CORES[self.at].holds?(text, &self.numbers)?;
        Some(Holds { ms: Some(holds.ms?.saturating_add(self.epoch_ms)), ..holds })
    }

    /// The time in a text, if it is an id of the format.
    pub(crate) fn ms(&self, text: &[u8]) -> Option<i64> {
        self.holds(text)?.ms
    }

    /// The same, unless it cannot be; and how likely the reading is.
    pub(crate) fn likely_ms(&self, text: &[u8], now_ms: i64) -> Option<(u32, i64)> {
        let rank = Rank::of(self.at, self.holds(text)?, now_ms);
        Some((rank.bits, rank.ms?)).filter(|_| rank.unlikely.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoId;
    use crate::snowflake::{Layout, LeasePage, Refusal};
    use test_helpers::Directory;

    fn make(maker: &Maker) -> String {
        let mut text = [0; Maker::MAX_LEN];
        let made = maker.write_by(crate::source::clock::system_ms(), &mut text).unwrap();
        assert!(!made.guessable);
        String::from_utf8(text[..made.len].to_vec()).unwrap()
    }

    #[test]
    fn a_time_is_likely_from_the_formats_beginning_until_a_day_from_now() {
        const NOW_MS: i64 = 1_800_000_000_000;
        for (at, core) in CORES.iter().enumerate() {
            let unlikely = |ms| Rank::of(at, Holds { ms: Some(ms), bits: 64 }, NOW_MS).unlikely;
            let [first, last] = [core.since_ms, NOW_MS + DAY_MS];
            assert!(unlikely(first).is_none() && unlikely(last).is_none());
            assert_eq!(unlikely(last + 1), Some(Unlikely::TooLate));
            assert!(first.checked_sub(1).is_none_or(|before| unlikely(before) == Some(Unlikely::TooEarly)));
        }
    }

    #[test]
    fn an_id_is_new_within_an_hour_of_now() {
        const NOW_MS: i64 = 1_800_000_000_000;
        let is_new_by = |by_ms| is_new(NOW_MS + by_ms, NOW_MS);
        let around = [-HOUR_MS - 1, -HOUR_MS, 0, HOUR_MS, HOUR_MS + 1];
        assert_eq!(around.map(is_new_by), [false, true, true, true, false]);
    }

    #[test]
    fn a_format_that_needs_an_option_says_which() {
        let needed = |name| match Maker::named(name) {
            Err(MakerError::NeedsOptions { option, .. }) => Some(option),
            _ => None,
        };
        assert_eq!(["snowflake", "txid"].map(needed), [Some("node"), None]);
        let with_another = Maker::named("snowflake(layout=snowflake)");
        assert!(matches!(with_another, Err(MakerError::Missing { option: "node", .. })));
    }

    #[test]
    fn a_name_has_dashes_or_underscores() {
        assert!(["uuid_v7", "uuid-v7"].iter().all(|name| named(name).is_some()));
        assert!(["uuid.v7", "uuid_v-", "uuid_v", "UUID_v7"].iter().all(|name| named(name).is_none()));
    }

    #[test]
    fn a_leased_node_is_the_one_of_the_lease() {
        let directory = Directory::new("maker");
        let path = directory.file();
        let state = format!("state={}", path.display());
        let parse = || Maker::parse("snowflake", ["node=lease", &state]);
        let error = parse().unwrap_err().to_string();
        assert!(error.ends_with("does not exist; txid-agent makes it, so start that first, with --node"), "{error}");
        let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        let (maker, now_ms) = (parse().unwrap(), crate::source::clock::system_ms());
        let refused = maker.write_by(now_ms, &mut [0; Maker::MAX_LEN]).unwrap_err();
        assert!(matches!(refused, NoId::Snowflake(Refusal::Unleased(_))));
        assert!(refused.to_string().ends_with(" has no lease; txid-agent has not reached its store yet"), "{refused}");
        page.open(17, now_ms);
        page.set_limit(17, now_ms + 60_000);
        assert_eq!(Layout::SNOWFLAKE.decode(make(&maker).parse().unwrap()).unwrap().node, 17);
    }

    #[test]
    fn an_id_has_the_node_or_counts_from_the_epoch_that_was_given() {
        let make_with = |format, option| make(&Maker::parse_any(format, [option]).unwrap());
        assert!(make_with("uuid_v1", "node=02:42:ac:11:00:02").ends_with("-0242ac110002"));
        let counted = make_with("trace_id", "epoch=1970-02-01");
        let ms = read("trace_id", counted.as_bytes(), &Numbers::UNKNOWN).unwrap().unwrap().ms.unwrap();
        assert_eq!((ms - crate::source::clock::system_ms()) / DAY_MS, -31);
    }

    #[test]
    fn a_trial_makes_no_file_and_checks_one_that_is_there() {
        let directory = Directory::new("trial");
        let path = directory.file();
        let (state, below) = (format!("state={}", path.display()), format!("state={}/a/b", path.display()));
        let trial = |node, state: &str| Maker::parse_on_trial("snowflake", [node, state]).map(|maker| make(&maker));
        assert!(trial("node=17", &state).is_ok());
        assert!(!path.exists());
        assert!(trial("node=1024", &state).is_err());
        Maker::parse("snowflake", ["node=17", &state]).unwrap();
        assert!(trial("node=17", &state).is_ok());
        assert!(trial("node=18", &state).unwrap_err().to_string().contains("17"));
        // Not a directory.
        assert!(trial("node=17", &below).is_err());
    }

    #[test]
    fn a_number_has_no_likely_reading_even_if_its_time_is_now() {
        let (ms, now_ms) = (1_794_999_000_000_i64, 1_795_000_000_000);
        let found = Readings::of((ms << 16).to_string().as_bytes(), &Numbers::UNKNOWN, now_ms);
        assert!(found.iter().any(|it| it.ms == Some(ms)));
        assert_eq!(found.likely().count(), 0);
    }

    #[test]
    fn of_equal_readings_the_first_of_the_list_comes_first() {
        // This number has one time as either.
        let ms: i64 = 1_309_292_672_667;
        let found = Readings::of((ms << 16).to_string().as_bytes(), &Numbers::UNKNOWN, 1_795_000_000_000);
        let layouts: Vec<_> = found.iter().filter(|it| it.ms == Some(ms)).map(|it| it.layout).collect();
        assert_eq!(layouts, [Some("snowflake"), Some("mastodon")]);
    }

    #[test]
    fn an_apache_id_without_upper_case_is_less_likely() {
        // Of this second; as an ObjectId, of 2060.
        let found = Readings::of(b"aaaaaabbbbbbbbbbbbbbbbbb", &Numbers::UNKNOWN, 1_772_526_185_000);
        assert_eq!(found.iter().map(Reading::name).collect::<Vec<_>>(), ["objectid", "unique_id_short"]);
    }

    #[test]
    fn without_options_only_formats_that_need_none_are_offered() {
        let error = Maker::named("UUID_V7").unwrap_err().to_string();
        assert!(error.starts_with("\"UUID_V7\" is not a format; the formats are txid, strong, "), "{error}");
        assert!(error.contains("uuid_v7") && !error.contains("snowflake"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, options, expected) in [
            ("cuid2", &[][..], "\"cuid2\" is not a format; the formats are txid, "),
            ("TXID", &[], "\"TXID\" is not a format"),
            ("sofa", &[], "\"sofa\" is not a format"),
            ("txid", &["node=1"], "txid takes no options, but got \"node=1\""),
            ("flake", &["node=02:42:ac:11:00:02"], "flake takes no options"),
            ("snowflake", &["nod=1"], "\"nod=1\" is not an option of snowflake, which takes node=, state=, layout="),
            ("snowflake", &["node"], "node '' is not an integer"),
            ("snowflake", &["node=1", "node=2"], "node= was given twice"),
            ("snowflake", &["state=/run/a"], "node= is missing"),
            ("snowflake", &["node=1"], "state= is missing"),
            ("snowflake", &["node=1", "state=a"], "state \"a\" is not an absolute path"),
            ("snowflake", &["layout=a", "node=1", "state=/run/a"], "layout 'a'"),
            ("unique_id_short", &["address=::1"], "address \"::1\" is not an IP address that"),
            ("trace_host_id", &["address=localhost"], "address \"localhost\" is not an IP address that"),
        ] {
            let error = Maker::parse(format, options.iter().copied()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
