//! The bytes of a page: a header that never changes, and words that are only accessed as atomics.
//!
//! All numbers are in the machine's own byte order, because a page never leaves its host:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | the magic of its kind |
//! | 8..12 | the version of its kind |
//! | 16..120 | the fields of its kind |
//! | 120..128 | FNV-1a of bytes 0..120 |
//! | 128..4096 | the words of its kind |
//!
//! Unused bytes are zero. A version that uses any of them has a new number, so that older libraries refuse the page.

use std::ops::Range;

pub(crate) const LEN: usize = 4096;
/// Where the words begin: after the cache lines of the header, and after those that a processor fetches with them.
pub(crate) const WORDS_AT: usize = 128;
const VERSION_AT: usize = 8;
const CHECKSUM_AT: usize = 120;

/// Distinguishes the pages of one use from those of others.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
    /// The name of such a page in errors.
    pub(crate) name: &'static str,
    /// What to do about a damaged one, in errors.
    pub(crate) advice: &'static str,
    /// Whether a file that is in use may be replaced. Not if it says what to use next: users of both would repeat ids.
    pub(crate) may_be_replaced: bool,
}

/// The part of a page that never changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header([u8; WORDS_AT]);

impl Header {
    pub(crate) fn is_of(&self, kind: &Kind) -> bool {
        self.0[..VERSION_AT] == *kind.magic && self.0[VERSION_AT..VERSION_AT + 4] == kind.version.to_ne_bytes()
    }

    /// Whether each of these fields is at its offset.
    pub(crate) fn has(&self, fields: &[(usize, &[u8])]) -> bool {
        fields.iter().all(|&(at, field)| self.0[at..at + field.len()] == *field)
    }
}

/// What can be wrong with the header of a page.
pub(super) enum Flaw {
    Magic,
    Checksum,
    Version(u32),
}

/// A copy of the bytes of a page: to write a new one, and to check an existing one.
pub(crate) struct PageBytes(pub(super) [u8; LEN]);

impl PageBytes {
    /// A new page with these fields, each at its offset.
    pub(crate) fn new(kind: &Kind, fields: &[(usize, &[u8])]) -> Self {
        let mut page = [0; LEN];
        page[..VERSION_AT].copy_from_slice(kind.magic);
        page[VERSION_AT..VERSION_AT + 4].copy_from_slice(&kind.version.to_ne_bytes());
        for &(at, field) in fields {
            page[at..at + field.len()].copy_from_slice(field);
        }
        let checksum = fnv_1a(&page[..CHECKSUM_AT]);
        page[CHECKSUM_AT..WORDS_AT].copy_from_slice(&checksum.to_ne_bytes());
        Self(page)
    }

    /// Sets the word at `at`.
    pub(crate) fn with_word(mut self, at: usize, word: u64) -> Self {
        self.set_word(at, word);
        self
    }

    pub(super) fn set_word(&mut self, at: usize, word: u64) {
        self.0[at..at + 8].copy_from_slice(&word.to_ne_bytes());
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.0[at]
    }

    pub(crate) fn number(&self, at: usize) -> u64 {
        u64::from_ne_bytes(std::array::from_fn(|place| self.0[at + place]))
    }

    pub(crate) fn is_zero(&self, bytes: Range<usize>) -> bool {
        self.0[bytes].iter().all(|&byte| byte == 0)
    }

    pub(crate) fn header(&self) -> Header {
        Header(std::array::from_fn(|place| self.0[place]))
    }

    /// The reason why this is no page of `kind`.
    pub(super) fn flaw(&self, kind: &Kind) -> Option<Flaw> {
        if self.0[..VERSION_AT] != *kind.magic {
            return Some(Flaw::Magic);
        }
        if self.number(CHECKSUM_AT) != fnv_1a(&self.0[..CHECKSUM_AT]) {
            return Some(Flaw::Checksum);
        }
        let version = u32::from_ne_bytes(std::array::from_fn(|place| self.0[VERSION_AT + place]));
        (version != kind.version).then_some(Flaw::Version(version))
    }
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const APPLES: Kind =
        Kind { magic: b"txidtest", version: 3, name: "basket", advice: "Buy another.", may_be_replaced: false };

    proptest! {
        #[test]
        fn any_damaged_byte_of_the_header_is_found(byte in 0..WORDS_AT, damage in 1..=255_u8) {
            let mut contents = PageBytes::new(&APPLES, &[(16, &[1])]).with_word(WORDS_AT, 7);
            prop_assert!(contents.flaw(&APPLES).is_none());
            contents.0[byte] ^= damage;
            prop_assert!(contents.flaw(&APPLES).is_some());
        }
    }

    #[test]
    fn a_header_is_of_its_kind_and_version_alone() {
        let header = PageBytes::new(&APPLES, &[]).header();
        assert!(header.is_of(&APPLES));
        assert!(!header.is_of(&Kind { magic: b"txidpear", ..APPLES }) && !header.is_of(&Kind { version: 4, ..APPLES }));
    }
}
