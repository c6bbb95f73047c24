//! Makes ids of a format that a configuration names, with its options.

use crate::flake::Flake;
use crate::snowflake::{self, Generator, Layout, MAX_DRIFT_MS, Refusal, State};
use crate::source::host::host_ipv4;
use crate::trace::{self, SkyWalking, TraceId, Traceparent};
use crate::txid::{Guessable, Txid};
use crate::unique_id::UniqueId;
use crate::uuid;
use std::fmt;
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;

/// Makes the ids of one format. An invalid name or option is an error here, and not when the first id is made.
///
/// Copies of a maker, in any number of processes and threads, never make the same id. That is why flakes and UUIDs of
/// version 1 take no node here, and why SOFATracer ids are missing: nothing in them tells two copies of this library in
/// one process apart.
///
/// ```
/// use txid::Maker;
///
/// let maker = Maker::parse("uuid_v7", [])?;
/// let mut text = [0; Maker::MAX_LEN];
/// let made = maker.write_by(1_522_545_688_552, &mut text)?;
/// assert!(text[..made.len].starts_with(b"01627ecb-7fe8-7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Maker(Format);

#[derive(Debug)]
enum Format {
    Txid,
    Strong,
    UuidV1,
    UuidV4,
    UuidV7,
    Flake,
    UniqueId,
    UniqueIdShort(Ipv4Addr),
    TraceId,
    TraceHostId(u32),
    OtelTraceId,
    Traceparent,
    SkyWalking,
    Snowflake(Generator),
}

/// The formats, and the options of each.
const FORMATS: [(&str, &[&str]); 14] = [
    ("txid", &[]),
    ("strong", &[]),
    ("uuid_v1", &[]),
    ("uuid_v4", &[]),
    ("uuid_v7", &[]),
    ("flake", &[]),
    ("unique_id", &[]),
    ("unique_id_short", &["address"]),
    ("trace_id", &[]),
    ("trace_host_id", &["address"]),
    ("otel_trace_id", &[]),
    ("traceparent", &[]),
    ("skywalking", &[]),
    ("snowflake", &["node", "state", "layout"]),
];

/// What [`Maker::write_by`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// How many bytes.
    pub len: usize,
    /// Whether the id was meant to be impossible to guess, but the operating system had no randomness.
    pub guessable: bool,
}

impl Maker {
    /// The length of the longest id of any format, in bytes.
    pub const MAX_LEN: usize = SkyWalking::MAX_LEN;

    /// The name of every format.
    ///
    /// ```
    /// assert!(txid::Maker::names().any(|name| name == "uuid_v7"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.into_iter().map(|(name, _)| name)
    }

    /// Finds the format of this name: `txid`, `strong`, `uuid_v1`, `uuid_v4`, `uuid_v7`, `flake`, `unique_id`,
    /// `trace_id`, `otel_trace_id`, `traceparent` or `skywalking`; `unique_id_short` or `trace_host_id`, with the
    /// option `address=`, which defaults to the host's own address; or `snowflake`, with `node=` (as for
    /// [`snowflake::node()`], or `lease`), `state=` (the file that all users of the node share) and `layout=`.
    ///
    /// ```
    /// let error = txid::Maker::parse("snowflake", ["node=1024", "state=/run/a"]).unwrap_err();
    /// assert_eq!(error.to_string(), "node '1024' is not an integer from 0 to 1023, the layout's range");
    /// ```
    ///
    /// # Errors
    ///
    /// [`MakerError`] says what is wrong with the name or an option.
    pub fn parse<'a>(format: &str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        let Some((_, known)) = FORMATS.into_iter().find(|(name, _)| *name == format) else {
            return Err(MakerError::NoFormat(format.to_string()));
        };
        let options = Options::parse(format, known, options)?;
        Ok(Self(match format {
            "txid" => Format::Txid,
            "strong" => Format::Strong,
            "uuid_v1" => Format::UuidV1,
            "uuid_v4" => Format::UuidV4,
            "uuid_v7" => Format::UuidV7,
            "flake" => Format::Flake,
            "unique_id" => Format::UniqueId,
            "unique_id_short" => Format::UniqueIdShort(options.address()?),
            "trace_id" => Format::TraceId,
            "trace_host_id" => Format::TraceHostId(trace::host_word(options.address()?)),
            "otel_trace_id" => Format::OtelTraceId,
            "traceparent" => Format::Traceparent,
            "skywalking" => Format::SkyWalking,
            _ => Format::Snowflake(options.generator()?),
        }))
    }

    /// Writes a new id to the beginning of `text`, when the clock reads `clock_ms`. As everywhere in this library, a
    /// small step back of the clock does not move time backwards.
    ///
    /// # Errors
    ///
    /// [`Refusal`], if a snowflake cannot be made now.
    pub fn write_by(&self, clock_ms: i64, text: &mut [u8; Self::MAX_LEN]) -> Result<Made, Refusal> {
        Ok(match &self.0 {
            Format::Txid => put(text, &Txid::now_by(clock_ms).to_text()),
            Format::Strong => {
                let id = Txid::strong_by(clock_ms);
                let made = put(text, &id.unwrap_or_else(|Guessable(id)| id).to_text());
                Made { guessable: id.is_err(), ..made }
            }
            Format::UuidV1 => put_uuid(text, uuid::v1_by(clock_ms, None)),
            Format::UuidV4 => put_uuid(text, uuid::v4()),
            Format::UuidV7 => put_uuid(text, uuid::v7_by(clock_ms)),
            Format::Flake => put(text, &Flake::now_by(clock_ms, None).to_text()),
            Format::UniqueId => put_unique_id(text, UniqueId::long_by(clock_ms)),
            Format::UniqueIdShort(address) => put_unique_id(text, UniqueId::short_by(clock_ms, *address)),
            Format::TraceId => put(text, &trace::id_by(clock_ms, 0).to_text()),
            Format::TraceHostId(host) => put(text, &trace::host_id_by(clock_ms, 0, *host).to_text()),
            Format::OtelTraceId => put::<{ TraceId::LEN }>(text, &trace::otel_trace_id().to_text()),
            Format::Traceparent => put(text, &Traceparent::new(true).to_text()),
            Format::SkyWalking => Made { len: SkyWalking::new_by(clock_ms).write(text), guessable: false },
            Format::Snowflake(generator) => {
                let mut digits = itoa::Buffer::new();
                let digits = digits.format(generator.next_by(clock_ms)?).as_bytes();
                text[..digits.len()].copy_from_slice(digits);
                Made { len: digits.len(), guessable: false }
            }
        })
    }
}

