//! The 48 bits that tell one maker of ids from another: a MAC address, or a random stand-in.

use crate::entropy;

/// A bit that no network card's own address has.
const MULTICAST: u8 = 1;

/// A node that is nobody's MAC address.
pub(crate) fn random(stamp_ms: i64) -> [u8; 6] {
    let [first, rest @ .., _, _] = entropy::next_u64(stamp_ms).to_be_bytes();
    let [a, b, c, d, e] = rest;
    [first | MULTICAST, a, b, c, d, e]
}
