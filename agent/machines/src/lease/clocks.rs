//! This host's clocks, compared with each other and with the store's.

use super::protocol::Output;
use super::rules::Rules;
use crate::protocol::Now;
use crate::store::StoreTime;

/// The clocks, as the last step saw them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Clocks {
    /// The store's clock minus the monotonic one: at least, and at most.
    store_offset_ms: Option<(i64, i64)>,
    /// The wall clock minus the monotonic one.
    wall_offset_ms: Option<i64>,
    /// When the next step is planned, if nothing delays it. Nobody knows that of an answer.
    planned_ms: Option<u64>,
}

impl Clocks {
    /// By how much the clock was stepped, or this step is late, if that is too much. Then the machine may have been
    /// stopped, or copied.
    pub(super) fn jumped(&mut self, rules: &Rules, now: &Now) -> Option<i64> {
        let offset_ms = now.wall_ms.saturating_sub_unsigned(now.mono_ms);
        let stepped_ms = self.wall_offset_ms.map_or(0, |last_ms| offset_ms.saturating_sub(last_ms));
        let late_ms = self.planned_ms.map_or(0, |planned_ms| now.mono_ms.saturating_sub(planned_ms));
        self.wall_offset_ms = Some(offset_ms);
        let by_ms = if stepped_ms.unsigned_abs() > rules.jump_ms { stepped_ms } else { late_ms as i64 };
        (by_ms.unsigned_abs() > rules.jump_ms).then_some(by_ms)
    }

    /// Notes when the step after this output is planned.
    pub(super) fn plan(&mut self, now: &Now, output: &Output) {
        self.planned_ms = match output {
            Output::Wait { until_ms } => Some(*until_ms),
            // If the name server is down as well, the answer takes as long as the system's resolver.
            Output::Ask(_) => None,
            Output::Write(_) | Output::Log(_) | Output::Stopped | Output::Fail(_) => Some(now.mono_ms),
        };
    }

    /// Takes note of the store's clock.
    pub(super) fn store_shows(&mut self, now: &Now, time: StoreTime) {
        let StoreTime { earliest_ms, latest_ms } = time;
        let offset_ms = |ms: i64| ms.saturating_sub_unsigned(now.mono_ms);
        self.store_offset_ms = Some((offset_ms(earliest_ms), offset_ms(latest_ms)));
    }

    /// The time by the store's clock, if it showed one.
    pub(super) fn store_time(&self, now: &Now) -> Option<StoreTime> {
        let (earliest_ms, latest_ms) = self.store_offset_ms?;
        let ms = |offset_ms: i64| offset_ms.saturating_add_unsigned(now.mono_ms);
        Some(StoreTime { earliest_ms: ms(earliest_ms), latest_ms: ms(latest_ms) })
    }

    /// By how much this host's clock is ahead of the store's: the least that is possible, and the most; both 0 if that shows
    /// none.
    pub(super) fn ahead_of_store_ms(&self, now: &Now) -> (i64, i64) {
        let Some(StoreTime { earliest_ms, latest_ms }) = self.store_time(now) else { return (0, 0) };
        let [one, other] = [earliest_ms, latest_ms].map(|ms| now.wall_ms.saturating_sub(ms));
        let (least, most) = if one.unsigned_abs() < other.unsigned_abs() { (one, other) } else { (other, one) };
        let is_within = (earliest_ms..=latest_ms).contains(&now.wall_ms);
        (if is_within { 0 } else { least }, most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Request, Write};
    use super::*;

    fn now(wall_ms: i64, mono_ms: u64) -> Now {
        Now { wall_ms, mono_ms, random: 0 }
    }

    #[test]
    fn a_step_of_the_clock_or_a_late_look_is_a_jump() {
        let rules = Rules::new("orders", "here", &"snowflake".parse().unwrap(), false);
        let wait = Output::Wait { until_ms: 100 };
        let read = Output::Ask(Request::Read("orders/meta".to_owned()));
        let write = Output::Write(Write::Close);
        // By which output the look was planned, when it came by both clocks, and what is said of it.
        for (output, wall_ms, mono_ms, wanted) in [
            (&wait, 100, 100, None),
            (&wait, 10_100, 100, None),
            (&wait, 10_101, 100, Some(10_001)),
            (&wait, -9_900, 100, None),
            (&wait, -9_901, 100, Some(-10_001)),
            (&wait, 10_100, 10_100, None),
            (&wait, 10_101, 10_101, Some(10_001)),
            (&read, 60_000, 60_000, None),
            (&read, 70_001, 60_000, Some(10_001)),
            (&write, 10_000, 10_000, None),
            (&write, 10_001, 10_001, Some(10_001)),
            (&wait, 40_000, 20_000, Some(20_000)),
        ] {
            let mut clocks = Clocks::default();
            assert_eq!(clocks.jumped(&rules, &now(0, 0)), None);
            clocks.plan(&now(0, 0), output);
            assert_eq!(clocks.jumped(&rules, &now(wall_ms, mono_ms)), wanted, "{output:?} {wall_ms} {mono_ms}");
        }
    }

    #[test]
    fn the_clock_is_compared_with_the_least_and_the_most_that_the_stores_can_be() {
        let mut clocks = Clocks::default();
        assert_eq!((clocks.store_time(&now(5_000, 7)), clocks.ahead_of_store_ms(&now(5_000, 7))), (None, (0, 0)));
        clocks.store_shows(&now(0, 1_000), StoreTime { earliest_ms: 5_000, latest_ms: 6_000 });
        assert_eq!(clocks.store_time(&now(0, 1_500)), Some(StoreTime { earliest_ms: 5_500, latest_ms: 6_500 }));
        for (wall_ms, wanted) in
            [(4_999, (-1, -1_001)), (5_000, (0, -1_000)), (5_400, (0, -600)), (6_000, (0, 1_000)), (6_001, (1, 1_001))]
        {
            assert_eq!(clocks.ahead_of_store_ms(&now(wall_ms, 1_000)), wanted, "{wall_ms}");
        }
    }
}
