//! Base62, with digits before upper-case before lower-case letters, so that text sorts as the numbers do.

use super::FormatError;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters 128 bits need.
pub(crate) const LEN_OF_128_BITS: usize = 22;

/// How many characters 160 bits need.
pub(crate) const LEN_OF_160_BITS: usize = 27;

const FIVE_DIGITS: u64 = 62_u64.pow(5);

const DIGITS_A_PART: u32 = 10;
const PART: u64 = 62_u64.pow(DIGITS_A_PART);

/// Writes 128 bits as 22 characters, directly to their destination: copying bytes that were just written one by one
/// stalls the processor.
#[inline(always)]
pub(crate) fn encode_128_bits(bits: u128, text: &mut [u8; LEN_OF_128_BITS]) {
    // Divisions of 128 bits are slow, so there is one, and another only for values of more than 123 bits.
    let high = bits / u128::from(PART);
    let low = (bits - high * u128::from(PART)) as u64;
    let (first, middle) = match u64::try_from(high) {
        Ok(high) => (high / PART, high % PART),
        Err(_) => ((high / u128::from(PART)) as u64, (high % u128::from(PART)) as u64),
    };

    [text[0], text[1]] = pair(first);
    // Two independent chains of divisions, with two digits at each step.
    let mut rest = [middle, low];
    for place in (0..DIGITS_A_PART as usize).step_by(2).rev() {
        [text[2 + place], text[3 + place]] = pair(rest[0] % (62 * 62));
        [text[12 + place], text[13 + place]] = pair(rest[1] % (62 * 62));
        rest = rest.map(|part| part / (62 * 62));
    }
}

/// The two digits of a number below 62 * 62.
#[inline(always)]
fn pair(value: u64) -> [u8; 2] {
    [ALPHABET[(value / 62) as usize], ALPHABET[(value % 62) as usize]]
}

/// Reads 22 characters as 128 bits.
pub(crate) fn decode_128_bits(text: &[u8; LEN_OF_128_BITS]) -> Result<u128, FormatError> {
    let mut bits = 0_u128;
    for (index, &byte) in text.iter().enumerate() {
        let digit = u128::from(digit(index, byte)?);
        let sum = bits.checked_mul(62).and_then(|shifted| shifted.checked_add(digit));
        bits = sum.ok_or(FormatError::Value("its value has more than 128 bits"))?;
    }
    Ok(bits)
}

/// The value of the character at this index.
fn digit(index: usize, byte: u8) -> Result<u8, FormatError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'A'..=b'Z' => Ok(byte - b'A' + 10),
        b'a'..=b'z' => Ok(byte - b'a' + 36),
        _ => Err(FormatError::Character { position: index + 1, byte, expected: "base62" }),
    }
}

/// Writes 160 bits, of which `high` are the first 32, as 27 characters.
pub(crate) fn encode_160_bits(high: u32, low: u128) -> [u8; LEN_OF_160_BITS] {
    let mut words = [high, (low >> 96) as u32, (low >> 64) as u32, (low >> 32) as u32, low as u32];
    let mut text = [0; LEN_OF_160_BITS];
    // Six digits at a time are too many for 32 bits.
    for five in text.rchunks_mut(5) {
        let mut rest = 0;
        for word in &mut words {
            let value = rest << 32 | u64::from(*word);
            (*word, rest) = ((value / FIVE_DIGITS) as u32, value % FIVE_DIGITS);
        }
        for byte in five.iter_mut().rev() {
            *byte = ALPHABET[(rest % 62) as usize];
            rest /= 62;
        }
    }
    text
}

/// Reads 27 characters as 160 bits: the first 32, and the others.
pub(crate) fn decode_160_bits(text: &[u8; LEN_OF_160_BITS]) -> Result<(u32, u128), FormatError> {
    let mut words = [0_u32; 5];
    for (index, &byte) in text.iter().enumerate() {
        let mut carry = u64::from(digit(index, byte)?);
        for word in words.iter_mut().rev() {
            carry += u64::from(*word) * 62;
            (*word, carry) = (carry as u32, carry >> 32);
        }
        if carry != 0 {
            return Err(FormatError::Value("its value has more than 160 bits"));
        }
    }
    let [high, low @ ..] = words;
    Ok((high, low.iter().fold(0, |low, &word| low << 32 | u128::from(word))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(bits: u128) -> [u8; LEN_OF_128_BITS] {
        let mut text = [0; LEN_OF_128_BITS];
        encode_128_bits(bits, &mut text);
        text
    }

    #[test]
    fn the_bounds_are_known() {
        assert_eq!(&encoded(0), b"0000000000000000000000");
        assert_eq!(&encoded(61), b"000000000000000000000z");
        assert_eq!(&encoded(u128::MAX), b"7n42DGM5Tflk9n8mt7Fhc7");
        assert!(decode_128_bits(b"7n42DGM5Tflk9n8mt7Fhc8").is_err());
        assert!(decode_128_bits(b"zzzzzzzzzzzzzzzzzzzzzz").is_err());
        assert_eq!(&encode_160_bits(u32::MAX, u128::MAX), b"aWgEPTl1tmebfsQzFP4bxwgy80V");
        assert!(decode_160_bits(b"aWgEPTl1tmebfsQzFP4bxwgy80W").is_err());
        assert!(decode_160_bits(b"zzzzzzzzzzzzzzzzzzzzzzzzzzz").is_err());
    }

    proptest! {
        #[test]
        fn text_reads_back_and_sorts_as_the_numbers_do(a: u128, b: u128, zeros in 0..128) {
            let (a, b) = (a >> zeros, b >> zeros);
            prop_assert_eq!(decode_128_bits(&encoded(a)), Ok(a));
            prop_assert_eq!(encoded(a).cmp(&encoded(b)), a.cmp(&b));
        }

        #[test]
        fn longer_text_reads_back_and_sorts_as_the_numbers_do(a: (u32, u128), b: (u32, u128), zeros in 0..32) {
            let (a, b) = ((a.0 >> zeros, a.1), (b.0 >> zeros, b.1));
            prop_assert_eq!(decode_160_bits(&encode_160_bits(a.0, a.1)), Ok(a));
            prop_assert_eq!(encode_160_bits(a.0, a.1).cmp(&encode_160_bits(b.0, b.1)), a.cmp(&b));
        }
    }
}
