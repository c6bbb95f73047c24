//! Times that ids are stamped with.

use crate::text::civil::Moment;
use crate::text::error_texts;
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An id cannot hold this time.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use txid::Txid;
///
/// let error = Txid::try_at(-1).unwrap_err();
/// assert_eq!(error.to_string(), "-1 ms are not from 1970-01-01T00:00:00.000Z to 2109-05-15T07:35:11.103Z");
/// assert!(Txid::try_from(SystemTime::UNIX_EPOCH - Duration::from_nanos(1)).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeError {
    ms: i128,
    first: i64,
    last: i64,
}

error_texts! { TimeError {
    Self { ms, first, last } => "{ms} ms are not from {} to {}", Moment(*first), Moment(*last);
} }

impl TimeError {
    /// The milliseconds since 1970-01-01 UTC, if they are in the range.
    pub(crate) fn unless_in(times: RangeInclusive<i64>, ms: impl Into<i128>) -> Result<i64, Self> {
        let (ms, first, last) = (ms.into(), *times.start(), *times.end());
        i64::try_from(ms).ok().filter(|ms| times.contains(ms)).ok_or(Self { ms, first, last })
    }
}

/// Rounded down, also before 1970.
pub(crate) fn ms_of(time: SystemTime) -> i128 {
    let ns = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    };
    ns.div_euclid(1_000_000)
}

/// A time that an id holds, which the system's type can hold, too.
pub(crate) fn time_of(ms: i64) -> SystemTime {
    let span = Duration::from_millis(ms.unsigned_abs());
    if ms < 0 { UNIX_EPOCH - span } else { UNIX_EPOCH + span }
}

/// Makes ids of a time, which is one of `$times` in milliseconds since 1970-01-01 UTC, and tells it.
macro_rules! stamped {
    ($id:ident, $times:expr) => {
        impl $id {
            const TIMES: std::ops::RangeInclusive<i64> = $times;

            /// A new id stamped with `ms`, in milliseconds since 1970-01-01 UTC. [`TryFrom`] does the same with a
            /// [`SystemTime`](std::time::SystemTime).
            ///
            /// # Errors
            ///
            /// [`TimeError`](crate::TimeError), if ids cannot hold that time.
            pub fn try_at(ms: i64) -> Result<Self, crate::TimeError> {
                crate::TimeError::unless_in(Self::TIMES, ms).map(Self::wrapping_at)
            }

            /// The time that the id was stamped with.
            pub fn timestamp(self) -> std::time::SystemTime {
                crate::make::stamp::time_of(self.timestamp_ms())
            }
        }

        impl TryFrom<std::time::SystemTime> for $id {
            type Error = crate::TimeError;

            /// A new id stamped with `time`.
            fn try_from(time: std::time::SystemTime) -> Result<Self, Self::Error> {
                crate::TimeError::unless_in(Self::TIMES, crate::make::stamp::ms_of(time)).map(Self::wrapping_at)
            }
        }
    };
}
pub(crate) use stamped;
