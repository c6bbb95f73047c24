//! The fields of trace ids and their headers.

use proptest::prelude::*;
use std::collections::HashSet;
use txid::FormatErrorKind;
use txid::trace::{
    self, AmznTraceId, B3, CloudTraceContext, Sampling, SkyWalking, Sofa, SpanId, TraceId, Traceparent, UberTraceId,
};

const HOST: u32 = 0x0a00_0007;

#[test]
fn a_time_ordered_id_counts_from_0_in_each_millisecond() {
    for ms in [1_000, 1_001, 5, 1_001] {
        for sequence in 0..100 {
            let parts = trace::read_id(&trace::wrapping_id_at(ms, 0).to_string()).unwrap();
            assert_eq!((parts.ms, parts.sequence), (ms, sequence));
        }
    }
    let parts = trace::read_id(&trace::wrapping_id_at(1_522_545_688_552, 1_500_000_000_000).to_string()).unwrap();
    assert_eq!(parts.ms, 22_545_688_552);
}

#[test]
fn a_stamp_that_is_the_clocks_own_is_in_its_order() {
    for _ in 0..1000 {
        let by_clock = trace::id();
        let given = trace::wrapping_id_at(trace::read_id(&by_clock.to_string()).unwrap().ms, 0);
        assert!(by_clock < given);
        assert!(given < trace::id());
    }
}

#[test]
fn no_id_with_a_host_twice_in_whatever_order_the_stamps_come() {
    let mut ids = HashSet::new();
    for turn in 0..50 {
        for ms in [1000, 2000, 1000, 3000] {
            assert!(ids.insert(trace::wrapping_host_id_at(ms, 0, HOST)), "turn {turn}");
            assert!(ids.insert(trace::wrapping_host_id_at(ms + 500, 500, HOST)), "turn {turn}, with an epoch");
        }
        assert!(ids.insert(trace::host_id(HOST)), "turn {turn}, by the clock");
    }
}

#[test]
fn the_random_word_beside_a_host_serves_5000_ids() {
    let words: Vec<_> = (0..20_000)
        .map(|_| {
            let parts = trace::read_host_id(&trace::host_id(HOST).to_string()).unwrap();
            assert_eq!(parts.host, HOST);
            parts.random
        })
        .collect();
    let runs: Vec<_> = words.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    // After a second, fresh randomness ends a run early.
    assert!(runs.iter().all(|&run| run <= 5000) && (4..=6).contains(&runs.len()), "{runs:?}");
}

#[test]
fn sofatracers_sequence_runs_from_1000_to_9000_and_no_further() {
    let ids: Vec<_> = (0..20_000).map(|_| Sofa::new([10, 0, 0, 7].into())).collect();
    for pair in ids.windows(2) {
        let next = if pair[0].sequence == 9000 { 1000 } else { pair[0].sequence + 1 };
        assert!(pair[1].sequence == next || pair[1].ms >= pair[0].ms, "another test's thread may be in between");
        assert!((1000..=9000).contains(&pair[1].sequence));
    }
    assert!(ids.iter().all(|id| id.pid == std::process::id()));
    // The thread of another test may get that value once, but not every time.
    for end in [1000, 9000] {
        assert!((0..1_000_000).any(|_| Sofa::new([10, 0, 0, 7].into()).sequence == end), "{end} never comes");
    }
}

#[test]
fn skywalkings_sequence_runs_from_0_to_9999_and_no_further() {
    let ids: Vec<_> = (0..25_000).map(|_| SkyWalking::new()).collect();
    assert_eq!(ids[0].sequence, 0);
    for pair in ids.windows(2) {
        assert_eq!(pair[1].sequence, (pair[0].sequence + 1) % 10_000);
        assert!(pair[1].ms >= pair[0].ms + i64::from(pair[1].sequence == 0));
        assert_eq!(pair[0].to_string().parse(), Ok(pair[0]));
    }
}

