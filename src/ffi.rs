//! Every `extern "C"` function, and the only file that touches a caller's raw pointer.
//!
//! The comments here become those of `include/txid.h`.

use crate::snowflake::{self, Generator, Layout, Refusal, State, StateError};
use crate::trace::{self, B3, Sofa, SpanId, TraceId, Traceparent};
use crate::{
    Flake, FormatError, Guessable, ParseError, Txid, UniqueId, UniqueIdMaker, clock, entropy, host, node, uuid,
};
use std::ffi::{CStr, OsStr, c_char};
use std::fmt::Display;
use std::io::Write;
use std::net::IpAddr;
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

/// How many characters a UUID has.
pub const TXID_UUID_LEN: usize = 36;

/// How many characters a trace id has, of any of the three kinds.
pub const TXID_TRACE_ID_LEN: usize = 32;

/// How many characters a span id has.
pub const TXID_SPAN_ID_LEN: usize = 16;

/// How many characters a traceparent of version 00 has.
pub const TXID_TRACEPARENT_LEN: usize = 55;

/// How many characters a SOFATracer id has at most.
pub const TXID_SOFA_MAX_LEN: usize = 35;

/// How many characters a SkyWalking id has at most.
pub const TXID_SKYWALKING_MAX_LEN: usize = 64;

/// How many characters a flake has.
pub const TXID_FLAKE_LEN: usize = 22;

/// How many characters a UNIQUE_ID has in the layout with the host's address.
pub const TXID_UNIQUE_ID_SHORT_LEN: usize = 24;

/// How many characters a UNIQUE_ID has in the layout of httpd 2.4.
pub const TXID_UNIQUE_ID_LONG_LEN: usize = 27;

/// How many random bytes a UNIQUE_ID of that layout has.
pub const TXID_UNIQUE_ID_RANDOM_LEN: usize = 10;

/// How many bytes a node has: those of a MAC address.
pub const TXID_NODE_LEN: usize = 6;

const _: () = {
    assert!(TXID_UUID_LEN == uuid::LEN);
    assert!(TXID_TRACE_ID_LEN == TraceId::LEN);
    assert!(TXID_SPAN_ID_LEN == SpanId::LEN);
    assert!(TXID_TRACEPARENT_LEN == Traceparent::LEN);
    assert!(TXID_SOFA_MAX_LEN == Sofa::MAX_LEN);
    assert!(TXID_SKYWALKING_MAX_LEN == trace::SkyWalking::MAX_LEN);
    assert!(TXID_FLAKE_LEN == Flake::LEN);
    assert!(TXID_UNIQUE_ID_SHORT_LEN == UniqueId::SHORT_LEN);
    assert!(TXID_UNIQUE_ID_LONG_LEN == UniqueId::LONG_LEN);
};

/// What a function that can fail returns; 0 is success. All are negative.
#[repr(C)]
pub enum TxidError {
    /// A text has too few or too many characters.
    Length = -1,
    /// A text has a character that its alphabet does not have.
    Character = -2,
    /// The last character of an id is not '0' or 'g'.
    LastCharacter = -3,
    /// A text has the right characters, but says something that is not allowed.
    Value = -10,
    /// The host has no address of the kind that is needed.
    NoAddress = -11,
    /// A text is not an address of the kind that is needed.
    Address = -12,
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

impl From<FormatError> for TxidError {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Length { .. } => Self::Length,
            FormatError::Character { .. } => Self::Character,
            FormatError::Value(_) => Self::Value,
        }
    }
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
    const MEANINGS: [(i32, &CStr); 16] = [
        (0, c"no error"),
        (TxidError::Length as i32, c"the text has too few or too many characters"),
        (TxidError::Character as i32, c"the text has a character that is not of its alphabet"),
        (TxidError::LastCharacter as i32, c"the last character is not '0' or 'g'"),
        (TxidError::Value as i32, c"the text says something that is not allowed"),
        (TxidError::NoAddress as i32, c"this host has no such address of its own: give one"),
        (TxidError::Address as i32, c"the text is not an address of the kind that is needed"),
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
    match unsafe { read(text, len) } {
        Ok(_) => 0,
        // SAFETY: the caller vouches for TXID_MESSAGE_LEN bytes.
        Err(error) => unsafe { write_message(&error, message) },
    }
}

