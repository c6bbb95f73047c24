//! The fields of 64-bit ids, in each layout.

use proptest::prelude::*;
use std::collections::HashSet;
use txid::snowflake::{Generator, Layout, LayoutError, Order, Parts, State};

const NOW_MS: i64 = 1_700_000_000_000;

fn generator(layout: &Layout, node: u64) -> Generator {
    Generator::new(State::in_memory(layout, node).unwrap())
}

#[test]
fn the_sample_reads_back() {
    let parts = Parts { ms: 1_565_422_103_621, node: 1, sequence: 0 };
    assert_eq!(Layout::SNOWFLAKE.decode(1_160_090_501_362_225_152), Some(parts));
    assert_eq!(Layout::LEAF.decode(1_160_090_501_362_225_152), Some(parts));
    assert_eq!(generator(&Layout::SNOWFLAKE, 1).generate_at(parts.ms), Ok(1_160_090_501_362_225_152));
}

#[test]
fn the_presets_are_as_their_origins_have_them() {
    for (name, text) in [
        ("snowflake", "time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2010-11-04T01:42:54.657Z"),
        ("leaf", "time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1288834974657"),
        ("sonyflake", "time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=2014-09-01T00:00:00Z"),
        ("uid", "time_bits=28,node_bits=22,sequence_bits=13,unit_ms=1000,epoch=2016-05-19T16:00:00Z"),
        ("snowflake53", "time_bits=38,node_bits=10,sequence_bits=5,unit_ms=10,epoch=2015-01-01"),
    ] {
        let (preset, custom): (Layout, Layout) = (name.parse().unwrap(), text.parse().unwrap());
        assert_eq!(preset.to_string(), custom.to_string());
    }
    let sonyflake = generator(&Layout::SONYFLAKE, 258);
    let begin_ms = *Layout::SONYFLAKE.range_ms().start();
    assert_eq!(sonyflake.generate_at(begin_ms + 75), Ok((7 << 8) << 16 | 258));
    assert_eq!(sonyflake.generate_at(begin_ms + 75), Ok((7 << 8 | 1) << 16 | 258));
    let parts = Parts { ms: begin_ms + 70, node: 258, sequence: 1 };
    assert_eq!(Layout::SONYFLAKE.decode((7 << 8 | 1) << 16 | 258), Some(parts));
    assert!(generator(&Layout::UID, 1).generate_at(1_732_109_055_999).is_ok());
    assert!(generator(&Layout::UID, 1).generate_at(1_732_109_056_000).is_err());
}

#[test]
fn a_double_holds_every_id_of_snowflake53() {
    let layout = Layout::SNOWFLAKE53;
    let last = Parts { ms: 4_168_849_469_430, node: 1023, sequence: 31 };
    assert_eq!(layout.decode((1 << 53) - 1), Some(last));
    assert_eq!(layout.decode(1 << 53), None);
    // All ids since September 2024 have 16 digits, and so has the last.
    assert_eq!(layout.ids_of(1_725_246_181_260)[0].to_string().len(), 16);
    assert_eq!(((1_u64 << 53) - 1).to_string().len(), 16);

    let generator = generator(&layout, 1023).with_max_drift_ms(0);
    let ids: Vec<_> = (0..32).map(|_| generator.generate_at(*layout.range_ms().end()).unwrap()).collect();
    assert_eq!(ids[31], (1 << 53) - 1);
    assert!(ids.iter().all(|&id| id as f64 as u64 == id));
    assert!(generator.generate_at(*layout.range_ms().end()).is_err());
}

#[test]
fn leaf_starts_each_millisecond_at_random_below_a_hundred() {
    let leaf = generator(&Layout::LEAF, 2);
    let sequence = |ms| Layout::LEAF.decode(leaf.generate_at(ms).unwrap()).unwrap().sequence;
    let starts: Vec<u64> = (0..1000).map(|ms| sequence(NOW_MS + ms)).collect();
    assert!(starts.iter().all(|&start| start < 100));
    assert!(starts.iter().collect::<HashSet<_>>().len() > 80);
    assert_eq!(sequence(NOW_MS + 999), starts[999] + 1);
    let later = Layout::LEAF.with_epoch_ms(NOW_MS).unwrap();
    let leaf = generator(&later, 2);
    assert!((0..1000).any(|ms| later.decode(leaf.generate_at(NOW_MS + ms).unwrap()).unwrap().sequence > 0));
}

#[test]
fn any_layout_starts_at_random_below_a_number() {
    for (text, starts) in [
        ("snowflake,random_start=16", 16),
        ("sonyflake,random_start=256", 256),
        ("time_bits=41,node_bits=10,sequence_bits=12,random_start=7,epoch=2020-01-01", 7),
        ("snowflake53,random_start=1", 1),
    ] {
        let layout: Layout = text.parse().unwrap();
        // Each layout has a generator of its own, because states in memory are those of a process.
        let made = generator(&layout, 77);
        let seen: HashSet<u64> = (0..20_000)
            .map(|unit| layout.decode(made.generate_at(NOW_MS + unit * 10).unwrap()).unwrap().sequence)
            .collect();
        assert_eq!(seen, (0..starts).collect(), "{text}");
    }
    assert_eq!("snowflake,random_start=100".parse(), Ok(Layout::LEAF));
    for wrong in
        ["snowflake,random_start=0", "snowflake,random_start=4097", "snowflake53,random_start=33", "uid,random_start=x"]
    {
        assert!(
            matches!(wrong.parse::<Layout>(), Err(LayoutError::OutOfRange { name: "random_start", .. })),
            "{wrong}"
        );
    }
    for wrong in ["snowflake,epoch=0", "snowflake,random_start=1,epoch=0", "twitter,random_start=1"] {
        assert!(wrong.parse::<Layout>().is_err(), "{wrong}");
    }
}

