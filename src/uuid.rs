//! UUIDs of RFC 9562: the `uuid` crate does layout and text, this library does bits and time.
//!
//! Nobody can guess one of version 4. Of version 7 neither, but the next of a thread within the same millisecond is one of 2^32
//! after the one before it. Those of version 1 count, and can be guessed.
//!
//! ```
//! let id = txid::uuid::v7();
//! assert_eq!(id.to_string().len(), txid::uuid::LEN);
//! assert!(id < txid::uuid::v7());
//! ```

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Sorted, Texts, Time, Value};
use crate::maker::{Made, Maker, Text};
use crate::source::clock;
use crate::source::entropy::{self, StreamId};
use crate::source::signal_safe::SignalSafe;
use crate::source::{mac, v7};
use crate::text::uuid_time::{self, GREGORIAN_MS, TICKS_A_MS};
use crate::text::{FormatError, digest, hex};
use ::uuid::Builder;

pub use ::uuid::{Uuid, Variant};

/// The length of a UUID's text.
pub const LEN: usize = ::uuid::fmt::Hyphenated::LENGTH;

const TICKS_MASK: u64 = (1 << 60) - 1;

pub(crate) const V1: Format = Format {
    name: "uuid_v1",
    title: "UUID version 1",
    about: "a UUID of RFC 9562 with the time and a random node",
    make: Some(Make {
        options: &["node"],
        takes_a_time: false,
        in_nginx: Some(&[]),
        maker: |options| {
            let node = options.node()?;
            Ok(Maker::writing(move |clock_ms, text| Ok(put(text, v1_by(clock_ms, node)))))
        },
    }),
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(ms_in(text, 1)?, 122),
        time: Some(Time { shape: Shape::Uuid, since_ms: -GREGORIAN_MS, sorted: None }),
    }),
};

pub(crate) const V1_ANATOMY: ReadAnatomy = |text, _| {
    let fields =
        [("low", 32), ("mid", 16), ("version", 4), ("high", 12), ("variant", 2), ("sequence", 14), ("node", 48)];
    anatomy(text, Some(1), &fields)
};

pub(crate) const V4: Format = Format {
    name: "uuid_v4",
    title: "UUID version 4",
    about: "a random UUID",
    make: Some(Make {
        options: &[],
        takes_a_time: false,
        in_nginx: Some(&[]),
        maker: |_| Ok(Maker::writing(|_, text| Ok(put(text, v4())))),
    }),
    read: Some(Read { lengths: LEN..=LEN, all_lengths: None, holds: |text, _| no_time(text, Some(4)), time: None }),
};

pub(crate) const V4_ANATOMY: ReadAnatomy = |text, _| {
    let fields = [("random", 48), ("version", 4), ("random", 12), ("variant", 2), ("random", 62)];
    anatomy(text, Some(4), &fields)
};

pub(crate) const V6: Format = Format {
    name: "uuid_v6",
    title: "UUID version 6",
    about: "version 1 with its time in order",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(ms_in(text, 6)?, 122),
        time: Some(Time {
            shape: Shape::Uuid,
            since_ms: -GREGORIAN_MS,
            sorted: Some(Sorted {
                times: |_| -GREGORIAN_MS..=TICKS_MASK as i64 / TICKS_A_MS as i64 - GREGORIAN_MS - 1,
                bounds: |ms, _| {
                    let first = (ms + GREGORIAN_MS) as u64 * TICKS_A_MS;
                    [(first, 0), (first + TICKS_A_MS - 1, u64::MAX >> 2)].map(|(ticks, low)| {
                        let high = ticks >> 12 << 16 | 6 << 12 | ticks & 0xfff;
                        Uuid::from_u64_pair(high, 1 << 63 | low).to_string()
                    })
                },
                order: |text, _| order(text, 6),
                texts: Texts::InOneCase,
            }),
        }),
    }),
};

