//! Why a text could not be read.

use crate::caller::{bytes, fail};
use crate::error::txid_error;
use crate::txid::{TXID_LEN, read};
use ::txid::trace::{self, B3, SkyWalking, Sofa, Traceparent};
use ::txid::{Flake, FormatError, Txid, UniqueId, uuid};
use std::ffi::c_char;

/// The formats that a text can be read as.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum txid_format {
    /// txid_ms, txid_to_bytes.
    Txid = 0,
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

/// Writes to `message` what is wrong with the `len` characters at `text`, and where, if they are read as `format`, a
/// txid_format. Returns 0 if nothing is wrong, otherwise a txid_error.
///
/// # Safety
///
/// `text` must be valid for reads of `len` bytes, `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_explain(format: i32, text: *const c_char, len: usize, message: *mut c_char) -> i32 {
    let read = match usize::try_from(format).ok().and_then(|number| READERS.get(number)) {
        // Of a text of another length, not even the address is looked at.
        Some((txid_format::Txid, _)) if len != TXID_LEN => {
            // SAFETY: the caller's promise is the same.
            unsafe { read(text, len) }.map(|_| ()).map_err(FormatError::from)
        }
        // SAFETY: the caller's promise is the same.
        Some((_, reader)) => reader(unsafe { bytes(text, len) }),
        None => Err(FormatError::Value("no such format")),
    };
    match read {
        Ok(()) => 0,
        // SAFETY: the caller's promise is the same.
        Err(error) => unsafe { fail(txid_error::from(error), &error, message) },
    }
}

type Reader = fn(&[u8]) -> Result<(), FormatError>;

/// How a text is read as each format, in the order of their numbers.
const READERS: [(txid_format, Reader); 9] = [
    (txid_format::Txid, |text| Ok(Txid::from_text(text).map(|_| ())?)),
    (txid_format::Uuid, |text| uuid::read_ascii(text).map(drop)),
    (txid_format::TraceId, |text| trace::read_id_ascii(text).map(drop)),
    (txid_format::Sofa, |text| Sofa::from_text(text).map(drop)),
    (txid_format::Skywalking, |text| SkyWalking::from_text(text).map(drop)),
    (txid_format::Traceparent, |text| Traceparent::from_text(text).map(drop)),
    (txid_format::B3, |text| B3::from_text(text).map(drop)),
    (txid_format::Flake, |text| Flake::from_text(text).map(drop)),
    (txid_format::UniqueId, |text| UniqueId::from_text(text).map(drop)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_read_where_its_number_says() {
        for (number, (format, _)) in READERS.iter().enumerate() {
            assert_eq!(*format as usize, number);
        }
    }
}
