//! Trace ids of AWS X-Ray: `| s : 32 | random : 96 |`, as `1-58406520-a006649127e371903a2de979`, and in a `traceparent` as
//! the 32 digits alone.

use super::{TraceId, read_trace_id};
use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::{FormatError, hex};

const LEN: usize = 35;

const RANDOM_BITS: u32 = 96;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;

pub(crate) const FORMAT: Format = Format {
    name: "xray",
    title: "X-Ray trace id",
    about: "a trace id of AWS X-Ray",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: Some(TraceId::LEN..=LEN),
        // Nothing tells 32 digits from random ones but a time that can be.
        holds: |text, _| Holds::time(ms_of(read(text).ok()?), if text.len() == LEN { 124 } else { 129 }),
        time: Some(Time {
            shape: Shape::Xray,
            since_ms: 1_480_550_400_000,
            sorted: Some(Sorted {
                times: |_| 0..=i64::from(u32::MAX) * 1000 + 999,
                bounds: |ms, _| {
                    let first = u128::from((ms / 1000) as u64) << RANDOM_BITS;
                    [first, first | RANDOM_MASK].map(written)
                },
                order: |text, _| read(text).ok(),
                // Of both texts.
                texts: Texts::Unsorted,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let bits = read(text)?;
    let parts = vec![("random", format!("{:024x}", bits & RANDOM_MASK).into())];
    let fields = [("time", 32), ("random", RANDOM_BITS as usize)];
    Ok(Anatomy::new(written(bits), parts).with_bits(&bits.to_be_bytes(), &fields))
};

fn ms_of(bits: u128) -> i64 {
    (bits >> RANDOM_BITS) as i64 * 1000
}

fn written(bits: u128) -> String {
    format!("1-{:08x}-{:024x}", bits >> RANDOM_BITS, bits & RANDOM_MASK)
}

fn read(text: &[u8]) -> Result<u128, FormatError> {
    match text.len() {
        TraceId::LEN => read_trace_id(text),
        LEN => {
            for (position, byte, expected) in [(1, b'1', "'1'"), (2, b'-', "a dash"), (11, b'-', "a dash")] {
                if text[position - 1] != byte {
                    return Err(FormatError::Character { position, byte: text[position - 1], expected });
                }
            }
            match hex::decode::<8>(text, 2)? << RANDOM_BITS | hex::decode::<24>(text, 11)? {
                0 => Err(FormatError::Value(super::ZEROS)),
                bits => Ok(bits),
            }
        }
        found => Err(FormatError::Length { found, expected: "an X-Ray trace id has 35 or 32" }),
    }
}
