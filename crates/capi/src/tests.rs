//! The C interface: what its functions write, what they return, and what they say.

use crate::caller::{TXID_MESSAGE_LEN, txid_text};
use crate::clock::{txid_clock_coarse_ms, txid_clock_ms};
use crate::decide::*;
use crate::error::{txid_error, txid_strerror};
use crate::maker::{TXID_MAX_LEN, txid_maker_close, txid_maker_fill, txid_maker_fill_at, txid_maker_open};
use crate::policy::*;
use crate::read::{TXID_PARTS_MAX, txid_parts, txid_read, txid_value};
use crate::readings::{TXID_READINGS_MAX, txid_reading, txid_readings};
use crate::snowflake::*;
use crate::span::txid_span;
use crate::txid::*;
use crate::uuid::{TXID_UUID_LEN, txid_uuid_of_name, txid_uuid_v7_now};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

const SAMPLE: &str = "4om9qi54la8ffr4bd9sg";
const SAMPLE_MS: i64 = 655_829_050_002;

fn ms(text: &[u8]) -> i64 {
    // SAFETY: the text is as long as it says.
    unsafe { txid_ms(text.as_ptr().cast(), text.len()) }
}

/// What txid_read returns: the parts, or the code and the message.
fn read(format: &str, text: &[u8]) -> Result<txid_parts, (i32, String)> {
    let (mut parts, mut message) = (MaybeUninit::<txid_parts>::zeroed(), [0_u8; TXID_MESSAGE_LEN]);
    let (name, text, len) = (format.as_ptr().cast(), text.as_ptr().cast(), text.len());
    // SAFETY: the texts are as long as they say, the message has its room, and the parts are written if there is no error.
    unsafe {
        match txid_read(
            name,
            format.len(),
            text,
            len,
            parts.as_mut_ptr(),
            size_of::<txid_parts>(),
            message.as_mut_ptr().cast(),
        ) {
            0 => Ok(parts.assume_init()),
            code => Err((code, CStr::from_bytes_until_nul(&message).unwrap().to_str().unwrap().to_string())),
        }
    }
}

fn why_not(format: &str, text: &[u8]) -> (i32, String) {
    read(format, text).err().unwrap_or_default()
}