/// # Safety
///
/// `message` must be valid for writes of TXID_MESSAGE_LEN bytes.
unsafe fn write_message(error: &dyn std::fmt::Display, message: *mut c_char) -> usize {
    let mut explained = [0; TXID_MESSAGE_LEN];
    let mut rest = &mut explained[..];
    // What does not fit is cut off.
    let _ = write!(rest, "{error}");
    let written = TXID_MESSAGE_LEN - rest.len();
    // SAFETY: the caller vouches for TXID_MESSAGE_LEN bytes, which are ours to write.
    unsafe { message.cast::<[u8; TXID_MESSAGE_LEN]>().write(explained) };
    written
}

/// As txid_fill, with every random bit from the operating system's own generator, each used once, so that nobody can guess
/// the id. Returns whether it is so: where the system has no randomness to give, the id is as one of txid_fill.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_strong_fill(buf: *mut c_char, ms: i64) -> bool {
    let id = Txid::strong_at(ms);
    let text = id.unwrap_or_else(|Guessable(id)| id).to_text();
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_LEN]>().write(text) };
    id.is_ok()
}

/// As txid_strong_fill, for this moment; `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_strong_fill_now(buf: *mut c_char, clock_ms: i64) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { txid_strong_fill(buf, clock::never_backwards(clock_ms)) }
}

/// Writes a new UUID of version 4, all random, to `buf`: TXID_UUID_LEN characters, no NUL.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v4(buf: *mut c_char) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v4(), buf) }
}

/// Writes a new UUID of version 7, stamped with the low 48 bits of `ms`, to `buf`. It is greater than the thread's last one
/// if that has the same stamp.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v7(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v7_at(ms), buf) }
}

/// Writes a new UUID of version 7 of this moment to `buf`, greater than the one that this thread made so before. `clock_ms`
/// counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v7_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { write_uuid(uuid::v7_by(clock_ms), buf) }
}

/// Writes a new UUID of version 1 of this moment to `buf`. `clock_ms` counts as in txid_fill_now. The node is the
/// TXID_NODE_LEN bytes at `node`, which no other thread or process should use, or random where `node` is NULL.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes, `node` NULL or valid for reads of TXID_NODE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_v1_now(buf: *mut c_char, clock_ms: i64, node: *const u8) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let node = node.cast::<[u8; TXID_NODE_LEN]>().as_ref();
        write_uuid(uuid::v1_by(clock_ms, node.copied()), buf)
    }
}

/// # Safety
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
#[inline(always)]
unsafe fn write_uuid(id: uuid::Uuid, buf: *mut c_char) {
    // SAFETY: the caller vouches for TXID_UUID_LEN bytes, which a byte array takes at any address.
    let text = unsafe { &mut *buf.cast::<[u8; TXID_UUID_LEN]>() };
    id.hyphenated().encode_lower(text);
}

/// Reads the `len` characters at `text`, of either case, as a UUID: its `version`, its `variant` (0 for
/// that of the NCS, 1 for that of RFC 9562, 2 for Microsoft's, 3 for none yet), and for versions 1, 6 and 7 the `ms` since 1970-01-01 UTC, else INT64_MIN. Returns 0,
/// or a txid_error when it is not a UUID; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_uuid_read(
    text: *const c_char,
    len: usize,
    version: *mut u8,
    variant: *mut u8,
    ms: *mut i64,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for three places to write to.
    unsafe {
        written_if_read(uuid::read_ascii(bytes(text, len)), |parts| {
            version.write(parts.version);
            variant.write(parts.variant as u8);
            ms.write(parts.ms.unwrap_or(i64::MIN));
        })
    }
}

/// Reads the `len` characters at `text` as a MAC address, "02:42:ac:11:00:02", into the TXID_NODE_LEN bytes at `node`.
/// Returns 0, or a txid_error when it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `node` for writes of TXID_NODE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_node_read(text: *const c_char, len: usize, node: *mut u8) -> i32 {
    // SAFETY: the caller vouches for both lengths.
    unsafe {
        written_if_read(node::read_ascii(bytes(text, len)), |read| node.cast::<[u8; TXID_NODE_LEN]>().write(read))
    }
}

