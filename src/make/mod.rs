//! How ids are made: a file a format. The table of [`formats`](crate::formats) says what they hold.

pub(crate) mod flake;
pub(crate) mod generator;
pub(crate) mod ksuid;
pub(crate) mod nanoid;
#[cfg(feature = "segment")]
pub(crate) mod segment;
pub(crate) mod skywalking;
#[cfg(feature = "snowflake")]
pub(crate) mod snowflake;
pub(crate) mod sofa;
pub(crate) mod stamp;
pub(crate) mod trace_id;
pub(crate) mod txid;
pub(crate) mod typeid;
pub(crate) mod ulid;
pub(crate) mod unique_id;
pub(crate) mod uuid;
pub(crate) mod xid;

/// A format whose ids are made with a feature, where that is missing.
#[cfg(any(not(feature = "segment"), not(feature = "snowflake")))]
macro_rules! missing {
    ($format:ident, $feature:literal, $options:expr) => {
        pub(crate) mod $format {
            use crate::maker::{Make, MakerError};

            pub(crate) const MAKE: Make =
                Make { options: &$options, ..Make::of(|_| Err(MakerError::NoFeature($feature))) };
        }
    };
}

#[cfg(not(feature = "segment"))]
missing!(segment, "segment", ["state"]);
#[cfg(not(feature = "snowflake"))]
missing!(snowflake, "snowflake", ["node", "state", "layout"]);
