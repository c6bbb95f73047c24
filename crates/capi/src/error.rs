//! Errors as numbers.

use ::txid::segment::SegmentError;
use ::txid::snowflake::{LayoutError, NodeError, Refusal, StateError};
use ::txid::{FormatError, FormatErrorKind, PageError};
use std::ffi::{CStr, c_char};

/// The error codes; 0 is success. All are negative.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum txid_error {
    /// A text has too few or too many characters.
    Length = -1,
    /// A text has a character that is not in its alphabet.
    Character = -2,
    /// The last character of an id has bits that must be zero.
    LastCharacter = -3,
    /// A text has valid characters, but a value that is not allowed.
    Value = -10,
    /// An option, or the name of a format, is not known or has an invalid value.
    Option = -20,
    /// An option is already set.
    OptionTwice = -21,
    /// A layout of 64-bit ids is not valid.
    SnowflakeLayout = -30,
    /// A node is not in the layout's range.
    SnowflakeNode = -31,
    /// A state's file cannot be opened or made.
    SnowflakeFile = -32,
    /// A state's file is damaged, or belongs to another layout or node.
    SnowflakeState = -33,
    /// The clock is too far behind the last time used.
    SnowflakeClockBehind = -34,
    /// All ids are used up, as far ahead of the clock as is allowed.
    SnowflakeExhausted = -35,
    /// The clock is before the layout's epoch.
    SnowflakeBeforeEpoch = -36,
    /// The layout's time is used up.
    SnowflakeEnded = -37,
    /// An id is not a number, or has more bits than the layout.
    SnowflakeId = -38,
    /// The node is leased, and there is no lease now.
    SnowflakeUnleased = -39,
    /// A segment's file cannot be opened: txid-agent must be started first.
    SegmentFile = -50,
    /// A segment's file is damaged, a copy, or from an earlier boot.
    SegmentState = -51,
    /// Both ranges of a segment are used up.
    SegmentUsedUp = -52,
    /// A key file cannot be opened, or others than its owner may read it.
    KeyFile = -60,
    /// A key file has no key, or a line that is none, or a key that may not be used.
    Key = -61,
    /// A number is too large to be hidden, or a text is the image of none.
    HiddenNumber = -62,
    /// The check digit of a hidden number is wrong.
    HiddenCheck = -63,
    /// There is no key for the period of a hidden number.
    HiddenPeriod = -64,
    /// The store of a segment has another key for its numbers, or the same one for another name or length, or none.
    OtherKey = -65,
}

impl From<FormatError> for txid_error {
    fn from(error: FormatError) -> Self {
        match error.kind() {
            FormatErrorKind::Length => Self::Length,
            FormatErrorKind::Character => Self::Character,
            FormatErrorKind::LastCharacter => Self::LastCharacter,
            _ => Self::Value,
        }
    }
}

impl From<&StateError> for txid_error {
    fn from(error: &StateError) -> Self {
        match error {
            StateError::Node { .. } => Self::SnowflakeNode,
            StateError::Page(PageError::File(_) | PageError::NoMemory(_)) => Self::SnowflakeFile,
            StateError::NoLease(_) | StateError::UnknownBoot(_) => Self::SnowflakeFile,
            StateError::NoNodes(_) => Self::SnowflakeLayout,
            _ => Self::SnowflakeState,
        }
    }
}

impl From<&LayoutError> for txid_error {
    fn from(_: &LayoutError) -> Self {
        Self::SnowflakeLayout
    }
}

impl From<&NodeError> for txid_error {
    fn from(_: &NodeError) -> Self {
        Self::SnowflakeNode
    }
}

impl From<&Refusal> for txid_error {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::ClockBehind { .. } => Self::SnowflakeClockBehind,
            Refusal::Exhausted { .. } => Self::SnowflakeExhausted,
            Refusal::BeforeEpoch { .. } => Self::SnowflakeBeforeEpoch,
            Refusal::Ended { .. } => Self::SnowflakeEnded,
            _ => Self::SnowflakeUnleased,
        }
    }
}

impl From<&SegmentError> for txid_error {
    fn from(error: &SegmentError) -> Self {
        match error {
            SegmentError::Page(PageError::File(_) | PageError::NoMemory(_))
            | SegmentError::NoAgent(_)
            | SegmentError::UnknownBoot(_) => Self::SegmentFile,
            _ => Self::SegmentState,
        }
    }
}

/// Generates both uses from one list: the compiler checks that the match, and so the array, has every code.
macro_rules! meanings {
    ($($name:ident => $meaning:literal,)*) => {
        impl txid_error {
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            fn meaning(self) -> &'static CStr {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

meanings! {
    Length => c"the text has too few or too many characters",
    Character => c"the text has a character that is not in its alphabet",
    LastCharacter => c"the last character has bits that must be zero",
    Value => c"the text has a value that is not allowed",
    Option => c"the option is not known, or its value is not valid",
    OptionTwice => c"the option is already set",
    SnowflakeLayout => c"the layout of 64-bit ids is not valid",
    SnowflakeNode => c"the node is not in the layout's range",
    SnowflakeFile => c"the state's file cannot be opened or made",
    SnowflakeState => c"the state's file is damaged, or belongs to another layout or node",
    SnowflakeClockBehind => c"the clock is too far behind the last time used",
    SnowflakeExhausted => c"all ids are used up, as far ahead of the clock as is allowed",
    SnowflakeBeforeEpoch => c"the clock is before the layout's epoch",
    SnowflakeEnded => c"the layout's time is used up",
    SnowflakeId => c"the id is not a number, or has more bits than the layout",
    SnowflakeUnleased => c"the node is leased, and there is no lease now",
    SegmentFile => c"the segment's file cannot be opened: txid-agent must be started first",
    SegmentState => c"the segment's file is damaged, a copy, or from an earlier boot",
    SegmentUsedUp => c"both ranges of the segment are used up",
    KeyFile => c"the key file cannot be opened, or others than its owner may read it",
    Key => c"the key file has no key, or a line that is none, or a key that may not be used",
    HiddenNumber => c"the number is too large to be hidden, or the text is the image of none",
    HiddenCheck => c"the check digit of the hidden number is wrong",
    HiddenPeriod => c"there is no key for the period of the hidden number",
    OtherKey => c"the store of the segment has another key or series for its numbers, or none",
}

/// The meaning of a txid_error, or of 0, as a static text. Unlike an id, it is NUL-terminated.
#[unsafe(no_mangle)]
pub extern "C" fn txid_strerror(code: i32) -> *const c_char {
    let known = txid_error::ALL.iter().find(|known| **known as i32 == code);
    match known {
        Some(error) => error.meaning(),
        None if code == 0 => c"no error",
        None => c"no such error code",
    }
    .as_ptr()
}
