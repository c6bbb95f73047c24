//! Base64 with a given alphabet. Alphabets differ in their last two characters.
//!
//! Written by hand, because data-encoding supports Apache's older alphabet only with an allocation.

use super::FormatError;

/// The character of each value.
pub(crate) type Alphabet = [u8; 64];

/// The alphabet that needs no escaping in a URL.
pub(crate) const OF_URLS: &Alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text of the low six bytes of `bits`. It stays in a register: writing memory in one size and reading it in
/// another stalls the processor for longer than all the rest takes.
#[inline(always)]
pub(crate) fn encode_six(bits: u64, alphabet: &Alphabet) -> [u8; 8] {
    let mut text = 0;
    for shift in [0, 6, 12, 18, 24, 30, 36, 42] {
        text = text << 8 | u64::from(alphabet[(bits >> shift) as usize & 63]);
    }
    text.to_le_bytes()
}

/// Reads `text` into `bytes`. Bits after the last whole byte must be zero.
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
        _ => Err(FormatError::Value("the last character has bits that must be zero")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64URL_NOPAD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_that_of_data_encoding(bytes: [u8; 6]) {
            let [b0, b1, b2, b3, b4, b5] = bytes;
            let text = encode_six(u64::from_be_bytes([0, 0, b0, b1, b2, b3, b4, b5]), OF_URLS);
            let theirs = BASE64URL_NOPAD.encode(&bytes);
            prop_assert_eq!(std::str::from_utf8(&text).unwrap(), theirs);
        }

        #[test]
        fn it_is_read_as_data_encoding_writes_it(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut read = vec![0; bytes.len()];
            prop_assert_eq!(decode(BASE64URL_NOPAD.encode(&bytes).as_bytes(), OF_URLS, &mut read), Ok(()));
            prop_assert_eq!(read, bytes);
        }
    }
}
