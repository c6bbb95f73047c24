//! Reading numbers of decimal digits.

use crate::FormatError;

/// The characters of `text` from `start` up to `end` as a number.
pub(crate) fn decode(text: &[u8], start: usize, end: usize) -> Result<u64, FormatError> {
    if start == end {
        return Err(FormatError::Value("a number is missing"));
    }
    let mut number = 0_u64;
    for (index, &byte) in text[start..end].iter().enumerate() {
        if !byte.is_ascii_digit() {
            return Err(FormatError::Character { position: start + index + 1, byte, expected: "a digit" });
        }
        let digit = u64::from(byte - b'0');
        number =
            number.checked_mul(10).and_then(|tens| tens.checked_add(digit)).ok_or(FormatError::Value(TOO_LARGE))?;
    }
    Ok(number)
}

const TOO_LARGE: &str = "a number has more than 64 bits";
