//! Base62 with digits before capitals before small letters: text that sorts as the numbers do.

use crate::FormatError;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters 128 bits need.
pub(crate) const LEN_OF_128_BITS: usize = 22;

const DIGITS_A_PART: u32 = 10;
const PART: u128 = 62_u128.pow(DIGITS_A_PART);

/// Writes 128 bits as 22 characters.
#[inline]
pub(crate) fn encode_128_bits(bits: u128) -> [u8; LEN_OF_128_BITS] {
    // Divisions of 128 bits are slow, so it is only two of them; each part is less than 64 bits.
    let (high, low) = (bits / PART, (bits % PART) as u64);
    let (first, middle) = ((high / PART) as usize, (high % PART) as u64);
    let mut text = [0; LEN_OF_128_BITS];
    text[0] = ALPHABET[first / 62];
    text[1] = ALPHABET[first % 62];
    encode_part(middle, &mut text[2..12]);
    encode_part(low, &mut text[12..]);
    text
}

fn encode_part(mut part: u64, text: &mut [u8]) {
    for digit in text.iter_mut().rev() {
        *digit = ALPHABET[(part % 62) as usize];
        part /= 62;
    }
}

/// Reads 22 characters as 128 bits.
pub(crate) fn decode_128_bits(text: &[u8; LEN_OF_128_BITS]) -> Result<u128, FormatError> {
    let mut bits = 0_u128;
    for (index, &byte) in text.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return Err(FormatError::Character { position: index + 1, byte, expected: "base62" }),
        };
        let sum = bits.checked_mul(62).and_then(|shifted| shifted.checked_add(u128::from(digit)));
        bits = sum.ok_or(FormatError::Value("it says more than 128 bits"))?;
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bounds_are_known() {
        assert_eq!(&encode_128_bits(0), b"0000000000000000000000");
        assert_eq!(&encode_128_bits(61), b"000000000000000000000z");
        assert_eq!(&encode_128_bits(u128::MAX), b"7n42DGM5Tflk9n8mt7Fhc7");
        assert!(decode_128_bits(b"7n42DGM5Tflk9n8mt7Fhc8").is_err());
        assert!(decode_128_bits(b"zzzzzzzzzzzzzzzzzzzzzz").is_err());
    }

    proptest! {
        #[test]
        fn text_reads_back_and_sorts_as_the_numbers_do(a: u128, b: u128) {
            prop_assert_eq!(decode_128_bits(&encode_128_bits(a)), Ok(a));
            prop_assert_eq!(encode_128_bits(a).cmp(&encode_128_bits(b)), a.cmp(&b));
        }
    }
}