#[inline(always)]
fn put<const LEN: usize>(text: &mut [u8; Maker::MAX_LEN], id: &[u8; LEN]) -> Made {
    text[..LEN].copy_from_slice(id);
    Made { len: LEN, guessable: false }
}

fn put_uuid(text: &mut [u8; Maker::MAX_LEN], id: uuid::Uuid) -> Made {
    id.hyphenated().encode_lower(text);
    Made { len: uuid::LEN, guessable: false }
}

fn put_unique_id(text: &mut [u8; Maker::MAX_LEN], id: UniqueId) -> Made {
    let mut written = [0; UniqueId::LONG_LEN];
    let len = id.write(&mut written);
    text[..len].copy_from_slice(&written[..len]);
    Made { len, guessable: false }
}

/// The given options, each at most once.
struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    fn parse(
        format: &str,
        known: &'static [&'static str],
        options: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, MakerError> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        for option in options {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if !known.contains(&name) {
                return Err(MakerError::NoOption { format: format.to_string(), option: option.to_string(), known });
            }
            if given.iter().any(|(other, _)| *other == name) {
                return Err(MakerError::Twice(name.to_string()));
            }
            given.push((name, value));
        }
        Ok(Self(given))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    /// An `Ipv4Addr`, or an `IpAddr` of either family.
    fn address<A: FromStr + From<Ipv4Addr>>(&self) -> Result<A, MakerError> {
        match self.get("address") {
            Some(text) => text.parse().map_err(|_| MakerError::Address(text.to_string())),
            None => host_ipv4().map(A::from).ok_or(MakerError::NoAddress),
        }
    }

    fn generator(&self) -> Result<Generator, MakerError> {
        let layout_name = self.get("layout").unwrap_or("snowflake");
        let snowflake = |error: &dyn fmt::Display| MakerError::Snowflake(error.to_string());
        let layout: Layout = layout_name.parse().map_err(|error| snowflake(&error))?;
        // As Sonyflake itself does.
        let node =
            self.get("node").or((layout_name == "sonyflake").then_some("ip")).ok_or(MakerError::Missing("node"))?;
        let given = match node {
            "lease" => None,
            node => Some(snowflake::node(node, &layout).map_err(|error| snowflake(&error))?),
        };
        let path = Path::new(self.get("state").ok_or(MakerError::Missing("state"))?);
        if !path.is_absolute() {
            return Err(MakerError::RelativeState(path.display().to_string()));
        }
        let state = match given {
            Some(node) => State::open(path, &layout, node),
            None => State::leased(path, &layout),
        };
        let state = state.map_err(|error| snowflake(&error))?;
        Ok(Generator::new(state).with_max_drift_ms(MAX_DRIFT_MS))
    }
}

/// Why a maker could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MakerError {
    /// No format has this name.
    NoFormat(String),
    /// The format does not have this option.
    NoOption {
        /// The format.
        format: String,
        /// The option as given.
        option: String,
        /// The options of the format.
        known: &'static [&'static str],
    },
    /// An option was given twice.
    Twice(String),
    /// The format needs this option.
    Missing(&'static str),
    /// Not an address, or not of the family that the format needs.
    Address(String),
    /// The host has no IPv4 address of its own.
    NoAddress,
    /// The path of the state is relative, and would depend on the working directory.
    RelativeState(String),
    /// The message of the error in the layout, the node or the state.
    Snowflake(String),
}

