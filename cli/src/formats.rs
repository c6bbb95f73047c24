//! Every format that the command reads: `recognise` is the one place to add another.

use txid::{ParseError, Txid};

/// What an id is made of.
pub struct Anatomy {
    pub text: String,
    pub ms: i64,
    pub random: String,
    pub bytes: Vec<u8>,
    /// The name and the width in bits of each field, from the most significant bit on.
    pub fields: &'static [(&'static str, usize)],
}

pub fn recognise(text: &[u8]) -> Result<Anatomy, ParseError> {
    Txid::from_text(text).map(txid)
}

fn txid(id: Txid) -> Anatomy {
    let bytes: [u8; 12] = id.into();
    let random = bytes[4..].iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)) & ((1 << 54) - 1);
    Anatomy {
        text: id.to_string(),
        ms: id.timestamp_ms() as i64,
        random: format!("{random:014x}"),
        bytes: bytes.to_vec(),
        fields: &[("time", 42), ("random", 54)],
    }
}
