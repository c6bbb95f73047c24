//! How ids of all formats are written. The table has a row a format, and whatever reads ids asks it.

use crate::snowflake::Layout;
use crate::text::FormatError;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

pub mod find;
#[cfg(test)]
mod json;
mod layout;
mod name;
mod number;
mod rank;
mod read;
mod role;
mod row;
mod shape;
pub(crate) mod table;
mod time;
mod typed;

pub(crate) use name::Timed;
pub use name::{Make, named};
pub use rank::{Reading, Readings, Unlikely};
pub(crate) use rank::{certain_ms, certain_ms_of, new_txid_ms};
pub(crate) use read::{fields, numbers_and_ms};
pub use row::Format;
pub use shape::Shape;
pub use table::ALL;

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
#[derive(Clone, Debug, Default)]
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
    let anatomy = |reading: &Reading| Some((*reading, read::anatomy(reading.format(), text, &reading.numbers).ok()?));
    let found: Vec<_> = readings.iter().filter_map(anatomy).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut of_its_length = ALL.iter().filter(|format| format.is_read() && format.lengths().contains(&text.len()));
    Err(of_its_length.find_map(|format| read::anatomy(format, text, numbers).err()))
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
    named(name).filter(|format| format.is_read()).map(|format| read::anatomy(format, text, numbers))
}

/// The names of the formats that are read.
///
/// ```
/// assert!(txid::formats::names_read().any(|name| name == "ulid"));
/// ```
pub fn names_read() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|format| format.is_read()).map(|format| format.name)
}

impl Format {
    /// Whether ids are numbers of 64 bits, which whoever reads them says the layout of.
    pub fn takes_a_layout(&self) -> bool {
        self.rule == Some(row::Rule::Layout)
    }

    /// Whether its ids can be read: nothing tells those of some formats from others.
    pub const fn is_read(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The usual lengths in bytes. A text of another length gets no detailed error.
    pub const fn lengths(&self) -> RangeInclusive<usize> {
        if let Some([least, most]) = self.usual {
            return least..=most;
        }
        let (mut least, mut most, mut at) = (usize::MAX, 0, 0);
        while at < self.texts.len() {
            let text = &self.texts[at];
            if text.least < least {
                least = text.least;
            }
            if text.most > most {
                most = text.most;
            }
            at += 1;
        }
        least..=most
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
