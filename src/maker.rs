//! Makes ids of one format, with its options.

use crate::segment::UsedUp;
use crate::snowflake::Refusal;
use crate::source::clock;
#[cfg(feature = "host")]
use crate::source::host::{host_ipv4, host_ipv6};
use crate::source::mac::read_mac;
use crate::text::{civil, error_texts};
use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::ptr;

/// Makes the ids of one format. An invalid name or option is an error here, and not when the first id is made.
///
/// ```
/// use txid::Maker;
///
/// let maker = Maker::builder("uuid_v7").build()?;
/// let mut text = [0; Maker::MAX_LEN];
/// let made = maker.write_by(1_522_545_688_552, &mut text)?;
/// assert!(text[..made.len].starts_with(b"01627ecb-7fe8-7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Maker(Writers);

enum Writers {
    Now(Box<dyn WriteNow>),
    /// Stamped with the clock's time, too.
    Stamped(Box<dyn WriteStamped>),
    Both(Box<dyn WriteNow>, Box<dyn WriteStamped>),
}

/// Writes an id when the clock reads `clock_ms`. A `dyn Fn` would come with the code to call it once, and to change it.
trait WriteNow: Send + Sync {
    fn write(&self, clock_ms: i64, text: &mut Text) -> Result<Made, NotMade>;
}

impl<F: Fn(i64, &mut Text) -> Result<Made, NotMade> + Send + Sync> WriteNow for F {
    fn write(&self, clock_ms: i64, text: &mut Text) -> Result<Made, NotMade> {
        self(clock_ms, text)
    }
}

/// Writes an id stamped with `ms`.
trait WriteStamped: Send + Sync {
    fn write(&self, ms: i64, text: &mut Text) -> Made;
}

impl<F: Fn(i64, &mut Text) -> Made + Send + Sync> WriteStamped for F {
    fn write(&self, ms: i64, text: &mut Text) -> Made {
        self(ms, text)
    }
}

/// How to make the ids of a format.
#[derive(Clone, Copy)]
pub struct Make {
    /// The names of its options.
    pub options: &'static [&'static str],
    /// Whether an id can be stamped with a given time.
    pub takes_a_time: bool,
    /// The options with which two copies of this library in one process never make the same id; None if there are none.
    pub(crate) beside_copies: Option<&'static [&'static str]>,
    pub(crate) maker: fn(&Options) -> Result<Maker, MakerError>,
}

impl Make {
    /// Also beside copies, of any time, and without options.
    pub(crate) const fn of(maker: fn(&Options) -> Result<Maker, MakerError>) -> Self {
        Self { options: &[], takes_a_time: true, beside_copies: Some(&[]), maker }
    }

    /// A maker of the format of this name, with some of the `known` options.
    pub(crate) fn maker<'a>(
        &self,
        format: &'static str,
        known: &'static [&'static str],
        options: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        is_trial: bool,
    ) -> Result<Maker, MakerError> {
        (self.maker)(&Options::new(format, known, options, is_trial)?)
    }
}

/// Room for an id of any format, which the caller need not have written to.
pub(crate) type Text = [MaybeUninit<u8>; Maker::MAX_LEN];

/// What a [`Maker`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// How many bytes.
    pub len: usize,
    /// Whether the id was meant to be impossible to guess, but the operating system had no randomness.
    pub guessable: bool,
}

impl Made {
    pub(crate) fn of(len: usize) -> Self {
        Self { len, guessable: false }
    }

    /// An id of one length that is written to where it is to be: to copy bytes that were just written one by one stalls the
    /// processor.
    #[inline(always)]
    pub(crate) fn in_place<const LEN: usize>(text: &mut Text, write: impl FnOnce(&mut [u8; LEN])) -> Self {
        if let Some(place) = Self::zeros(text, LEN).first_chunk_mut() {
            write(place);
        }
        Self::of(LEN)
    }

