//! The parameters of the algorithm.

use crate::pace;
use crate::store::Numbering;

/// The settings that stay the same for a lease while its agent runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The group in the store, and the name of the file: `orders`.
    pub group: String,
    /// The name of this host.
    pub owner: String,
    /// The layout of the ids, as [`txid::snowflake::Layout`] writes it.
    pub layout: String,
    /// The layout's last node.
    pub last_node: u64,
    /// Who numbers the nodes. If it is not the agents, they take only numbers that were given out.
    pub numbering: Numbering,
    /// The store was never used before: nobody can have a lease that it does not have.
    pub new: bool,
    /// The store can lose writes that it has confirmed.
    pub may_lose_writes: bool,
    /// How far ahead of the clock a limit is written: how long ids continue when the store is down.
    pub ahead_ms: u64,
    /// How long after a renewal the next one is due, varied by a fifth.
    pub renew_ms: u64,
    /// The first and the longest backoff before a retry.
    pub retry_ms: (u64, u64),
    /// How many requests may be sent in any ten seconds, whatever the store answers.
    pub most_requests: usize,
    /// How long ago the limit of a held node must have passed before another host takes the node.
    pub idle_ms: u64,
    /// How long such a node must be seen unchanged if the store shows no clock or may lose writes.
    pub observe_ms: u64,
    /// How far after the old limit a lease starts, because the store may have lost newer limits.
    pub margin_ms: u64,
    /// How far ahead of the clock ids may run, and so the latest limit that a lease can start at.
    pub max_drift_ms: u64,
    /// How far the clock may be off the store's.
    pub max_skew_ms: u64,
    /// How far the clock of any other host of the group may be off. Hosts may have other settings, and an emptied store does not show them.
    pub others_skew_ms: u64,
    /// By how much the clocks of this host may drift apart between two checks, and how late a check may be.
    pub jump_ms: u64,
}

impl Rules {
    /// No host may let its clock be further off the store's than this.
    pub const MOST_SKEW_MS: u64 = 10_000;
    /// How far ahead of the clock ids may run.
    pub const MAX_DRIFT_MS: u64 = 10_000;

    /// The rules for a node of a group, with the defaults.
    pub fn new(group: &str, owner: &str, layout: &txid::snowflake::Layout, may_lose_writes: bool) -> Self {
        Self {
            group: group.to_string(),
            owner: owner.to_string(),
            layout: layout.to_string(),
            last_node: layout.last_node(),
            numbering: Numbering::Own,
            new: false,
            may_lose_writes,
            ahead_ms: 60_000,
            renew_ms: 10_000,
            retry_ms: (1_000, 10_000),
            most_requests: pace::MOST,
            idle_ms: 600_000,
            observe_ms: 30_000,
            margin_ms: Self::margin_ms(may_lose_writes),
            max_drift_ms: Self::MAX_DRIFT_MS,
            max_skew_ms: Self::MOST_SKEW_MS,
            others_skew_ms: Self::MOST_SKEW_MS,
            jump_ms: 10_000,
        }
    }
    /// Notes whether the store can lose writes that it has confirmed. Only once it has answered, this is known.
    pub fn learn(&mut self, may_lose_writes: bool) {
        self.may_lose_writes = may_lose_writes;
        self.margin_ms = Self::margin_ms(may_lose_writes);
    }

    /// No lease that any host of the group can have now has a later limit than this. It may start ahead of its host's
    /// clock, and both clocks may be off the store's.
    pub fn floor_ms(&self, wall_ms: i64) -> i64 {
        let start_ms = self.max_skew_ms.saturating_add(self.others_skew_ms).saturating_add(self.max_drift_ms);
        wall_ms.saturating_add_unsigned(start_ms.saturating_add(self.ahead_ms))
    }

    fn margin_ms(may_lose_writes: bool) -> u64 {
        if may_lose_writes { 60_000 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_says() {
        let layout = "snowflake".parse().unwrap();
        let it = Rules::new("orders", "web-1", &layout, false);
        assert_eq!((&*it.group, &*it.owner, it.layout.clone()), ("orders", "web-1", layout.to_string()));
        assert_eq!((it.last_node, it.numbering, it.new), (1023, Numbering::Own, false));
        assert_eq!((it.ahead_ms, it.renew_ms, it.retry_ms, it.most_requests), (60_000, 10_000, (1_000, 10_000), 10));
        assert_eq!((it.idle_ms, it.observe_ms, it.jump_ms), (600_000, 30_000, 10_000));
        assert_eq!((it.max_drift_ms, it.max_skew_ms, it.others_skew_ms), (10_000, 10_000, 10_000));
        let rules = Rules { max_skew_ms: 1, others_skew_ms: 20, max_drift_ms: 300, ahead_ms: 4_000, ..it };
        assert_eq!((rules.floor_ms(5), rules.floor_ms(i64::MAX)), (4_326, i64::MAX));
    }

    #[test]
    fn a_lease_starts_a_minute_later_where_the_store_may_lose_writes() {
        let layout = "snowflake".parse().unwrap();
        let rules = |may_lose_writes| Rules::new("orders", "web-1", &layout, may_lose_writes);
        assert_eq!((rules(false).margin_ms, rules(true).margin_ms), (0, 60_000));
        let mut learned = rules(false);
        learned.learn(true);
        assert_eq!(learned, rules(true));
    }
}
