//! Gives a node back.

use super::event::Event;
use super::group::Group;
use super::machine::{Inputs, Lease, put};
use super::phase::{Held, Phase, Stored};
use super::protocol::{Reply, Request, Write};
use super::record::NodeRecord;
use crate::store::{Expected, Put};

/// After this many failures the node is left to others, who find it idle.
const MOST_FAILURES: u32 = 3;

impl Lease {
    /// The request for it. The page is closed.
    pub(super) fn release(&mut self, given: &Inputs, held: &Held) -> Request {
        let Inputs { rules, page, .. } = given;
        let expected = match &held.stored {
            Stored::Unknown => return Request::Read(Group::node_key(&rules.group, held.node)),
            Stored::Confirmed(version) => Expected::Version(version.clone()),
            Stored::Lost(expected) => expected.clone(),
        };
        // From now on others may start at times that this lease still covers.
        self.write(Write::Generation { generation: 0, token: 0 });
        put(rules, held.node, expected, &held.record(rules, page.free_ms, false))
    }

    /// The node was given back, or not; or its record was read.
    pub(super) fn released(&mut self, given: &Inputs, mut held: Held, failures: u32, reply: Reply) -> Phase {
        let record = match (&held.stored, reply) {
            (Stored::Unknown, Reply::Read(record)) => record,
            (Stored::Confirmed(_) | Stored::Lost(_), Reply::Put(Ok(Put::Written(_)))) => {
                self.log(Event::Released(held.node));
                return Phase::Telling { found: None };
            }
            _ => {
                held.stored = Stored::Unknown;
                return self.release_again(given, held, failures);
            }
        };
        match record {
            Ok(Some(record)) if NodeRecord::parse(&record.bytes).is_ok_and(|found| held.is(&found)) => {
                held.stored = Stored::Confirmed(record.version);
                Phase::Releasing { held, failures }
            }
            // It was released after all, or another host has it.
            Ok(_) => Phase::Ended,
            Err(_) => self.release_again(given, held, failures),
        }
    }

    fn release_again(&mut self, given: &Inputs, held: Held, failures: u32) -> Phase {
        let failures = failures + 1;
        if failures == MOST_FAILURES {
            let latest_ms = held.pending_ms.unwrap_or(held.limit_ms);
            let free_ms = latest_ms.saturating_add_unsigned(given.rules.idle_ms);
            self.log(Event::NotReleased { node: held.node, free_ms });
            return Phase::Ended;
        }
        self.wait(given, given.rules.retry_ms.0);
        Phase::Releasing { held, failures }
    }
}
