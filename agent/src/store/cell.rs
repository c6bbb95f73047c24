//! One column of a row, as a database answers.

/// A value as text; None is NULL.
pub(super) type Value = Option<Vec<u8>>;

/// A value for a message.
pub(super) fn shown(value: &Value) -> Option<String> {
    value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A value that must be something else than text.
pub(super) fn parse<T: std::str::FromStr>(value: Option<&Value>) -> Option<T> {
    std::str::from_utf8(value?.as_ref()?).ok()?.parse().ok()
}
