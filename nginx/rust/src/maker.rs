//! Makes ids of a named format.

use crate::caller::{open, txid_text, words, write_message};
use ::txid::Maker;
use std::ffi::c_char;

/// The length of the longest id of any format.
pub const TXID_MAX_LEN: usize = 64;

const _: () = assert!(TXID_MAX_LEN == Maker::MAX_LEN);

/// Makes the ids of one format.
pub struct txid_maker(Maker);

/// Opens a maker of ids. The first of the `count` words is the name of the format, and the others are its options,
/// name=value. Returns NULL on error; then `message` says what is wrong.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_open(
    list: *const txid_text,
    count: usize,
    message: *mut c_char,
) -> *mut txid_maker {
    // SAFETY: the caller vouches for the texts and the message.
    unsafe {
        let list = words(list, count);
        let (format, options) = list.split_first().map_or(("", &[][..]), |(format, options)| (&**format, options));
        open(Maker::parse(format, options.iter().map(|option| &**option)).map(txid_maker), message)
    }
}

/// Releases a maker. Others that share its state are not affected.
///
/// # Safety
///
/// `maker` must be from txid_maker_open and must not be used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_close(maker: *mut txid_maker) {
    // SAFETY: it was made by `open`, and the caller gives it up.
    drop(unsafe { Box::from_raw(maker) });
}

/// Writes a new id to `buf`, when the clock reads `clock_ms`, and returns its length; or returns 0, and `message` says
/// why there is no id. Sets `guessable` if the id was meant to be impossible to guess, but the system gave no
/// randomness; otherwise leaves it unchanged.
///
/// # Safety
///
/// `maker` must be from txid_maker_open, `buf` valid for writes of TXID_MAX_LEN bytes, `guessable` for a write,
/// `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_fill(
    maker: *const txid_maker,
    clock_ms: i64,
    buf: *mut c_char,
    guessable: *mut bool,
    message: *mut c_char,
) -> usize {
    // SAFETY: the caller vouches for all of them; a byte array takes any address and any content.
    unsafe {
        match (*maker).0.write_by(clock_ms, &mut *buf.cast::<[u8; TXID_MAX_LEN]>()) {
            Ok(made) => {
                if made.guessable {
                    guessable.write(true);
                }
                made.len
            }
            Err(refusal) => {
                write_message(&refusal, message);
                0
            }
        }
    }
}