pub(crate) const V6_ANATOMY: ReadAnatomy = |text, _| {
    let fields = [("time", 48), ("version", 4), ("time", 12), ("variant", 2), ("sequence", 14), ("node", 48)];
    anatomy(text, Some(6), &fields)
};

pub(crate) const V7: Format = Format {
    name: "uuid_v7",
    title: "UUID version 7",
    about: "a UUID that sorts by time",
    make: Some(Make {
        options: &[],
        takes_a_time: true,
        in_nginx: Some(&[]),
        maker: |_| {
            Ok(Maker::writing(|clock_ms, text| Ok(put(text, v7_by(clock_ms))))
                .writing_at(|ms, text| put(text, v7_at(ms))))
        },
    }),
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(ms_in(text, 7)?, 112),
        time: Some(Time {
            shape: Shape::Uuid,
            since_ms: 0,
            sorted: Some(Sorted {
                times: |_| 0..=v7::TIME_MASK,
                bounds: |ms, _| {
                    [0, (1 << v7::RANDOM_BITS) - 1].map(|random| Uuid::from_u128(v7::of(ms, random)).to_string())
                },
                order: |text, _| order(text, 7),
                texts: Texts::InOneCase,
            }),
        }),
    }),
};

pub(crate) const V7_ANATOMY: ReadAnatomy = |text, _| {
    let fields = [("time", 48), ("version", 4), ("random", 12), ("variant", 2), ("random", 62)];
    anatomy(text, Some(7), &fields)
};

/// Recognized in UUIDs of other versions and variants. By this name, any UUID is read.
pub(crate) const OTHER: Format = Format {
    name: "uuid",
    title: "UUID",
    about: "any other UUID",
    make: None,
    read: Some(Read { lengths: LEN..=LEN, all_lengths: None, holds: |text, _| no_time(text, None), time: None }),
};

pub(crate) const OTHER_ANATOMY: ReadAnatomy = |text, _| anatomy(text, None, &[("bits", 128)]);

fn put(text: &mut Text, id: Uuid) -> Made {
    Made::in_place(text, |place| write(id, place))
}

/// Writes the text, without allocating.
///
/// ```
/// let mut text = [0; txid::uuid::LEN];
/// txid::uuid::write(txid::uuid::Uuid::nil(), &mut text);
/// assert_eq!(&text, b"00000000-0000-0000-0000-000000000000");
/// ```
#[inline(always)]
pub fn write(id: Uuid, text: &mut [u8; LEN]) {
    write_bits(id.as_u128(), text);
}

/// Once, for all who call it. The crate's own function needs the bits in memory, and takes longer.
#[inline(never)]
fn write_bits(bits: u128, text: &mut [u8; LEN]) {
    let first = hex::encode_64_bits((bits >> 64) as u64);
    let last = hex::encode_64_bits(bits as u64);
    text[..8].copy_from_slice(&first[..8]);
    text[8] = b'-';
    text[9..13].copy_from_slice(&first[8..12]);
    text[13] = b'-';
    text[14..18].copy_from_slice(&first[12..]);
    text[18] = b'-';
    text[19..23].copy_from_slice(&last[..4]);
    text[23] = b'-';
    text[24..].copy_from_slice(&last[4..]);
}

/// The versions that have a format of their own.
const VERSIONS: [u8; 4] = [1, 4, 6, 7];

fn version_of(parts: &Parts) -> Option<u8> {
    Some(parts.version).filter(|version| parts.variant == Variant::RFC4122 && VERSIONS.contains(version))
}

