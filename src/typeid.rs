//! TypeID: a prefix, `_`, and a UUID in Crockford's base32; or the UUID alone.

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::crockford::{self, LEN_OF_128_BITS as SUFFIX_LEN};
use crate::text::{FormatError, none_of, uuid_time};

const MOST_OF_A_PREFIX: usize = 63;

/// The bits after the time of version 7, without version and variant.
const RANDOM_BITS: u32 = 74;

pub(crate) const FORMAT: Format = Format {
    name: "typeid",
    title: "TypeID",
    about: "TypeID, a UUID with a prefix",
    make: None,
    read: Some(Read {
        // With a prefix, of any length.
        lengths: SUFFIX_LEN..=SUFFIX_LEN,
        all_lengths: Some(SUFFIX_LEN..=SUFFIX_LEN + 1 + MOST_OF_A_PREFIX),
        holds: |text, _| {
            let (prefix, bits) = read(text).ok()?;
            let ms = uuid_time::ms(bits);
            // Without a prefix, it is rather a ULID in lower case, unless its UUID is of the version that nearly all have.
            let is_unlikely = prefix.is_empty() && uuid_time::version(bits) != Some(7);
            Some(Holds { ms, bits: 48 + RANDOM_BITS - 10 + if is_unlikely { 32 } else { 0 } })
        },
        time: Some(Time {
            shape: Shape::Prefixed,
            since_ms: 0,
            sorted: Some(Sorted {
                times: |_| 0..=(1 << 48) - 1,
                bounds: |ms, _| {
                    [0, (1 << RANDOM_BITS) - 1].map(|random: u128| {
                        let high = (ms as u128) << 16 | 7 << 12 | random >> 62;
                        written(b"", high << 64 | 2 << 62 | random & ((1 << 62) - 1))
                    })
                },
                // Other versions do not sort with this one.
                order: |text, _| Some(read(text).ok()?.1).filter(|bits| uuid_time::version(*bits) == Some(7)),
                // Only within a prefix.
                texts: Texts::Unsorted,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let (prefix, bits) = read(text)?;
    let hex = format!("{bits:032x}");
    let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    let parts = vec![("prefix", String::from_utf8_lossy(prefix).into_owned().into()), ("uuid", uuid.into())];
    let fields = [("time", 48), ("version", 4), ("random", 12), ("variant", 2), ("random", 62)];
    let fields = if uuid_time::version(bits) == Some(7) { &fields[..] } else { &[("uuid", 128)] };
    Ok(Anatomy::new(written(prefix, bits), parts).with_bits(&bits.to_be_bytes(), fields))
};

fn written(prefix: &[u8], bits: u128) -> String {
    let suffix = crockford::encode_128_bits(bits).to_ascii_lowercase();
    let separator = if prefix.is_empty() { &b""[..] } else { b"_" };
    String::from_utf8_lossy(&[prefix, separator, &suffix].concat()).into_owned()
}

/// The prefix, and the bits of the UUID.
fn read(text: &[u8]) -> Result<(&[u8], u128), FormatError> {
    let length = FormatError::Length { found: text.len(), expected: "a TypeID has 26, or 28 to 90" };
    let at = text.len().checked_sub(SUFFIX_LEN).ok_or(length)?;
    let prefix = match at {
        0 => &text[..0],
        1 => return Err(length),
        _ if at > MOST_OF_A_PREFIX + 1 => return Err(length),
        _ => &text[..at - 1],
    };
    let is_one = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    if let Some(error) = none_of(prefix, is_one, "a lower-case letter") {
        return Err(error);
    }
    if at > 0 && text[at - 1] != b'_' {
        return Err(FormatError::Character { position: at, byte: text[at - 1], expected: "'_'" });
    }
    if prefix.first() == Some(&b'_') || prefix.last() == Some(&b'_') {
        return Err(FormatError::Value("the prefix begins or ends with '_'"));
    }
    Ok((prefix, crockford::decode_128_bits(text, at, false)?))
}
