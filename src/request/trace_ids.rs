//! Which ids new traces get.

use crate::source::clock;
use crate::text::civil;
use crate::trace::{self, SpanId, TraceId};

/// Which ids new traces get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceIds {
    /// Random ones, as OpenTelemetry makes them.
    #[default]
    Random,
    /// Ids that begin with the seconds since 1970 in 32 bits, as X-Ray makes them, and are random otherwise. They sort by
    /// time until 2106, and show when the trace began.
    SortedSeconds,
    /// Ids that sort by time, as of [`trace::id`]. They show when the trace began.
    Sorted {
        /// What their time counts from.
        epoch_ms: i64,
    },
}

/// Why words do not say which ids new traces get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong<'a> {
    /// This is not such a word, or not here.
    Word(&'a str),
    /// This day is yet to come.
    Future(&'a str),
}

impl TraceIds {
    /// Reads `random`, `sorted_seconds` or `sorted`, which may be followed by `epoch=2020-01-01`, the day from which its 41 bits of
    /// time count, by default 1970. With that, they last until 2039.
    ///
    /// # Errors
    ///
    /// The first word that is wrong.
    pub(super) fn parse<'a>(words: &[&'a str]) -> Result<Self, Wrong<'a>> {
        let (&kind, options) = words.split_first().ok_or(Wrong::Word(""))?;
        let epoch_ms = match options {
            [] => 0,
            [option] => match option.strip_prefix("epoch=").and_then(civil::parse).ok_or(Wrong::Word(option))? {
                future if future > clock::system_ms() => return Err(Wrong::Future(option)),
                epoch_ms => epoch_ms,
            },
            [_, option, ..] => return Err(Wrong::Word(option)),
        };
        match kind {
            "random" if options.is_empty() => Ok(Self::Random),
            "sorted_seconds" if options.is_empty() => Ok(Self::SortedSeconds),
            "sorted" => Ok(Self::Sorted { epoch_ms }),
            "random" | "sorted_seconds" => Err(Wrong::Word(options[0])),
            _ => Err(Wrong::Word(kind)),
        }
    }

    /// The ids of a new trace and of its first span when the clock reads `clock_ms`.
    pub(super) fn generate_by(self, clock_ms: i64) -> (TraceId, SpanId) {
        match self {
            Self::Random => trace::otel_ids(),
            Self::SortedSeconds => trace::seconds_ids_by(clock_ms),
            Self::Sorted { epoch_ms } => (trace::id_by(clock_ms, epoch_ms), trace::span_id()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(TraceIds::parse(&["random"]), Ok(TraceIds::Random));
        assert_eq!(TraceIds::parse(&["sorted_seconds"]), Ok(TraceIds::SortedSeconds));
        assert_eq!(TraceIds::parse(&["sorted"]), Ok(TraceIds::Sorted { epoch_ms: 0 }));
        let epoch_ms = 1_577_836_800_000;
        assert_eq!(TraceIds::parse(&["sorted", "epoch=2020-01-01"]), Ok(TraceIds::Sorted { epoch_ms }));
        for (words, wrong) in [
            (&[][..], ""),
            (&["sort"], "sort"),
            (&["sorted", "2020-01-01"], "2020-01-01"),
            (&["sorted", "epoch=2020"], "epoch=2020"),
            (&["sorted", "epoch=2020-01-01", "x"], "x"),
            (&["random", "epoch=2020-01-01"], "epoch=2020-01-01"),
            (&["sorted_seconds", "epoch=2020-01-01"], "epoch=2020-01-01"),
        ] {
            assert_eq!(TraceIds::parse(words), Err(Wrong::Word(wrong)));
        }
    }

    #[test]
    fn a_day_that_is_yet_to_come() {
        let future = "epoch=2999-01-01";
        assert_eq!(TraceIds::parse(&["sorted", future]), Err(Wrong::Future(future)));
    }

    #[test]
    fn ids() {
        let ms = 1_600_000_000_123;
        let epoch_ms = 1_577_836_800_000;
        let sorted = TraceIds::Sorted { epoch_ms };
        let (id, _) = sorted.generate_by(ms);
        assert!(trace::read_id(&id.to_string()).unwrap().ms + epoch_ms >= ms, "{id}");
        let (id, span_id) = TraceIds::SortedSeconds.generate_by(ms);
        let (other, _) = TraceIds::SortedSeconds.generate_by(ms + 999);
        assert!(id.0 >> 96 >= 1_600_000_000 && other.0 >> 96 <= 1_600_000_002, "{id} {other}");
        assert!(id.0 as u64 != other.0 as u64 && (id.0 >> 64) as u32 != (other.0 >> 64) as u32, "{id} {other}");
        assert!(span_id.0 != 0);
    }
}
