//! base32hex in lower case: text that sorts as the bits do.

/// Writes the low 40 bits of `bits` as eight characters, five bits each, most significant first.
///
/// By hand, because it is most of what an id costs: data-encoding needs 12 ns for an id here, this 4 ns, next to the
/// 105 ns of the Lua string that the id ends in.
#[inline(always)]
pub(crate) fn encode_40_bits(bits: u64) -> [u8; 8] {
    // Halve three times, so that every byte ends up with its own five bits.
    let halves = ((bits << 12) & 0x000f_ffff_0000_0000) | (bits & 0x000f_ffff);
    let quarters = ((halves << 6) & 0x03ff_0000_03ff_0000) | (halves & 0x0000_03ff_0000_03ff);
    let values = ((quarters << 3) & 0x1f00_1f00_1f00_1f00) | (quarters & 0x001f_001f_001f_001f);
    // 10 and above carry into a byte's top bit when 118 is added: those are the letters, 39 further on in ASCII.
    let letters = ((values + 0x7676_7676_7676_7676) >> 7) & 0x0101_0101_0101_0101;
    (values + 0x3030_3030_3030_3030 + letters * 39).to_be_bytes()
}

/// What each byte stands for; INVALID for most.
const VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut value = 0;
    while value < 32 {
        let digit = b"0123456789abcdefghijklmnopqrstuv"[value];
        values[digit as usize] = value as u8;
        values[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    values
};

const INVALID: u8 = 0x80;

/// Whether the byte is one of `0-9a-vA-V`.
pub(crate) fn is_digit(byte: u8) -> bool {
    VALUES[byte as usize] != INVALID
}

/// Reads 20 characters of either case as the 96 bits they stand for, or tells the place of the first that is wrong.
///
/// By hand as well, and as two halves, which the processor reads side by side.
#[inline(always)]
pub(crate) fn decode(text: &[u8; 20]) -> Result<u128, usize> {
    let (mut high, mut low, mut seen) = (0, 0, 0);
    for place in 0..10 {
        let (one, other) = (VALUES[text[place] as usize], VALUES[text[place + 10] as usize]);
        high = high << 5 | u64::from(one);
        low = low << 5 | u64::from(other);
        seen |= one | other;
    }
    // The last character holds one bit: its other four are not part of the 96.
    if seen & INVALID != 0 || low & 0xf != 0 {
        return Err(text.iter().position(|&byte| !is_digit(byte)).unwrap_or(19));
    }
    Ok(u128::from(high) << 46 | u128::from(low >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::{BASE32HEX_NOPAD, DecodePartial};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forty_bits_are_written_as_data_encoding_writes_them(bits in 0..1_u64 << 40) {
            let mut theirs = [0; 8];
            BASE32HEX_NOPAD.encode_mut(&bits.to_be_bytes()[3..], &mut theirs);
            prop_assert_eq!(theirs.to_ascii_lowercase(), encode_40_bits(bits));
        }

        #[test]
        fn text_is_read_as_data_encoding_reads_it(text in "[0-9a-vA-V]{19}[0gG]|[0-9a-vA-V]{20}|[0-9a-zA-Z]{20}") {
            let mut theirs = [0; 12];
            let read = BASE32HEX_NOPAD.decode_mut(text.to_uppercase().as_bytes(), &mut theirs);
            let theirs = theirs.iter().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
            prop_assert_eq!(decode(text.as_bytes().try_into().unwrap()), read.map(|_| theirs).map_err(|DecodePartial { error, .. }| error.position));
        }
    }
}
