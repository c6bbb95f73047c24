//! Hexadecimal in lower case.

/// The characters of eight bytes that each hold four bits.
fn characters(values: u64) -> u64 {
    // Adding 118 carries values of 10 and above into the top bit of their byte: these become letters, 39 higher in
    // ASCII.
    let letters = ((values + 0x7676_7676_7676_7676) >> 7) & 0x0101_0101_0101_0101;
    values + 0x3030_3030_3030_3030 + letters * 39
}

/// Writes 32 bits as eight characters, most significant first.
pub(crate) fn encode_32_bits(bits: u32) -> [u8; 8] {
    // Split in halves three times, so that each byte holds its own four bits.
    let bits = u64::from(bits);
    let halves = ((bits << 16) & 0x0000_ffff_0000_0000) | (bits & 0xffff);
    let quarters = ((halves << 8) & 0x00ff_0000_00ff_0000) | (halves & 0x0000_00ff_0000_00ff);
    let values = ((quarters << 4) & 0x0f00_0f00_0f00_0f00) | (quarters & 0x000f_000f_000f_000f);
    characters(values).to_be_bytes()
}

/// Writes 64 bits as 16 characters.
pub(crate) fn encode_64_bits(bits: u64) -> [u8; 16] {
    sixteen::encode(bits)
}

/// Writes 128 bits as 32 characters.
pub(crate) fn encode_128_bits(bits: u128) -> [u8; 32] {
    let mut text = [0; 32];
    text[..16].copy_from_slice(&encode_64_bits((bits >> 64) as u64));
    text[16..].copy_from_slice(&encode_64_bits(bits as u64));
    text
}

/// Reads eight characters, as [`encode_32_bits`] writes them.
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

/// Reads 16 characters; None if one is wrong.
pub(crate) use sixteen::decode as decode_16;

/// Reads at most 32 characters as a number, 16 of them at once; None if one is wrong.
pub(crate) fn decode(text: &[u8]) -> Option<u128> {
    let mut sixteens = text.chunks_exact(16);
    let mut eights = sixteens.remainder().chunks_exact(8);
    let ones = eights.remainder();
    let bits = sixteens
        .try_fold(0, |bits, sixteen| Some(bits << 64 | u128::from(sixteen::decode(sixteen.try_into().ok()?)?)))?;
    let bits =
        eights.try_fold(bits, |bits, eight| Some(bits << 32 | u128::from(decode_32_bits(eight.try_into().ok()?)?)))?;
    ones.iter().try_fold(bits, |bits, &byte| Some(bits << 4 | u128::from(digit(byte)?)))
}

/// 16 characters at once, with the instructions that every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod sixteen {
    use std::arch::x86_64::*;

    pub(super) fn encode(bits: u64) -> [u8; 16] {
        let mut text = [0; 16];
        // SAFETY: `text` has the 16 bytes that are written, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_cvtsi64_si128(bits.swap_bytes() as i64);
            let four_bits = _mm_set1_epi8(0xf);
            let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), four_bits);
            let values = _mm_unpacklo_epi8(high, _mm_and_si128(bytes, four_bits));
            let letters = _mm_and_si128(_mm_cmpgt_epi8(values, _mm_set1_epi8(9)), _mm_set1_epi8(39));
            let text_of_them = _mm_add_epi8(_mm_add_epi8(values, _mm_set1_epi8(b'0' as i8)), letters);
            _mm_storeu_si128(text.as_mut_ptr().cast(), text_of_them);
        }
        text
    }

    pub(crate) fn decode(text: &[u8; 16]) -> Option<u64> {
        // SAFETY: `text` has the 16 bytes that are read, and SSE2 is part of x86-64.
        unsafe {
            let text = _mm_loadu_si128(text.as_ptr().cast());
            let digits = _mm_sub_epi8(text, _mm_set1_epi8(b'0' as i8));
            let letters = _mm_sub_epi8(text, _mm_set1_epi8(b'a' as i8));
            let is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
            let is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(5)), letters);
            if _mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)) != 0xffff {
                return None;
            }
            let letters = _mm_and_si128(is_letter, _mm_add_epi8(letters, _mm_set1_epi8(10)));
            let values = _mm_or_si128(_mm_and_si128(is_digit, digits), letters);
            // The first of two characters is the lower byte here, and has the higher four bits.
            let pairs = _mm_or_si128(_mm_slli_epi16::<4>(values), _mm_srli_epi16::<8>(values));
            let pairs = _mm_and_si128(pairs, _mm_set1_epi16(0xff));
            Some((_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)) as u64).swap_bytes())
        }
    }
}

/// 16 characters as two times eight.
#[cfg(not(target_arch = "x86_64"))]
mod sixteen {
    use super::{decode_32_bits, encode_32_bits};

    pub(super) fn encode(bits: u64) -> [u8; 16] {
        let mut text = [0; 16];
        text[..8].copy_from_slice(&encode_32_bits((bits >> 32) as u32));
        text[8..].copy_from_slice(&encode_32_bits(bits as u32));
        text
    }

    pub(crate) fn decode(text: &[u8; 16]) -> Option<u64> {
        let [high, low] = [text.first_chunk()?, text.last_chunk()?].map(|eight| decode_32_bits(*eight));
        Some(u64::from(high?) << 32 | u64::from(low?))
    }
}

#[inline]
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
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
            for length in 0..=32 {
                let expected = bits & u128::MAX.checked_shr(128 - 4 * length).unwrap_or(0);
                prop_assert_eq!(decode(&text[32 - length as usize..]), Some(expected));
            }
        }
    }

    #[test]
    fn a_wrong_character_is_found() {
        for length in [2, 8, 16, 24, 32] {
            for (place, byte) in (0..length).flat_map(|place| (0..=u8::MAX).map(move |byte| (place, byte))) {
                let mut text = *b"0123456789abcdef0123456789abcdef";
                text[place] = byte;
                let is_digit = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                let expected = std::str::from_utf8(&text[..length]).ok().filter(|_| is_digit);
                let expected = expected.map(|text| u128::from_str_radix(text, 16).unwrap());
                assert_eq!(decode(&text[..length]), expected, "{length}, {place}, {byte}");
            }
        }
    }
}
