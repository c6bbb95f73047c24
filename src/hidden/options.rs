//! A series of hidden numbers as a configuration has it: `key=FILE name=orders digits=10 check`.

use super::{Form, Hidden, HiddenError};
use crate::segment::Segment;
use std::path::Path;

const OPTIONS: &str =
    "the options are key=FILE, name=NAME, digits=6..19 or letters=4..13 or uuid, and for numbers check and state=FILE";

impl Hidden {
    /// Opens a series by the words of a configuration: `key=FILE name=orders digits=10`, or `letters=8` or `uuid` for
    /// digits. `check` appends a check digit. With `state=FILE`, the numbers are of the segment in that file.
    ///
    /// # Errors
    ///
    /// As for [`Hidden::open`], and if an option is wrong or missing.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, HiddenError> {
        const NAMES: [&str; 7] = ["key", "name", "digits", "letters", "uuid", "check", "state"];
        let mut values = [None; NAMES.len()];
        for word in words {
            let (option, value) = word.split_once('=').unwrap_or((word, ""));
            let has_its_form = ["check", "uuid"].contains(&option) == (option == word);
            let Some(place) = NAMES.iter().position(|name| has_its_form && *name == option) else {
                return wrong(format!("\"{word}\" is not an option; {OPTIONS}"));
            };
            if values[place].replace(value).is_some() {
                return wrong(format!("{option} was given twice"));
            }
        }
        let [key, name, digits, letters, uuid, check, state] = values;
        let (Some(key), Some(name)) = (key, name) else {
            return wrong(format!("{} is missing; {OPTIONS}", if key.is_none() { "key=" } else { "name=" }));
        };
        let form = match (digits, letters, uuid) {
            (Some(digits), None, None) => Form::Digits(number("digits", digits)?),
            (None, Some(letters), None) => Form::Letters(number("letters", letters)?),
            (None, None, Some(_)) => Form::Uuid,
            _ => return wrong(format!("give one of digits=, letters= and uuid; {OPTIONS}")),
        };
        let clash = match (uuid, check, state) {
            (Some(_), Some(_), _) => Some(("check", "UUIDs have no place for a check digit")),
            (Some(_), _, Some(_)) => Some(("state", "no UUID is of a segment")),
            _ => None,
        };
        if let Some((option, why)) = clash {
            return wrong(format!("{option} and uuid do not go together: {why}"));
        }
        let mut hidden = Self::open(absolute("key", key)?, name, form)?;
        if check.is_some() {
            hidden = hidden.with_check_digit();
        }
        if let Some(state) = state {
            let segment = Segment::attach(absolute("state", state)?).map_err(HiddenError::Segment)?;
            hidden = hidden.of_segment(segment);
        }
        Ok(hidden)
    }
}

fn number(option: &str, value: &str) -> Result<u32, HiddenError> {
    value.parse().or_else(|_| wrong(format!("{option}=\"{value}\" is not a number")))
}

/// A relative path would depend on the working directory.
fn absolute<'a>(option: &str, value: &'a str) -> Result<&'a Path, HiddenError> {
    let path = Path::new(value);
    if path.is_absolute() { Ok(path) } else { wrong(format!("{option}=\"{value}\" is not an absolute path")) }
}

fn wrong<T>(what: String) -> Result<T, HiddenError> {
    Err(HiddenError::Option(what))
}
