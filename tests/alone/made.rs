//! The formats that are made without a file.

use txid::formats::{ALL, Format};
use txid::{Maker, MakerError};

/// The formats, with a maker of each.
pub fn makers() -> impl Iterator<Item = (&'static Format, Maker)> {
    ALL.iter().copied().filter_map(|format| {
        let options = format.make.as_ref()?.options;
        let address = options.contains(&"address").then_some(("address", "10.0.0.7".as_ref()));
        match format.maker(address) {
            Ok(maker) => Some((format, maker)),
            Err(MakerError::Missing { .. }) => None,
            Err(error) => panic!("{format:?}: {error}"),
        }
    })
}

/// Makers of the formats whose ids can be stamped with a given time.
#[allow(dead_code, reason = "not every test stamps ids")]
pub fn makers_that_stamp() -> impl Iterator<Item = (&'static Format, Maker)> {
    makers().filter(|(format, _)| format.make.as_ref().is_some_and(|make| make.takes_a_time))
}