/// # Safety
///
/// `text` must be valid for reads of `len` bytes for as long as the result is used.
unsafe fn bytes<'a>(text: *const c_char, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise is the same.
    unsafe { std::slice::from_raw_parts(text.cast(), len) }
}

fn written_if_read<T>(read: Result<T, FormatError>, write: impl FnOnce(T)) -> i32 {
    match read {
        Ok(parts) => {
            write(parts);
            0
        }
        Err(error) => TxidError::from(error) as i32,
    }
}

/// Writes a new trace id to `buf`, TXID_TRACE_ID_LEN characters, stamped with the 41 low bits of `ms - epoch_ms`. It sorts
/// by time, and right behind the thread's last one if that has the same stamp.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id(buf: *mut c_char, ms: i64, epoch_ms: i64) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACE_ID_LEN]>().write(trace::id_at(ms, epoch_ms).to_text()) }
}

/// As txid_trace_id, for this moment; `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id_now(buf: *mut c_char, clock_ms: i64, epoch_ms: i64) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACE_ID_LEN]>().write(trace::id_by(clock_ms, epoch_ms).to_text()) }
}

/// As txid_trace_id, with the word `host` of txid_host_word in it.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_host_id(buf: *mut c_char, ms: i64, epoch_ms: i64, host: u32) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACE_ID_LEN]>().write(trace::host_id_at(ms, epoch_ms, host).to_text()) }
}

/// As txid_trace_host_id, for this moment; `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_host_id_now(buf: *mut c_char, clock_ms: i64, epoch_ms: i64, host: u32) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACE_ID_LEN]>().write(trace::host_id_by(clock_ms, epoch_ms, host).to_text()) }
}

/// Writes the word that stands for a host to `host`: an IPv4 address, or the four words of an IPv6 address folded by XOR.
/// The address is the `len` characters at `text`; where `len` is 0, it is the host's own. Returns 0 or a txid_error; then
/// nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `host` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_host_word(text: *const c_char, len: usize, host: *mut u32) -> i32 {
    // SAFETY: the caller's promise is the same.
    let address = unsafe { address(text, len) }
        .or_else(|error| host::host_ipv6().filter(|_| len == 0).map(IpAddr::V6).ok_or(error));
    match address {
        Ok(address) => {
            // SAFETY: the caller vouches for the place.
            unsafe { host.write(trace::host_word(address)) };
            0
        }
        Err(error) => error as i32,
    }
}

/// Writes an IPv4 address to `ipv4`, most significant byte first: that of the `len` characters at `text`, or where `len` is
/// 0 the host's first private one or, where none is private, its first other one. Returns 0 or a txid_error; then nothing
/// is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `ipv4` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_host_ipv4(text: *const c_char, len: usize, ipv4: *mut u32) -> i32 {
    // SAFETY: the caller's promise is the same.
    match unsafe { address(text, len) } {
        Ok(IpAddr::V4(address)) => {
            // SAFETY: the caller vouches for the place.
            unsafe { ipv4.write(address.to_bits()) };
            0
        }
        Ok(IpAddr::V6(_)) => TxidError::Address as i32,
        Err(error) => error as i32,
    }
}

/// The address that a text has, or the host's IPv4 address for no text.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
unsafe fn address(text: *const c_char, len: usize) -> Result<IpAddr, TxidError> {
    if len == 0 {
        return host::host_ipv4().map(IpAddr::V4).ok_or(TxidError::NoAddress);
    }
    // SAFETY: the caller's promise is the same.
    let text = std::str::from_utf8(unsafe { bytes(text, len) });
    text.ok().and_then(|text| text.parse().ok()).ok_or(TxidError::Address)
}

/// Writes a new random trace id, never all zeros, to `buf`: TXID_TRACE_ID_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACE_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_otel_trace_id(buf: *mut c_char) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACE_ID_LEN]>().write(trace::otel_trace_id().to_text()) }
}

/// Writes a new random span id, never all zeros, to `buf`: TXID_SPAN_ID_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SPAN_ID_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_id(buf: *mut c_char) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_SPAN_ID_LEN]>().write(trace::span_id().to_text()) }
}

