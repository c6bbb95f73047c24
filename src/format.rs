//! What a format says of itself. Each says it in its own file; `formats.rs` lists them all.

use crate::maker::{Maker, MakerError, OpenState, Options};
use crate::snowflake::{Layout, State};
use crate::text::FormatError;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::RangeInclusive;

/// One format of ids.
pub struct Format {
    /// Its name in a configuration. The command writes dashes where this has underscores.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What its ids are, for a list of formats.
    pub about: &'static str,
    /// How to make its ids; None for a format that is only read.
    pub make: Option<Make>,
    /// How to read its ids; None for those that nothing tells apart from ids of another format.
    pub read: Option<Read>,
}

/// How to make the ids of a format.
#[derive(Clone, Copy)]
pub struct Make {
    /// The names of its options.
    pub options: &'static [&'static str],
    /// Whether an id can be stamped with a given time.
    pub takes_a_time: bool,
    /// The options that nginx offers; None if it does not offer the format. With these, two copies of this library in
    /// one process never make the same id, and neither do two processes.
    pub in_nginx: Option<&'static [&'static str]>,
    pub(crate) maker: fn(&Options) -> Result<Maker, MakerError>,
}

/// How to read the ids of a format.
pub struct Read {
    /// The usual lengths in bytes. A text of another length gets no detailed error.
    pub lengths: RangeInclusive<usize>,
    /// How long they can be, if that is more.
    pub(crate) all_lengths: Option<RangeInclusive<usize>>,
    /// What a text holds, if it is an id of the format.
    pub(crate) holds: fn(&[u8], &Numbers) -> Option<Holds>,
    /// The time of an id, if the format has one.
    pub time: Option<Time>,
}

/// What makes one reading of a text likelier than another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds {
    /// The milliseconds since 1970, if the id has a time.
    pub ms: Option<i64>,
    /// About how many bits tell apart all ids that there can be: their random bits, and those of the time between the
    /// format's beginning and today. Where two formats fit, the text is likelier an id of the one that has fewer. More,
    /// if ids of the format rarely look like this.
    pub bits: u32,
}

impl Holds {
    pub(crate) fn time(ms: i64, bits: u32) -> Option<Self> {
        Some(Self { ms: Some(ms), bits })
    }

    pub(crate) fn no_time(bits: u32) -> Option<Self> {
        Some(Self { ms: None, bits })
    }
}

/// Reads a text into the parts of an id. Not in [`Format`]: a program that shows no ids is smaller without it.
pub(crate) type ReadAnatomy = fn(&[u8], &Numbers) -> Result<Anatomy, FormatError>;

/// The time in the ids of a format.
pub struct Time {
    /// What ids look like in other text, to find them there.
    pub shape: Shape,
    /// The milliseconds since 1970 before which there were no such ids.
    pub since_ms: i64,
    /// None if ids do not sort by their time.
    pub sorted: Option<Sorted>,
}

/// What the ids of a format look like in other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// This many letters and digits, with no letter or digit before or after them.
    Word(RangeInclusive<usize>),
    /// As a UUID does: words of 8, 4, 4, 4 and 12, with dashes between them.
    Uuid,
    /// A run of exactly this many letters, digits, `@`, `-` and `_`.
    Base64(usize),
    /// A word of 32, and two words of digits, with dots between them.
    Dotted,
    /// Words of 1, 8 and 24 with dashes between them, or a word of 32.
    Xray,
    /// A word of 26, and before it, of letters, digits and `_`, at most 64, of which `_` is the last.
    Prefixed,
}

/// How ids sort that sort by their time.
pub struct Sorted {
    /// The milliseconds since 1970 that ids can hold.
    pub(crate) times: fn(&Numbers) -> RangeInclusive<i64>,
    /// The lowest and the highest id of a millisecond.
    pub(crate) bounds: fn(i64, &Numbers) -> [String; 2],
    /// A number that ids sort by.
    pub(crate) order: fn(&[u8], &Numbers) -> Option<u128>,
    /// Whether their texts sort as they do.
    pub texts: Texts,
}

/// Whether the texts of ids sort as the ids do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// No, since they may have different lengths.
    Unsorted,
    /// Yes.
    AsTheyAre,
    /// In the case that ids are written in; the other one is read as well.
    InOneCase,
}

/// How 64-bit ids are read, which do not carry their layout.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The layout of all of them.
    pub layout: Layout,
    /// Whether the layout was chosen. If not, a number of few digits is not taken for an id.
    pub is_chosen: bool,
}

impl Numbers {
    /// Twitter's layout, which nobody chose.
    pub const UNKNOWN: Self = Self { layout: Layout::SNOWFLAKE, is_chosen: false };
}

