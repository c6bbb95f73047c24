//! No id repeats, whatever the clock does. The exception are ids without random bits after the clock was stepped back far.

use std::collections::HashSet;
use std::fmt::Display;
use txid::trace::{self, SkyWalking, Sofa};
use txid::{Flake, LocalGenerator, Txid, UniqueId, uuid};

const NOW_MS: i64 = 1_700_000_000_000;

type Make = fn(i64) -> String;

fn text(id: impl Display) -> String {
    id.to_string()
}

/// Ids made with a reading of the clock.
const MAKERS: [(&str, Make); 8] = [
    ("txid", |ms| text(Txid::now_by(ms))),
    ("v1", |ms| text(uuid::v1_by(ms, None))),
    ("v7", |ms| text(uuid::v7_by(ms))),
    ("flake", |ms| text(Flake::now_by(ms, None))),
    ("UNIQUE_ID, short", |ms| text(UniqueId::short_by(ms, [10, 0, 0, 7].into()))),
    ("UNIQUE_ID, long", |ms| text(UniqueId::long_by(ms))),
    ("trace id", |ms| text(trace::id_by(ms, 0))),
    ("SkyWalking", |ms| text(SkyWalking::new_by(ms))),
];

fn repeats(make: Make, readings: impl Iterator<Item = i64>) -> usize {
    let mut seen = HashSet::new();
    readings.filter(|&ms| !seen.insert(make(ms))).count()
}

#[test]
fn a_clock_that_jumps_at_every_call_makes_nothing_twice() {
    for (name, make) in MAKERS {
        for jump_ms in [9_000, 20_000] {
            let readings = (0..50_000).map(|turn| NOW_MS - turn % 2 * jump_ms);
            assert_eq!(repeats(make, readings), 0, "{name}, jumps of {jump_ms} ms");
        }
    }
}

#[test]
fn a_clock_that_stands_still_makes_nothing_twice() {
    let sofa: Make = |ms| text(Sofa::new_by(ms, [10, 0, 0, 7].into()));
    for (name, make) in MAKERS.into_iter().chain([("SOFATracer", sofa)]) {
        assert_eq!(repeats(make, (0..50_000).map(|_| NOW_MS)), 0, "{name}");
    }
}

/// As the ids of a thread, those of a generator sort in order while a clock goes back in small steps.
#[test]
fn a_generator_waits_for_a_clock_that_goes_back() {
    let generator = LocalGenerator::new();
    for ms in [NOW_MS, NOW_MS - 5, NOW_MS - 7, NOW_MS - 1] {
        let mut text = [0; Txid::LEN];
        generator.write_by(ms, &mut text);
        assert_eq!(Txid::from_text(&text).unwrap().timestamp_ms(), NOW_MS);
    }
}