/// Writes a new SOFATracer id of this moment with the address `ipv4` of txid_host_ipv4 to `buf`, and returns how many
/// characters it has. `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SOFA_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_sofa_now(buf: *mut c_char, clock_ms: i64, ipv4: u32) -> usize {
    let id = Sofa::by(clock_ms, ipv4.into());
    // SAFETY: the caller vouches for TXID_SOFA_MAX_LEN bytes, which a byte array takes at any address.
    id.write(unsafe { &mut *buf.cast::<[u8; TXID_SOFA_MAX_LEN]>() })
}

/// Writes a new SkyWalking id of this moment to `buf`, and returns how many characters it has. `clock_ms` counts as in
/// txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_SKYWALKING_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_skywalking_now(buf: *mut c_char, clock_ms: i64) -> usize {
    let id = trace::SkyWalking::by(clock_ms);
    // SAFETY: the caller vouches for TXID_SKYWALKING_MAX_LEN bytes, which a byte array takes at any address.
    id.write(unsafe { &mut *buf.cast::<[u8; TXID_SKYWALKING_MAX_LEN]>() })
}

/// Reads the `len` characters at `text` as a trace id that txid_trace_id or txid_trace_host_id made: the `ms` since its
/// epoch, its `sequence`, and the rest, `host` (of txid_host_word, or random) and `random`. Returns 0, or a txid_error when
/// it is not a trace id; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_id_read(
    text: *const c_char,
    len: usize,
    ms: *mut i64,
    sequence: *mut u32,
    host: *mut u32,
    random: *mut u32,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for four places to write to.
    unsafe {
        written_if_read(trace::read_id_ascii(bytes(text, len)), |parts| {
            ms.write(parts.ms as i64);
            sequence.write(parts.sequence);
            host.write((parts.random >> 32) as u32);
            random.write(parts.random as u32);
        })
    }
}

/// Reads the `len` characters at `text` as a SOFATracer id. Returns 0, or a txid_error when it is not one; then nothing is
/// written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_sofa_read(
    text: *const c_char,
    len: usize,
    ipv4: *mut u32,
    ms: *mut i64,
    sequence: *mut u32,
    pid: *mut u32,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for four places to write to.
    unsafe {
        written_if_read(Sofa::read_ascii(bytes(text, len)), |id| {
            ipv4.write(id.address.to_bits());
            ms.write(id.ms as i64);
            sequence.write(u32::from(id.sequence));
            pid.write(id.pid);
        })
    }
}

/// Reads the `len` characters at `text` as a SkyWalking id; its instance is the text's first TXID_TRACE_ID_LEN characters.
/// Returns 0, or a txid_error when it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_skywalking_read(
    text: *const c_char,
    len: usize,
    thread: *mut u32,
    ms: *mut i64,
    sequence: *mut u32,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for three places to write to.
    unsafe {
        written_if_read(trace::SkyWalking::read_ascii(bytes(text, len)), |id| {
            thread.write(id.thread);
            ms.write(id.ms as i64);
            sequence.write(u32::from(id.sequence));
        })
    }
}

/// Writes the traceparent of a new trace with a random id to `buf`: TXID_TRACEPARENT_LEN characters.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_TRACEPARENT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_new(buf: *mut c_char, sampled: bool) {
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_TRACEPARENT_LEN]>().write(Traceparent::new(sampled).to_text()) }
}

/// Writes the traceparent of a new span of the trace that the `len` characters at `text` say to `buf`:
/// TXID_TRACEPARENT_LEN characters. Returns 0, or a txid_error when they are not a traceparent; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `buf` for writes of TXID_TRACEPARENT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_child(text: *const c_char, len: usize, buf: *mut c_char) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        written_if_read(Traceparent::read_ascii(bytes(text, len)), |parent| {
            buf.cast::<[u8; TXID_TRACEPARENT_LEN]>().write(parent.child().to_text())
        })
    }
}

/// Reads the `len` characters at `text` as a traceparent by W3C Trace Context, level 2: the trace id is at 3, the span id at
/// 36, and `flags` is 1 for sampled, 2 for a random trace id, or both. Returns 0, or a txid_error when it is to be ignored;
/// then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `flags` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_traceparent_read(text: *const c_char, len: usize, flags: *mut u8) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for the place to write to.
    unsafe { written_if_read(Traceparent::read_ascii(bytes(text, len)), |read| flags.write(read.flags())) }
}