proptest! {
    #[test]
    fn a_stamp_is_read_back_exactly(ms in 0..1_i64 << 41, epoch in 0..1_i64 << 41) {
        let id = trace::wrapping_id_at(ms, epoch);
        prop_assert_eq!(trace::read_id(&id.to_string()).unwrap().ms, (ms - epoch).rem_euclid(1 << 41));
    }

    #[test]
    fn sofas_read_back(address: u32, ms in 0..10_i64.pow(13), sequence in 1000..=9000_u16, pid: u32) {
        let id = Sofa { address: address.into(), ms, sequence, pid };
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn traceparents_read_back(trace in 1_u128.., span in 1_u64.., sampled: bool, random: bool) {
        let parent = Traceparent { trace_id: TraceId(trace), span_id: SpanId(span), sampled, random };
        prop_assert_eq!(parent.to_string().parse(), Ok(parent));
    }
}

#[test]
fn the_words_of_an_ipv6_address_are_folded() {
    // Each word shares bits with those before it.
    let address = "123:4567:89ab:cdef:9999:3333:5555:888f".parse().unwrap();
    assert_eq!(trace::host_word(address), 0x0123_4567 ^ 0x89ab_cdef ^ 0x9999_3333 ^ 0x5555_888f);
}

#[test]
fn both_halves_of_a_random_id_are_random() {
    let id = trace::otel_trace_id().0;
    assert!(id >> 64 != 0 && id as u64 != 0);
}

#[test]
fn sofas_time_of_more_than_13_digits_begins_anew() {
    let id = Sofa { address: [10, 0, 0, 7].into(), ms: 10_000_000_000_007, sequence: 1000, pid: 1 };
    assert_eq!(id.to_string(), "0a000007000000000000710001");
    // The greatest of 64 bits ends in 4_073_709_551_615.
    assert_eq!(Sofa { ms: -1, ..id }.to_string(), "0a000007407370955161510001");
}

#[test]
fn the_longest_texts_have_the_greatest_length() {
    let skywalking = SkyWalking { instance: 1, thread: u32::MAX, ms: -1, sequence: 9999 };
    assert!(skywalking.to_string().ends_with(".4294967295.18446744073709551615"));
    assert_eq!(skywalking.to_string().len(), SkyWalking::MAX_LEN);
    let sofa = Sofa { address: [10, 0, 0, 7].into(), ms: 1, sequence: 9000, pid: u32::MAX };
    assert!(sofa.to_string().ends_with("90004294967295"));
    assert_eq!(sofa.to_string().len(), Sofa::MAX_LEN);
}

#[test]
fn the_longest_uber_trace_id_has_its_colons_escaped() {
    let longest = "4bf92f3577b34da6a3ce929d0e0e4736%3A00f067aa0ba902b7%3A05e3ac9a4f6e3b90%3A01";
    let read = |text: &str| UberTraceId::from_text(text.as_bytes());
    assert_eq!(longest.len(), 75);
    assert!(read(longest).is_ok());
    assert_eq!(read(&format!("{longest}0")).map_err(|error| error.kind()), Err(FormatErrorKind::Length));
}

#[test]
fn a_decision_follows_a_root_without_a_parent() {
    let header = AmznTraceId { trace_id: TraceId(255), parent_id: None, sampled: Some(true) };
    assert_eq!(header.to_string(), "Root=1-00000000-0000000000000000000000ff;Sampled=1");
}

#[test]
fn a_span_of_zero_is_none() {
    let parent_id = |span: &str| {
        let text = format!("105445aa7843bc8bf206b12000100000/{span};o=1");
        CloudTraceContext::from_text(text.as_bytes()).unwrap().parent_id
    };
    assert_eq!(["0", "1", "18446744073709551615"].map(parent_id), [None, Some(SpanId(1)), Some(SpanId(u64::MAX))]);
}

#[test]
fn a_child_has_a_span_of_its_own_and_its_callers_as_parent() {
    let parent = B3::new(Some(Sampling::Accept)).ids.unwrap();
    let child = B3 { ids: Some(parent), sampled: None }.child().ids.unwrap();
    assert_eq!((child.trace_id, child.parent_span_id), (parent.trace_id, Some(parent.span_id)));
    assert_ne!(child.span_id, parent.span_id);
    let parent = Traceparent::new(true);
    let child = parent.child();
    assert_eq!(Traceparent { span_id: parent.span_id, ..child }, parent);
    assert_ne!(child.span_id, parent.span_id);
}
