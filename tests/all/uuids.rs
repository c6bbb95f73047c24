//! The fields of UUIDs, and how they sort.

use proptest::prelude::*;
use std::collections::HashSet;
use txid::formats::{Numbers, read};
use txid::uuid::{self, Uuid};

/// The crate's own parser, to compare this library's with.
fn parsed(text: &str) -> ::uuid::Uuid {
    ::uuid::Uuid::parse_str(text).unwrap()
}

fn ms_by_the_crate(id: Uuid) -> i64 {
    let (seconds, nanoseconds) = parsed(&id.to_string()).get_timestamp().unwrap().to_unix();
    seconds as i64 * 1000 + i64::from(nanoseconds / 1_000_000)
}

#[test]
fn the_next_version_7_of_a_millisecond_cannot_be_guessed() {
    let bits: Vec<_> = (0..10).map(|_| uuid::wrapping_v7_at(9).as_u128()).collect();
    assert!(bits.windows(2).any(|pair| pair[1] - pair[0] > 1), "{bits:x?}");
}

#[test]
fn stamps_with_the_same_48_bits_are_one_millisecond() {
    let ids: Vec<_> = (0..64).map(|lap| uuid::wrapping_v7_at(7 + (lap << 48))).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    // Before 1970, too, they do not begin with no random bits.
    let [a, b] = [(); 2].map(|()| std::thread::spawn(|| uuid::wrapping_v7_at(-1).as_u128()).join().unwrap());
    assert!(a.abs_diff(b) > 1 << 40);
}

#[test]
fn a_stamp_that_is_the_clocks_own_is_in_its_order() {
    for _ in 0..1000 {
        let by_clock = uuid::v7();
        let given = uuid::wrapping_v7_at(ms_by_the_crate(by_clock));
        assert!(by_clock < given);
        assert!(given < uuid::v7());
    }
}

#[test]
fn version_1_counts_up_and_has_the_node() {
    let node = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
    let start = txid::system_ms();
    let ids: Vec<_> = (0..100_000).map(|_| parsed(&uuid::v1(Some(node)).to_string())).collect();
    assert!(ids.iter().all(|id| id.get_version_num() == 1 && id.get_node_id() == Some(node)));
    assert!(
        ids.is_sorted_by(|a, b| a.get_timestamp().unwrap().to_gregorian() < b.get_timestamp().unwrap().to_gregorian())
    );
    assert!((start - 1..start + 10_000).contains(&ms_by_the_crate(ids[0])));
}

#[test]
fn a_random_node_is_nobodys_address() {
    let nodes: HashSet<_> = (0..4)
        .map(|_| std::thread::spawn(|| parsed(&uuid::v1(None).to_string()).get_node_id().unwrap()).join().unwrap())
        .collect();
    assert_eq!(nodes.len(), 4, "each thread has its own");
    assert!(nodes.iter().all(|node| node[0] & 1 == 1));
}

#[test]
fn every_random_bit_is_real() {
    let (mut ones, mut zeros) = ([0_u128; 2], [0_u128; 2]);
    for _ in 0..1000 {
        for (place, id) in
            [uuid::v4(), std::thread::spawn(|| uuid::wrapping_v7_at(0)).join().unwrap()].iter().enumerate()
        {
            ones[place] |= id.as_u128();
            zeros[place] |= !id.as_u128();
        }
    }
    let version_and_variant = 0xf_u128 << 76 | 0x3_u128 << 62;
    assert_eq!(ones[0] & zeros[0], !version_and_variant);
    // The top bit after the time of a millisecond's first version 7 is clear.
    assert_eq!(ones[1] & zeros[1], ((1 << 80) - 1) & !version_and_variant & !(1 << 75));
}

proptest! {
    #[test]
    fn a_stamp_is_read_back_exactly(ms: i64) {
        let ms = ms.rem_euclid(1 << 48);
        let id = uuid::wrapping_v7_at(ms);
        prop_assert_eq!(uuid::read(&id.to_string()).unwrap().ms, Some(ms));
        prop_assert_eq!(ms_by_the_crate(id), ms);
    }
}

#[test]
fn the_variant_of_a_uuid_is_named() {
    for (digit, expected) in [
        ('0', "ncs"),
        ('7', "ncs"),
        ('8', "rfc9562"),
        ('b', "rfc9562"),
        ('c', "microsoft"),
        ('d', "microsoft"),
        ('e', "future"),
        ('f', "future"),
    ] {
        let text = format!("00000000-0000-3000-{digit}000-000000000000");
        let id = read("uuid", text.as_bytes(), &Numbers::UNKNOWN).unwrap().unwrap();
        assert_eq!(id.parts, [("version", 3_u8.into()), ("variant", expected.to_string().into())]);
    }
}

#[test]
fn namespaces_have_names() {
    for (name, begins) in [("dns", "6ba7b810"), ("url", "6ba7b811"), ("oid", "6ba7b812"), ("x500", "6ba7b814")] {
        let id = uuid::namespace(name.as_bytes()).unwrap();
        assert_eq!(id.to_string(), format!("{begins}-9dad-11d1-80b4-00c04fd430c8"), "{name}");
    }
}

#[test]
fn a_burst_keeps_the_clock_sequence() {
    let sequence = || uuid::v1_by(1_700_000_000_000, None).as_fields().3[..2].to_vec();
    let first = sequence();
    assert!((0..30_000).all(|_| sequence() == first));
}

#[test]
fn as_uuid_any_version_is_read() {
    for version in ["1", "4", "6", "7", "8"] {
        let text = format!("017f22e2-79b0-{version}cc3-98c4-dc0c0c07398f");
        assert!(read("uuid", text.as_bytes(), &Numbers::UNKNOWN).unwrap().is_ok(), "{text}");
    }
}
