//! Crockford's base32, as ULID and TypeID write 128 bits with it: 26 characters, of which the first has three bits.

use super::base32hex;

/// How many characters 128 bits need.
pub(crate) const LEN_OF_128_BITS: usize = 26;

/// Writes 128 bits in upper case.
#[inline(always)]
pub(crate) fn encode_128_bits(bits: u128) -> [u8; LEN_OF_128_BITS] {
    // With two zeros before them, these are 130: 40, 40, 40 and 10.
    let mut text = [0; LEN_OF_128_BITS];
    for (place, shift) in [90, 50, 10].into_iter().enumerate() {
        text[8 * place..][..8].copy_from_slice(&encode_40_bits((bits >> shift) as u64));
    }
    text[24..].copy_from_slice(&encode_40_bits(bits as u64)[6..]);
    text
}

/// Writes the low 40 bits of `bits` as eight characters.
#[inline(always)]
fn encode_40_bits(bits: u64) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let values = base32hex::values_of_40_bits(bits);
    // Each letter that is left out moves those after it one further on, as the characters between 9 and A do by seven.
    let from = |value: u64| (values + (128 - value) * EACH) >> 7 & EACH;
    let further_on = from(10) * 7 + from(18) + from(20) + from(22) + from(27);
    (values + 0x3030_3030_3030_3030 + further_on).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ulid;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_reads_back_and_sorts_as_the_numbers_do(a: u128, b: u128, zeros in 0..128) {
            let (a, b) = (a >> zeros, b >> zeros);
            prop_assert_eq!(Ulid::from_text(&encode_128_bits(a)), Ok(Ulid(a)));
            prop_assert_eq!(Ulid::from_text(&encode_128_bits(a).to_ascii_lowercase()), Ok(Ulid(a)));
            prop_assert_eq!(encode_128_bits(a).cmp(&encode_128_bits(b)), a.cmp(&b));
        }
    }

    #[test]
    fn each_value_in_each_place() {
        for place in 0..LEN_OF_128_BITS {
            let shift = 125 - 5 * place;
            for (value, &letter) in
                b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".iter().enumerate().take(if place == 0 { 8 } else { 32 })
            {
                for others in [0, !(31 << shift)] {
                    let text = encode_128_bits((value as u128) << shift | others);
                    assert_eq!(text[place], letter, "{place}");
                    let other = if others == 0 { b'0' } else { b'Z' };
                    assert!((1..LEN_OF_128_BITS).all(|at| at == place || text[at] == other));
                }
            }
        }
    }

    #[test]
    fn the_bounds_are_known() {
        assert_eq!(&encode_128_bits(u128::MAX), b"7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }
}
