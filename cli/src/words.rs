//! Finds ids in text. An id stands in a text as a word of 20 characters: a run of letters and digits (ASCII) that no letter
//! or digit precedes or follows.

use txid::Txid;

/// The ids in `text`, and the place of each.
pub fn ids(text: &[u8]) -> impl Iterator<Item = (usize, Txid)> {
    let words = Words { text, end: 0, window: 0, places: 0 };
    words.filter_map(|place| Some((place, Txid::from_text(&text[place..place + Txid::LEN]).ok()?)))
}

/// The places of the words of 20 characters.
///
/// Most of a log is not ids, so what counts is how fast it is passed over. 64 bytes at a time become 64 bits, set where a
/// letter or digit is; shifting these tells for all of them at once where a word of 20 begins.
struct Words<'a> {
    text: &'a [u8],
    /// How far the text was looked at.
    end: usize,
    /// The 128 bytes before the end, the lowest bit for the first.
    window: u128,
    /// Places in the window that are still to be told.
    places: u128,
}

impl Iterator for Words<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.places == 0 {
            // A word that touches the end is only seen in a window that goes on behind it.
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

/// Where in the window a run of exactly 20 begins. A window answers for the places 44 to 107, of which it knows the bit
/// before and the 20 after; the windows before and after it answer for the others.
fn places_of_20(window: u128) -> u128 {
    const KNOWN: u128 = (u64::MAX as u128) << 44;
    let two = window & window >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    let twenty = sixteen & four >> 16;
    twenty & !(window << 1) & !(window >> 20) & KNOWN
}

/// A bit for each of the first 64 bytes, the lowest for the first; bytes that are not there are no letters.
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

/// The plain loop again, by hand, because it is what `txid grep` does most.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn letters_and_digits_sse2(chunk: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;

    // Only signed bytes can be compared: what is at most `count` from `first` is moved to the bottom of their range.
    let within = |bytes, first: u8, count: i8| {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(i8::MIN.wrapping_sub_unsigned(first)));
        _mm_cmpgt_epi8(_mm_set1_epi8(i8::MIN + count), moved)
    };
    chunk.as_chunks::<16>().0.iter().rev().fold(0, |bits, sixteen| {
        let number = u128::from_le_bytes(*sixteen);
        let bytes = _mm_set_epi64x((number >> 64) as i64, number as i64);
        let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
        let either = _mm_or_si128(letters, within(bytes, b'0', 10));
        bits << 16 | u64::from(_mm_movemask_epi8(either) as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As plain as can be.
    fn plainly(text: &[u8]) -> Vec<(usize, Txid)> {
        let mut found = Vec::new();
        let mut place = 0;
        for word in text.split_inclusive(|byte| !byte.is_ascii_alphanumeric()) {
            let word_alone = word
                .strip_suffix(&[word[word.len() - 1]])
                .filter(|_| !word[word.len() - 1].is_ascii_alphanumeric())
                .unwrap_or(word);
            if let Ok(id) = Txid::from_text(word_alone) {
                found.push((place, id));
            }
            place += word.len();
        }
        found
    }
}
