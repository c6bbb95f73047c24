//! The C interface: what its functions write, what they return, and what they say.

use crate::caller::{TXID_MESSAGE_LEN, txid_text};
use crate::clock::{txid_clock_coarse_ms, txid_clock_ms};
use crate::error::{txid_error, txid_strerror};
use crate::maker::{TXID_MAX_LEN, txid_maker_close, txid_maker_fill, txid_maker_fill_at, txid_maker_open};
use crate::plan::{txid_plan_close, txid_plan_fill, txid_plan_open, txid_plan_trusts};
use crate::policy::{txid_headers_find, txid_policy, txid_policy_close, txid_policy_open, txid_policy_set};
use crate::read::{TXID_PARTS_MAX, txid_parts, txid_read, txid_value};
use crate::snowflake::{txid_snowflake_close, txid_snowflake_next, txid_snowflake_open};
use crate::span::{txid_changed_header, txid_changed_headers, txid_headers_change, txid_span_start};
use crate::txid::*;
use ::txid::Txid;
use std::ffi::{CStr, c_char};
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
        match txid_read(name, format.len(), text, len, parts.as_mut_ptr(), message.as_mut_ptr().cast()) {
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

fn bound(write: unsafe extern "C" fn(*mut c_char, i64), ms: i64) -> String {
    let mut text = [0_u8; TXID_LEN];
    // SAFETY: there is room for an id.
    unsafe { write(text.as_mut_ptr().cast(), ms) };
    String::from_utf8(text.to_vec()).unwrap()
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
fn a_text_of_any_other_format_gets_its_code_too() {
    for (text, code) in [
        (&b"01ARZ3NDEKTSV4RRFFQ69G5FA"[..], txid_error::Length),
        (b"01ARZ3NDEKTSV4RRFFQ69G5FAU", txid_error::Character),
        (b"81ARZ3NDEKTSV4RRFFQ69G5FAV", txid_error::Value),
    ] {
        let (given, message) = why_not("ulid", text);
        assert_eq!(given, code as i32, "{message}");
    }
}

#[test]
fn what_is_no_format_that_is_read_is_an_error() {
    for name in ["", "UUID", "strong", "segment", "a\n"] {
        let (code, message) = why_not(name, b"x");
        let begins = format!("\"{}\" is not a format that is read; these are txid, ", name.escape_default());
        assert!(code == txid_error::Option as i32 && message.starts_with(&begins), "{code} {message}");
    }
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
fn bytes_are_written_and_read_back() {
    let mut bytes = [0; TXID_BYTES_LEN];
    let mut text = [0_u8; TXID_LEN];
    // SAFETY: every one has its room.
    unsafe {
        assert_eq!(txid_to_bytes(SAMPLE.as_ptr().cast(), SAMPLE.len(), bytes.as_mut_ptr()), 0);
        txid_from_bytes(bytes.as_ptr(), text.as_mut_ptr().cast());
    }
    assert_eq!(bytes, <[u8; 12]>::from(SAMPLE.parse::<Txid>().unwrap()));
    assert_eq!(text, SAMPLE.as_bytes());
}

#[test]
fn a_millisecond_has_its_bounds() {
    assert_eq!(bound(txid_first, SAMPLE_MS), "4om9qi54g00000000000");
    assert_eq!(bound(txid_last, SAMPLE_MS), "4om9qi54nvvvvvvvvvvg");
    assert_eq!(bound(txid_first, 0), "00000000000000000000");
    assert_eq!(bound(txid_last, -1), "vvvvvvvvvvvvvvvvvvvg");
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
fn open(layout: &CStr, node: &CStr) -> (i32, String) {
    let (mut generator, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
    let (layout, node, path) = (layout.as_ptr(), node.as_ptr(), ptr::null());
    // SAFETY: all texts end with a NUL, and the message has its room.
    let code = unsafe { txid_snowflake_open(layout, node, path, 0, &mut generator, message.as_mut_ptr().cast()) };
    assert_eq!(code == 0, !generator.is_null());
    // SAFETY: it is NULL, or nobody else has it.
    unsafe { txid_snowflake_close(generator) };
    (code, CStr::from_bytes_until_nul(&message).unwrap().to_str().unwrap().to_string())
}

#[test]
fn a_state_is_in_memory_unless_its_node_is_leased() {
    assert_eq!(open(c"snowflake", c"1"), (0, String::new()));
    let why = "node 'lease' needs the file that txid-agent keeps";
    assert_eq!(open(c"snowflake", c"lease"), (txid_error::SnowflakeFile as i32, why.to_string()));
    assert_eq!(open(c"snowflake", c"1024").0, txid_error::SnowflakeNode as i32);
    assert_eq!(open(c"snow", c"1").0, txid_error::SnowflakeLayout as i32);
}

/// The layout has an id for each second, which is its number.
#[test]
fn ids_run_no_further_ahead_than_the_caller_allows() {
    let (mut generator, mut message) = (ptr::null_mut(), [0_u8; TXID_MESSAGE_LEN]);
    let (layout, message) = (c"time_bits=35,node_bits=0,sequence_bits=0,unit_ms=1000", message.as_mut_ptr().cast());
    // SAFETY: all texts end with a NUL, the message has its room, and nobody else has the generator.
    unsafe {
        assert_eq!(txid_snowflake_open(layout.as_ptr(), c"0".as_ptr(), ptr::null(), 2000, &mut generator, message), 0);
        let next = || txid_snowflake_next(generator, txid_clock_ms(), message);
        assert!((0..3).all(|_| next() >= 0), "this second and two more");
        let refused = (0..1000).map(|_| (next(), txid_clock_ms() / 1000)).find(|(id, now)| *id < 0 || *id > now + 2);
        assert_eq!(refused.map(|(code, _)| code), Some(txid_error::SnowflakeExhausted as i64));
        txid_snowflake_close(generator);
    }
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

fn set(policy: *mut txid_policy, option: &str, word: &str) -> i32 {
    let text = |text: &str| txid_text { len: text.len(), data: text.as_ptr().cast() };
    let (option, word, mut message) = (text(option), text(word), [0_u8; TXID_MESSAGE_LEN]);
    // SAFETY: the texts are as long as they say, and the message has its room.
    unsafe { txid_policy_set(policy, option.data, option.len, &word, 1, message.as_mut_ptr().cast()) }
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
    let (mut headers, mut span, mut changed) =
        (MaybeUninit::uninit(), MaybeUninit::uninit(), MaybeUninit::<txid_changed_headers>::uninit());
    // SAFETY: the headers and the span are written before they are used, and as many changes as it says.
    unsafe {
        txid_headers_find(policy, ptr::null(), 0, headers.as_mut_ptr());
        txid_span_start(policy, SAMPLE_MS, span.as_mut_ptr());
        let span = if has_span { span.as_ptr() } else { ptr::null() };
        let (headers, all) = (headers.as_ptr(), changed.as_mut_ptr());
        let count = txid_headers_change(policy, SAMPLE.as_ptr().cast(), SAMPLE.len(), span, headers, all);
        let list = std::slice::from_raw_parts((&raw const (*all).list).cast::<txid_changed_header>(), count);
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
    let words = kinds.map(|kind| txid_text { len: kind.len(), data: kind.as_ptr().cast() });
    let mut message = [0; TXID_MESSAGE_LEN];
    // SAFETY: the words are as long as they say.
    let code = unsafe {
        let (option, message) = ("trace".as_ptr().cast(), message.as_mut_ptr());
        txid_policy_set(policy, option, "trace".len(), words.as_ptr(), words.len(), message)
    };
    assert_eq!(code, 0);
    assert_eq!(set(policy, "trace_id_header", "X-Trace-Id"), 0);
    let all = changed(policy, true);
    assert!(all.iter().all(|(_, value)| value.as_ref().is_some_and(|value| !value.is_empty())), "{all:?}");
    assert_eq!(all.len(), 14, "{all:?}");
    assert_eq!(set(policy, "sample", "100%"), 0);
    assert_eq!(changed(policy, true).len(), 15);
    // SAFETY: nobody else has it.
    unsafe { txid_policy_close(policy) };
}

#[test]
fn a_plan_of_a_request() {
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (mut message, words) = ([0_u8; TXID_MESSAGE_LEN], [txid_text::of("10.0.0.0/8"), txid_text::of("traceparent")]);
    // SAFETY: the texts are as long as they say, the policy and the plan are open, and the values are as many as the plan reads.
    unsafe {
        let policy = txid_policy_open();
        for (option, word) in ["accept", "trace"].into_iter().zip(&words) {
            let (name, message) = (option.as_ptr().cast(), message.as_mut_ptr().cast());
            assert_eq!(txid_policy_set(policy, name, option.len(), word, 1, message), 0);
        }
        let plan = txid_plan_open(policy);
        txid_policy_close(policy);
        let names: Vec<_> = (0..(*plan).name_count).map(|at| (*(*plan).names.add(at)).bytes()).collect();
        assert_eq!(names, [&b"x-request-id"[..], b"traceparent", b"tracestate"]);
        assert_eq!((*plan).read_count, 2);
        for (address, is_trusted) in
            [("10.0.0.7:80", true), ("10.0.0.7", true), ("[::1]:80", false), ("/run/front.sock", false)]
        {
            assert_eq!(txid_plan_trusts(plan, address.as_ptr().cast(), address.len()), is_trusted, "{address}");
        }

        let values = [txid_text::of("7f3a"), txid_text::of(traceparent)];
        assert_eq!(txid_plan_fill(plan, 0, values.as_ptr()), 1);
        let change = &*(*plan).changes;
        assert_eq!(((*plan).id.bytes(), (*plan).change_count, change.place), (&b"7f3a"[..], 1, 1));
        assert_eq!(change.value.bytes(), (*plan).traceparent.bytes());
        assert!(change.value.bytes().starts_with(&traceparent.as_bytes()[..36]));

        assert_eq!(txid_plan_fill(plan, 0, ptr::null()), 0);
        assert_eq!(((*plan).id.len, (*plan).change_count), (0, 2));
        let removed = &*(*plan).changes.add(1);
        assert_eq!((removed.place, removed.value.data), (2, ptr::null()));
        txid_plan_close(plan);
        txid_plan_close(ptr::null_mut());
    }
}
