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
    type Call<'a> = (&'a str, &'a mut dyn FnMut(*mut c_char, *mut c_char) -> i32);
    let guessable = &raw mut guessable;
    // SAFETY: all are open, and each buffer has more room than any of them needs.
    let calls: [Call; 8] = unsafe {
        [
            ("hide", &mut |buf, message| txid_hidden_hide(numbers, u64::MAX, buf, message)),
            ("hide in a series of UUIDs", &mut |buf, message| txid_hidden_hide(uuids, 42, buf, message)),
            ("hide_text", &mut |buf, message| txid_hidden_hide_text(numbers, no_uuid, 36, buf, message)),
            ("hide_text of no UUID", &mut |buf, message| txid_hidden_hide_text(uuids, no_uuid, 36, buf, message)),
            ("reveal_text", &mut |buf, message| txid_hidden_reveal_text(numbers, no_uuid, 36, buf, message)),
            ("reveal_text of no UUID", &mut |buf, message| txid_hidden_reveal_text(uuids, no_uuid, 36, buf, message)),
            ("maker_fill", &mut |buf, message| txid_maker_fill(snowflakes, 1_700_000_000_000, buf, guessable, message)),
            ("maker_fill_at", &mut |buf, message| txid_maker_fill_at(random, 7, buf, guessable, message)),
        ]
    };
    for (name, call) in calls {
        let (mut buf, mut message) = ([0x55; 200], [0; TXID_MESSAGE_LEN]);
        assert!(call(buf.as_mut_ptr(), message.as_mut_ptr()) < 0, "{name} did not fail");
        assert!(buf == [0x55; 200] && message[0] != 0, "{name}");
    }
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
}
