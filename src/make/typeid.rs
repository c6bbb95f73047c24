//! TypeID: a prefix, `_`, and a UUID in Crockford's base32; or the UUID alone.

use crate::maker::{Made, Make, Maker, MakerError, Text};
use crate::source::v7;
use crate::text::crockford::{self, LEN_OF_128_BITS as SUFFIX_LEN};

pub(crate) const MAKE: Make = Make {
    options: &["prefix"],
    takes_a_time: true,
    beside_copies: Some(&["prefix"]),
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
};

const MOST_OF_A_PREFIX: usize = 63;

/// Writes the prefix, which ends with `_`, and the bits.
fn put(prefix: &[u8], bits: u128, text: &mut Text) -> Made {
    let len = prefix.len() + SUFFIX_LEN;
    let text = Made::zeros(text, len);
    text[..prefix.len()].copy_from_slice(prefix);
    text[prefix.len()..].copy_from_slice(&crockford::encode_128_bits(bits).map(|byte| byte.to_ascii_lowercase()));
    Made::of(len)
}

fn is_a_prefix(text: &[u8]) -> bool {
    (1..=MOST_OF_A_PREFIX).contains(&text.len())
        && text.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
        && !(text.starts_with(b"_") || text.ends_with(b"_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_1_to_63_lower_case_letters_and_underscores_between_them() {
        let is_prefix = |text: &str| is_a_prefix(text.as_bytes());
        assert!(["a", "user", "user_id", "a__b", &"z".repeat(63)].into_iter().all(is_prefix));
        assert!(!["", "_a", "a_", "_", "A", "a1", "a-b", "\u{e4}", &"z".repeat(64)].into_iter().any(is_prefix));
    }
}
