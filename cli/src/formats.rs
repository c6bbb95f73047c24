//! Every format that `txid inspect` reads. To add a format, write its function and list it in `recognize`. `Format` in
//! args.rs lists what `txid new` makes.

use std::ops::RangeInclusive;
use std::str;
use txid::snowflake::Layout;
use txid::trace::{self, B3, HostIdParts, IdParts, SkyWalking, Sofa, SpanId, Traceparent};
use txid::uuid::{self, Uuid, Variant};
use txid::{Flake, FormatError, ParseError, Txid, UniqueId, UniqueIdMaker};

/// Names and widths in bits, from the most significant bit on.
type Fields = &'static [(&'static str, usize)];

/// What an id contains.
#[derive(Default)]
pub struct Anatomy {
    /// The most specific format that fits.
    pub format: &'static str,
    /// Other formats that fit.
    pub or_else: Vec<&'static str>,
    pub text: String,
    pub ms: Option<i64>,
    /// Its fields other than the time, by name.
    pub parts: Vec<(&'static str, String)>,
    /// Its bits, and what they mean; empty if it is not one number.
    pub bytes: Vec<u8>,
    pub fields: Fields,
}

/// Why a text does not have a format.
enum Wrong {
    Length(String),
    Content(String),
}

impl From<ParseError> for Wrong {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Length(_) => Self::Length(error.to_string()),
            _ => Self::Content(error.to_string()),
        }
    }
}

impl From<FormatError> for Wrong {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Length { .. } => Self::Length(error.to_string()),
            _ => Self::Content(error.to_string()),
        }
    }
}

type Read<'a> = &'a dyn Fn(&str) -> Result<Anatomy, Wrong>;

/// A number with fewer digits is rarely an id, unless the user gives a layout.
const DIGITS_OF_A_SNOWFLAKE: RangeInclusive<usize> = 15..=19;

/// How to read 64-bit ids, which do not carry their layout.
pub struct Snowflakes {
    layout: Layout,
    is_chosen: bool,
    fields: Fields,
}

impl Snowflakes {
    /// `is_chosen`: whether the user gave the layout.
    pub fn new(layout: Layout, is_chosen: bool) -> Self {
        let mut fields = layout.parts().map(|(name, bits)| (name, bits as usize)).to_vec();
        fields.insert(0, ("0", 64 - fields.iter().map(|(_, bits)| bits).sum::<usize>()));
        // Leaked once for each run of the command.
        Self { layout, is_chosen, fields: fields.leak() }
    }

    fn read(&self, text: &str) -> Result<Anatomy, Wrong> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || !self.is_chosen && !DIGITS_OF_A_SNOWFLAKE.contains(&text.len()) {
            return Err(Wrong::Length(format!("a 64-bit id has 15 to 19 digits, not {}", text.len())));
        }
        let read = text.parse().ok().and_then(|id| Some((id, self.layout.decode(id)?)));
        let (id, it) = read.ok_or_else(|| Wrong::Content("its value has more bits than the layout".to_string()))?;
        Ok(Anatomy {
            format: "snowflake",
            text: text.to_string(),
            ms: Some(it.ms),
            parts: vec![("node", it.node.to_string()), ("sequence", it.sequence.to_string())],
            bytes: u64::to_be_bytes(id).to_vec(),
            fields: self.fields,
            ..Anatomy::default()
        })
    }
}

/// The fields of an id; if it is not one, the error of the first format that has its length.
pub fn recognize(text: &[u8], snowflakes: &Snowflakes) -> Result<Anatomy, String> {
    let Ok(words) = str::from_utf8(text) else {
        return Err(ParseError::Length(text.len()).to_string());
    };
    // Most specific first: the first format that fits is the one reported. One span id in 1800 consists of digits only,
    // so snowflakes come before it.
    let snowflake = |text: &str| snowflakes.read(text);
    let formats: [Read; 14] = [
        &txid,
        &uuid,
        &flake,
        &unique_id,
        &traceparent,
        &b3,
        &sofa,
        &skywalking,
        &trace_id,
        &otel_trace_id,
        &any_trace_id,
        &host_id,
        &snowflake,
        &span_id,
    ];
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for read in formats {
        match read(words) {
            Ok(anatomy) => found.push(anatomy),
            Err(error) => wrong.push(error),
        }
    }
    if found.is_empty() {
        let content = wrong.iter().position(|wrong| matches!(wrong, Wrong::Content(_))).unwrap_or_default();
        let (Wrong::Content(error) | Wrong::Length(error)) = wrong.swap_remove(content);
        return Err(error);
    }
    let mut first = found.remove(0);
    first.or_else = found.iter().map(|other| other.format).filter(|&other| other != first.format).collect();
    Ok(first)
}