impl fmt::Display for MakerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFormat(format) => {
                write!(f, "\"{format}\" is not a format; the formats are ")?;
                f.write_str(&Maker::names().collect::<Vec<_>>().join(", "))
            }
            Self::NoOption { format, option, known: [] } => {
                write!(f, "{format} takes no options, but got \"{option}\"")
            }
            Self::NoOption { format, option, known } => {
                write!(f, "\"{option}\" is not an option of {format}, which takes {}=", known.join("=, "))
            }
            Self::Twice(option) => write!(f, "{option}= was given twice"),
            Self::Missing("state") => {
                f.write_str("state= is missing: give the absolute path of a file for all processes with this node")
            }
            Self::Missing("node") => {
                f.write_str("node= is missing: give a number, env:NAME, ip, hostname, or lease for that of txid-agent")
            }
            Self::Missing(option) => write!(f, "{option}= is missing"),
            Self::Address(text) => write!(f, "address \"{text}\" is not an IP address that the format can hold"),
            Self::NoAddress => f.write_str("this host has no IPv4 address of its own: give one with address="),
            Self::RelativeState(path) => write!(f, "state \"{path}\" is not an absolute path"),
            Self::Snowflake(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for MakerError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use test_helpers::Directory;

    fn make(maker: &Maker) -> String {
        let mut text = [0; Maker::MAX_LEN];
        let made = maker.write_by(crate::source::clock::system_ms(), &mut text).unwrap();
        assert!(!made.guessable);
        String::from_utf8(text[..made.len].to_vec()).unwrap()
    }

    #[test]
    fn every_format_makes_ids_of_its_own_length() {
        for (format, length) in [
            ("txid", 20),
            ("strong", 20),
            ("uuid_v1", 36),
            ("uuid_v4", 36),
            ("uuid_v7", 36),
            ("flake", 22),
            ("unique_id", 27),
            ("trace_id", 32),
            ("otel_trace_id", 32),
            ("traceparent", 55),
        ] {
            let maker = Maker::parse(format, []).unwrap();
            let ids: HashSet<String> = (0..1000).map(|_| make(&maker)).collect();
            assert_eq!(ids.len(), 1000, "{format}");
            assert!(ids.iter().all(|id| id.len() == length), "{format}");
        }
        assert_eq!(make(&Maker::parse("unique_id_short", ["address=10.0.0.7"]).unwrap()).len(), 24);
        assert!(make(&Maker::parse("trace_host_id", ["address=10.0.0.7"]).unwrap()).contains("0a000007"));
        assert!(make(&Maker::parse("skywalking", []).unwrap()).parse::<SkyWalking>().is_ok());
    }

    #[test]
    fn no_format_is_left_out() {
        for (format, options) in FORMATS {
            let made = Maker::parse(format, options.iter().map(|_| "address=10.0.0.7").take(1));
            assert_eq!(made.is_err(), format == "snowflake", "{format}");
        }
    }

    #[test]
    fn a_leased_node_is_the_one_of_the_lease() {
        let directory = Directory::new("maker");
        let path = directory.file();
        let state = format!("state={}", path.display());
        let parse = || Maker::parse("snowflake", ["node=lease", &state]);
        let error = parse().unwrap_err().to_string();
        assert!(error.ends_with("does not exist; txid-agent makes it, so start that first, with --node"), "{error}");
        let page = snowflake::LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        let (maker, now_ms) = (parse().unwrap(), crate::source::clock::system_ms());
        assert!(matches!(maker.write_by(now_ms, &mut [0; Maker::MAX_LEN]), Err(Refusal::Unleased(_))));
        page.open(17, now_ms);
        page.set_limit(17, now_ms + 60_000);
        assert_eq!(Layout::SNOWFLAKE.decode(make(&maker).parse().unwrap()).unwrap().node, 17);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, options, expected) in [
            ("ulid", &[][..], "\"ulid\" is not a format; the formats are txid, "),
            ("TXID", &[], "\"TXID\" is not a format"),
            ("sofa", &[], "\"sofa\" is not a format"),
            ("txid", &["node=1"], "txid takes no options, but got \"node=1\""),
            ("flake", &["node=02:42:ac:11:00:02"], "flake takes no options"),
            ("snowflake", &["nod=1"], "\"nod=1\" is not an option of snowflake, which takes node=, state=, layout="),
            ("snowflake", &["node"], "node '' is not an integer"),
            ("snowflake", &["node=1", "node=2"], "node= was given twice"),
            ("snowflake", &["state=/run/a"], "node= is missing"),
            ("snowflake", &["node=1"], "state= is missing"),
            ("snowflake", &["node=1", "state=a"], "state \"a\" is not an absolute path"),
            ("snowflake", &["layout=a", "node=1", "state=/run/a"], "layout 'a'"),
            ("unique_id_short", &["address=::1"], "address \"::1\" is not an IP address that"),
            ("trace_host_id", &["address=localhost"], "address \"localhost\" is not an IP address that"),
        ] {
            let error = Maker::parse(format, options.iter().copied()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
