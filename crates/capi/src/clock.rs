//! Readings of the system's clock, for callers without their own.

/// Milliseconds since 1970-01-01 UTC by the system's clock.
#[unsafe(no_mangle)]
pub extern "C" fn txid_clock_ms() -> i64 {
    ::txid::system_ms()
}

/// Milliseconds since 1970-01-01 UTC by the system's clock, with its tick of a few milliseconds, and never later. It
/// costs a quarter of txid_clock_ms.
#[unsafe(no_mangle)]
pub extern "C" fn txid_clock_coarse_ms() -> i64 {
    ::txid::system::coarse_ms()
}