#[test]
fn ids_run_ahead_by_whole_units_of_time() {
    // A unit has 10 ms and 256 ids.
    let sonyflake = generator(&Layout::SONYFLAKE, 259).with_max_drift_ms(109);
    assert_eq!((0..10_000).filter(|_| sonyflake.generate_at(NOW_MS).is_ok()).count(), 11 * 256);
}

#[test]
fn the_end_of_a_layout_is_announced_for_a_year() {
    let end_ms = *Layout::UID.range_ms().end();
    let a_year_ago = end_ms - 365 * 24 * 3_600_000;
    let announced = |verb: &str| {
        let rest = "at 2024-11-20T13:24:15.999Z, and there are no ids after that: choose another one in time";
        Some(format!("the layout {verb} {rest}"))
    };
    for (now_ms, said) in [
        (i64::MIN, None),
        (a_year_ago, None),
        (a_year_ago + 1, announced("ends")),
        (end_ms, announced("ends")),
        (end_ms + 1, announced("ended")),
        (i64::MAX, announced("ended")),
    ] {
        assert_eq!(Layout::UID.ending(now_ms).map(|ending| ending.to_string()), said, "{now_ms}");
    }
}

#[test]
fn an_epoch_is_an_integer_that_a_double_holds() {
    for farthest in [-(1 << 53), 1 << 53] {
        assert!(Layout::SNOWFLAKE.with_epoch_ms(farthest).is_ok());
        assert!(Layout::SNOWFLAKE.with_epoch_ms(farthest + farthest.signum()).is_err());
    }
}

#[test]
fn invalid_layouts_are_refused() {
    let error = |text: &str| text.parse::<Layout>().unwrap_err();
    assert_eq!(error("time_bits=41,node_bits=10"), LayoutError::Missing("sequence_bits"));
    assert_eq!(error("time_bits=41,node_bits=11,sequence_bits=12"), LayoutError::TooWide(64));
    for wrong in [
        "time_bits=41,time_bits=41",
        "node_bits=1,time_bits=41",
        "sequence_bits=1,time_bits=41",
        "time_bits=41,bits=1",
        "time_bits=41,epoch",
    ] {
        assert!(matches!(error(wrong), LayoutError::Part(_)), "{wrong}");
    }
    for wrong in
        ["time_bits=0", "time_bits=64", "node_bits=-1", "unit_ms=0", "epoch=2020-13-01", "epoch=x", "time_bits="]
    {
        assert!(matches!(error(wrong), LayoutError::OutOfRange { .. }), "{wrong}");
    }
    // Only an epoch may be a date.
    let of_a_unit = error("unit_ms=1970-01-01T00:00:00.005Z").to_string();
    assert!(of_a_unit.ends_with("not an integer from 1 to 4294967296"), "{of_a_unit}");
    let of_an_epoch = error("epoch=x").to_string();
    assert!(of_an_epoch.ends_with("or a date such as 2014-09-01T00:00:00Z"), "{of_an_epoch}");
    let unknown = error("twitter");
    assert_eq!(unknown, LayoutError::UnknownPreset("twitter".to_string()));
    assert!(unknown.to_string().starts_with("layout 'twitter' is not one of snowflake, "), "{unknown}");
}

fn any_layout() -> impl Strategy<Value = Layout> {
    (1_u32..=63, 0_u32..=62, 0_u32..=62, 1_u64..=100_000, any::<bool>()).prop_map(
        |(time, node, sequence, unit_ms, swap)| {
            let node = node.min(63 - time);
            let sequence = sequence.min(63 - time - node);
            let order = if swap { Order::SequenceThenNode } else { Order::NodeThenSequence };
            Layout::new([time, node, sequence], unit_ms, 1_600_000_000_000, order).unwrap()
        },
    )
}

proptest! {
    #[test]
    fn a_layout_reads_back(layout in any_layout()) {
        prop_assert_eq!(layout.to_string().parse(), Ok(layout));
    }

    #[test]
    fn ids_go_up_and_say_what_they_were_made_of(layout in any_layout(), node: u64, later_ms in 0_i64..1 << 40) {
        let node = node & layout.last_node();
        let generator = generator(&layout, node).with_max_drift_ms(0);
        let clock_ms = 1_600_000_000_000 + later_ms;
        if let (Ok(first), Ok(second)) = (generator.generate_at(clock_ms), generator.generate_at(clock_ms)) {
            prop_assert!(first < second && second < 1 << 63);
            for id in [first, second] {
                let parts = layout.decode(id).unwrap();
                prop_assert_eq!(parts.node, node);
                prop_assert!(parts.ms <= clock_ms);
            }
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,40}|[a-z_]{0,14}=[0-9-]{0,20}(,[a-z_]{0,14}=[0-9-]{0,20}){0,5}") {
        let _ = text.parse::<Layout>();
    }
}
