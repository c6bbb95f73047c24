//! 64-bit ids.

use crate::caller::{bytes, fail, give, write_beginning};
use crate::copies;
use crate::error::txid_error;
use ::txid::snowflake::{self, Generator, Layout, LayoutError, LeaseView, State};
use ::txid::system_ms;
use std::ffi::{OsStr, c_char};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The length of the longest 64-bit id.
pub const TXID_SNOWFLAKE_LEN: usize = 19;

/// The node that txid-agent leases, for txid_snowflake_open.
pub const TXID_NODE_LEASED: i64 = -1;

/// Makes the 64-bit ids of one layout and node.
pub struct txid_snowflake(Generator);

/// The fields of a 64-bit id.
#[repr(C)]
pub struct txid_snowflake_parts {
    /// Milliseconds since 1970-01-01 UTC.
    pub ms: i64,
    /// The node that made it.
    pub node: i64,
    /// Its number within its unit of time.
    pub sequence: i64,
}

/// What a generator has done so far.
#[repr(C)]
pub struct txid_snowflake_counters {
    /// How many ids it has made.
    pub issued: u64,
    /// How many milliseconds the last time used is ahead of the clock now, counting the ids of every process that
    /// shares the state.
    pub borrowed_ms: u64,
    /// How often it has seen the clock go back.
    pub clock_steps: u64,
    /// How often it could not make an id.
    pub refused: u64,
    /// Its node; -1 if there is no lease now.
    pub node: i64,
    /// How many milliseconds are left of the lease, 0 if there is none now; -1 if the node is not leased.
    pub lease_left_ms: i64,
    /// How often the lease was taken or renewed.
    pub renewals: u64,
    /// How many of the agent's requests to its store failed.
    pub failures: u64,
    /// The last millisecond since 1970-01-01 UTC that the layout has ids for.
    pub layout_ends_ms: i64,
}

/// Opens a generator of 64-bit ids, and writes it to `generator`. Release it with txid_snowflake_close.
///
/// - `layout` is a preset (snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, mastodon), or a list of parts
///   from the highest bits to the lowest, such as time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01.
/// - `node` is a number, such as that of txid_snowflake_node, or TXID_NODE_LEASED.
/// - `path` is the file that all processes with this node share. Unless the node is leased, it is made if it is missing.
///   If `path_len` is 0, the state is in memory that children inherit; that is refused while another libtxid.so is loaded.
/// - `max_drift_ms` is how far ids may run ahead of the clock.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `generator` is unchanged.
///
/// # Safety
///
/// `layout` and `path` must be valid for reads of their lengths, `generator` for a write, `message` NULL or valid for writes of
/// TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_open(
    layout: *const c_char,
    layout_len: usize,
    node: i64,
    path: *const c_char,
    path_len: usize,
    max_drift_ms: u64,
    generator: *mut *mut txid_snowflake,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for both.
    let (layout, path) = unsafe { (bytes(layout, layout_len), bytes(path, path_len)) };
    let path = Some(Path::new(OsStr::from_bytes(path))).filter(|_| path_len > 0);
    let opened = open(&String::from_utf8_lossy(layout), node, path)
        .map(|state| txid_snowflake(Generator::new(state).with_max_drift_ms(max_drift_ms)));
    // SAFETY: the caller's promise is the same.
    unsafe { give(opened, generator, message) }
}

#[inline(never)]
fn open(layout: &str, node: i64, path: Option<&Path>) -> Result<State, (txid_error, Box<dyn Display>)> {
    let layout: Layout = layout.parse().map_err(code_and_text)?;
    if node == TXID_NODE_LEASED {
        let Some(path) = path else {
            return Err((txid_error::SnowflakeFile, Box::new("a leased node needs the file that txid-agent keeps")));
        };
        return State::leased(path, &layout).map_err(code_and_text);
    }
    let node = node as u64;
    match path {
        Some(path) => State::open(path, &layout, node),
        None => match copies::other() {
            Some(other) => {
                let why = " is loaded as well, and the two copies of the library would not share a state in memory; \
                           restart with one of them, or give a file";
                return Err((txid_error::SnowflakeFile, Box::new(other + why)));
            }
            None => State::in_memory(&layout, node),
        },
    }
    .map_err(code_and_text)
}

/// The code and the text of an error.
fn code_and_text<E: Display + 'static>(error: E) -> (txid_error, Box<dyn Display>)
where
    for<'a> txid_error: From<&'a E>,
{
    (txid_error::from(&error), Box::new(error))
}

