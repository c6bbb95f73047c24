//! Base64 with an alphabet of one's choice, which differs from the usual ones in the last two characters.
//!
//! By hand, because data-encoding has Apache's older alphabet only with an allocation.

use crate::FormatError;

/// What stands for each value.
pub(crate) type Alphabet = [u8; 64];

/// Writes `bytes`, six bits a character, the last one filled up with zeros, and returns how many characters that makes.
#[inline(always)]
pub(crate) fn encode(bytes: &[u8], alphabet: &Alphabet, text: &mut [u8]) -> usize {
    let (groups, rest) = bytes.as_chunks::<3>();
    for (group, place) in groups.iter().zip(text.as_chunks_mut().0) {
        *place = four(*group, alphabet);
    }
    let mut last = [0; 3];
    last[..rest.len()].copy_from_slice(rest);
    let characters = four(last, alphabet);
    let length = (bytes.len() * 8).div_ceil(6);
    let end = &mut text[groups.len() * 4..length];
    end.copy_from_slice(&characters[..end.len()]);
    length
}

#[inline(always)]
fn four([a, b, c]: [u8; 3], alphabet: &Alphabet) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    [18, 12, 6, 0].map(|shift| alphabet[(bits >> shift) as usize & 63])
}

/// Reads `text` into as many whole `bytes` as it has. What is left over has to be zeros.
pub(crate) fn decode(text: &[u8], alphabet: &Alphabet, bytes: &mut [u8]) -> Result<(), FormatError> {
    let (mut bits, mut held, mut length) = (0_u32, 0, 0);
    for (index, &byte) in text.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ if byte == alphabet[62] => 62,
            _ if byte == alphabet[63] => 63,
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

    const OF_URLS: &Alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    proptest! {
        #[test]
        fn it_is_that_of_data_encoding(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut text = [0; 64];
            let length = encode(&bytes, OF_URLS, &mut text);
            let theirs = BASE64URL_NOPAD.encode(&bytes);
            prop_assert_eq!(std::str::from_utf8(&text[..length]).unwrap(), theirs);
            let mut read = vec![0; bytes.len()];
            prop_assert_eq!(decode(&text[..length], OF_URLS, &mut read), Ok(()));
            prop_assert_eq!(read, bytes);
        }
    }
}
