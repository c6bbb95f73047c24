//! Renews a lease, and finds out whether it is still this host's.

use super::event::Event;
use super::group::Group;
use super::machine::{Inputs, Lease, put};
use super::phase::{Held, Phase, Stored};
use super::protocol::{Found, Write, Written};
use super::record::NodeRecord;
use crate::store::{Expected, Put, Version};

/// How much of a record is shown that is not this host's.
const MOST_SHOWN: usize = 200;

impl Lease {
    /// It is time to renew the lease.
    pub(super) fn renew(&mut self, given: &Inputs, mut held: Held) -> Phase {
        let Inputs { rules, now, .. } = given;
        let is_right = self.clock_is_right(given);
        let limit_ms = match held.pending_ms {
            // A write that may still arrive is repeated with the same value, so that it cannot be mistaken for another
            // agent's.
            Some(pending_ms) => pending_ms,
            None if is_right => now.wall_ms.saturating_add_unsigned(rules.ahead_ms).max(held.limit_ms),
            None => held.limit_ms,
        };
        let expected = match &held.stored {
            Stored::Unknown => return Phase::Judging(held),
            Stored::Lost(_) if !self.is_ours_alone(given, &held) => return self.forgotten(given, held),
            Stored::Lost(expected) => expected.clone(),
            Stored::Confirmed(_) if limit_ms == held.limit_ms && is_right => {
                self.wait_for_renewal(given, limit_ms);
                return Phase::Holding(held);
            }
            // The store's clock may be wrong, so ask for it again.
            Stored::Confirmed(_) if limit_ms == held.limit_ms => return Phase::Judging(held),
            Stored::Confirmed(version) => Expected::Version(version.clone()),
        };
        held.pending_ms = Some(limit_ms);
        self.write(Write::Note { limit_ms });
        self.ask(put(rules, held.node, expected, &held.record(rules, limit_ms, true)));
        Phase::Holding(held)
    }

    /// The later limit was written, or not.
    pub(super) fn renewed(&mut self, given: &Inputs, held: Held, put: Written) -> Phase {
        match put {
            Ok(Put::Written(version)) => self.has_pending(given, held, version),
            Ok(Put::Conflict) => {
                let key = Group::node_key(&given.rules.group, held.node);
                self.beaten(given, key, Phase::Judging(held))
            }
            Ok(Put::Unknown(error)) => self.fail(given, error, Phase::Judging(held)),
            Err(error) => self.fail(given, error, Phase::Holding(held)),
        }
    }

    /// The store has the limit that was to be written.
    fn has_pending(&mut self, given: &Inputs, mut held: Held, version: Version) -> Phase {
        if matches!(held.stored, Stored::Lost(_)) && !self.is_ours_alone(given, &held) {
            return self.forgotten(given, held);
        }
        held.stored = Stored::Confirmed(version);
        held.limit_ms = held.pending_ms.take().unwrap_or(held.limit_ms);
        self.reopen(given, &held);
        self.store_is_back();
        self.wait_for_renewal(given, held.limit_ms);
        Phase::Holding(held)
    }

    /// Whether no other host can have taken the node, even if the store has lost that. To take it, a host must be able
    /// to start at its limit, and its clock may be off the store's.
    fn is_ours_alone(&self, given: &Inputs, held: &Held) -> bool {
        let Inputs { rules, now, .. } = given;
        let latest_ms = match self.clocks.store_time(now) {
            Some(time) => time.latest_ms.saturating_add_unsigned(rules.others_skew_ms),
            None => now.wall_ms.saturating_add_unsigned(rules.max_skew_ms + rules.others_skew_ms),
        };
        held.limit_ms > latest_ms.saturating_add_unsigned(rules.max_drift_ms)
    }

    /// The record of this host's node was read: decides how to continue.
    pub(super) fn judged(&mut self, given: &Inputs, mut held: Held, record: Found) -> Phase {
        let record = match record {
            Ok(record) => record,
            Err(error) => return self.fail(given, error, Phase::Judging(held)),
        };
        let Some(record) = record else { return self.is_lost(given, held, Expected::Absent) };
        let limit_ms = match NodeRecord::parse(&record.bytes) {
            Ok(found) if held.is(&found) => found.limit_ms,
            other => {
                self.has_namesake |= other.is_ok_and(|found| found.owner == given.rules.owner);
                let now = record.bytes.escape_ascii().take(MOST_SHOWN).map(char::from).collect();
                let event = Event::Lost { node: held.node, now };
                return self.give_up(given, &held, event);
            }
        };
        if Some(limit_ms) == held.pending_ms {
            return self.has_pending(given, held, record.version);
        }
        if limit_ms > held.limit_ms {
            let event = Event::Cloned(held.node);
            return self.give_up(given, &held, event);
        }
        if limit_ms < held.limit_ms {
            return self.is_lost(given, held, Expected::Version(record.version));
        }
        held.stored = Stored::Confirmed(record.version);
        self.reopen(given, &held);
        Phase::Holding(held)
    }

    /// The store has lost the limit that it confirmed.
    fn is_lost(&mut self, given: &Inputs, mut held: Held, instead: Expected) -> Phase {
        let was_lost = matches!(held.stored, Stored::Lost(_));
        held.stored = Stored::Lost(instead);
        if !was_lost && self.is_ours_alone(given, &held) {
            self.log(Event::Forgotten { node: held.node, is_ours: true });
        }
        Phase::Holding(held)
    }

    /// Reopens the page, because the store has confirmed that the lease is this host's.
    fn reopen(&mut self, given: &Inputs, held: &Held) {
        let Held { node, limit_ms, .. } = *held;
        let was_closed = given.page.is_closed;
        if was_closed {
            self.write(Write::Open { node, start_ms: given.page.free_ms.max(self.floor_ms()) });
        }
        self.write(Write::Limit { node, limit_ms });
        if self.serves() || was_closed {
            self.log(Event::Resumed(node));
        }
    }

    /// Another host may have taken the node, and the store has lost that.
    fn forgotten(&mut self, given: &Inputs, held: Held) -> Phase {
        self.give_up(given, &held, Event::Forgotten { node: held.node, is_ours: false })
    }

    /// The node belongs to another host.
    fn give_up(&mut self, given: &Inputs, held: &Held, event: Event) -> Phase {
        self.avoided.insert(held.node, given.now.mono_ms.saturating_add(given.rules.idle_ms));
        self.close(given);
        self.log(event);
        Phase::Meeting { found: None }
    }
}
