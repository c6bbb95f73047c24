//! Base64 with a given alphabet. Alphabets differ in their last two characters.
//!
//! Written by hand, because data-encoding supports Apache's older alphabet only with an allocation.

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
    }
}
