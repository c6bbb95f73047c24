//! Which ids `grep`, `sort` and `range` read.

use anyhow::{Context, Result, bail};
use txid::formats::{self, Format, Numbers};
use txid::snowflake::Layout;
use txid_args::{Ids, name};

/// The format, and how its numbers are read. In other text, a number of few digits is never taken for an id.
pub(crate) fn chosen(ids: &Ids) -> Result<(&'static Format, Numbers)> {
    let default = if ids.layout.is_some() { "snowflake" } else { "txid" };
    let format = ids.format.or_else(|| formats::named(default)).context("there is no such format")?;
    match &ids.layout {
        Some(_) if format.name != "snowflake" => bail!("--layout is for --format snowflake, not {}", name(format)),
        Some(layout) => Ok((format, Numbers { layout: layout.parse::<Layout>()?, is_chosen: false })),
        None => Ok((format, Numbers::UNKNOWN)),
    }
}
