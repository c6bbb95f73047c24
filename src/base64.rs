//! Base64 with two last characters of one's choice.
//!
//! By hand, because data-encoding has Apache's older alphabet only with an allocation.

use crate::FormatError;

const FIRST_62: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What stands for 62 and 63.
pub(crate) type Last = [u8; 2];

/// Writes `bytes`, six bits a character, the last one filled up with zeros, and returns how many characters that makes.
pub(crate) fn encode(bytes: &[u8], last: Last, text: &mut [u8]) -> usize {
    let mut length = 0;
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0_u32, |bits, (place, &byte)| bits | u32::from(byte) << (16 - 8 * place));
        for place in 0..group.len() + 1 {
            let value = (bits >> (18 - 6 * place)) as usize & 63;
            text[length] = if value < 62 { FIRST_62[value] } else { last[value - 62] };
            length += 1;
        }
    }
    length
}

/// Reads `text` into as many whole `bytes` as it has. What is left over has to be zeros.
pub(crate) fn decode(text: &[u8], last: Last, bytes: &mut [u8]) -> Result<(), FormatError> {
    let (mut bits, mut held, mut length) = (0_u32, 0, 0);
    for (index, &byte) in text.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ if byte == last[0] => 62,
            _ if byte == last[1] => 63,
            _ => return Err(FormatError::Character { position: index + 1, byte, expected: "of Apache's base64" }),
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
        fn it_is_that_of_data_encoding(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut text = [0; 64];
            let length = encode(&bytes, *b"-_", &mut text);
            let theirs = BASE64URL_NOPAD.encode(&bytes);
            prop_assert_eq!(std::str::from_utf8(&text[..length]).unwrap(), theirs);
            let mut read = vec![0; bytes.len()];
            prop_assert_eq!(decode(&text[..length], *b"-_", &mut read), Ok(()));
            prop_assert_eq!(read, bytes);
        }
    }
}
