//! When a child that stamps ids by itself is started and ended.
//!
//! Nothing refuses an id of such a child. So all its processes must be gone before the limit of its leases.
//!
//! | phase | what is there | leads to |
//! |---|---|---|
//! | Waiting | no process | Running, once all its leases are live; Ended, if it is to end |
//! | Running | the child | Ending, if a lease is lost or its limit is near, or the child has ended; Killed, if it is later than that |
//! | Ending | processes that were sent SIGTERM | Killed, if one is still there after two margins |
//! | Killed | processes that were sent SIGKILL | |
//! | Ended | no process, and none will be | |
//!
//! When the last process of Ending or Killed is gone, Waiting follows if it was for a lease, and Ended otherwise.

mod event;
mod rules;

pub use event::Event;
pub use rules::Rules;

/// How long nobody need look, if nothing happens.
pub const LOOK_MS: u64 = 100;
/// How soon to look again for processes that were killed.
const SOON_MS: u64 = 10;

/// One child, for the lifetime of its agent.
#[derive(Clone, Debug)]
pub struct Child {
    phase: Phase,
    /// By how much the host's clock was ahead of the monotonic one at most, since the child was started. Some programs
    /// read the one only once, and then go by the other.
    most_ahead_ms: i64,
    /// The latest time that a child may have stamped.
    used_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running { leases: Vec<ChildLease> },
    Ending { leases: Vec<ChildLease>, until_ms: u64, again: bool },
    Killed { again: bool },
    Ended,
}

/// A lease that the child was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChildLease {
    node: u64,
    limit_ms: i64,
}

/// The input of a step.
#[derive(Clone, Debug)]
pub struct Look {
    /// Milliseconds since 1970-01-01 UTC by this host's clock, which the child stamps with.
    pub wall_ms: i64,
    /// Milliseconds of a clock that never goes backwards.
    pub mono_ms: u64,
    /// The leases that the child needs, always in the same order.
    pub leases: Vec<Lease>,
    /// Whether any process of the child is there.
    pub is_there: bool,
    /// Whether the process that was started has ended.
    pub has_ended: bool,
    /// The agent's order.
    pub order: Order,
}

/// A lease, as its page shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The node.
    pub node: u64,
    /// The limit; None while there are no ids.
    pub limit_ms: Option<i64>,
    /// The first time at which no id was made.
    pub free_ms: i64,
    /// Whether the agent has said that the node is not this host's any more.
    pub is_lost: bool,
}

/// An order of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The child is to run.
    Run,
    /// A child that ends is not started again.
    End,
    /// The agent is gone.
    Orphaned,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look again after this many milliseconds, or earlier.
    Wait(u64),
    /// Start the child with the nodes of this look.
    Start,
    /// Ask all processes to end.
    Warn(Event),
    /// End all processes.
    Kill(Event),
    /// Write this to the log.
    Log(Event),
    /// All processes are gone. Nothing is left to do.
    End,
}

impl Default for Child {
    fn default() -> Self {
        Self { phase: Phase::Waiting, most_ahead_ms: i64::MIN, used_ms: i64::MIN }
    }
}

