//! ChaCha8, as whoever attacks it would write it.

/// The first block of the keystream of a key, the nonce being a moment in nanoseconds.
pub fn block(key: &[u8], now_ns: u64) -> [u8; 64] {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let mut start = [0; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    start[4..12].iter_mut().zip(key.chunks(4)).for_each(|(place, bytes)| *place = word(bytes));
    (start[13], start[14]) = (now_ns as u32, (now_ns >> 32) as u32);
    let mut state = start;
    for _ in 0..4 {
        for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
            quarter(&mut state, a, b, c, d);
        }
        for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
            quarter(&mut state, a, b, c, d);
        }
    }
    let mut block = [0; 64];
    for (at, place) in block.chunks_mut(4).enumerate() {
        place.copy_from_slice(&state[at].wrapping_add(start[at]).to_le_bytes());
    }
    block
}

fn quarter(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    for (first, second, third, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[first] = state[first].wrapping_add(state[second]);
        state[third] = (state[third] ^ state[first]).rotate_left(by);
    }
}
