//! The promises of every format, and the files that a new one needs.

use crate::made::makers;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::thread;
use txid::formats::{ALL, Format, Numbers, named, recognize};
use txid::{Maker, trace};

const MS: i64 = 1_522_545_688_552;

fn text(write: impl FnOnce(&mut [u8; Maker::MAX_LEN]) -> usize) -> Vec<u8> {
    let mut text = [0; Maker::MAX_LEN];
    let len = write(&mut text);
    text[..len].to_vec()
}

fn now(maker: &Maker) -> Vec<u8> {
    text(|text| maker.write_by(txid::system_ms(), text).unwrap().len)
}

#[test]
fn ids_are_as_long_as_their_format_says_and_are_recognized() {
    for (format, maker) in makers() {
        // Nothing tells a strong id from another.
        let read_as = if format.name == "strong" { named("txid").unwrap() } else { format };
        let ids: HashSet<_> = (0..1000).map(|_| now(&maker)).collect();
        assert_eq!(ids.len(), 1000, "{format:?}");
        for id in ids {
            let found = recognize(&id, &Numbers::UNKNOWN, txid::system_ms()).unwrap();
            let is_found = found.iter().any(|(found, _)| found.name() == read_as.name);
            assert!(is_found, "{format:?}: {} is {found:?}", id.escape_ascii());
            let lengths = read_as.lengths();
            assert!(lengths.contains(&id.len()), "{format:?}: {} is not of {lengths:?}", id.escape_ascii());
        }
    }
}

/// A chi-squared test with a limit that one run of a million exceeds.
#[test]
fn each_character_of_an_alphabet_is_equally_likely() {
    for (alphabet, limit) in [("0123456789", 45.0), ("ab", 25.0), ("abcdefghijklmnopq", 58.0)] {
        let maker = Maker::builder("nanoid").options([&*format!("alphabet={alphabet}"), "length=50"]).build().unwrap();
        let mut counts = vec![0_u32; alphabet.len()];
        for _ in 0..1000 {
            now(&maker).iter().for_each(|byte| counts[alphabet.bytes().position(|one| one == *byte).unwrap()] += 1);
        }
        let expected = 50_000.0 / alphabet.len() as f64;
        let chi: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi < limit, "{alphabet}: {chi}, {counts:?}");
    }
}

#[test]
fn a_type_ids_prefix_stands_before_a_version_7() {
    let maker = Maker::builder("typeid").options(["prefix=req_line"]).build().unwrap();
    let ids: Vec<_> = (0..100)
        .map(|_| String::from_utf8(text(|text| maker.write_wrapping_at(MS, text).unwrap().len)).unwrap())
        .collect();
    assert!(ids.is_sorted() && ids.iter().all(|id| id.starts_with("req_line_01")), "{ids:?}");
    assert_eq!(named("typeid").unwrap().ms(ids[0].as_bytes(), &Numbers::UNKNOWN), Some(MS));
}

/// Ids by the clock, and enough ids of one time to wrap counters of 16 bits.
#[test]
fn no_id_twice_across_threads() {
    fn check(name: &str, make: impl Fn() -> Vec<u8> + Sync) {
        let of_a_thread = || (0..70_000).map(|_| make()).collect::<Vec<_>>();
        let [one, two] =
            thread::scope(|scope| [(); 2].map(|()| scope.spawn(of_a_thread)).map(|thread| thread.join().unwrap()));
        let ids: HashSet<_> = one.into_iter().chain(two).collect();
        assert_eq!(ids.len(), 140_000, "{name}");
    }
    for (format, maker) in makers() {
        check(format.name, || now(&maker));
        if format.make.as_ref().unwrap().takes_a_time {
            check(format.name, || text(|text| maker.write_wrapping_at(7_000_000_000_000, text).unwrap().len));
        }
    }
    check("the id of a span", || trace::span_id().to_text().to_vec());
}

