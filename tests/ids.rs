//! What an id says, and how ids sort.

use proptest::prelude::*;
use std::collections::HashSet;
use txid::{ParseError, Txid};

const RANGE_MS: i64 = 1 << 42;

/// Ids that others made, and the time in their first eight characters; the two bits in the ninth are random with them.
#[test]
fn known_ids_read_back() {
    for (text, ms) in [("4om9qi54la8ffr4bd9sg", 655_829_050_000), ("4on1lg74nt0ud2ssllu0", 655_929_050_000)] {
        let id: Txid = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.timestamp_ms() & !3, ms);
        assert_eq!(text.to_uppercase().parse(), Ok(id));
    }
}

#[test]
fn known_times_begin_as_they_always_did() {
    for (ms, begin) in [
        (0, "00000000"),
        (4, "00000001"),
        (-1, "vvvvvvvv"),
        (655_829_050_000, "4om9qi54"),
        (655_929_050_000, "4on1lg74"),
        (1_522_545_688_552, "b2fr5nvq"),
        (4_387_530_288_000, "vthknin0"),
        (-1_000_000_000, "vvohijc0"),
        (RANGE_MS - 1_000_000_000, "vvohijc0"),
        (RANGE_MS + 1_000_000_000, "007edck0"),
        (RANGE_MS - 1, "vvvvvvvv"),
        (RANGE_MS, "00000000"),
        (i64::MAX, "vvvvvvvv"),
        (i64::MIN, "00000000"),
    ] {
        for _ in 0..100 {
            let text = Txid::at(ms).to_string();
            assert_eq!(&text[..8], begin, "{text} of {ms}");
        }
    }
}

#[test]
fn every_bit_of_entropy_is_real() {
    let (mut ones, mut zeros) = (0_u128, 0_u128);
    for _ in 0..1000 {
        let bits = Txid::at(0)
            .to_text()
            .iter()
            .fold(0_u128, |bits, &c| bits << 5 | u128::from(if c < b'a' { c - b'0' } else { c - b'a' + 10 }));
        ones |= bits;
        zeros |= !bits;
    }
    // 100 bits of text: 42 of time, 54 of entropy, and four zeros that fill up the last character.
    let entropy = ((1 << 54) - 1) << 4;
    assert_eq!(ones, entropy);
    assert_eq!(zeros & entropy, entropy);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let error = |text: &str| text.parse::<Txid>().unwrap_err();
    assert_eq!(error(""), ParseError::Length(0));
    assert_eq!(error("4om9qi54la8ffr4bd9s").to_string(), "19 characters, an id has 20");
    assert_eq!(error("4om9qi5zla8ffr4bd9sg").to_string(), "character 8 is 'z', not base32hex");
    assert_eq!(error("4om9qi54la8ffr4bd9s\n").to_string(), "character 20 is '\\n', not base32hex");
    assert_eq!(error("4om9qi54la8ffr4bd9s1").to_string(), "character 20 is '1', the last one is '0' or 'g'");
    assert_eq!(error("4om9qi54la8ffr4bd9é"), ParseError::Character { position: 19, byte: 0xc3 });
}

#[test]
fn no_id_twice_across_threads() {
    let threads: Vec<_> =
        (0..8).map(|_| std::thread::spawn(|| (0..100_000).map(|_| Txid::at(7)).collect::<Vec<_>>())).collect();
    let ids: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[test]
fn an_id_can_be_made_while_a_thread_ends() {
    thread_local!(static LAST_WISH: MakesAnId = const { MakesAnId });
    struct MakesAnId;
    impl Drop for MakesAnId {
        fn drop(&mut self) {
            assert_ne!(Txid::at(1), Txid::at(1));
        }
    }
    std::thread::spawn(|| {
        LAST_WISH.with(|_| {});
        Txid::at(1);
    })
    .join()
    .unwrap();
}

proptest! {
    #[test]
    fn a_stamp_is_read_back_exactly(ms: i64) {
        prop_assert_eq!(Txid::at(ms).timestamp_ms() as i64, ms.rem_euclid(RANGE_MS));
    }

    #[test]
    fn text_reads_back(ms: i64) {
        let id = Txid::at(ms);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn text_sorts_as_ids_do_and_ids_as_time_does(a in 0..RANGE_MS, b in 0..RANGE_MS) {
        let (x, y) = (Txid::at(a), Txid::at(b));
        prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
        if a != b {
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,24}|[0-9a-v]{20}") {
        if let Ok(id) = text.parse::<Txid>() {
            prop_assert_eq!(id.to_string(), text.to_lowercase());
        }
    }
}
