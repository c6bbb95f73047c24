//! The fields of flakes and UNIQUE_IDs, and how flakes sort.

use crate::clock;
use proptest::prelude::*;
use std::collections::HashSet;
use std::net::Ipv4Addr;
use txid::{Flake, UniqueId, UniqueIdProcess};

const NODE: [u8; 6] = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);

#[test]
fn a_random_node_is_nobodys_address() {
    assert!((0..300_000).all(|_| Flake::now(None).node()[0] & 1 == 1));
}

#[test]
fn a_stamp_from_ahead_does_not_hold_up_the_clock() {
    const MS: i64 = 1_700_000_000_000;
    for ahead_ms in [5_000, 1 << 50] {
        assert_eq!(Flake::now_by(MS, None).timestamp_ms(), MS);
        Flake::at(MS + ahead_ms, None);
        assert_eq!(Flake::now_by(MS, None).timestamp_ms(), MS, "{ahead_ms} ms ahead");
    }
}

#[test]
fn a_node_that_is_given_gets_each_number_once_a_millisecond() {
    let flakes: HashSet<_> = (0..300_000).map(|_| Flake::now(Some(NODE))).collect();
    assert_eq!(flakes.len(), 300_000);
    assert!(flakes.iter().all(|flake| flake.node() == NODE));
}

#[test]
fn a_node_that_is_given_gets_each_number_once_a_stamp_whatever_the_generator_does() {
    let mut of_one_stamp = HashSet::new();
    for _ in 0..2 {
        assert!((0..30_000).all(|_| of_one_stamp.insert(Flake::at(7, Some(NODE)))));
        // Long enough for fresh randomness to be mixed in.
        clock::pass(2);
    }
}

/// The bits computed by hand, to compare both layouts with.
fn bits_of(text: &str, last_two: &str) -> Vec<bool> {
    let alphabet = format!("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789{last_two}");
    let value = |c| alphabet.find(c).unwrap();
    text.chars().flat_map(|c| (0..6).rev().map(move |bit| value(c) >> bit & 1 == 1)).collect()
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().fold(0, |number, &bit| number << 1 | u64::from(bit))
}

#[test]
fn unique_ids_have_their_fields_where_apache_has_them() {
    let id = UniqueId::wrapping_short_at(1_522_545_688_552, HOST);
    let bits = bits_of(&id.to_string(), "@-");
    assert_eq!(bits.len(), 144);
    assert_eq!(number(&bits[..32]), 1_522_545_688);
    assert_eq!(number(&bits[32..64]), 0x0a00_0007);
    assert_eq!(number(&bits[64..96]), u64::from(std::process::id()));
    assert_eq!(number(&bits[96..112]), u64::from(id.counter));
    assert_eq!(number(&bits[112..]), u64::from(id.thread));

    let id = UniqueId::wrapping_long_at(1_522_545_688_552);
    let bits = bits_of(&id.to_string(), "-_");
    assert_eq!(bits.len(), 162);
    assert_eq!(number(&bits[..32]), 1_522_545_688);
    let UniqueIdProcess::Long { random } = id.process else { panic!("{id:?}") };
    assert_eq!(number(&bits[32..64]), u64::from(u32::from_be_bytes([random[0], random[1], random[2], random[3]])));
    assert_eq!(number(&bits[112..128]), u64::from(id.counter));
    assert_eq!(number(&bits[128..160]), u64::from(id.thread));
    assert_eq!(number(&bits[160..]), 0);
}

#[test]
fn the_counter_starts_anywhere_and_counts_up() {
    let starts: HashSet<_> =
        (0..8).map(|_| std::thread::spawn(|| UniqueId::wrapping_long_at(0).counter).join().unwrap()).collect();
    assert!(starts.len() > 4, "{starts:?}");
    let counters: Vec<_> = (0..100_000).map(|_| UniqueId::wrapping_long_at(0).counter).collect();
    // After a second, fresh randomness starts a new run.
    assert!(counters.windows(2).filter(|pair| pair[1] != pair[0].wrapping_add(1)).count() <= 2);
}

proptest! {
    #[test]
    fn flakes_read_back(bits: u128, ms: i64) {
        prop_assert_eq!(Flake(bits).to_string().parse(), Ok(Flake(bits)));
        prop_assert_eq!(Flake::at(ms, None).timestamp_ms(), ms);
    }

    #[test]
    fn unique_ids_read_back(seconds: u32, address: u32, pid: u32, random: [u8; 10], counter: u16, thread: u32) {
        for process in [UniqueIdProcess::Short { address: address.into(), pid }, UniqueIdProcess::Long { random }] {
            let id = UniqueId { seconds, process, counter, thread };
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }
    }
}

#[test]
fn a_short_unique_id_tells_threads_and_laps_apart() {
    let thread = || UniqueId::wrapping_short_at(0, [10, 0, 0, 7].into()).thread;
    let two_laps = move || {
        let first = thread();
        (1..1 << 16).for_each(|_| _ = thread());
        let second = thread();
        assert_eq!(first >> 24, second >> 24, "one thread");
        assert_ne!(first, second, "two laps");
        first >> 24
    };
    assert_ne!(two_laps(), std::thread::spawn(two_laps).join().unwrap());
}