    /// The first `len` bytes, which are zeros: the compiler leaves out those that are then written.
    #[inline(always)]
    pub(crate) fn zeros(text: &mut Text, len: usize) -> &mut [u8] {
        let place = &mut text[..len];
        place.fill(MaybeUninit::new(0));
        // SAFETY: all of them were just written.
        unsafe { &mut *(ptr::from_mut(place) as *mut [u8]) }
    }

    /// An id whose text is elsewhere.
    #[inline(always)]
    pub(crate) fn copied(text: &mut Text, id: &[u8]) -> Self {
        text.iter_mut().zip(id).for_each(|(place, byte)| _ = place.write(*byte));
        Self::of(id.len())
    }

    pub(crate) fn number(number: u64, text: &mut Text) -> Self {
        let mut digits = itoa::Buffer::new();
        Self::copied(text, digits.format(number).as_bytes())
    }
}

/// Why there is no id now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotMade {
    /// Why a snowflake has none now.
    Snowflake(Refusal),
    /// Why a segment has none now.
    Segment(UsedUp),
}

error_texts! { NotMade {
    Self::Snowflake(why) => "{why}";
    Self::Segment(why) => "{why}";
} }

impl Maker {
    /// The length of the longest id that is made, in bytes.
    pub const MAX_LEN: usize = 90;

    /// `by` gets the clock's reading.
    pub(crate) fn writing(by: impl Fn(i64, &mut Text) -> Result<Made, NotMade> + Send + Sync + 'static) -> Self {
        Self(Writers::Now(Box::new(by)))
    }

    /// `at` gets the time to stamp: the clock's, which never goes backwards, or a given one.
    pub(crate) fn stamping(at: impl Fn(i64, &mut Text) -> Made + Send + Sync + 'static) -> Self {
        Self(Writers::Stamped(Box::new(at)))
    }

    /// `at` makes an id with a given time, where more is different than that.
    pub(crate) fn writing_at(self, at: impl Fn(i64, &mut Text) -> Made + Send + Sync + 'static) -> Self {
        match self.0 {
            Writers::Now(now) | Writers::Both(now, _) => Self(Writers::Both(now, Box::new(at))),
            Writers::Stamped(_) => Self(Writers::Stamped(Box::new(at))),
        }
    }

    /// Writes a new id to the beginning of `text`, when the clock reads `clock_ms`. As everywhere in this library, a
    /// small step back of the clock does not move time backwards.
    ///
    /// # Errors
    ///
    /// [`NotMade`], if a snowflake or a segment has none now.
    #[inline]
    pub fn write_by(&self, clock_ms: i64, text: &mut [u8; Self::MAX_LEN]) -> Result<Made, NotMade> {
        self.write_uninit_by(clock_ms, uninit(text))
    }

    /// As [`Maker::write_by`], to memory that need not have a value. It has one up to the length that is returned.
    #[inline]
    pub fn write_uninit_by(&self, clock_ms: i64, text: &mut [MaybeUninit<u8>; Self::MAX_LEN]) -> Result<Made, NotMade> {
        match &self.0 {
            Writers::Now(now) | Writers::Both(now, _) => now.write(clock_ms, text),
            Writers::Stamped(at) => Ok(at.write(clock::never_backwards(clock_ms), text)),
        }
    }

    /// Writes a new id stamped with exactly `ms`, or if ids of this format cannot hold that time, with its low bits. None if they
    /// have no time, or only the clock's.
    ///
    /// ```
    /// use txid::Maker;
    ///
    /// let mut text = [0; Maker::MAX_LEN];
    /// assert!(Maker::builder("flake").build()?.write_wrapping_at(1_522_545_688_552, &mut text).is_some());
    /// assert!(Maker::builder("uuid_v4").build()?.write_wrapping_at(1_522_545_688_552, &mut text).is_none());
    /// # Ok::<(), txid::MakerError>(())
    /// ```
    pub fn write_wrapping_at(&self, ms: i64, text: &mut [u8; Self::MAX_LEN]) -> Option<Made> {
        self.write_uninit_wrapping_at(ms, uninit(text))
    }

