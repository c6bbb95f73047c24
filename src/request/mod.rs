//! What a server needs to give each request one id and one trace: whose headers count, which values are taken, and what
//! becomes of a trace that comes in. It reads no request itself; `nginx/` and others hand it what they found.

mod header;
mod networks;
mod span;

pub use header::{Header, Verdict, is_header_name, is_valid_id};
pub use networks::{NetworkError, Networks, Peer};
pub use span::{Kind, Span, TraceHeaders};