/// What an id holds besides its time.
#[derive(Clone, Debug)]
pub struct Anatomy {
    /// The id, as this library writes it.
    pub text: String,
    /// Its fields by name, but the time.
    pub parts: Vec<(&'static str, Value)>,
    /// The milliseconds since 1970, if it has a time.
    pub ms: Option<i64>,
    /// Its bits; empty if it is not one number.
    pub bytes: Vec<u8>,
    /// Names and widths of its fields, from the most significant bit on.
    pub fields: Vec<(&'static str, usize)>,
    /// Its milliseconds since 1970, if they are more than an `i64` holds.
    pub far_ms: Option<u64>,
}

/// What a field of an id holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// Whether something is so.
    Flag(bool),
    /// A text.
    Text(Cow<'static, str>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        })*
    };
}

numbers! { u8 u16 u32 u64 }

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl Anatomy {
    pub(crate) fn new(text: impl Into<String>, parts: Vec<(&'static str, Value)>) -> Self {
        Self { text: text.into(), parts, ms: None, bytes: Vec::new(), fields: Vec::new(), far_ms: None }
    }

    /// For an id that is one number.
    pub(crate) fn with_bits(self, bytes: &[u8], fields: &[(&'static str, usize)]) -> Self {
        Self { bytes: bytes.to_vec(), fields: fields.to_vec(), ..self }
    }
}

impl Make {
    /// A maker of the format of this name, with some of the `known` options.
    pub(crate) fn maker<'a>(
        &self,
        format: &'static str,
        known: &'static [&'static str],
        options: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        open_state: OpenState,
    ) -> Result<Maker, MakerError> {
        (self.maker)(&Options::new(format, known, options, open_state)?)
    }
}

impl Format {
    /// Prepares to make ids, with these options.
    ///
    /// ```
    /// let format = txid::formats::named("sofa").unwrap();
    /// let maker = format.maker([("address", "10.0.0.7".as_ref())])?;
    /// let mut text = [0; txid::Maker::MAX_LEN];
    /// let made = maker.write_by(txid::system_ms(), &mut text)?;
    /// assert!(text[..made.len].starts_with(b"0a000007"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn maker<'a>(&self, options: impl IntoIterator<Item = (&'a str, &'a OsStr)>) -> Result<Maker, MakerError> {
        let make = self.make.as_ref().ok_or(MakerError::OnlyRead(self.name))?;
        make.maker(self.name, make.options, options, State::open)
    }

    /// The milliseconds since 1970 in `text`, if it is an id of this format and holds a time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".as_bytes();
    /// assert_eq!(named("uuid_v7").unwrap().ms(uuid, &Numbers::UNKNOWN), Some(1_645_557_742_000));
    /// assert_eq!(named("uuid_v4").unwrap().ms(uuid, &Numbers::UNKNOWN), None);
    /// ```
    pub fn ms(&self, text: &[u8], numbers: &Numbers) -> Option<i64> {
        (self.read.as_ref()?.holds)(text, numbers)?.ms
    }

    /// The time in its ids, if they hold one.
    pub fn time(&self) -> Option<&Time> {
        self.read.as_ref()?.time.as_ref()
    }

    /// What ids sort by: a number of all their bits, or, if they do not sort by time, the milliseconds alone. None if
    /// `text` is not an id of this format with a time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let order = |text: &str| named("uuid_v7").unwrap().order(text.as_bytes(), &Numbers::UNKNOWN);
    /// assert!(order("017f22e2-79b0-7cc3-98c4-dc0c0c07398f") < order("017f22e2-79b0-7cc3-98c4-dc0c0c073990"));
    /// ```
    pub fn order(&self, text: &[u8], numbers: &Numbers) -> Option<u128> {
        let time = self.time()?;
        match &time.sorted {
            Some(sorted) => (sorted.order)(text, numbers),
            // Times before 1970 come first.
            None => Some(self.ms(text, numbers)?.abs_diff(i64::MIN).into()),
        }
    }

    /// The milliseconds since 1970 that its ids can hold. None if they do not sort by their time.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// assert_eq!(named("trace_id").unwrap().times(&Numbers::UNKNOWN), Some(0..=2_199_023_255_551));
    /// assert_eq!(named("uuid_v1").unwrap().times(&Numbers::UNKNOWN), None);
    /// ```
    pub fn times(&self, numbers: &Numbers) -> Option<RangeInclusive<i64>> {
        Some((self.time()?.sorted.as_ref()?.times)(numbers))
    }

    /// The lowest id of the first of these milliseconds, and the highest of the last. None if ids do not sort by time,
    /// or cannot hold any of these times.
    ///
    /// ```
    /// use txid::formats::{Numbers, named};
    ///
    /// let bounds = named("uuid_v7").unwrap().bounds(1_522_545_688_552..=1_522_545_688_552, &Numbers::UNKNOWN).unwrap();
    /// assert_eq!(bounds, ["01627ecb-7fe8-7000-8000-000000000000", "01627ecb-7fe8-7fff-bfff-ffffffffffff"]);
    /// ```
    pub fn bounds(&self, ms: RangeInclusive<i64>, numbers: &Numbers) -> Option<[String; 2]> {
        let times = self.times(numbers)?;
        let (from, to) = (*ms.start().max(times.start()), *ms.end().min(times.end()));
        if from > to {
            return None;
        }
        let bounds = self.time()?.sorted.as_ref()?.bounds;
        let ([first, _], [_, last]) = (bounds(from, numbers), bounds(to, numbers));
        Some([first, last])
    }

    /// Whether its ids hold the time when they were made.
    pub fn has_a_time(&self) -> bool {
        self.time().is_some()
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name)
    }
}

/// There are no two formats of one name.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
