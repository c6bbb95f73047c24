//! Ids of a format that a configuration names.

use crate::caller::{fail, give, option, txid_text, words};
use crate::error::txid_error;
use ::txid::{Made, Maker, NotMade};
use std::ffi::c_char;

/// The length of the longest id of any format.
pub const TXID_MAX_LEN: usize = 90;

const _: () = assert!(TXID_MAX_LEN == Maker::MAX_LEN);

/// Makes the ids of one format.
pub struct txid_maker(Maker);

/// Opens a maker of ids, and writes it to `maker`. The first of the `count` words is the name of the format, and the
/// others are its options, name=value: docs/lua.md lists them. Options may also be in the first word, as in
/// nanoid(length=10,alphabet=0123456789). Names have - or _. With `is_trial`, the options are only checked, as in a test
/// of a configuration: no file is made, and a state without a file is one in memory. Release it with txid_maker_close.
///
/// Nobody can guess ids of txid, strong, uuid_v4, ksuid, nanoid, trace_id, span_id, otel_trace_id, traceparent and b3. Of uuid_v7
/// and ulid, the next of a thread within the same millisecond is one of 2^32. Ids of other formats count, and can be guessed.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `maker` is unchanged.
///
/// # Safety
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `maker` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_open(
    list: *const txid_text,
    count: usize,
    is_trial: bool,
    maker: *mut *mut txid_maker,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the texts.
    let list = unsafe { words(list, count) };
    let (format, options) = list.split_first().map_or(("", &[][..]), |(format, options)| (&**format, options));
    let options = options.iter().map(|option| &**option);
    // nginx has a copy of this library in each module. Formats that several copies would repeat are not for them.
    let mut maker_to_be = Maker::builder(format).options(options);
    if cfg!(feature = "nginx") {
        maker_to_be = maker_to_be.beside_copies();
    }
    if is_trial {
        maker_to_be = maker_to_be.on_trial();
    }
    // SAFETY: the caller's promise is the same.
    unsafe { give(maker_to_be.build().map(txid_maker).map_err(option), maker, message) }
}

/// As txid_maker_open, of a format that needs no options: the one with the name of `len` characters at `name`.
///
/// # Safety
///
/// `name` must be valid for reads of `len` bytes, `maker` for a write, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[cfg(feature = "nginx")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_named(
    name: *const c_char,
    len: usize,
    maker: *mut *mut txid_maker,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the name, and its promise is the same.
    unsafe {
        let name = &words(&txid_text { len, data: name }, 1)[0];
        let opened = Maker::builder(name).beside_copies().by_name_alone().build();
        give(opened.map(txid_maker).map_err(option), maker, message)
    }
}

/// Releases a maker. Others that share its state are not affected.
///
/// # Safety
///
/// `maker` must be from txid_maker_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_close(maker: *mut txid_maker) {
    if !maker.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(maker) });
    }
}

/// Writes a new id of this moment to `buf`, and returns its length; see txid_fill_now for `clock_ms`. Sets `guessable`
/// if the id was meant to be impossible to guess, but the system gave no randomness; otherwise leaves it unchanged. If
/// there is no id now, returns a txid_error, and `message` says why.
///
/// # Safety
///
/// `maker` must be from txid_maker_open, `buf` valid for writes of TXID_MAX_LEN bytes, `guessable` for a write,
/// `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_fill(
    maker: *const txid_maker,
    clock_ms: i64,
    buf: *mut c_char,
    guessable: *mut bool,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*maker).0.write_uninit_by(clock_ms, &mut *buf.cast()) {
            Ok(made) => length(made, guessable),
            Err(refusal) => fail(txid_error::from(&refusal), &refusal, message),
        }
    }
}

/// As txid_maker_fill, stamped with exactly `ms`, or with its low bits if ids of this format cannot hold that time. If they have
/// no time, or only the clock's, returns a txid_error, and `message` says so.
///
/// # Safety
///
/// As for txid_maker_fill.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_maker_fill_at(
    maker: *const txid_maker,
    ms: i64,
    buf: *mut c_char,
    guessable: *mut bool,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        match (*maker).0.write_uninit_wrapping_at(ms, &mut *buf.cast()) {
            Some(made) => length(made, guessable),
            None => fail(txid_error::Option, &"ids of this format are not stamped with a given time", message),
        }
    }
}

/// # Safety
///
/// `guessable` must be valid for a write.
unsafe fn length(made: Made, guessable: *mut bool) -> i32 {
    if made.guessable {
        // SAFETY: the caller's promise.
        unsafe { guessable.write(true) };
    }
    made.len as i32
}

impl From<&NotMade> for txid_error {
    fn from(why: &NotMade) -> Self {
        match why {
            NotMade::Snowflake(refusal) => Self::from(refusal),
            _ => Self::SegmentUsedUp,
        }
    }
}
