//! The 128 bits of a UUID of version 7, which TypeIDs have as well: those of a thread grow.

use super::clock::{self, Stamp};
use super::growing::{Growing, Grown};
use crate::text::uuid_time;
use std::cell::Cell;

/// The bits after the time, without version and variant.
pub(crate) const RANDOM_BITS: u32 = 74;

pub(crate) const TIME_MASK: i64 = (1 << 48) - 1;

/// As the clock reads.
#[inline]
pub(crate) fn by(clock_ms: i64) -> u128 {
    next(clock::never_backwards(clock_ms) & TIME_MASK, Stamp::Clock)
}

/// Stamped with the low 48 bits of `ms`.
pub(crate) fn at(ms: i64) -> u128 {
    next(ms & TIME_MASK, Stamp::Given)
}

fn next(ms: i64, stamp: Stamp) -> u128 {
    thread_local! {
        static GROWING: Cell<Growing<RANDOM_BITS>> = const { Cell::new(Growing::NONE) };
    }
    let Grown { ms, random } = GROWING.with(|kept| Growing::next(kept, ms, stamp));
    of(ms, random)
}

pub(crate) fn of(ms: i64, random: u128) -> u128 {
    uuid_time::marked((ms as u128) << 80 | random >> 62 << 64 | random & ((1 << 62) - 1), 7)
}
