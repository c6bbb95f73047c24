//! ObjectId of MongoDB: `| s : 32 | random : 40 | counter : 24 |` in hexadecimal.

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::{FormatError, hex};

const LEN: usize = 24;

/// The bits after the time.
const OTHER_BITS: u32 = 64;

pub(crate) const FORMAT: Format = Format {
    name: "objectid",
    title: "ObjectId",
    about: "ObjectId of MongoDB",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time(ms_of(read(text).ok()?), 93),
        time: Some(Time {
            shape: Shape::Word(LEN..=LEN),
            since_ms: 1_230_768_000_000,
            sorted: Some(Sorted {
                times: |_| 0..=i64::from(u32::MAX) * 1000 + 999,
                bounds: |ms, _| {
                    let first = u128::from((ms / 1000) as u64) << OTHER_BITS;
                    [first, first | u128::from(u64::MAX)].map(|bits| format!("{bits:024x}"))
                },
                order: |text, _| read(text).ok(),
                texts: Texts::InOneCase,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let bits = read(text)?;
    let parts = vec![
        ("random", format!("{:010x}", bits >> 24 & 0x00ff_ffff_ffff).into()),
        ("counter", (bits as u32 & 0x00ff_ffff).into()),
    ];
    let fields = [("time", 32), ("random", 40), ("counter", 24)];
    Ok(Anatomy::new(format!("{bits:024x}"), parts).with_bits(&bits.to_be_bytes()[4..], &fields))
};

fn ms_of(bits: u128) -> i64 {
    (bits >> OTHER_BITS) as i64 * 1000
}

fn read(text: &[u8]) -> Result<u128, FormatError> {
    let exact: [u8; LEN] =
        text.try_into().map_err(|_| FormatError::Length { found: text.len(), expected: "an ObjectId has 24" })?;
    if let Some(at) = exact.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        return Err(FormatError::Character { position: at + 1, byte: exact[at], expected: "hexadecimal" });
    }
    hex::decode::<LEN>(&exact.map(|byte| byte.to_ascii_lowercase()), 0)
}
