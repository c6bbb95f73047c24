//! Serializes an id as its text, in every format.

use crate::Txid;
use serde_core::de::{Deserialize, Deserializer, Error, Visitor};
use serde_core::ser::{Serialize, Serializer};
use std::fmt;

/// ```
/// let id: txid::Txid = "4om9qi54la8ffr4bd9sg".parse()?;
/// assert_eq!(serde_json::to_string(&id)?, "\"4om9qi54la8ffr4bd9sg\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Txid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// ```
/// let id: txid::Txid = serde_json::from_str("\"4OM9QI54LA8FFR4BD9SG\"")?;
/// assert_eq!(id.timestamp_ms(), 655_829_050_002);
///
/// let error = serde_json::from_str::<txid::Txid>("\"4om9qi54\"").unwrap_err();
/// assert!(error.to_string().starts_with("an id has 20 characters, not 8"));
/// let error = serde_json::from_str::<txid::Txid>("7").unwrap_err();
/// assert!(error.to_string().contains("expected an id of 20 characters"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'de> Deserialize<'de> for Txid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Txid;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an id of {} characters", Txid::LEN)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Txid, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}
