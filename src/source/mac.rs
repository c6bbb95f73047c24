//! MAC addresses as nodes, and random nodes in their place.

use super::entropy;
use crate::text::FormatError;

/// A bit that is never set in a network card's address.
const MULTICAST: u8 = 1;

/// A random node that is no network card's address.
pub(crate) fn random(stamp_ms: i64) -> [u8; 6] {
    let [mut node @ .., _, _, _, _, _, _, _, _, _, _] = entropy::next_u128_rarely(stamp_ms).to_be_bytes();
    node[0] |= MULTICAST;
    node
}

/// Reads a MAC address such as `02:42:ac:11:00:02`, in upper or lower case: the node of a flake or of a UUID of version
/// 1.
///
/// ```
/// assert_eq!(txid::system::read_mac(b"02:42:AC:11:00:02")?, [0x02, 0x42, 0xac, 0x11, 0x00, 0x02]);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_mac(text: &[u8]) -> Result<[u8; 6], FormatError> {
    let text: &[u8; 17] = text.try_into().map_err(|_| FormatError::length(text.len(), "a MAC address has 17"))?;
    let mut node = [0; 6];
    for (index, &byte) in text.iter().enumerate() {
        let wrong = |expected| FormatError::character(index + 1, byte, expected);
        match char::from(byte).to_digit(16) {
            _ if index % 3 == 2 && byte == b':' => {}
            _ if index % 3 == 2 => return Err(wrong("a colon")),
            Some(digit) => node[index / 3] = node[index / 3] << 4 | digit as u8,
            None => return Err(wrong("hexadecimal")),
        }
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_read_in_either_case() {
        let bytes = [0x02, 0x4f, 0xac, 0x11, 0x00, 0xe2];
        assert_eq!(
            ["02:4f:ac:11:00:e2", "02:4F:AC:11:00:E2"].map(|text| read_mac(text.as_bytes())),
            [Ok(bytes), Ok(bytes)]
        );
    }

    #[test]
    fn each_colon_is_looked_at() {
        for place in [2, 5, 8, 11, 14] {
            let mut text = *b"02:42:ac:11:00:02";
            text[place] = b'-';
            assert!(read_mac(&text).is_err(), "{place}");
        }
    }
}
