//! Gives each request one id and one trace: decides which peers are trusted, which values are accepted,
//! and how a trace that comes in continues. This module does not read requests; Lua, `nginx/` and others pass in what
//! they found.

mod decision;
mod field;
mod header;
mod networks;
mod options;
mod outgoing;
mod policy;
mod ratio;
mod span;
mod span_line;
mod trace_ids;

pub use decision::{Came, PLACES};
pub use field::Field;
pub use header::{
    Header, HeaderNameError, RESERVED_BEGINNINGS, RESERVED_HEADERS, Verdict, check_header_name, is_valid_id,
};
pub use networks::{NetworkError, Networks, Peer};
pub use options::{PolicyOption, Takes};
pub use outgoing::Outgoing;
pub use policy::{Policy, PolicyError};
pub use ratio::{Ratio, random_value_of, value_in};
pub use span::{Kind, Open, Span, SpanTexts};
pub use span_line::SpanLine;
pub use trace_ids::TraceIds;
