//! The numbers of a segment.

use crate::maker::{Made, Make, Maker, MakerError, NoId};
use crate::segment::Segment;

pub(crate) const MAKE: Make = Make {
    options: &["state"],
    takes_a_time: false,
    in_nginx: None,
    maker: |options| {
        let path = options.path("state", "the path of the file that txid-agent keeps")?;
        let segment = Segment::attach(path).map_err(|error| MakerError::Segment(error.to_string()))?;
        Ok(Maker::writing(move |_, text| Ok(Made::number(segment.next().map_err(NoId::Segment)?, text))))
    },
};