/// The parts, as their names, texts, kinds and numbers.
fn shown(parts: &txid_parts) -> String {
    let text = |text: &[c_char]| text.iter().map(|byte| *byte as u8 as char).collect::<String>();
    let part = |at: usize| {
        let part = &parts.list[at];
        // SAFETY: the name is the library's.
        let name = String::from_utf8_lossy(unsafe { part.name.bytes() });
        format!("{name} {} {} {}", text(&part.text[..part.text_len as usize]), part.value, part.number)
    };
    (0..parts.count).map(part).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_time_of_an_id_is_read_in_either_case() {
    assert_eq!(ms(SAMPLE.as_bytes()), SAMPLE_MS);
    assert_eq!(ms(SAMPLE.to_uppercase().as_bytes()), SAMPLE_MS);
    assert_eq!(ms(b"vvvvvvvvvvvvvvvvvvvg"), (1 << 42) - 1);
}

#[test]
fn a_text_that_is_no_id_gets_its_code_and_the_reason() {
    for (text, code, message) in [
        (&b""[..], txid_error::Length, "an id has 20 characters, not 0"),
        (b"4om9qi54la8ffr4bd9s", txid_error::Length, "an id has 20 characters, not 19"),
        (b"4om9qi54la8ffr4bd9sg0", txid_error::Length, "an id has 20 characters, not 21"),
        (b"zom9qi54la8ffr4bd9sg", txid_error::Character, "character 1 is 'z', not base32hex"),
        (b"4om9qi54la8f\0r4bd9sg", txid_error::Character, "character 13 is '\\x00', not base32hex"),
        (b"4om9qi54la8ffr4bd9s\xff", txid_error::Character, "character 20 is '\\xff', not base32hex"),
        (
            b"4om9qi54la8ffr4bd9s1",
            txid_error::LastCharacter,
            "character 20 is '1', but the last one must be '0' or 'g'",
        ),
    ] {
        let code = code as i32;
        assert_eq!(ms(text), i64::from(code), "{message}");
        assert_eq!(why_not("txid", text), (code, message.to_string()));
        let mut bytes = [7; TXID_BYTES_LEN];
        // SAFETY: both are as long as they say.
        assert_eq!(unsafe { txid_to_bytes(text.as_ptr().cast(), text.len(), bytes.as_mut_ptr()) }, code);
        assert_eq!(bytes, [7; TXID_BYTES_LEN], "nothing is written");
    }
    assert_eq!(why_not("txid", SAMPLE.as_bytes()), (0, String::new()));
}

#[test]
fn what_is_no_format_that_is_read_is_an_error() {
    for name in ["", "UUID", "strong", "segment", "a\n"] {
        let (code, message) = why_not(name, b"x");
        let begins = format!("\"{}\" is not a format that is read; these are txid, ", name.escape_default());
        assert!(code == txid_error::Option as i32 && message.starts_with(&begins), "{code} {message}");
    }
    assert_eq!(why_not(&"x".repeat(2000), b"").1.len(), TXID_MESSAGE_LEN - 1, "a message is cut to its room");
}

#[test]
fn a_part_is_a_text_a_number_or_a_flag() {
    let (text, number, flag) = (txid_value::Text as u8, txid_value::Number as u8, txid_value::Flag as u8);
    let flake = read("flake", b"00009V93hHzYToZzAFfwf9").unwrap();
    assert_eq!(shown(&flake), format!("node 02:42:ac:11:00:02 {text} 0, sequence 7 {number} 7"));
    assert_eq!(flake.ms, 1_522_545_688_552);
    let header = read("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
    let flags = format!("random false {flag} 0, sampled true {flag} 1");
    assert!(shown(&header).ends_with(&flags) && header.ms == i64::MIN, "{}", shown(&header));
    // A UUID of any version, and a 64-bit id of few digits.
    assert_eq!(read("uuid", b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f").unwrap().ms, 1_645_557_742_000);
    assert_eq!(shown(&read("snowflake", b"7").unwrap()), format!("node 0 {number} 0, sequence 7 {number} 7"));
}

/// A prefix of 63 letters, which no other part exceeds.
#[test]
fn the_longest_text_of_a_part_has_room() {
    let prefix = "a".repeat(63);
    let parts = read("typeid", format!("{prefix}_01h455vb4pex5vsknk084sn02q").as_bytes()).unwrap();
    let (first, most) = (shown(&parts), TXID_PARTS_MAX);
    assert!(first.starts_with(&format!("prefix {prefix} ")) && parts.count <= most, "{first}");
}

#[test]
fn every_code_has_a_meaning_of_its_own() {
    let meaning = |code| {
        // SAFETY: the text is static and ends in a NUL.
        unsafe { CStr::from_ptr(txid_strerror(code)) }.to_str().unwrap()
    };
    let mut meanings: Vec<_> = txid_error::ALL.iter().map(|&error| meaning(error as i32)).collect();
    meanings.sort_unstable();
    assert!(meanings.is_sorted_by(|one, other| one != other), "{meanings:?}");
    assert_eq!(meaning(0), "no error");
    assert_eq!(meaning(1), "no such error code");
    assert_eq!(meaning(i32::MIN), "no such error code");
}

#[test]
fn the_library_and_its_header_have_one_version() {
    assert_eq!(crate::txid_abi_version(), crate::TXID_ABI_VERSION);
}

#[test]
fn the_clocks_are_the_systems() {
    let now_ms = ::txid::system_ms();
    for ms in [txid_clock_ms(), txid_clock_coarse_ms()] {
        assert!(ms.abs_diff(now_ms) < 60_000, "{ms}, {now_ms}");
    }
    for _ in 0..1000 {
        let coarse_ms = txid_clock_coarse_ms();
        assert!(coarse_ms <= txid_clock_ms(), "the clock with a tick is ahead");
    }
}

#[cfg(feature = "nginx")]
#[test]
fn a_generator_makes_txids_of_the_given_moment() {
    use crate::generator::{txid_generator_close, txid_generator_fill, txid_generator_open};

    let mut texts = [[0_u8; 20]; 2];
    let generator = txid_generator_open();
    assert!(!generator.is_null());
    for text in &mut texts {
        // SAFETY: the generator was just opened, and the text has its room.
        unsafe { txid_generator_fill(generator, SAMPLE_MS, text.as_mut_ptr().cast()) };
        assert_eq!(ms(text), SAMPLE_MS);
    }
    assert_ne!(texts[0], texts[1]);
    // SAFETY: nothing uses it any more.
    unsafe { txid_generator_close(generator) };
}

#[test]
fn ids_are_random_where_the_system_has_randomness() {
    assert!(!txid_entropy_degraded());
}

/// The code and the message of txid_snowflake_open without a file.
fn open(layout: &CStr, node: i64) -> (i32, String) {
    let (mut generator, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
    let (layout, len, to) = (layout.as_ptr(), layout.count_bytes(), message.as_mut_ptr().cast());
    // SAFETY: the layout is as long as it says, and the message has its room.
    let code = unsafe { txid_snowflake_open(layout, len, node, ptr::null(), 0, 0, &mut generator, to) };
    assert_eq!(code == 0, !generator.is_null());
    // SAFETY: it is NULL, or nobody else has it.
    unsafe { txid_snowflake_close(generator) };
    (code, CStr::from_bytes_until_nul(&message).unwrap().to_str().unwrap().to_string())
}

#[test]
fn a_state_is_in_memory_unless_its_node_is_leased() {
    assert_eq!(open(c"snowflake", 1), (0, String::new()));
    let why = "a leased node needs the file that txid-agent keeps";
    assert_eq!(open(c"snowflake", TXID_NODE_LEASED), (txid_error::SnowflakeFile as i32, why.to_string()));
    for node in [1024, -2, i64::MIN] {
        assert_eq!(open(c"snowflake", node).0, txid_error::SnowflakeNode as i32);
    }
    assert_eq!(open(c"snow", 1).0, txid_error::SnowflakeLayout as i32);
}

/// The layout has an id for each second, which is its number.
#[test]
fn ids_run_no_further_ahead_than_the_caller_allows() {
    let (mut generator, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
    let (layout, message) = ("time_bits=35,node_bits=0,sequence_bits=0,unit_ms=1000", message.as_mut_ptr().cast());
    // SAFETY: all texts end with a NUL, the message has its room, and nobody else has the generator.
    unsafe {
        assert_eq!(
            txid_snowflake_open(layout.as_ptr().cast(), layout.len(), 0, ptr::null(), 0, 2000, &mut generator, message),
            0
        );
        let next = || txid_snowflake_next(generator, txid_clock_ms(), message);
        assert!((0..3).all(|_| next() >= 0), "this second and two more");
        let refused = (0..1000).map(|_| (next(), txid_clock_ms() / 1000)).find(|(id, now)| *id < 0 || *id > now + 2);
        assert_eq!(refused.map(|(code, _)| code), Some(txid_error::SnowflakeExhausted as i64));
        txid_snowflake_close(generator);
    }
}

#[test]
fn each_refusal_has_its_code() {
    let later_ms = 2_000_000_000_000;
    let to_come = c"time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2090-01-01";
    for (layout, clocks, code) in [
        (c"snowflake", &[later_ms, 0][..], txid_error::SnowflakeClockBehind),
        (to_come, &[0], txid_error::SnowflakeBeforeEpoch),
        (c"uid", &[0], txid_error::SnowflakeEnded),
    ] {
        let (mut generator, mut message) = (ptr::null_mut(), [0; TXID_MESSAGE_LEN]);
        let (mut counters, message) = (MaybeUninit::<txid_snowflake_counters>::uninit(), message.as_mut_ptr());
        // SAFETY: all texts end with a NUL, the message has its room, and nobody else has the generator.
        let (last, counters) = unsafe {
            let (layout, len) = (layout.as_ptr(), layout.count_bytes());
            assert_eq!(txid_snowflake_open(layout, len, 11, ptr::null(), 0, 0, &mut generator, message), 0);
            let last = clocks.iter().fold(0, |_, clock_ms| txid_snowflake_next(generator, *clock_ms, message));
            txid_snowflake_stats(generator, counters.as_mut_ptr(), size_of::<txid_snowflake_counters>());
            txid_snowflake_close(generator);
            (last, counters.assume_init())
        };
        assert_eq!(last, code as i64, "{layout:?}");
        assert_eq!((counters.issued, counters.refused), (clocks.len() as u64 - 1, 1), "{layout:?}");
        let of_no_lease = (counters.node, counters.lease_left_ms, counters.renewals, counters.failures);
        assert_eq!(of_no_lease, (11, -1, 0, 0), "{layout:?}");
    }
}

/// In place of a program whose `txid_snowflake_parts` has no sequence, and whose `txid_reading` has only the format.
#[test]
fn a_program_with_fewer_fields_gets_those() {
    let (mut generator, mut parts, id) = (ptr::null_mut(), [7_u64; 3], b"b2fr5nvmbtcu7vl9phl0");
    let mut texts = [const { txid_text { len: 0, data: ptr::null() } }; 4];
    // SAFETY: the layout ends with a NUL, each list has as much room as it says, and nobody else has the generator.
    unsafe {
        let (layout, place) = (c"snowflake", texts.as_mut_ptr().cast());
        let len = layout.count_bytes();
        assert_eq!(
            txid_snowflake_open(layout.as_ptr(), len, 11, ptr::null(), 0, 0, &mut generator, ptr::null_mut()),
            0
        );
        assert_eq!(txid_snowflake_decode(generator, 11 << 12, parts.as_mut_ptr().cast(), 16), 0);
        txid_snowflake_close(generator);
        assert_eq!(txid_readings(id.as_ptr().cast(), id.len(), 1_795_521_600_000, place, size_of::<txid_text>(), 3), 3);
    }
    assert_eq!(parts[1..], [11, 7]);
    assert_eq!(texts.map(|text| text.len), [4, 3, 6, 0], "txid, xid, pushid");
}

#[test]
fn what_is_guessable_is_left_as_it_is() {
    let (mut maker, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
    let (mut id, message) = ([0_u8; TXID_MAX_LEN], message.as_mut_ptr().cast());
    let (id, strong) = (id.as_mut_ptr().cast(), txid_text { len: 6, data: c"strong".as_ptr() });
    // SAFETY: the name is as long as it says, all buffers have their room, and nobody else has the maker.
    unsafe {
        assert_eq!(txid_maker_open(&strong, 1, false, &mut maker, message), 0);
        for mut guessable in [false, true] {
            let before = guessable;
            assert_eq!(txid_maker_fill(maker, SAMPLE_MS, id, &mut guessable, message), 20);
            assert_eq!(txid_maker_fill_at(maker, SAMPLE_MS, id, &mut guessable, message), 20);
            assert_eq!(guessable, before);
        }
        txid_maker_close(maker);
    }
}

fn set_words(policy: *mut txid_policy, option: &str, words: &[&str]) -> i32 {
    let (words, mut message) =
        (words.iter().map(|word| txid_text::of(word)).collect::<Vec<_>>(), [0; TXID_MESSAGE_LEN]);
    // SAFETY: the texts are as long as they say, and the message has its room.
    unsafe {
        let (name, message) = (option.as_ptr().cast(), message.as_mut_ptr());
        txid_policy_set(policy, name, option.len(), words.as_ptr(), words.len(), message)
    }
}

fn set(policy: *mut txid_policy, option: &str, word: &str) -> i32 {
    set_words(policy, option, &[word])
}

#[test]
fn an_option_given_twice_has_a_code_of_its_own() {
    let policy = txid_policy_open();
    assert_eq!(set(policy, "header", "X-Id"), 0);
    assert_eq!(set(policy, "header", "X-Id"), txid_error::OptionTwice as i32);
    assert_eq!(set(policy, "accept", "nobody"), txid_error::Option as i32);
    // SAFETY: nobody else has it.
    unsafe { txid_policy_close(policy) };
}

/// The names and values that must change, of a request without headers.
fn changed(policy: *const txid_policy, has_span: bool) -> Vec<(String, Option<String>)> {
    let (mut span, mut changes) = (MaybeUninit::<txid_span>::uninit(), MaybeUninit::<txid_changed_headers>::uninit());
    // SAFETY: numbers and pointers, which may be zero; the rooms are written before they are used, and as many changes as it says.
    unsafe {
        let (mut request, mut decision): (txid_request, txid_decision) = (std::mem::zeroed(), std::mem::zeroed());
        if has_span {
            decision.span = span.as_mut_ptr();
            txid_decide(policy, SAMPLE_MS, &mut request, txid_wants::Span as u32, &mut decision);
        }
        decision.id = txid_text::of(SAMPLE);
        decision.changes = changes.as_mut_ptr();
        txid_decide(policy, SAMPLE_MS, &mut request, txid_wants::Changes as u32, &mut decision);
        let all = changes.as_ptr();
        let list = std::slice::from_raw_parts((&raw const (*all).list).cast::<txid_changed_header>(), (*all).count);
        let text = |text: &txid_text| String::from_utf8(text.bytes().to_vec()).unwrap();
        list.iter().map(|it| (text(&it.name), (!it.value.data.is_null()).then(|| text(&it.value)))).collect()
    }
}

#[test]
fn only_headers_that_a_request_does_not_have_change() {
    let policy = txid_policy_open();
    let own = |name: &str| (name.to_string(), Some(SAMPLE.to_string()));
    assert_eq!(changed(policy, false), [own("X-Request-Id")]);
    assert_eq!(set(policy, "trace", "traceparent"), 0);
    let with_a_span = changed(policy, true);
    assert_eq!(with_a_span[0], own("X-Request-Id"));
    let [(name, Some(value))] = &with_a_span[1..] else { panic!("{with_a_span:?}") };
    assert!(name == "traceparent" && value.starts_with("00-") && value.len() == 55, "{name}: {value}");
    // SAFETY: nobody else has it.
    unsafe { txid_policy_close(policy) };
}

#[test]
fn all_headers_that_may_change_have_room() {
    let policy = txid_policy_open();
    let kinds = ["traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger"];
    assert_eq!(set_words(policy, "trace", &kinds), 0);
    assert_eq!(set(policy, "trace_id_header", "X-Trace-Id"), 0);
    let all = changed(policy, true);
    assert!(all.iter().all(|(_, value)| value.as_ref().is_some_and(|value| !value.is_empty())), "{all:?}");
    assert_eq!(all.len(), 14, "{all:?}");
    assert_eq!(set(policy, "sample", "100%"), 0);
    assert_eq!(changed(policy, true).len(), 15);
    // SAFETY: nobody else has it.
    unsafe { txid_policy_close(policy) };
}

fn readings(text: &str) -> Vec<(String, String, i64, bool)> {
    let mut list = [const { MaybeUninit::<txid_reading>::uninit() }; TXID_READINGS_MAX];
    // SAFETY: the list has room for as many as there can be, and so many are written.
    unsafe {
        let (text, len, size) = (text.as_ptr().cast(), text.len(), size_of::<txid_reading>());
        let count = txid_readings(text, len, 1_795_521_600_000, list.as_mut_ptr().cast(), size, list.len());
        let shown = |text: &txid_text| String::from_utf8_lossy(text.bytes()).into_owned();
        let reading = |it: &txid_reading| (shown(&it.format), shown(&it.layout), it.ms, it.is_unlikely);
        list[..count].iter().map(|it| reading(it.assume_init_ref())).collect()
    }
}

#[test]
fn the_likeliest_reading_comes_first() {
    let of = |format: &str, layout: &str, ms, is_unlikely| (format.to_string(), layout.to_string(), ms, is_unlikely);
    let [txid, xid] = [("txid", 1_522_545_688_537), ("xid", 1_486_861_023_000)].map(|(it, ms)| of(it, "", ms, false));
    assert_eq!(readings("b2fr5nvmbtcu7vl9phl0"), [txid, xid, of("pushid", "", 171_777_067_794_162, true)]);
    assert_eq!(readings("1439530262794464807")[0], of("snowflake", "discord", 1_763_281_159_829, false));
    assert_eq!(readings("919108f7-52d1-4320-9bac-f847db4148a8"), [of("uuid_v4", "", i64::MIN, false)]);
}

#[test]
fn a_uuid_of_now_has_the_time_of_the_callers_clock() {
    let mut text = [0_u8; TXID_UUID_LEN];
    // SAFETY: a UUID has its room.
    unsafe { txid_uuid_v7_now(text.as_mut_ptr().cast(), SAMPLE_MS) };
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert_eq!(text[..13].replace('-', ""), format!("{SAMPLE_MS:012x}"));
}

#[test]
fn a_uuid_of_a_name_is_of_version_3_or_5() {
    for (version, namespace, expected) in [
        (3, "dns", Ok("5df41881-3aed-3515-88a7-2f4a814cf09e")),
        (5, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Ok("2ed6657d-e927-568b-95e1-2665a8aea6a2")),
        (4, "dns", Err(txid_error::Option)),
        (5, "x", Err(txid_error::Length)),
    ] {
        let (name, mut buf) = ("www.example.com", [b'x'; TXID_UUID_LEN]);
        let (namespace, len) = (namespace.as_ptr().cast(), namespace.len());
        // SAFETY: the texts are as long as they say, and a UUID has its room.
        let code = unsafe {
            txid_uuid_of_name(version, namespace, len, name.as_ptr().cast(), name.len(), buf.as_mut_ptr().cast())
        };
        assert_eq!(code, expected.map_or_else(|error| error as i32, |_| 0), "version {version}");
        assert_eq!(buf, expected.unwrap_or(&"x".repeat(36)).as_bytes(), "version {version}");
    }
}

/// A client is known by the structure of the system's that nginx has, or by a text. A value with spaces around it is trimmed.
#[test]
fn a_header_is_judged_by_its_value_and_its_peer() {
    let policy = txid_policy_open();
    assert_eq!(set_words(policy, "accept", &["10.1.2.0/24", "fd00::/8"]), 0);
    // SAFETY: they are numbers alone.
    let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    (v4.sin_family, v6.sin6_family) = (libc::AF_INET as libc::sa_family_t, libc::AF_INET6 as libc::sa_family_t);
    v4.sin_addr.s_addr = u32::from_ne_bytes([10, 1, 2, 3]);
    v6.sin6_addr.s6_addr[..2].copy_from_slice(&[0xfd, 1]);
    let (mut stranger, mut unix) = (v4, v6);
    stranger.sin_addr.s_addr = u32::from_ne_bytes([10, 1, 3, 3]);
    unix.sin6_family = libc::AF_UNIX as libc::sa_family_t;
    let judged = |sockaddr: *const c_void, text: &str, count: u32, value: &str| {
        // SAFETY: numbers and pointers, which may be zero; the address is one of its family, and the texts are as long as they say.
        unsafe {
            let (mut request, mut decision): (txid_request, txid_decision) = (std::mem::zeroed(), std::mem::zeroed());
            request.peer = txid_peer { sockaddr, text: txid_text::of(text) };
            (request.came, request.repeated) = (u32::from(count > 0), u32::from(count > 1));
            request.values[0] = txid_text::of(value);
            (
                txid_decide(policy, 0, &mut request, txid_wants::Id as u32, &mut decision),
                decision.id.len,
                decision.about,
            )
        }
    };
    let [v4, v6, stranger, unix] =
        [(&raw const v4).cast(), (&raw const v6).cast(), (&raw const stranger).cast(), (&raw const unix).cast()];
    for (sockaddr, verdict) in [(v4, 1), (v6, 1), (stranger, 0), (unix, 0)] {
        assert_eq!(judged(sockaddr, "10.1.2.3", 1, "7f3a").0, verdict, "the text is not asked");
    }
    for (count, value, expected) in [
        (1, "7f3a", (1, 4, 0)),
        (1, " 7f3a\t", (1, 4, 0)),
        (1, "a b", (2, 0, 0)),
        (2, "7f3a", (2, 0, 0)),
        (0, "", (0, 0, -1)),
    ] {
        assert_eq!(judged(ptr::null(), "10.1.2.3", count, value), expected, "{count} of {value:?}");
    }
    assert_eq!(judged(ptr::null(), "10.1.3.3", 1, "a b").0, 0, "nothing of a stranger is invalid");
    // SAFETY: nobody else has it.
    unsafe { txid_policy_close(policy) };
}
