//! CUID, version 1: `c`, and in base36 `ms` (8), a counter (4), a fingerprint (4) and random digits (8).

use crate::format::{Anatomy, Format, Holds, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::text::FormatError;

const LEN: usize = 25;

/// Times have eight digits.
const TIMES: u128 = 36_u128.pow(8);

/// What comes after the time has 16.
const OTHERS: u128 = 36_u128.pow(16);

pub(crate) const FORMAT: Format = Format {
    name: "cuid",
    title: "CUID",
    about: "CUID of version 1, 25 characters that sort by time",
    make: None,
    read: Some(Read {
        lengths: LEN..=LEN,
        all_lengths: None,
        holds: |text, _| Holds::time((read(text).ok()? / OTHERS) as i64, 121),
        time: Some(Time {
            shape: Shape::Word(LEN..=LEN),
            since_ms: 1_325_376_000_000,
            sorted: Some(Sorted {
                times: |_| 0..=TIMES as i64 - 1,
                bounds: |ms, _| {
                    let first = ms as u128 * OTHERS;
                    [first, first + OTHERS - 1].map(written)
                },
                order: |text, _| read(text).ok(),
                texts: Texts::AsTheyAre,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, _| {
    let id = written(read(text)?);
    let parts = [("counter", 9..13), ("fingerprint", 13..17), ("random", 17..LEN)];
    let parts = parts.map(|(name, place)| (name, id[place].to_string().into())).to_vec();
    Ok(Anatomy::new(id, parts))
};

/// The 24 digits as a number.
fn read(text: &[u8]) -> Result<u128, FormatError> {
    if text.len() != LEN {
        return Err(FormatError::Length { found: text.len(), expected: "a CUID has 25" });
    }
    let wrong = |index: usize, expected| FormatError::Character { position: index + 1, byte: text[index], expected };
    if text[0] != b'c' {
        return Err(wrong(0, "'c'"));
    }
    let mut number = 0;
    for (index, &byte) in text.iter().enumerate().skip(1) {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            _ => return Err(wrong(index, "lower-case base36")),
        };
        number = number * 36 + u128::from(digit);
    }
    Ok(number)
}

fn written(mut number: u128) -> String {
    let mut text = [b'c'; LEN];
    for byte in text[1..].iter_mut().rev() {
        *byte = b"0123456789abcdefghijklmnopqrstuvwxyz"[(number % 36) as usize];
        number /= 36;
    }
    String::from_utf8_lossy(&text).into_owned()
}
