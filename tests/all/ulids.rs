//! The fields of ULIDs, KSUIDs, xids and Nano IDs, and how they sort.

use proptest::prelude::*;
use std::collections::HashSet;
use txid::{Ksuid, Maker, Ulid, Xid};

#[test]
fn the_low_48_bits_of_a_time_count() {
    assert_eq!(Ulid::wrapping_at(-1).timestamp_ms(), (1 << 48) - 1);
    assert!(
        Ulid::wrapping_at(5) < Ulid::wrapping_at(5 | 1 << 48) && Ulid::wrapping_at(5 | 1 << 48) < Ulid::wrapping_at(5)
    );
    // In a thread that has none before it, also that of -1 is random.
    let random = std::thread::spawn(|| Ulid::wrapping_at(-1).0 & ((1 << 80) - 1)).join().unwrap();
    assert!(random > 1 << 48, "{random:x}");
}

#[test]
fn the_next_ulid_of_a_millisecond_cannot_be_guessed() {
    let bits: Vec<_> = (0..10).map(|_| Ulid::wrapping_at(9).0).collect();
    assert!(bits.windows(2).any(|pair| pair[1] - pair[0] > 1), "{bits:x?}");
}

#[test]
fn a_clock_that_is_stepped_back_a_little_is_waited_for() {
    let clock_ms = 1_700_000_000_000;
    let first = Ulid::now_by(clock_ms);
    assert!(first < Ulid::now_by(clock_ms - 10_000));
    assert_eq!(Ksuid::now_by(clock_ms - 10_000).timestamp_ms(), clock_ms);
    assert_eq!(Xid::now_by(clock_ms - 10_000).timestamp_ms(), clock_ms);
    assert_eq!(Ulid::now_by(clock_ms - 10_001).timestamp_ms(), clock_ms - 10_001);
}

/// rs/xid's own xids have one machine and one process for all of a process.
#[test]
fn the_machine_and_process_of_an_xid_are_those_of_a_thread_and_random() {
    fn maker(id: Xid) -> ([u8; 3], u16) {
        (id.machine(), id.process())
    }
    let of_a_thread = || {
        let ids: Vec<_> = (0..10_000).map(|_| Xid::wrapping_at(0)).collect();
        let makers: HashSet<_> = ids.iter().map(|&id| maker(id)).collect();
        // Fresh randomness may be mixed in once.
        assert!(makers.len() <= 2, "{makers:?}");
        let follows = |pair: &&[Xid]| pair[1].counter() == (pair[0].counter() + 1) & 0x00ff_ffff;
        assert!(ids.windows(2).filter(follows).count() >= 9_998);
        ids[0]
    };
    let firsts: Vec<_> = (0..8).map(|_| std::thread::spawn(of_a_thread).join().unwrap()).collect();
    assert_eq!(firsts.iter().map(|&id| maker(id)).collect::<HashSet<_>>().len(), 8);
    assert!(firsts.iter().all(|id| u32::from(id.process()) != std::process::id()));
    assert_eq!(firsts.iter().map(|id| id.counter()).collect::<HashSet<_>>().len(), 8, "counters begin anywhere");
}

#[test]
fn every_random_bit_is_real() {
    let (mut ones, mut zeros) = ([0_u128; 3], [0_u128; 3]);
    for _ in 0..1000 {
        let (ulid, xid) = std::thread::spawn(|| (Ulid::wrapping_at(0).0, Xid::wrapping_at(0))).join().unwrap();
        let [a, b, c] = xid.machine().map(u128::from);
        let xid = (a << 16 | b << 8 | c) << 40 | u128::from(xid.process()) << 24 | u128::from(xid.counter());
        for (place, bits) in [ulid, Ksuid::wrapping_at(0).payload, xid].into_iter().enumerate() {
            ones[place] |= bits;
            zeros[place] |= !bits;
        }
    }
    // The top bit after the time of a millisecond's first ULID is clear.
    assert_eq!(ones[0] & zeros[0], (1 << 79) - 1);
    assert_eq!(ones[1] & zeros[1], u128::MAX);
    assert_eq!(ones[2] & zeros[2], (1 << 64) - 1);
}

#[test]
fn each_character_of_a_nano_id_is_any_of_64() {
    let maker = Maker::builder("nanoid").build().unwrap();
    let mut seen = vec![HashSet::new(); 21];
    let mut text = [0; Maker::MAX_LEN];
    for _ in 0..5000 {
        assert_eq!(maker.write_by(0, &mut text).unwrap().len, 21);
        seen.iter_mut().zip(text).for_each(|(seen, character)| _ = seen.insert(character));
    }
    assert!(seen.iter().all(|seen| seen.len() == 64));
}

proptest! {
    #[test]
    fn a_stamp_is_read_back(ms: i64) {
        prop_assert_eq!(Ulid::wrapping_at(ms).timestamp_ms(), ms.rem_euclid(1 << 48));
        let seconds = ms.div_euclid(1000);
        prop_assert_eq!(Xid::wrapping_at(ms).timestamp_ms(), seconds.rem_euclid(1 << 32) * 1000);
        prop_assert_eq!(i64::from(Ksuid::wrapping_at(ms).seconds), (seconds - 1_400_000_000).rem_euclid(1 << 32));
    }
}