fn anatomy(text: &[u8], version: Option<u8>, fields: &[(&'static str, usize)]) -> Result<Anatomy, FormatError> {
    let (id, parts) = parse(text)?;
    if version.is_some() && version_of(&parts) != version {
        return Err(FormatError::Value("the UUID has another version"));
    }
    let variant = match parts.variant {
        Variant::RFC4122 => "rfc9562",
        Variant::NCS => "ncs",
        Variant::Microsoft => "microsoft",
        _ => "future",
    };
    let shown = vec![("version", parts.version.into()), ("variant", Value::Text(variant.into()))];
    let ms = parts.ms;
    Ok(Anatomy { ms, ..Anatomy::new(id.to_string(), shown).with_bits(id.as_bytes(), fields) })
}

fn no_time(text: &[u8], version: Option<u8>) -> Option<Holds> {
    let parts = read_ascii(text).ok().filter(|parts| version_of(parts) == version);
    parts.and_then(|_| Holds::no_time(122))
}

fn order(text: &[u8], version: u8) -> Option<u128> {
    ms_in(text, version)?;
    Some(Uuid::try_parse_ascii(text).ok()?.as_u128())
}

fn ms_in(text: &[u8], version: u8) -> Option<i64> {
    let parts = read_ascii(text).ok()?;
    parts.ms.filter(|_| version_of(&parts) == Some(version))
}

/// The namespaces of RFC 9562, 6.6, by name.
const NAMESPACES: [(&str, Uuid); 4] = [
    ("dns", Uuid::NAMESPACE_DNS),
    ("url", Uuid::NAMESPACE_URL),
    ("oid", Uuid::NAMESPACE_OID),
    ("x500", Uuid::NAMESPACE_X500),
];

/// Reads a namespace: a UUID, or `dns`, `url`, `oid` or `x500`.
///
/// ```
/// use txid::uuid;
///
/// assert_eq!(uuid::namespace(b"dns")?, uuid::namespace(b"6ba7b810-9dad-11d1-80b4-00c04fd430c8")?);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn namespace(text: &[u8]) -> Result<Uuid, FormatError> {
    match NAMESPACES.iter().find(|(name, _)| name.as_bytes() == text) {
        Some((_, namespace)) => Ok(*namespace),
        None => Ok(parse(text)?.0),
    }
}

/// The UUID of version 3 of a name: the same each time, by MD5.
///
/// ```
/// let id = txid::uuid::v3(txid::uuid::Uuid::NAMESPACE_DNS, b"www.example.com");
/// assert_eq!(id.to_string(), "5df41881-3aed-3515-88a7-2f4a814cf09e");
/// ```
pub fn v3(namespace: Uuid, name: &[u8]) -> Uuid {
    let hash = digest::md5([namespace.as_bytes(), name]);
    Uuid::from_u128(uuid_time::marked(u128::from_be_bytes(hash), 3))
}

/// The UUID of version 5 of a name: the same each time, by SHA-1.
///
/// ```
/// let id = txid::uuid::v5(txid::uuid::Uuid::NAMESPACE_DNS, b"www.example.com");
/// assert_eq!(id.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
/// ```
pub fn v5(namespace: Uuid, name: &[u8]) -> Uuid {
    let hash = digest::sha1([namespace.as_bytes(), name]);
    Uuid::from_u128(uuid_time::marked(u128::from_be_bytes(hash), 5))
}

/// A new random UUID, version 4.
///
/// ```
/// assert_eq!(txid::uuid::v4().get_version_num(), 4);
/// ```
#[inline(always)]
pub fn v4() -> Uuid {
    Uuid::from_u128(uuid_time::marked(entropy::next_u128_without_stamp(), 4))
}

/// A new UUID of this moment, version 7: greater than the previous one of this thread, also within a millisecond.
///
/// ```
/// use txid::uuid;
///
/// let (earlier, later) = (uuid::v7(), uuid::v7());
/// assert!(earlier < later);
/// assert!(earlier.to_string() < later.to_string());
/// ```
pub fn v7() -> Uuid {
    v7_by(clock::system_ms())
}

/// A new UUID of version 7 stamped with exactly `ms`, of which the low 48 bits count (two's complement). If the
/// thread's previous one has the same stamp, this one is greater.
///
/// ```
/// use txid::uuid;
///
/// let (first, second) = (uuid::v7_at(1_645_557_742_000), uuid::v7_at(1_645_557_742_000));
/// assert!(first.to_string().starts_with("017f22e2-79b0-7"));
/// assert!(first < second);
/// ```
pub fn v7_at(ms: i64) -> Uuid {
    Uuid::from_u128(v7::at(ms))
}

/// As [`v7`], when the clock reads `clock_ms`.
///
/// ```
/// let clock_ms = 1_700_000_000_000;
/// assert!(txid::uuid::v7_by(clock_ms) < txid::uuid::v7_by(clock_ms));
/// ```
pub fn v7_by(clock_ms: i64) -> Uuid {
    Uuid::from_u128(v7::by(clock_ms))
}

/// A new UUID of this moment, version 1. This thread uses each count of 100 ns only once. Without a `node`, each UUID
/// has a random one. With a `node`, no two threads or processes may use the same one, because only 14 random bits of
/// version 1 would tell them apart.
///
/// ```
/// let node = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
/// assert!(txid::uuid::v1(Some(node)).to_string().ends_with("-0242ac110002"));
/// ```
pub fn v1(node: Option<[u8; 6]>) -> Uuid {
    v1_by(clock::system_ms(), node)
}

/// As [`v1`], when the clock reads `clock_ms`.
///
/// ```
/// let id = txid::uuid::v1_by(1_700_000_000_000, None).to_string();
/// assert_eq!(txid::uuid::read(&id)?.ms, Some(1_700_000_000_000));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn v1_by(clock_ms: i64, node: Option<[u8; 6]>) -> Uuid {
    thread_local! {
        static LAST: SignalSafe<V1> = const { SignalSafe::new(V1::NONE) };
    }

    let ms = clock::never_backwards(clock_ms);
    let ticks = (ms.wrapping_add(GREGORIAN_MS) as u64).wrapping_mul(TICKS_A_MS) & TICKS_MASK;
    let stream_id = entropy::stream_id(ms);
    let v1 = LAST.with(|kept| {
        kept.step(V1::NONE, |v1| {
            v1.advance(stream_id, ms, ticks);
            *v1
        })
    });
    Builder::from_gregorian_timestamp(v1.ticks, v1.clock_sequence, &node.unwrap_or(v1.node)).into_uuid()
}