/// Reads the `len` characters at `text` as a single b3 header. The trace id is its first `trace_id_len` characters (0, 16 or
/// 32), the span id follows a dash later, then come `sampled` ('0', '1', 'd', or 0 for none) and the parent's span id, where
/// the text is that long. Returns 0, or a txid_error when it is not a b3 header; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_b3_read(
    text: *const c_char,
    len: usize,
    trace_id_len: *mut usize,
    sampled: *mut u8,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for two places to write to.
    unsafe {
        written_if_read(B3::read_ascii(bytes(text, len)), |b3| {
            trace_id_len.write(b3.ids.map_or(0, |ids| if ids.short { 16 } else { 32 }));
            sampled.write(b3.sampled.map_or(0, |sampling| sampling.letter() as u8));
        })
    }
}

/// Writes a new flake stamped with exactly `ms` to `buf`: TXID_FLAKE_LEN characters. The node is the TXID_NODE_LEN bytes at
/// `node`, which no other thread or process should use, or random where `node` is NULL; with one that is given, the sequence
/// comes round after 65,536 flakes of the thread, whatever their stamps: those of one stamp have to be made within so many.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_FLAKE_LEN bytes, `node` NULL or valid for reads of TXID_NODE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake(buf: *mut c_char, ms: i64, node: *const u8) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let node = node.cast::<[u8; TXID_NODE_LEN]>().as_ref();
        Flake::at(ms, node.copied()).write(&mut *buf.cast::<[u8; TXID_FLAKE_LEN]>())
    }
}

/// As txid_flake, for this moment; `clock_ms` counts as in txid_fill_now. Where 65,536 flakes of a millisecond are not enough,
/// the next ones are of the next.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_FLAKE_LEN bytes, `node` NULL or valid for reads of TXID_NODE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake_now(buf: *mut c_char, clock_ms: i64, node: *const u8) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let node = node.cast::<[u8; TXID_NODE_LEN]>().as_ref();
        Flake::by(clock_ms, node.copied()).write(&mut *buf.cast::<[u8; TXID_FLAKE_LEN]>())
    }
}

/// Reads the `len` characters at `text` as a flake: its `ms`, the TXID_NODE_LEN bytes of its `node`, and its `sequence`.
/// Returns 0, or a txid_error when it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `node` for writes of TXID_NODE_LEN bytes, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_flake_read(
    text: *const c_char,
    len: usize,
    ms: *mut u64,
    node: *mut u8,
    sequence: *mut u32,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for three places to write to.
    unsafe {
        written_if_read(Flake::read_ascii(bytes(text, len)), |flake| {
            ms.write(flake.timestamp_ms());
            node.cast::<[u8; TXID_NODE_LEN]>().write(flake.node());
            sequence.write(u32::from(flake.sequence()));
        })
    }
}

/// Writes a new UNIQUE_ID in the layout with the address `ipv4` of txid_host_ipv4 to `buf`: TXID_UNIQUE_ID_SHORT_LEN
/// characters, stamped with the second that `ms` is in.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_SHORT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_short(buf: *mut c_char, ms: i64, ipv4: u32) {
    let mut text = [0; TXID_UNIQUE_ID_LONG_LEN];
    UniqueId::short_at(ms, ipv4.into()).write(&mut text);
    let [short @ .., _, _, _] = text;
    // SAFETY: as in `txid_fill`.
    unsafe { buf.cast::<[u8; TXID_UNIQUE_ID_SHORT_LEN]>().write(short) }
}

/// As txid_unique_id_short, for this moment; `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_SHORT_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_short_now(buf: *mut c_char, clock_ms: i64, ipv4: u32) {
    // SAFETY: the caller's promise is the same.
    unsafe { txid_unique_id_short(buf, clock::never_backwards(clock_ms), ipv4) }
}

/// Writes a new UNIQUE_ID in the layout of httpd 2.4 to `buf`: TXID_UNIQUE_ID_LONG_LEN characters, stamped with the second
/// that `ms` is in.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_LONG_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_long(buf: *mut c_char, ms: i64) {
    // SAFETY: the caller vouches for TXID_UNIQUE_ID_LONG_LEN bytes, which a byte array takes at any address.
    UniqueId::long_at(ms).write(unsafe { &mut *buf.cast::<[u8; TXID_UNIQUE_ID_LONG_LEN]>() });
}

