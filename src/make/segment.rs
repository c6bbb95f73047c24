//! The numbers of a segment.

use crate::maker::{Made, Make, Maker, MakerError, NotMade};
use crate::segment::Segment;

pub(crate) const MAKE: Make = Make {
    options: &["state"],
    takes_a_time: false,
    beside_copies: None,
    maker: |options| {
        let path = options.path("state", "the path of the file that txid-agent keeps")?;
        let segment = Segment::attach(path).map_err(MakerError::state)?;
        Ok(Maker::writing(move |_, text| Ok(Made::number(segment.take().map_err(NotMade::Segment)?, text))))
    },
};