/// For formats with texts of many lengths: treats an error as one about the length unless the length is a usual one.
fn unless_it_has_the_length(text: &str, usual: RangeInclusive<usize>) -> impl Fn(FormatError) -> Wrong {
    move |error| if usual.contains(&text.len()) { error.into() } else { Wrong::Length(error.to_string()) }
}

fn txid(text: &str) -> Result<Anatomy, Wrong> {
    let id: Txid = text.parse()?;
    let bytes: [u8; 12] = id.into();
    let random = bytes[4..].iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)) & ((1 << 54) - 1);
    Ok(Anatomy {
        format: "txid",
        text: id.to_string(),
        ms: Some(id.timestamp_ms() as i64),
        parts: vec![("random", format!("{random:014x}"))],
        bytes: bytes.to_vec(),
        fields: &[("time", 42), ("random", 54)],
        ..Anatomy::default()
    })
}

fn uuid(text: &str) -> Result<Anatomy, Wrong> {
    let parts = uuid::read(text)?;
    let id = Uuid::try_parse(text).unwrap_or_default();
    let (format, fields): (_, Fields) = match (parts.variant, parts.version) {
        (Variant::RFC4122, 1) => (
            "UUID version 1",
            &[("low", 32), ("mid", 16), ("version", 4), ("high", 12), ("variant", 2), ("sequence", 14), ("node", 48)],
        ),
        (Variant::RFC4122, 4) => {
            ("UUID version 4", &[("random", 48), ("version", 4), ("random", 12), ("variant", 2), ("random", 62)])
        }
        (Variant::RFC4122, 7) => {
            ("UUID version 7", &[("time", 48), ("version", 4), ("random", 12), ("variant", 2), ("random", 62)])
        }
        _ => ("UUID", &[("bits", 128)]),
    };
    let variant = match parts.variant {
        Variant::RFC4122 => "of RFC 9562",
        Variant::NCS => "of the NCS",
        Variant::Microsoft => "of Microsoft",
        _ => "of none yet",
    };
    Ok(Anatomy {
        format,
        text: id.to_string(),
        ms: parts.ms,
        parts: vec![("version", parts.version.to_string()), ("variant", variant.to_string())],
        bytes: id.as_bytes().to_vec(),
        fields,
        ..Anatomy::default()
    })
}

fn flake(text: &str) -> Result<Anatomy, Wrong> {
    let id: Flake = text.parse()?;
    let node = id.node().map(|byte| format!("{byte:02x}")).join(":");
    Ok(Anatomy {
        format: "flake",
        text: text.to_string(),
        ms: i64::try_from(id.timestamp_ms()).ok(),
        parts: vec![("node", node), ("sequence", id.sequence().to_string())],
        bytes: id.0.to_be_bytes().to_vec(),
        fields: &[("time", 64), ("node", 48), ("sequence", 16)],
        ..Anatomy::default()
    })
}

fn unique_id(text: &str) -> Result<Anatomy, Wrong> {
    let id: UniqueId = text.parse()?;
    let seconds = id.seconds.to_be_bytes();
    let end = [&id.counter.to_be_bytes()[..], &id.thread.to_be_bytes()].concat();
    let mut parts = vec![("counter", id.counter.to_string()), ("thread", id.thread.to_string())];
    let (bytes, fields): (_, Fields) = match id.maker {
        UniqueIdMaker::Short { address, pid } => {
            parts.splice(0..0, [("address", address.to_string()), ("process", pid.to_string())]);
            (
                [&seconds[..], &address.octets(), &pid.to_be_bytes(), &end].concat(),
                &[("time", 32), ("address", 32), ("process", 32), ("counter", 16), ("thread", 32)],
            )
        }
        UniqueIdMaker::Long { random } => {
            parts.insert(0, ("random", random.map(|byte| format!("{byte:02x}")).concat()));
            ([&seconds[..], &random, &end].concat(), &[("time", 32), ("random", 80), ("counter", 16), ("thread", 32)])
        }
    };
    let ms = Some(i64::from(id.seconds) * 1000);
    Ok(Anatomy { format: "Apache UNIQUE_ID", text: text.to_string(), ms, parts, bytes, fields, ..Anatomy::default() })
}

fn traceparent(text: &str) -> Result<Anatomy, Wrong> {
    let header: Traceparent =
        text.parse().map_err(unless_it_has_the_length(text, Traceparent::LEN..=Traceparent::LEN))?;
    let parts = vec![
        ("trace", header.trace_id.to_string()),
        ("span", header.span_id.to_string()),
        ("sampled", header.sampled.to_string()),
    ];
    Ok(Anatomy { format: "W3C traceparent", text: text.to_string(), parts, ..Anatomy::default() })
}

