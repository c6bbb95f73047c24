//! Numbers in the digits of an alphabet.

use super::row::{Decoder, Digits, Number, Pattern};
use super::wide::Wide;
use crate::text::{base32hex, hex};

/// The number that these characters write; None if one is wrong, or if the number has more bits than it may have.
#[inline(always)]
pub(super) fn read(number: &Number, text: &[u8]) -> Option<Wide> {
    let mut gathered = [0; MOST_GROUPED];
    let text = match &number.pattern {
        None => text,
        Some(pattern) => gather(pattern, text, &mut gathered)?,
    };
    let digits = number.digits.for_text(text);
    let bits = match digits.decoder {
        // With the four zeros after its 96 bits.
        Decoder::Twenty => Wide::of(twenty(digits, text.try_into().ok()?)? << 4),
        Decoder::Hexadecimal => Wide::of(hexadecimal(digits, text)?),
        _ if text.len() <= digits.a_word => Wide::of(one_word(digits, text)?.into()),
        Decoder::Shifts => by_shifts(digits, text)?,
        Decoder::Words => by_words(digits, text)?,
    };
    let is_padded = number.pad == 0 || bits.low & ((1 << number.pad) - 1) == 0;
    let bits = if number.pad == 0 { bits } else { bits.shifted_down(number.pad) };
    let fits = number.always_fits || bits.shifted_down(number.bits) == Wide::default();
    let is_refused = text.is_empty() || number.nonzero.is_some() && bits == Wide::default();
    (is_padded && fits && !is_refused).then_some(bits)
}

/// The digits of the longest number that is written in groups.
const MOST_GROUPED: usize = 32;

/// The digits of a pattern; None if another character is not the pattern's.
#[inline(always)]
fn gather<'a>(pattern: &Pattern, text: &[u8], gathered: &'a mut [u8; MOST_GROUPED]) -> Option<&'a [u8]> {
    let (mut count, mut is_wrong) = (0, text.len() != pattern.text.len());
    if is_wrong {
        return None;
    }
    for (place, byte) in pattern.others {
        is_wrong |= text[place] != byte;
    }
    for (begin, digits) in pattern.groups {
        gathered[count..count + digits].copy_from_slice(&text[begin..begin + digits]);
        count += digits;
    }
    (!is_wrong).then_some(&gathered[..count])
}

#[inline(always)]
fn twenty(digits: &Digits, text: &[u8; base32hex::LEN_OF_96_BITS]) -> Option<u128> {
    let is_lower = digits.has_both_cases || !text.iter().any(u8::is_ascii_uppercase);
    base32hex::decode(text).filter(|_| is_lower)
}

/// At most 32 digits, 16 at once.
#[inline(always)]
fn hexadecimal(digits: &Digits, text: &[u8]) -> Option<u128> {
    if !digits.has_both_cases {
        return hex::decode(text);
    }
    let mut lower = [0; MOST_GROUPED];
    let lower = lower.get_mut(..text.len())?;
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    hex::decode(lower)
}

/// Digits that a word has room for.
#[inline(always)]
fn one_word(digits: &Digits, text: &[u8]) -> Option<u64> {
    let (base, mut word, mut wrong) = (digits.base(), 0_u64, 0);
    for &byte in text {
        let value = digits.values[usize::from(byte)];
        wrong |= value;
        word = word.wrapping_mul(base).wrapping_add(value.into());
    }
    (wrong < Digits::NONE).then_some(word)
}

#[inline(always)]
fn by_shifts(digits: &Digits, text: &[u8]) -> Option<Wide> {
    let (width, mut bits, mut wrong) = (digits.width(), Wide::default(), 0);
    for part in text.chunks(60 / width as usize) {
        let mut word = 0;
        for &byte in part {
            let value = digits.values[usize::from(byte)];
            wrong |= value;
            word = word << width | u64::from(value);
        }
        bits = bits.shifted_up(width * part.len() as u32).or(Wide::of(word.into()));
    }
    (wrong < Digits::NONE).then_some(bits)
}

#[inline(always)]
fn by_words(digits: &Digits, text: &[u8]) -> Option<Wide> {
    let (base, mut bits, mut wrong) = (digits.base(), Wide::default(), 0);
    for part in text.chunks(digits.a_word) {
        let (mut word, mut power) = (0_u64, 1_u64);
        for &byte in part {
            let value = digits.values[usize::from(byte)];
            wrong |= value;
            word = word.wrapping_mul(base).wrapping_add(value.into());
            power = power.wrapping_mul(base);
        }
        bits = bits.times_plus(power, word)?;
    }
    (wrong < Digits::NONE).then_some(bits)
}

/// Writes a number with as many digits as its texts have.
pub(super) fn write(number: &Number, bits: Wide, text: &mut Vec<u8>) {
    // 192 bits have no more digits, in whole words.
    const MOST: usize = 80;
    let (digits, mut rest) = (number.digits, bits.shifted_up(number.pad));
    let (mut written, mut begin) = ([digits.alphabet[0]; MOST], MOST);
    while rest != Wide::default() {
        let (quotient, mut word) = rest.divided_by(digits.base().pow(digits.a_word as u32));
        for _ in 0..digits.a_word {
            begin -= 1;
            written[begin] = digits.alphabet[(word % digits.base()) as usize];
            word /= digits.base();
        }
        rest = quotient;
    }
    let mut shown = written[MOST - number.count()..].iter().copied();
    match number.pattern {
        None => text.extend(shown),
        Some(pattern) => {
            text.extend(pattern.text.bytes().map(|it| if it == b'.' { shown.next().unwrap_or(it) } else { it }))
        }
    }
}

/// Writes a number that was read: its text may be in the other case, and have zeros before it.
pub(super) fn rewrite(number: &Number, read: &[u8], text: &mut Vec<u8>) {
    let digits = number.digits;
    if number.least == number.most {
        let begin = text.len();
        text.extend_from_slice(read);
        if digits.has_both_cases && digits.is_upper {
            text[begin..].make_ascii_uppercase();
        } else if digits.has_both_cases {
            text[begin..].make_ascii_lowercase();
        }
        return;
    }
    let zeros = read[..read.len() - 1].iter().take_while(|byte| **byte == digits.alphabet[0]).count();
    text.extend_from_slice(&read[zeros..]);
}
