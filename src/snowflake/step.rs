//! Which position comes next: a pure rule, without clock or memory.

use super::layout::Layout;
use super::refusal::Refusal;

/// The position to use when all positions below `free` are used and the clock reads `clock_ms`: the clock's own if it
/// is free, otherwise the first free one, if that is at most `drift` units of time ahead.
///
/// A full sequence borrows from the next unit of time; `start` gives the number at which a unit starts its sequence.
#[inline(always)]
pub(super) fn next_position(
    layout: &Layout,
    drift: u64,
    free: u64,
    clock_ms: i64,
    start: impl FnOnce() -> u64,
) -> Result<u64, Refusal> {
    let sequence_bits = layout.sequence_bits;
    let epoch_ms = layout.epoch_ms;
    if clock_ms < epoch_ms {
        return Err(Refusal::BeforeEpoch { epoch_ms, clock_ms });
    }
    let since_ms = (clock_ms as u64).wrapping_sub(epoch_ms as u64);
    // A division costs as much as everything else here.
    let now = if layout.unit_ms == 1 { since_ms } else { since_ms / layout.unit_ms };
    if now > layout.last_time() {
        return Err(Refusal::Ended { end_ms: *layout.range_ms().end(), clock_ms });
    }

    let mut position = free.max(now << sequence_bits);
    let time = position >> sequence_bits;
    if time > now.saturating_add(drift) {
        let last_ms = layout.ms_of((free - 1) >> sequence_bits);
        // Only a clock that was stepped back is behind by more than the drift.
        let full = free == (now + drift + 1) << sequence_bits;
        return Err(if full {
            Refusal::Exhausted { last_ms, clock_ms }
        } else {
            Refusal::ClockBehind { last_ms, clock_ms }
        });
    }
    if time > layout.last_time() {
        return Err(Refusal::Ended { end_ms: *layout.range_ms().end(), clock_ms });
    }
    if position == time << sequence_bits {
        position += start();
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snowflake::Order;
    use proptest::prelude::*;

    const EPOCH_MS: i64 = 1_000_000;

    fn layout(bits: [u32; 3], unit_ms: u64) -> Layout {
        Layout::new(bits, unit_ms, EPOCH_MS, Order::NodeThenSequence).unwrap()
    }

    fn next(layout: &Layout, drift: u64, free: u64, clock_ms: i64) -> Result<u64, Refusal> {
        next_position(layout, drift, free, clock_ms, || 0)
    }

    #[test]
    fn the_clock_is_followed() {
        let layout = layout([10, 0, 2], 1);
        assert_eq!(next(&layout, 5, 0, EPOCH_MS), Ok(0));
        assert_eq!(next(&layout, 5, 0, EPOCH_MS + 7), Ok(7 << 2));
        assert_eq!(next(&layout, 5, (7 << 2) + 3, EPOCH_MS + 7), Ok((7 << 2) + 3));
        assert_eq!(next(&layout, 5, 1, EPOCH_MS + 7), Ok(7 << 2));
    }

    #[test]
    fn a_unit_may_be_longer_than_a_millisecond() {
        let layout = layout([10, 0, 2], 10);
        assert_eq!(next(&layout, 5, 0, EPOCH_MS + 79), Ok(7 << 2));
        assert_eq!(next(&layout, 5, 0, EPOCH_MS + 80), Ok(8 << 2));
    }

    #[test]
    fn a_full_sequence_borrows_as_much_as_it_may() {
        let layout = layout([10, 0, 2], 1);
        let now = EPOCH_MS + 7;
        assert_eq!(next(&layout, 5, 8 << 2, now), Ok(8 << 2));
        assert_eq!(next(&layout, 5, (12 << 2) + 3, now), Ok((12 << 2) + 3));
        let exhausted = Refusal::Exhausted { last_ms: EPOCH_MS + 12, clock_ms: now };
        assert_eq!(next(&layout, 5, 13 << 2, now), Err(exhausted));
        assert_eq!(next(&layout, 5, 13 << 2, now + 1), Ok(13 << 2));
        assert_eq!(next(&layout, 0, 8 << 2, now), Err(Refusal::Exhausted { last_ms: now, clock_ms: now }));
    }

    #[test]
    fn while_the_clock_is_behind_the_last_time_is_used() {
        let layout = layout([10, 0, 2], 1);
        let free = (20 << 2) + 1;
        assert_eq!(next(&layout, 5, free, EPOCH_MS + 15), Ok(free));
        let behind = Refusal::ClockBehind { last_ms: EPOCH_MS + 20, clock_ms: EPOCH_MS + 14 };
        assert_eq!(next(&layout, 5, free, EPOCH_MS + 14), Err(behind));
    }

    #[test]
    fn before_the_epoch_and_after_the_end_there_is_nothing() {
        let layout = layout([10, 0, 2], 10);
        let end_ms = EPOCH_MS + 10_239;
        let before = EPOCH_MS - 1;
        assert_eq!(next(&layout, 5, 0, before), Err(Refusal::BeforeEpoch { epoch_ms: EPOCH_MS, clock_ms: before }));
        assert_eq!(next(&layout, 5, 0, end_ms), Ok(1023 << 2));
        assert_eq!(next(&layout, 5, 1024 << 2, end_ms), Err(Refusal::Ended { end_ms, clock_ms: end_ms }));
        assert_eq!(next(&layout, 5, 0, end_ms + 1), Err(Refusal::Ended { end_ms, clock_ms: end_ms + 1 }));
    }

    #[test]
    fn each_unit_starts_where_it_is_told_to() {
        let layout = layout([10, 0, 2], 1);
        let next = |free, ms| next_position(&layout, 5, free, EPOCH_MS + ms, || 3);
        assert_eq!(next(0, 7), Ok((7 << 2) + 3));
        assert_eq!(next(8 << 2, 7), Ok((8 << 2) + 3), "a borrowed one, too");
        assert_eq!(next((7 << 2) + 1, 7), Ok((7 << 2) + 1));
    }

    proptest! {
        #[test]
        fn any_state_and_any_clock_get_an_answer(
            time_bits in 1_u32..=63,
            sequence_bits in 0_u32..=62,
            unit_ms in 1_u64..=100_000,
            drift: u64,
            free: u64,
            clock_ms: i64,
        ) {
            let sequence_bits = sequence_bits.min(63 - time_bits);
            let layout = layout([time_bits, 0, sequence_bits], unit_ms);
            let free = free % ((1 << (time_bits + sequence_bits)) + 1);
            if let Ok(position) = next(&layout, drift, free, clock_ms) {
                prop_assert!(position >= free);
                prop_assert!(position >> (time_bits + sequence_bits) == 0);
                let ahead_ms = layout.ms_of(position >> sequence_bits).saturating_sub(clock_ms);
                prop_assert!(i128::from(ahead_ms) <= i128::from(drift) * i128::from(unit_ms));
            }
        }
    }
}