/// Also after an id of a time far ahead, and of all ids of one time.
#[test]
fn each_id_of_a_thread_is_greater_than_the_one_before() {
    let in_order = |(format, _): &(&Format, Maker)| {
        ["uuid_v7", "flake", "ulid", "trace_id", "trace_host_id"].contains(&format.name)
    };
    let sorted = makers().filter(in_order).map(|(format, maker)| {
        let at = |ms| text(|text| maker.write_wrapping_at(ms, text).unwrap().len);
        let ids: Vec<_> = (0..200_000).map(|_| now(&maker)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{format:?}");
        let (ahead, after) = (at(txid::system_ms() + (1 << 36)), now(&maker));
        assert!(ids.last() < Some(&after) && after < ahead, "{format:?}");
        // Others count on from the sequence of another time.
        if ["uuid_v7", "ulid"].contains(&format.name) {
            assert!((0..200_000).map(|_| at(7)).is_sorted_by(|a, b| a < b), "{format:?}");
        }
    });
    assert_eq!(sorted.count(), 5);
}

#[test]
fn a_given_time_is_read_back() {
    for (format, maker) in makers() {
        let mut id = [0; Maker::MAX_LEN];
        let stamped = maker.write_wrapping_at(MS, &mut id);
        assert_eq!(stamped.is_some(), format.make.as_ref().unwrap().takes_a_time, "{format:?}");
        let Some(stamped) = stamped.filter(|_| format.is_read()) else { continue };
        let ms = format.ms(&id[..stamped.len], &Numbers::UNKNOWN).unwrap();
        assert!(ms == MS || ms == MS / 1000 * 1000, "{format:?}: {ms}");
    }
}

#[test]
fn a_clocks_time_is_read_back() {
    let with_a_time: Vec<_> = makers().filter(|(format, _)| format.has_a_time()).collect();
    assert!(with_a_time.len() > 10, "{}", with_a_time.len());
    for (format, maker) in with_a_time {
        let before = txid::system_ms() / 1000 * 1000;
        let ms = format.ms(&now(&maker), &Numbers::UNKNOWN).unwrap();
        assert!((before..=txid::system_ms()).contains(&ms), "{format:?}: {ms}");
    }
}

#[test]
fn the_ids_of_a_time_lie_between_its_bounds_and_no_others() {
    let numbers = &Numbers::UNKNOWN;
    let mut sorted = 0;
    for format in ALL {
        let Some(bounds) = format.bounds(MS..=MS, numbers) else { continue };
        let mut later = (1..=1000).map(|more| format.bounds(MS + more..=MS + more, numbers).unwrap());
        let next = later.find(|next| *next != bounds).unwrap();
        let [first, last, next] = [&bounds[0], &bounds[1], &next[0]].map(|id| {
            let id = id.as_bytes();
            (format.order(id, numbers), format.ms(id, numbers))
        });
        assert!(first.0 < last.0 && last.0 < next.0, "{format:?}: {bounds:?}");
        assert!(first.1 == last.1 && last.1 < next.1 && MS - first.1.unwrap() < 1000, "{format:?}: {bounds:?}");
        sorted += 1;
    }
    assert!(sorted >= 12, "{sorted}");
}

#[test]
fn the_times_of_a_format_are_those_that_its_ids_can_hold() {
    let vectors: Value = serde_json::from_str(&file("tests/vectors/times.json")).unwrap();
    let numbers = &Numbers::UNKNOWN;
    // The layouts of snowflakes have their own.
    for format in ALL.iter().copied().filter(|format| !format.takes_a_layout()) {
        let Some(times) = format.times(numbers) else { continue };
        let of_it = |case: &&Value| case["format"] == format.name;
        let ms = |case: &Value| case["ms"].as_str().unwrap().parse::<i64>().unwrap();
        let cases: Vec<_> = vectors["bounds"].as_array().unwrap().iter().filter(of_it).map(ms).collect();
        // Nobody counts milliseconds until the year 292,000,000.
        let is_last = |ms: i64| *times.end() == i64::MAX || (times.end() - 999..=*times.end()).contains(&ms);
        // One with a host has the time of one without.
        assert!(cases.is_empty() || cases.into_iter().any(is_last), "no vector is the last of {format:?}");
    }
    for format in ALL {
        let Some(times) = format.times(numbers) else { continue };
        let [first, last] = format.bounds(i64::MIN..=i64::MAX, numbers).unwrap();
        assert_eq!(format.bounds(times.clone(), numbers), Some([first.clone(), last.clone()]), "{format:?}");
        assert_eq!(format.bounds(i64::MIN..=times.start() - 1, numbers), None, "{format:?}");
        if let Some(later) = times.end().checked_add(1) {
            assert_eq!(format.bounds(later..=i64::MAX, numbers), None, "{format:?}");
        }
        // A second is read as its first millisecond.
        let last = format.ms(last.as_bytes(), numbers).unwrap();
        assert!((times.end() - 999..=*times.end()).contains(&last), "{format:?}: {last}");
    }
}

#[test]
fn ids_that_do_not_sort_by_time_are_in_the_order_of_their_times() {
    let uuid = named("uuid_v1").unwrap();
    let order = |text: &str| uuid.order(text.as_bytes(), &Numbers::UNKNOWN).unwrap();
    // Their years are 1582, 1969, 1970 and 2018.
    let orders = [
        order("00000000-0000-1000-8000-000000000000"),
        order("13813fff-1dd2-11b2-8000-000000000000"),
        order("13814000-1dd2-11b2-8000-000000000000"),
        order("aaaaaaaa-354a-11e8-8000-000000000000"),
    ];
    assert!(orders.is_sorted_by(|a, b| a < b), "{orders:?}");
}

#[test]
fn a_format_and_a_maker_are_shown_without_what_they_are_made_of() {
    let format = named("uuid_v7").unwrap();
    assert_eq!(format!("{format:?}"), "Format(uuid_v7)");
    assert_eq!(format!("{:?}", format.maker([]).unwrap()), "Maker");
}

#[test]
fn names_are_different_and_of_lower_case_letters() {
    let names: HashSet<_> = ALL.iter().map(|format| format.name).collect();
    assert_eq!(names.len(), ALL.len());
    assert!(ALL.iter().all(|format| format.name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))));
}

/// Names all formats that lack something.
fn each_has(what: &str, has: impl Fn(&Format) -> bool) {
    let lacking: Vec<_> = ALL.iter().filter(|format| !has(format)).map(|format| format.name).collect();
    assert!(lacking.is_empty(), "{what}: nothing of {lacking:?}");
}

fn file(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `uuid` of `uuid_v7`.
fn family(name: &str) -> &str {
    name.split("_v").next().unwrap_or(name)
}

#[test]
fn each_is_described() {
    // Segments have a page of their own.
    let text = file("docs/formats.md") + &file("docs/segments.md");
    let is_of_a_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let words: HashSet<_> = text.split(|char: char| !is_of_a_word(char)).collect();
    each_has("docs/formats.md", |format| words.contains(family(format.name)));
}
