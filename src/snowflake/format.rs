//! 64-bit ids as a format.

use super::generator::Generator;
use super::layout::Layout;
use super::node;
use super::state::State;
use crate::format::{Anatomy, Format, Holds, Make, Numbers, Read, ReadAnatomy, Shape, Sorted, Texts, Time};
use crate::maker::{Made, Maker, MakerError, NoId, Options};
use crate::text::{FormatError, decimal};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A number with fewer digits is rarely an id, unless somebody chose its layout.
const DIGITS: RangeInclusive<usize> = 15..=19;

pub(crate) const FORMAT: Format = Format {
    name: "snowflake",
    title: "snowflake",
    about: "64-bit numbers that sort by time",
    make: Some(Make {
        options: &["node", "state", "layout"],
        takes_a_time: false,
        in_nginx: Some(&["node", "state", "layout"]),
        maker: |options| {
            let generator = generator(options)?;
            Ok(Maker::writing(move |clock_ms, text| {
                Ok(Made::number(generator.next_by(clock_ms).map_err(NoId::Snowflake)?, text))
            }))
        },
    }),
    read: Some(Read {
        lengths: DIGITS,
        all_lengths: Some(0..=usize::MAX),
        holds: |text, numbers| Holds::time(numbers.layout.decode(read(text, numbers).ok()?)?.ms, 60),
        time: Some(Time {
            shape: Shape::Word(DIGITS),
            // When Twitter announced them. Mastodon counts from 1970.
            since_ms: 1_275_350_400_000,
            sorted: Some(Sorted {
                times: |numbers| numbers.layout.range_ms(),
                bounds: |ms, numbers| numbers.layout.ids_of(ms).map(|id| id.to_string()),
                order: |text, numbers| {
                    let id = read(text, numbers).ok()?;
                    numbers.layout.decode(id).map(|_| u128::from(id))
                },
                texts: Texts::Unsorted,
            }),
        }),
    }),
};

pub(crate) const ANATOMY: ReadAnatomy = |text, numbers| {
    let id = read(text, numbers)?;
    let too_large = FormatError::Value("its value has more bits than the layout");
    let it = numbers.layout.decode(id).ok_or(too_large)?;
    let mut fields = numbers.layout.parts().map(|(name, bits)| (name, bits as usize)).to_vec();
    fields.insert(0, ("0", 64 - fields.iter().map(|(_, bits)| bits).sum::<usize>()));
    let parts = vec![("node", it.node.into()), ("sequence", it.sequence.into())];
    Ok(Anatomy::new(id.to_string(), parts).with_bits(&id.to_be_bytes(), &fields))
};

fn read(text: &[u8], numbers: &Numbers) -> Result<u64, FormatError> {
    let padding = text.iter().take_while(|&&byte| byte == b'0').count();
    let is_usual = DIGITS.contains(&text.len()) || DIGITS.contains(&(text.len() - padding));
    if text.is_empty() || !numbers.is_chosen && !is_usual {
        return Err(FormatError::Length { found: text.len(), expected: "a 64-bit id has 15 to 19" });
    }
    decimal::decode(text, 0, text.len())
}

fn generator(options: &Options) -> Result<Generator, MakerError> {
    let snowflake = |error: &dyn Display| MakerError::Snowflake(error.to_string());
    let layout_name = options.text("layout")?.unwrap_or("snowflake");
    let layout: Layout = layout_name.parse().map_err(|error| snowflake(&error))?;
    if layout_name == "mastodon" {
        return Err(snowflake(&"layout 'mastodon' has no node, so its ids are only read"));
    }
    // As Sonyflake itself does.
    let default = (layout_name == "sonyflake").then_some("ip");
    let node = options.text("node")?.or(default).ok_or(MakerError::Missing {
        option: "node",
        give: "a number, env:NAME, ip, hostname, or lease for that of txid-agent",
    })?;
    let given = match node {
        "lease" => None,
        node => Some(node::node(node, &layout).map_err(|error| snowflake(&error))?),
    };
    let path = options.path("state", "the path of a file for all processes with this node")?;
    let state = match given {
        Some(node) => (options.open_state)(path, &layout, node),
        None => State::leased(path, &layout),
    };
    Ok(Generator::new(state.map_err(|error| snowflake(&error))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_few_digits_is_an_id_only_of_a_chosen_layout() {
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
            assert_eq!(read(text.as_bytes(), &Numbers::UNKNOWN).ok(), is_usual.then_some(id), "{text}");
            assert_eq!(read(text.as_bytes(), &chosen), Ok(id), "{text}");
        }
        assert!(read(b"", &chosen).is_err());
    }
}
