//! The EagleId of Tengine and of Alibaba's CDN: IPv4 address, time, sequence and an `e`.

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Time};
use crate::text::{FormatError, decimal, hex};
use std::net::Ipv4Addr;

const LEN: usize = 26;

pub(crate) const FORMAT: Format = Format {
    name: "eagleid",
    title: "EagleId",
    about: "EagleId of Tengine and Alibaba's CDN",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(read(text).ok()?.ms as i64, 83),
        time: Some(Time { shape: Shape::Word(LEN..=LEN), since_ms: 1_325_376_000_000, sorted: None }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = read(text)?;
    let parts = vec![("address", id.address.to_string().into()), ("sequence", id.sequence.into())];
    Ok(Anatomy::new(String::from_utf8_lossy(text), parts))
};

struct EagleId {
    address: Ipv4Addr,
    ms: u64,
    sequence: u64,
}

fn read(text: &[u8]) -> Result<EagleId, FormatError> {
    if text.len() != LEN {
        return Err(FormatError::Length { found: text.len(), expected: "an EagleId has 26" });
    }
    let address = Ipv4Addr::from_bits(hex::decode::<8>(text, 0)? as u32);
    let (ms, sequence) = (decimal::decode(text, 8, 21)?, decimal::decode(text, 21, 25)?);
    match text[LEN - 1] {
        b'e' => Ok(EagleId { address, ms, sequence }),
        byte => Err(FormatError::Character { position: LEN, byte, expected: "'e'" }),
    }
}