/// The node that `text` names: a number; env:NAME, an environment variable with a number; ip, the low bits of this machine's
/// private address; or hostname, the number at the end of a pod's name. Returns a txid_error if it names none of the layout;
/// then `message` says why.
///
/// # Safety
///
/// `layout` and `text` must be valid for reads of their lengths, `message` NULL or valid for writes of TXID_MESSAGE_LEN
/// bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_node(
    layout: *const c_char,
    layout_len: usize,
    text: *const c_char,
    len: usize,
    message: *mut c_char,
) -> i64 {
    // SAFETY: the caller vouches for both.
    let [layout, text] = unsafe { [bytes(layout, layout_len), bytes(text, len)] }.map(String::from_utf8_lossy);
    let node = layout.parse().map_err(code_and_text::<LayoutError>);
    match node.and_then(|layout| snowflake::node(&text, &layout).map_err(code_and_text)) {
        Ok(node) => node as i64,
        // SAFETY: the caller's promise is the same.
        Err((code, why)) => i64::from(unsafe { fail(code, &why, message) }),
    }
}

/// Releases a generator. Others that share its state are not affected.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_close(generator: *mut txid_snowflake) {
    if !generator.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(generator) });
    }
}

/// The next 64-bit id, which is not negative; or a txid_error, and then `message` says what is wrong. `clock_ms` is the
/// caller's reading of the wall clock, or txid_clock_coarse_ms(). It may be old: the clock is read again before an id
/// is refused.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_next(
    generator: *const txid_snowflake,
    clock_ms: i64,
    message: *mut c_char,
) -> i64 {
    // SAFETY: the caller vouches for both.
    unsafe {
        match (*generator).0.generate_by(clock_ms) {
            Ok(id) => id as i64,
            Err(refusal) => i64::from(fail(txid_error::from(&refusal), &refusal, message)),
        }
    }
}

/// Writes the next 64-bit id to `buf` as decimal digits, at most TXID_SNOWFLAKE_LEN and without a NUL, and returns
/// their number; or a txid_error, as txid_snowflake_next does.
///
/// # Safety
///
/// As for txid_snowflake_next; also, `buf` must be valid for writes of TXID_SNOWFLAKE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_fill(
    generator: *const txid_snowflake,
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

/// Nobody writes more zeros before an id.
const MOST_WITH_ZEROS: usize = 1024;

/// Reads the `len` decimal digits at `text` as a 64-bit id, with zeros before it or without; returns it, or a txid_error. If
/// there are more than 1024, `text` is not read.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_parse(text: *const c_char, len: usize) -> i64 {
    if len > MOST_WITH_ZEROS {
        return txid_error::SnowflakeId as i64;
    }
    // SAFETY: the caller's promise is the same.
    let text = unsafe { bytes(text, len) };
    let digits = text.iter().all(u8::is_ascii_digit);
    let id = std::str::from_utf8(text).ok().filter(|_| digits).and_then(|text| text.parse().ok());
    id.unwrap_or(txid_error::SnowflakeId as i64)
}

/// Writes the fields of `id` in the generator's layout to `parts`, of which `size` is the size: a later version may have
/// more. Returns 0, or a txid_error if the id has more bits than the layout; then nothing is written.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `parts` valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_decode(
    generator: *const txid_snowflake,
    id: i64,
    parts: *mut txid_snowflake_parts,
    size: usize,
) -> i32 {
    // SAFETY: the caller vouches for the generator.
    let layout = unsafe { (*generator).0.layout() };
    match layout.decode(id as u64) {
        Some(it) => {
            let found = txid_snowflake_parts { ms: it.ms, node: it.node as i64, sequence: it.sequence as i64 };
            // SAFETY: the caller's promise is the same.
            unsafe { write_beginning(&found, parts, size) };
            0
        }
        None => txid_error::SnowflakeId as i32,
    }
}

/// Writes what the generator has done so far to `counters`, of which `size` is the size: a later version may have more.
///
/// # Safety
///
/// `generator` must be from txid_snowflake_open, `counters` valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_snowflake_stats(
    generator: *const txid_snowflake,
    counters: *mut txid_snowflake_counters,
    size: usize,
) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let (now, state) = ((*generator).0.stats(), (*generator).0.state());
        let lease = state.lease();
        let left_ms = |lease: LeaseView| lease.limit_ms.map_or(0, |ms| ms.saturating_sub(system_ms()).max(0));
        let now = txid_snowflake_counters {
            issued: now.issued,
            borrowed_ms: now.borrowed_ms,
            clock_steps: now.clock_steps,
            refused: now.refused,
            node: state.node().map_or(-1, |node| node as i64),
            lease_left_ms: lease.map_or(-1, left_ms),
            renewals: lease.map_or(0, |lease| lease.renewals),
            failures: lease.map_or(0, |lease| lease.failures),
            layout_ends_ms: *state.layout().range_ms().end(),
        };
        write_beginning(&now, counters, size);
    }
}
