//! UUIDs of RFC 9562.
//!
//! Nobody can guess one of version 4. Of version 7 neither, but the next of a thread within the same millisecond is one of 2^32
//! after the one before it. UUIDs of version 1 count, and can be guessed.
//!
//! ```
//! let id = txid::uuid::v7();
//! assert_eq!(id.to_string().len(), txid::uuid::LEN);
//! assert!(id < txid::uuid::v7());
//! ```

use crate::formats::numbers_and_ms;
use crate::formats::table::UUID;
use crate::text::FormatError;

pub use crate::make::uuid::*;
pub use ::uuid::{Uuid, Variant};

/// The fields of a UUID.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// 0 to 15. Only meaningful in UUIDs of the RFC's variant.
    pub version: u8,
    /// The variant: that of RFC 9562, that of Microsoft, ...
    pub variant: Variant,
    /// Milliseconds since 1970-01-01 UTC, for versions 1, 6 and 7.
    pub ms: Option<i64>,
}

/// Reads a UUID of 36 characters, in upper or lower case.
///
/// ```
/// let parts = txid::uuid::read("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")?;
/// assert_eq!((parts.version, parts.ms), (7, Some(1_645_557_742_000)));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Parts, FormatError> {
    read_ascii(text.as_bytes())
}

/// As [`read`], from bytes.
///
/// ```
/// assert_eq!(txid::uuid::read_ascii(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?.version, 7);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn read_ascii(text: &[u8]) -> Result<Parts, FormatError> {
    Ok(parse(text)?.1)
}

pub(crate) fn parse(text: &[u8]) -> Result<(Uuid, Parts), FormatError> {
    let ([bits], ms) = numbers_and_ms(&UUID, text)?;
    let uuid = Uuid::from_u128(bits.low);
    Ok((uuid, Parts { version: uuid.get_version_num() as u8, variant: uuid.get_variant(), ms }))
}

/// Reads a namespace: a UUID, or `dns`, `url`, `oid` or `x500`.
///
/// ```
/// use txid::uuid;
///
/// assert_eq!(uuid::namespace(b"dns")?, uuid::namespace(b"6ba7b810-9dad-11d1-80b4-00c04fd430c8")?);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn namespace(text: &[u8]) -> Result<Uuid, FormatError> {
    match NAMESPACES.iter().find(|(name, _)| name.as_bytes() == text) {
        Some((_, namespace)) => Ok(*namespace),
        None => Ok(parse(text)?.0),
    }
}

/// The namespaces of RFC 9562, 6.6, by name.
const NAMESPACES: [(&str, Uuid); 4] = [
    ("dns", Uuid::NAMESPACE_DNS),
    ("url", Uuid::NAMESPACE_URL),
    ("oid", Uuid::NAMESPACE_OID),
    ("x500", Uuid::NAMESPACE_X500),
];
