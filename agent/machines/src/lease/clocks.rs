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
