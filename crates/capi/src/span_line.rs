//! The span of a request as a line of a log.

use crate::caller::txid_text;
use crate::span::txid_span;
use ::txid::request::{Outgoing, SpanLine};
use std::ffi::c_char;
use std::time::{Duration, SystemTime};

/// The length of the longest line of txid_span_line.
pub const TXID_SPAN_LINE_MAX_LEN: usize = 32768;
const _: () = assert!(TXID_SPAN_LINE_MAX_LEN == SpanLine::MAX_LEN);

/// An attribute of a span.
#[repr(C)]
pub struct txid_attribute {
    /// Its name.
    pub key: txid_text,
    /// Its value. An attribute without one is left out.
    pub value: txid_text,
}

/// What a span tells of its request. Texts may have any bytes; those without any are left out.
#[repr(C)]
pub struct txid_span_texts {
    /// The name of the service.
    pub service: txid_text,
    /// The name of the span; by default, the method.
    pub name: txid_text,
    /// The method.
    pub method: txid_text,
    /// The path as it came. A query in it is left out.
    pub path: txid_text,
    /// http or https
    pub scheme: txid_text,
    /// The name of the host, without a port.
    pub host: txid_text,
    /// The address of the client.
    pub client: txid_text,
    /// The protocol, as in HTTP/1.1.
    pub protocol: txid_text,
    /// The User-Agent header.
    pub user_agent: txid_text,
    /// The id of the request.
    pub request_id: txid_text,
    /// The tracestate that came in. It counts if the span says that it is passed on.
    pub tracestate: txid_text,
    /// The status of the response; below 100 if there is none.
    pub status: u32,
    /// When the request began, in milliseconds since 1970.
    pub start_ms: u64,
    /// More attributes.
    pub attributes: *const txid_attribute,
    /// How many.
    pub attribute_count: usize,
}

/// Writes a request that ends now to `buf`, as a line of OTLP/JSON without its end, and returns its length; 0 if its trace is not
/// recorded.
///
/// # Safety
///
/// `span` must be from txid_span_start or txid_decide; `texts` and what it points to must be valid for reads, and `buf` for writes of
/// TXID_SPAN_LINE_MAX_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_span_line(
    span: *const txid_span,
    texts: *const txid_span_texts,
    buf: *mut c_char,
) -> usize {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        let (span, texts) = (&*span, &*texts);
        if !span.is_recorded() {
            return 0;
        }
        let mut own = [0; Outgoing::TRACESTATE_LEN];
        let own_len = span.outgoing().tracestate(&mut own);
        let tracestate = if span.is_continued { texts.tracestate.bytes() } else { &own[..own_len] };
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let line = SpanLine {
            trace_id: &span.trace_id,
            span_id: &span.span_id,
            parent_span_id: &span.parent_span_id[..span.parent_span_id_len as usize],
            flags: span.flags(),
            tracestate,
            start_ns: texts.start_ms.saturating_mul(1_000_000),
            end_ns: since_1970.as_ref().map_or(0, Duration::as_nanos) as u64,
            service: texts.service.bytes(),
            name: texts.name.bytes(),
            method: texts.method.bytes(),
            path: texts.path.bytes(),
            scheme: texts.scheme.bytes(),
            host: texts.host.bytes(),
            client: texts.client.bytes(),
            protocol: texts.protocol.bytes(),
            user_agent: texts.user_agent.bytes(),
            request_id: texts.request_id.bytes(),
            status: texts.status as u16,
        };
        let attributes = (0..texts.attribute_count).map(|at| {
            let attribute = &*texts.attributes.add(at);
            (attribute.key.bytes(), attribute.value.bytes())
        });
        line.write(attributes, &mut *buf.cast()).len()
    }
}
