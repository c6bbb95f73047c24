//! The bits of a UUID that are hidden: all 122 but its version and variant. A UUID of version 7 has the image of one of
//! version 4.

use crate::text::{FormatError, uuid_time};
use crate::uuid::{self, Uuid, Variant};

/// How many bits are hidden.
pub(super) const BITS: u32 = 122;

const HALF: u64 = (1 << 61) - 1;

/// The version of what is hidden, or of images.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Inside,
    Outside,
}

impl Side {
    fn version(self) -> u8 {
        match self {
            Self::Inside => 7,
            Self::Outside => 4,
        }
    }
}

/// Reads the text of a UUID.
#[inline]
pub(super) fn read(text: &[u8]) -> Result<Uuid, FormatError> {
    let read = <&[u8; uuid::LEN]>::try_from(text).ok().and_then(|text| Uuid::try_parse_ascii(text).ok());
    // The slower reader says what is wrong.
    read.map_or_else(|| Ok(uuid::parse(text)?.0), Ok)
}

/// Whether a UUID is of this side.
#[inline]
pub(super) fn check(id: Uuid, side: Side) -> Result<(), FormatError> {
    match id.get_variant() == Variant::RFC4122 && id.get_version_num() == usize::from(side.version()) {
        true => Ok(()),
        false => Err(FormatError::value(match side {
            Side::Inside => "it is not a UUID of version 7, and no other is hidden",
            Side::Outside => "it is not a UUID of version 4, which all images are",
        })),
    }
}

/// The two halves of its bits, the highest first.
#[inline(always)]
pub(super) fn halves(id: Uuid) -> [u64; 2] {
    let (high, low) = id.as_u64_pair();
    // 48 bits, and behind the version 12 more.
    let before = (high >> 16) << 12 | high & 0xfff;
    [before << 1 | low >> 61 & 1, low & HALF]
}

/// The UUID with these halves.
#[inline(always)]
pub(super) fn with(halves: [u64; 2], side: Side) -> Uuid {
    let before = halves[0] >> 1;
    let high = (before >> 12) << 16 | before & 0xfff;
    let low = (halves[0] & 1) << 61 | halves[1];
    Uuid::from_u128(uuid_time::marked(u128::from(high) << 64 | u128::from(low), side.version().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_bit_has_its_place() {
        let with = |halves| with(halves, Side::Outside).to_string();
        assert_eq!(with([0, 0]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(with([HALF, 0]), "ffffffff-ffff-4fff-a000-000000000000");
        assert_eq!(with([0, HALF]), "00000000-0000-4000-9fff-ffffffffffff");
        assert_eq!(with([1, 1]), "00000000-0000-4000-a000-000000000001");
        assert_eq!(with([1 << 12, 0]), "00000000-0000-4800-8000-000000000000");
        assert_eq!(with([1 << 13, 0]), "00000000-0001-4000-8000-000000000000");
    }

    proptest! {
        #[test]
        fn no_bit_is_lost(bits: u128) {
            let id = Uuid::from_u128(uuid_time::marked(bits, 7));
            prop_assert_eq!(with(halves(id), Side::Inside), id);
            prop_assert!(halves(id).iter().all(|half| *half <= HALF));
        }
    }
}
