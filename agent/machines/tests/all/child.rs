//! Children that stamp ids by themselves, on a few hosts with fewer nodes, simulated from a seed: the machine that
//! decides when they start and end is the real one; time, store, agents and accidents are simulated.
//!
//! Each run has a new seed, and prints it. `TXID_SEED=7 cargo test -p txid-agent-machines child` repeats one.

mod steps;
mod world;

use crate::random::seed;
use world::{Broken, MOMENTS, Report, World};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn simulate(broken: Broken, for_ms: u64) -> Report {
    let mut world = World::new(seed(), broken);
    world.run(for_ms);
    println!("{:?}", world.report);
    world.report
}

/// Whether one of some worlds shows it: one in two of them has no accident at the moment that it takes.
fn finds(broken: Broken, shows: impl Fn(&Report) -> bool) -> bool {
    (0..20).any(|_| shows(&simulate(broken, DAY_MS / 12)))
}

#[test]
fn no_child_stamps_at_or_after_its_limit_or_twice() {
    let report = simulate(Broken::Nothing, DAY_MS / 12);
    assert_eq!((report.late, report.twice), (0, 0));
    let missing: Vec<_> = MOMENTS.into_iter().filter(|moment| !report.moments.contains_key(moment)).collect();
    assert!(missing.is_empty(), "this never happened: {missing:?}");
    assert!(report.stamps > 100_000, "{}", report.stamps);
}

#[test]
fn a_child_that_is_not_killed_is_found() {
    assert!(finds(Broken::NoKill, |report| report.late > 0 && report.twice > 0));
}

#[test]
fn a_child_that_is_killed_at_the_limit_is_found() {
    assert!(finds(Broken::KillsAtTheLimit, |report| report.late > 0));
}

#[test]
fn a_node_that_is_given_back_before_the_child_is_gone_is_found() {
    assert!(finds(Broken::GivesBackAtOnce, |report| report.twice > 0));
}

#[test]
fn a_guard_that_forgets_which_times_were_used_is_found() {
    assert!(finds(Broken::ForgetsTimes, |report| report.twice > 0));
}

#[test]
fn a_guard_that_does_not_know_that_children_run_ahead_is_found() {
    assert!(finds(Broken::KnowsNoLead, |report| report.late > 0 && report.twice > 0));
}

#[test]
fn an_agent_that_starts_a_child_beside_one_that_was_left_is_found() {
    assert!(finds(Broken::KnowsNoLock, |report| report.twice > 0));
}

/// For `make soak`.
#[test]
#[ignore = "takes minutes"]
fn no_child_in_many_days_stamps_at_or_after_its_limit_or_twice() {
    let report = simulate(Broken::Nothing, 5 * DAY_MS);
    assert_eq!((report.late, report.twice), (0, 0));
}
