//! A fleet of hosts on one store, simulated from a seed: the agent's state machine and the library's pages and
//! generators are the real ones; time, store, network and accidents are simulated.
//!
//! Each run has a new seed, and prints it. `TXID_SEED=7 cargo test -p txid-agent-machines simulation` repeats one.

mod fleet;
mod network;
// The agent's own file: it keeps a page by what the machine says.
#[path = "../../../src/keeper/page.rs"]
mod page;

use crate::random::seed;
use fleet::{Fleet, MOMENTS, Plan, Report};

/// Each kind of fault took effect at a moment that mattered.
fn check_moments(report: &Report) {
    let missing: Vec<_> = MOMENTS.into_iter().filter(|moment| report.moments[moment] == 0).collect();
    assert!(missing.is_empty(), "this never happened: {missing:?}");
}

#[test]
fn a_thousand_hosts_that_start_at_once_have_a_node_each_within_three_tries() {
    let mut fleet = Fleet::new(seed(), 1000, Plan::CALM);
    fleet.run(600_000);
    let report = fleet.report();
    println!("{report:?}");
    assert_eq!(report.leased, 1000);
    assert_eq!(report.twice, 0);
    assert!(report.tries <= 3.0, "{} tries on average", report.tries);
    let requests = report.requests_when_held as f64 / report.renewals as f64;
    assert!(requests <= 1.0, "{requests} requests a renewal");
    assert_eq!(report.refused_when_held, 0);
}

#[test]
fn no_accident_gives_an_id_twice() {
    let mut fleet = Fleet::new(seed(), 1000, Plan::ROUGH);
    fleet.run(1_200_000);
    // 1,000 hosts on 1,024 nodes: some have to wait until an abandoned node is idle, 10 minutes after its limit.
    fleet.calm_down(900_000);
    let report = fleet.report();
    println!("{report:?}");
    assert_eq!(report.twice, 0, "ids twice");
    assert_eq!(report.backwards, 0, "ids went back");
    assert_eq!(report.too_far, 0, "limits that no floor covers");
    assert_eq!(report.leased, 1000, "without a lease at the end");
    check_moments(&report);
}

/// 72 hosts get no node. They must not keep the others from theirs, and neither must the limit on requests.
#[test]
fn two_hundred_hosts_on_128_nodes_use_all_nodes_soon_after_a_start_and_an_outage() {
    let mut fleet = Fleet::new(seed(), 200, Plan::CROWDED);
    let start_ms = fleet.run_until_live(128);
    assert!(start_ms <= 3_100, "{start_ms} ms after the start");
    fleet.outage(150_000);
    assert_eq!(fleet.live(), 0, "all leases have ended");
    // A request that was sent during the outage times out after 3 s, and the longest pause is 12 s.
    let outage_ms = fleet.run_until_live(128);
    println!("all nodes were used {start_ms} ms after the start, and {outage_ms} ms after the outage");
    assert!(outage_ms <= 15_100, "{outage_ms} ms after the outage");
    assert_eq!(fleet.report().twice, 0);
}

/// A lease of a minute was renewed at most 12 s before. When the store is back, the next try is at most 12 s away, or the one
/// under way times out after 3 s.
#[test]
fn an_outage_of_half_a_lease_is_not_noticed_and_after_a_longer_one_ids_continue_within_15_s() {
    let mut fleet = Fleet::new(seed(), 50, Plan::CALM);
    fleet.run_until_live(50);
    for _ in 0..10 {
        fleet.run(20_000);
        fleet.outage(30_000);
    }
    assert_eq!(fleet.refused(), 0);
    fleet.outage(120_000);
    assert_eq!(fleet.live(), 0, "all leases have ended");
    let ms = fleet.run_until_live(50);
    assert!(ms <= 15_100, "{ms} ms after the outage");
}

