//! Every `extern "C"` function, and the only file that touches a caller's raw pointer.
//!
//! The comments here become those of `include/txid.h`.

use crate::snowflake::{Generator, Layout, Refusal, State, StateError, node};
use crate::{ParseError, Txid, clock, entropy};
use std::ffi::{CStr, OsStr, c_char};
use std::fmt::Display;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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
    /// A layout of 64-bit ids is not one.
    SnowflakeLayout = -30,
    /// A node is not one of the layout's.
    SnowflakeNode = -31,
    /// A state's file cannot be opened or made.
    SnowflakeFile = -32,
    /// A state's file is damaged, or that of another layout or node.
    SnowflakeState = -33,
    /// The clock is too far behind the last time used.
    SnowflakeClockBehind = -34,
    /// All ids up to as far ahead of the clock as is allowed are used.
    SnowflakeExhausted = -35,
    /// The clock is before the layout's epoch.
    SnowflakeBeforeEpoch = -36,
    /// The layout's time is used up.
    SnowflakeEnded = -37,
    /// An id is not a number, or has more bits than the layout.
    SnowflakeId = -38,
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

impl From<&StateError> for TxidError {
    fn from(error: &StateError) -> Self {
        match error {
            StateError::Node { .. } => Self::SnowflakeNode,
            StateError::File(_) | StateError::NoMemory(_) => Self::SnowflakeFile,
            _ => Self::SnowflakeState,
        }
    }
}

impl From<&Refusal> for TxidError {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::ClockBehind { .. } => Self::SnowflakeClockBehind,
            Refusal::Exhausted { .. } => Self::SnowflakeExhausted,
            Refusal::BeforeEpoch { .. } => Self::SnowflakeBeforeEpoch,
            Refusal::Ended { .. } => Self::SnowflakeEnded,
        }
    }
}

/// What a txid_error, or 0, means: static text that, unlike an id, ends in a NUL.
#[unsafe(no_mangle)]
pub extern "C" fn txid_strerror(code: i32) -> *const c_char {
    const MEANINGS: [(i32, &CStr); 13] = [
        (0, c"no error"),
        (TxidError::Length as i32, c"the text has too few or too many characters"),
        (TxidError::Character as i32, c"the text has a character that is not of its alphabet"),
        (TxidError::LastCharacter as i32, c"the last character is not '0' or 'g'"),
        (TxidError::SnowflakeLayout as i32, c"the layout of 64-bit ids is not one"),
        (TxidError::SnowflakeNode as i32, c"the node is not one of the layout's"),
        (TxidError::SnowflakeFile as i32, c"the state's file cannot be opened or made"),
        (TxidError::SnowflakeState as i32, c"the state's file is damaged, or that of another layout or node"),
        (TxidError::SnowflakeClockBehind as i32, c"the clock is too far behind the last time used"),
        (TxidError::SnowflakeExhausted as i32, c"all ids up to as far ahead of the clock as is allowed are used"),
        (TxidError::SnowflakeBeforeEpoch as i32, c"the clock is before the layout's epoch"),
        (TxidError::SnowflakeEnded as i32, c"the layout's time is used up"),
        (TxidError::SnowflakeId as i32, c"the id is not a number, or has more bits than the layout"),
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

/// How many characters a 64-bit id has at most.
pub const TXID_SNOWFLAKE_LEN: usize = 19;

/// How many numbers txid_snowflake_decode writes.
pub const TXID_SNOWFLAKE_PARTS: usize = 3;

/// How many numbers txid_snowflake_stats writes.
pub const TXID_SNOWFLAKE_STATS: usize = 4;

/// How many bytes the functions for 64-bit ids write to `message` when they fail: what is wrong, cut off if need be, and
/// NULs up to the end, of which there is at least one.
pub const TXID_SNOWFLAKE_MESSAGE_LEN: usize = 1024;

/// Makes the 64-bit ids of one layout and node.
pub struct TxidSnowflake(Generator);

/// # Safety
///
/// `message` must be valid for writes of TXID_SNOWFLAKE_MESSAGE_LEN bytes.
#[cold]
unsafe fn fail(code: TxidError, why: &dyn Display, message: *mut c_char) -> TxidError {
    let mut text = [0; TXID_SNOWFLAKE_MESSAGE_LEN];
    // What does not fit is cut off.
    let _ = write!(&mut text[..TXID_SNOWFLAKE_MESSAGE_LEN - 1], "{why}");
    // SAFETY: the caller vouches for the length, and a byte array needs no alignment.
    unsafe { message.cast::<[u8; TXID_SNOWFLAKE_MESSAGE_LEN]>().write(text) };
    code
}

/// Opens a generator of 64-bit ids, and writes it to `generator`. Give it back with txid_snowflake_close.
///
/// `layout` is a preset (snowflake, sonyflake, uid, leaf) or a list of parts from the highest bits to the lowest, such as
/// time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01. `node` is a number, env:NAME, ip or hostname. `path` names the
/// file that all processes with this node share, and is made if there is none; or it is NULL, for memory that all
/// processes share which this one forks from now on. Ids may run ahead of the clock by `max_drift_ms`.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `generator` is left as it is.
///
/// # Safety
///
/// `layout`, `node` and `path`, if not NULL, must be NUL-terminated. `generator` must be valid for a write, `message` for
/// writes of TXID_SNOWFLAKE_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_open(
    layout: *const c_char,
    node: *const c_char,
    path: *const c_char,
    max_drift_ms: u64,
    generator: *mut *mut TxidSnowflake,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for NULs at their ends.
    let (layout, node, path) = unsafe {
        let path = if path.is_null() { None } else { Some(CStr::from_ptr(path)) };
        (CStr::from_ptr(layout).to_string_lossy(), CStr::from_ptr(node).to_string_lossy(), path)
    };
    match open(&layout, &node, path) {
        Ok(state) => {
            let opened = TxidSnowflake(Generator::new(state).with_max_drift_ms(max_drift_ms));
            // SAFETY: the caller vouches for the place.
            unsafe { generator.write(Box::into_raw(Box::new(opened))) };
            0
        }
        // SAFETY: the caller's promise is the same.
        Err((code, why)) => unsafe { fail(code, &why, message) as i32 },
    }
}

fn open(layout: &str, node_from: &str, path: Option<&CStr>) -> Result<State, (TxidError, Box<dyn Display>)> {
    let layout: Layout = layout.parse().map_err(|error| (TxidError::SnowflakeLayout, Box::new(error) as _))?;
    let node = node(node_from, &layout).map_err(|error| (TxidError::SnowflakeNode, Box::new(error) as _))?;
    let state = match path {
        Some(path) => State::open(Path::new(OsStr::from_bytes(path.to_bytes())), &layout, node),
        None => State::in_memory(&layout, node),
    };
    state.map_err(|error| (TxidError::from(&error), Box::new(error) as _))
}

/// Gives a generator back. Others that share its state go on.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open and not be used by anybody any more; or NULL, for nothing to be done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_close(generator: *mut TxidSnowflake) {
    if !generator.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(generator) });
    }
}

