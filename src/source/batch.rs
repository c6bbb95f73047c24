//! The random words of a stream, made ahead by ChaCha8 and erased when they are taken.
//!
//! Nothing that is in memory later tells what was taken before: each renewal replaces its own key, and leaves no copy.

use chacha20::cipher::{Block, KeyIvInit, StreamCipherCore};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, R8};
use std::array;
use std::ptr;

type Cipher = ChaChaCore<R8, Ietf>;

const WORDS_A_BLOCK: usize = 8;
const BLOCKS: usize = 8;
const KEY_WORDS: usize = 4;

/// The most words that are made at once.
pub(super) const WORDS: usize = WORDS_A_BLOCK * BLOCKS - KEY_WORDS;

/// Without words until it is renewed.
pub(crate) struct Batch {
    /// The key of the next renewal, and the words. Together they are blocks of keystream.
    all: [u64; KEY_WORDS + WORDS],
    /// How many words were not taken yet: the first ones.
    left: usize,
}

impl Batch {
    pub(crate) const EMPTY: Self = Self { all: [0; KEY_WORDS + WORDS], left: 0 };

    /// Takes words, and erases them. None if there are fewer.
    pub(crate) fn take<const COUNT: usize>(&mut self) -> Option<[u64; COUNT]> {
        // A huge number if there are fewer.
        let left = self.left.wrapping_sub(COUNT);
        if left > WORDS - COUNT {
            return None;
        }
        self.left = left;
        let taken = &mut self.all[KEY_WORDS + left..][..COUNT];
        let words = array::from_fn(|word| taken[word]);
        taken.fill(0);
        Some(words)
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Mixes `fresh` into the key, and drops all words. The key loses nothing, however little `fresh` contains.
    pub(crate) fn mix(&mut self, fresh: [u64; KEY_WORDS]) {
        let (key, words) = self.all.split_at_mut(KEY_WORDS);
        key.iter_mut().zip(fresh).for_each(|(key, fresh)| *key ^= fresh);
        words.fill(0);
        self.left = 0;
    }

    /// Makes a new key and `count` words, from the key and the moment `now_ns`. Copies of a batch that are renewed at
    /// different moments have nothing in common.
    #[inline(never)]
    pub(crate) fn renew(&mut self, now_ns: u64, count: usize) {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&now_ns.to_le_bytes());
        let blocks = self.blocks();
        let mut key = [0; 32];
        key.copy_from_slice(&blocks[0][..32]);
        let mut cipher = Cipher::new(&key.into(), &nonce.into());
        cipher.write_keystream_blocks(&mut blocks[..(KEY_WORDS + count).div_ceil(WORDS_A_BLOCK)]);
        self.left = count;
    }

    fn blocks(&mut self) -> &mut [Block<Cipher>; BLOCKS] {
        // SAFETY: as many bytes, and any bytes are words.
        unsafe { &mut *ptr::from_mut(&mut self.all).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its bytes are 0 to 31.
    const KEY: [u64; KEY_WORDS] =
        [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918];
    const NOW_NS: u64 = 0x0123_4567_89ab_cdef;

    fn keyed(key: [u64; KEY_WORDS]) -> Batch {
        let mut batch = Batch::EMPTY;
        batch.mix(key);
        batch
    }

    fn renewed(key: [u64; KEY_WORDS], now_ns: u64) -> Batch {
        let mut batch = keyed(key);
        batch.renew(now_ns, WORDS);
        batch
    }

    /// What tests/chacha.py prints.
    #[cfg(target_endian = "little")]
    #[test]
    fn the_words_are_those_of_another_implementation() {
        let all = renewed(KEY, NOW_NS).all;
        for (at, word) in [
            (0, 0xf958_ebc8_ac59_e461),
            (3, 0x16a3_a6f7_430d_5150),
            (4, 0x8346_e519_879d_0ac2),
            (7, 0xbf17_3dad_d206_3884),
            (8, 0x016d_145c_6fb9_6ecb),
            (31, 0x1674_ba01_c385_1ad6),
            (32, 0x6f47_dc6d_2b08_cdd1),
            (63, 0x0fde_d13f_0fc3_1f97),
        ] {
            assert_eq!(all[at], word, "{at}");
        }
        let mut one = keyed(KEY);
        one.renew(NOW_NS, 1);
        assert_eq!((one.all[..8].to_vec(), one.left), (all[..8].to_vec(), 1));
    }

    #[test]
    fn each_bit_of_the_key_and_of_the_moment_changes_each_word() {
        let before = renewed(KEY, NOW_NS).all;
        for bit in 0..320 {
            let (mut key, mut now_ns) = (KEY, NOW_NS);
            match key.get_mut(bit / 64) {
                Some(word) => *word ^= 1 << (bit % 64),
                None => now_ns ^= 1 << (bit % 64),
            }
            let after = renewed(key, now_ns).all;
            assert!(before.iter().zip(after).all(|(&before, after)| before != after), "bit {bit}");
        }
    }

    #[test]
    fn each_word_is_taken_once_and_erased() {
        let mut batch = renewed(KEY, NOW_NS);
        let made = batch.all;
        let mut all = Vec::new();
        while let Some(words) = batch.take::<3>() {
            assert!(words.iter().all(|word| *word != 0 && !batch.all.contains(word)));
            all.extend(words);
        }
        assert_eq!(batch.all[..KEY_WORDS], made[..KEY_WORDS]);
        assert!(batch.all[KEY_WORDS..].iter().all(|&word| word == 0));
        all.sort_unstable();
        let mut expected = made[KEY_WORDS..].to_vec();
        expected.sort_unstable();
        assert_eq!(all, expected);
        let mut empty = Batch::EMPTY;
        assert_eq!((batch.take::<1>(), empty.take::<2>()), (None, None));
        batch.renew(NOW_NS, 2);
        assert_eq!((batch.take::<3>(), batch.left), (None, 2));
    }

    #[test]
    fn what_is_mixed_in_shows_and_takes_nothing_away_and_drops_the_words() {
        let mut batch = renewed(KEY, NOW_NS);
        let before = batch.all;
        batch.mix([1, 0, 0, 1 << 63]);
        assert_eq!(batch.all[..KEY_WORDS], [before[0] ^ 1, before[1], before[2], before[3] ^ 1 << 63]);
        assert!(batch.left == 0 && batch.all[KEY_WORDS..].iter().all(|&word| word == 0));
    }
}
