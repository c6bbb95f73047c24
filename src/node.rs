//! The 48 bits that tell one maker of ids from another: a MAC address, or a random stand-in.

use crate::{FormatError, entropy, hex};

/// A bit that no network card's own address has.
const MULTICAST: u8 = 1;

/// A node that is nobody's MAC address.
pub(crate) fn random(stamp_ms: i64) -> [u8; 6] {
    let [mut node @ .., _, _, _, _, _, _, _, _, _, _] = entropy::next_u128(stamp_ms).to_be_bytes();
    node[0] |= MULTICAST;
    node
}

/// Reads `02:42:ac:11:00:02`, of either case.
pub(crate) fn read_ascii(text: &[u8]) -> Result<[u8; 6], FormatError> {
    let text: &[u8; 17] =
        text.try_into().map_err(|_| FormatError::Length { found: text.len(), expected: "a MAC address has 17" })?;
    let text = text.to_ascii_lowercase();
    let mut node = [0; 6];
    for (place, byte) in node.iter_mut().enumerate() {
        *byte = hex::decode::<2>(&text, place * 3)? as u8;
        if place < 5 {
            FormatError::unless_byte_is(&text, place * 3 + 2, b':', "a colon")?;
        }
    }
    Ok(node)
}
