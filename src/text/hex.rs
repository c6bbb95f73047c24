//! Hexadecimal in lower case.

use super::FormatError;

/// The characters of eight bytes that each hold four bits.
#[inline(always)]
fn characters(values: u64) -> u64 {
    // Adding 118 carries values of 10 and above into the top bit of their byte: these become letters, 39 higher in
    // ASCII.
    let letters = ((values + 0x7676_7676_7676_7676) >> 7) & 0x0101_0101_0101_0101;
    values + 0x3030_3030_3030_3030 + letters * 39
}

/// Writes 32 bits as eight characters, most significant first.
#[inline(always)]
pub(crate) fn encode_32_bits(bits: u32) -> [u8; 8] {
    // Split in halves three times, so that each byte holds its own four bits.
    let bits = u64::from(bits);
    let halves = ((bits << 16) & 0x0000_ffff_0000_0000) | (bits & 0xffff);
    let quarters = ((halves << 8) & 0x00ff_0000_00ff_0000) | (halves & 0x0000_00ff_0000_00ff);
    let values = ((quarters << 4) & 0x0f00_0f00_0f00_0f00) | (quarters & 0x000f_000f_000f_000f);
    characters(values).to_be_bytes()
}

/// Writes 64 bits as 16 characters.
#[inline(always)]
pub(crate) fn encode_64_bits(bits: u64) -> [u8; 16] {
    let mut text = [0; 16];
    text[..8].copy_from_slice(&encode_32_bits((bits >> 32) as u32));
    text[8..].copy_from_slice(&encode_32_bits(bits as u32));
    text
}

/// Writes 128 bits as 32 characters.
#[inline(always)]
pub(crate) fn encode_128_bits(bits: u128) -> [u8; 32] {
    let mut text = [0; 32];
    text[..16].copy_from_slice(&encode_64_bits((bits >> 64) as u64));
    text[16..].copy_from_slice(&encode_64_bits(bits as u64));
    text
}

/// Reads eight characters, as [`encode_32_bits`] writes them.
#[inline(always)]
fn decode_32_bits(text: [u8; 8]) -> Option<u32> {
    let letters = u64::from_be_bytes(text);
    // A letter has the bit 0x40, and counts from 1 in its low four bits.
    let values = (letters & 0x0f0f_0f0f_0f0f_0f0f) + ((letters >> 6) & 0x0101_0101_0101_0101) * 9;
    // Other characters have values as well, but either these are no four bits, or they are written in another way.
    if values & 0xf0f0_f0f0_f0f0_f0f0 != 0 || characters(values) != letters {
        return None;
    }
    let quarters = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let halves = (quarters | quarters >> 8) & 0x0000_ffff_0000_ffff;
    Some((halves | halves >> 16) as u32)
}

/// Reads the `LENGTH` characters of `text` that begin at `start`, at most 32, as a number.
#[inline]
pub(crate) fn decode<const LENGTH: usize>(text: &[u8], start: usize) -> Result<u128, FormatError> {
    const { assert!(LENGTH <= 32) };
    let (first, eights) = text[start..start + LENGTH].split_at(LENGTH % 8);
    // With zeros in front, these are eight as well.
    let mut eight = *b"00000000";
    eight[8 - first.len()..].copy_from_slice(first);
    let first = decode_32_bits(eight).map(u128::from);
    let read = eights.chunks_exact(8).fold(first, |bits, eight| {
        let eight = eight.try_into().expect("a chunk has its length");
        Some(bits? << 32 | u128::from(decode_32_bits(eight)?))
    });
    read.map_or_else(|| decode_slowly(text, start, LENGTH), Ok)
}

/// As [`decode`], one character after the other, which finds the wrong one.
#[cold]
#[inline(never)]
pub(crate) fn decode_slowly(text: &[u8], start: usize, length: usize) -> Result<u128, FormatError> {
    let mut bits = 0;
    for (index, &byte) in text[start..start + length].iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => {
                let position = start + index + 1;
                return Err(FormatError::Character { position, byte, expected: "lower-case hexadecimal" });
            }
        };
        bits = bits << 4 | u128::from(digit);
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_written_as_the_standard_library_writes_them(bits: u128) {
            let text = encode_128_bits(bits);
            prop_assert_eq!(std::str::from_utf8(&text).unwrap(), format!("{bits:032x}"));
            prop_assert_eq!(decode::<32>(&text, 0), Ok(bits));
            prop_assert_eq!(decode::<16>(&text, 16), Ok(u128::from(bits as u64)));
        }

        #[test]
        fn a_wrong_character_is_found(bits: u64, position in 0_usize..16, byte: u8) {
            let mut text = encode_64_bits(bits);
            text[position] = byte;
            let expected = decode_slowly(&text, 0, 16);
            let is_hex = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            prop_assert_eq!(expected.is_ok(), is_hex);
            prop_assert_eq!(decode::<16>(&text, 0), expected);
        }
    }
}
