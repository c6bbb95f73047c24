//! Single decisions, where a simulation would need luck.

use txid_agent_machines::child::{Action, Child, Event, Lease, Look, Order, Rules};

const LIMIT_MS: i64 = 1_000_000;

fn rules() -> Rules {
    Rules { margin_ms: 1_000, jitter_ms: 100, max_step_ms: 400, runs_ahead_ms: 0 }
}

fn look(wall_ms: i64, mono_ms: u64, is_there: bool) -> Look {
    let lease = Lease { node: 7, limit_ms: Some(LIMIT_MS), free_ms: 10_000, is_lost: false };
    Look { wall_ms, mono_ms, leases: vec![lease], is_there, has_ended: false, order: Order::Run }
}

/// A child that is running since `wall_ms`, with a monotonic clock at 0.
fn running(wall_ms: i64) -> Child {
    let mut child = Child::default();
    assert_eq!(child.step(&rules(), &look(wall_ms, 0, false)), Action::Start);
    child
}

#[test]
fn it_starts_when_the_clock_is_past_all_times_that_were_used_and_well_before_the_limit() {
    for (wall_ms, starts) in [(9_999, false), (10_000, true), (LIMIT_MS - 3_101, true), (LIMIT_MS - 3_100, false)] {
        let action = Child::default().step(&rules(), &look(wall_ms, 0, false));
        assert_eq!(action == Action::Start, starts, "{wall_ms}: {action:?}");
    }
    let mut child = Child::default();
    let mut second = look(20_000, 0, false);
    second.leases.push(Lease { limit_ms: None, ..second.leases[0] });
    assert_eq!(child.step(&rules(), &second), Action::Wait(100), "one of two leases is not live");
}

#[test]
fn it_is_warned_and_killed_before_the_limit() {
    let mut child = running(LIMIT_MS - 10_000);
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 3_130, 6_870, true)), Action::Wait(30));
    let event = |late: bool| match late {
        false => Event::LimitNear { which: 0, limit_ms: LIMIT_MS },
        true => Event::Late { which: 0, limit_ms: LIMIT_MS },
    };
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 3_100, 6_900, true)), Action::Warn(event(false)));
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 1_101, 8_899, true)), Action::Wait(1));
    assert!(!child.is_killing());
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 1_100, 8_900, true)), Action::Kill(event(true)));
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 1_000, 9_000, true)), Action::Wait(10));
    assert!(child.is_killing());
    assert_eq!(child.step(&rules(), &look(LIMIT_MS - 900, 9_100, false)), Action::Log(Event::Gone));
    // Nobody looked for a while.
    for late_ms in [0, 1_100] {
        let look = look(LIMIT_MS - 1_100 + late_ms, 8_900 + late_ms as u64, true);
        assert_eq!(running(LIMIT_MS - 10_000).step(&rules(), &look), Action::Kill(event(true)));
    }
}

/// All that it does before the limit is as much earlier, and it starts again as much later.
#[test]
fn a_generator_that_runs_ahead() {
    let rules = Rules { runs_ahead_ms: 5_000, ..rules() };
    for (wall_ms, starts) in [(LIMIT_MS - 8_101, true), (LIMIT_MS - 8_100, false)] {
        let action = Child::default().step(&rules, &look(wall_ms, 0, false));
        assert_eq!(action == Action::Start, starts, "{wall_ms}: {action:?}");
    }
    let mut child = Child::default();
    assert_eq!(child.step(&rules, &look(LIMIT_MS - 20_000, 0, false)), Action::Start);
    let event = Event::LimitNear { which: 0, limit_ms: LIMIT_MS };
    assert_eq!(child.step(&rules, &look(LIMIT_MS - 8_100, 11_900, true)), Action::Warn(event));
    let event = Event::Late { which: 0, limit_ms: LIMIT_MS };
    assert_eq!(child.step(&rules, &look(LIMIT_MS - 6_100, 13_900, true)), Action::Kill(event));
    assert_eq!(child.step(&rules, &look(LIMIT_MS - 6_000, 14_000, false)), Action::Log(Event::Gone));
    assert_eq!(child.used_ms(), LIMIT_MS - 1_000);
    let renewed = |wall_ms, mono_ms| {
        let mut look = look(wall_ms, mono_ms, false);
        look.leases[0].limit_ms = Some(LIMIT_MS + 60_000);
        look
    };
    assert_eq!(child.step(&rules, &renewed(LIMIT_MS - 1_000, 19_000)), Action::Wait(100));
    assert_eq!(child.step(&rules, &renewed(LIMIT_MS - 999, 19_001)), Action::Start);
}

/// Each step is allowed, and together they are not: a program that has read the clock once is ahead of it by all.
#[test]
fn small_steps_back_add_up() {
    let mut child = running(20_000);
    let mut wall_ms = 20_000;
    for mono_ms in [1_000, 2_000] {
        wall_ms += 1_000 - 200;
        assert_eq!(child.step(&rules(), &look(wall_ms, mono_ms, true)), Action::Wait(100));
    }
    let action = child.step(&rules(), &look(wall_ms + 799, 3_000, true));
    assert_eq!(action, Action::Kill(Event::WentBack(601)));
    assert_eq!(child.used_ms(), 23_000);
    assert_eq!(child.step(&rules(), &look(wall_ms + 800, 3_001, false)), Action::Log(Event::Gone));
    assert_eq!(child.step(&rules(), &look(23_001, 3_602, false)), Action::Wait(100));
    assert_eq!(child.step(&rules(), &look(23_002, 3_603, false)), Action::Start);
}