/// Milliseconds since 1970-01-01 UTC by the system's clock, to its tick of a few milliseconds and never later. It costs a
/// quarter of what txid_clock_ms does.
#[unsafe(no_mangle)]
pub extern "C" fn txid_clock_coarse_ms() -> i64 {
    clock::coarse_ms()
}

/// The next 64-bit id, which is positive, or a txid_error; then `message` says what is wrong. `clock_ms` is the caller's
/// reading of the wall clock, or txid_clock_coarse_ms(). It may be old: before there is no id, the clock is read anew.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `message` valid for writes of TXID_SNOWFLAKE_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_next(
    generator: *const TxidSnowflake,
    clock_ms: i64,
    message: *mut c_char,
) -> i64 {
    // SAFETY: the caller vouches for both.
    unsafe {
        match (*generator).0.next_by(clock_ms) {
            Ok(id) => id as i64,
            Err(refusal) => fail(TxidError::from(&refusal), &refusal, message) as i64,
        }
    }
}

/// Writes the next 64-bit id to `buf` as decimal digits, TXID_SNOWFLAKE_LEN at most and no NUL, and returns how many; or
/// a txid_error, as txid_snowflake_next does.
///
/// # Safety
///
/// As for txid_snowflake_next; and `buf` must be valid for writes of TXID_SNOWFLAKE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_fill(
    generator: *const TxidSnowflake,
    clock_ms: i64,
    buf: *mut c_char,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller's promise is the same.
    let id = unsafe { txid_snowflake_next(generator, clock_ms, message) };
    if id < 0 {
        return id as i32;
    }
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(id);
    // SAFETY: an id of 63 bits has at most as many digits as the caller vouches for.
    unsafe { buf.copy_from_nonoverlapping(digits.as_ptr().cast(), digits.len()) };
    digits.len() as i32
}

/// The 64-bit id that the `len` decimal digits at `text` are, or a txid_error when they are not one.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_parse(text: *const c_char, len: usize) -> i64 {
    // SAFETY: the caller vouches for the bytes; none at all may come with any address.
    let text = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) } };
    let digits = len <= TXID_SNOWFLAKE_LEN && text.iter().all(u8::is_ascii_digit);
    let id = std::str::from_utf8(text).ok().filter(|_| digits).and_then(|text| text.parse().ok());
    id.unwrap_or(TxidError::SnowflakeId as i64)
}

/// Writes what `id` says in the generator's layout to `parts`: the milliseconds since 1970-01-01 UTC, the node, and the
/// sequence. Returns 0, or a txid_error when the id has more bits than the layout; then nothing is written.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `parts` valid for writes of TXID_SNOWFLAKE_PARTS numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_decode(generator: *const TxidSnowflake, id: i64, parts: *mut i64) -> i32 {
    // SAFETY: the caller vouches for the generator.
    let layout = unsafe { (*generator).0.layout() };
    match layout.decode(id as u64) {
        Some(it) => {
            let numbers: [i64; TXID_SNOWFLAKE_PARTS] = [it.ms, it.node as i64, it.sequence as i64];
            // SAFETY: the caller vouches for their places.
            unsafe { parts.cast::<[i64; TXID_SNOWFLAKE_PARTS]>().write_unaligned(numbers) };
            0
        }
        None => TxidError::SnowflakeId as i32,
    }
}

/// Writes what the generator has done so far to `stats`: how many ids it has made; how many milliseconds the last time
/// used is ahead of the clock now, by all who share the state; how often it has seen the clock go back; and how often it
/// had no id to give.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `stats` valid for writes of TXID_SNOWFLAKE_STATS numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_stats(generator: *const TxidSnowflake, stats: *mut u64) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let now = (*generator).0.stats();
        let numbers: [u64; TXID_SNOWFLAKE_STATS] = [now.issued, now.borrowed_ms, now.clock_steps, now.refused];
        stats.cast::<[u64; TXID_SNOWFLAKE_STATS]>().write_unaligned(numbers);
    }
}
