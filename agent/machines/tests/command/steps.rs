//! Single decisions, where a simulation would need luck.

use txid_agent_machines::command::{Action, Command, Event, Lease, Look, OnLoss, Order, Rules};

const LIMIT_MS: i64 = 1_000_000;

fn rules() -> Rules {
    Rules { margin_ms: 1_000, jitter_ms: 100, max_step_ms: 400, on_loss: OnLoss::Stop }
}

fn look(wall_ms: i64, mono_ms: u64, is_there: bool) -> Look {
    let lease = Lease { node: 7, limit_ms: Some(LIMIT_MS), free_ms: 10_000, is_lost: false };
    Look { wall_ms, mono_ms, leases: vec![lease], is_there, has_ended: false, order: Order::Run }
}

/// A command that is running since `wall_ms`, with a monotonic clock at 0.
fn running(wall_ms: i64) -> Command {
    let mut command = Command::default();
    assert_eq!(command.step(&rules(), &look(wall_ms, 0, false)), Action::Start);
    command
}

#[test]
fn it_starts_when_the_clock_is_past_all_times_that_were_used_and_well_before_the_limit() {
    for (wall_ms, starts) in [(9_999, false), (10_000, true), (LIMIT_MS - 3_101, true), (LIMIT_MS - 3_100, false)] {
        let action = Command::default().step(&rules(), &look(wall_ms, 0, false));
        assert_eq!(action == Action::Start, starts, "{wall_ms}: {action:?}");
    }
    let mut command = Command::default();
    let mut second = look(20_000, 0, false);
    second.leases.push(Lease { limit_ms: None, ..second.leases[0] });
    assert_eq!(command.step(&rules(), &second), Action::Wait(100), "one of two leases is not live");
}

#[test]
fn it_is_warned_and_killed_before_the_limit() {
    let mut command = running(LIMIT_MS - 10_000);
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 3_130, 6_870, true)), Action::Wait(30));
    let event = |late: bool| match late {
        false => Event::LimitNear { which: 0, limit_ms: LIMIT_MS },
        true => Event::Late { which: 0, limit_ms: LIMIT_MS },
    };
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 3_100, 6_900, true)), Action::Warn(event(false)));
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 1_101, 8_899, true)), Action::Wait(1));
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 1_100, 8_900, true)), Action::Kill(event(true)));
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 1_000, 9_000, true)), Action::Wait(10));
    assert!(command.is_killing());
    assert_eq!(command.step(&rules(), &look(LIMIT_MS - 900, 9_100, false)), Action::Log(Event::Gone));
    // Nobody looked for a while.
    let late = running(LIMIT_MS - 10_000).step(&rules(), &look(LIMIT_MS, 10_000, true));
    assert_eq!(late, Action::Kill(event(true)));
}

/// Each step is allowed, and together they are not: a program that has read the clock once is ahead of it by all.
#[test]
fn small_steps_back_add_up() {
    let mut command = running(20_000);
    let mut wall_ms = 20_000;
    for mono_ms in [1_000, 2_000] {
        wall_ms += 1_000 - 200;
        assert_eq!(command.step(&rules(), &look(wall_ms, mono_ms, true)), Action::Wait(100));
    }
    let action = command.step(&rules(), &look(wall_ms + 799, 3_000, true));
    assert_eq!(action, Action::Kill(Event::WentBack { by_ms: 601 }));
    assert_eq!(command.used_ms(), 23_000);
    assert_eq!(command.step(&rules(), &look(wall_ms + 800, 3_001, false)), Action::Log(Event::Gone));
    assert_eq!(command.step(&rules(), &look(23_001, 3_602, false)), Action::Wait(100));
    assert_eq!(command.step(&rules(), &look(23_002, 3_603, false)), Action::Start);
}