#[test]
fn as_large_a_step_back_as_the_clock_guard_allows_is_no_reason() {
    assert_eq!(running(20_000).step(&rules(), &look(20_600, 1_000, true)), Action::Wait(100));
    let action = running(20_000).step(&rules(), &look(20_599, 1_000, true));
    assert_eq!(action, Action::Kill(Event::WentBack(401)));
}

/// The monotonic clock stands still meanwhile.
#[test]
fn after_the_machine_was_suspended_it_is_ended_at_once_or_goes_on() {
    for (for_ms, action) in [
        (60_000, Action::Wait(100)),
        (LIMIT_MS - 23_100, Action::Warn(Event::LimitNear { which: 0, limit_ms: LIMIT_MS })),
        (LIMIT_MS, Action::Kill(Event::Late { which: 0, limit_ms: LIMIT_MS })),
    ] {
        let mut child = running(20_000);
        assert_eq!(child.step(&rules(), &look(20_010, 10, true)), Action::Wait(100));
        assert_eq!(child.step(&rules(), &look(20_010 + for_ms, 20, true)), action, "{for_ms} ms");
        // By a clock that it read once, it may have gone on; by the host's, it has stamped that time.
        assert_eq!(child.used_ms(), 20_010 + for_ms);
    }
}

#[test]
fn it_ends_when_its_node_is_lost_and_no_earlier() {
    let lost = Action::Warn(Event::Lost(0));
    for (node, limit_ms, is_lost, action) in [
        (7, Some(LIMIT_MS), false, Action::Wait(100)),
        // The agent takes another node, and has none yet, or has it.
        (7, None, true, lost.clone()),
        (8, Some(LIMIT_MS), false, lost),
        // The agent starts again.
        (7, None, false, Action::Wait(100)),
    ] {
        let mut seen = look(20_100, 100, true);
        seen.leases[0] = Lease { node, limit_ms, is_lost, ..seen.leases[0] };
        assert_eq!(running(20_000).step(&rules(), &seen), action, "{node}, {limit_ms:?}, {is_lost}");
    }
}

#[test]
fn a_limit_that_is_renewed_counts() {
    let mut child = running(LIMIT_MS - 10_000);
    let mut renewed = look(LIMIT_MS, 10_000, true);
    renewed.leases[0].limit_ms = Some(LIMIT_MS + 10_000);
    assert_eq!(child.step(&rules(), &renewed), Action::Wait(100));
}

#[test]
fn the_first_of_two_limits_counts() {
    let two = |wall_ms, mono_ms, is_there| {
        let mut look = look(wall_ms, mono_ms, is_there);
        look.leases.push(Lease { node: 8, limit_ms: Some(LIMIT_MS - 5_000), ..look.leases[0] });
        look
    };
    let mut child = Child::default();
    assert_eq!(child.step(&rules(), &two(LIMIT_MS - 10_000, 0, false)), Action::Start);
    let action = child.step(&rules(), &two(LIMIT_MS - 8_100, 1_900, true));
    assert_eq!(action, Action::Warn(Event::LimitNear { which: 1, limit_ms: LIMIT_MS - 5_000 }));
}

#[test]
fn what_does_not_end_within_two_margins_is_killed() {
    let mut child = running(20_000);
    let mut lost = look(20_100, 100, true);
    (lost.leases[0].limit_ms, lost.leases[0].is_lost) = (None, true);
    assert_eq!(child.step(&rules(), &lost), Action::Warn(Event::Lost(0)));
    assert_eq!(child.step(&rules(), &look(21_000, 1_000, true)), Action::Wait(100));
    assert_eq!(child.step(&rules(), &look(22_050, 2_050, true)), Action::Wait(50));
    assert_eq!(child.step(&rules(), &look(22_100, 2_100, true)), Action::Kill(Event::Slow));
}

/// The child has ended by itself, so the agent ends as well, once all that it started is gone.
#[test]
fn a_child_that_has_ended_is_not_started_again() {
    let ended = |mono_ms: u64, is_there| Look { has_ended: true, ..look(20_000 + mono_ms as i64, mono_ms, is_there) };
    assert_eq!(running(20_000).step(&rules(), &ended(100, false)), Action::End);

    let mut child = running(20_000);
    assert_eq!(child.step(&rules(), &ended(100, true)), Action::Warn(Event::Leftovers));
    assert_eq!(child.step(&rules(), &ended(200, true)), Action::Wait(100));
    assert_eq!(child.step(&rules(), &ended(300, false)), Action::End);
}

#[test]
fn an_agent_that_is_to_end_or_is_gone_starts_nothing() {
    for order in [Order::End, Order::Orphaned] {
        let ordered = |look| Look { order, ..look };
        assert_eq!(Child::default().step(&rules(), &ordered(look(20_000, 0, false))), Action::End);

        // The order comes while the child ends, and when it is gone.
        for is_there in [true, false] {
            let mut child = running(LIMIT_MS - 10_000);
            let warned = child.step(&rules(), &look(LIMIT_MS - 3_100, 6_900, true));
            assert!(matches!(warned, Action::Warn(Event::LimitNear { .. })), "{warned:?}");
            if is_there {
                assert_eq!(child.step(&rules(), &ordered(look(LIMIT_MS - 3_000, 7_000, true))), Action::Wait(100));
            }
            assert_eq!(child.step(&rules(), &ordered(look(LIMIT_MS - 2_900, 7_100, false))), Action::End);
        }
    }
    let orphaned = Look { order: Order::Orphaned, ..look(20_100, 100, true) };
    assert_eq!(running(20_000).step(&rules(), &orphaned), Action::Warn(Event::Orphaned));
}