    /// As [`Maker::write_wrapping_at`], to memory that need not have a value. It has one up to the length that is returned.
    pub fn write_uninit_wrapping_at(&self, ms: i64, text: &mut [MaybeUninit<u8>; Self::MAX_LEN]) -> Option<Made> {
        match &self.0 {
            Writers::Now(_) => None,
            Writers::Stamped(at) | Writers::Both(_, at) => Some(at.write(ms, text)),
        }
    }
}

/// Bytes with a value, as room for an id.
#[inline(always)]
fn uninit(text: &mut [u8; Maker::MAX_LEN]) -> &mut Text {
    // SAFETY: both types have one layout, and nothing here writes a byte without a value.
    unsafe { &mut *ptr::from_mut(text).cast() }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maker")
    }
}

/// The given options, each at most once. A value may be a path, and so need not be text.
pub(crate) struct Options<'a> {
    given: Vec<(&'a str, &'a OsStr)>,
    /// How a file with the state of a node is opened: to try the options, none may be made.
    pub(crate) is_trial: bool,
}

impl<'a> Options<'a> {
    pub(crate) fn new(
        format: &'static str,
        known: &'static [&'static str],
        options: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        is_trial: bool,
    ) -> Result<Self, MakerError> {
        let mut given: Vec<(&str, &OsStr)> = Vec::new();
        for (name, value) in options {
            if !known.contains(&name) {
                let option = format!("{name}={}", value.to_string_lossy());
                return Err(MakerError::NoOption { format, option, known });
            }
            if given.iter().any(|(other, _)| *other == name) {
                return Err(MakerError::Twice(name.to_string()));
            }
            given.push((name, value));
        }
        Ok(Self { given, is_trial })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a OsStr> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<&'a str>, MakerError> {
        self.get(name).map(|value| value.to_str().ok_or(MakerError::NotText(name))).transpose()
    }

    /// An absolute path.
    pub(crate) fn path(&self, option: &'static str, give: &'static str) -> Result<&'a Path, MakerError> {
        let path = Path::new(self.get(option).ok_or(MakerError::Missing { option, give })?);
        match path.is_absolute() {
            true => Ok(path),
            false => Err(MakerError::RelativeState(path.display().to_string())),
        }
    }

    /// The address in the option `address`.
    fn address(&self) -> Result<Option<IpAddr>, MakerError> {
        let parse = |text: &str| text.parse().map_err(|_| MakerError::Address(text.to_string()));
        self.text("address")?.map(parse).transpose()
    }

    /// The address in the option `address`, or the host's own.
    pub(crate) fn host(&self) -> Result<IpAddr, MakerError> {
        let own = || host_ipv4().map(IpAddr::from).or_else(|| host_ipv6().map(IpAddr::from));
        self.address()?.or_else(own).ok_or(NO_ADDRESS)
    }

    /// The IPv4 address in the option `address`, or the host's own.
    pub(crate) fn ipv4_address(&self) -> Result<Ipv4Addr, MakerError> {
        match self.address()? {
            Some(IpAddr::V4(address)) => Ok(address),
            Some(address) => Err(MakerError::Address(address.to_string())),
            None => host_ipv4().ok_or(NO_ADDRESS),
        }
    }

    /// The MAC address in the option `node`.
    pub(crate) fn node(&self) -> Result<Option<[u8; 6]>, MakerError> {
        let read = |text: &str| read_mac(text.as_bytes()).map_err(|_| MakerError::Node(text.to_string()));
        self.text("node")?.map(read).transpose()
    }

    /// What the time of a trace id counts from: the option `epoch`, by default 1970.
    pub(crate) fn epoch_ms(&self) -> Result<i64, MakerError> {
        self.text("epoch")?.map_or(Ok(0), epoch_ms)
    }
}

#[cfg(feature = "host")]
const NO_ADDRESS: MakerError = MakerError::NoAddress;
#[cfg(not(feature = "host"))]
const NO_ADDRESS: MakerError = MakerError::NoFeature("host");

#[cfg(not(feature = "host"))]
fn host_ipv4() -> Option<Ipv4Addr> {
    None
}

