//! Base62, with digits before upper-case before lower-case letters, so that text sorts as the numbers do.

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters 128 bits need.
pub(crate) const LEN_OF_128_BITS: usize = 22;

/// How many characters 160 bits need.
pub(crate) const LEN_OF_160_BITS: usize = 27;

const DIGITS_A_PART: u32 = 10;
const PART: u64 = 62_u64.pow(DIGITS_A_PART);

/// Writes 128 bits as 22 characters, directly to their destination: copying bytes that were just written one by one
/// stalls the processor.
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

/// A third of the characters of 160 bits.
const DIGITS_A_THIRD: u32 = 9;
const THIRD: u64 = 62_u64.pow(DIGITS_A_THIRD);

/// Writes 160 bits, of which `high` are the first 32, as 27 characters.
pub(crate) fn encode_160_bits(high: u32, low: u128, text: &mut [u8; LEN_OF_160_BITS]) {
    /// The thirds of 2^64, 2^96 and 2^128, the lowest first.
    const POWERS: [[u64; 3]; 3] = [thirds_of(64), thirds_of(96), thirds_of(128)];

    // Divisions of 160 bits are slow. So each word of 32 bits is multiplied by the thirds of its power of 2. No sum has
    // more than 89 bits.
    let words = [(low >> 64) as u32, (low >> 96) as u32, high].map(u128::from);
    let sum_of = |third: usize| -> u128 { (0..3).map(|word| words[word] * u128::from(POWERS[word][third])).sum() };
    let (carry, first) = third_of(sum_of(0) + u128::from(low as u64));
    let (carry, second) = third_of(sum_of(1) + u128::from(carry));
    let third = sum_of(2) as u64 + carry;

    // Three independent chains of divisions.
    let mut rest = [third, second, first];
    for place in (1..DIGITS_A_THIRD as usize).step_by(2).rev() {
        for part in 0..3 {
            [text[9 * part + place], text[9 * part + place + 1]] = pair(rest[part] % (62 * 62));
        }
        rest = rest.map(|part| part / (62 * 62));
    }
    for part in 0..3 {
        text[9 * part] = ALPHABET[rest[part] as usize];
    }
}

/// The digits of 2^`exponent` to the base of a third, the lowest first.
const fn thirds_of(exponent: u32) -> [u64; 3] {
    // 2^128 - 1 is no multiple of a third; then one more.
    let bits = if exponent == 128 { u128::MAX } else { 1 << exponent };
    let third = THIRD as u128;
    let one = if exponent == 128 { 1 } else { 0 };
    [(bits % third) as u64 + one, (bits / third % third) as u64, (bits / third / third) as u64]
}

/// `sum`, which has at most 89 bits, divided by a third, and the rest.
fn third_of(sum: u128) -> (u64, u64) {
    const SHIFT: u32 = 52;
    const RECIPROCAL: u64 = ((1_u128 << (64 + SHIFT)) / THIRD as u128) as u64;

    // Too small by two at most.
    let mut quotient = (((sum >> SHIFT) * u128::from(RECIPROCAL)) >> 64) as u64;
    let mut rest = (sum as u64).wrapping_sub(quotient.wrapping_mul(THIRD));
    for _ in 0..2 {
        let is_more = rest >= THIRD;
        quotient += u64::from(is_more);
        rest -= if is_more { THIRD } else { 0 };
    }
    (quotient, rest)
}

/// The two digits of a number below 62 * 62.
fn pair(value: u64) -> [u8; 2] {
    [ALPHABET[(value / 62) as usize], ALPHABET[(value % 62) as usize]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flake, Ksuid};
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
    }

    /// The digits by long division.
    fn by_hand(high: u32, low: u128) -> [u8; LEN_OF_160_BITS] {
        let mut words = [high, (low >> 96) as u32, (low >> 64) as u32, (low >> 32) as u32, low as u32];
        let mut text = [0; LEN_OF_160_BITS];
        for place in text.iter_mut().rev() {
            let mut rest = 0;
            for word in &mut words {
                let part = rest << 32 | u64::from(*word);
                (*word, rest) = ((part / 62) as u32, part % 62);
            }
            *place = ALPHABET[rest as usize];
        }
        text
    }

    fn encoded_160(high: u32, low: u128) -> [u8; LEN_OF_160_BITS] {
        let mut text = [0; LEN_OF_160_BITS];
        encode_160_bits(high, low, &mut text);
        text
    }

    #[test]
    fn the_bounds_of_160_bits_are_known() {
        assert_eq!(&encoded_160(0, 0), b"000000000000000000000000000");
        assert_eq!(&encoded_160(0, 62), b"000000000000000000000000010");
        assert_eq!(&encoded_160(u32::MAX, u128::MAX), b"aWgEPTl1tmebfsQzFP4bxwgy80V");
    }

    #[test]
    fn the_quotient_is_exact_next_to_each_multiple_of_a_third() {
        let most = (1_u128 << 89) / u128::from(THIRD);
        for quotient in (0..1000).chain((0..89 - 53).map(|bit| most >> bit)).chain(most - 1000..most) {
            for rest in [0, 1, THIRD / 2, THIRD - 2, THIRD - 1] {
                let sum = quotient * u128::from(THIRD) + u128::from(rest);
                assert_eq!(third_of(sum), (quotient as u64, rest), "{sum}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_digits_of_160_bits_are_those_of_a_long_division(high: u32, low: u128, zeros in 0..160_u32) {
            let (high, low) = (high.checked_shr(zeros).unwrap_or(0), low >> zeros.saturating_sub(32));
            prop_assert_eq!(encoded_160(high, low), by_hand(high, low));
            prop_assert_eq!(encoded_160(high, u128::MAX), by_hand(high, u128::MAX));
        }

        #[test]
        fn text_reads_back_and_sorts_as_the_numbers_do(a: u128, b: u128, zeros in 0..128) {
            let (a, b) = (a >> zeros, b >> zeros);
            prop_assert_eq!(Flake::from_text(&encoded(a)), Ok(Flake(a)));
            prop_assert_eq!(encoded(a).cmp(&encoded(b)), a.cmp(&b));
        }

        #[test]
        fn longer_text_reads_back_and_sorts_as_the_numbers_do(a: (u32, u128), b: (u32, u128), zeros in 0..32) {
            let (a, b) = ((a.0 >> zeros, a.1), (b.0 >> zeros, b.1));
            let (seconds, payload) = a;
            prop_assert_eq!(Ksuid::from_text(&encoded_160(seconds, payload)), Ok(Ksuid { seconds, payload }));
            prop_assert_eq!(encoded_160(a.0, a.1).cmp(&encoded_160(b.0, b.1)), a.cmp(&b));
        }
    }
}
