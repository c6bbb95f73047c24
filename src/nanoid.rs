//! Nano ID: 21 characters of `A-Za-z0-9_-`, 126 random bits.

use crate::format::{Anatomy, Format, Holds, Make, Read, ReadAnatomy};
use crate::maker::{Made, Maker, Text};
use crate::source::entropy;
use crate::text::{FormatError, base64, none_of};

/// The number of characters of an id's text.
const LEN: usize = 21;

pub(crate) const FORMAT: Format = Format {
    name: "nanoid",
    title: "Nano ID",
    about: "Nano ID, 21 random characters",
    make: Some(Make {
        options: &[],
        takes_a_time: false,
        in_nginx: Some(&[]),
        maker: |_| Ok(Maker::writing(|_, text| Ok(put(text)))),
    }),
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| read(text).ok().and_then(|()| Holds::no_time(126)),
        time: None,
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    read(text)?;
    Ok(Anatomy::new(String::from_utf8_lossy(text), Vec::new()))
};

/// People use them as secrets, so all bits come from the operating system.
fn put(text: &mut Text) -> Made {
    let strong = entropy::strong_u128_without_stamp();
    text[..LEN].copy_from_slice(&of_bits(strong.unwrap_or_else(|bits| bits)));
    Made { len: LEN, guessable: strong.is_err() }
}

/// The text of the highest 30 bits, and of the lowest 96.
#[inline(always)]
fn of_bits(bits: u128) -> [u8; LEN] {
    let mut text = [0; LEN];
    text[..8].copy_from_slice(&base64::encode_six(bits as u64, base64::OF_URLS));
    text[8..16].copy_from_slice(&base64::encode_six((bits >> 48) as u64, base64::OF_URLS));
    text[16..].copy_from_slice(&base64::encode_six((bits >> 80) as u64, base64::OF_URLS)[..5]);
    text
}

fn read(text: &[u8]) -> Result<(), FormatError> {
    if text.len() != LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a Nano ID has 21" });
    }
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    none_of(text, is_one, "one of A-Za-z0-9_-").map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_character_has_six_bits_of_its_own() {
        let zero = of_bits(0);
        let mut bits_of = [0; LEN];
        for bit in 0..128 {
            let text = of_bits(1 << bit);
            (0..LEN).filter(|&at| text[at] != zero[at]).for_each(|at| bits_of[at] |= 1_u128 << bit);
        }
        assert!(bits_of.iter().all(|bits| bits.count_ones() == 6));
        assert_eq!(bits_of.iter().fold(0, |all, bits| all | bits).count_ones(), 126);
        let texts: HashSet<_> = (0..64).map(|value| of_bits(value << 98)).collect();
        assert_eq!(texts.len(), 64);
    }
}