#[cfg(not(feature = "host"))]
fn host_ipv6() -> Option<std::net::Ipv6Addr> {
    None
}

/// A day, or milliseconds since 1970.
pub(crate) fn epoch_ms(text: &str) -> Result<i64, MakerError> {
    text.parse().ok().or_else(|| civil::parse(text)).ok_or_else(|| MakerError::Epoch(text.to_string()))
}

/// Why a maker could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum MakerError {
    /// No format has this name.
    NoFormat {
        /// The name as given.
        name: String,
        /// The names of the formats.
        known: Vec<&'static str>,
    },
    /// The format needs options.
    NeedsOptions {
        /// The format.
        format: &'static str,
        /// One of them.
        option: &'static str,
    },
    /// Ids of this format have no time.
    NoTime(String),
    /// Ids of this format are only read.
    OnlyRead(&'static str),
    /// The format does not have this option.
    NoOption {
        /// The format.
        format: &'static str,
        /// The option as given.
        option: String,
        /// The options of the format.
        known: &'static [&'static str],
    },
    /// An option was given twice.
    Twice(String),
    /// The format needs an option.
    Missing {
        /// Its name.
        option: &'static str,
        /// What to give.
        give: &'static str,
    },
    /// The value of this option is not UTF-8.
    NotText(&'static str),
    /// Not an address, or not of the family that the format needs.
    Address(String),
    /// The host has no address of its own that the format can hold.
    NoAddress,
    /// The program was compiled without this feature of txid.
    NoFeature(&'static str),
    /// Not a MAC address.
    Node(String),
    /// Neither a day nor milliseconds.
    Epoch(String),
    /// Not a length that an id can have.
    Length(String),
    /// Not characters that an id can be of.
    Alphabet(String),
    /// Not the prefix of a TypeID.
    Prefix(String),
    /// The path of the state is relative, and would depend on the working directory.
    RelativeState(String),
    /// The error in the layout, the node or the state of a 64-bit id, or in the page of a segment.
    State(Box<dyn Error + Send + Sync>),
}

impl MakerError {
    pub(crate) fn state<E: Into<Box<dyn Error + Send + Sync>>>(error: E) -> Self {
        Self::State(error.into())
    }
}

error_texts! { MakerError {
    Self::NoFormat { name, known } => "\"{name}\" is not a format; the formats are {}", known.join(", ");
    Self::NeedsOptions { format, option } => "{format} needs options, such as {format}({option}=VALUE)";
    Self::Length(text) => "length \"{text}\" is not a number from 1 to {}", Maker::MAX_LEN;
    Self::Alphabet(text) =>
        "alphabet \"{text}\" is not 2 to 94 different characters of ASCII, without spaces";
    Self::Prefix(text) => "prefix \"{text}\" is not 1 to 63 characters of a-z_, without _ at either end";
    Self::NoTime(format) => "ids of {format} have no time";
    Self::OnlyRead(format) => "ids of {format} are read, but not made";
    Self::NoOption { format, option, known: [] } => "{format} takes no options, but got \"{option}\"";
    Self::NoOption { format, option, known } =>
        "\"{option}\" is not an option of {format}, which takes {}=", known.join("=, ");
    Self::Twice(option) => "{option}= was given twice";
    Self::Missing { option, give } => "{option}= is missing: give {give}";
    Self::NotText(option) => "the value of {option}= is not UTF-8";
    Self::Address(text) => "address \"{text}\" is not an IP address that the format can hold";
    Self::NoFeature(feature) => "this program was compiled without the feature {feature} of the crate txid";
    Self::NoAddress => "this host has no address of its own: give one with address=";
    Self::Node(text) => "node \"{text}\" is not a MAC address such as 02:42:ac:11:00:02";
    Self::Epoch(text) => "epoch \"{text}\" is neither a day such as 2020-01-01 nor milliseconds";
    Self::RelativeState(path) => "state \"{path}\" is not an absolute path";
    Self::State(why) => "{why}";
} }
