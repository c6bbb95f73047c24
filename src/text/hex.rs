//! Hexadecimal in lower case.

use super::FormatError;

/// Writes 32 bits as eight characters, most significant first.
#[inline(always)]
pub(crate) fn encode_32_bits(bits: u32) -> [u8; 8] {
    // Split in halves three times, so that each byte holds its own four bits.
    let bits = u64::from(bits);
    let halves = ((bits << 16) & 0x0000_ffff_0000_0000) | (bits & 0xffff);
    let quarters = ((halves << 8) & 0x00ff_0000_00ff_0000) | (halves & 0x0000_00ff_0000_00ff);
    let values = ((quarters << 4) & 0x0f00_0f00_0f00_0f00) | (quarters & 0x000f_000f_000f_000f);
    // Adding 118 carries values of 10 and above into the top bit of their byte: these become letters, 39 higher in
    // ASCII.
    let letters = ((values + 0x7676_7676_7676_7676) >> 7) & 0x0101_0101_0101_0101;
    (values + 0x3030_3030_3030_3030 + letters * 39).to_be_bytes()
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

/// Reads the `LENGTH` characters of `text` that begin at `start`, at most 32, as a number.
pub(crate) fn decode<const LENGTH: usize>(text: &[u8], start: usize) -> Result<u128, FormatError> {
    const { assert!(LENGTH <= 32) };
    let mut bits = 0;
    for (index, &byte) in text[start..start + LENGTH].iter().enumerate() {
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
        }
    }
}
