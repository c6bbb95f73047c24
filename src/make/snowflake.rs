//! 64-bit ids.

use crate::maker::{Made, Make, Maker, MakerError, NotMade, Options};
use crate::snowflake::{Generator, Layout, LayoutError, State};

pub(crate) const MAKE: Make = Make {
    options: &["node", "state", "layout"],
    takes_a_time: false,
    beside_copies: Some(&["node", "state", "layout"]),
    maker: |options| {
        let generator = generator(options)?;
        Ok(Maker::writing(move |clock_ms, text| {
            Ok(Made::number(generator.generate_by(clock_ms).map_err(NotMade::Snowflake)?, text))
        }))
    },
};

fn generator(options: &Options) -> Result<Generator, MakerError> {
    let layout_name = options.text("layout")?.unwrap_or("snowflake");
    let layout: Layout = layout_name.parse().map_err(MakerError::state::<LayoutError>)?;
    if layout_name == "mastodon" {
        return Err(MakerError::state("layout 'mastodon' has no node, so its ids are only read"));
    }
    // As Sonyflake itself does.
    let default = (layout_name == "sonyflake").then_some("ip");
    let node = options.text("node")?.or(default).ok_or(MakerError::Missing {
        option: "node",
        give: "a number, env:NAME, ip, hostname, or lease for that of txid-agent",
    })?;
    let given = match node {
        "lease" => None,
        node => Some(crate::snowflake::node(node, &layout).map_err(MakerError::state)?),
    };
    let path = options.path("state", "the path of a file for all processes with this node")?;
    let state = match given {
        Some(node) if options.is_trial => State::on_trial(path, &layout, node),
        Some(node) => State::open(path, &layout, node),
        None => State::leased(path, &layout),
    };
    Ok(Generator::new(state.map_err(MakerError::state)?))
}
