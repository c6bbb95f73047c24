//! The numbers of a segment as a format. Nothing tells them from other numbers, so they are not read.

use super::segment_page::Segment;
use crate::format::{Format, Make};
use crate::maker::{Made, Maker, MakerError, NoId};

pub(crate) const FORMAT: Format = Format {
    name: "segment",
    title: "number of a segment",
    about: "small numbers from a database",
    make: Some(Make {
        options: &["state"],
        takes_a_time: false,
        in_nginx: None,
        maker: |options| {
            let path = options.path("state", "the path of the file that txid-agent keeps")?;
            let segment = Segment::attach(path).map_err(|error| MakerError::Segment(error.to_string()))?;
            Ok(Maker::writing(move |_, text| Ok(Made::number(segment.next().map_err(NoId::Segment)?, text))))
        },
    }),
    read: None,
};
