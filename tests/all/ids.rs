//! The fields of txids.

use proptest::prelude::*;
use txid::{Flake, Txid, Ulid, trace, uuid};

const RANGE_MS: i64 = 1 << 42;

#[test]
fn every_bit_of_entropy_is_real() {
    let (mut ones, mut zeros) = (0_u128, 0_u128);
    for _ in 0..1000 {
        let bits = Txid::wrapping_at(0)
            .to_text()
            .iter()
            .fold(0_u128, |bits, &c| bits << 5 | u128::from(if c < b'a' { c - b'0' } else { c - b'a' + 10 }));
        ones |= bits;
        zeros |= !bits;
    }
    // 100 bits of text: 42 of time, 54 random, and four zeros that fill the last character.
    let entropy = ((1 << 54) - 1) << 4;
    assert_eq!(ones, entropy);
    assert_eq!(zeros & entropy, entropy);
}

#[test]
fn a_millisecond_lies_between_its_bounds() {
    for ms in [0, 1, 655_829_050_002, -1, RANGE_MS, i64::MIN, i64::MAX] {
        let [first, last] = Txid::wrapping_bounds_of(ms);
        assert_eq!(first.timestamp_ms(), last.timestamp_ms());
        assert!((0..1000).map(|_| Txid::wrapping_at(ms)).all(|id| first <= id && id <= last));
    }
    assert!(Txid::wrapping_bounds_of(5)[1] < Txid::wrapping_bounds_of(6)[0]);
}

#[test]
fn an_id_can_be_made_while_a_thread_ends() {
    thread_local!(static LAST_WISH: MakesAnId = const { MakesAnId });
    struct MakesAnId;
    impl Drop for MakesAnId {
        fn drop(&mut self) {
            assert_ne!(Txid::wrapping_at(1), Txid::wrapping_at(1));
        }
    }
    std::thread::spawn(|| {
        LAST_WISH.with(|_| {});
        Txid::wrapping_at(1);
    })
    .join()
    .unwrap();
}

proptest! {
    #[test]
    fn a_stamp_is_read_back_exactly(ms: i64) {
        prop_assert_eq!(Txid::wrapping_at(ms).timestamp_ms(), ms.rem_euclid(RANGE_MS));
    }

    #[test]
    fn twelve_bytes_are_read_back_exactly(bytes: [u8; 12]) {
        prop_assert_eq!(<[u8; 12]>::from(Txid::from(bytes)), bytes);
    }
}

#[test]
fn an_id_that_nobody_can_guess_has_54_random_bits_and_its_time() {
    for ms in (0..1000).map(|turn| 655_829_050_000 + turn) {
        let id = Txid::strong_wrapping_at(ms).unwrap();
        assert_eq!(id.timestamp_ms(), ms);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id >= Txid::wrapping_bounds_of(ms)[0] && id <= Txid::wrapping_bounds_of(ms)[1]);
    }
}

/// Also a time just before the last id's, for which an id by the clock would wait.
#[test]
fn an_id_has_exactly_the_time_that_is_given() {
    for ms in [1_700_000_000_000, 1_699_999_999_995] {
        assert_eq!(Txid::wrapping_at(ms).timestamp_ms(), ms);
        assert_eq!(Ulid::wrapping_at(ms).timestamp_ms(), ms);
        assert_eq!(uuid::wrapping_v7_at(ms).to_string()[..13].replace('-', ""), format!("{ms:012x}"));
        assert_eq!(trace::read_id(&trace::wrapping_id_at(ms, 0).to_string()).unwrap().ms, ms);
        assert_eq!(trace::read_host_id(&trace::wrapping_host_id_at(ms, 0, 1).to_string()).unwrap().ms, ms);
        assert_eq!(Flake::at(ms, None).timestamp_ms(), ms);
    }
}

#[test]
fn debug_shows_the_text() {
    assert_eq!(format!("{:?}", Txid::wrapping_bounds_of(655_829_050_002)[0]), "Txid(4om9qi54g00000000000)");
    assert_eq!(format!("{:?}", txid::Flake(62)), "Flake(0000000000000000000010)");
    assert_eq!(format!("{:?}", txid::trace::SpanId(255)), "SpanId(00000000000000ff)");
    assert_eq!(format!("{:?}", txid::trace::TraceId(255)), format!("TraceId({:032x})", 255));
    assert_eq!(format!("{:?}", txid::Ulid(32)), "Ulid(00000000000000000000000010)");
    assert_eq!(format!("{:?}", txid::Ksuid { seconds: 0, payload: 62 }), "Ksuid(000000000000000000000000010)");
    assert_eq!(format!("{:?}", "0000000000000000000g".parse::<txid::Xid>().unwrap()), "Xid(0000000000000000000g)");
}

#[test]
fn a_guessable_id_is_reported() {
    let said = txid::Guessable(Txid::wrapping_bounds_of(0)[0]).to_string();
    assert!(said.contains("guess"), "{said}");
}