/// As txid_unique_id_long, for this moment; `clock_ms` counts as in txid_fill_now.
///
/// # Safety
///
/// `buf` must be valid for writes of TXID_UNIQUE_ID_LONG_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_long_now(buf: *mut c_char, clock_ms: i64) {
    // SAFETY: the caller's promise is the same.
    unsafe { txid_unique_id_long(buf, clock::never_backwards(clock_ms)) }
}

/// Reads the `len` characters at `text` as a UNIQUE_ID of either layout, which `len` tells: the `ms` of its second, its
/// `counter` and its `thread`; with the address, `ipv4` and `pid`, and without, the TXID_UNIQUE_ID_RANDOM_LEN bytes of
/// `random`. Returns 0, or a txid_error when it is not one; then nothing is written.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `random` for writes of TXID_UNIQUE_ID_RANDOM_LEN, the others for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_unique_id_read(
    text: *const c_char,
    len: usize,
    ms: *mut i64,
    counter: *mut u32,
    thread: *mut u32,
    ipv4: *mut u32,
    pid: *mut u32,
    random: *mut u8,
) -> i32 {
    // SAFETY: the caller vouches for `len` bytes and for six places to write to.
    unsafe {
        written_if_read(UniqueId::read_ascii(bytes(text, len)), |id| {
            ms.write(i64::from(id.seconds) * 1000);
            counter.write(u32::from(id.counter));
            thread.write(id.thread);
            match id.maker {
                UniqueIdMaker::Short { address, pid: process } => {
                    ipv4.write(address.to_bits());
                    pid.write(process);
                }
                UniqueIdMaker::Long { random: bytes } => random.cast::<[u8; TXID_UNIQUE_ID_RANDOM_LEN]>().write(bytes),
            }
        })
    }
}

/// What a text can be read as.
#[repr(C)]
pub enum TxidFormat {
    /// txid_uuid_read.
    Uuid = 1,
    /// txid_trace_id_read.
    TraceId = 2,
    /// txid_sofa_read.
    Sofa = 3,
    /// txid_skywalking_read.
    Skywalking = 4,
    /// txid_traceparent_read.
    Traceparent = 5,
    /// txid_b3_read.
    B3 = 6,
    /// txid_flake_read.
    Flake = 7,
    /// txid_unique_id_read.
    UniqueId = 8,
}

/// As txid_explain, for a text that is not what it was read as: `format` is a txid_format.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_explain_format(
    format: i32,
    text: *const c_char,
    len: usize,
    message: *mut c_char,
) -> usize {
    // SAFETY: the caller's promise is the same.
    let text = unsafe { bytes(text, len) };
    const UUID: i32 = TxidFormat::Uuid as i32;
    const TRACE_ID: i32 = TxidFormat::TraceId as i32;
    const SOFA: i32 = TxidFormat::Sofa as i32;
    const SKYWALKING: i32 = TxidFormat::Skywalking as i32;
    const TRACEPARENT: i32 = TxidFormat::Traceparent as i32;
    const B3_HEADER: i32 = TxidFormat::B3 as i32;
    const FLAKE: i32 = TxidFormat::Flake as i32;
    const UNIQUE_ID: i32 = TxidFormat::UniqueId as i32;
    let error = match format {
        UUID => uuid::read_ascii(text).err(),
        TRACE_ID => trace::read_id_ascii(text).err(),
        SOFA => Sofa::read_ascii(text).err(),
        SKYWALKING => trace::SkyWalking::read_ascii(text).err(),
        TRACEPARENT => Traceparent::read_ascii(text).err(),
        B3_HEADER => B3::read_ascii(text).err(),
        FLAKE => Flake::read_ascii(text).err(),
        UNIQUE_ID => UniqueId::read_ascii(text).err(),
        _ => Some(FormatError::Value("no such format")),
    };
    match error {
        None => 0,
        // SAFETY: the caller vouches for TXID_MESSAGE_LEN bytes.
        Some(error) => unsafe { write_message(&error, message) },
    }
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
    let node = snowflake::node(node_from, &layout).map_err(|error| (TxidError::SnowflakeNode, Box::new(error) as _))?;
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