/// A header of one letter is not an id.
fn b3(text: &str) -> Result<Anatomy, Wrong> {
    let header: B3 = text.parse().map_err(unless_it_has_the_length(text, 33..=B3::MAX_LEN))?;
    let Some(ids) = header.ids else {
        return Err(ParseError::Length(text.len()).into());
    };
    let trace = text.split('-').next().unwrap_or_default().to_string();
    let mut parts = vec![("trace", trace), ("span", ids.span_id.to_string())];
    parts.extend(ids.parent_span_id.map(|parent| ("parent", parent.to_string())));
    parts.extend(header.sampled.map(|sampling| ("sampled", sampling.letter().to_string())));
    Ok(Anatomy { format: "b3", text: text.to_string(), parts, ..Anatomy::default() })
}

fn sofa(text: &str) -> Result<Anatomy, Wrong> {
    let id: Sofa = text.parse().map_err(unless_it_has_the_length(text, 30..=30))?;
    let parts = vec![
        ("address", id.address.to_string()),
        ("sequence", id.sequence.to_string()),
        ("process", id.pid.to_string()),
    ];
    let ms = Some(id.ms as i64);
    Ok(Anatomy { format: "SOFATracer id", text: text.to_string(), ms, parts, ..Anatomy::default() })
}

fn skywalking(text: &str) -> Result<Anatomy, Wrong> {
    let id: SkyWalking = text.parse().map_err(unless_it_has_the_length(text, 50..=60))?;
    let parts = vec![
        ("instance", format!("{:032x}", id.instance)),
        ("thread", id.thread.to_string()),
        ("sequence", id.sequence.to_string()),
    ];
    let ms = Some(id.ms as i64);
    Ok(Anatomy { format: "SkyWalking id", text: text.to_string(), ms, parts, ..Anatomy::default() })
}

/// A random id looks like a time-ordered one, but rarely has such a small sequence.
fn trace_id(text: &str) -> Result<Anatomy, Wrong> {
    match trace::read_id(text)? {
        IdParts { sequence: 0x1_0000.., .. } => Err(Wrong::Content("its sequence is too large for a time".to_string())),
        parts => Ok(time_ordered(text, parts)),
    }
}

fn any_trace_id(text: &str) -> Result<Anatomy, Wrong> {
    Ok(time_ordered(text, trace::read_id(text)?))
}

fn time_ordered(text: &str, parts: IdParts) -> Anatomy {
    Anatomy {
        format: "time-ordered trace id",
        text: text.to_string(),
        ms: Some(parts.ms as i64),
        parts: vec![("sequence", parts.sequence.to_string()), ("random", format!("{:016x}", parts.random))],
        bytes: bytes_of(text),
        fields: &[("time", 41), ("sequence", 23), ("random", 64)],
        ..Anatomy::default()
    }
}

fn host_id(text: &str) -> Result<Anatomy, Wrong> {
    let HostIdParts { ms, sequence, host, random } = trace::read_host_id(text)?;
    Ok(Anatomy {
        format: "time-ordered trace id with a host",
        text: text.to_string(),
        ms: Some(ms as i64),
        parts: vec![
            ("sequence", sequence.to_string()),
            ("host", std::net::Ipv4Addr::from_bits(host).to_string()),
            ("random", format!("{random:08x}")),
        ],
        bytes: bytes_of(text),
        fields: &[("time", 41), ("sequence", 23), ("host", 32), ("random", 32)],
        ..Anatomy::default()
    })
}

fn otel_trace_id(text: &str) -> Result<Anatomy, Wrong> {
    trace::read_id(text)?;
    unless_zeros(random("OpenTelemetry trace id", text, &[("random", 128)]))
}

fn span_id(text: &str) -> Result<Anatomy, Wrong> {
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match text.len() == SpanId::LEN && is_hex {
        true => unless_zeros(random("span id", text, &[("random", 64)])),
        false => Err(Wrong::Length(format!("a span id has {} characters of 0-9a-f, not {}", SpanId::LEN, text.len()))),
    }
}

fn random(format: &'static str, text: &str, fields: Fields) -> Anatomy {
    Anatomy { format, text: text.to_string(), bytes: bytes_of(text), fields, ..Anatomy::default() }
}

/// The only forbidden random id is all zeros.
fn unless_zeros(id: Anatomy) -> Result<Anatomy, Wrong> {
    match id.bytes.iter().all(|&byte| byte == 0) {
        true => Err(Wrong::Content("an id must not be all zeros".to_string())),
        false => Ok(id),
    }
}

/// The bytes of a text in hexadecimal.
fn bytes_of(text: &str) -> Vec<u8> {
    text.as_bytes().chunks_exact(2).filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}
