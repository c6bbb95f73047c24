//! TypeID: a prefix, `_`, and a UUID in Crockford's base32; or the UUID alone.

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::maker::{Made, Maker, MakerError, Text};
use crate::source::v7;
use crate::text::crockford::{self, LEN_OF_128_BITS as SUFFIX_LEN};
use crate::text::{FormatError, none_of, uuid_time};

const MOST_OF_A_PREFIX: usize = 63;

pub(crate) const FORMAT: Format = Format {
    name: "typeid",
    title: "TypeID",
    about: "TypeID, a UUID with a prefix",
    make: Some(Make {
        options: &["prefix"],
        takes_a_time: true,
        in_nginx: Some(&["prefix"]),
        maker: |options| {
            let prefix = match options.text("prefix")? {
                Some(text) if is_a_prefix(text.as_bytes()) => format!("{text}_").into_bytes(),
                Some(text) => return Err(MakerError::Prefix(text.to_string())),
                None => Vec::new(),
            };
            let by = prefix.clone();
            Ok(Maker::writing(move |clock_ms, text| Ok(put(&by, v7::by(clock_ms), text)))
                .writing_at(move |ms, text| put(&prefix, v7::at(ms), text)))
        },
    }),
    read: Some(Read {
        // With a prefix, of any length.
        lengths: SUFFIX_LEN..=SUFFIX_LEN,
        all_lengths: Some(SUFFIX_LEN..=SUFFIX_LEN + 1 + MOST_OF_A_PREFIX),
        holds: |text, _| {
            let (prefix, bits) = read(text).ok()?;
            let ms = uuid_time::ms(bits);
            // Without a prefix, it is rather a ULID in lower case, unless its UUID is of the version that nearly all have.
            let is_unlikely = prefix.is_empty() && uuid_time::version(bits) != Some(7);
            Some(Holds { ms, bits: 48 + v7::RANDOM_BITS - 10 + if is_unlikely { 32 } else { 0 } })
        },
        time: Some(Time {
            shape: Shape::Prefixed,
            since_ms: 0,
            sorted: Some(Sorted {
                times: |_| 0..=(1 << 48) - 1,
                bounds: |ms, _| [0, (1 << v7::RANDOM_BITS) - 1].map(|random| written(b"", v7::of(ms, random))),
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

/// Writes the prefix, which ends with `_`, and the bits.
fn put(prefix: &[u8], bits: u128, text: &mut Text) -> Made {
    let len = prefix.len() + SUFFIX_LEN;
    text[..prefix.len()].copy_from_slice(prefix);
    text[prefix.len()..len].copy_from_slice(&crockford::encode_128_bits(bits).map(|byte| byte.to_ascii_lowercase()));
    Made::of(len)
}

fn written(prefix: &[u8], bits: u128) -> String {
    let suffix = crockford::encode_128_bits(bits).to_ascii_lowercase();
    let separator = if prefix.is_empty() { &b""[..] } else { b"_" };
    String::from_utf8_lossy(&[prefix, separator, &suffix].concat()).into_owned()
}

fn is_of_a_prefix(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'_'
}

fn begins_or_ends_with_an_underscore(prefix: &[u8]) -> bool {
    prefix.first() == Some(&b'_') || prefix.last() == Some(&b'_')
}

fn is_a_prefix(text: &[u8]) -> bool {
    (1..=MOST_OF_A_PREFIX).contains(&text.len())
        && text.iter().all(|byte| is_of_a_prefix(*byte))
        && !begins_or_ends_with_an_underscore(text)
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
    if let Some(error) = none_of(prefix, is_of_a_prefix, "a lower-case letter") {
        return Err(error);
    }
    if at > 0 && text[at - 1] != b'_' {
        return Err(FormatError::Character { position: at, byte: text[at - 1], expected: "'_'" });
    }
    if begins_or_ends_with_an_underscore(prefix) {
        return Err(FormatError::Value("the prefix begins or ends with '_'"));
    }
    Ok((prefix, crockford::decode_128_bits(text, at, false)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_1_to_63_lower_case_letters_and_underscores_between_them() {
        let is_one = |text: &str| is_a_prefix(text.as_bytes());
        assert!(["a", "user", "user_id", "a__b", &"z".repeat(63)].into_iter().all(is_one));
        assert!(!["", "_a", "a_", "_", "A", "a1", "a-b", "\u{e4}", &"z".repeat(64)].into_iter().any(is_one));
    }
}
