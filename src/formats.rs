//! How ids of all formats are written. The table has a row a format, and whatever reads ids asks it.

use crate::text::FormatError;

mod anatomy;
#[cfg(test)]
mod document;
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
mod wide;

pub use crate::maker::Make;
pub use anatomy::{Anatomy, Numbers, Value};
pub use name::{MakerBuilder, named};
pub(crate) use name::{Timed, certain_ms_of};
pub(crate) use rank::new_txid_ms;
pub use rank::{Reading, Readings, Unlikely};
pub(crate) use read::{fields, numbers_and_ms};
pub use row::{Format, Texts};
pub use shape::Shape;
pub use table::ALL;

/// The readings of a text, likeliest first, and what it holds as each.
///
/// ```
/// use txid::formats::{Numbers, recognize};
///
/// let now_ms = 1_600_000_000_000;
/// let found = recognize(b"b13f65bff40000010123456789abcdef", &Numbers::UNKNOWN, now_ms)?;
/// let names: Vec<_> = found.iter().map(|(reading, _)| reading.name()).collect();
/// assert_eq!(names, ["trace_id", "otel_trace_id", "trace_host_id", "xray"]);
/// # Ok::<(), txid::FormatError>(())
/// ```
///
/// # Errors
///
/// The error of the first format that has such a text's length, or that no format has.
pub fn recognize(text: &[u8], numbers: &Numbers, now_ms: i64) -> Result<Vec<(Reading, Anatomy)>, FormatError> {
    let readings = Readings::of(text, numbers, now_ms);
    let anatomy = |reading: &Reading| Some((*reading, read::anatomy(reading.format(), text, &reading.numbers).ok()?));
    let found: Vec<_> = readings.iter().filter_map(anatomy).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut of_its_length = ALL.iter().filter(|format| format.is_read() && format.lengths().contains(&text.len()));
    let error = of_its_length.find_map(|format| read::anatomy(format, text, numbers).err());
    Err(error.unwrap_or(FormatError::no_format(text.len())))
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