/// The last version 1 of a thread.
#[derive(Clone, Copy)]
struct V1 {
    stream_id: StreamId,
    ticks: u64,
    clock_sequence: u16,
    node: [u8; 6],
}

impl V1 {
    const NONE: Self = Self { stream_id: StreamId::NONE, ticks: 0, clock_sequence: 0, node: [0; 6] };

    #[inline(always)]
    fn advance(&mut self, stream_id: StreamId, ms: i64, ticks: u64) {
        if self.stream_id.stream != stream_id.stream {
            self.clock_sequence = entropy::next_u128_rarely(ms) as u16;
        }
        if self.stream_id != stream_id {
            self.stream_id = stream_id;
            self.node = mac::random(ms);
        }
        if self.ticks < ticks {
            self.ticks = ticks;
        } else if self.ticks - ticks <= clock::LONGEST_HOLD_MS * TICKS_A_MS {
            self.ticks += 1;
        } else {
            // The clock had been wrong. The sequence tells apart counts that come again; it wraps, so if no node was
            // given, a new one is drawn as well.
            self.ticks = ticks;
            self.clock_sequence = self.clock_sequence.wrapping_add(1);
            self.node = mac::random(ms);
        }
    }
}

/// The fields of a UUID.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// 0 to 15. Only meaningful in UUIDs of the RFC's variant.
    pub version: u8,
    /// The variant: that of RFC 9562, that of Microsoft, ...
    pub variant: Variant,
    /// Milliseconds since 1970-01-01 UTC, for versions 1, 6 and 7.
    pub ms: Option<i64>,
}

