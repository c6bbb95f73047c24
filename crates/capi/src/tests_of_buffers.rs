//! What functions write to the caller's buffers, and read from them.

use crate::caller::{TXID_MESSAGE_LEN, txid_text};
use crate::error::txid_error;
use crate::hidden::*;
use crate::maker::*;
use crate::snowflake::txid_snowflake_parse;
use std::ffi::c_char;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::ptr;
use test_helpers::Directory;

const KEY: &str = "85962d72415d32da4f2c574c02c44ed9\n";

fn texts(words: &[String]) -> Vec<txid_text> {
    words.iter().map(|word| txid_text::of(word)).collect()
}

/// A series whose images have this shape.
fn open_hidden(directory: &Directory, shape: &str) -> *mut txid_hidden {
    let key = directory.0.join("orders.key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let words = [format!("key={}", key.display()), "name=orders".into(), shape.into()];
    let (list, mut hidden, mut message) = (texts(&words), ptr::null_mut(), [0; TXID_MESSAGE_LEN]);
    // SAFETY: the texts are as long as they say, and the message has its room.
    assert!(unsafe { txid_hidden_open(list.as_ptr(), list.len(), &mut hidden, message.as_mut_ptr()) } >= 0);
    hidden
}

fn open_maker(words: &[&str]) -> *mut txid_maker {
    let words: Vec<_> = words.iter().map(|word| word.to_string()).collect();
    let (list, mut maker, mut message) = (texts(&words), ptr::null_mut(), [0; TXID_MESSAGE_LEN]);
    // SAFETY: as above. On trial, a node's state is in memory.
    assert_eq!(unsafe { txid_maker_open(list.as_ptr(), list.len(), true, &mut maker, message.as_mut_ptr()) }, 0);
    maker
}

#[test]
fn a_call_that_fails_changes_nothing_but_the_message() {
    use txid_error::*;

    const NO_UUID: &[u8; 36] = b"017f22e2-79b0-7cc3-98c4-dc0c0c07398g";

    let directory = Directory::new("capi-buffers");
    let state = format!("state={}", directory.0.join("orders").display());
    let (numbers, uuids) = (open_hidden(&directory, "digits=10"), open_hidden(&directory, "uuid"));
    let (snowflakes, random) = (open_maker(&["snowflake", "node=17", &state]), open_maker(&["uuid_v4"]));
    let (no_uuid, mut guessable) = (NO_UUID.as_ptr().cast::<c_char>(), false);
    // The clock is then too far behind.
    let (mut text, mut message) = ([0; TXID_MAX_LEN], [0; TXID_MESSAGE_LEN]);
    let later_ms = 2_000_000_000_000;
    // SAFETY: the maker is open, and both have their room.
    let len = unsafe { txid_maker_fill(snowflakes, later_ms, text.as_mut_ptr(), &mut guessable, message.as_mut_ptr()) };
    assert!(len > 0);
    type Call<'a> = (&'a str, txid_error, &'a mut dyn FnMut(*mut c_char, *mut c_char) -> i32);
    let (guessable, mut number) = (&raw mut guessable, 7);
    // SAFETY: all are open, and each buffer has more room than any of them needs.
    let calls: [Call; 9] = unsafe {
        [
            ("hide", HiddenNumber, &mut |buf, message| txid_hidden_hide(numbers, u64::MAX, buf, message)),
            ("hide in a series of UUIDs", Value, &mut |buf, message| txid_hidden_hide(uuids, 42, buf, message)),
            ("hide_text", HiddenNumber, &mut |buf, message| txid_hidden_hide_text(numbers, no_uuid, 36, buf, message)),
            ("hide_text of no UUID", Character, &mut |buf, message| {
                txid_hidden_hide_text(uuids, no_uuid, 36, buf, message)
            }),
            ("reveal", Length, &mut |_, message| txid_hidden_reveal(numbers, no_uuid, 36, &mut number, message)),
            ("reveal_text", Length, &mut |buf, message| txid_hidden_reveal_text(numbers, no_uuid, 36, buf, message)),
            ("reveal_text of no UUID", Character, &mut |buf, message| {
                txid_hidden_reveal_text(uuids, no_uuid, 36, buf, message)
            }),
            ("maker_fill", SnowflakeClockBehind, &mut |buf, message| {
                txid_maker_fill(snowflakes, 1_700_000_000_000, buf, guessable, message)
            }),
            ("maker_fill_at", Option, &mut |buf, message| txid_maker_fill_at(random, 7, buf, guessable, message)),
        ]
    };
    for (name, code, call) in calls {
        let (mut buf, mut message) = ([0x55; 200], [0; TXID_MESSAGE_LEN]);
        assert_eq!(call(buf.as_mut_ptr(), message.as_mut_ptr()), code as i32, "{name}");
        assert!(buf == [0x55; 200] && message[0] != 0, "{name}");
    }
    assert_eq!(number, 7);
    // SAFETY: nobody uses them any more.
    unsafe {
        txid_hidden_close(numbers);
        txid_hidden_close(uuids);
        txid_maker_close(snowflakes);
        txid_maker_close(random);
    }
}

/// As programs do that keep no original.
#[test]
fn an_image_may_take_the_place_of_its_original() {
    let directory = Directory::new("capi-in-place");
    for (shape, original) in [("digits=10", "42"), ("uuid", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")] {
        let hidden = open_hidden(&directory, shape);
        // At the same place, before it and behind it.
        for (from, to) in [(0, 0), (3, 0), (0, 3)] {
            let (mut text, mut message) = ([0; 3 + TXID_HIDDEN_LEN], [0; TXID_MESSAGE_LEN]);
            text[from..][..original.len()].copy_from_slice(original.as_bytes());
            let (places, message) = (text.as_mut_ptr().cast::<c_char>(), message.as_mut_ptr());
            // SAFETY: the series is open, the text has its room, and the message as well.
            unsafe {
                let len = txid_hidden_hide_text(hidden, places.add(from), original.len(), places.add(to), message);
                assert!(len >= 10, "{shape}: {len}");
                let len = txid_hidden_reveal_text(hidden, places.add(to), len as usize, places.add(from), message);
                assert_eq!(len, original.len() as i32, "{shape}");
            }
            assert_eq!(&text[from..][..original.len()], original.as_bytes());
        }
        // SAFETY: nobody uses it any more.
        unsafe { txid_hidden_close(hidden) };
    }
}

/// It would take seconds for a text of gigabytes.
#[test]
fn a_text_that_is_too_long_for_a_number_is_not_read() {
    // SAFETY: nothing is there, and nothing is read.
    let parsed = unsafe { txid_snowflake_parse(ptr::without_provenance(4096), 4 << 30) };
    assert_eq!(parsed, txid_error::SnowflakeId as i64);
    // SAFETY: the text is as long.
    assert_eq!(unsafe { txid_snowflake_parse(b"0000000000000000017".as_ptr().cast(), 19) }, 17);
    let zeros = "0".repeat(1025);
    // SAFETY: as above.
    let parsed = [1024, 1025].map(|len| unsafe { txid_snowflake_parse(zeros.as_ptr().cast(), len) });
    assert_eq!(parsed, [0, txid_error::SnowflakeId as i64], "1024 characters are read");
}

#[test]
fn what_is_wrong_with_a_series_has_a_code() {
    let directory = Directory::new("capi-series");
    let file = |name: &str, content: &str, mode| {
        let path = directory.0.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        format!("key={}", path.display())
    };
    let (good, open) = (file("good", KEY, 0o600), file("open", KEY, 0o640));
    let (empty, of_period) = (file("empty", "", 0o600), file("period", &format!("1 {KEY}"), 0o600));
    let state = format!("state={}", directory.0.join("none").display());
    for (key, shape, more, code) in [
        (&*good, "digits=6", "check", 0),
        ("key=/none", "digits=6", "check", txid_error::KeyFile as i32),
        (&open, "digits=6", "check", txid_error::KeyFile as i32),
        (&empty, "digits=6", "check", txid_error::Key as i32),
        (&of_period, "uuid", "name=orders", txid_error::Key as i32),
        (&good, "digits=20", "check", txid_error::Option as i32),
        (&good, "digits=6", &state, txid_error::SegmentFile as i32),
    ] {
        let words =
            if more.starts_with("name") { vec![key, shape, more] } else { vec![key, shape, "name=orders", more] };
        let (list, mut hidden, mut message) =
            (words.into_iter().map(txid_text::of).collect::<Vec<_>>(), ptr::null_mut(), [0; TXID_MESSAGE_LEN]);
        // SAFETY: the texts are as long as they say, the message has its room, and nobody else has the series.
        unsafe {
            let found = txid_hidden_open(list.as_ptr(), list.len(), &mut hidden, message.as_mut_ptr());
            assert_eq!((found, hidden.is_null()), (code, code != 0), "{key} {shape} {more}");
            if code == 0 {
                // One of ten check digits is right.
                let mut reveal = |text: String| {
                    txid_hidden_reveal(hidden, text.as_ptr().cast(), text.len(), &mut 0, message.as_mut_ptr())
                };
                let codes = (0..10).map(|digit| reveal(format!("123456{digit}")));
                assert_eq!(codes.filter(|&code| code == txid_error::HiddenCheck as i32).count(), 9);
            }
            txid_hidden_close(hidden);
        }
    }
}

/// What is refused is refused to this test's thread alone.
#[cfg(target_os = "linux")]
#[test]
fn a_key_that_may_be_swapped_out_is_said() {
    let directory = Directory::new("capi-locked");
    test_helpers::attack::refuse(&[libc::SYS_mlock], libc::EPERM);
    let (hidden, mut message) = (open_hidden(&directory, "digits=10"), [0; TXID_MESSAGE_LEN]);
    // SAFETY: the series is open, and the message has its room and ends with a NUL.
    unsafe {
        assert!(!txid_hidden_is_locked(hidden, message.as_mut_ptr()));
        let why = std::ffi::CStr::from_ptr(message.as_ptr()).to_str().unwrap();
        assert!(why.contains("mlock: Operation not permitted (os error 1); raise the limit of locked memory"), "{why}");
        txid_hidden_close(hidden);
    }
}
