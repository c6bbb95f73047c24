//! What an id holds.

use crate::snowflake::Layout;
use std::borrow::Cow;
use std::fmt;

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
