//! The C interface's reading functions: what they write, what they return, and what they say.

use std::ffi::{CStr, c_char};
use txid::Txid;
use txid::ffi::*;

const SAMPLE: &str = "4om9qi54la8ffr4bd9sg";
const SAMPLE_MS: i64 = 655_829_050_002;

fn ms(text: &[u8]) -> i64 {
    // SAFETY: the text is as long as it says.
    unsafe { txid_ms(text.as_ptr().cast(), text.len()) }
}

fn explain(text: &[u8]) -> String {
    let mut message = [0_u8; TXID_MESSAGE_LEN];
    // SAFETY: the text is as long as it says, and the message has its room.
    let written = unsafe { txid_explain(text.as_ptr().cast(), text.len(), message.as_mut_ptr().cast()) };
    String::from_utf8(message[..written].to_vec()).unwrap()
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
fn a_text_that_is_no_id_gets_its_code_and_an_explanation() {
    for (text, code, message) in [
        (&b""[..], TxidError::Length, "0 characters, an id has 20"),
        (b"4om9qi54la8ffr4bd9s", TxidError::Length, "19 characters, an id has 20"),
        (b"4om9qi54la8ffr4bd9sg0", TxidError::Length, "21 characters, an id has 20"),
        (b"zom9qi54la8ffr4bd9sg", TxidError::Character, "character 1 is 'z', not base32hex"),
        (b"4om9qi54la8f\0r4bd9sg", TxidError::Character, "character 13 is '\\x00', not base32hex"),
        (b"4om9qi54la8ffr4bd9s\xff", TxidError::Character, "character 20 is '\\xff', not base32hex"),
        (b"4om9qi54la8ffr4bd9s1", TxidError::LastCharacter, "character 20 is '1', the last one is '0' or 'g'"),
    ] {
        let code = code as i32;
        assert_eq!(ms(text), i64::from(code), "{message}");
        assert_eq!(explain(text), message);
        let mut bytes = [7; TXID_BYTES_LEN];
        // SAFETY: both are as long as they say.
        assert_eq!(unsafe { txid_to_bytes(text.as_ptr().cast(), text.len(), bytes.as_mut_ptr()) }, code);
        assert_eq!(bytes, [7; TXID_BYTES_LEN], "nothing is written");
    }
    assert_eq!(explain(SAMPLE.as_bytes()), "");
}

#[test]
fn the_longest_explanation_is_not_cut() {
    // SAFETY: a wrong length is told without a look at the text.
    let written = unsafe { txid_explain(std::ptr::null(), usize::MAX, [0_u8; TXID_MESSAGE_LEN].as_mut_ptr().cast()) };
    assert_eq!(written, format!("{} characters, an id has 20", usize::MAX).len());
    let text = b"4om9qi54la8ffr4bd9s\xff";
    assert_eq!(explain(text), Txid::from_text(text).unwrap_err().to_string());
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
    let meanings: std::collections::HashSet<_> = (-3..=1).map(meaning).collect();
    assert_eq!(meanings.len(), 5, "{meanings:?}");
    assert_eq!(meaning(0), "no error");
    assert_eq!(meaning(i32::MIN), "no such error code");
}
