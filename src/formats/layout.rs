//! 64-bit numbers: their fields are given by whoever reads them.

use super::anatomy::{Anatomy, Numbers};
use super::row::{Format, Holds};
use crate::snowflake::Parts;
use crate::text::{FormatError, decimal};

pub(super) fn holds(format: &Format, text: &[u8], numbers: &Numbers) -> Option<Holds> {
    let (_, parts) = read(format, text, numbers).ok()?;
    Some(Holds { ms: Some(parts.ms), bits: format.texts[0].weight })
}

pub(super) fn order(format: &Format, text: &[u8], numbers: &Numbers) -> Option<u128> {
    read(format, text, numbers).ok().map(|(id, _)| id.into())
}

pub(super) fn parts(format: &Format, text: &[u8], numbers: &Numbers) -> Option<Parts> {
    read(format, text, numbers).ok().map(|(_, parts)| parts)
}

pub(super) fn anatomy(format: &Format, text: &[u8], numbers: &Numbers) -> Result<Anatomy, FormatError> {
    let (id, Parts { ms, node, sequence }) = read(format, text, numbers)?;
    let widths = numbers.layout.parts().map(|(name, bits)| (name, bits as usize));
    let unused = 64 - widths.iter().map(|(_, bits)| bits).sum::<usize>();
    Ok(Anatomy {
        text: id.to_string(),
        parts: vec![("node", node.into()), ("sequence", sequence.into())],
        ms: Some(ms),
        bytes: id.to_be_bytes().to_vec(),
        fields: [&[("0", unused)], &widths[..]].concat(),
        far_ms: None,
    })
}

/// Without a chosen layout, a number of few digits is no id. Zeros before it do not count.
fn read(format: &Format, text: &[u8], numbers: &Numbers) -> Result<(u64, Parts), FormatError> {
    let usual = format.lengths();
    let padding = text.iter().take_while(|&&byte| byte == b'0').count();
    let is_usual = usual.contains(&text.len()) || usual.contains(&(text.len() - padding));
    if text.is_empty() || !numbers.is_chosen && !is_usual {
        return Err(FormatError::length(text.len(), format.length));
    }
    let id = decimal::decode(text)?;
    let parts = numbers.layout.decode(id).ok_or(FormatError::value("its value has more bits than the layout"))?;
    Ok((id, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::table::SNOWFLAKE;

    #[test]
    fn a_number_of_few_digits_is_an_id_only_of_a_chosen_layout() {
        let id_in = |text: &str, numbers: &Numbers| read(&SNOWFLAKE, text.as_bytes(), numbers).ok().map(|(id, _)| id);
        let chosen = Numbers { is_chosen: true, ..Numbers::UNKNOWN };
        for (zeros, digits, is_usual) in [
            (0, "12345678901234", false),
            (0, "123456789012345", true),
            (0, "1234567890123456789", true),
            (1, "1234567890123456789", true),
            (30, "123456789012345", true),
            (17, "42", true),
            (6, "12345678901234", false),
            (20, "0", false),
        ] {
            let text = "0".repeat(zeros) + digits;
            let id = text.parse().unwrap();
            assert_eq!(id_in(&text, &Numbers::UNKNOWN), is_usual.then_some(id), "{text}");
            assert_eq!(id_in(&text, &chosen), Some(id), "{text}");
        }
        assert!(read(&SNOWFLAKE, b"", &chosen).is_err());
    }
}