impl Child {
    /// Decides what to do. After any action but a wait, it is to be called again at once.
    pub fn step(&mut self, rules: &Rules, look: &Look) -> Action {
        let ahead_ms = look.wall_ms.saturating_sub_unsigned(look.mono_ms);
        if look.is_there {
            self.most_ahead_ms = self.most_ahead_ms.max(ahead_ms);
            self.has_used(rules, look);
        }
        let went_back_ms = self.most_ahead_ms.saturating_sub(ahead_ms);
        match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Waiting => self.wait(rules, look),
            Phase::Running { leases } => self.run(rules, look, leases, went_back_ms),
            Phase::Ending { again, .. } | Phase::Killed { again } if !look.is_there => self.is_gone(rules, look, again),
            Phase::Ending { leases, until_ms, again } => self.end(rules, look, leases, until_ms, again),
            Phase::Killed { again } => {
                self.phase = Phase::Killed { again };
                Action::Wait(SOON_MS)
            }
            Phase::Ended => Action::End,
        }
    }

    /// The latest time that a child may have stamped.
    pub fn used_ms(&self) -> i64 {
        self.used_ms
    }

    fn has_used(&mut self, rules: &Rules, look: &Look) {
        let latest_ms = self.most_ahead_ms.saturating_add_unsigned(look.mono_ms);
        self.used_ms = self.used_ms.max(rules.stamped_ms(latest_ms));
    }

    /// Whether the processes must be killed again: one may have been forked since.
    pub fn is_killing(&self) -> bool {
        matches!(self.phase, Phase::Killed { .. })
    }

    fn wait(&mut self, rules: &Rules, look: &Look) -> Action {
        if look.order != Order::Run {
            return Action::End;
        }
        let leases: Option<Vec<ChildLease>> = look.leases.iter().map(|lease| self.usable(rules, look, lease)).collect();
        match leases {
            Some(leases) => {
                self.most_ahead_ms = look.wall_ms.saturating_sub_unsigned(look.mono_ms);
                self.phase = Phase::Running { leases };
                Action::Start
            }
            None => {
                self.phase = Phase::Waiting;
                Action::Wait(LOOK_MS)
            }
        }
    }

    /// The lease, if the child may stamp with its node from now on.
    fn usable(&self, rules: &Rules, look: &Look, lease: &Lease) -> Option<ChildLease> {
        let limit_ms = lease.limit_ms?;
        let now_ms = look.wall_ms;
        let is_free = now_ms >= lease.free_ms && now_ms > self.used_ms;
        (is_free && now_ms < rules.warn_ms(limit_ms)).then_some(ChildLease { node: lease.node, limit_ms })
    }

    fn run(&mut self, rules: &Rules, look: &Look, mut leases: Vec<ChildLease>, went_back_ms: i64) -> Action {
        let mut lost = None;
        for (which, (held, lease)) in leases.iter_mut().zip(&look.leases).enumerate() {
            match lease.limit_ms {
                Some(limit_ms) if lease.node == held.node => held.limit_ms = limit_ms,
                Some(_) => lost = Some(which),
                None if lease.is_lost => lost = Some(which),
                None => {}
            }
        }
        if look.order == Order::Orphaned {
            return self.warn(rules, look, leases, false, Event::Orphaned);
        }
        if look.has_ended {
            if !look.is_there {
                return Action::End;
            }
            return self.warn(rules, look, leases, false, Event::Leftovers);
        }
        if let Some(which) = lost {
            return self.warn(rules, look, leases, true, Event::Lost(which));
        }
        let (which, limit_ms) = first(&leases);
        if went_back_ms > rules.max_step_ms as i64 {
            return self.kill(true, Event::WentBack(went_back_ms));
        }
        if look.wall_ms >= rules.kill_ms(limit_ms) {
            return self.kill(true, Event::Late { which, limit_ms });
        }
        if look.wall_ms >= rules.warn_ms(limit_ms) {
            return self.warn(rules, look, leases, true, Event::LimitNear { which, limit_ms });
        }
        let left_ms = rules.warn_ms(limit_ms).saturating_sub(look.wall_ms);
        self.phase = Phase::Running { leases };
        Action::Wait(LOOK_MS.min(left_ms as u64))
    }

    fn end(&mut self, rules: &Rules, look: &Look, leases: Vec<ChildLease>, until_ms: u64, again: bool) -> Action {
        let (which, limit_ms) = first(&leases);
        let by_limit_ms = rules.kill_ms(limit_ms).saturating_sub(look.wall_ms).max(0) as u64;
        let left_ms = by_limit_ms.min(until_ms.saturating_sub(look.mono_ms));
        if by_limit_ms == 0 {
            return self.kill(again, Event::Late { which, limit_ms });
        }
        if left_ms == 0 {
            return self.kill(again, Event::Slow);
        }
        self.phase = Phase::Ending { leases, until_ms, again };
        Action::Wait(LOOK_MS.min(left_ms))
    }

    fn warn(&mut self, rules: &Rules, look: &Look, leases: Vec<ChildLease>, again: bool, event: Event) -> Action {
        let until_ms = look.mono_ms.saturating_add(2 * rules.margin_ms);
        self.phase = Phase::Ending { leases, until_ms, again };
        Action::Warn(event)
    }

    fn kill(&mut self, again: bool, event: Event) -> Action {
        self.phase = Phase::Killed { again };
        Action::Kill(event)
    }

    fn is_gone(&mut self, rules: &Rules, look: &Look, again: bool) -> Action {
        if !again || look.order != Order::Run {
            return Action::End;
        }
        // Later than the last id, also by a clock that has not moved.
        self.has_used(rules, look);
        self.phase = Phase::Waiting;
        Action::Log(Event::Gone)
    }
}

/// The lease with the first limit, and that limit.
fn first(leases: &[ChildLease]) -> (usize, i64) {
    let first = leases.iter().enumerate().min_by_key(|(_, held)| held.limit_ms);
    first.map_or((0, i64::MAX), |(which, held)| (which, held.limit_ms))
}
