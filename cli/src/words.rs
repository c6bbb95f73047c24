//! Finds ids in text. An id is a word of 20 characters: a run of ASCII letters and digits with no letter or digit
//! before or after it.

use std::ops::RangeInclusive;
use txid::Txid;

/// The first id in `text`.
pub fn first_id(text: &[u8]) -> Option<Txid> {
    words(text).find_map(|(_, word)| Txid::from_text(&word).ok())
}

/// The positions of the ids in `text` that are in a range.
///
/// Text sorts as ids do, so ids are compared without decoding them, which would take most of the time.
pub fn ids_within(text: &[u8], range: &RangeInclusive<Txid>) -> impl Iterator<Item = usize> {
    let range = range.start().to_text()..=range.end().to_text();
    words(text).filter(move |(_, word)| range.contains(word) && is_id(word)).map(|(place, _)| place)
}

/// Whether a word of 20 lower-case letters and digits is an id: the alphabet ends at v, and the last character is one
/// bit.
fn is_id(word: &[u8; Txid::LEN]) -> bool {
    word.iter().all(|&byte| byte <= b'v') && matches!(word[Txid::LEN - 1], b'0' | b'g')
}

/// The words of 20 characters, in lower case, with their positions.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, [u8; Txid::LEN])> {
    Words { text, end: 0, window: 0, places: 0 }.filter_map(|place| {
        let mut word: [u8; Txid::LEN] = *text[place..].first_chunk()?;
        word.make_ascii_lowercase();
        Some((place, word))
    })
}

/// The positions of the words of 20 characters.
///
/// Most of a log is not ids, so skipping fast is what counts. 64 bytes at a time become 64 bits, set for letters and
/// digits; shifts then find the beginnings of all words of 20 at once.
struct Words<'a> {
    text: &'a [u8],
    /// How far the text has been read.
    end: usize,
    /// One bit for each of the 128 bytes before the end, the lowest bit for the first byte.
    window: u128,
    /// Positions in the window that have not been returned yet.
    places: u128,
}

impl Iterator for Words<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.places == 0 {
            // A word that touches the end is only found in a window that extends beyond it.
            if self.end >= self.text.len() + 64 {
                return None;
            }
            let next = self.text.get(self.end..).unwrap_or_default();
            self.window = self.window >> 64 | u128::from(letters_and_digits(next)) << 64;
            self.places = places_of_20(self.window);
            self.end += 64;
        }
        let place = self.places.trailing_zeros() as usize;
        self.places &= self.places - 1;
        Some(self.end + place - 128)
    }
}

/// Where in the window runs of exactly 20 begin. A window answers for the positions 44 to 107, for which it knows the
/// bit before and the 20 after; its neighbors answer for the others.
fn places_of_20(window: u128) -> u128 {
    const KNOWN: u128 = (u64::MAX as u128) << 44;
    let two = window & window >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    let twenty = sixteen & four >> 16;
    twenty & !(window << 1) & !(window >> 20) & KNOWN
}

/// One bit for each of the first 64 bytes, the lowest for the first; missing bytes count as non-letters.
fn letters_and_digits(text: &[u8]) -> u64 {
    let Some(chunk) = text.first_chunk::<64>() else {
        let mut filled = [0; 64];
        filled[..text.len()].copy_from_slice(text);
        return letters_and_digits(&filled);
    };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2.
    return unsafe { letters_and_digits_sse2(chunk) };
    #[cfg(not(target_arch = "x86_64"))]
    return chunk.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(byte.is_ascii_alphanumeric()));
}

/// The plain loop again, with SSE2, because `txid grep` spends most of its time here.
///
/// # Safety
///
/// The processor must have SSE2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[allow(unused_unsafe, reason = "these intrinsics are unsafe to call before Rust 1.87")]
unsafe fn letters_and_digits_sse2(chunk: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;

    // Only signed comparisons exist: the bytes from `first` to `first + count` are moved to the bottom of the signed
    // range.
    // SAFETY: the caller vouches for SSE2, which is all that these need.
    let within = |bytes, first: u8, count: i8| unsafe {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(i8::MIN.wrapping_sub_unsigned(first)));
        _mm_cmpgt_epi8(_mm_set1_epi8(i8::MIN + count), moved)
    };
    chunk.chunks_exact(16).rev().fold(0, |bits, sixteen| {
        // SAFETY: as above, and 16 bytes of the chunk are read, at any alignment.
        let found = unsafe {
            let bytes = _mm_loadu_si128(sixteen.as_ptr().cast());
            let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
            _mm_movemask_epi8(_mm_or_si128(letters, within(bytes, b'0', 10)))
        };
        bits << 16 | u64::from(found as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The simplest implementation.
    fn plainly(text: &[u8]) -> Vec<usize> {
        let is_word = |place: usize| text.get(place).is_some_and(u8::is_ascii_alphanumeric);
        (0..text.len())
            .filter(|&place| place == 0 || !is_word(place - 1))
            .filter(|&place| (place..place + 20).all(is_word) && !is_word(place + 20))
            .collect()
    }

    #[test]
    fn a_word_of_20_is_found_at_any_place() {
        for before in 0..200 {
            for after in 0..70 {
                let text = [" ".repeat(before), "4om9qi54la8ffr4bd9sg".to_string(), "\n".repeat(after)].concat();
                assert_eq!(words(text.as_bytes()).collect::<Vec<_>>(), [(before, *b"4om9qi54la8ffr4bd9sg")]);
            }
        }
    }

    #[test]
    fn the_words_end_where_letters_and_digits_do() {
        for byte in 0..=255_u8 {
            let text = [b"4om9qi54la8ffr4bd9sg", &[byte; 64][..]].concat();
            assert_eq!(words(&text).count(), usize::from(!byte.is_ascii_alphanumeric()), "byte {byte}");
        }
    }

    proptest! {
        #[test]
        fn the_words_are_those_of_a_plain_search(text in "([0-9a-zA-Z]{18,22}|[ -~]|\\PC){0,40}") {
            let places: Vec<_> = words(text.as_bytes()).map(|(place, _)| place).collect();
            prop_assert_eq!(places, plainly(text.as_bytes()));
        }

        #[test]
        fn a_word_is_an_id_if_it_can_be_read_as_one(word in "[0-9a-v]{19}[0g]|[0-9a-z]{20}|[0-9a-v]{20}") {
            prop_assert_eq!(is_id(word.as_bytes().try_into().unwrap()), Txid::from_text(word.as_bytes()).is_ok());
        }

        #[test]
        fn the_ids_within_are_those_that_read_so(ms in proptest::collection::vec(0..1000_i64, 1..50), from in 0..1000_i64, to in 0..1000_i64, upper: bool) {
            let ids: Vec<_> = ms.into_iter().map(Txid::at).collect();
            let text: String = ids.iter().map(|id| format!("{id} ")).collect();
            let text = if upper { text.to_uppercase() } else { text };
            let range = Txid::first_of(from)..=Txid::last_of(to);
            let expected = (0..ids.len()).filter(|&index| range.contains(&ids[index])).map(|index| 21 * index);
            prop_assert!(ids_within(text.as_bytes(), &range).eq(expected));
        }
    }
}
