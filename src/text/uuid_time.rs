//! The version of a UUID, and its time, in its 128 bits.

/// Milliseconds from 1582-10-15, where version 1 begins to count, to 1970.
pub(crate) const GREGORIAN_MS: i64 = 12_219_292_800_000;
pub(crate) const TICKS_A_MS: u64 = 10_000;

/// These bits with a version, and the variant of RFC 9562. Not by the `uuid` crate's builder, which writes single bytes: to read
/// all of them at once, as its encoder does, then stalls the processor.
#[inline(always)]
pub(crate) fn marked(bits: u128, version: u128) -> u128 {
    const VERSION_AT: u32 = 76;
    const VARIANT_AT: u32 = 62;
    let bits = bits & !(0xf << VERSION_AT | 0b11 << VARIANT_AT);
    bits | version << VERSION_AT | 0b10 << VARIANT_AT
}

/// The version, if the UUID has the variant of RFC 9562.
pub(crate) fn version(bits: u128) -> Option<u8> {
    (bits >> 62 & 3 == 2).then_some((bits >> 76) as u8 & 0xf)
}

/// Milliseconds since 1970, of versions 1, 6 and 7.
pub(crate) fn ms(bits: u128) -> Option<i64> {
    let of_ticks = |ticks: i64| ticks / TICKS_A_MS as i64 - GREGORIAN_MS;
    let high = (bits >> 64) as i64;
    let (low, last) = (high & 0xfff, high >> 16 & 0xffff);
    match version(bits)? {
        1 => Some(of_ticks(low << 48 | last << 32 | high >> 32 & 0xffff_ffff)),
        6 => Some(of_ticks((high >> 16 & 0xffff_ffff_ffff) << 12 | low)),
        7 => Some(high >> 16 & 0xffff_ffff_ffff),
        _ => None,
    }
}
