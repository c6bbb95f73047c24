//! Ids inside of a text: a URL, a header, a line of a log. readers/web/txid.js finds the same.

use anyhow::Result;
use std::ops::Range;
use txid::formats::{Numbers, Readings};

/// Nothing shorter is an id, in other text.
const SHORTEST: usize = 15;

/// From the longest words to the shortest: a dot or a dash can be part of an id, and can be between two.
const LEVELS: [fn(u8) -> bool; 3] =
    [|byte| is_part(byte) || byte == b'.', is_part, |byte| byte.is_ascii_alphanumeric()];

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'_' | b'-')
}

/// Whether nothing in a text could be between ids but a dash, which can be part of one.
pub(crate) fn is_word(text: &[u8]) -> bool {
    text.iter().copied().all(is_part)
}

/// Calls `each` with the place of every id in `text`, in their order.
pub(crate) fn each(
    text: &[u8],
    numbers: &Numbers,
    now_ms: i64,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    search(text, 0, &|word| is_id(word, numbers, now_ms), each)
}

/// A word of a text is often as long as a Nano ID.
fn is_id(word: &[u8], numbers: &Numbers, now_ms: i64) -> bool {
    let readings = Readings::of(word, numbers, now_ms);
    readings.iter().next().is_some_and(|it| it.unlikely.is_none() && it.name() != "nanoid")
}

fn search(
    text: &[u8],
    level: usize,
    is_id: &dyn Fn(&[u8]) -> bool,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let Some(is_in_word) = LEVELS.get(level) else { return Ok(()) };
    let mut at = 0;
    while let Some(word) = next_word(text, at, *is_in_word) {
        at = word.end;
        let word = &text[word];
        if word.len() < SHORTEST {
            continue;
        }
        match is_id(word) {
            true => each(word)?,
            false => search(word, level + 1, is_id, each)?,
        }
    }
    Ok(())
}

/// The next word from `at` on. A dot is part of it only between two other characters.
fn next_word(text: &[u8], at: usize, is_in_word: fn(u8) -> bool) -> Option<Range<usize>> {
    let start = at + text[at..].iter().position(|&byte| is_in_word(byte) && byte != b'.')?;
    let goes_on = |place: usize| {
        let is_one = |place: usize| text.get(place).is_some_and(|&byte| is_in_word(byte));
        is_one(place) && (text[place] != b'.' || is_one(place + 1) && text[place + 1] != b'.')
    };
    Some(start..(start..).find(|&place| !goes_on(place))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |word: &[u8]| {
            all.push(String::from_utf8_lossy(word).into_owned());
            Ok(())
        };
        each(text.as_bytes(), &Numbers::UNKNOWN, 1_800_000_000_000, &mut add).unwrap();
        all
    }

    #[test]
    fn ids_are_found_between_anything() {
        let (txid, uuid) = ("b2fr5nvmbtcu7vl9phl0", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
        let xray = "1-58406520-a006649127e371903a2de979";
        let dotted = "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042";
        for (text, ids) in [
            (format!("https://example.com/orders/{uuid}?id={txid}&x=1#top"), vec![uuid, txid]),
            (format!("Root={xray};Parent=53995c3f42cd8ad8;Sampled=1"), vec![xray, "53995c3f42cd8ad8"]),
            (format!("urn:uuid:{uuid}"), vec![uuid]),
            (format!("{{{uuid}}}, {txid}."), vec![uuid, txid]),
            (format!("{txid}.{uuid}..{dotted}."), vec![txid, uuid, dotted]),
            (format!("req-{txid}_é"), vec![txid]),
            ("GET / HTTP/1.1 sixteen-letters: of no id".to_string(), vec![]),
        ] {
            assert_eq!(found(&text), ids, "{text}");
        }
    }
}
