//! Trace ids and the headers that carry them.
//!
//! ```
//! use txid::trace;
//!
//! let (earlier, later) = (trace::id(), trace::id());
//! assert_eq!(earlier.to_string().len(), 32);
//! assert!(earlier < later);
//! ```

mod amzn;
pub(crate) mod b3;
mod cloud;
pub(crate) mod datadog_headers;
pub(crate) mod ids;
mod jaeger;
mod time_ordered;
pub(crate) mod traceparent;

pub use crate::make::skywalking::SkyWalking;
pub use crate::make::sofa::Sofa;
pub use crate::make::trace_id::{
    host_id, host_id_by, host_word, id, id_by, otel_trace_id, span_id, wrapping_host_id_at, wrapping_id_at,
};
#[cfg(feature = "request")]
pub(crate) use crate::make::trace_id::{otel_ids, seconds_ids_by};
pub use amzn::AmznTraceId;
pub use b3::{B3, B3Ids, Sampling};
pub use cloud::CloudTraceContext;
pub use datadog_headers::DatadogHeaders;
pub use ids::{SpanId, TraceId};
#[cfg(feature = "request")]
pub(crate) use ids::{span_id_of_hex, trace_id_of_any_hex, trace_id_of_hex};
pub use jaeger::UberTraceId;
pub use time_ordered::{HostIdParts, IdParts, read_host_id, read_id, read_id_ascii};
pub use traceparent::Traceparent;
