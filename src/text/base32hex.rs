//! base32hex in lower case: text that sorts as the bits do.

pub(crate) const LEN_OF_96_BITS: usize = 20;

/// Writes the low 40 bits of `bits` as eight characters, five bits each, most significant first.
///
/// Written by hand, because this is most of the cost of an id: data-encoding takes three times as long.
#[inline(always)]
pub(crate) fn encode_40_bits(bits: u64) -> [u8; 8] {
    // Split in halves three times, so that each byte holds its own five bits, with the first character in the lowest
    // byte.
    let halves = bits >> 20 & 0x000f_ffff | (bits & 0x000f_ffff) << 32;
    let quarters = halves >> 10 & 0x0000_03ff_0000_03ff | (halves & 0x0000_03ff_0000_03ff) << 16;
    let values = quarters >> 5 & 0x001f_001f_001f_001f | (quarters & 0x001f_001f_001f_001f) << 8;
    // Adding 118 carries values of 10 and above into the top bit of their byte: these become letters, 39 higher in
    // ASCII.
    let letters = (values + 0x7676_7676_7676_7676) & 0x8080_8080_8080_8080;
    let further_on = (letters - (letters >> 7)) & 0x2727_2727_2727_2727;
    (values + 0x3030_3030_3030_3030 + further_on).to_le_bytes()
}

/// As [`encode_40_bits`], of the low 20 bits: half the work, and with a multiplication, for which 64-bit lanes of
/// vectors have no instruction.
#[inline(always)]
pub(crate) fn encode_20_bits(bits: u32) -> [u8; 4] {
    let quarters = bits >> 10 & 0x0000_03ff | (bits & 0x0000_03ff) << 16;
    let values = quarters >> 5 & 0x001f_001f | (quarters & 0x001f_001f) << 8;
    let letters = (values + 0x7676_7676) >> 7 & 0x0101_0101;
    (values + 0x3030_3030 + letters * 39).to_le_bytes()
}

/// The value of each character; 0xff if it is not in the alphabet.
const VALUES: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut value = 0;
    while value < 32 {
        let lower = if value < 10 { b'0' + value } else { b'a' + value - 10 };
        values[lower as usize] = value;
        values[lower.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};

/// Reads 20 characters in upper or lower case as 96 bits; on error, returns the position of the first invalid one.
///
/// Written by hand, because data-encoding's decoder includes one for every base, which makes libtxid.so larger.
pub(crate) fn decode(text: &[u8; LEN_OF_96_BITS]) -> Result<[u8; 12], usize> {
    // Three independent parts, and no branch until the end.
    let ([high, high_seen], [middle, middle_seen], [low, low_seen]) =
        (read(&text[..8]), read(&text[8..16]), read(&text[16..]));
    if (high_seen | middle_seen | low_seen) > 31 {
        return Err(text.iter().position(|&byte| VALUES[usize::from(byte)] > 31).unwrap_or_default());
    }
    // The last character holds one bit of the 96, above four zeros.
    if low & 0xf != 0 {
        return Err(text.len() - 1);
    }
    let bits = u128::from(high) << 56 | u128::from(middle) << 16 | u128::from(low >> 4);
    let [.., b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11] = bits.to_be_bytes();
    Ok([b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11])
}

/// The bits of the characters, and the bitwise or of their values: more than 31 if one is invalid.
#[inline(always)]
fn read(text: &[u8]) -> [u64; 2] {
    text.iter().fold([0, 0], |[bits, seen], &byte| {
        let value = u64::from(VALUES[usize::from(byte)]);
        [bits << 5 | value, seen | value]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE32HEX_NOPAD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forty_bits_are_written_as_data_encoding_writes_them(bits in 0..1_u64 << 40) {
            let mut theirs = [0; 8];
            BASE32HEX_NOPAD.encode_mut(&bits.to_be_bytes()[3..], &mut theirs);
            prop_assert_eq!(theirs.to_ascii_lowercase(), encode_40_bits(bits));
        }

        #[test]
        fn twenty_bits_are_written_as_half_of_forty(bits in 0..1_u32 << 20) {
            prop_assert_eq!(&encode_20_bits(bits)[..], &encode_40_bits(u64::from(bits))[4..]);
        }

        #[test]
        fn text_is_read_as_data_encoding_reads_it(text in "[0-9a-vA-V]{19}[0gG]|[0-9a-vA-V]{20}|[0-9a-zA-Z]{20}") {
            let mut theirs = [0; 12];
            let read = BASE32HEX_NOPAD.decode_mut(text.to_uppercase().as_bytes(), &mut theirs);
            let expected = read.map(|_| theirs).map_err(|partial| partial.error.position);
            prop_assert_eq!(decode(text.as_bytes().try_into().unwrap()), expected);
        }
    }
}
