//! Every `extern "C"` function, and the only file that touches a caller's raw pointer.
//!
//! The comments here become those of `include/txid.h`.

use crate::{ParseError, Txid, clock, entropy};
use std::ffi::{CStr, c_char};
use std::io::Write;

/// The version of this interface. It grows when a caller built for the version before could no longer work.
pub const TXID_ABI_VERSION: u32 = 1;

/// How many characters an id has. They are not NUL-terminated.
pub const TXID_LEN: usize = 20;

/// How many bytes an id has when it is not text.
pub const TXID_BYTES_LEN: usize = 12;

/// How many bytes txid_explain writes at most.
pub const TXID_MESSAGE_LEN: usize = 64;

const _: () = assert!(TXID_LEN == Txid::LEN);

/// What a function that can fail returns; 0 is success. All are negative.
#[repr(C)]
pub enum TxidError {
    /// A text has too few or too many characters.
    Length = -1,
    /// A text has a character that its alphabet does not have.
    Character = -2,
    /// The last character of an id is not '0' or 'g'.
    LastCharacter = -3,
}

impl From<ParseError> for TxidError {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Length(_) => Self::Length,
            ParseError::Character { .. } => Self::Character,
            ParseError::LastCharacter(_) => Self::LastCharacter,
        }
    }
}

/// What a txid_error, or 0, means: static text that, unlike an id, ends in a NUL.
#[unsafe(no_mangle)]
pub extern "C" fn txid_strerror(code: i32) -> *const c_char {
    const MEANINGS: [(i32, &CStr); 4] = [
        (0, c"no error"),
        (TxidError::Length as i32, c"the text has too few or too many characters"),
        (TxidError::Character as i32, c"the text has a character that is not of its alphabet"),
        (TxidError::LastCharacter as i32, c"the last character is not '0' or 'g'"),
    ];
    let meaning = MEANINGS.iter().find(|(known, _)| *known == code);
    meaning.map_or(c"no such error code", |(_, meaning)| meaning).as_ptr()
}

/// The TXID_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn txid_abi_version() -> u32 {
    TXID_ABI_VERSION
}

/// Milliseconds since 1970-01-01 UTC by the system's clock.
#[unsafe(no_mangle)]
pub extern "C" fn txid_clock_ms() -> i64 {
    clock::system_ms()
}

/// Writes a new id stamped with exactly `ms` to `buf`: TXID_LEN characters, no NUL. The low 42 bits of `ms` count, so that
/// -1 gives the last millisecond of the range and 2^42 the first.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller vouches for TXID_LEN bytes.
    unsafe { write_text(buf, Txid::at(ms)) }
}

/// Writes a new id of this moment to `buf`, as txid_fill does. `clock_ms` is the caller's reading of the wall clock, or
/// txid_clock_ms(). Within a thread time never runs backwards: a clock that is behind the last time used here by at most
/// ten seconds is waited for, one further behind is followed.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_fill_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller vouches for TXID_LEN bytes.
    unsafe { write_text(buf, Txid::at(clock::never_backwards(clock_ms))) }
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[inline(always)]
unsafe fn write_text(buf: *mut c_char, id: Txid) {
    // SAFETY: the caller's promise; a byte array needs no alignment.
    unsafe { buf.cast::<[u8; TXID_LEN]>().write(id.to_text()) }
}

/// Whether this thread's ids are made without the operating system's randomness, because it had none to give when it was
/// last asked. Such ids are still made from the clock, the process and its address space; the next second asks again.
#[unsafe(no_mangle)]
pub extern "C" fn txid_entropy_degraded() -> bool {
    entropy::entropy_degraded()
}

/// Writes the lowest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is less.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_first(buf: *mut c_char, ms: i64) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_LEN]>().write(Txid::first_of(ms).to_text()) }
}

/// Writes the highest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is greater.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_last(buf: *mut c_char, ms: i64) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_LEN]>().write(Txid::last_of(ms).to_text()) }
}

/// Reads the `len` characters at `text`, of either case, as an id.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[inline]
unsafe fn read(text: *const c_char, len: usize) -> Result<Txid, ParseError> {
    if len != TXID_LEN {
        return Err(ParseError::Length(len));
    }
    // SAFETY: the caller vouches for `len` bytes, which are TXID_LEN, and a byte array needs no alignment.
    Txid::from_text(unsafe { &*text.cast::<[u8; TXID_LEN]>() })
}

/// The millisecond since 1970-01-01 UTC of the id at `text`, in either case, or a txid_error when the `len` characters
/// there are not an id.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_ms(text: *const c_char, len: usize) -> i64 {
    // SAFETY: the caller's promise is the same.
    match unsafe { read(text, len) } {
        Ok(id) => id.timestamp_ms() as i64,
        Err(error) => TxidError::from(error) as i64,
    }
}

/// Writes the TXID_BYTES_LEN bytes of the id at `text`, in either case, to `bytes`, where they sort as the text does.
/// Returns 0, or a txid_error when the `len` characters are not an id; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `bytes` for writes of TXID_BYTES_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_to_bytes(text: *const c_char, len: usize, bytes: *mut u8) -> i32 {
    // SAFETY: the caller's promise is the same.
    match unsafe { read(text, len) } {
        Ok(id) => {
            // SAFETY: the caller vouches for TXID_BYTES_LEN bytes.
            unsafe { bytes.cast::<[u8; TXID_BYTES_LEN]>().write(id.into()) };
            0
        }
        Err(error) => TxidError::from(error) as i32,
    }
}

/// Writes the text of the id whose TXID_BYTES_LEN bytes are at `bytes` to `buf`, as txid_fill does. Any bytes are an id.
///
/// # Safety
///
/// `bytes` must be valid for reads of TXID_BYTES_LEN bytes, `buf` for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_from_bytes(bytes: *const u8, buf: *mut c_char) {
    // SAFETY: the caller vouches for both lengths.
    unsafe {
        let id = Txid::from(bytes.cast::<[u8; TXID_BYTES_LEN]>().read());
        buf.cast::<[u8; TXID_LEN]>().write(id.to_text());
    }
}

/// Writes what is wrong with the `len` characters at `text`, and where, to `message`: at most TXID_MESSAGE_LEN bytes of
/// ASCII, no NUL. Returns how many it wrote; 0 when the text is an id.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_explain(text: *const c_char, len: usize, message: *mut c_char) -> usize {
    // SAFETY: the caller's promise is the same.
    let Err(error) = (unsafe { read(text, len) }) else {
        return 0;
    };
    let mut explained = [0; TXID_MESSAGE_LEN];
    let mut rest = &mut explained[..];
    // What does not fit is cut off.
    let _ = write!(rest, "{error}");
    let written = TXID_MESSAGE_LEN - rest.len();
    // SAFETY: the caller vouches for TXID_MESSAGE_LEN bytes, which are ours to write.
    unsafe { message.cast::<[u8; TXID_MESSAGE_LEN]>().write(explained) };
    written
}
