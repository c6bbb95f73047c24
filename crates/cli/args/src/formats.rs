//! Formats as they are named on the command line.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, Command};
use std::ffi::OsStr;
use txid::formats::{self, Format, Make};

/// Which ids of a log are meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    /// The ids of one format.
    Of(&'static Format),
    /// Whatever is likely an id with a time, but numbers.
    Any,
    /// UUIDs with a time.
    Uuids,
}

/// A format with options in parentheses.
#[derive(Clone)]
pub struct Made {
    /// What is made.
    pub format: &'static Format,
    /// How.
    pub make: &'static Make,
    /// Their names and values.
    pub options: Vec<(String, String)>,
}

fn has_a_time(format: &Format) -> bool {
    format.has_a_time()
}

fn is_made(format: &Format) -> bool {
    format.make.is_some()
}

pub(crate) fn with_time() -> impl TypedValueParser<Value = Which> {
    let which = |text: &str| match plain(text).as_str() {
        "any" => Ok(Which::Any),
        "uuid" => Ok(Which::Uuids),
        _ => named(text, |format| has_a_time(format).then_some(Which::Of(format))),
    };
    Formats { which, is_listed: has_a_time, others: &["any", "uuid"] }
}

pub(crate) fn to_make() -> impl TypedValueParser<Value = Made> {
    let which = |text: &str| {
        let (name, given) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, given)) => (name, given.split(',').filter(|option| !option.is_empty()).collect()),
            None => (text, Vec::new()),
        };
        let option = |option: &str| match option.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_string(), value.to_string())),
            None => Err(format!("'{option}' is no option, such as length=10")),
        };
        let options = given.into_iter().map(option).collect::<Result<_, _>>()?;
        // Programs that print a UUID print a random one.
        let name = if plain(name) == "uuid" { "uuid_v4" } else { name };
        let (format, make) = named(name, |format| Some((format, format.make.as_ref()?)))?;
        Ok(Made { format, make, options })
    };
    Formats { which, is_listed: is_made, others: &[] }
}

/// Reads names of formats, and gives them to completions.
#[derive(Clone)]
struct Formats<T> {
    which: fn(&str) -> Result<T, String>,
    is_listed: fn(&Format) -> bool,
    others: &'static [&'static str],
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Formats<T> {
    type Value = T;

    fn parse_ref(&self, _: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let option = arg.map(ToString::to_string).unwrap_or_default();
        let text = value.to_string_lossy();
        (self.which)(&text).map_err(|why| {
            Error::raw(ErrorKind::ValueValidation, format!("invalid value '{text}' for '{option}': {why}\n"))
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = names(self.is_listed).into_iter().chain(self.others.iter().copied());
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// Without what people write in different ways: `UUIDv7`, `uuid7` and `uuid_v7` are one.
fn plain(name: &str) -> String {
    let plain = name.to_ascii_lowercase().replace(['-', '_', ' '], "");
    match plain.strip_prefix("uuid") {
        Some(version) if version.starts_with(|first: char| first.is_ascii_digit()) => format!("uuidv{version}"),
        _ => plain,
    }
}

fn named<T>(text: &str, as_one: impl Fn(&'static Format) -> Option<T>) -> Result<T, String> {
    match formats::ALL.iter().copied().find(|format| plain(format.name) == plain(text)) {
        Some(format) => as_one(format).ok_or_else(|| {
            let why = if format.make.is_some() { "contain no timestamp" } else { "can be decoded, but not generated" };
            format!("ids of this format {why}")
        }),
        None => {
            let near = |name: &&str| strsim::normalized_damerau_levenshtein(&plain(name), &plain(text));
            let names = names(|format| as_one(format).is_some());
            let nearest = names.into_iter().max_by(|one, other| near(one).total_cmp(&near(other)));
            Err(match nearest.filter(|name| near(name) > 0.5) {
                Some(name) => format!("no such format; did you mean {name}?"),
                None => "no such format; --help lists them".to_string(),
            })
        }
    }
}

fn names(is_listed: impl Fn(&'static Format) -> bool) -> Vec<&'static str> {
    formats::ALL.iter().copied().filter(|format| is_listed(format)).map(|format| format.name).collect()
}

/// The options of a format that the command offers. The node of a flake or a UUID must be of one thread, and is not.
pub fn options(make: &Make) -> &'static [&'static str] {
    if make.options == ["node"] { &[] } else { make.options }
}

/// The formats that can be made, one on each line.
pub(crate) fn made() -> String {
    let lines = formats::ALL.iter().filter_map(|format| {
        let options = options(format.make.as_ref()?).iter();
        let options = options.filter(|option| !["address", "epoch"].contains(option));
        let options: Vec<_> = options.map(|option| format!("--{option}")).collect();
        let takes = if options.is_empty() { String::new() } else { format!("; takes {}", options.join(", ")) };
        Some(format!("  {:<16} {}{takes}", format.name, format.about))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The formats whose ids hold a time, in lines.
pub(crate) fn with_a_time() -> String {
    let names = names(has_a_time).join(", ");
    format!("A NAME is any, uuid (of every version with a time), or one of the formats with a timestamp:\n  {names}")
}
