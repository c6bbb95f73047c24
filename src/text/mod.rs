//! How ids and times are written and read.

pub(crate) mod base32hex;
pub(crate) mod base62;
pub(crate) mod base64;
pub(crate) mod civil;
pub(crate) mod crockford;
pub(crate) mod decimal;
mod error_texts;
mod format_error;
pub(crate) mod hex;
pub(crate) mod uuid_time;

pub(crate) use error_texts::error_texts;
pub use format_error::{FormatError, FormatErrorKind};

/// Reads the texts of these types by their `from_text`.
macro_rules! read_from_text {
    ($($id:ident),*) => {
        $(impl std::str::FromStr for $id {
            type Err = crate::FormatError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::from_text(text.as_bytes())
            }
        })*
    };
}
pub(crate) use read_from_text;

/// Shows `$id` by its `to_text`, or by its `write` if its texts have several lengths.
macro_rules! show_as_text {
    ($id:ident) => {
        impl std::fmt::Display for $id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(std::str::from_utf8(&self.to_text()).map_err(|_| std::fmt::Error)?)
            }
        }

        impl std::fmt::Debug for $id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($id))
            }
        }
    };
    ($id:ident, $most:expr) => {
        impl std::fmt::Display for $id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut text = [0; $most];
                let len = self.write(&mut text);
                f.pad(std::str::from_utf8(&text[..len]).map_err(|_| std::fmt::Error)?)
            }
        }
    };
}
pub(crate) use show_as_text;

/// The text without the spaces and tabs around it.
#[inline]
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if is_space(text.first()) || is_space(text.last()) { trim(text) } else { text }
}

#[cold]
fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}