/// The records do not tell them apart. Each may lose a node once, as long as all start.
#[test]
fn ten_hosts_of_one_name_leave_each_other_alone() {
    let lost = |plan| {
        let mut fleet = Fleet::new(seed(), 10, plan);
        fleet.run(600_000);
        let report = fleet.report();
        println!("{report:?}");
        (report.leased, report.lost)
    };
    let (leased, first) = lost(Plan::NAMESAKES);
    assert!(leased == 10 && first <= 10, "{leased} {first}");
    assert!(lost(Plan::NAMESAKES_AND_RASH).1 > 10, "hosts that take back what has their name");
}

/// All clocks are right.
#[test]
fn answers_that_are_slow_are_no_clocks_that_are_off() {
    let leased = |plan| {
        let mut fleet = Fleet::new(seed(), 100, plan);
        fleet.run(180_000);
        let report = fleet.report();
        (report.leased, report.refused)
    };
    assert_eq!(leased(Plan::SLOW), (100, 0));
    assert!(leased(Plan::SLOW_AND_NAIVE).0 < 100, "an agent that takes the time of an answer for that of its arrival");
}

/// UidGenerator and Leaf take the number of a new node at each start, from a counter in the store.
#[test]
fn beside_an_old_library_no_accident_gives_an_id_twice() {
    let mut fleet = Fleet::new(seed(), 200, Plan::BESIDE_OLD);
    fleet.run(1_200_000);
    fleet.calm_down(300_000);
    let report = fleet.report();
    println!("{report:?}");
    assert_eq!((report.twice, report.backwards, report.too_far, report.leased), (0, 0, 0, 200));
    // Some 240; how many depends on the seed.
    assert!(report.old > 100, "{}", report.old);
}

#[test]
fn a_store_that_is_emptied_again_and_again_gives_no_id_twice() {
    let mut fleet = Fleet::new(seed(), 200, Plan::FORGETFUL);
    fleet.run(1_800_000);
    fleet.calm_down(300_000);
    let report = fleet.report();
    println!("{report:?}");
    assert_eq!((report.twice, report.backwards, report.too_far, report.leased), (0, 0, 0, 200));
}

/// As while a fleet gets new settings, or a version whose records the old one cannot read.
#[test]
fn leases_of_different_lengths_give_no_id_twice() {
    let mut fleet = Fleet::new(seed(), 300, Plan::MIXED);
    fleet.run(1_200_000);
    fleet.calm_down(900_000);
    let report = fleet.report();
    println!("{report:?}");
    assert_eq!((report.twice, report.backwards, report.leased), (0, 0, 300));
}

/// The floor of an emptied store was as far ahead as the settings of the host that made it said, and those of others may
/// allow for more.
#[test]
fn a_host_that_takes_its_settings_for_those_of_all_is_found() {
    let first = seed();
    let finds = |seed| {
        let mut fleet = Fleet::new(seed, 200, Plan::FORGETFUL_AND_NAIVE);
        fleet.run(1_800_000);
        fleet.report().too_far > 0
    };
    assert!((first..first + 4).any(finds));
}

/// An agent that cannot read a record leaves its node alone.
#[test]
fn a_version_that_takes_the_nodes_of_the_next_one_is_found() {
    let first = seed();
    let finds = |seed| {
        let mut fleet = Fleet::new(seed, 300, Plan::MIXED_AND_NAIVE);
        fleet.run(600_000);
        fleet.report().twice > 0
    };
    assert!((first..first + 4).any(finds));
}

/// For `make soak`.
#[test]
#[ignore = "takes minutes"]
fn no_accident_in_many_days_gives_an_id_twice() {
    let first = seed();
    for seed in first..first + 20 {
        let mut fleet = Fleet::new(seed, 1000, Plan::ROUGH);
        fleet.run(14_400_000);
        fleet.calm_down(900_000);
        let report = fleet.report();
        println!("seed {seed}: {report:?}");
        assert_eq!((report.twice, report.backwards, report.too_far, report.leased), (0, 0, 0, 1000), "seed {seed}");
    }
}
