//! Apache's base64, whose last two characters are `@` and `-`.
//!
//! By hand, because data-encoding has this alphabet only with an allocation.

use crate::FormatError;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-";

/// Writes `bytes`, six bits a character, the last one filled up with zeros, and returns how many characters that makes.
pub(crate) fn encode(bytes: &[u8], text: &mut [u8]) -> usize {
    let mut length = 0;
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0_u32, |bits, (place, &byte)| bits | u32::from(byte) << (16 - 8 * place));
        for place in 0..group.len() + 1 {
            text[length] = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            length += 1;
        }
    }
    length
}

/// Reads `text` into as many whole `bytes` as it has. What is left over has to be zeros.
pub(crate) fn decode(text: &[u8], bytes: &mut [u8]) -> Result<(), FormatError> {
    let (mut bits, mut held, mut length) = (0_u32, 0, 0);
    for (index, &byte) in text.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'@' => 62,
            b'-' => 63,
            _ => return Err(FormatError::Character { position: index + 1, byte, expected: "one of A-Za-z0-9@-" }),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes[length] = (bits >> held) as u8;
            length += 1;
        }
    }
    match bits & ((1 << held) - 1) {
        0 => Ok(()),
        _ => Err(FormatError::Value("the last character says too much")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64URL_NOPAD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_base64url_with_two_other_characters(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut text = [0; 64];
            let length = encode(&bytes, &mut text);
            let theirs = BASE64URL_NOPAD.encode(&bytes).replace('-', "@").replace('_', "-");
            prop_assert_eq!(std::str::from_utf8(&text[..length]).unwrap(), theirs);
            let mut read = vec![0; bytes.len()];
            prop_assert_eq!(decode(&text[..length], &mut read), Ok(()));
            prop_assert_eq!(read, bytes);
        }
    }
}
