//! Finds ids in text. An id stands in a text as a word of 20 characters: a run of letters and digits (ASCII) that no letter
//! or digit precedes or follows.

use txid::Txid;

/// The ids in `text`, and the place of each.
pub fn ids(text: &[u8]) -> impl Iterator<Item = (usize, Txid)> {
    words(text).filter_map(|place| Some((place, Txid::from_text(&text[place..place + Txid::LEN]).ok()?)))
}

/// The places of the words of 20 characters.
///
/// Most of a log is not ids, so what counts is how fast it is passed over. 64 bytes at a time become 64 bits, set where a
/// letter or digit is; shifting these tells for all of them at once where a word of 20 begins.
fn words(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut window = 0_u128;
    // One more than there are, because a word that touches the end is only seen in the window after it.
    let windows = (0..text.len() / 64 + 2).map(move |index| {
        let at = index * 64;
        // The upper half of the window is the 64 bytes from here, the lower half those before.
        window = window >> 64 | u128::from(letters_and_digits(text.get(at..).unwrap_or_default())) << 64;
        (at, places_of_20(window))
    });
    windows.flat_map(|(at, mut places)| {
        std::iter::from_fn(move || {
            let place = places.trailing_zeros() as usize;
            places &= places.wrapping_sub(1);
            (place < 128).then(|| at + place - 64)
        })
    })
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
    // All ones or all zeros a byte: the compiler does this for 16 or 32 bytes at a time.
    let is = chunk.map(|byte| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        u8::from(letter | digit)
    });
    is.as_chunks::<8>().0.iter().rev().fold(0, |bits, &eight| {
        // Eight bytes of 0 or 1 become eight bits: the factor brings each to the top byte, into its own place.
        bits << 8 | u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