/// Reads a UUID of 36 characters, in upper or lower case.
///
/// ```
/// let parts = txid::uuid::read("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")?;
/// assert_eq!((parts.version, parts.ms), (7, Some(1_645_557_742_000)));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Parts, FormatError> {
    read_ascii(text.as_bytes())
}

/// As [`read`], from bytes.
///
/// ```
/// assert_eq!(txid::uuid::read_ascii(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?.version, 7);
/// # Ok::<(), txid::FormatError>(())
/// ```
///
/// # Errors
///
/// As [`read`].
pub fn read_ascii(text: &[u8]) -> Result<Parts, FormatError> {
    Ok(parse(text)?.1)
}

pub(crate) fn parse(text: &[u8]) -> Result<(Uuid, Parts), FormatError> {
    if text.len() != LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a UUID has 36" });
    }
    let uuid = Uuid::try_parse_ascii(text).map_err(|_| first_wrong(text))?;
    let (version, variant) = (uuid.get_version_num() as u8, uuid.get_variant());
    Ok((uuid, Parts { version, variant, ms: uuid_time::ms(uuid.as_u128()) }))
}

/// Finds the first wrong character, which the `uuid` crate does not report.
fn first_wrong(text: &[u8]) -> FormatError {
    let fits = |index: usize| match index {
        8 | 13 | 18 | 23 => text[index] == b'-',
        _ => text[index].is_ascii_hexdigit(),
    };
    let index = (0..LEN).find(|&index| !fits(index)).unwrap_or_default();
    let expected = if matches!(index, 8 | 13 | 18 | 23) { "a dash" } else { "hexadecimal" };
    FormatError::Character { position: index + 1, byte: text[index], expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Numbers;
    use std::thread;
    use std::time::Duration;

    /// The sample of RFC 9562, and the last 100 ns of its millisecond.
    #[test]
    fn all_of_version_6_in_a_millisecond_is_between_its_bounds() {
        const MS: i64 = 1_645_557_742_000;
        let [first, last] = V6.bounds(MS..=MS, &Numbers::UNKNOWN).unwrap();
        for text in ["1ec9414c-232a-6b00-b3c8-9f6bdeced846", "1ec9414c-232d-620f-b3c8-9f6bdeced846"] {
            assert_eq!(ms_in(text.as_bytes(), 6), Some(MS));
            assert!((first.as_str()..=last.as_str()).contains(&text), "{text}");
        }
        let next = "1ec9414c-232d-6210-b3c8-9f6bdeced846";
        assert!(ms_in(next.as_bytes(), 6) == Some(MS + 1) && next > last.as_str());
    }

    /// Of version 1, made by hosts that were given the same node.
    fn clock_sequence_at(ms: i64) -> u16 {
        const NODE: [u8; 6] = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
        let [.., high, low, _, _, _, _, _, _] = v1_by(ms, Some(NODE)).into_bytes();
        u16::from_be_bytes([high, low]) & 0x3fff
    }

    #[test]
    fn threads_with_one_node_have_clock_sequences_of_their_own() {
        let sequence = || thread::spawn(|| clock_sequence_at(1_700_000_000_000)).join().unwrap();
        // Eight equal ones are 1 of 2^98.
        let first = sequence();
        assert!((0..7).any(|_| sequence() != first), "{first}");
    }

    #[test]
    fn only_a_clock_that_had_been_wrong_changes_the_clock_sequence() {
        const MS: i64 = 1_700_000_000_000;
        let first = clock_sequence_at(MS);
        // Fresh randomness is mixed in during this time.
        thread::sleep(Duration::from_millis(1100));
        assert_eq!(clock_sequence_at(MS + 1100), first);
        let second = clock_sequence_at(MS - 3_600_000);
        assert_eq!(second, (first + 1) & 0x3fff);
        thread::sleep(Duration::from_millis(1100));
        assert_eq!(clock_sequence_at(MS - 3_598_900), second);
    }
}
