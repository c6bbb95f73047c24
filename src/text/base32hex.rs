//! base32hex in lower case: text that sorts as the bits do.

pub(crate) const LEN_OF_96_BITS: usize = 20;

/// The values of the eight characters of the low 40 bits of `bits`, each in its byte, the first in the lowest.
#[inline(always)]
pub(super) fn values_of_40_bits(bits: u64) -> u64 {
    // Split in halves three times.
    let halves = bits >> 20 & 0x000f_ffff | (bits & 0x000f_ffff) << 32;
    let quarters = halves >> 10 & 0x0000_03ff_0000_03ff | (halves & 0x0000_03ff_0000_03ff) << 16;
    quarters >> 5 & 0x001f_001f_001f_001f | (quarters & 0x001f_001f_001f_001f) << 8
}

/// Writes the low 40 bits of `bits` as eight characters, five bits each, most significant first.
///
/// Written by hand, because this is most of the cost of an id: data-encoding takes three times as long.
#[inline(always)]
pub(crate) fn encode_40_bits(bits: u64) -> [u8; 8] {
    let values = values_of_40_bits(bits);
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

/// Writes 96 bits, of which the low 40 of `high` are the first, the low 40 of `middle` the next, and `low` the last 16, as 20
/// characters.
#[inline(always)]
pub(crate) fn encode_96_bits(high: u64, middle: u64, low: u32) -> [u8; LEN_OF_96_BITS] {
    let mut text = [0; LEN_OF_96_BITS];
    text[..8].copy_from_slice(&encode_40_bits(high));
    text[8..16].copy_from_slice(&encode_40_bits(middle));
    // Three characters, and one bit of a fourth.
    text[16..].copy_from_slice(&encode_20_bits(low << 4));
    text
}

/// Reads 20 characters in upper or lower case as 96 bits.
///
/// Written by hand, because data-encoding's decoder includes one for every base, which makes libtxid.so larger.
#[inline(always)]
pub(crate) fn decode(text: &[u8; LEN_OF_96_BITS]) -> Option<u128> {
    let [high, middle, low] = [&text[..8], &text[8..16], &text[16..]].map(|part| {
        // With zeros in front, four are eight as well.
        let mut eight = *b"00000000";
        eight[8 - part.len()..].copy_from_slice(part);
        values(u64::from_be_bytes(eight))
    });
    // The last character holds one bit of the 96, above four zeros.
    if !is_all_in_the_alphabet(text) || low & 0xf != 0 {
        return None;
    }
    Some(u128::from(gather(high)) << 56 | u128::from(gather(middle)) << 16 | u128::from(gather(low) >> 4))
}

/// Whether each character is in the alphabet, in upper or lower case.
#[inline(always)]
pub(crate) fn is_all_in_the_alphabet(text: &[u8; LEN_OF_96_BITS]) -> bool {
    // Two vectors of 16 take fewer instructions than each byte.
    let mut padded = [b'0'; 32];
    padded[..text.len()].copy_from_slice(text);
    padded.iter().fold(0, |wrong, &byte| wrong | u8::from(!is_in_the_alphabet(byte))) == 0
}

/// The values of eight characters of the alphabet, each in its byte.
#[inline(always)]
fn values(text: u64) -> u64 {
    // A letter has the bit 0x40, and counts from 1 in its low five bits.
    let letters = text >> 6 & 0x0101_0101_0101_0101;
    (text & 0x0f0f_0f0f_0f0f_0f0f) + (text & letters << 4) + letters * 9
}

/// The 40 bits of eight values, most significant first.
#[inline(always)]
fn gather(values: u64) -> u64 {
    let quarters = values >> 3 & 0x03e0_03e0_03e0_03e0 | values & 0x001f_001f_001f_001f;
    let halves = quarters >> 6 & 0x000f_fc00_000f_fc00 | quarters & 0x0000_03ff_0000_03ff;
    halves >> 12 & 0x00ff_fff0_0000 | halves & 0x000f_ffff
}

#[inline(always)]
fn is_in_the_alphabet(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'v' | b'A'..=b'V')
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
            let bits = theirs.iter().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
            let expected = read.ok().map(|_| bits);
            prop_assert_eq!(decode(text.as_bytes().try_into().unwrap()), expected);
        }
    }

    #[test]
    fn each_byte_in_each_place() {
        let text = *b"4om9qi54la8ffr4bd9sg";
        for place in 0..text.len() {
            for byte in 0..=u8::MAX {
                let mut text = text;
                text[place] = byte;
                let is_valid = match place {
                    19 => matches!(byte, b'0' | b'g' | b'G'),
                    _ => matches!(byte, b'0'..=b'9' | b'a'..=b'v' | b'A'..=b'V'),
                };
                assert_eq!(decode(&text).is_some(), is_valid, "{byte} at {place}");
            }
        }
    }
}
