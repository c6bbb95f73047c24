//! Why a text could not be read.

use crate::caller::{bytes, fail};
use crate::error::txid_error;
use crate::txid::read;
use ::txid::trace::{self, B3, SkyWalking, Sofa, Traceparent};
use ::txid::{Flake, FormatError, UniqueId, uuid};
use std::ffi::c_char;

/// The formats that a text can be read as.
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
    let format = format_of(format);
    if let Some(txid_format::Txid) = format {
        // SAFETY: the caller's promise is the same.
        return match unsafe { read(text, len) } {
            Ok(_) => 0,
            // SAFETY: the caller's promise is the same.
            Err(error) => unsafe { fail(txid_error::from(error), &error, message) },
        };
    }
    // SAFETY: the caller's promise is the same.
    let text = unsafe { bytes(text, len) };
    let error = match format {
        Some(txid_format::Uuid) => uuid::read_ascii(text).err(),
        Some(txid_format::TraceId) => trace::read_id_ascii(text).err(),
        Some(txid_format::Sofa) => Sofa::from_text(text).err(),
        Some(txid_format::Skywalking) => SkyWalking::from_text(text).err(),
        Some(txid_format::Traceparent) => Traceparent::from_text(text).err(),
        Some(txid_format::B3) => B3::from_text(text).err(),
        Some(txid_format::Flake) => Flake::from_text(text).err(),
        Some(txid_format::UniqueId) => UniqueId::from_text(text).err(),
        Some(txid_format::Txid) | None => Some(FormatError::Value("no such format")),
    };
    match error {
        None => 0,
        // SAFETY: the caller's promise is the same.
        Some(error) => unsafe { fail(txid_error::from(error), &error, message) },
    }
}

/// The format of the caller's number, which may be any number.
fn format_of(number: i32) -> Option<txid_format> {
    use txid_format::*;
    [Txid, Uuid, TraceId, Sofa, Skywalking, Traceparent, B3, Flake, UniqueId]
        .into_iter()
        .nth(usize::try_from(number).ok()?)
}
