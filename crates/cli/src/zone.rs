//! The time zone of times without one.

use anyhow::{Result, bail};
use jiff::tz::TimeZone;

/// The time zone of the variable TZ, or the system's. A system without one is in UTC.
pub(crate) fn local_zone() -> Result<TimeZone> {
    TimeZone::try_system().or_else(|_| match std::env::var_os("TZ") {
        Some(name) => {
            bail!(
                "TZ is '{}', which is not a time zone on this system; set it as in TZ=Europe/Berlin, or unset it",
                name.to_string_lossy()
            )
        }
        None => Ok(TimeZone::UTC),
    })
}
