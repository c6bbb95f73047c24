//! How ids are made: a file a format. The table of [`formats`](crate::formats) says what they hold.

pub(crate) mod flake;
pub(crate) mod generator;
pub(crate) mod ksuid;
pub(crate) mod nanoid;
pub(crate) mod segment;
pub(crate) mod skywalking;
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
