//! What trace ids hold that sort by time.

use crate::formats::fields;
use crate::formats::table::{TRACE_HOST_ID, TRACE_ID};
use crate::text::FormatError;

/// The fields of a time-ordered trace id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdParts {
    /// Milliseconds since the epoch that it was made with.
    pub ms: i64,
    /// Its number within its millisecond, from 0.
    pub sequence: u32,
    /// The random bits.
    pub random: u64,
}

/// The fields of a time-ordered trace id with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostIdParts {
    /// Milliseconds since the epoch it was made with.
    pub ms: i64,
    /// Its number within its millisecond, from 0.
    pub sequence: u32,
    /// The host, as [`host_word`](super::host_word) has it.
    pub host: u32,
    /// The random word.
    pub random: u32,
}

/// Reads 32 characters as an id made by [`id`](super::id).
///
/// ```
/// let parts = txid::trace::read_id("b13f65bff40000010123456789abcdef")?;
/// assert_eq!((parts.ms, parts.sequence, parts.random), (1_522_545_688_552, 1, 0x0123456789abcdef));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_id(text: &str) -> Result<IdParts, FormatError> {
    read_id_ascii(text.as_bytes())
}

/// As [`read_id`], from bytes.
///
/// ```
/// assert_eq!(txid::trace::read_id_ascii(b"00000000000000000000000000000007")?.random, 7);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_id_ascii(text: &[u8]) -> Result<IdParts, FormatError> {
    let [ms, sequence, random] = fields(&TRACE_ID, text)?;
    Ok(IdParts { ms: ms as i64, sequence: sequence as u32, random: random as u64 })
}

/// Reads 32 characters as an id made by [`host_id`](super::host_id).
///
/// ```
/// let parts = txid::trace::read_host_id("b13f65bff40000010a00000789abcdef")?;
/// assert_eq!((parts.host, parts.random), (0x0a000007, 0x89abcdef));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_host_id(text: &str) -> Result<HostIdParts, FormatError> {
    let [ms, sequence, host, random] = fields(&TRACE_HOST_ID, text.as_bytes())?;
    Ok(HostIdParts { ms: ms as i64, sequence: sequence as u32, host: host as u32, random: random as u32 })
}
