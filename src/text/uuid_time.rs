//! The version of a UUID, and its time, in its 128 bits.

/// Milliseconds from 1582-10-15, where version 1 begins to count, to 1970.
pub(crate) const GREGORIAN_MS: i64 = 12_219_292_800_000;
pub(crate) const TICKS_A_MS: u64 = 10_000;

/// These bits with a version, and the variant of RFC 9562. Not by the `uuid` crate's builder, which writes single bytes: to read
/// all of them at once, as its encoder does, then stalls the processor.
pub(crate) fn marked(bits: u128, version: u128) -> u128 {
    const VERSION_AT: u32 = 76;
    const VARIANT_AT: u32 = 62;
    let bits = bits & !(0xf << VERSION_AT | 0b11 << VARIANT_AT);
    bits | version << VERSION_AT | 0b10 << VARIANT_AT
}
