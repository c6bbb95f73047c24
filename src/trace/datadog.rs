//! The 128-bit trace ids of Datadog: `| s : 32 | zero : 32 | random : 64 |`.

use super::{TraceId, read_trace_id};
use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::FormatError;

pub(crate) const FORMAT: Format = Format {
    name: "datadog",
    title: "Datadog trace id",
    about: "a trace id of Datadog, 32 hexadecimal digits",
    make: None,
    read: Some(Read {
        lengths: TraceId::LEN..=TraceId::LEN,
        all_lengths: None,
        holds: |text, _| Holds::time((read(text).ok()? >> 96) as i64 * 1000, 91),
        time: Some(Time {
            shape: Shape::Word(TraceId::LEN..=TraceId::LEN),
            since_ms: 1_640_995_200_000,
            sorted: Some(Sorted {
                times: |_| 0..=i64::from(u32::MAX) * 1000 + 999,
                bounds: |ms, _| {
                    let first = u128::from((ms / 1000) as u64) << 96;
                    [first, first | u128::from(u64::MAX)].map(|bits| TraceId(bits).to_string())
                },
                order: |text, _| read(text).ok(),
                texts: Texts::AsTheyAre,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let bits = read(text)?;
    let fields = [("time", 32), ("0", 32), ("random", 64)];
    Ok(Anatomy::new(TraceId(bits).to_string(), vec![("random", format!("{:016x}", bits as u64).into())])
        .with_bits(&bits.to_be_bytes(), &fields))
};

fn read(text: &[u8]) -> Result<u128, FormatError> {
    let bits = read_trace_id(text)?;
    match (bits >> 64) as u32 {
        0 => Ok(bits),
        _ => Err(FormatError::Value("the characters 9 to 16 are not zeros")),
    }
}
