//! Nano ID: 21 characters of `A-Za-z0-9_-`, 126 random bits; or of another length and alphabet.

use crate::maker::{Made, Make, Maker, MakerError, Options, Text};
use crate::source::entropy;
use crate::text::base64;

pub(crate) const MAKE: Make =
    Make { options: &["length", "alphabet"], takes_a_time: false, beside_copies: Some(&["length", "alphabet"]), maker };

/// The number of characters of an id's text.
const LEN: usize = 21;

fn maker(options: &Options) -> Result<Maker, MakerError> {
    let length = match options.text("length")? {
        Some(text) => {
            let is_length = |length: &usize| (1..=Maker::MAX_LEN).contains(length);
            text.parse().ok().filter(is_length).ok_or_else(|| MakerError::Length(text.to_string()))?
        }
        None => LEN,
    };
    let alphabet = match options.text("alphabet")? {
        Some(text) if is_an_alphabet(text.as_bytes()) => text.as_bytes().to_vec(),
        Some(text) => return Err(MakerError::Alphabet(text.to_string())),
        None if length == LEN => return Ok(Maker::writing(|_, text| Ok(put(text)))),
        None => base64::OF_URLS.to_vec(),
    };
    Ok(Maker::writing(move |_, text| Ok(put_of(&alphabet, length, text))))
}

/// Whether there are at least two characters, and none twice.
fn is_an_alphabet(text: &[u8]) -> bool {
    let is_first = |(at, byte): (usize, &u8)| byte.is_ascii_graphic() && !text[..at].contains(byte);
    text.len() >= 2 && text.iter().enumerate().all(is_first)
}

/// Numbers of as many bits as the alphabet needs; those that are too large are dropped, so that all characters are equally
/// likely.
fn put_of(alphabet: &[u8], length: usize, text: &mut Text) -> Made {
    let width = usize::BITS - (alphabet.len() - 1).leading_zeros();
    let (mut bits, mut left, mut guessable) = (0, 0, false);
    for place in Made::zeros(text, length) {
        *place = loop {
            if left < width {
                let strong = entropy::strong_u128_without_stamp();
                guessable |= strong.is_err();
                (bits, left) = (strong.unwrap_or_else(|bits| bits), u128::BITS);
            }
            let number = bits as usize & ((1 << width) - 1);
            (bits, left) = (bits >> width, left - width);
            if let Some(character) = alphabet.get(number) {
                break *character;
            }
        };
    }
    Made { len: length, guessable }
}

/// People use them as secrets, so all bits come from the operating system.
fn put(text: &mut Text) -> Made {
    let strong = entropy::strong_u128_without_stamp();
    let made = Made::in_place(text, |place| write_bits(strong.unwrap_or_else(|bits| bits), place));
    Made { guessable: strong.is_err(), ..made }
}

/// Writes the text of the highest 30 bits, and of the lowest 96.
fn write_bits(bits: u128, text: &mut [u8; LEN]) {
    text[..8].copy_from_slice(&base64::encode_six(bits as u64, base64::OF_URLS));
    text[8..16].copy_from_slice(&base64::encode_six((bits >> 48) as u64, base64::OF_URLS));
    text[16..LEN].copy_from_slice(&base64::encode_six((bits >> 80) as u64, base64::OF_URLS)[..5]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn another_alphabet_is_refused() {
        let parse = |alphabet| Maker::builder("nanoid").options([alphabet]).build();
        assert!(parse("alphabet=ab").is_ok());
        assert!(matches!(parse("alphabet=aa"), Err(MakerError::Alphabet(text)) if text == "aa"));
    }

    #[test]
    fn an_id_has_the_length_that_was_asked_for() {
        let length_of = |options: &[&str]| {
            let maker = Maker::builder("nanoid").options(options.iter().copied()).build().unwrap();
            maker.write_by(0, &mut [0; Maker::MAX_LEN]).unwrap().len
        };
        assert_eq!([&[][..], &["length=20"], &["length=22"], &["alphabet=ab"]].map(length_of), [LEN, 20, 22, LEN]);
    }

    #[test]
    fn an_alphabet_has_two_or_more_characters_that_can_be_seen_and_none_twice() {
        assert!(["ab", "-_", "0123456789abcdef"].iter().all(|text| is_an_alphabet(text.as_bytes())));
        assert!(!["", "a", "aa", "abca", "a b", "a\nb", "a\u{e4}b"].iter().any(|text| is_an_alphabet(text.as_bytes())));
    }

    #[test]
    fn each_character_has_six_bits_of_its_own() {
        let of_bits = |bits| {
            let mut text = [0; LEN];
            write_bits(bits, &mut text);
            text
        };
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
